// SPDX-License-Identifier: GPL-2.0-or-later

/* Requests that are drawn, in each output: golden/drawn-requests.txt has a line for each. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "drawn.h"
#include "report/requests.h"

#define REQUESTS	12

static const char *one_of(uint64_t *state, const char *const *texts, size_t nr)
{
	return texts[drawn(state, nr)];
}

#define ONE_OF(state, ...)	one_of(state, (const char *const[]){ __VA_ARGS__ },	\
				       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

struct text {
	FILE *to;
	char *bytes;
	size_t size;
};

static FILE *open_text(struct text *text)
{
	text->to = open_memstream(&text->bytes, &text->size);
	assert_non_null(text->to);
	return text->to;
}

static void close_text(FILE *all, const char *name, unsigned int number, struct text *text)
{
	char full[64];

	fclose(text->to);
	empty_lists(text->bytes);
	snprintf(full, sizeof(full), "%s-%u", name, number);
	digest(all, full, text->bytes);
}

static struct rt_ended draw_request(uint64_t *state, uint64_t number)
{
	struct rt_ended e = { .number = number, .issued_ns = 2000 + drawn_edge(state) };

	e.sector = drawn_edge(state);
	e.bytes = (uint32_t)drawn_edge(state);
	e.direction = (uint32_t)drawn(state, RT_DIRECTIONS - 1);
	e.class_ = (uint32_t)drawn(state, RT_CLASSES);
	e.depth = (uint32_t)drawn_edge(state);
	e.known = drawn(state, 3);
	e.pid = (uint32_t)drawn(state, 3);
	e.error = !drawn(state, 3);
	e.again = !drawn(state, 3);
	e.queued_ns = drawn(state, 4) ? e.issued_ns + 1 - drawn(state, 3) * 1000 : drawn(state, 2);
	e.inserted_ns = drawn(state, 2) * e.queued_ns;
	e.completed_ns = e.issued_ns + drawn_edge(state);
	snprintf(e.comm, sizeof(e.comm), "%s", ONE_OF(state, "", "dd", "a,\"b\""));
	return e;
}

static void requests(void **unused)
{
	uint64_t state = 5;
	struct text text, all;

	(void)unused;
	open_text(&all);
	for (unsigned int i = 0; i < 12; i++) {
		struct rt_ended ended[REQUESTS];
		struct requests of = { .ended = ended, .nr = i, .found = i % 2 };
		size_t first = i > 4 ? drawn(&state, 4) : 0;
		uint64_t number = 4;

		for (size_t k = 0; k < REQUESTS; k++) {
			ended[k] = draw_request(&state, number);
			number += 1 + drawn(&state, 3);
		}
		requests_text(open_text(&text), &of, first, "sda");
		requests_csv_names(text.to);
		requests_csv(text.to, &of, first);
		requests_json(text.to, &of, first, "sda");
		close_text(all.to, "requests", i, &text);
	}
	fclose(all.to);
	golden("golden/drawn-requests.txt", all.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
	};

	return cmocka_run_group_tests_name("drawn", tests, NULL, NULL);
}
