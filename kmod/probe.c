// SPDX-License-Identifier: GPL-2.0-only
/* A probe of a disk: its tracepoints, its tables, its snapshot. */
#include "probe.h"
#include "account-events.h"
#include "compat.h"
#include "probe-handlers.h"

#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>
#ifdef RAIDTRACE_HAS_RA_ORDER
#include <trace/events/readahead.h>
#endif

/**
 * struct raidtrace_tracepoint - a tracepoint that probes use
 * @name: its name
 * @handler: NULL if the kernel lacks a member that the handler needs
 * @groups: groups that need it
 * @counter: counter that is unavailable without it; RAIDTRACE_EVENT_COUNTERS for none
 * @essential: without it no target can be added
 * @bios: bio-based disks have it, too
 * @tracepoint: NULL when the kernel has none of that name
 * @users: probes that need it; it is registered while there are any
 */
struct raidtrace_tracepoint {
	const char *name;
	void *handler;
	u32 groups;
	enum raidtrace_event_counter counter;
	bool essential;
	bool bios;
	struct tracepoint *tracepoint;
	unsigned int users;
};

struct raidtrace_probe *raidtrace_probes[256];
DEFINE_STATIC_KEY_FALSE(raidtrace_hwq_key);

/* A tracepoint found by name has no type. This checks the type of its handler. */
#define HANDLER(event, function) \
	.name = #event, \
	.handler = function, \
	.users = BUILD_BUG_ON_ZERO(!__builtin_types_compatible_p( \
		typeof(check_trace_callback_type_##event), void(typeof(function) *)))
#define ON(event, groups_, counter_) \
	HANDLER(block_##event, raidtrace_on_##event), \
	.groups = RAIDTRACE_GROUP_##groups_, .counter = RAIDTRACE_##counter_

static struct raidtrace_tracepoint tracepoints[] = {
	{ ON(bio_queue, FLOW, EVENT_COUNTERS), .essential = true, .bios = true },
	{ ON(bio_remap, FLOW, EVENT_COUNTERS), .bios = true },
	{ ON(bio_complete, FLOW, EVENT_COUNTERS), .bios = true },
	{ ON(split, FLOW, SPLITS), .bios = true },
	{ ON(bio_backmerge, FLOW, BACK_MERGES) },
	{ ON(bio_frontmerge, FLOW, FRONT_MERGES) },
	{ ON(rq_merge, FLOW, REQUEST_MERGES) },
	{ ON(rq_insert, FLOW, INSERTED) },
	{ ON(rq_issue, FLOW, EVENT_COUNTERS), .essential = true },
	{ ON(rq_requeue, FLOW, EVENT_COUNTERS), .essential = true },
	{ ON(rq_complete, FLOW, EVENT_COUNTERS), .essential = true },
	{ ON(plug, PLUG, PLUGS) },
	{ ON(unplug, PLUG, UNPLUGS_EXPLICIT) },
#ifdef RAIDTRACE_HAS_RA_ORDER
	{ HANDLER(page_cache_ra_order, raidtrace_on_ra_order), .groups = RAIDTRACE_GROUP_READAHEAD,
	  .counter = RAIDTRACE_RA_SYNC_SECTORS, .bios = true },
#else
	{ .name = "page_cache_ra_order", .counter = RAIDTRACE_RA_SYNC_SECTORS },
#endif
};

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (tracepoints[i].handler && !strcmp(tracepoint->name, tracepoints[i].name))
			tracepoints[i].tracepoint = tracepoint;
	}
}

/* Find the kernel's tracepoints. Context: once, at load. */
void raidtrace_probe_find_tracepoints(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
}

/* The name of the next tracepoint that the kernel lacks, NULL at the end. @cursor: 0 at first. */
const char *raidtrace_probe_unavailable(unsigned int *cursor)
{
	while (*cursor < ARRAY_SIZE(tracepoints)) {
		struct raidtrace_tracepoint *row = &tracepoints[(*cursor)++];

		if (!row->tracepoint)
			return row->name;
	}
	return NULL;
}

/* Whether a counter is available on this kernel and kind of disk. */
bool raidtrace_probe_counts(enum raidtrace_event_counter counter, bool bio_based)
{
	unsigned int i;

	if (counter == RAIDTRACE_EVENT_COUNTERS)
		return true;
	/* The tracepoint of the counter before has these, too. */
	if (counter == RAIDTRACE_UNPLUGS_SCHEDULE || counter == RAIDTRACE_RA_ASYNC_SECTORS)
		counter--;
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (tracepoints[i].counter == counter)
			return tracepoints[i].tracepoint && (tracepoints[i].bios || !bio_based);
	}
	return false;
}

static size_t bios_size(const struct raidtrace_engine *engine)
{
	return sizeof(*engine->bios) << engine->bio_bits;
}

static size_t requests_size(const struct raidtrace_engine *engine)
{
	return sizeof(*engine->requests) << engine->request_bits;
}

static size_t history_size(const struct raidtrace_engine *engine)
{
	return struct_size(engine->history, known, 1UL << engine->request_bits);
}

static size_t hwqs_size(const struct raidtrace_engine *engine)
{
	return struct_size(engine->hwqs, issue, 1UL << engine->request_bits);
}

/* Allocate the tables that the options need. Returns 0 or -ENOMEM. */
static int alloc_engine(struct raidtrace_probe *probe, u64 nr_requests,
			const struct raidtrace_options *options)
{
	struct raidtrace_engine *engine = &probe->engine;
	int node = probe->node;

	engine->request_bits = clamp_t(unsigned int, order_base_2(2 * nr_requests),
				       RAIDTRACE_REQUEST_BITS_MIN, RAIDTRACE_REQUEST_BITS_MAX);
	/* Requests have several bios, which wait for requests, too. */
	engine->bio_bits = engine->request_bits + 2;
	engine->account = raidtrace_pages_alloc(sizeof(*engine->account), node);
	if (!engine->account)
		return -ENOMEM;
	if (options->groups & RAIDTRACE_GROUPS_BIOS) {
		engine->bios = raidtrace_pages_alloc(bios_size(engine), node);
		if (!engine->bios)
			return -ENOMEM;
	}
	if (!probe->has_requests)
		return 0;
	engine->requests = raidtrace_pages_alloc(requests_size(engine), node);
	if (!engine->requests)
		return -ENOMEM;
	if (options->history) {
		engine->history = raidtrace_pages_alloc(history_size(engine), node);
		if (!engine->history)
			return -ENOMEM;
		engine->history->slow_ns = options->history_ns;
	}
	if (options->groups & RAIDTRACE_GROUP_HWQ) {
		engine->hwqs = raidtrace_pages_alloc(hwqs_size(engine), node);
		if (!engine->hwqs)
			return -ENOMEM;
		static_branch_inc(&raidtrace_hwq_key);
	}
	return 0;
}

static void free_engine(struct raidtrace_engine *engine)
{
	if (engine->hwqs)
		static_branch_dec(&raidtrace_hwq_key);
	raidtrace_pages_free(engine->hwqs, hwqs_size(engine));
	raidtrace_pages_free(engine->history, history_size(engine));
	raidtrace_pages_free(engine->requests, requests_size(engine));
	raidtrace_pages_free(engine->bios, bios_size(engine));
	raidtrace_pages_free(engine->account, sizeof(*engine->account));
}

static int attach_tracepoint(struct raidtrace_probe *probe, unsigned int i,
			     struct netlink_ext_ack *extack)
{
	struct raidtrace_tracepoint *row = &tracepoints[i];
	int err = 0;

	if (!row->tracepoint) {
		if (!row->essential)
			return 0;
		return raidtrace_refuse(-EOPNOTSUPP, extack,
					"this kernel lacks the tracepoint %s, which raidtrace needs",
					row->name);
	}
	if (!row->users)
		err = tracepoint_probe_register(row->tracepoint, row->handler, NULL);
	if (err)
		return raidtrace_refuse(err, extack,
					"cannot attach to the tracepoint %s: error %d",
					row->name, -err);
	row->users++;
	probe->attached |= BIT(i);
	return 0;
}

static bool wants(const struct raidtrace_probe *probe, const struct raidtrace_tracepoint *row)
{
	return row->groups & probe->groups && (row->bios || probe->has_requests);
}

/*
 * Register the handlers for a disk; nothing is counted yet. @probe is all zero, @nr_requests can be
 * on their way at once. Returns 0 or -errno; raidtrace_probe_detach() and raidtrace_probe_free()
 * follow in both cases. Context: may sleep; one caller at a time attaches or detaches.
 */
int raidtrace_probe_attach(struct raidtrace_probe *probe, struct gendisk *disk, u64 nr_requests,
			   const struct raidtrace_options *options,
			   struct netlink_ext_ack *extack)
{
	unsigned int i;
	int err;

	raw_spin_lock_init(&probe->lock);
	probe->node = numa_mem_id();
	probe->groups = options->groups;
	probe->has_requests = queue_is_mq(disk->queue);
	raidtrace_place_set(&probe->engine.place, get_capacity(disk));
	err = alloc_engine(probe, nr_requests, options) ?: raidtrace_rings_alloc(probe);
	if (err)
		return raidtrace_refuse(err, extack, "not enough memory for the counters");
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (!wants(probe, &tracepoints[i]))
			continue;
		err = attach_tracepoint(probe, i, extack);
		if (err)
			return err;
	}
	probe->chain = raidtrace_probe_chain(disk->queue);
	probe->next = *probe->chain;
	/* A handler that finds the probe also observes its members. */
	smp_store_release(probe->chain, probe);
	return 0;
}

/*
 * Set the filesystem's journal, NULL for none, and take it over. Bios queued meanwhile have the
 * class by the old or by the new one. Context: process; one caller at a time.
 */
void raidtrace_probe_set_journal(struct raidtrace_probe *probe, struct raidtrace_journal *journal)
{
	struct raidtrace_journal *old = rcu_replace_pointer(probe->journal, journal, true);

	if (old)
		kfree_rcu(old, rcu);
}

/* Begin to count, after raidtrace_probe_attach() with the same disk and options. */
void raidtrace_probe_start(struct raidtrace_probe *probe, struct gendisk *disk,
			   const struct raidtrace_options *options)
{
	raw_spin_lock_irq(&probe->lock);
	raidtrace_engine_start(&probe->engine, options->groups, options->streams, ktime_get_ns());
	raw_spin_unlock_irq(&probe->lock);
	/* A handler that observes the queue writes events after the beginning. */
	smp_store_release(&probe->queue, disk->queue);
}

/*
 * Stop counting; handlers that run may still end. The disk and its queue may be freed then.
 * Context: any.
 */
void raidtrace_probe_stop(struct raidtrace_probe *probe)
{
	unsigned long flags;

	WRITE_ONCE(probe->queue, NULL);
	raw_spin_lock_irqsave(&probe->lock, flags);
	probe->stopped_ns = ktime_get_ns();
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}

/* Remove a probe from its chain. A handler that is at the probe still finds the next one. */
static void unchain(struct raidtrace_probe *probe)
{
	struct raidtrace_probe **link = probe->chain;

	if (!link)
		return;
	while (*link != probe)
		link = &(*link)->next;
	WRITE_ONCE(*link, probe->next);
}

/* Undo raidtrace_probe_attach(), also in part. Context: may sleep; one caller at a time. */
void raidtrace_probe_detach(struct raidtrace_probe *probe)
{
	unsigned int i;

	unchain(probe);
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (probe->attached & BIT(i) && !--tracepoints[i].users)
			tracepoint_probe_unregister(tracepoints[i].tracepoint,
						    tracepoints[i].handler, NULL);
	}
}

/* Free a probe after raidtrace_probe_detach(). Context: may sleep; waits for handlers. */
void raidtrace_probe_free(struct raidtrace_probe *probe)
{
	if (probe->attached)
		tracepoint_synchronize_unregister();
	raidtrace_rings_free(probe);
	free_engine(&probe->engine);
	kfree(rcu_access_pointer(probe->journal));
}

/*
 * Exchange the account for an @empty one at one moment, which @state describes, and return the full
 * one; with @reset begin anew. Each event is in the full account or comes after that moment. A
 * stopped probe has the moment when it was stopped. Context: process; one caller at a time.
 */
struct raidtrace_account *raidtrace_probe_snapshot(struct raidtrace_probe *probe,
						   struct raidtrace_account *empty, bool reset,
						   struct raidtrace_probe_state *state)
{
	struct raidtrace_engine *engine = &probe->engine;
	struct raidtrace_account *full = engine->account;
	unsigned long flags;
	u64 now_ns = raidtrace_rings_catch_up(probe);

	raw_spin_lock_irqsave(&probe->lock, flags);
	/* If others have counted later events, the moment is that of the last one. */
	raidtrace_engine_advance(engine, probe->stopped_ns ?: now_ns);
	state->queue = engine->queue;
	state->streams_alive = raidtrace_streams_alive(&engine->arrival.streams,
						       engine->queue.last_ns);
	state->streams_forgotten = engine->arrival.streams.forgotten;
	state->submitters = engine->submitters;
	engine->submitters.replaced = 0;
	engine->account = empty;
	if (reset)
		raidtrace_engine_reset(engine);
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	return full;
}

/*
 * Copy requests of the history behind number @after, the oldest @most of them, and the number of the
 * last one that ended. Returns how many were copied. Context: process.
 */
unsigned int raidtrace_probe_history(struct raidtrace_probe *probe, u64 after,
				     struct raidtrace_known_ended *known, unsigned int most,
				     u64 *last)
{
	struct raidtrace_engine *engine = &probe->engine;
	const struct raidtrace_ended *ended;
	unsigned long flags;
	unsigned int nr = 0;

	raidtrace_rings_catch_up(probe);
	raw_spin_lock_irqsave(&probe->lock, flags);
	while (nr < most && (ended = raidtrace_history_next(engine->history, &after))) {
		known[nr].number = after;
		known[nr].ended = *ended;
		known[nr].named = ended->row < RAIDTRACE_SUBMITTERS &&
				  engine->submitters.task[ended->row].pid == ended->pid;
		if (known[nr].named)
			known[nr].task = engine->submitters.task[ended->row];
		nr++;
	}
	*last = engine->history->nr;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	return nr;
}
