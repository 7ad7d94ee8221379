// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Compare the counters with /sys/block/DISK/stat. The kernel counts a request after the event of its end, so readings
 * before and after the begin, and before and after the end, give limits of its number.
 */

#include "record/witness.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/base.h"
#include "format/format.h"

static const char *const names[WITNESS_KINDS] = { "read", "write", "discard" };

static bool is_set(unsigned int major, unsigned int minor, const char *name)
{
	char path[96];
	int value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/queue/%s", major, minor, name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

void witness_read(unsigned int major, unsigned int minor, struct witness_reading *ret)
{
	uint64_t sectors[WITNESS_KINDS], *requests = ret->requests;
	char path[64];
	FILE *file;

	*ret = (struct witness_reading){ 0 };
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", major, minor);
	file = fopen(path, "re");
	if (!file)
		return;
	ret->known = fscanf(file, "%" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
			    " %*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64, &requests[WITNESS_READ],
			    &sectors[WITNESS_READ], &requests[WITNESS_WRITE], &sectors[WITNESS_WRITE],
			    &requests[WITNESS_DISCARD], &sectors[WITNESS_DISCARD]) == 6 &&
		     is_set(major, minor, "iostats") && !is_set(major, minor, "iostats_passthrough");
	fclose(file);
	for (unsigned int kind = 0; kind < WITNESS_KINDS && ret->known; kind++)
		ret->bytes[kind] = sectors[kind] * SECTOR_BYTES;
}

static uint64_t difference(uint64_t to, uint64_t from, uint64_t less)
{
	return to > from + less ? to - from - less : 0;
}

static enum witness_kind kind_of(unsigned int direction)
{
	switch (direction) {
	case RAIDTRACE_DIRECTION_READ:
		return WITNESS_READ;
	case RAIDTRACE_DIRECTION_DISCARD:
		return WITNESS_DISCARD;
	case RAIDTRACE_DIRECTION_PASSTHROUGH:
		return WITNESS_KINDS;
	default:
		return WITNESS_WRITE;
	}
}

/*
 * The kernel counts empty flushes as writes, but not those that it issues for them. Other operations without data are
 * reads or writes to it. Requests without a known issue have no known bytes.
 */
static void add_counted(const struct rt_flow *flow, unsigned int direction, uint64_t largest,
			struct witness_limits *requests, struct witness_limits *bytes)
{
	bool flush = direction == RAIDTRACE_DIRECTION_FLUSH, sure = direction != RAIDTRACE_DIRECTION_OTHER;

	requests->most += flow->unissued + (flush ? 0 : flow->completed + flow->unmatched);
	requests->least += flush ? flow->unissued : sure ? flow->completed + flow->unmatched : 0;
	bytes->most += flow->bytes_completed + flow->unmatched * largest;
	bytes->least += sure ? flow->bytes_completed : 0;
}

void witness_compare(const struct witness *witness, const struct rt_counters *counters, unsigned int processors,
		     uint64_t largest, struct witness_verdict *ret)
{
	const struct witness_reading *from = &witness->before_begin, *begun = &witness->after_begin;
	const struct witness_reading *end = &witness->before_end, *to = &witness->after_end;

	*ret = (struct witness_verdict){ .known = from->known && begun->known && end->known && to->known };
	for (unsigned int kind = 0; kind < WITNESS_KINDS; kind++) {
		struct witness_limits *requests = &ret->requests[kind].kernel, *bytes = &ret->bytes[kind].kernel;

		ret->requests[kind].known = ret->known;
		ret->bytes[kind].known = ret->known && kind != WITNESS_DISCARD;
		requests->least = difference(end->requests[kind], begun->requests[kind], processors);
		requests->most = difference(to->requests[kind], from->requests[kind], 0) + processors;
		bytes->least = difference(end->bytes[kind], begun->bytes[kind], processors * largest);
		bytes->most = difference(to->bytes[kind], from->bytes[kind], 0) + processors * largest;
	}
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		enum witness_kind kind = kind_of(d);

		if (kind == WITNESS_KINDS)
			continue;
		add_counted(&counters->flow[d], d, largest, &ret->requests[kind].counted, &ret->bytes[kind].counted);
		/* A request without data can be of any size. */
		if (d > RAIDTRACE_DIRECTION_WRITE && d != RAIDTRACE_DIRECTION_FLUSH &&
		    counters->flow[d].completed + counters->flow[d].unmatched)
			ret->bytes[kind].known = false;
	}
}

/* The number by which one side is at least larger than the other: the kernel's above 0, the counted below 0. */
static int64_t surplus(const struct witness_pair *pair)
{
	if (pair->known && pair->kernel.least > pair->counted.most)
		return (int64_t)(pair->kernel.least - pair->counted.most);
	if (pair->known && pair->counted.least > pair->kernel.most)
		return -(int64_t)(pair->counted.least - pair->kernel.most);
	return 0;
}

static size_t add_text(char *ret, size_t used, size_t size, int64_t by, const char *what, const char *name)
{
	char number[UNITS_TEXT];

	if (!by || used >= size)
		return used;
	format_count(number, (uint64_t)(by > 0 ? by : -by));
	return used + (size_t)snprintf(ret + used, size - used, "%s%s %s %s%ss", used ? ", " : "", number,
				       by > 0 ? "more" : "fewer", what, name);
}

char *witness_text(char *ret, size_t size, const struct witness_verdict *verdict)
{
	size_t used = 0;

	ret[0] = '\0';
	for (unsigned int kind = 0; kind < WITNESS_KINDS && verdict->known; kind++) {
		used = add_text(ret, used, size, surplus(&verdict->requests[kind]), "", names[kind]);
		used = add_text(ret, used, size, surplus(&verdict->bytes[kind]), "bytes of ", names[kind]);
	}
	return ret;
}

static struct json_object *limits_array(const struct witness_limits *limits)
{
	struct json_object *array = json_new_array();

	json_element(array, json_new_uint64(limits->least));
	json_element(array, json_new_uint64(limits->most));
	return array;
}

static struct json_object *pair_object(const struct witness_pair *pair)
{
	struct json_object *object = pair->known ? json_new_object() : NULL;

	if (object) {
		json_member(object, "kernel", limits_array(&pair->kernel));
		json_member(object, "counted", limits_array(&pair->counted));
	}
	return object;
}

void witness_json(struct json_object *to, const char *key, const struct witness_verdict *verdict)
{
	struct json_object *object = verdict->known ? json_new_object() : NULL;

	for (unsigned int kind = 0; kind < WITNESS_KINDS && object; kind++) {
		struct json_object *of_kind = json_new_object();

		json_member(of_kind, "requests", pair_object(&verdict->requests[kind]));
		json_member(of_kind, "bytes", pair_object(&verdict->bytes[kind]));
		json_member(object, names[kind], of_kind);
	}
	json_member(to, key, object);
}
