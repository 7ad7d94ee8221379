// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Answers of the module that are drawn: attributes of any size, in any order,
 * twice or not at all.  golden/drawn-reply.txt has what is read of each.
 */

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "arithmetic.h"
#include "drawn.h"
#include "exchange.h"

/* A number as often right as not, of four or eight bytes or of another size. */
static void put_number(struct nl_msg *msg, int type, uint64_t value, uint64_t *state)
{
	static const int sizes[] = { 4, 8, 8, 4, 8, 4, 0, 2, 12 };
	uint64_t bytes[2] = { value, 7 };

	nla_put(msg, type, sizes[drawn(state, sizeof(sizes) / sizeof(sizes[0]))], bytes);
}

static void put_bins(struct nl_msg *msg, uint64_t *state)
{
	static const unsigned int lengths[] = { 0, 1, 2, 3, 63, 64, 65, 130 };
	unsigned int nr = lengths[drawn(state, 8)];
	uint64_t bins[131] = { 0 };

	for (unsigned int i = 0; i < nr; i++)
		bins[i] = drawn(state, 3) ? drawn(state, 5) : 0;
	nla_put(msg, RAIDTRACE_A_HISTOGRAM_COUNTS, (int)nr * 8 + (drawn(state, 9) ? 0 : 4), bins);
}

static void put_histogram(struct nl_msg *msg, uint64_t *state)
{
	static const uint32_t firsts[] = { 0, 1, 2, 60, 64, 65535, 65536, UINT32_MAX };

	if (drawn(state, 16))
		nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_DIRECTION, (uint32_t)drawn(state, 2) + (drawn(state, 16) ? 0 : RT_DIRECTIONS - 1));
	if (drawn(state, 16))
		nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_KIND, (uint32_t)drawn(state, 2) + (drawn(state, 16) ? 0 : RT_KINDS - 1));
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, firsts[drawn(state, drawn(state, 8) ? 5 : 8)]);
	if (drawn(state, 16))
		put_bins(msg, state);
}

/* The parts of an answer of counters that are nests. */
static void put_nest(struct nl_msg *msg, int type, uint64_t *state)
{
	struct nlattr *nest = nla_nest_start(msg, type);

	switch (type) {
	case RAIDTRACE_A_COUNTERS_FLOW:
		nla_put_u32(msg, RAIDTRACE_A_FLOW_DIRECTION, (uint32_t)drawn(state, drawn(state, 24) ? RT_DIRECTIONS : RT_DIRECTIONS + 2));
		for (int i = RAIDTRACE_A_FLOW_DIRECTION + 1; i <= RAIDTRACE_A_FLOW_MAX + 2; i++)
			if (drawn(state, 12))
				put_number(msg, i, full_next(state), state);
		break;
	case RAIDTRACE_A_COUNTERS_HISTOGRAM:
		put_histogram(msg, state);
		break;
	case RAIDTRACE_A_COUNTERS_ORIGIN:
		nla_put_u32(msg, RAIDTRACE_A_ORIGIN_CLASS, (uint32_t)drawn(state, drawn(state, 24) ? RT_CLASSES : RT_CLASSES + 1));
		for (int i = RAIDTRACE_A_ORIGIN_CLASS + 1; i <= RAIDTRACE_A_ORIGIN_MAX; i++)
			put_number(msg, i, full_next(state), state);
		break;
	case RAIDTRACE_A_COUNTERS_HWQ:
		nla_put_u32(msg, RAIDTRACE_A_HWQ_INDEX, (uint32_t)drawn(state, drawn(state, 24) ? RT_HWQS : RT_HWQS + 1));
		for (int i = RAIDTRACE_A_HWQ_INDEX + 1; i <= RAIDTRACE_A_HWQ_MAX; i++)
			put_number(msg, i, full_next(state), state);
		break;
	default:
		nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_INDEX, (uint32_t)drawn(state, 40));
		for (int i = RAIDTRACE_A_SUBMITTER_INDEX + 1; i <= RAIDTRACE_A_SUBMITTER_MAX; i++)
			if (i == RAIDTRACE_A_SUBMITTER_COMM)
				nla_put_string(msg, i, "a name of many bytes" + drawn(state, 20));
			else if (drawn(state, 6))
				put_number(msg, i, full_next(state), state);
	}
	nla_nest_end(msg, nest);
}

static struct nl_msg *draw_counters(uint64_t *state)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 16);

	genlmsg_put(msg, 0, 0, 0, 0, 0, 0, 1);
	for (int i = RAIDTRACE_A_COUNTERS_ID; i <= RAIDTRACE_A_COUNTERS_MAX; i++) {
		if (i == RAIDTRACE_A_COUNTERS_PARTIAL) {
			if (drawn(state, 2))
				nla_put_flag(msg, i);
		} else if (i == RAIDTRACE_A_COUNTERS_FLOW || i == RAIDTRACE_A_COUNTERS_HISTOGRAM ||
			   i == RAIDTRACE_A_COUNTERS_ORIGIN || i == RAIDTRACE_A_COUNTERS_SUBMITTER ||
			   i == RAIDTRACE_A_COUNTERS_HWQ) {
			for (uint64_t nr = drawn(state, 4); nr; nr--)
				put_nest(msg, i, state);
		} else if (drawn(state, 24)) {
			put_number(msg, i, i == RAIDTRACE_A_COUNTERS_STATE ? drawn(state, 3) : full_next(state), state);
		}
	}
	return msg;
}

/* Each answer as a whole one, and as what changed since the last that could be read. */
static void counters(FILE *to, uint64_t *state)
{
	struct rt_counters last = { 0 };

	for (int i = 0; i < 24; i++) {
		struct nl_msg *msg = draw_counters(state);
		struct rt_counters whole = { 0 };
		struct rt_advance advance = { .last = &last };

		fprintf(to, "whole %d: ", rt_parse_counters(nlmsg_hdr(msg), &whole));
		say_counters(to, &whole);
		fprintf(to, "changed %d: ", rt_parse_advance(nlmsg_hdr(msg), &advance));
		say_counters(to, &advance.now);
		rt_counters_free(&advance.now);
		if (i % 4)
			rt_counters_free(&whole);
		nlmsg_free(msg);
		if (i % 4)
			continue;
		rt_counters_free(&last);
		last = whole;
	}
	rt_counters_free(&last);
}

/* Of the module and of a disk: whatever is there, in the sizes that it has. */
static void heads(FILE *to, uint64_t *state)
{
	for (int i = 0; i < 16; i++) {
		struct nl_msg *msg = nlmsg_alloc_size(1 << 14);
		struct rt_target target = { 0 };
		struct rt_info info = { 0 };

		genlmsg_put(msg, 0, 0, 0, 0, 0, 0, 1);
		for (int type = 1; type <= RAIDTRACE_A_TARGET_MAX; type++)
			for (uint64_t nr = drawn(state, 16) ? 1 + drawn(state, 3) / 2 : 0; nr; nr--) {
				if (i % 2 ? type == RAIDTRACE_A_INFO_VERSION || type == RAIDTRACE_A_INFO_UNAVAILABLE :
				    (type == RAIDTRACE_A_TARGET_DISK || type == RAIDTRACE_A_TARGET_DRIVER ||
				     type == RAIDTRACE_A_TARGET_PCI || type == RAIDTRACE_A_TARGET_HCTL))
					nla_put_string(msg, type, "a text of a name that is rather long, as no name of a disk is but this" +
						       drawn(state, 70));
				else
					put_number(msg, type, type == RAIDTRACE_A_TARGET_STATE ? drawn(state, 3) : full_next(state), state);
			}
		if (i % 2) {
			fprintf(to, "%d: ", rt_parse_info(nlmsg_hdr(msg), &info));
			fprintf(to, "%u %s %u %u %" PRIu64 " %s\n", info.abi, info.version, info.nr_targets, info.max_targets,
				info.now_ns, info.unavailable);
		} else {
			fprintf(to, "%d: ", rt_parse_target(nlmsg_hdr(msg), &target));
			fprintf(to, "%u %u %u %s %d %d %" PRIu64 " %u %u %" PRIu64 "\n",
				target.id, target.major, target.minor, target.disk, target.gone,
				target.bio_based, target.attached_ns, target.groups, target.streams, target.place_sectors);
		}
		nlmsg_free(msg);
	}
}

/* Requests that ended: some of them say what cannot be. */
static void histories(FILE *to, uint64_t *state)
{
	for (int i = 0; i < 30; i++) {
		struct nl_msg *msg = nlmsg_alloc_size(1 << 16);
		struct rt_history history = { 0 };
		uint64_t often = drawn(state, 3) ? 200 : 20;

		genlmsg_put(msg, 0, 0, 0, 0, 0, 0, 1);
		if (drawn(state, 12))
			put_number(msg, RAIDTRACE_A_HISTORY_NR, full_next(state), state);
		if (drawn(state, 2))
			nla_put_flag(msg, RAIDTRACE_A_HISTORY_FROZEN);
		for (uint64_t nr = drawn(state, 9) ? drawn(state, 6) : RT_HISTORY_MOST + drawn(state, 2); nr; nr--) {
			struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_HISTORY_ENDED);

			nla_put_u64(msg, RAIDTRACE_A_ENDED_NUMBER, !!drawn(state, often));
			nla_put_u64(msg, RAIDTRACE_A_ENDED_ISSUED_NS, 5 + !drawn(state, often));
			nla_put_u64(msg, RAIDTRACE_A_ENDED_COMPLETED_NS, 5 + drawn(state, 3) / 2);
			nla_put_u32(msg, RAIDTRACE_A_ENDED_DIRECTION, (uint32_t)drawn(state, RAIDTRACE_DIRECTION_ALL + !drawn(state, often)));
			nla_put_u32(msg, RAIDTRACE_A_ENDED_CLASS, (uint32_t)drawn(state, RT_CLASSES + !drawn(state, often)));
			for (int type = 1; type <= RAIDTRACE_A_ENDED_MAX; type++)
				if (type == RAIDTRACE_A_ENDED_COMM)
					nla_put_string(msg, type, "a name of many bytes" + drawn(state, 20));
				else if (type != RAIDTRACE_A_ENDED_NUMBER && type != RAIDTRACE_A_ENDED_ISSUED_NS &&
					 type != RAIDTRACE_A_ENDED_COMPLETED_NS && type != RAIDTRACE_A_ENDED_DIRECTION &&
					 type != RAIDTRACE_A_ENDED_CLASS && drawn(state, 2))
					nla_put_u64(msg, type, full_next(state));
			nla_nest_end(msg, nest);
		}
		fprintf(to, "%d: ", rt_parse_history(nlmsg_hdr(msg), &history));
		fprintf(to, "%" PRIu64 "\n", history.total);
		for (size_t k = 0; k < history.nr; k++) {
			const struct rt_ended *e = &history.ended[k];

			fprintf(to, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %d %u %s %d %d\n", e->number,
				e->queued_ns, e->inserted_ns, e->issued_ns, e->completed_ns, e->sector, e->bytes, e->direction, e->class_,
				e->depth, e->known, e->pid, e->comm, e->error, e->again);
		}
		nlmsg_free(msg);
	}
}

static void answers(void **unused)
{
	static const struct drawn_kind kinds[] = { { "answers", counters }, { "heads", heads }, { "histories", histories } };

	(void)unused;
	drawn_golden("golden/drawn-reply.txt", kinds, sizeof(kinds) / sizeof(kinds[0]), 12, 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };

	return cmocka_run_group_tests_name("drawn-reply", tests, NULL, NULL);
}
