// SPDX-License-Identifier: GPL-2.0-or-later

/* Answers of the module with all that one can hold, and with each part of it missing or wrong. */

#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "internal.h"
#include "full.h"
#include "raidtrace.h"
#include "report/report.h"

static struct rt_submitter submitters[FULL_SUBMITTERS];
static struct rt_counters full;

static void put_flow(struct nl_msg *msg, unsigned int d, int without)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_FLOW);
	const struct rt_flow *flow = &full.flow[d < RT_DIRECTIONS ? d : 0];

	nla_put_u32(msg, RAIDTRACE_A_FLOW_DIRECTION, d);
#define X(member, attribute, ...)						\
	if (without != RAIDTRACE_A_FLOW_##attribute &&				\
	    (RAIDTRACE_A_FLOW_##attribute != RAIDTRACE_A_FLOW_DEPTH_SUM_NS || d <= RAIDTRACE_DIRECTION_WRITE || \
	     d == RAIDTRACE_DIRECTION_ALL))					\
		nla_put_u64(msg, RAIDTRACE_A_FLOW_##attribute, flow->member);
	RT_FLOW_COUNTERS(X)
#undef X
	if (without != RAIDTRACE_A_FLOW_IN_FLIGHT)
		nla_put_u32(msg, RAIDTRACE_A_FLOW_IN_FLIGHT, flow->in_flight);
	nla_put_u32(msg, RAIDTRACE_A_FLOW_IN_FLIGHT_MAX, flow->in_flight_max);
	nla_nest_end(msg, nest);
}

static void put_histogram(struct nl_msg *msg, uint32_t d, uint32_t k, uint32_t first, const uint64_t *counts, unsigned int nr)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_HISTOGRAM);

	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_DIRECTION, d);
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_KIND, k);
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, first);
	if (counts)
		nla_put(msg, RAIDTRACE_A_HISTOGRAM_COUNTS, (int)(nr * 8), counts);
	nla_nest_end(msg, nest);
}

static void put_origin(struct nl_msg *msg, uint32_t class_)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_ORIGIN);
	const struct rt_origin *origin = &full.origin[class_ < RT_CLASSES ? class_ : 0];

	nla_put_u32(msg, RAIDTRACE_A_ORIGIN_CLASS, class_);
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_ORIGIN_##attribute, origin->member);
	RT_ORIGIN_COUNTERS(X)
#undef X
	nla_nest_end(msg, nest);
}

static void put_submitter(struct nl_msg *msg, const struct rt_submitter *s)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_SUBMITTER);

	nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_INDEX, s->index);
	if (!s->rest) {
		nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_PID, s->pid);
		nla_put_string(msg, RAIDTRACE_A_SUBMITTER_COMM, s->comm);
	}
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_SUBMITTER_##attribute, s->member);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	nla_nest_end(msg, nest);
}

static void put_hwq(struct nl_msg *msg, uint32_t index)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_HWQ);
	const struct rt_hwq *hwq = &full.hwq[index < RT_HWQS ? index : 0];

	nla_put_u32(msg, RAIDTRACE_A_HWQ_INDEX, index);
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_HWQ_##attribute, hwq->member);
	RT_HWQ_COUNTERS(X)
#undef X
	nla_put_u32(msg, RAIDTRACE_A_HWQ_IN_FLIGHT, hwq->in_flight);
	nla_put_u32(msg, RAIDTRACE_A_HWQ_IN_FLIGHT_MAX, hwq->in_flight_max);
	nla_nest_end(msg, nest);
}

/* The head and what has no direction, without one of it. */
static struct nl_msg *head(int without)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 20);

	assert_non_null(genlmsg_put(msg, 0, 0, 30, 0, 0, RAIDTRACE_CMD_COUNTERS_GET, 1));
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_ID, full.id);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SNAPSHOT, full.snapshot);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SINCE_NS, full.since_ns);
	if (without != RAIDTRACE_A_COUNTERS_NOW_NS)
		nla_put_u64(msg, RAIDTRACE_A_COUNTERS_NOW_NS, full.now_ns);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_RESETS, full.resets);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_STATE, RAIDTRACE_STATE_GONE);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS, full.readahead_sectors);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_GROUPS, full.groups);
#define X(member, attribute, ...)				\
	if (without != RAIDTRACE_A_COUNTERS_##attribute)	\
		nla_put_u64(msg, RAIDTRACE_A_COUNTERS_##attribute, full.disk.member);
	RT_DISK_COUNTERS(X)
#undef X
	if (without != RAIDTRACE_A_COUNTERS_STREAMS_ALIVE)
		nla_put_u32(msg, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE, full.disk.streams_alive);
	if (without != RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED)
		nla_put_u32(msg, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED, full.disk.streams_alive_queued);
	return msg;
}

static int parsed(struct nl_msg *msg, struct rt_counters *got)
{
	int err;

	memset(got, 0, sizeof(*got));
	err = rt_parse_counters(nlmsg_hdr(msg), got);
	nlmsg_free(msg);
	return err;
}

static void whole(void **state)
{
	struct nl_msg *msg = head(-1);
	struct rt_counters got;

	(void)state;
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		put_flow(msg, d, -1);
		for (unsigned int k = 0; k < RT_KINDS; k++)
			put_histogram(msg, d, k, full.histogram[d][k].first_bin, full.histogram[d][k].counts,
				      full.histogram[d][k].nr_bins);
	}
	for (uint32_t i = 0; i < RT_CLASSES; i++)
		put_origin(msg, i);
	for (size_t i = 0; i < FULL_SUBMITTERS; i++)
		put_submitter(msg, &submitters[i]);
	for (uint32_t i = RT_HWQS; i--;)
		if (full.hwq[i].issued)
			put_hwq(msg, i);
	assert_int_equal(parsed(msg, &got), 0);
	assert_int_equal(got.id, full.id);
	assert_int_equal(got.snapshot, full.snapshot);
	assert_int_equal(got.since_ns, full.since_ns);
	assert_int_equal(got.now_ns, full.now_ns);
	assert_int_equal(got.resets, full.resets);
	assert_true(got.gone);
	assert_int_equal(got.readahead_sectors, full.readahead_sectors);
	assert_int_equal(got.groups, full.groups);
	assert_int_equal(got.unknown, 0);
	assert_memory_equal(&got.disk, &full.disk, sizeof(got.disk));
	assert_memory_equal(got.origin, full.origin, sizeof(got.origin));
	assert_int_equal(got.nr_hwqs, RT_HWQS);
	assert_memory_equal(got.hwq, full.hwq, sizeof(got.hwq));
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		if (d > RAIDTRACE_DIRECTION_WRITE && d != RAIDTRACE_DIRECTION_ALL)
			full.flow[d].depth_sum_ns = 0;
		assert_memory_equal(&got.flow[d], &full.flow[d], sizeof(got.flow[d]));
		for (unsigned int k = 0; k < RT_KINDS; k++) {
			const struct rt_histogram *a = &got.histogram[d][k], *b = &full.histogram[d][k];

			assert_int_equal(a->first_bin, b->first_bin);
			assert_int_equal(a->nr_bins, b->nr_bins);
			assert_memory_equal(a->counts, b->counts, a->nr_bins * sizeof(a->counts[0]));
		}
	}
	assert_int_equal(got.nr_submitters, FULL_SUBMITTERS);
	for (size_t i = 0; i < FULL_SUBMITTERS; i++) {
		const struct rt_submitter *a = &got.submitters[i], *b = &submitters[i];

		assert_int_equal(a->index, b->index);
		assert_int_equal(a->rest, b->rest);
		assert_int_equal(a->pid, b->rest ? 0 : b->pid);
		assert_string_equal(a->comm, b->comm);
#define X(member, attribute, ...) assert_int_equal(a->member, b->member);
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
	rt_counters_free(&got);
}

/* What is not there is not known, and nothing else is not known for that. */
static void each_is_missing(void **state)
{
	struct rt_counters got;
	struct nl_msg *msg;

	(void)state;
#define X(member, attribute, ...)						\
	assert_int_equal(parsed(head(RAIDTRACE_A_COUNTERS_##attribute), &got), 0);	\
	assert_int_equal(got.disk.unknown, RT_DISK_BIT(attribute));		\
	rt_counters_free(&got);
	RT_DISK_COUNTERS(X)
	X(streams_alive, STREAMS_ALIVE)
	X(streams_alive_queued, STREAMS_ALIVE_QUEUED)
#undef X
#define X(member, attribute, ...)						\
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {			\
		bool counted = RT_COUNTER_##attribute == RT_COUNTER_IN_FLIGHT || \
			       (d != RAIDTRACE_DIRECTION_ALL &&			\
				(RT_COUNTER_##attribute != RT_COUNTER_DEPTH_SUM_NS || d <= RAIDTRACE_DIRECTION_WRITE)); \
										\
		msg = head(-1);							\
		put_flow(msg, d, RAIDTRACE_A_FLOW_##attribute);			\
		assert_int_equal(parsed(msg, &got), 0);				\
		assert_true(got.unknown == (counted ? RT_COUNTER_BIT(attribute) : 0)); \
		rt_counters_free(&got);						\
	}
	RT_FLOW_COUNTERS(X)
	X(in_flight, IN_FLIGHT)
#undef X
	assert_int_equal(parsed(head(RAIDTRACE_A_COUNTERS_NOW_NS), &got), -EBADMSG);
	rt_counters_free(&got);
}

/* A part that says what cannot be, or that comes twice. */
static void each_is_refused(void **state)
{
	static const uint64_t counts[2] = { 1, 2 };
	struct rt_counters got;

	(void)state;
	for (int i = 0; i < 14; i++) {
		struct nl_msg *msg = head(-1);
		bool good = i < 2;

		switch (i) {
		case 0: put_histogram(msg, RT_DIRECTIONS - 1, RT_KINDS - 1, 7, counts, 2); break;
		case 1: put_histogram(msg, 0, 0, 7, counts, 0); put_histogram(msg, 0, 0, 7, counts, 1); break;
		case 2: put_histogram(msg, RT_DIRECTIONS, 0, 7, counts, 2); break;
		case 3: put_histogram(msg, 0, RT_KINDS, 7, counts, 2); break;
		case 4: put_histogram(msg, 0, 0, 7, NULL, 0); break;
		case 5: put_histogram(msg, 0, 0, UINT32_MAX, counts, 2); break;
		case 6: put_histogram(msg, 0, 0, 7, counts, 1); put_histogram(msg, 0, 0, 9, counts, 1); break;
		case 7: put_origin(msg, RT_CLASSES); break;
		case 8: put_submitter(msg, &submitters[3]); put_submitter(msg, &submitters[3]); break;
		case 9: put_flow(msg, RT_DIRECTIONS, -1); break;
		case 10: put_hwq(msg, RT_HWQS); break;
		case 11: nla_put_u64(msg, RAIDTRACE_A_COUNTERS_HWQ, 0); break;
		case 12: nla_put_u64(msg, RAIDTRACE_A_COUNTERS_ORIGIN, 0); break;
		default: nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SUBMITTER, 0); break;
		}
		if (parsed(msg, &got) != (good ? 0 : -EBADMSG))
			fail_msg("case %d", i);
		rt_counters_free(&got);
	}
}

static int fill(void **state)
{
	uint64_t seed = 17;

	(void)state;
	full = (struct rt_counters){ .id = 9, .snapshot = 8, .since_ns = 7, .now_ns = 1000, .resets = 6, .readahead_sectors = 5,
				     .groups = 0x1fff };
	full_counters(&full, submitters, &seed);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	full.submitters = NULL;
	full.nr_submitters = 0;
	rt_counters_free(&full);
	return 0;
}

/* Answers about the last requests of a disk, and how requests are printed. */

static void put_ended(struct nl_msg *msg, uint64_t number, uint32_t class_, uint64_t completed_ns)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_HISTORY_ENDED);

	nla_put_u64(msg, RAIDTRACE_A_ENDED_NUMBER, number);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_QUEUED_NS, 1000000000);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_ISSUED_NS, 1002000000);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_COMPLETED_NS, completed_ns);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_SECTOR, 4096 * number);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_BYTES, 65536);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_DIRECTION, RAIDTRACE_DIRECTION_WRITE);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_CLASS, class_);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_DEPTH, 7);
	if (number & 1) {
		nla_put_u32(msg, RAIDTRACE_A_ENDED_PID, 42);
		nla_put_string(msg, RAIDTRACE_A_ENDED_COMM, "fio");
	} else {
		nla_put_flag(msg, RAIDTRACE_A_ENDED_ERROR);
		nla_put_flag(msg, RAIDTRACE_A_ENDED_AGAIN);
	}
	nla_nest_end(msg, nest);
}

static struct nl_msg *history_answer(void)
{
	struct nl_msg *msg = nlmsg_alloc_size(32768);

	assert_non_null(genlmsg_put(msg, 0, 0, 30, 0, 0, RAIDTRACE_CMD_HISTORY_GET, 1));
	nla_put_u64(msg, RAIDTRACE_A_HISTORY_NR, 9);
	return msg;
}

static int parse_history(struct nl_msg *msg, struct rt_history *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = rt_parse_history(nlmsg_hdr(msg), ret);
	nlmsg_free(msg);
	return err;
}

static void descriptions(void **state)
{
	static struct rt_history history;
	struct nl_msg *msg = history_answer();

	(void)state;
	put_ended(msg, 5, RAIDTRACE_CLASS_JOURNAL, 1012000000);
	put_ended(msg, 8, RAIDTRACE_CLASS_DATA, 1502000000);
	assert_int_equal(parse_history(msg, &history), 0);
	assert_int_equal(history.total, 9);
	assert_int_equal(history.nr, 2);
	assert_int_equal(history.ended[0].sector, 4096 * 5);
	assert_int_equal(history.ended[0].inserted_ns, 0);
	assert_int_equal(history.ended[0].class_, RAIDTRACE_CLASS_JOURNAL);
	assert_string_equal(history.ended[0].comm, "fio");
	assert_true(history.ended[0].known && !history.ended[0].error && !history.ended[0].again);
	assert_true(!history.ended[1].known && history.ended[1].error && history.ended[1].again);
}

/* What no module says is not printed: a class that there is not, an end before the issue, more than fit. */
static void what_is_refused(void **state)
{
	static struct rt_history history;
	struct nl_msg *msg = history_answer();

	(void)state;
	put_ended(msg, 5, RT_CLASSES, 1012000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	msg = history_answer();
	put_ended(msg, 5, 0, 1001000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	msg = history_answer();
	put_ended(msg, 0, 0, 1012000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	msg = history_answer();
	for (uint64_t i = 1; i <= RT_HISTORY_MOST + 1; i++)
		put_ended(msg, i, 0, 1012000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	assert_int_equal(history.nr, RT_HISTORY_MOST);
}

static char *printed(int how, const struct requests *requests, size_t first)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (how == 't') {
		requests_text(to, requests, first, "sda");
	} else if (how == 'c') {
		requests_csv_names(to);
		requests_csv(to, requests, first);
	} else {
		requests_json(to, requests, first, "sda");
	}
	fclose(to);
	return text;
}

static void how_they_are_printed(void **state)
{
	static struct rt_history history;
	struct requests requests = { .has_awaited = true, .classes = true };
	struct nl_msg *msg = history_answer();
	char *text;

	(void)state;
	text = printed('t', &requests, 0);
	assert_string_equal(text, "sda: no request was kept since it was attached\n");
	free(text);
	put_ended(msg, 5, RAIDTRACE_CLASS_JOURNAL, 1012000000);
	put_ended(msg, 8, RAIDTRACE_CLASS_DATA, 1502000000);
	assert_int_equal(parse_history(msg, &history), 0);
	assert_int_equal(requests_add(&requests, history.ended, history.nr), 0);
	text = printed('t', &requests, 0);
	assert_string_equal(text,
			    " before     q2d     d2c depth           sector     data class        who\n"
			    " 490 ms 2.00 ms 10.0 ms     7 write      20480   64 KiB journal   -- fio\n"
			    "        2 requests were lost here\n"
			    "   0 ns 2.00 ms  500 ms     7 write      32768   64 KiB data      FA -\n"
			    "The last one is what was waited for.\n");
	free(text);
	text = printed('c', &requests, 1);
	assert_string_equal(text,
			    "number,queued_ns,inserted_ns,issued_ns,completed_ns,sector,bytes,direction,class,depth,pid,comm,error,again\r\n"
			    "8,1000000000,,1002000000,1502000000,32768,65536,write,data,7,,,1,1\r\n");
	free(text);
	text = printed('j', &requests, 0);
	assert_non_null(strstr(text, "\"lost\":2"));
	assert_non_null(strstr(text, "\"inserted_ns\":null"));
	assert_non_null(strstr(text, "\"ended\":true"));
	assert_non_null(strstr(text, "\"simulated\":false"));
	assert_non_null(strstr(text, "\"class\":\"data\""));
	free(text);
	requests.classes = false;
	text = printed('t', &requests, 1);
	assert_non_null(strstr(text, "64 KiB n/a "));
	free(text);
	text = printed('c', &requests, 1);
	assert_non_null(strstr(text, ",write,,7,"));
	free(text);
	text = printed('j', &requests, 1);
	assert_non_null(strstr(text, "\"class\":null"));
	free(text);
	free(requests.ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole), cmocka_unit_test(each_is_missing), cmocka_unit_test(each_is_refused),
		cmocka_unit_test(descriptions),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(how_they_are_printed),
	};

	return cmocka_run_group_tests_name("reply", tests, fill, forget);
}
