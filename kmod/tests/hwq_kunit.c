// SPDX-License-Identifier: GPL-2.0-only
/* Requests per hardware queue: in flight, and the CPU where they end. */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../engine.h"

#define DIR_READ RAIDTRACE_DIRECTION_READ
#define ISSUE RAIDTRACE_EVENT_ISSUE_HWQ
#define REQUEUE RAIDTRACE_EVENT_REQUEUE_HWQ
#define COMPLETE RAIDTRACE_EVENT_COMPLETE_HWQ

#define START 1000000ULL
#define REQUEST_BITS 9

/* CPUs: two of node 0, one of node 1. */
enum { CPU_A, CPU_B, CPU_FAR, CPUS };

struct machine {
	struct raidtrace_engine engine;
	struct raidtrace_source source[CPUS];
	struct raidtrace_account account[2];
};

static int hwq_init(struct kunit *test)
{
	struct machine *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct raidtrace_engine *engine = &m->engine;
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, m);
	engine->account = &m->account[0];
	engine->requests = kunit_kcalloc(test, 1 << REQUEST_BITS, sizeof(*engine->requests),
					 GFP_KERNEL);
	engine->hwqs = kunit_kzalloc(test, sizeof(*engine->hwqs) +
				     (sizeof(engine->hwqs->issue[0]) << REQUEST_BITS), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, engine->requests);
	KUNIT_ASSERT_NOT_NULL(test, engine->hwqs);
	engine->request_bits = REQUEST_BITS;
	for (cpu = 0; cpu < CPUS; cpu++)
		m->source[cpu].cpu = (struct raidtrace_cpu){
			.number = cpu, .node = cpu == CPU_FAR,
		};
	raidtrace_engine_start(engine, RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_HWQ, 4, START);
	test->priv = m;
	return 0;
}

static void on_cpu(struct kunit *test, unsigned int cpu, u64 time_ns, enum raidtrace_event kind,
		   u64 request, u32 flags)
{
	struct machine *m = test->priv;
	const u64 record[RAIDTRACE_EVENT_WORDS] = {
		time_ns, raidtrace_event_head(kind, DIR_READ, 0, flags, 4096), request,
	};
	struct raidtrace_next heap[3];
	unsigned int left = 1;

	raidtrace_heap_add(heap, 0, time_ns, &m->source[cpu]);
	m->source[cpu] = (struct raidtrace_source){
		.words = record, .mask = ~0U >> 1, .end = raidtrace_event_words(kind),
		.cpu = m->source[cpu].cpu,
	};
	raidtrace_engine_count(&m->engine, heap, 1, U64_MAX, &left);
}

static void issue_on(struct kunit *test, unsigned int cpu, u64 time_ns, u64 request, u32 row)
{
	on_cpu(test, cpu, time_ns, ISSUE, request, row << RAIDTRACE_EVENT_ROW);
}

static void complete_on(struct kunit *test, unsigned int cpu, u64 time_ns, u64 request)
{
	on_cpu(test, cpu, time_ns, COMPLETE, request, RAIDTRACE_EVENT_STARTED);
}

static struct raidtrace_hwq *hwq_of(struct kunit *test, u32 row)
{
	return &((struct machine *)test->priv)->engine.account->hwq[row];
}

static u64 in_flight(struct kunit *test, u32 row)
{
	const struct raidtrace_hwq *hwq = hwq_of(test, row);

	return hwq->issued + hwq->carried - hwq->completed_same_cpu - hwq->completed_other_cpu -
	       hwq->completed_other_node - hwq->returned;
}

/* A request counts on its queue, by whether it ends on the CPU or node of its issue. */
static void request_ends_on_a_cpu(struct kunit *test)
{
	struct machine *m = test->priv;

	issue_on(test, CPU_A, START, 0x9000, 0);
	issue_on(test, CPU_A, START, 0x9400, 0);
	issue_on(test, CPU_A, START, 0x9800, 0);
	issue_on(test, CPU_B, START, 0x9c00, 3);
	issue_on(test, CPU_FAR, START, 0xa000, 3);
	complete_on(test, CPU_A, START + 10, 0x9000);
	complete_on(test, CPU_B, START + 10, 0x9400);
	complete_on(test, CPU_FAR, START + 10, 0x9800);
	complete_on(test, CPU_B, START + 10, 0x9c00);
	complete_on(test, CPU_B, START + 10, 0xa000);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->issued, 3ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->completed_same_cpu, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->completed_other_cpu, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->completed_other_node, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 3)->issued, 2ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 3)->completed_same_cpu, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 3)->completed_other_cpu, 0ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 3)->completed_other_node, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->issued, 0ULL);
	KUNIT_EXPECT_EQ(test, m->account[0].flow[DIR_READ].issued, 5ULL);
	KUNIT_EXPECT_EQ(test, m->account[0].flow[DIR_READ].completed, 5ULL);
	KUNIT_EXPECT_EQ(test, m->engine.hwqs->rows, 4U);
}

/* The row of all higher queues fits in the head of a record. */
static void last_row_is_that_of_the_rest(struct kunit *test)
{
	struct machine *m = test->priv;

	issue_on(test, CPU_A, START, 0x9000, RAIDTRACE_HWQ_REST);
	KUNIT_EXPECT_EQ(test, hwq_of(test, RAIDTRACE_HWQ_REST)->issued, 1ULL);
	KUNIT_EXPECT_LE(test, (u32)RAIDTRACE_HWQ_REST, (u32)RAIDTRACE_EVENT_ROW_MASK);
	raidtrace_engine_advance(&m->engine, START + 10);
	m->engine.account = &m->account[1];
	raidtrace_engine_reset(&m->engine);
	KUNIT_EXPECT_EQ(test, m->account[0].hwq[RAIDTRACE_HWQ_REST].depth_sum_ns, 10ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, RAIDTRACE_HWQ_REST)->carried, 1ULL);
}

static void depth_is_that_of_the_queue(struct kunit *test)
{
	struct machine *m = test->priv;

	issue_on(test, CPU_A, START + 100, 0x9000, 1);
	issue_on(test, CPU_A, START + 150, 0x9400, 1);
	issue_on(test, CPU_A, START + 150, 0x9800, 2);
	complete_on(test, CPU_A, START + 180, 0x9000);
	issue_on(test, CPU_A, START + 200, 0x9c00, 1);
	raidtrace_engine_advance(&m->engine, START + 210);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->depth_sum_ns, 50ULL + 2 * 30 + 20 + 2 * 10);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->depth_rises, 2ULL);
	KUNIT_EXPECT_EQ(test, in_flight(test, 1), 2ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 2)->depth_sum_ns, 60ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 2)->depth_rises, 1ULL);
	/* In another account, as with a snapshot: the highest depth of both is the sum. */
	m->engine.account = &m->account[1];
	issue_on(test, CPU_A, START + 220, 0xa000, 1);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->depth_rises, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->depth_sum_ns, 20ULL);
}

/* Requests in flight at a reset are carried, and are the highest depth at first. */
static void reset_carries_what_is_in_flight(struct kunit *test)
{
	struct machine *m = test->priv;

	issue_on(test, CPU_A, START, 0x8000, 0);
	issue_on(test, CPU_A, START, 0x9000, 1);
	issue_on(test, CPU_A, START, 0x9400, 1);
	complete_on(test, CPU_A, START + 5, 0x9400);
	raidtrace_engine_advance(&m->engine, START + 10);
	m->engine.account = &m->account[1];
	raidtrace_engine_reset(&m->engine);
	KUNIT_EXPECT_EQ(test, m->account[0].hwq[0].depth_sum_ns, 10ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->carried, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->carried, 1ULL);
	KUNIT_EXPECT_EQ(test, in_flight(test, 1), 1ULL);
	issue_on(test, CPU_A, START + 20, 0x9400, 1);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->depth_rises, 1ULL);
	complete_on(test, CPU_A, START + 30, 0x9000);
	complete_on(test, CPU_A, START + 30, 0x9400);
	KUNIT_EXPECT_EQ(test, in_flight(test, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->depth_sum_ns, 10ULL + 2 * 10);
}

/* A requeue undoes an issue, and so does a second issue of a request in flight. */
static void issue_is_undone(struct kunit *test)
{
	struct machine *m = test->priv;

	issue_on(test, CPU_A, START, 0x9000, 1);
	on_cpu(test, CPU_A, START + 1, REQUEUE, 0x9000, 0);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->returned, 1ULL);
	on_cpu(test, CPU_A, START + 2, REQUEUE, 0x9000, 0);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->returned, 1ULL);
	issue_on(test, CPU_A, START + 3, 0x9000, 1);
	issue_on(test, CPU_A, START + 4, 0x9000, 2);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->issued, 2ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->returned, 2ULL);
	KUNIT_EXPECT_EQ(test, in_flight(test, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, in_flight(test, 2), 1ULL);
	KUNIT_EXPECT_EQ(test, m->account[0].flow[DIR_READ].requeued, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account[0].flow[DIR_READ].abandoned, 1ULL);
}

/* No request leaves a queue by a part, without an issue, or by a second end. */
static void ends_that_are_none(struct kunit *test)
{
	issue_on(test, CPU_A, START, 0x9000, 1);
	on_cpu(test, CPU_A, START + 1, COMPLETE, 0x9000,
	       RAIDTRACE_EVENT_STARTED | RAIDTRACE_EVENT_PART);
	KUNIT_EXPECT_EQ(test, in_flight(test, 1), 1ULL);
	complete_on(test, CPU_A, START + 2, 0x9000);
	complete_on(test, CPU_A, START + 3, 0x9000);
	complete_on(test, CPU_A, START + 4, 0x9400);
	KUNIT_EXPECT_EQ(test, in_flight(test, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 1)->completed_same_cpu, 1ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->issued, 0ULL);
}

/* More requests than places: those without a place count on no queue, and not in flow. */
static void request_without_a_place_is_on_no_queue(struct kunit *test)
{
	const unsigned int all = 4 << REQUEST_BITS;
	struct machine *m = test->priv;
	unsigned int i;

	for (i = 0; i < all; i++)
		issue_on(test, CPU_A, START + i, 0x100000 + i * 384, i % 3);
	for (i = 0; i < all; i++)
		complete_on(test, CPU_A, START + all, 0x100000 + i * 384);
	KUNIT_EXPECT_GT(test, m->account[0].flow[DIR_READ].unmatched, 0ULL);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->issued + hwq_of(test, 1)->issued +
			hwq_of(test, 2)->issued, m->account[0].flow[DIR_READ].issued);
	KUNIT_EXPECT_EQ(test, hwq_of(test, 0)->completed_same_cpu, hwq_of(test, 0)->issued);
}

/* Without the group an engine has no memory for hardware queues. */
static void nothing_is_counted_without_the_group(struct kunit *test)
{
	struct machine *m = test->priv;

	m->engine.hwqs = NULL;
	on_cpu(test, CPU_A, START, RAIDTRACE_EVENT_ISSUE, 0x9000, 0);
	raidtrace_engine_advance(&m->engine, START + 10);
	m->engine.account = &m->account[1];
	raidtrace_engine_reset(&m->engine);
	on_cpu(test, CPU_A, START + 20, RAIDTRACE_EVENT_COMPLETE, 0x9000, RAIDTRACE_EVENT_STARTED);
	KUNIT_EXPECT_EQ(test, m->account[0].flow[DIR_READ].issued, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account[1].flow[DIR_READ].completed, 1ULL);
	KUNIT_EXPECT_EQ(test, m->account[0].hwq[0].issued + m->account[1].hwq[0].carried, 0ULL);
}

static struct kunit_case hwq_cases[] = {
	KUNIT_CASE(request_ends_on_a_cpu),
	KUNIT_CASE(last_row_is_that_of_the_rest),
	KUNIT_CASE(depth_is_that_of_the_queue),
	KUNIT_CASE(reset_carries_what_is_in_flight),
	KUNIT_CASE(issue_is_undone),
	KUNIT_CASE(ends_that_are_none),
	KUNIT_CASE(request_without_a_place_is_on_no_queue),
	KUNIT_CASE(nothing_is_counted_without_the_group),
	{}
};

static struct kunit_suite hwq_suite = {
	.name = "raidtrace_hwq",
	.init = hwq_init,
	.test_cases = hwq_cases,
};

kunit_test_suite(hwq_suite);
