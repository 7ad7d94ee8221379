// SPDX-License-Identifier: GPL-2.0-or-later

/* Two recordings side by side, and what every number is. */

#include "unit.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "numbers/quantity.h"
#include "report/compare.h"
#include "report/definitions.h"
#include "report/print.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define NR	2

/* Two phases of one disk, n times as many reads in the first. */
struct made {
	struct recording recording;
	struct pair meta[3];
	struct pair settings[2];
	struct rt_target target;
	struct span spans[2];
};

static struct pair pair(const char *name, const char *value)
{
	return (struct pair){ .name = (char *)name, .value = (char *)value };
}

static void make(struct made *m, const char *disk, const char *simulated,
		 const char *readahead, uint64_t n)
{
	memset(m, 0, sizeof(*m));
	m->meta[0] = pair("kernel", "6.1");
	m->meta[1] = pair("simulated", simulated);
	m->meta[2] = pair("command", "[\"dd\"]");
	m->settings[0] = pair("readahead_sectors", readahead);
	m->settings[1] = pair("reset", readahead);
	snprintf(m->target.disk, sizeof(m->target.disk), "%s", disk);
	m->target.capacity_sectors = 1000;
	for (size_t i = 0; i < NR; i++) {
		struct rt_counters *c = &m->spans[i].counters;

		m->spans[i].phase = (char *)(i ? "write" : "read");
		m->spans[i].disk = m->target.disk;
		c->since_ns = i * NS_PER_S;
		c->now_ns = (i + 1) * NS_PER_S;
		c->flow[READ].issued = i ? 0 : n;
		c->flow[READ].bytes_issued = i ? 0 : n * 4096;
		c->flow[READ].bytes_completed = i ? 0 : n * 4096;
	}
	m->recording = (struct recording){
		.path = disk, .nr_meta = 3, .meta = m->meta, .nr_targets = 1,
		.targets = &m->target, .nr_settings = 2,
		.settings = m->settings, .nr_spans = NR, .spans = m->spans,
	};
}

static char *printed(const struct print_ops *print, const struct comparison *c)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	print->comparison(to, c);
	fclose(to);
	return text;
}

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("\"%s\" is not in:\n%s", line, text);
}

/* The text of the comparison of two, which are told as times of one kind or of another. */
static char *told(const struct made *a, const struct made *b, bool other_times)
{
	struct comparison c;
	char *text;

	assert_int_equal(compare(&a->recording, &b->recording, &c), 0);
	assert_int_equal(c.other_times, other_times);
	text = printed(&print_text, &c);
	compare_free(&c);
	return text;
}

static void values_and_ratio(void **state)
{
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "", "256", 1000);
	make(&b, "sdb", "", "16384", 1500);
	b.spans[0].counters.unknown = RT_COUNTER_BIT(SPLITS);
	a.spans[0].counters.flow[READ].splits = 7;
	text = told(&a, &b, false);
	has(text, "phase read  sda and sdb\n");
	has(text, "    requests                        1,000          1,500      1.500      +50.0 %\n");
	has(text, "    throughput                  3.9 MiB/s      5.9 MiB/s      1.500      +50.0 %\n");
	has(text, "    length                         1.00 s         1.00 s      1.000        equal\n");
	has(text, "    splits                              7            n/a not available in B\n");
	has(text, "sda readahead_sectors                                  256                 16384\n");
	/* What happened is not how a disk is set. */
	assert_null(strstr(text, "reset"));
	free(text);
}

static void not_comparable(void **state)
{
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "yes", "256", 1000);
	make(&b, "sda", "", "256", 1500);
	text = told(&a, &b, true);
	has(text, "not comparable: times of the lab's model");
	has(text, "    throughput                  3.9 MiB/s      5.9 MiB/s other times\n");
	has(text, "    requests                        1,000          1,500      1.500      +50.0 %\n");
	free(text);
}

/* Two imported traces are of one kind; what a column would cut short is told whole. */
static void sources(void **state)
{
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "", "256", 10);
	make(&b, "sda", "", "256", 10);
	a.meta[1] = pair("source", "blktrace version 1, little-endian");
	b.meta[1] = pair("source", "blktrace version 1, big-endian");
	text = told(&a, &b, false);
	has(text, "source\n  A: blktrace version 1, little-endian\n  B: blktrace version 1, big-endian\n");
	assert_null(strstr(text, "not comparable"));
	free(text);
	b.meta[1] = pair("machine", "x86_64");
	text = told(&a, &b, false);
	has(text, "not comparable: an imported trace lacks");
	free(text);
}

/* What a trace does not hold is no difference, and nothing is said of what it would mean. */
static void not_recorded(void **state)
{
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "", "256", 10);
	make(&b, "sda", "", "256", 10);
	a.meta[1] = pair("exit_status", "0");
	a.meta[2] = pair("disturbance", "quiet");
	b.meta[1] = pair("source", "blktrace version 1, little-endian");
	b.meta[2] = pair("disturbance", "");
	b.recording.nr_settings = 0;
	text = told(&a, &b, false);
	has(text, "  not recorded in B, an imported trace: exit_status, disturbance, settings (1;\n  --json has them)\n");
	assert_null(strstr(text, "did not do all"));
	assert_null(strstr(text, "something else used"));
	assert_null(strstr(text, "sda readahead_sectors"));
	free(text);
	text = told(&b, &a, false);
	has(text, "  not recorded in A, an imported trace: exit_status");
	free(text);
	/* Neither is a trace: that one has none is told, what it would mean is not. */
	b.meta[1] = pair("module_version", "1");
	text = told(&a, &b, false);
	has(text, "exit_status ");
	has(text, "sda readahead_sectors ");
	assert_null(strstr(text, "not recorded in"));
	assert_null(strstr(text, "did not do all"));
	free(text);
	b.meta[1] = pair("exit_status", "1");
	text = told(&a, &b, false);
	has(text, "did not do all");
	free(text);
}

static void a_model_beside_a_trace(void **state)
{
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "yes", "256", 10);
	make(&b, "sda", "", "256", 10);
	b.meta[1] = pair("source", "blktrace version 1, little-endian");
	text = told(&a, &b, true);
	has(text, "whose the other's are is not\n                  recorded\n");
	assert_null(strstr(text, "not those of a disk"));
	free(text);
}

static void alike(void **state)
{
	struct comparison c;
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "", "256", 10);
	make(&b, "sda", "", "256", 10);
	assert_int_equal(compare(&a.recording, &b.recording, &c), 0);
	assert_int_equal(c.nr_differences, 0);
	text = printed(&print_text, &c);
	has(text, "Machine, command and settings are the same.\n");
	free(text);
	compare_free(&c);
}

/* The n-th of a name belongs to the n-th; what has no partner is told. */
static void pairs(void **state)
{
	struct comparison c;
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "", "256", 10);
	make(&b, "sda", "", "256", 10);
	a.spans[1].phase = (char *)"read";
	assert_int_equal(compare(&a.recording, &b.recording, &c), 0);
	assert_int_equal(c.nr_pairs, 3);
	assert_int_equal(c.pairs[0].b, 0);
	assert_int_equal(c.pairs[1].b, -1);
	assert_int_equal(c.pairs[2].a, -1);
	text = printed(&print_text, &c);
	has(text, "phase read  sda: only in A, nothing to compare with\n");
	has(text, "phase write  sda: only in B, nothing to compare with\n");
	free(text);
	compare_free(&c);
}

static void json(void **state)
{
	struct json_object *root, *at;
	struct comparison c;
	struct made a, b;
	char *text;

	(void)state;
	make(&a, "sda", "", "256", 1000);
	make(&b, "sda", "", "256", 1500);
	assert_int_equal(compare(&a.recording, &b.recording, &c), 0);
	text = printed(&print_json, &c);
	root = json_tokener_parse(text);
	assert_non_null(root);
	assert_int_equal(json_pointer_get(root, "/spans/0/directions/read/requests/ratio", &at), 0);
	assert_true(json_object_get_double(at) == 1.5);
	assert_int_equal(json_pointer_get(root, "/spans/0/directions/read/d2c_mean_ns/not_comparable", &at), 0);
	assert_string_equal(json_object_get_string(at), "not available in either");
	json_object_put(root);
	free(text);
	compare_free(&c);
}

static void defined(const char *name)
{
	const struct definition *definition = explain_find(name, NULL);

	if (!definition)
		fail_msg("%s has no definition in Documentation/counters.rst", name);
	assert_true(strlen(definition->text) > 5);
}

/* Every number that is counted, compared or headed has a definition. */
static void definitions_of_all(void **state)
{
	static const char *const headings[] = {
		"requests", "data", "MiB/s", "depth", "max", "size mode",
		"mean", "sequential", "seeks", "p50", "p99", "mean seek",
		"bios", "splits", "back", "front", "request", "requeued",
		"errors", "unmatched", "abandoned", "readahead",
	};

	(void)state;
#define X(member, attribute, ...) defined(#member);
	RT_FLOW_COUNTERS(X)
#undef X
	for (unsigned int k = 0; k < RT_KINDS; k++)
		defined(rt_kind_name(k));
	for (size_t i = 0; i < nr_quantities; i++)
		defined(quantities[i].name);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		defined(headings[i]);
}

static void names(void **state)
{
	const struct definition *first;

	(void)state;
	assert_string_equal(explain_find("D", NULL)->name, "issued");
	assert_string_equal(explain_find("D2C_SUM_ns", NULL)->name, "d2c-sum-ns");
	assert_string_equal(explain_find("d2c_p99_ns_high", NULL)->name, "d2c-p99-ns");
	assert_null(explain_find("", NULL));
	assert_null(explain_find("d2", NULL));
	assert_null(explain_find("d2c-sum-nsx", NULL));
	/* One name, two numbers: the counter, and its share. */
	first = explain_find("sequential", NULL);
	assert_string_equal(first->unit, "requests");
	assert_string_equal(explain_find("sequential", first)->unit, "%");
}

static void explained_in_columns(void **state)
{
	char *text, *line;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	for (size_t i = 0; i < nr_definitions; i++)
		explain_print(to, &definitions[i]);
	fclose(to);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 100);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_ratio),
		cmocka_unit_test(not_comparable),
		cmocka_unit_test(sources),
		cmocka_unit_test(not_recorded),
		cmocka_unit_test(a_model_beside_a_trace),
		cmocka_unit_test(alike),
		cmocka_unit_test(pairs),
		cmocka_unit_test(json),
		cmocka_unit_test(definitions_of_all),
		cmocka_unit_test(names),
		cmocka_unit_test(explained_in_columns),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
