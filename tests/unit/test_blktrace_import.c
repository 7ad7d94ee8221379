// SPDX-License-Identifier: GPL-2.0-or-later

/* Counters of the events of a trace. */

#include "unit.h"

#include "store/store.h"
#include "trace.h"

#define READ		RAIDTRACE_DIRECTION_READ
#define WRITE		RAIDTRACE_DIRECTION_WRITE
#define MS		((uint64_t)1000000)

static struct trace trace;
static struct blktrace_reader reader;
static struct blktrace_merge merge;
static struct blktrace_import import;
static struct rt_counters sum;	/* of all samples of a disk */

/* The samples of a run, by disk, in the order in which they came. */
static struct {
	unsigned int disk;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t issued;
	uint64_t depth_ns;
} samples[64];
static size_t nr_samples;
static int sample_err;	/* of the next sample only */

static int keep_sample(void *data, const struct blktrace_device *device, const struct rt_counters *span)
{
	int err = sample_err;

	(void)data;
	sample_err = 0;
	assert_true(nr_samples < 64);
	samples[nr_samples].disk = device->index;
	samples[nr_samples].start_ns = span->since_ns;
	samples[nr_samples].end_ns = span->now_ns;
	samples[nr_samples].issued = span->flow[READ].issued;
	samples[nr_samples++].depth_ns = rt_histogram_sum(
		&span->histogram[RAIDTRACE_DIRECTION_ALL]
				[RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME]);
	return err;
}

/* Counters that need events of bios, and counters that need issues and completions. */
#define OF_BIOS	"queued bytes_queued ahead_queued bytes_ahead_queued sequential_queued seek_queued_forward_sectors " \
	"seek_queued_backward_sectors stream_queued got back_merges front_merges request_merges splits inserted reissued " \
	"requeued requeued_unissued i2d_sum_ns q2c_sum_ns q2c_unknown"
#define OF_REQUESTS "issued bytes_issued sequential seek_forward_sectors seek_backward_sectors stream completed " \
	"bytes_completed partial errors unmatched unissued abandoned d2c_sum_ns depth_sum_ns in_flight"

/* Expect that counters of the first disk, by their names, are known or unknown. */
static void expect_known(bool known, const char *names)
{
	static const char *const counters[] = {
#define NAME(member, attribute, ...) [RT_COUNTER_##attribute] = #member,
		RT_FLOW_COUNTERS(NAME)
#undef NAME
		[RT_COUNTER_IN_FLIGHT] = "in_flight",
	};
	uint64_t unknown = blktrace_device_unknown(import.devices[0]);
	unsigned int i;

	for (size_t length; *names; names += length + strspn(names + length, " ")) {
		length = strcspn(names, " ");
		for (i = 0; strncmp(counters[i], names, length) || counters[i][length]; i++)
			assert_true(i < RT_COUNTER_IN_FLIGHT);
		if (!(unknown >> i & 1) != known)
			fail_msg("%s is%s known", counters[i], known ? " not" : "");
	}
}

static int run(uint64_t interval_ns)
{
	struct blktrace_input input = { trace_read, &trace };
	uint64_t begun_ns = import.begun_ns;
	__typeof__(import.capacity) capacity = import.capacity;
	int err;

	nr_samples = 0;
	trace.at = 0;
	assert_int_equal(blktrace_open(&reader, input, 4096), 0);
	merge = (struct blktrace_merge){ .nr = 1, .readers = &reader };
	import = (struct blktrace_import){
		.merge = &merge, .interval_ns = interval_ns,
		.sample = keep_sample, .begun_ns = begun_ns,
		.capacity = capacity,
	};
	err = blktrace_merge_open(&merge, 1);
	return err ? err : blktrace_import_run(&import);
}

static int start(void **state)
{
	(void)state;
	trace_begin(&trace, 2, false);
	memset(&import, 0, sizeof(import));
	return 0;
}

static int end(void **state)
{
	(void)state;
	rt_counters_free(&sum);
	blktrace_import_free(&import);
	blktrace_merge_close(&merge);
	blktrace_close(&reader);
	return 0;
}

static unsigned int ticks;

/* End the import at the second call. */
static int tick(void *data)
{
	assert_ptr_equal(data, &trace);
	return ++ticks < 2 ? 0 : -ECANCELED;
}

/* So many events, then the end. */
static ssize_t read_repeatedly(void *data, void *to, size_t room)
{
	struct trace *t = data;
	ssize_t got = trace_read(t, to, room);

	if (got || !t->cpu)
		return got;
	t->cpu--; /* of how often the trace comes again */
	t->at = 0;
	return trace_read(t, to, room);
}

/* A caller is called now and then, not for each event, and can end the import. */
FIXTURE_TEST(called_now_and_then, start, end)
{
	struct blktrace_input input = { read_repeatedly, &trace };

	for (int i = 0; i < 1024; i++)
		trace_put(&trace, 1, P, 0, 0);
	for (int ends = 0; ends < 2; ends++) {
		ticks = 0;
		trace.at = 0;
		trace.cpu = ends ? 1000 : (2 * BLKTRACE_TICK - 1) / 1024 - 1;
		assert_int_equal(blktrace_open(&reader, input, 4096), 0);
		merge = (struct blktrace_merge){ .nr = 1, .readers = &reader };
		import = (struct blktrace_import){ .merge = &merge, .interval_ns = MS, .sample = keep_sample, .tick = tick, .tick_data = &trace };
		assert_int_equal(blktrace_merge_open(&merge, 1), 0);
		assert_int_equal(blktrace_import_run(&import), ends ? -ECANCELED : 0);
		assert_int_equal(ticks, 1 + ends);
		if (!ends)
			end(NULL);
	}
}

static struct rt_counters total_of(size_t disk)
{
	rt_counters_free(&sum);
	assert_int_equal(blktrace_device_total(import.devices[disk], import.start_ns, import.now_ns, &sum), 0);
	return sum;
}

/* All samples of a disk together, and that its sums agree. */
static struct rt_counters total(size_t disk)
{
	char text[256];

	assert_true(disk < import.nr);
	blktrace_import_check(&import, text, sizeof(text));
	assert_string_equal(text, "hold");
	return total_of(disk);
}

static const struct raidtrace_flow *flow(unsigned int direction)
{
	return &import.devices[0]->total.flow[direction];
}

static uint64_t bin(const struct rt_histogram *h, unsigned int index)
{
	return index < h->first_bin || index >= h->first_bin + h->nr_bins ?
		       0 : h->counts[index - h->first_bin];
}

/* With an action of the table: the record has an error. */
#define FAILED	((uint64_t)1 << 63)

/*
 * Traces and counters of their disk. An expectation is a counter of a direction, the bin of a value of a histogram, as
 * size[8], or with size[] the sum of its bins.
 */
static const struct {
	const char *name;
	struct {
		uint64_t time_ns;
		uint64_t action;
		uint64_t sector;
		uint32_t bytes;
	} events[28];
	struct {
		unsigned int direction;
		const char *counters;
	} expected[4];
} cases[] = {
	{ "one read",
	  { { 1000, Q | R, 800, 4096 }, { 1001, G | R, 800, 4096 }, { 1002, I | R, 800, 4096 },
	    { 1003, D | R, 800, 4096 }, { 1503, C | R, 800, 4096 } },
	  { { READ, "queued 1 bytes_queued 4096 got 1 inserted 1 issued 1 bytes_issued 4096 completed 1 bytes_completed 4096 "
	      "d2c_sum_ns 500 in_flight 0 in_flight_max 1 size[8] 1 depth_time[0] 3 depth_time[1] 500 seek[] 0 i2d_sum_ns 1 "
	      "q2c_sum_ns 503 q2c_unknown 0 ahead_queued 0" } } },
	{ "merges",
	  { { 1, M | W, 8, 4096 }, { 1, M | W, 8, 4096 }, { 1, M | W, 8, 4096 }, { 1, F | W, 8, 4096 },
	    { 1, F | W, 8, 4096 }, { 1, M | W | FS, 8, 4096 }, { 2, Q | W, 8, 4096 }, { 2, D | W, 8, 4096 },
	    { 3, C | W, 8, 4096 } },
	  { { WRITE, "back_merges 3 front_merges 2 request_merges 1" } } },
	{ "requeues",
	  { { 1, Q | R, 8, 4096 }, { 1, REQUEUE | R, 8, 4096 }, { 2, D | R, 8, 4096 }, { 3, REQUEUE | R, 8, 4096 },
	    { 4, D | R, 8, 4096 }, { 9, C | R, 8, 4096 } },
	  { { READ, "requeued_unissued 1 requeued 1 issued 2 completed 1 d2c_sum_ns 5 in_flight_max 1" } } },
	{ "a part is completed, the rest is requeued and issued again",
	  { { 1, Q | R, 800, 8192 }, { 2, D | R, 800, 8192 }, { 3, C | R, 800, 2048 }, { 4, C | R, 804, 2048 },
	    { 5, REQUEUE | R, 808, 4096 }, { 6, D | R, 808, 4096 }, { 9, C | R | FAILED, 808, 4096 } },
	  { { READ, "partial 2 requeued 1 completed 1 bytes_completed 8192 errors 1 unmatched 0 d2c_sum_ns 3" } } },
	{ "issued before the trace began; the completion of a bio belongs to no request",
	  { { 1, Q | R, 8, 4096 }, { 2, C | W, 8, 4096 }, { 3, D | R, 8, 4096 }, { 4, C | R, 16, 4096 },
	    { 4, (C & ~FS) | R, 8, 4096 }, { 5, C | R, 8, 8192 } },
	  { { WRITE, "unmatched 1" }, { READ, "unmatched 2 completed 0 in_flight 1" } } },
	{ "two equal requests end in the order of their issues",
	  { { 1, Q | R, 8, 4096 }, { 1, D | R, 8, 4096 }, { 3, D | R, 8, 4096 }, { 8, D | R, 8, 2048 },
	    { 9, C | R, 8, 4096 }, { 10, C | R, 8, 2048 }, { 11, C | R, 8, 4096 } },
	  { { READ, "d2c[8] 2 d2c[2] 1" } } },
	/*
	 * A write with a flush before and after it on a disk with a write cache, then a flush without data, which is
	 * not issued itself, then the end of a sequence at sector 0, which is not one more empty flush.
	 */
	{ "flushes",
	  { { 1, Q | W | FLUSH, 800, 4096 }, { 1, G | W | FLUSH, 800, 4096 }, { 2, D | R | FLUSH, 0, 0 },
	    { 3, C | R | FLUSH, 0, 0 }, { 4, D | W, 800, 4096 }, { 5, C | W, 800, 4096 }, { 6, D | R | FLUSH, 0, 0 },
	    { 7, C | R | FLUSH, 0, 0 }, { 8, C | W, 800, 0 }, { 9, Q | W | FLUSH, 0, 0 }, { 9, G | W | FLUSH, 0, 0 },
	    { 10, D | R | FLUSH, 0, 0 }, { 11, C | R | FLUSH, 0, 0 }, { 12, C | W, 0, 0 },
	    { 13, C | W | FAILED, 0, 0 } },
	  { { WRITE, "issued 1 completed 1 bytes_completed 4096 errors 1 unmatched 0 queued 1 sequential 0" },
	    { RAIDTRACE_DIRECTION_FLUSH, "issued 3 completed 3 unissued 1 unmatched 0 queued 1" } } },
	{ "one bio in three pieces, which end with two requests, and one that is not known; no request is inserted",
	  { { 100, Q | R | AHEAD, 0, 3 << 12 }, { 101, X | R, 0, 4096 }, { 102, G | R, 0, 4096 }, { 103, X | R, 8, 4096 },
	    { 104, M | R, 8, 4096 }, { 105, G | R, 16, 4096 }, { 106, D | R, 0, 8192 }, { 107, D | R, 16, 4096 },
	    { 200, C | R, 16, 4096 }, { 300, C | R, 0, 8192 }, { 301, D | R, 800, 8192 }, { 302, C | R, 800, 8192 } },
	  { { READ, "q2c[] 3 q2c[100] 1 q2c[200] 2 q2c_sum_ns 500 q2c_unknown 1 ahead_queued 1 bytes_ahead_queued 12288 "
	      "i2d_sum_ns 0 i2d[] 0" } } },
	/*
	 * 816 + 16 goes into 792 + 24, and has the insert of that from then on. A requeue does not insert again; a bio that
	 * is merged before the insert is in it.
	 */
	{ "inserts",
	  { { 1, Q | W, 800, 4096 }, { 10, I | W, 800, 4096 }, { 20, I | W, 816, 4096 }, { 21, M | W, 824, 4096 },
	    { 22, F | W, 792, 4096 }, { 23, M | W, 808, 4096 }, { 24, M | W | FS, 816, 8192 },
	    { 110, D | W, 792, 5 * 4096 }, { 120, REQUEUE | W, 792, 5 * 4096 }, { 130, D | W, 792, 5 * 4096 },
	    { 140, C | W, 792, 5 * 4096 }, { 150, M | R, 8, 4096 }, { 160, I | R, 0, 8192 }, { 170, D | R, 0, 8192 },
	    { 180, D | R, 816, 8192 }, { 190, C | R, 0, 8192 }, { 190, C | R, 816, 8192 } },
	  { { WRITE, "i2d_sum_ns 100 i2d[] 1" }, { READ, "i2d_sum_ns 10 i2d[] 1" } } },
	/* The scheduler gets it again, and it grows there: size and position are those of the first issue, bytes grow. */
	{ "a requeued request is inserted and merged into",
	  { { 1, Q | W, 800, 4096 }, { 2, I | W, 800, 4096 }, { 4, D | W, 800, 4096 }, { 5, REQUEUE | W, 800, 4096 },
	    { 6, I | W, 800, 4096 }, { 7, M | W, 808, 4096 }, { 16, D | W, 800, 8192 }, { 20, C | W, 800, 8192 } },
	  { { WRITE, "issued 2 reissued 1 requeued 1 inserted 2 i2d_sum_ns 12 bytes_issued 8192 bytes_completed 8192 size[] 1 "
	      "d2c_sum_ns 4 in_flight 0" } } },
	{ "a zone append has no position",
	  { { 1, Q | W | ZONE_APPEND, 800, 4096 }, { 2, D | W | ZONE_APPEND, 800, 4096 }, { 3, Q | W, 808, 4096 },
	    { 4, D | W, 808, 4096 }, { 9, C | W, 808, 4096 } },
	  { { WRITE, "queued 2 issued 2 seek_queued[] 0 seek[] 0 sequential 0" } } },
	/*
	 * Flush, data, flush: the end says where the data ended, or began in older kernels. Then a disk that has FUA
	 * itself, without a sequence. Then two flushes without data, of which the first queued ends first, and the end
	 * of one that was not queued.
	 */
	{ "a bio ends with the last completion of its request, not with that of its data",
	  { { 10, Q | W | FLUSH | FUA, 800, 4096 }, { 11, Q | W | FUA, 1600, 4096 }, { 12, Q | W | FUA, 3200, 4096 },
	    { 20, D | W, 800, 4096 }, { 20, D | W, 1600, 4096 }, { 20, D | W, 3200, 4096 }, { 30, C | W, 800, 4096 },
	    { 31, C | W, 1600, 4096 }, { 31, C | W, 3200, 4096 }, { 32, D | R | FLUSH, 0, 0 }, { 40, C | R | FLUSH, 0, 0 },
	    { 50, C | W, 1600, 0 }, { 55, C | W, 3208, 0 }, { 60, C | W, 808, 0 },
	    { 70, Q | W | FUA, 2400, 4096 }, { 71, D | W | FUA, 2400, 4096 }, { 90, C | W | FUA, 2400, 4096 },
	    { 100, Q | W | FLUSH, 0, 0 }, { 100, G | W | FLUSH, 0, 0 }, { 105, Q | W | FLUSH, 0, 0 },
	    { 105, G | W | FLUSH, 0, 0 }, { 110, C | W, 0, 0 }, { 120, C | W, 0, 0 }, { 130, C | W, 0, 0 } },
	  { { WRITE, "q2c_sum_ns 152 q2c[39] 1 q2c[] 4 q2c[20] 1 q2c_unknown 0" },
	    { RAIDTRACE_DIRECTION_FLUSH, "q2c_sum_ns 25 q2c_unknown 1" } } },
	{ "one bio of 512 KiB becomes four requests: no second Q, three X",
	  { { 1, Q | R, 0, 1 << 19 }, { 2, X | R, 0, 1 << 17 }, { 2, G | R, 0, 1 << 17 }, { 2, X | R, 256, 1 << 17 },
	    { 2, G | R, 256, 1 << 17 }, { 2, X | R, 512, 1 << 17 }, { 2, G | R, 512, 1 << 17 }, { 2, G | R, 768, 1 << 17 },
	    { 3, D | R, 0, 1 << 17 }, { 3, D | R, 256, 1 << 17 }, { 3, D | R, 512, 1 << 17 }, { 3, D | R, 768, 1 << 17 },
	    { 4, C | R, 0, 1 << 17 }, { 5, C | R, 256, 1 << 17 }, { 6, C | R, 512, 1 << 17 }, { 7, C | R, 768, 1 << 17 } },
	  { { READ, "queued 1 splits 3 issued 4 sequential 3 in_flight_max 4 size[256] 4 d2c_sum_ns 10" } } },
	/* Parts of a sector count as one. 7.x reports where a zone append went, after its completion. */
	{ "other directions",
	  { { 1, Q | R, 8, 4096 }, { 2, (D & ~FS) | R | PC, 0, 96 }, { 3, (D & ~FS) | W | PC, 0, 512 },
	    { 4, D | W | DISCARD, 800, 1 << 20 }, { 5, D | W | WRITE_ZEROES, 800, 1 << 20 },
	    { 9, (C & ~FS) | R | PC, 0, 96 }, { 10, (C & ~FS) | W | PC, 0, 512 }, { 11, C | W | DISCARD, 800, 1 << 20 },
	    { 12, C | W | WRITE_ZEROES, 800, 1 << 20 }, { 20, C | W | ZONE_APPEND, 800, 4096 } },
	  { { RAIDTRACE_DIRECTION_PASSTHROUGH, "completed 2 bytes_issued 608 size[1] 2" },
	    { RAIDTRACE_DIRECTION_DISCARD, "completed 1" }, { RAIDTRACE_DIRECTION_WRITE_ZEROES, "completed 1" },
	    { WRITE, "unmatched 0" } } },
};

static unsigned int kind_of(const char *name, size_t length)
{
	for (unsigned int k = 0; k < RT_KINDS; k++)
		if (!strncmp(rt_kind_name(k), name, length) && !rt_kind_name(k)[length])
			return k;
	fail_msg("no histogram %.*s", (int)length, name);
	return 0;
}

/* The value of a counter, or of one or all bins. */
static uint64_t value_of(const struct rt_counters *c, unsigned int d, const char *name, size_t length)
{
	const struct rt_flow *flow = &c->flow[d];
	const struct {
		const char *name;
		uint64_t value;
	} counters[] = {
#define NAME(member, attribute, ...) { #member, flow->member },
		RT_FLOW_COUNTERS(NAME)
		NAME(in_flight, IN_FLIGHT)
		NAME(in_flight_max, IN_FLIGHT_MAX)
#undef NAME
	};
	const char *open = memchr(name, '[', length);
	unsigned int kind;
	uint64_t value;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (!strncmp(counters[i].name, name, length) && !counters[i].name[length])
			return counters[i].value;
	assert_non_null(open);
	kind = kind_of(name, (size_t)(open - name));
	if (open[1] == ']')
		return rt_histogram_sum(&c->histogram[d][kind]);
	value = strtoull(open + 1, NULL, 10);
	return bin(&c->histogram[d][kind], kind == RAIDTRACE_HISTOGRAM_KIND_Q2C ? raidtrace_d2c_bin(value) :
		   (unsigned int)value);
}

static void expect(const char *of, const struct rt_counters *c, unsigned int direction, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		char *end;
		uint64_t expected = strtoull(text + length, &end, 10), value = value_of(c, direction, text, length);

		if (value != expected)
			fail_msg("%s: %s %.*s is %llu, not %llu", of, rt_direction_name(direction), (int)length, text,
				 (unsigned long long)value, (unsigned long long)expected);
		text = end + strspn(end, " ");
	}
}

TEST(counters_of_traces)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(state);
		for (size_t k = 0; cases[i].events[k].time_ns; k++) {
			trace.error = cases[i].events[k].action & FAILED ? 5 : 0;
			trace_put(&trace, cases[i].events[k].time_ns, cases[i].events[k].action & ~FAILED,
				  cases[i].events[k].sector, cases[i].events[k].bytes);
		}
		assert_int_equal(run(MS), 0);
		total(0);
		for (size_t k = 0; k < 4 && cases[i].expected[k].counters; k++)
			expect(cases[i].name, &sum, cases[i].expected[k].direction, cases[i].expected[k].counters);
		end(state);
	}
}

/* Counters are known by the events that a trace has, as blktrace -a selects them. */
TEST(known_counters)
{
	static const struct {
		uint64_t actions[3];
		const char *known;
		const char *unknown;
	} table[] = {
		{ { Q, D, C }, OF_BIOS " " OF_REQUESTS, "refused" },
		{ { D, C }, OF_REQUESTS, OF_BIOS },
		{ { D }, "issued sequential", "queued splits requeued completed errors d2c_sum_ns in_flight" },
		{ { C }, "errors", "issued completed unmatched" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		start(state);
		for (size_t k = 0; k < 3 && table[i].actions[k]; k++)
			trace_put(&trace, 1 + k, table[i].actions[k] | R, 8, 4096);
		assert_int_equal(run(MS), 0);
		expect_known(true, table[i].known);
		expect_known(false, table[i].unknown);
		assert_int_equal(blktrace_device_unknown_disk(import.devices[0]), table[i].actions[0] == Q ? 0 :
				 RT_DISK_BIT(PLUGS) | RT_DISK_BIT(UNPLUGS_EXPLICIT) | RT_DISK_BIT(UNPLUGS_SCHEDULE) |
				 RT_DISK_BIT(HELD_NS) | RT_DISK_BIT(BACKLOG_NS) | RT_DISK_BIT(WAITING_SUM_NS) |
				 RT_DISK_BIT(WAITING_UNKNOWN));
		end(state);
	}
}

/* Bios wait until their request is issued: two in one request, a piece of one, one that is issued at once. */
FIXTURE_TEST(waits, start, end)
{
	trace_put(&trace, 100, Q | R, 0, 4096);
	trace_put(&trace, 110, Q | R, 8, 4096);
	trace_put(&trace, 120, D | R, 0, 8192);		/* held for 20, 30 in sum */
	trace_put(&trace, 120, Q | R, 100, 8192);
	trace_put(&trace, 130, X | R, 100, 4096);
	trace_put(&trace, 140, D | R, 100, 4096);	/* backlog of two pieces for 10 */
	trace_put(&trace, 150, C | R, 0, 8192);
	trace_put(&trace, 160, C | R, 100, 4096);	/* backlog of one until here, then held */
	trace_put(&trace, 180, D | R, 108, 4096);
	trace_put(&trace, 190, C | R, 108, 4096);
	assert_int_equal(run(MS), 0);
	total(0);
	assert_int_equal(sum.disk.held_ns, 40);
	assert_int_equal(sum.disk.backlog_ns, 40);
	assert_int_equal(sum.disk.waiting_sum_ns, 30 + 10 + 20 + 20 + 20);
	assert_int_equal(sum.disk.waiting_unknown, 0);
}

FIXTURE_TEST(plugs, start, end)
{
	static const unsigned char three[8] = { [7] = 3 }, huge[8] = { [0] = 1 };
	static const unsigned char with_cgroup[16] = { [0] = 9, [15] = 5 };
	const struct rt_histogram *unplug;
	trace_put(&trace, 1, Q | R, 8, 4096);
	trace_put(&trace, 1, P, 0, 0);
	trace_data(&trace, 2, U, 0, 0, three, 8);
	trace_put(&trace, 3, P, 0, 0);
	trace_data(&trace, 4, UT, 0, 0, huge, 8);
	trace_data(&trace, 5, U | CGROUP, 0, 0, with_cgroup, 16);
	trace_data(&trace, 6, U, 0, 0, three, 4);
	trace_put(&trace, 7, D | R, 8, 4096);
	trace_put(&trace, 8, C | R, 8, 4096);
	assert_int_equal(run(MS), 0);
	total(0);
	unplug = &sum.histogram[RAIDTRACE_DIRECTION_ALL][RAIDTRACE_HISTOGRAM_KIND_UNPLUG];
	assert_int_equal(sum.disk.plugs, 2);
	assert_int_equal(sum.disk.unplugs_explicit, 3);
	assert_int_equal(sum.disk.unplugs_schedule, 1);
	assert_int_equal(bin(unplug, 3), 1);
	assert_int_equal(bin(unplug, 5), 1);
	assert_int_equal(bin(unplug, RAIDTRACE_DEPTH_LINEAR), 1);
	/* A record that is cut has no number. */
	assert_int_equal(bin(unplug, 0), 1);
	assert_int_equal(sum.disk.unknown, RT_DISK_BIT(TAG_WAITS) | RT_DISK_BIT(RA_SYNC_SECTORS) | RT_DISK_BIT(RA_ASYNC_SECTORS));
}

static uint64_t capacity_of(void *data, uint32_t device)
{
	(void)data;
	return device == SDA ? 256 * 800 : 0;
}

/* Bytes by place take the size of the disk; of another disk they are not known. */
FIXTURE_TEST(places, start, end)
{
	import.capacity = capacity_of;
	trace_put(&trace, 1, Q | R, 0, 4096);
	trace_put(&trace, 1, D | R, 0, 4096);
	trace_put(&trace, 2, D | R, 808 * 3, 8192);
	trace_put(&trace, 3, C | R, 0, 4096);
	trace_put(&trace, 3, C | R, 808 * 3, 8192);
	trace.device = SDB;
	trace_put(&trace, 4, D | R, 808 * 3, 8192);
	trace_put(&trace, 5, C | R, 808 * 3, 8192);
	assert_int_equal(run(MS), 0);
	total(0);
	/* As the module cuts it: 256 parts of 101 times 8 sectors hold the disk. */
	assert_int_equal(import.devices[0]->engine.place.sectors, 808);
	assert_true(sum.groups & RAIDTRACE_GROUP_PLACE);
	assert_int_equal(bin(&sum.histogram[READ][RAIDTRACE_HISTOGRAM_KIND_PLACE], 0), 4096);
	assert_int_equal(bin(&sum.histogram[READ][RAIDTRACE_HISTOGRAM_KIND_PLACE], 3), 8192);
	total_of(1);
	assert_false(sum.groups & RAIDTRACE_GROUP_PLACE);
	assert_int_equal(rt_histogram_sum(&sum.histogram[READ][RAIDTRACE_HISTOGRAM_KIND_PLACE]), 0);
}

/* A position is that of a disk, and so is a request: each disk has its own. */
FIXTURE_TEST(disks_apart, start, end)
{
	for (uint64_t i = 0; i < 6; i++) {
		trace.device = i < 3 ? SDA : SDB;
		trace_put(&trace, 10 + i, D | R, 800 + 8 * (i % 3), 4096);
	}
	trace_put(&trace, 23, C | R, 800, 4096);
	trace_put(&trace, 23, Q | R, 800, 4096);
	trace.device = SDA;
	trace_put(&trace, 31, C | R, 808, 4096);
	trace_put(&trace, 31, Q | R, 800, 4096);
	assert_int_equal(run(MS), 0);
	assert_int_equal(import.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(total(i).flow[READ].issued, 3);
		assert_int_equal(total(i).flow[READ].sequential, 2);
		assert_int_equal(total(i).flow[READ].in_flight, 2);
	}
	assert_int_equal(total(0).flow[READ].d2c_sum_ns, 20);
	assert_int_equal(total(1).flow[READ].d2c_sum_ns, 10);
}

FIXTURE_TEST(too_many_disks, start, end)
{
	for (uint32_t i = 0; i <= BLKTRACE_DEVICES; i++) {
		trace.device = SDA + i;
		trace_put(&trace, 1, Q | R, 8, 512);
	}
	assert_int_equal(run(MS), -E2BIG);
}

/* Samples tile the time from the beginning to the last event. */
FIXTURE_TEST(tiling, start, end)
{
	import.begun_ns = 5;
	trace_put(&trace, 100, Q | R, 8, 4096);
	trace_put(&trace, 105, D | R, 8, 4096);		/* still in the first */
	trace_put(&trace, 106, D | R, 16, 4096);
	trace_put(&trace, 1000, C | R, 8, 4096);	/* a long time later */
	trace.device = SDB;
	trace_put(&trace, 1150, Q | R, 8, 4096);	/* a disk that is new */
	trace_put(&trace, 1160, D | R, 8, 4096);
	trace_put(&trace, 1170, C | R, 8, 4096);
	assert_int_equal(run(100), 0);
	assert_int_equal(import.start_ns, 5);
	for (unsigned int disk = 0; disk < 2; disk++) {
		uint64_t at = 5;

		for (size_t i = 0; i < nr_samples; i++) {
			if (samples[i].disk != disk)
				continue;
			assert_int_equal(samples[i].start_ns, at);
			at = samples[i].end_ns;
			assert_int_equal(samples[i].depth_ns, at - samples[i].start_ns);
		}
		assert_int_equal(at, 1170);
	}
	assert_int_equal(samples[0].end_ns, 105);
	assert_int_equal(samples[0].issued, 1);
	assert_int_equal(samples[1].end_ns, 205);
	assert_int_equal(samples[1].issued, 1);
	/* 795 ns without an event are one sample. */
	assert_int_equal(samples[2].end_ns, 905);
}

/* A timestamp of another clock than the events, as blkparse -d leaves it. */
FIXTURE_TEST(begun_later, start, end)
{
	import.begun_ns = 1 << 30;
	trace_put(&trace, 100, Q | R, 8, 4096);
	assert_int_equal(run(100), 0);
	assert_int_equal(import.start_ns, 100);
	assert_int_equal(nr_samples, 1);
}

/* A late event counts at the time of its arrival. */
FIXTURE_TEST(late_events, start, end)
{
	trace_put(&trace, 100, Q | R, 8, 4096);
	trace_put(&trace, 200, D | R, 8, 4096);
	trace_put(&trace, 150, C | R, 8, 4096);
	assert_int_equal(run(1000), 0);
	assert_int_equal(merge.late, 1);
	assert_int_equal(flow(READ)->completed, 1);
	assert_int_equal(flow(READ)->d2c_sum_ns, 0);
	assert_int_equal(total(0).now_ns, 200);
}

/*
 * A request that the trace issues and never completes would be in flight until the end: then depths are not known. One
 * that is as young as the last ones may still complete.
 */
FIXTURE_TEST(lost_completions, start, end)
{
	uint64_t whole_s = 1000000000;

	trace_put(&trace, 1, Q | R, 8, 4096);
	trace_put(&trace, 2, D | R, 8, 4096);
	trace_put(&trace, 3, Q | R, 80, 4096);
	trace_put(&trace, 4, D | R, 80, 4096);
	trace_put(&trace, 5 * MS, C | R, 80, 4096);
	trace_put(&trace, whole_s, Q | R, 88, 4096);
	assert_int_equal(run(whole_s), 0);
	assert_int_equal(import.devices[0]->lost, 0);
	expect_known(true, "in_flight depth_sum_ns issued");
	end(NULL);
	trace_put(&trace, whole_s + 3, D | R, 88, 4096);
	assert_int_equal(run(whole_s), 0);
	assert_int_equal(import.devices[0]->lost, 1);
	expect_known(false, "in_flight depth_sum_ns");
	expect_known(true, "issued completed d2c_sum_ns");
}

FIXTURE_TEST(missing_events, start, end)
{
	trace_put(&trace, 1, Q | R, 8, 4096);
	trace.sequence += 3;
	trace_put(&trace, 2, D | R, 8, 4096);
	trace.cpu = 70;
	trace.sequence = 100;		/* the first of a CPU */
	trace_put(&trace, 2, Q | R, 8, 4096);
	trace.sequence = 5;		/* traced anew */
	trace_put(&trace, 3, C | R, 8, 4096);
	trace.cpu = 0;
	trace.sequence = 6;
	trace_put(&trace, 4, Q | R, 8, 4096);
	assert_int_equal(run(MS), 0);
	assert_int_equal(import.devices[0]->missing, 4);
}

/* A trace without completions needs no more memory than one with. */
TEST(never_ended)
{
	struct blktrace_device *device = blktrace_device_new(SDA, 0, 0, 0);
	struct blktrace_event issue = {
		.what = BLKTRACE_ISSUE, .direction = READ, .bytes = 4096,
	};

	assert_true(device);
	for (uint64_t i = 0; i < BLKTRACE_IN_FLIGHT + 10; i++) {
		issue.sector = i * 8;
		issue.time_ns = i;
		issue.sequence++;
		assert_int_equal(blktrace_device_event(device, &issue), 0);
	}
	blktrace_device_count(device);
	assert_int_equal(device->given_up, 10);
	assert_int_equal(device->account.flow[READ].abandoned, 10);
	assert_int_equal(device->engine.queue.in_flight[READ], BLKTRACE_IN_FLIGHT);
	/* The ten oldest are the ones that are gone. */
	issue.what = BLKTRACE_COMPLETE;
	issue.sector = 9 * 8;
	blktrace_device_event(device, &issue);
	issue.sector = 10 * 8;
	blktrace_device_event(device, &issue);
	blktrace_device_count(device);
	assert_int_equal(device->account.flow[READ].unmatched, 1);
	assert_int_equal(device->account.flow[READ].completed, 1);
	blktrace_device_free(device);
}

static uint32_t random32(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33);
}

/* A simple pool to compare with: a list in the order in which items came to their stage. */
static struct listed {
	struct blktrace_item item;
	uint32_t place;
} list[40000];
static size_t nr_list;

static bool is_like(const struct blktrace_item *item, const struct blktrace_item *like, bool by_end)
{
	return (by_end ? blktrace_item_end(item) : item->sector) == like->sector && item->stage == like->stage &&
	       item->direction == like->direction && item->write == like->write;
}

/* The first listed place whose length is from @least to @most, 0 for none. */
static uint32_t search(const struct blktrace_item *like, bool by_end, uint32_t least, uint32_t most)
{
	for (size_t i = 0; i < nr_list; i++)
		if (is_like(&list[i].item, like, by_end) && list[i].item.bytes >= least && list[i].item.bytes <= most)
			return list[i].place;
	return 0;
}

static void unlist(uint32_t place)
{
	size_t i = 0;

	while (list[i].place != place)
		i++;
	memmove(&list[i], &list[i + 1], (--nr_list - i) * sizeof(*list));
}

static void enlist(uint32_t place, const struct blktrace_item *item)
{
	list[nr_list++] = (struct listed){ *item, place };
}

static struct blktrace_item random_item(uint64_t step)
{
	return (struct blktrace_item){
		.sector = random32() % 50 * 8,
		.bytes = (1 + random32() % 4) * 4096,
		.stage = (uint8_t)(BLKTRACE_QUEUED + random32() % 5),
		.direction = (uint8_t)(random32() % 2),
		.since_ns = step,
	};
}

/* Each way to search finds what the list finds; then the item is removed, brought to another stage, or left. */
TEST(pool_like_list)
{
	struct blktrace_pool *pool = blktrace_pool_new();
	size_t found[4] = { 0 };

	assert_non_null(pool);
	for (uint64_t step = 0; step < 40000; step++) {
		struct blktrace_item item = random_item(step), next = random_item(step), dropped;
		unsigned int way = random32() % 4;
		uint32_t place, same;

		if (random32() % 5 < 2) {
			enlist(blktrace_pool_add(pool, &item, &dropped), &item);
			continue;
		}
		same = search(&item, false, item.bytes, item.bytes);
		if (way == 3) {
			place = blktrace_pool_behind(pool, &item);
			assert_int_equal(place, item.stage == BLKTRACE_FLUSHING || item.stage == BLKTRACE_INSERTED ?
					 search(&item, true, 0, UINT32_MAX) : 0);
		} else {
			place = blktrace_pool_find(pool, &item, (enum blktrace_fit)way);
			assert_int_equal(place, way == BLKTRACE_SAME || (way == BLKTRACE_SAME_OR_MORE && same) ? same :
					 way == BLKTRACE_AT_MOST ? search(&item, false, 0, item.bytes) :
					 search(&item, false, item.bytes, UINT32_MAX));
		}
		if (!place)
			continue;
		found[way]++;
		if (random32() % 3) {
			unlist(place);
			blktrace_pool_remove(pool, place);
			assert_int_equal(blktrace_pool_at(pool, place)->stage, BLKTRACE_FREE);
		} else {
			unlist(place);
			enlist(place, &next);
			blktrace_pool_set(pool, place, &next);
			assert_int_equal(blktrace_pool_at(pool, place)->since_ns, step);
		}
	}
	for (unsigned int way = 0; way < 4; way++)
		assert_true(found[way] > 1000);
	blktrace_pool_free(pool);
}

/* A full pool drops the oldest item for a new one, and has all others. */
TEST(pool_full)
{
	struct blktrace_pool *pool = blktrace_pool_new();
	struct blktrace_item item = { .bytes = 4096, .stage = BLKTRACE_ISSUED }, dropped;

	assert_non_null(pool);
	for (uint64_t i = 0; i < BLKTRACE_IN_FLIGHT + 100; i++) {
		item.sector = 8 * i;
		dropped.stage = BLKTRACE_FREE;
		blktrace_pool_add(pool, &item, &dropped);
		assert_int_equal(dropped.stage, i >= BLKTRACE_IN_FLIGHT ? BLKTRACE_ISSUED : BLKTRACE_FREE);
		if (i >= BLKTRACE_IN_FLIGHT)
			assert_int_equal(dropped.sector, item.sector - 8 * BLKTRACE_IN_FLIGHT);
	}
	for (uint64_t i = 0; i < BLKTRACE_IN_FLIGHT + 100; i++) {
		item.sector = 8 * i;
		assert_int_equal(!!blktrace_pool_find(pool, &item, BLKTRACE_SAME), i >= 100);
	}
	assert_int_equal(blktrace_pool_used(pool), BLKTRACE_IN_FLIGHT);
	blktrace_pool_free(pool);
}

/* A sample that cannot be stored ends the import, although the next one could. */
FIXTURE_TEST(sample_not_kept, start, end)
{
	trace_put(&trace, 1, Q | R, 8, 4096);
	trace_put(&trace, 3 * MS, Q | R, 8, 4096);
	sample_err = -ENOSPC;
	assert_int_equal(run(MS), -ENOSPC);
	assert_int_equal(nr_samples, 1);
}
