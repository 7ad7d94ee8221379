// SPDX-License-Identifier: GPL-2.0-only
/* The engine: bios and requests from their events. */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../engine.c"

#define DIR_READ RAIDTRACE_DIRECTION_READ
#define DIR_WRITE RAIDTRACE_DIRECTION_WRITE
#define DIR_FLUSH RAIDTRACE_DIRECTION_FLUSH
#define DIR_ALL RAIDTRACE_DIRECTION_ALL
#define CLASS_DATA RAIDTRACE_CLASS_DATA
#define CLASS_JOURNAL RAIDTRACE_CLASS_JOURNAL

#define START 1000000ULL
#define REQUEST_BITS 9
#define BIO_BITS 14

struct machine {
	struct raidtrace_engine engine;
	struct raidtrace_source source;
	struct raidtrace_account account;
};

static int engine_init(struct kunit *test)
{
	struct machine *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct raidtrace_engine *engine = &m->engine;

	KUNIT_ASSERT_NOT_NULL(test, m);
	engine->account = &m->account;
	engine->bios = kunit_kcalloc(test, 1 << BIO_BITS, sizeof(*engine->bios),
				     GFP_KERNEL);
	engine->requests = kunit_kcalloc(test, 1 << REQUEST_BITS, sizeof(*engine->requests),
					 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, engine->bios);
	KUNIT_ASSERT_NOT_NULL(test, engine->requests);
	engine->request_bits = REQUEST_BITS;
	engine->bio_bits = BIO_BITS;
	raidtrace_place_set(&engine->place, 1 << 20);
	m->source.mask = ~0U >> 1;
	raidtrace_engine_start(engine, 0xfff, 4, START);
	test->priv = m;
	return 0;
}

/* Count the records of a source until @end, @left at most. Returns whether there are more. */
static bool count_source(struct raidtrace_engine *engine, struct raidtrace_source *source,
			 const u64 *words, u32 end, u64 until, unsigned int *left)
{
	struct raidtrace_next heap[3];

	raidtrace_heap_add(heap, 0, words[source->tail & source->mask], source);
	source->words = words;
	source->end = end;
	return raidtrace_engine_count(engine, heap, 1, until, left);
}

static void take_record(struct raidtrace_engine *engine, struct raidtrace_source *source,
			const u64 *record)
{
	unsigned int left = 1;

	count_source(engine, source, record, raidtrace_event_words(raidtrace_event_kind(record[1])),
		     U64_MAX, &left);
	source->tail = 0;
}

static void take(struct kunit *test, u64 time_ns, u64 head, u64 one, u64 two, u64 three)
{
	struct machine *m = test->priv;
	const u64 record[RAIDTRACE_EVENT_WORDS] = { time_ns, head, one, two, three };

	take_record(&m->engine, &m->source, record);
}

static void queue_bio(struct kunit *test, u64 time_ns, u64 bio, u32 class, u64 sector, u32 flags)
{
	take(test, time_ns,
	     raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, DIR_READ, class, flags, 4096), bio,
	     sector, 0);
}

static void issue_request(struct kunit *test, u64 time_ns, u64 request, u64 bio, u64 sector)
{
	take(test, time_ns, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_READ, 0, 0, 4096),
	     request, sector, bio);
}

static void complete_request(struct kunit *test, u64 time_ns, u64 request, u64 bio, u32 flags)
{
	take(test, time_ns, raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, DIR_READ, 0, flags, 4096),
	     request, bio, 0);
}

static void event_of_request(struct kunit *test, u64 time_ns, enum raidtrace_event kind,
			     u64 request)
{
	take(test, time_ns, raidtrace_event_head(kind, DIR_READ, 0, 0, 0), request, 0, 0);
}

static struct raidtrace_flow *flow_of(struct kunit *test, enum raidtrace_direction direction)
{
	return &((struct machine *)test->priv)->account.flow[direction];
}

static u32 in_flight(struct kunit *test)
{
	return ((struct machine *)test->priv)->engine.queue.in_flight[DIR_ALL];
}

static void head_of_a_record_returns_its_fields(struct kunit *test)
{
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, RAIDTRACE_DIRECTION_PASSTHROUGH,
					RAIDTRACE_CLASS_MAX, RAIDTRACE_EVENT_STARTED, ~0U);
	unsigned int kind;

	KUNIT_EXPECT_EQ(test, (u32)raidtrace_event_kind(head), (u32)RAIDTRACE_EVENT_COMPLETE);
	KUNIT_EXPECT_EQ(test, (u32)raidtrace_event_direction(head),
			(u32)RAIDTRACE_DIRECTION_PASSTHROUGH);
	KUNIT_EXPECT_EQ(test, raidtrace_event_class(head), (u32)RAIDTRACE_CLASS_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_event_bytes(head), ~0U);
	KUNIT_EXPECT_TRUE(test, head & RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_FALSE(test, head & (RAIDTRACE_EVENT_SEQUENCE | RAIDTRACE_EVENT_PART |
					 RAIDTRACE_EVENT_ERROR));
	for (kind = 0; kind < RAIDTRACE_EVENTS; kind++) {
		KUNIT_EXPECT_GE(test, raidtrace_event_words(kind), 2U);
		KUNIT_EXPECT_LE(test, raidtrace_event_words(kind), (u32)RAIDTRACE_EVENT_WORDS);
	}
	KUNIT_EXPECT_LE(test, (u32)RAIDTRACE_EVENT_COUNTERS,
			(u32)RAIDTRACE_EVENT_NIBBLE);
}

static void request_is_timed_from_queue_and_issue(struct kunit *test)
{
	struct machine *m = test->priv;

	queue_bio(test, START + 10, 0x100, CLASS_JOURNAL, 8, 0);
	event_of_request(test, START + 20, RAIDTRACE_EVENT_INSERT, 0x9000);
	issue_request(test, START + 50, 0x9000, 0x100, 8);
	KUNIT_EXPECT_EQ(test, in_flight(test), 1U);
	complete_request(test, START + 150, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, in_flight(test), 0U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 140ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->i2d_sum_ns, 30ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->d2c_sum_ns, 100ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 0ULL);
	KUNIT_EXPECT_EQ(test, m->account.origin[CLASS_JOURNAL].issued, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.flow[DIR_READ].inserted, 1ULL);
	/* The request and the bio at the same addresses are others. */
	issue_request(test, START + 200, 0x9000, 0x100, 16);
	complete_request(test, START + 210, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->i2d_sum_ns, 30ULL);
}

/* More requests than places: those without a place count neither as issued nor as completed. */
static void request_without_a_place_is_unmatched(struct kunit *test)
{
	const unsigned int all = 4 << REQUEST_BITS;
	unsigned int i;
	u64 issued;

	for (i = 0; i < all; i++)
		issue_request(test, START + i, 0x100000 + i * 384, 0, i * 8);
	issued = flow_of(test, DIR_READ)->issued;
	KUNIT_EXPECT_GT(test, issued, (u64)(3 << (REQUEST_BITS - 2)));
	KUNIT_EXPECT_LE(test, issued, (u64)(1 << REQUEST_BITS));
	KUNIT_EXPECT_EQ(test, in_flight(test), (u32)issued);
	for (i = 0; i < all; i++)
		complete_request(test, START + all, 0x100000 + i * 384, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, in_flight(test), 0U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, issued);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, all - issued);
}

/*
 * A scheduler holds four times as many requests as there are places, the driver some of them:
 * each issue and each end counts, and the times of most inserts are unknown.
 */
static void insert_gives_its_place_to_an_issue(struct kunit *test)
{
	struct machine *m = test->priv;
	const unsigned int all = 4 << REQUEST_BITS, depth = 64;
	unsigned int i, j;
	u64 timed = 0;

	for (i = 0; i < all; i++)
		event_of_request(test, START, RAIDTRACE_EVENT_INSERT, 0x100000 + i * 384);
	for (i = 0; i < all; i += depth) {
		for (j = i; j < i + depth; j++)
			issue_request(test, START + 1, 0x100000 + j * 384, 0, j * 8);
		for (j = i; j < i + depth; j++)
			complete_request(test, START + 2, 0x100000 + j * 384, 0,
					 RAIDTRACE_EVENT_STARTED);
	}
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->issued, (u64)all);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, (u64)all);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 0ULL);
	for (i = 0; i < RAIDTRACE_D2C_BINS; i++)
		timed += m->account.i2d[DIR_READ][i];
	KUNIT_EXPECT_GT(test, timed, 0ULL);
	KUNIT_EXPECT_LE(test, timed, (u64)(1 << REQUEST_BITS));
}

/* The end of an unknown bio. On a disk without requests it may be the end of a piece. */
static void unknown_end_counts_for_requests_only(struct kunit *test)
{
	struct machine *m = test->priv;
	struct raidtrace_issued *requests = m->engine.requests;
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, 0, 0);

	take(test, START, head, 0x100, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 1ULL);
	m->engine.requests = NULL;
	raidtrace_engine_start(&m->engine, 0xfff, 4, START);
	take(test, START, head, 0x100, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 1ULL);
	m->engine.requests = requests;
	raidtrace_engine_start(&m->engine, 0xfff, 4, START);
}

/* A request that the driver refuses once counts its bytes and position once. */
static void issue_after_a_requeue_is_no_new_position(struct kunit *test)
{
	struct machine *m = test->priv;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		u64 now = START + 100 * i;

		queue_bio(test, now, 0x100, CLASS_DATA, 8 * i, 0);
		issue_request(test, now + 10, 0x9000, 0x100, 8 * i);
		event_of_request(test, now + 20, RAIDTRACE_EVENT_REQUEUE, 0x9000);
		KUNIT_EXPECT_EQ(test, in_flight(test), 0U);
		issue_request(test, now + 30, 0x9000, 0x100, 8 * i);
		complete_request(test, now + 40, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	}
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->issued, 4ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->reissued, 2ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->requeued, 2ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->bytes_issued, 8192ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->sequential, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->seek_backward_sectors, 0ULL);
	KUNIT_EXPECT_EQ(test, m->account.size[DIR_READ][8], 2ULL);
	KUNIT_EXPECT_EQ(test, m->account.origin[CLASS_DATA].issued, 2ULL);
	KUNIT_EXPECT_EQ(test, m->account.depth_issue[RAIDTRACE_DEPTH_ALL][0], 4ULL);
	/* From the last issue; and from the queueing, which the requeue did not lose. */
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->d2c_sum_ns, 20ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 80ULL);
}

static void issue_bytes(struct kunit *test, u64 time_ns, u32 bytes)
{
	take(test, time_ns, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_READ, 0, 0, bytes),
	     0x9000, 0, 0x100);
}

static void complete_bytes(struct kunit *test, u64 time_ns, u32 flags, u32 bytes)
{
	take(test, time_ns, raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, DIR_READ, 0,
						 flags | RAIDTRACE_EVENT_STARTED, bytes),
	     0x9000, 0, 0);
}

/* Bytes that are merged into a requeued request count at its reissue. The rest of one counts never. */
static void reissue_counts_what_was_merged(struct kunit *test)
{
	static const struct {
		u32 part;
		u32 reissued;
		u64 bytes;
	} runs[] = { { 0, 4096, 8192 }, { 0, 16384, 16384 }, { 4096, 4096, 8192 },
		     { 4096, 6144, 10240 } };
	struct machine *m = test->priv;
	u64 now = START, bytes = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(runs); i++, now += 100) {
		queue_bio(test, now, 0x100, CLASS_DATA, 0, 0);
		issue_bytes(test, now + 1, 8192);
		if (runs[i].part)
			complete_bytes(test, now + 2, RAIDTRACE_EVENT_PART, runs[i].part);
		event_of_request(test, now + 3, RAIDTRACE_EVENT_REQUEUE, 0x9000);
		issue_bytes(test, now + 4, runs[i].reissued);
		complete_bytes(test, now + 5, 0, runs[i].reissued);
		bytes += runs[i].bytes;
		KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->bytes_issued, bytes);
		KUNIT_EXPECT_EQ(test, m->account.place[DIR_READ][0], bytes);
		KUNIT_EXPECT_EQ(test, m->account.origin[CLASS_DATA].bytes_issued, bytes);
		KUNIT_EXPECT_EQ(test, m->account.size[DIR_READ][16], i + 1ULL);
	}
	KUNIT_EXPECT_EQ(test, m->account.origin[CLASS_DATA].issued, 4ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->partial, 2ULL);
	/* The first run does not end all that it issued. */
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->bytes_completed + 4096, bytes);
}

/* A request has the class of its bios, or the class mixed. An unknown bio has no class. */
static void class_of_several_bios(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE_BIO, 0, 0, 0, 0);

	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	queue_bio(test, START, 0x200, CLASS_DATA, 8, 0);
	queue_bio(test, START, 0x300, CLASS_JOURNAL, 16, 0);
	take(test, START + 1, head, 0x9000, 0x100, 0);
	take(test, START + 1, head, 0x9000, 0x200, 0);
	take(test, START + 1, head, 0x9000, 0x666, 0);
	issue_request(test, START + 1, 0x9000, 0, 0);
	KUNIT_EXPECT_EQ(test, m->account.origin[CLASS_DATA].issued, 1ULL);
	take(test, START + 2, head, 0xa000, 0x200, 0);
	take(test, START + 2, head, 0xa000, 0x300, 0);
	issue_request(test, START + 2, 0xa000, 0, 8);
	KUNIT_EXPECT_EQ(test, m->account.origin[RAIDTRACE_CLASS_MIXED].issued, 1ULL);
	take(test, START + 3, head, 0xb000, 0x666, 0);
	issue_request(test, START + 3, 0xb000, 0, 8);
	KUNIT_EXPECT_EQ(test, m->account.origin[RAIDTRACE_CLASS_OTHER].issued, 1ULL);
	/* Each of several ends by itself; what is left of one ends with the request. */
	take(test, START + 10, raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, 0, 0), 0x100,
	     0, 0);
	complete_request(test, START + 10, 0x9000, 0, RAIDTRACE_EVENT_PART);
	complete_request(test, START + 20, 0x9000, 0x200, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 30ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->partial, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->bytes_completed, 8192ULL);
}

static void piece_of_a_bio_is_as_old_as_the_bio(struct kunit *test)
{
	queue_bio(test, START + 10, 0x100, CLASS_DATA, 0, 0);
	take(test, START + 20, RAIDTRACE_EVENT_SPLIT, 0x200, 0x100, 0);
	issue_request(test, START + 30, 0x9000, 0x200, 0);
	complete_request(test, START + 110, 0x9000, 0x200, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 100ULL);
	take(test, START + 210, raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, 0, 0), 0x100,
	     0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 300ULL);
	take(test, START + 220, RAIDTRACE_EVENT_SPLIT, 0x300, 0x100, 0);
	KUNIT_EXPECT_NULL(test, find_bio(&((struct machine *)test->priv)->engine, 0x300, false));
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->refused, 0ULL);
}

/* A flush sequence ends after its data: one completion. A request without an issue is unissued. */
static void ends_that_are_no_completion(struct kunit *test)
{
	issue_request(test, START, 0x9000, 0, 0);
	complete_request(test, START + 1, 0x9000, 0,
			 RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_SEQUENCE);
	complete_request(test, START + 2, 0x9000, 0x100,
			 RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_ERROR);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->errors, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 0ULL);
	complete_request(test, START + 3, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	complete_request(test, START + 4, 0x9000, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unissued, 1ULL);
	event_of_request(test, START + 5, RAIDTRACE_EVENT_REQUEUE, 0x9000);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->requeued_unissued, 1ULL);
	KUNIT_EXPECT_EQ(test, in_flight(test), 0U);
	/* Data that fails, and the sequence that fails with it, are one error. */
	issue_request(test, START + 6, 0x9000, 0, 0);
	complete_request(test, START + 7, 0x9000, 0, RAIDTRACE_EVENT_STARTED |
			 RAIDTRACE_EVENT_SEQUENCE | RAIDTRACE_EVENT_ERROR);
	complete_request(test, START + 8, 0x9000, 0x100,
			 RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_ERROR);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->errors, 2ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 1ULL);
}

static void request_issued_twice_was_abandoned(struct kunit *test)
{
	issue_request(test, START, 0x9000, 0, 0);
	issue_request(test, START + 10, 0x9000, 0, 8);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->abandoned, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->issued, 2ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->reissued, 0ULL);
	KUNIT_EXPECT_EQ(test, in_flight(test), 1U);
}

/* A merged request is not issued. The next one at its address was neither inserted nor requeued. */
static void merged_request_leaves_no_insert(struct kunit *test)
{
	struct machine *m = test->priv;

	/* An address that would be a direction, too. */
	event_of_request(test, START, RAIDTRACE_EVENT_INSERT, 0x9010);
	event_of_request(test, START, RAIDTRACE_EVENT_MERGE, 0x9010);
	issue_request(test, START + 100, 0x9010, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->inserted, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->i2d_sum_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, m->account.i2d[DIR_READ][0], 0ULL);
	KUNIT_EXPECT_EQ(test, m->account.flow[DIR_READ].request_merges, 1ULL);
	event_of_request(test, START + 200, RAIDTRACE_EVENT_REQUEUE, 0x9010);
	event_of_request(test, START + 300, RAIDTRACE_EVENT_MERGE, 0x9010);
	issue_request(test, START + 400, 0x9010, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->issued, 2ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->reissued, 0ULL);
}

/* The time of an insert counts for one issue, at an address that would be a direction, too. */
static void insert_counts_for_one_issue(struct kunit *test)
{
	event_of_request(test, START + 10, RAIDTRACE_EVENT_INSERT, 0x9010);
	issue_request(test, START + 30, 0x9010, 0, 0);
	event_of_request(test, START + 31, RAIDTRACE_EVENT_REQUEUE, 0x9010);
	issue_request(test, START + 40, 0x9010, 0, 0);
	complete_request(test, START + 50, 0x9010, 0, RAIDTRACE_EVENT_PART);
	complete_request(test, START + 60, 0x9010, 0, RAIDTRACE_EVENT_STARTED);
	event_of_request(test, START + 70, RAIDTRACE_EVENT_REQUEUE, 0x9010);
	event_of_request(test, START + 80, RAIDTRACE_EVENT_INSERT, 0x9010);
	complete_request(test, START + 90, 0x9010, 0, 0);
	issue_request(test, START + 100, 0x9010, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->i2d_sum_ns, 20ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->requeued_unissued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unissued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->errors, 0ULL);
}

/* A completion counts in the direction and at the depth of its issue. Both bios are unknown. */
static void completion_counts_as_its_issue(struct kunit *test)
{
	struct machine *m = test->priv;
	unsigned int place = RAIDTRACE_PLACE_BINS - 1;
	unsigned int bin = RAIDTRACE_D2C_COLUMNS + raidtrace_d2c_column(raidtrace_d2c_bin(1));

	issue_request(test, START, 0x9000, 0x666, 0);
	take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_WRITE, 0, 0, 4096),
	     0xa000, (1 << 20) - 8, 0x666);
	complete_request(test, START + 1, 0xa000, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_WRITE)->completed, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.depth_d2c[DIR_WRITE][bin], 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.place[DIR_WRITE][place], 4096ULL);
	KUNIT_EXPECT_EQ(test, m->account.origin[RAIDTRACE_CLASS_OTHER].issued, 2ULL);
	/* After a reset the other request is carried. */
	raidtrace_engine_reset(&m->engine);
	KUNIT_EXPECT_EQ(test, m->engine.queue.carried[DIR_READ], 1U);
}

static void bios_have_the_last_recorded_task(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 4711);
	u32 row, first;

	take(test, START, head, 0x6161, 0, 0);
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	row = m->source.row;
	first = row;
	take(test, START, head, 0x6161, 0, 0);
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_EQ(test, m->source.row, row);
	KUNIT_EXPECT_EQ(test, m->engine.submitters.task[row].pid, 4711U);
	take(test, START, head, 0x6262, 0, 0);
	queue_bio(test, START, 0x200, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_NE(test, m->source.row, row);
	KUNIT_EXPECT_EQ(test, m->account.submitted[row].queued, 2ULL);
	row = m->source.row;
	take(test, START, head, 0x6262, 0, 77);
	queue_bio(test, START, 0x300, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_NE(test, m->source.row, row);
	KUNIT_EXPECT_EQ(test, m->engine.submitters.task[m->source.row].cgroup, 77ULL);
	take(test, START, head, 0x6262, 0, 0);
	queue_bio(test, START, 0x300, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_EQ(test, m->source.row, row);
	/* After a reset the table is empty. The writer sends no new record of its task. */
	raidtrace_engine_reset(&m->engine);
	queue_bio(test, START, 0x200, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_EQ(test, m->source.row, first);
	KUNIT_EXPECT_NE(test, m->engine.submitters.queued_ns[m->source.row], 0ULL);
	KUNIT_EXPECT_EQ(test, m->engine.submitters.task[m->source.row].comm[0], 0x6262ULL);
}

/* With more processes than rows, those that have been idle longest lose their row. */
static void process_gives_its_row_to_another(struct kunit *test)
{
	struct machine *m = test->priv;
	struct raidtrace_submitted *rest = &m->account.submitted[RAIDTRACE_SUBMITTER_REST];
	struct raidtrace_source other = { .mask = ~0U >> 1 };
	u64 record[] = { START, raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, DIR_READ, CLASS_DATA,
						     0, 4096), 0x200, 0 };
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 4711);
	u64 task[] = { START, head, 0x6000, 0, 0 };
	unsigned int i, replaced = 0;
	u64 sum = 0;

	/* A process that continues keeps its row. */
	take_record(&m->engine, &other, task);
	for (i = 0; i < RAIDTRACE_SUBMITTERS * 2; i++) {
		record[0] = START + 2 * i;
		take_record(&m->engine, &other, record);
		take(test, START, head, 0x7000 + i, 0, 0);
		queue_bio(test, START + 2 * i + 1, 0x300, CLASS_DATA, 0, 0);
		KUNIT_ASSERT_EQ(test, m->engine.submitters.task[m->source.row].comm[0], 0x7000ULL + i);
		KUNIT_ASSERT_EQ(test, m->account.submitted[m->source.row].queued, 1ULL);
		KUNIT_ASSERT_EQ(test, rest->queued, i < RAIDTRACE_SUBMITTER_TRIES - 1 ? 0ULL :
				i - (RAIDTRACE_SUBMITTER_TRIES - 2ULL));
		KUNIT_ASSERT_EQ(test, rest->seeks_queued, rest->queued);
	}
	KUNIT_EXPECT_EQ(test, m->account.submitted[other.row].queued, i);
	KUNIT_EXPECT_EQ(test, m->engine.submitters.task[other.row].comm[0], 0x6000ULL);
	for (i = 0; i < RAIDTRACE_SUBMITTERS; i++)
		replaced += m->engine.submitters.replaced >> i & 1;
	KUNIT_EXPECT_EQ(test, replaced, RAIDTRACE_SUBMITTER_TRIES - 1U);
	for (i = 0; i < RAIDTRACE_SUBMITTER_ROWS; i++)
		sum += m->account.submitted[i].bytes_queued;
	KUNIT_EXPECT_EQ(test, sum, RAIDTRACE_SUBMITTERS * 4 * 4096ULL);
	/* One that gave its row away and comes again has one of its own. */
	for (i = 0; i < RAIDTRACE_SUBMITTER_TRIES; i++) {
		take(test, START, head, 0x8000 + i, 0, 0);
		queue_bio(test, START + 1000 + i, 0x300, CLASS_DATA, 0, 0);
	}
	record[0] = START + 2000;
	take_record(&m->engine, &other, record);
	KUNIT_EXPECT_EQ(test, m->engine.submitters.task[other.row].comm[0], 0x6000ULL);
	KUNIT_EXPECT_EQ(test, m->account.submitted[other.row].queued, 1ULL);
}

/* After any replacement each source finds its row again. */
static void row_is_looked_up_after_a_replacement(struct kunit *test)
{
	struct machine *m = test->priv;
	struct raidtrace_source other = { .mask = ~0U >> 1 };
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 4711);
	const u64 task[] = { START, head, 0x6000, 0, 0 };
	const u64 bio[] = { START, raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, DIR_READ, CLASS_DATA,
							0, 4096), 0x200, 0 };
	unsigned int i;

	for (i = 0; i <= RAIDTRACE_SUBMITTER_TRIES; i++) {
		take_record(&m->engine, &other, task);
		take(test, START, head, 0x7000 + i, 0, 0);
		queue_bio(test, START + i, 0x300, CLASS_DATA, 0, 0);
	}
	take_record(&m->engine, &other, bio);
	KUNIT_EXPECT_EQ(test, m->engine.submitters.task[other.row].comm[0], 0x6000ULL);
}

/* The rows of processes with consecutive numbers are spread. */
static void processes_have_rows(struct kunit *test)
{
	struct raidtrace_submitters *submitters = &((struct machine *)test->priv)->engine.submitters;
	struct raidtrace_task task = {};

	for (task.pid = 1; task.pid <= RAIDTRACE_SUBMITTERS / 2; task.pid++)
		submitters->queued_ns[raidtrace_submitter_row(submitters, &task)] = START;
	KUNIT_EXPECT_EQ(test, submitters->replaced, 0ULL);
	/* Processes that differ only in their name have the same possible rows. */
	memset(submitters, 0, sizeof(*submitters));
	for (; task.comm[0] < RAIDTRACE_SUBMITTER_TRIES; task.comm[0]++)
		submitters->queued_ns[raidtrace_submitter_row(submitters, &task)] = START;
	KUNIT_EXPECT_EQ(test, submitters->replaced, 0ULL);
	raidtrace_submitter_row(submitters, &task);
	KUNIT_EXPECT_NE(test, submitters->replaced, 0ULL);
}

static void reset_forgets_the_position_of_bios(struct kunit *test)
{
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	raidtrace_engine_reset(&((struct machine *)test->priv)->engine);
	queue_bio(test, START, 0x200, CLASS_DATA, 8, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->sequential_queued, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->stream_queued, 0ULL);
}

static void counts_go_where_they_belong(struct kunit *test)
{
	struct machine *m = test->priv;
	unsigned int i;

	for (i = 0; i < RAIDTRACE_EVENT_COUNTERS; i++)
		take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_COUNT, DIR_WRITE, i, 0, 16), 0, 0,
		     0);
	for (i = 0; i < RAIDTRACE_QUEUE_COUNTERS; i++)
		KUNIT_EXPECT_EQ(test, m->account.flow[DIR_WRITE].events[i], 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.plugs, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.unplugs_explicit, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.unplugs_schedule, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.ra_sync_sectors, 16ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.ra_async_sectors, 16ULL);
	KUNIT_EXPECT_EQ(test, m->account.unplug[16], 2ULL);
	KUNIT_EXPECT_EQ(test, m->account.window[0][16], 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.window[1][16], 1ULL);
}

/* The disk chooses the sector of a zone append. */
static void append_has_no_position(struct kunit *test)
{
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	queue_bio(test, START, 0x200, CLASS_DATA, 4096, RAIDTRACE_EVENT_UNPLACED);
	queue_bio(test, START, 0x300, CLASS_DATA, 8, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->sequential_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->seek_queued_forward_sectors, 0ULL);
	issue_request(test, START, 0x9000, 0x100, 0);
	take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_READ, 0,
					       RAIDTRACE_EVENT_UNPLACED, 4096), 0xa000, 4096, 0x200);
	issue_request(test, START, 0xb000, 0x300, 8);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->sequential, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->seek_forward_sectors, 0ULL);
}

/* A refused bio counts as queued, without a latency. The next bio at its address is another one. */
static void refused_bio_has_no_latency(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 end = raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, RAIDTRACE_EVENT_NOWAIT, 0);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		queue_bio(test, START + i, 0x100, CLASS_DATA, 8 * i, 0);
		take(test, START + i, end, 0x100, 0, 0);
		queue_bio(test, START + i, 0x100, CLASS_DATA, 8 * i, 0);
		issue_request(test, START + i, 0x9000, 0x100, 8 * i);
		complete_request(test, START + i, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	}
	take(test, START + 3, end, 0x210, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->queued, 6ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->refused, 4ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->bytes_queued, 6ULL * 4096);
	KUNIT_EXPECT_EQ(test, m->account.q2c[DIR_READ][0], 3ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 0ULL);
}

/* Unknown kinds of records change nothing. A part of a request in flight counts its bytes. */
/* blk-crypto: a request carries the encrypted bio, which is unknown; the queued one ends without. */
static void replaced_bio_is_unknown_once(struct kunit *test)
{
	u64 end = raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, RAIDTRACE_EVENT_ALONE, 0);
	struct machine *m = test->priv;

	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	issue_request(test, START + 1, 0x9000, 0x200, 0);
	complete_request(test, START + 9, 0x9000, 0x200, RAIDTRACE_EVENT_STARTED);
	take(test, START + 10, end, 0x100, 0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->refused, 0ULL);
	KUNIT_EXPECT_TRUE(test, !search_bio(&m->engine, 0x100, false));
}

static void unknown_things_are_left_alone(struct kunit *test)
{
	struct machine *m = test->priv;
	struct raidtrace_issued *requests = m->engine.requests;
	unsigned int i;

	take(test, START, RAIDTRACE_EVENTS, 0x9000, 0, 0);
	take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE_BIO, 0, 0, 0, 0), 0x9000,
	     0x666, 0);
	for (i = 0; i < sizeof(m->account) / sizeof(u64); i++)
		KUNIT_ASSERT_EQ(test, ((u64 *)&m->account)[i], 0ULL);
	complete_request(test, START, 0x9000, 0, RAIDTRACE_EVENT_PART | RAIDTRACE_EVENT_ERROR);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->partial, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->errors, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->bytes_completed, 0ULL);
	/* A disk that has no requests, and groups that need neither latency nor processes. */
	m->engine.requests = NULL;
	raidtrace_engine_start(&m->engine, RAIDTRACE_GROUP_FLOW, 4, START);
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_EQ(test, m->source.row, 0U);
	take(test, START + 10, raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, 0, 0), 0x100,
	     0, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 0ULL);
	complete_request(test, START, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 1ULL);
	event_of_request(test, START, RAIDTRACE_EVENT_MERGE, 0x9000);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->request_merges, 1ULL);
	m->engine.requests = requests;
	m->engine.bios = NULL;
	raidtrace_engine_start(&m->engine, RAIDTRACE_GROUP_FLOW, 4, START);
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	take(test, START, RAIDTRACE_EVENT_END, 0x100, 0, 0);
	take(test, START, RAIDTRACE_EVENT_SPLIT, 0x200, 0x100, 0);
	take(test, START, RAIDTRACE_EVENT_ISSUE_BIO, 0x9000, 0x100, 0);
	issue_request(test, START, 0x9000, 0x100, 0);
	complete_request(test, START, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, 1ULL);
}

/* More bios at once than places: some are unknown, none is taken for another one. */
static void bio_without_a_place_is_unknown(struct kunit *test)
{
	struct machine *m = test->priv;
	const unsigned int all = 2 << BIO_BITS;
	unsigned int i, known = 0;

	for (i = 1; i <= all; i++)
		queue_bio(test, START + i, i * 64, CLASS_DATA, 0, 0);
	for (i = 1; i <= all; i++) {
		const struct raidtrace_queued *queued = find_bio(&m->engine, i * 64, false);

		known += !!queued;
		KUNIT_ASSERT_TRUE(test, !queued || queued->queued_ns == START + i);
	}
	KUNIT_EXPECT_GT(test, known, all / 4);
	KUNIT_EXPECT_LE(test, known, all / 2);
}

/* The first address from @address on whose search begins at place @home. */
static u64 address_at(unsigned int home, u64 address, unsigned int bits)
{
	while (home_of(address, bits) != home)
		address += 64;
	return address;
}

static void bios_of_one_home_have_eight_places(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 bio[PLACES + 1], next = 64;
	u64 end = raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0, 0, 0);
	unsigned int i;

	for (i = 0; i <= PLACES; i++) {
		bio[i] = address_at(5, next, BIO_BITS);
		next = bio[i] + 64;
		queue_bio(test, START + i, bio[i], CLASS_DATA, 0, 0);
	}
	for (i = 0; i < PLACES; i++) {
		KUNIT_ASSERT_NOT_NULL(test, find_bio(&m->engine, bio[i], false));
		KUNIT_EXPECT_EQ(test, find_bio(&m->engine, bio[i], false)->queued_ns, START + i);
	}
	KUNIT_EXPECT_NULL(test, find_bio(&m->engine, bio[PLACES], false));
	/* A bio that ends, or is refused, leaves its place. */
	for (i = 0; i < PLACES; i++)
		take(test, START, end | (i % 2 ? RAIDTRACE_EVENT_NOWAIT : 0), bio[i], 0, 0);
	for (i = 0; i < PLACES; i++)
		KUNIT_EXPECT_NULL(test, find_bio(&m->engine, bio[i], false));
	for (i = 1; i <= PLACES; i++) {
		queue_bio(test, START, bio[i], CLASS_DATA, 0, 0);
		KUNIT_EXPECT_NOT_NULL(test, find_bio(&m->engine, bio[i], false));
	}
}

static void requests_of_one_home_have_64_places(struct kunit *test)
{
	u64 request[PLACES_MOST + 1], next = 64;
	unsigned int i;

	for (i = 0; i <= PLACES_MOST; i++) {
		request[i] = address_at(5, next, REQUEST_BITS);
		next = request[i] + 64;
		issue_request(test, START, request[i], 0, 0);
	}
	KUNIT_EXPECT_EQ(test, in_flight(test), (u32)PLACES_MOST);
	for (i = 0; i <= PLACES_MOST; i++)
		complete_request(test, START, request[i], 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, (u64)PLACES_MOST);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 1ULL);
}

/* The classes of requests need their bios, also without the group latency. */
static void class_without_latency(struct kunit *test)
{
	struct machine *m = test->priv;

	raidtrace_engine_start(&m->engine, RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_ORIGIN, 4, START);
	queue_bio(test, START, 0x100, CLASS_JOURNAL, 0, 0);
	KUNIT_EXPECT_EQ(test, (u32)find_bio(&m->engine, 0x100, false)->owner,
			(u32)RAIDTRACE_SUBMITTER_REST);
	event_of_request(test, START + 1, RAIDTRACE_EVENT_INSERT, 0x9000);
	issue_request(test, START + 3, 0x9000, 0x100, 0);
	complete_request(test, START + 9, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	complete_request(test, START + 9, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, m->account.origin[CLASS_JOURNAL].issued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_unknown, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->i2d_sum_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, m->account.i2d[DIR_READ][0], 0ULL);
}

/* Bios that are neighbours in memory have distant places. */
static void bios_of_one_slab_have_places(struct kunit *test)
{
	struct machine *m = test->priv;
	const unsigned int quarter = 1 << (BIO_BITS - 2);
	unsigned int i, lost = 0;

	for (i = 0; i < quarter; i++)
		queue_bio(test, START, 0x60000000 + i * 256, CLASS_DATA, 0, 0);
	for (i = 0; i < quarter; i++)
		lost += !find_bio(&m->engine, 0x60000000 + i * 256, false);
	KUNIT_EXPECT_EQ(test, lost, 0U);
	for (i = 0; i < 8 * quarter; i++)
		queue_bio(test, START, 0x60000000 + i * 256, CLASS_DATA, 0, 0);
	KUNIT_EXPECT_NOT_NULL(test, find_bio(&m->engine, 0x60000000, false));
}

/* The mean depth is exact also above the last bin of the histogram. */
static void sum_of_depth_over_time_has_no_end(struct kunit *test)
{
	struct machine *m = test->priv;
	unsigned int i;

	for (i = 0; i < 400; i++)
		issue_request(test, START, 0x9000 + i * 384, 0, 0);
	raidtrace_queue_advance(&m->engine.queue, &m->account, START + 1000);
	KUNIT_EXPECT_EQ(test, m->account.depth_sum_ns[RAIDTRACE_DEPTH_READ], 400000ULL);
	KUNIT_EXPECT_EQ(test, m->account.depth_sum_ns[RAIDTRACE_DEPTH_ALL], 400000ULL);
	KUNIT_EXPECT_EQ(test, m->account.depth_sum_ns[RAIDTRACE_DEPTH_WRITE], 0ULL);
	KUNIT_EXPECT_EQ(test, m->account.depth_time[RAIDTRACE_DEPTH_ALL][RAIDTRACE_DEPTH_LINEAR],
			1000ULL);
}

static struct raidtrace_history *keep_history(struct kunit *test)
{
	struct raidtrace_engine *engine = &((struct machine *)test->priv)->engine;
	size_t known = sizeof(struct raidtrace_ended) << REQUEST_BITS;

	engine->history = kunit_kzalloc(test, sizeof(*engine->history) + known, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, engine->history);
	raidtrace_engine_start(engine, 0xfff, 4, START);
	return engine->history;
}

static void expect_states(struct kunit *test, u64 now_ns, u64 held_ns, u64 backlog_ns, u64 sum_ns)
{
	struct machine *m = test->priv;
	const struct raidtrace_disk *disk = &m->account.disk;

	raidtrace_engine_advance(&m->engine, now_ns);
	KUNIT_EXPECT_EQ(test, disk->held_ns, held_ns);
	KUNIT_EXPECT_EQ(test, disk->backlog_ns, backlog_ns);
	KUNIT_EXPECT_EQ(test, disk->waiting_sum_ns, sum_ns);
}

/* A disk is in one of four states at any time: bios wait or not, requests are in flight or not. */
static void time_has_one_state(struct kunit *test)
{
	struct machine *m = test->priv;

	expect_states(test, START + 100, 0, 0, 0);
	queue_bio(test, START + 100, 0x100, CLASS_DATA, 0, 0);
	queue_bio(test, START + 110, 0x200, CLASS_DATA, 8, 0);
	issue_request(test, START + 130, 0x9000, 0x100, 0);	/* held for 30, two of them for 20 */
	issue_request(test, START + 170, 0x9100, 0x200, 8);	/* backlog of one for 40 */
	expect_states(test, START + 200, 30, 40, 90);
	complete_request(test, START + 300, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	queue_bio(test, START + 310, 0x300, CLASS_DATA, 16, 0);
	complete_request(test, START + 320, 0x9100, 0x200, RAIDTRACE_EVENT_STARTED);
	expect_states(test, START + 350, 60, 50, 130);		/* backlog for 10, held for 30 so far */
	/* One bio in place of another with its address, and one that is refused. */
	queue_bio(test, START + 350, 0x300, CLASS_DATA, 16, 0);
	take(test, START + 360, raidtrace_event_head(RAIDTRACE_EVENT_END, DIR_READ, 0,
						     RAIDTRACE_EVENT_ALONE, 4096), 0x300, 0, 0);
	expect_states(test, START + 400, 70, 50, 140);
	KUNIT_EXPECT_EQ(test, m->engine.waiting, 0U);
	KUNIT_EXPECT_EQ(test, m->account.disk.waiting_unknown, 0ULL);
}

/* Bios that wait together, a bio in two pieces, a flush, a request that is requeued or merged then. */
static void waits_of_several_kinds(struct kunit *test)
{
	struct machine *m = test->priv;

	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	take(test, START + 10, raidtrace_event_head(RAIDTRACE_EVENT_SPLIT, DIR_READ, 0, 0, 0),
	     0x110, 0x100, 0);
	take(test, START + 20, RAIDTRACE_EVENT_ISSUE_BIO, 0x9000, 0x100, 0);
	take(test, START + 20, RAIDTRACE_EVENT_ISSUE_BIO, 0x9000, 0x110, 0);
	issue_request(test, START + 20, 0x9000, 0, 0);
	expect_states(test, START + 20, 20, 0, 30);
	event_of_request(test, START + 30, RAIDTRACE_EVENT_REQUEUE, 0x9000);
	take(test, START + 50, RAIDTRACE_EVENT_ISSUE_BIO, 0x9000, 0x100, 0);
	issue_request(test, START + 50, 0x9000, 0, 0);		/* a requeued request waits as one */
	expect_states(test, START + 60, 40, 0, 50);
	event_of_request(test, START + 60, RAIDTRACE_EVENT_REQUEUE, 0x9000);
	event_of_request(test, START + 65, RAIDTRACE_EVENT_MERGE, 0x9000);
	expect_states(test, START + 70, 45, 0, 55);
	event_of_request(test, START + 70, RAIDTRACE_EVENT_REQUEUE, 0x9000);	/* was not issued */
	take(test, START + 80, raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, DIR_FLUSH, CLASS_DATA, 0,
						    0), 0x500, 0, 0);
	expect_states(test, START + 90, 45, 0, 55);
	KUNIT_EXPECT_EQ(test, m->engine.waiting, 0U);
}

/* A request's time counts for the size and the distance of its first issue, and for its process. */
static void time_counts_where_the_issue_was(struct kunit *test)
{
	struct machine *m = test->priv;
	const u64 task[RAIDTRACE_EVENT_WORDS] = {
		START, raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 7), 1, 0, 0,
	};
	u32 row;

	take_record(&m->engine, &m->source, task);
	queue_bio(test, START, 0x100, CLASS_DATA, 0, 0);
	row = find_bio(&m->engine, 0x100, false)->owner & RAIDTRACE_OWNER_ROW;
	issue_request(test, START + 10, 0x9000, 0x100, 0);
	complete_request(test, START + 30, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	queue_bio(test, START + 30, 0x100, CLASS_DATA, 8 + 129, 0);
	issue_request(test, START + 40, 0x9000, 0x100, 8 + 129);
	event_of_request(test, START + 50, RAIDTRACE_EVENT_REQUEUE, 0x9000);
	issue_request(test, START + 60, 0x9000, 0x100, 8 + 129);
	complete_request(test, START + 100, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	/* 4 KiB are 8 sectors: row 4. The first request has no distance, the second one of 129 sectors. */
	KUNIT_EXPECT_EQ(test, m->account.size_d2c[DIR_READ][4], 2ULL);
	KUNIT_EXPECT_EQ(test, m->account.size_d2c_ns[DIR_READ][4], 60ULL);
	KUNIT_EXPECT_EQ(test, m->account.depth_d2c_ns[DIR_READ][0], 60ULL);
	KUNIT_EXPECT_EQ(test, m->account.seek_d2c[DIR_READ][2], 1ULL);
	KUNIT_EXPECT_EQ(test, m->account.seek_d2c_ns[DIR_READ][2], 40ULL);
	KUNIT_EXPECT_EQ(test, m->account.submitted[row].completed, 2ULL);
	KUNIT_EXPECT_EQ(test, m->account.submitted[row].d2c_sum_ns, 60ULL);
	/* Another process takes the row meanwhile, by a reset. */
	queue_bio(test, START + 100, 0x100, CLASS_DATA, 0, 0);
	issue_request(test, START + 110, 0x9000, 0x100, 0);
	raidtrace_engine_advance(&m->engine, START + 110);
	raidtrace_engine_reset(&m->engine);
	complete_request(test, START + 115, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, m->account.submitted[row].completed, 2ULL);
	KUNIT_EXPECT_EQ(test, m->account.submitted[RAIDTRACE_SUBMITTER_REST].d2c_sum_ns, 5ULL);
	KUNIT_EXPECT_EQ(test, m->account.seek_d2c_ns[DIR_READ][RAIDTRACE_SEEK_FAR + 2], 5ULL);
}

/* The history has the times and process of a request: of one bio, of several, requeued, failed. */
static void history_has_all_times(struct kunit *test)
{
	struct raidtrace_history *history = keep_history(test);
	u64 several = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE_BIO, 0, 0, 0, 0);
	const struct raidtrace_ended *ended = NULL;
	u64 number = 0;

	KUNIT_EXPECT_NULL(test, raidtrace_history_next(history, &number));
	take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 4711), 0x6161, 0, 0);
	queue_bio(test, START + 10, 0x100, CLASS_JOURNAL, 800, 0);
	event_of_request(test, START + 20, RAIDTRACE_EVENT_INSERT, 0x9000);
	issue_request(test, START + 30, 0x9000, 0x100, 800);
	complete_request(test, START + 40, 0x9000, 0x100, RAIDTRACE_EVENT_STARTED);
	ended = raidtrace_history_next(history, &number);
	KUNIT_ASSERT_NOT_NULL(test, ended);
	KUNIT_EXPECT_EQ(test, number, 1ULL);
	KUNIT_EXPECT_EQ(test, ended->queued_ns, START + 10);
	KUNIT_EXPECT_EQ(test, ended->inserted_ns, START + 20);
	KUNIT_EXPECT_EQ(test, ended->issued_ns, START + 30);
	KUNIT_EXPECT_EQ(test, ended->completed_ns, START + 40);
	KUNIT_EXPECT_EQ(test, ended->sector, 800ULL);
	KUNIT_EXPECT_EQ(test, ended->bytes, 4096U);
	KUNIT_EXPECT_EQ(test, ended->pid, 4711U);
	KUNIT_EXPECT_NE(test, ended->row, 0U);
	KUNIT_EXPECT_EQ(test, ended->row, ((struct machine *)test->priv)->source.row);
	KUNIT_EXPECT_EQ(test, ended->class, (u32)CLASS_JOURNAL);
	KUNIT_EXPECT_EQ(test, ended->direction, (u32)DIR_READ);
	KUNIT_EXPECT_FALSE(test, ended->error || ended->again);
	KUNIT_EXPECT_NULL(test, raidtrace_history_next(history, &number));
	/*
	 * Take the older one of two bios, while another request is in flight; then it fails, the
	 * second time.
	 */
	queue_bio(test, START + 100, 0x200, CLASS_DATA, 0, 0);
	take(test, START + 105, raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 12), 0x6262, 0, 0);
	queue_bio(test, START + 110, 0x300, CLASS_DATA, 8, 0);
	issue_request(test, START + 115, 0xa000, 0, 0);
	take(test, START + 120, several, 0x9000, 0x300, 0);
	take(test, START + 120, several, 0x9000, 0x200, 0);
	issue_request(test, START + 120, 0x9000, 0, 0);
	event_of_request(test, START + 130, RAIDTRACE_EVENT_REQUEUE, 0x9000);
	issue_request(test, START + 140, 0x9000, 0, 0);
	complete_request(test, START + 150, 0x9000, 0, RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_ERROR);
	ended = raidtrace_history_next(history, &number);
	KUNIT_ASSERT_NOT_NULL(test, ended);
	KUNIT_EXPECT_EQ(test, ended->queued_ns, START + 100);
	KUNIT_EXPECT_EQ(test, ended->inserted_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, ended->issued_ns, START + 140);
	KUNIT_EXPECT_EQ(test, ended->pid, 4711U);
	KUNIT_EXPECT_EQ(test, ended->depth, 1U);
	KUNIT_EXPECT_TRUE(test, ended->error && ended->again);
	/* An unknown bio, in a request at the address of an earlier one. */
	issue_request(test, START + 200, 0x9000, 0x666, 0);
	complete_request(test, START + 210, 0x9000, 0x666, RAIDTRACE_EVENT_STARTED);
	ended = raidtrace_history_next(history, &number);
	KUNIT_ASSERT_NOT_NULL(test, ended);
	KUNIT_EXPECT_EQ(test, ended->queued_ns, 0ULL);
	KUNIT_EXPECT_FALSE(test, ended->error || ended->again);
	/* A request without an observed end leaves nothing for the next one at its address. */
	queue_bio(test, START + 300, 0x100, CLASS_DATA, 0, 0);
	issue_request(test, START + 310, 0x9000, 0x100, 0);
	queue_bio(test, START + 400, 0x200, CLASS_DATA, 0, 0);
	take(test, START + 410, several, 0x9000, 0x200, 0);
	issue_request(test, START + 410, 0x9000, 0, 0);
	complete_request(test, START + 420, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	ended = raidtrace_history_next(history, &number);
	KUNIT_ASSERT_NOT_NULL(test, ended);
	KUNIT_EXPECT_EQ(test, ended->queued_ns, START + 400);
}

static void read_takes(struct kunit *test, u64 ns)
{
	issue_request(test, START, 0x9000, 0, 0);
	complete_request(test, START + ns, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
}

static void history_has_the_last_ones(struct kunit *test)
{
	struct machine *m = test->priv;
	struct raidtrace_history *history = keep_history(test);
	u64 number = 5, i;

	for (i = 0; i < RAIDTRACE_HISTORY + 10; i++) {
		m->engine.queue.last_ns = START;
		read_takes(test, 99);
	}
	KUNIT_EXPECT_NOT_NULL(test, raidtrace_history_next(history, &number));
	KUNIT_EXPECT_EQ(test, number, 11ULL);
	issue_request(test, START, 0x9000, 0, 0);
	complete_request(test, START, 0x9000, 0, RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_ERROR);
	KUNIT_EXPECT_EQ(test, history->nr, RAIDTRACE_HISTORY + 11ULL);
	number = history->nr - 1;
	KUNIT_EXPECT_TRUE(test, raidtrace_history_next(history, &number)->error);
	KUNIT_EXPECT_NULL(test, raidtrace_history_next(history, &number));
}

static void history_has_the_slow_and_the_failed(struct kunit *test)
{
	struct raidtrace_history *history = keep_history(test);
	u64 number = 0;

	history->slow_ns = 100;
	read_takes(test, 99);
	KUNIT_EXPECT_NULL(test, raidtrace_history_next(history, &number));
	issue_request(test, START + 200, 0x9000, 0, 0);
	complete_request(test, START + 300, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, history->nr, 1ULL);
	issue_request(test, START + 400, 0x9000, 0, 0);
	complete_request(test, START + 401, 0x9000, 0, RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_ERROR);
	KUNIT_EXPECT_EQ(test, history->nr, 2ULL);
}

/* The history has the older one of two bios. */
static void history_has_both_bios_after_an_abandoned_issue(struct kunit *test)
{
	struct raidtrace_history *history = keep_history(test);
	u64 several = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE_BIO, 0, 0, 0, 0), number = 0;

	queue_bio(test, START + 1, 0x100, CLASS_DATA, 0, 0);
	issue_request(test, START + 2, 0x9000, 0x100, 0);
	queue_bio(test, START + 10, 0x200, CLASS_DATA, 0, 0);
	queue_bio(test, START + 11, 0x300, CLASS_DATA, 8, 0);
	take(test, START + 20, several, 0x9000, 0x200, 0);
	take(test, START + 20, several, 0x9000, 0x300, 0);
	issue_request(test, START + 20, 0x9000, 0, 0);
	queue_bio(test, START + 30, 0x400, CLASS_DATA, 0, 0);
	complete_request(test, START + 31, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, raidtrace_history_next(history, &number)->queued_ns, START + 10);
	/* A request with one bio has the time of that bio. */
	issue_request(test, START + 32, 0x9000, 0x400, 0);
	queue_bio(test, START + 40, 0x500, CLASS_DATA, 0, 0);
	issue_request(test, START + 41, 0x9000, 0x500, 0);
	complete_request(test, START + 42, 0x9000, 0x500, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, raidtrace_history_next(history, &number)->queued_ns, START + 40);
	/* The first of two bios that were queued at the same time. */
	take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 1), 0x6161, 0, 0);
	queue_bio(test, START + 50, 0x600, CLASS_DATA, 0, 0);
	take(test, START, raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, 2), 0x6262, 0, 0);
	queue_bio(test, START + 50, 0x700, CLASS_DATA, 8, 0);
	take(test, START + 51, several, 0x9000, 0x600, 0);
	take(test, START + 51, several, 0x9000, 0x700, 0);
	issue_request(test, START + 51, 0x9000, 0, 0);
	complete_request(test, START + 52, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, raidtrace_history_next(history, &number)->pid, 1U);
	take(test, START + 60, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_WRITE, 0, 0, 4096),
	     0x9000, 0, 0);
	complete_request(test, START + 61, 0x9000, 0, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, raidtrace_history_next(history, &number)->direction, (u32)DIR_WRITE);
}

/* Records follow each other, and continue at the beginning of the ring. */
static void counts_until_a_time_and_a_number(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_INSERT, DIR_READ, 0, 0, 0);
	u64 ring[8 + RAIDTRACE_EVENT_WORDS] = {
		[3] = START, [4] = head, [6] = START + 1, [7] = head, [1] = START + 2, [2] = head,
	};
	struct raidtrace_source *source = &m->source;
	unsigned int left = 9;

	source->mask = 7;
	source->tail = 3;
	KUNIT_EXPECT_TRUE(test, count_source(&m->engine, source, ring, 12, START + 1, &left));
	KUNIT_EXPECT_EQ(test, source->tail, 9U);
	KUNIT_EXPECT_EQ(test, left, 7U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->inserted, 2ULL);
	left = 1;
	source->tail = 3;
	KUNIT_EXPECT_TRUE(test, count_source(&m->engine, source, ring, 12, U64_MAX, &left));
	KUNIT_EXPECT_EQ(test, source->tail, 6U);
	KUNIT_EXPECT_EQ(test, left, 0U);
	left = 9;
	KUNIT_EXPECT_FALSE(test, count_source(&m->engine, source, ring, 12, U64_MAX, &left));
	KUNIT_EXPECT_EQ(test, source->tail, 12U);
	KUNIT_EXPECT_EQ(test, left, 7U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->inserted, 5ULL);
	/* A record may end where the ring ends. */
	memcpy(ring + 5, ring + 3, 2 * sizeof(*ring));
	memcpy(ring, ring + 5, 2 * sizeof(*ring));
	memset(ring + 8, 0, RAIDTRACE_EVENT_WORDS * sizeof(*ring));
	source->tail = 5;
	KUNIT_EXPECT_FALSE(test, count_source(&m->engine, source, ring, 11, U64_MAX, &left));
	KUNIT_EXPECT_EQ(test, left, 5U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->inserted, 7ULL);
}

#define SOURCES 8
#define ROUNDS 40

/* One source issues a request, the next one completes it. */
static void sources_count_in_order_of_time(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 (*words)[ROUNDS * 9] = kunit_kcalloc(test, SOURCES, sizeof(*words), GFP_KERNEL);
	struct raidtrace_source source[SOURCES] = {};
	struct raidtrace_next heap[SOURCES + 2];
	unsigned int i, at, nr = 0, left = 100;

	KUNIT_ASSERT_NOT_NULL(test, words);
	for (at = 0; at < ROUNDS * SOURCES; at++) {
		struct raidtrace_source *first = &source[at * 5 % SOURCES];
		struct raidtrace_source *second = &source[(at * 5 + 3) % SOURCES];
		u64 *record = words[first - source] + first->end;

		record[0] = START + 2 * at;
		record[1] = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_READ, 0, 0, 4096);
		record[2] = 0x9000 + at % 3 * 384;
		first->end += 5;
		record = words[second - source] + second->end;
		record[0] = START + 2 * at + 1;
		record[1] = raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, DIR_READ, 0,
						 RAIDTRACE_EVENT_STARTED, 4096);
		record[2] = 0x9000 + at % 3 * 384;
		second->end += 4;
	}
	for (i = 0; i < SOURCES; i++) {
		source[i].words = words[i];
		source[i].mask = ~0U >> 1;
	}
	/* The latest first: each one becomes the root. */
	memset(heap, 0, sizeof(heap));
	for (at = 2 * ROUNDS * SOURCES; at--;) {
		for (i = 0; i < SOURCES; i++) {
			if (words[i][0] == START + at)
				raidtrace_heap_add(heap, nr++, words[i][0], &source[i]);
		}
	}
	nr = raidtrace_engine_count(&m->engine, heap, nr, START + 20, &left);
	KUNIT_EXPECT_EQ(test, nr, (u32)SOURCES);
	KUNIT_EXPECT_EQ(test, left, 79U);
	KUNIT_EXPECT_EQ(test, in_flight(test), 1U);
	while (nr) {
		left = 50;
		nr = raidtrace_engine_count(&m->engine, heap, nr, U64_MAX - 1, &left);
	}
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, (u64)ROUNDS * SOURCES);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->d2c_sum_ns, (u64)ROUNDS * SOURCES);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->unmatched, 0ULL);
	KUNIT_EXPECT_EQ(test, ((struct machine *)test->priv)->engine.queue.in_flight_max[DIR_ALL],
			1U);
}

/* A source counts its events up to the first event of another one, whichever that is. */
static void source_stops_at_the_next_event_of_another(struct kunit *test)
{
	struct machine *m = test->priv;
	u64 issue = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_READ, 0, 0, 0);
	unsigned int other, left = 9;

	for (other = 1; other <= 2; other++) {
		u64 request = 0x9000 + other * 384;
		const u64 words[][10] = {
			{ START + 1, issue, request, 0, 0, START + 3, issue, request, 0, 0 },
			{ START + 2, raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, DIR_READ, 0,
							  RAIDTRACE_EVENT_STARTED, 0), request },
			{ START + 9, raidtrace_event_head(RAIDTRACE_EVENT_INSERT, DIR_READ, 0, 0, 0) },
		};
		struct raidtrace_source source[] = {
			{ .words = words[0], .mask = ~0U >> 1, .end = 10 },
			{ .words = words[1], .mask = ~0U >> 1, .end = 4 },
			{ .words = words[2], .mask = ~0U >> 1, .end = 3 },
		};
		struct raidtrace_next heap[5];

		raidtrace_heap_add(heap, 0, START + 1, &source[0]);
		if (other == 2)
			raidtrace_heap_add(heap, 1, START + 9, &source[2]);
		raidtrace_heap_add(heap, other, START + 2, &source[1]);
		if (other == 1)
			raidtrace_heap_add(heap, 2, START + 9, &source[2]);
		KUNIT_EXPECT_EQ(test, raidtrace_engine_count(&m->engine, heap, 3, START + 5, &left), 1U);
	}
	KUNIT_EXPECT_EQ(test, left, 3U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, 2ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->abandoned, 0ULL);
}

/* A requeue and an abandoned request leave none in flight while a bio waits. */
static void backlog_needs_a_request_in_flight(struct kunit *test)
{
	struct machine *m = test->priv;

	queue_bio(test, START, 0x100, CLASS_DATA, 8, 0);
	issue_request(test, START, 0x9000, 0x100, 8);
	queue_bio(test, START + 10, 0x140, CLASS_DATA, 16, 0);
	event_of_request(test, START + 30, RAIDTRACE_EVENT_REQUEUE, 0x9000);
	issue_request(test, START + 50, 0x9000, 0x100, 8);
	issue_request(test, START + 90, 0x9000, 0, 8);
	raidtrace_engine_advance(&m->engine, START + 100);
	KUNIT_EXPECT_EQ(test, m->account.disk.backlog_ns, 70ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.held_ns, 20ULL);
	KUNIT_EXPECT_EQ(test, m->account.disk.waiting_sum_ns, 110ULL);
}

/* A bio has the direction that it was queued with. */
static void bio_keeps_its_direction(struct kunit *test)
{
	queue_bio(test, START, 0x100, CLASS_DATA, 8, 0);
	take(test, START + 1, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_WRITE, 0, 0, 4096),
	     0x9000, 8, 0x100);
	take(test, START + 9, raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, DIR_WRITE, 0, 0, 4096),
	     0x9000, 0x100, 0);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 9ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_WRITE)->q2c_sum_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_WRITE)->d2c_sum_ns, 8ULL);
}

/* Each kind of record has its own length. */
static void counts_a_request_in_a_ring(struct kunit *test)
{
	struct machine *m = test->priv;
	const u64 ring[] = {
		START, raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, DIR_READ, CLASS_DATA, 0, 4096),
		0x100, 8,
		START + 1, raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, DIR_READ, 0, 0, 4096),
		0x9000, 8, 0x100,
		START + 2, raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, DIR_READ, 0,
						RAIDTRACE_EVENT_STARTED, 4096), 0x9000, 0x100,
		START + 3, raidtrace_event_head(RAIDTRACE_EVENT_COUNT, DIR_READ,
						RAIDTRACE_SPLITS, 0, 0),
	};
	unsigned int left = 9;

	KUNIT_EXPECT_FALSE(test, count_source(&m->engine, &m->source, ring, 15, U64_MAX, &left));
	KUNIT_EXPECT_EQ(test, m->source.tail, 15U);
	KUNIT_EXPECT_EQ(test, left, 5U);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->queued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->ahead_queued, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->completed, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->splits, 1ULL);
	KUNIT_EXPECT_EQ(test, flow_of(test, DIR_READ)->q2c_sum_ns, 2ULL);
}

/* An event of @bytes; the words depend on its kind. */
static void take_some(struct kunit *test, u64 time_ns, enum raidtrace_event kind,
		      enum raidtrace_direction direction, u32 class, u32 flags, u32 bytes,
		      const u64 words[3])
{
	take(test, time_ns, raidtrace_event_head(kind, direction, class, flags, bytes), words[0],
	     words[1], words[2]);
}

/*
 * Random bios and requests, counted with these groups. Some bios have another direction than their
 * requests, some completions another than their issues.
 */
static void count_some(struct kunit *test, u32 groups)
{
	static const enum raidtrace_direction directions[] = {
		DIR_READ, DIR_WRITE, DIR_READ, RAIDTRACE_DIRECTION_DISCARD, DIR_WRITE, DIR_READ,
		RAIDTRACE_DIRECTION_FLUSH,
	};
	struct machine *m = test->priv;
	struct raidtrace_engine *engine = &m->engine;
	u64 i, at = START;

	memset(engine->bios, 0, sizeof(*engine->bios) << BIO_BITS);
	memset(engine->requests, 0, sizeof(*engine->requests) << REQUEST_BITS);
	memset(&m->account, 0, sizeof(m->account));
	memset(&engine->arrival, 0, sizeof(engine->arrival));
	memset(&engine->queue, 0, sizeof(engine->queue));
	memset(&engine->submitters, 0, sizeof(engine->submitters));
	engine->waiting = 0;
	engine->wait_ns = 0;
	m->source = (struct raidtrace_source){ .mask = ~0U >> 1 };
	raidtrace_engine_start(engine, groups, 4, START);
	for (i = 0; i < 500; i++) {
		u64 request = 0x9000 + i % 7 * 384, bio = i % 9 ? 0x100000 + i % 11 * 64 : 0;
		u64 sector = i % 5 ? i * 7919 : i * 8;
		enum raidtrace_direction direction = directions[i * i / 3 % ARRAY_SIZE(directions)];
		enum raidtrace_direction other = i % 19 ? direction : directions[i % 4];
		u32 bytes = direction == RAIDTRACE_DIRECTION_FLUSH ? 0 : i * 512 % 70000;

		take_some(test, at += i, RAIDTRACE_EVENT_QUEUE, other, i % RAIDTRACE_CLASSES,
			  i % 4 ? 0 : RAIDTRACE_EVENT_AHEAD, bytes, (u64[]){ bio, sector, 0 });
		if (i % 3)
			event_of_request(test, at += 5, RAIDTRACE_EVENT_INSERT, request);
		take_some(test, at += i, RAIDTRACE_EVENT_ISSUE, direction, 0, 0, bytes,
			  (u64[]){ request, sector, bio });
		if (!(i % 6))
			event_of_request(test, at += 7, RAIDTRACE_EVENT_REQUEUE, request);
		else if (i % 10)
			take_some(test, at += i * 3, RAIDTRACE_EVENT_COMPLETE,
				  i % 13 ? direction : DIR_WRITE, 0,
				  (i % 8 ? 0 : RAIDTRACE_EVENT_ERROR) |
				  (i % 17 ? 0 : RAIDTRACE_EVENT_PART), bytes,
				  (u64[]){ request, bio, 0 });
	}
	raidtrace_engine_advance(engine, at + 1);
}

/* The default groups and flow alone have their own code. No event here is of the group plug. */
static void groups_count_alike_in_all_code(struct kunit *test)
{
	static const u32 own[] = { RAIDTRACE_GROUPS_DEFAULT, RAIDTRACE_GROUP_FLOW };
	struct machine *m = test->priv;
	struct raidtrace_account *first = kunit_kzalloc(test, sizeof(*first), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, first);
	for (i = 0; i < 2; i++) {
		count_some(test, own[i]);
		KUNIT_EXPECT_GT(test, flow_of(test, DIR_READ)->completed, 100ULL);
		KUNIT_EXPECT_GT(test, flow_of(test, DIR_WRITE)->completed, 60ULL);
		KUNIT_EXPECT_GT(test, flow_of(test, RAIDTRACE_DIRECTION_DISCARD)->completed, 20ULL);
		*first = m->account;
		count_some(test, own[i] ^ RAIDTRACE_GROUP_PLUG);
		KUNIT_EXPECT_EQ(test, memcmp(first, &m->account, sizeof(*first)), 0);
	}
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(groups_count_alike_in_all_code),
	KUNIT_CASE(backlog_needs_a_request_in_flight),
	KUNIT_CASE(bio_keeps_its_direction),
	KUNIT_CASE(time_has_one_state),
	KUNIT_CASE(waits_of_several_kinds),
	KUNIT_CASE(time_counts_where_the_issue_was),
	KUNIT_CASE(sources_count_in_order_of_time),
	KUNIT_CASE(source_stops_at_the_next_event_of_another),
	KUNIT_CASE(counts_a_request_in_a_ring),
	KUNIT_CASE(counts_until_a_time_and_a_number),
	KUNIT_CASE(head_of_a_record_returns_its_fields),
	KUNIT_CASE(request_is_timed_from_queue_and_issue),
	KUNIT_CASE(request_without_a_place_is_unmatched),
	KUNIT_CASE(insert_gives_its_place_to_an_issue),
	KUNIT_CASE(unknown_end_counts_for_requests_only),
	KUNIT_CASE(issue_after_a_requeue_is_no_new_position),
	KUNIT_CASE(reissue_counts_what_was_merged),
	KUNIT_CASE(class_of_several_bios),
	KUNIT_CASE(piece_of_a_bio_is_as_old_as_the_bio),
	KUNIT_CASE(ends_that_are_no_completion),
	KUNIT_CASE(request_issued_twice_was_abandoned),
	KUNIT_CASE(merged_request_leaves_no_insert),
	KUNIT_CASE(insert_counts_for_one_issue),
	KUNIT_CASE(completion_counts_as_its_issue),
	KUNIT_CASE(bios_have_the_last_recorded_task),
	KUNIT_CASE(process_gives_its_row_to_another),
	KUNIT_CASE(row_is_looked_up_after_a_replacement),
	KUNIT_CASE(processes_have_rows),
	KUNIT_CASE(reset_forgets_the_position_of_bios),
	KUNIT_CASE(counts_go_where_they_belong),
	KUNIT_CASE(append_has_no_position),
	KUNIT_CASE(refused_bio_has_no_latency),
	KUNIT_CASE(replaced_bio_is_unknown_once),
	KUNIT_CASE(unknown_things_are_left_alone),
	KUNIT_CASE(bio_without_a_place_is_unknown),
	KUNIT_CASE(bios_of_one_home_have_eight_places),
	KUNIT_CASE(requests_of_one_home_have_64_places),
	KUNIT_CASE(class_without_latency),
	KUNIT_CASE(bios_of_one_slab_have_places),
	KUNIT_CASE(sum_of_depth_over_time_has_no_end),
	KUNIT_CASE(history_has_all_times),
	KUNIT_CASE(history_has_the_last_ones),
	KUNIT_CASE(history_has_the_slow_and_the_failed),
	KUNIT_CASE(history_has_both_bios_after_an_abandoned_issue),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "raidtrace_engine",
	.init = engine_init,
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
