// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: bytes become events of a trace, for the accounting.
 *
 * The first byte says how many files there are and how many events a stream is
 * sorted by, the second how long a sample is; every eight bytes of the rest
 * are an event that could be.  Sums have to agree and samples have to tile the
 * time.  fuzz_blktrace.c is for the reader.
 */

#include <errno.h>

#include "import/import.h"
#include "expect.h"

#define SOURCES		4
#define EVENT_BYTES	8
#define SIZE_LIMIT	4096

/* The linker puts these in the place of those without __wrap_. */
void __wrap_raidtrace_account_move(struct raidtrace_account *sum, struct raidtrace_account *part, uint64_t *changed,
				   uint64_t now);
struct rt_histogram __wrap_rt_histogram_view(const uint64_t *counts, unsigned int nr);

static struct {
	struct bytes bytes[SOURCES];
	struct blktrace_reader readers[SOURCES];
	struct blktrace_merge merge;
	struct blktrace_import import;
	uint64_t ends[BLKTRACE_DEVICES];
	uint64_t issued[BLKTRACE_DEVICES];
	uint8_t records[SIZE_LIMIT / EVENT_BYTES * 64];
} run;

/* Thousands of steps for each sample that do not depend on the bytes: without sanitizers. */
__attribute__((no_sanitize("address", "undefined", "coverage")))
void __wrap_raidtrace_account_move(struct raidtrace_account *sum, struct raidtrace_account *part, uint64_t *changed,
				   uint64_t now)
{
	uint64_t *to = (uint64_t *)sum, *from = (uint64_t *)part;

	(void)changed;
	(void)now;
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++) {
		to[i] += from[i];
		from[i] = 0;
	}
}

__attribute__((no_sanitize("address", "undefined", "coverage")))
struct rt_histogram __wrap_rt_histogram_view(const uint64_t *counts, unsigned int nr)
{
	unsigned int first = 0;

	while (nr && !counts[nr - 1])
		nr--;
	while (first < nr && !counts[first])
		first++;
	return (struct rt_histogram){ first, nr - first, (uint64_t *)(uintptr_t)counts + first };
}

static int on_sample(void *data, const struct blktrace_device *device, const struct rt_counters *span)
{
	uint64_t depth_ns = rt_histogram_sum(
		&span->histogram[RAIDTRACE_DIRECTION_ALL]
				[RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME]);
	uint64_t *end = &run.ends[device->index];

	(void)data;
	if (*end == UINT64_MAX)
		*end = run.import.start_ns;
	expect(span->since_ns == *end, "samples tile");
	expect(span->now_ns >= span->since_ns, "samples do not end before they begin");
	expect(depth_ns == span->now_ns - span->since_ns,
	       "time at all depths is the time of the sample");
	*end = span->now_ns;
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
		run.issued[device->index] += span->flow[d].issued;
	return 0;
}

/* After all events were read. */
static void check_sums(void)
{
	char text[256];

	blktrace_import_check(&run.import, text, sizeof(text));
	expect(!strcmp(text, "hold") || !strncmp(text, "not known", 9) || !strncmp(text, "do not hold", 11), text);
	for (size_t i = 0; i < run.import.nr; i++) {
		struct rt_counters total;
		uint64_t issued = 0;

		expect(!blktrace_device_total(run.import.devices[i], run.import.start_ns, run.import.now_ns, &total), "memory");
		expect(run.ends[i] == run.import.now_ns, "the last sample ends with the last event");
		for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
			issued += total.flow[d].issued;
		expect(issued == run.issued[i], "samples sum to the total");
		rt_counters_free(&total);
		blktrace_device_unknown(run.import.devices[i]);
	}
}

static void put(uint8_t **to, const void *value, size_t size)
{
	memcpy(*to, value, size);
	*to += size;
}

/* Eight bytes to a record of version 1 or 2, of few places, sizes and disks. */
static void put_event(uint8_t **to, const uint8_t *from, uint64_t *time_ns)
{
	static const uint32_t categories[] = {
		1, 2, 2 | 4, 1 | 4, 2 | 1 << 13, 1 << 9 | 1, 1 << 9 | 2, 2 | 1 << 15,
	};
	bool second = from[0] & 0x80;
	uint32_t magic = 0x65617400 | (second ? 8 : 7), zero = 0;
	uint64_t sector = (from[2] & 15) * 8, action;
	uint32_t bytes = (from[2] >> 4 & 7) * 4096, device = 8U << 20 | from[3] >> 6;
	uint32_t sequence = from[4], cpu = from[5] & 3;
	uint16_t error = from[5] >> 7;

	*time_ns += from[6] & 0x80 ? (uint64_t)from[6] << (from[7] & 31) : from[6] & 0x3f;
	if (from[6] & 0x40 && *time_ns > 100)
		*time_ns -= 100;
	action = (from[0] & 31) |
		 (uint64_t)(categories[from[1] & 7] | (from[1] & 8 ? 1 << 8 : 0) |
			    (uint64_t)(second ? (from[1] >> 4) & 3 : 0) << 21) << 16;
	put(to, &magic, 4);
	put(to, &sequence, 4);
	put(to, time_ns, 8);
	put(to, &sector, 8);
	put(to, &bytes, 4);
	put(to, second ? &zero : (uint32_t *)&action, 4);
	put(to, second ? (void *)&action : &zero, second ? 8 : 4);
	put(to, &device, 4);
	put(to, &cpu, 4);
	put(to, &error, 2);
	put(to, &zero, 2);
	for (int i = 0; second && i < 3; i++)
		put(to, &zero, 4);
}

/* Records of the events in [data, data + size) to @to; how many bytes they take. */
static size_t make_records(const uint8_t *data, size_t size, uint8_t *to)
{
	uint8_t *begin = to;
	uint64_t time_ns = 1000;

	for (; size >= EVENT_BYTES; data += EVENT_BYTES, size -= EVENT_BYTES)
		put_event(&to, data, &time_ns);
	return (size_t)(to - begin);
}

static void set_up(const uint8_t *data, size_t size)
{
	size_t nr = 1 + (data[0] & 3), part = (size - 2) / nr;
	uint8_t *to = run.records;

	memset(&run, 0, offsetof(typeof(run), records));
	memset(run.ends, 0xff, sizeof(run.ends));
	for (size_t i = 0; i < nr; i++) {
		struct blktrace_input input = { read_bytes, &run.bytes[i] };
		size_t left = make_records(data + 2 + i * part, part, to);

		run.bytes[i] = (struct bytes){ to, left, SIZE_MAX, left };
		to += left;
		expect(!blktrace_open(&run.readers[i], input, BLKTRACE_BUFFER_MIN), "memory");
	}
	run.merge = (struct blktrace_merge){ .nr = nr, .readers = run.readers };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int err;

	if (size < 2 || size > SIZE_LIMIT)
		return 0;
	set_up(data, size);
	run.import.merge = &run.merge;
	run.import.interval_ns = (uint64_t)256 << (data[1] & 15) * 2;
	run.import.sample = on_sample;
	err = blktrace_merge_open(&run.merge, 1 + (data[0] >> 2 & 15));
	if (!err)
		err = blktrace_import_run(&run.import);
	expect(!err || err == -E2BIG, "nothing is refused but too many disks");
	if (!err)
		check_sums();
	blktrace_import_free(&run.import);
	blktrace_merge_close(&run.merge);
	for (size_t i = 0; i < run.merge.nr; i++)
		blktrace_close(&run.readers[i]);
	return 0;
}
