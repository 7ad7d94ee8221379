// SPDX-License-Identifier: GPL-2.0-only
/* Count the events of a disk in order of time. */
#include "engine.h"
#include "account-events.h"

#ifndef __KERNEL__
#define noinline
#define fallthrough	__attribute__((__fallthrough__))
#endif

/* Places that an address may have; after requests found none free, more of them. */
#define PLACES		8
#define PLACES_MOST	64

static unsigned long home_of(u64 address, unsigned int bits)
{
	return address * 0x9e3779b97f4a7c15ULL >> (64 - bits);
}

static struct raidtrace_queued *search_bio(struct raidtrace_engine *engine, u64 bio, bool free)
{
	unsigned long i, home = home_of(bio, RAIDTRACE_ENGINE_BIO_BITS);
	struct raidtrace_queued *found = NULL;

	for (i = 0; i < PLACES; i++) {
		struct raidtrace_queued *place = &engine->bios[home ^ i];

		if (place->bio == bio)
			return place;
		if (free && !found && !place->bio)
			found = place;
	}
	return found;
}

/* The place of a bio, or with @free one that it may have; NULL for none. */
static inline struct raidtrace_queued *find_bio(struct raidtrace_engine *engine, u64 bio, bool free)
{
	struct raidtrace_queued *home;

	if (!engine->bios)
		return NULL;
	home = &engine->bios[home_of(bio, RAIDTRACE_ENGINE_BIO_BITS)];
	if (home->bio == bio || (free && !home->bio))
		return home;
	return search_bio(engine, bio, free);
}

/* A bio that finds no place stays unknown. */
static __always_inline void keep_bio(struct raidtrace_engine *engine,
				     const struct raidtrace_queued *queued)
{
	struct raidtrace_queued *place = find_bio(engine, queued->bio, true);

	if (place)
		*place = *queued;
}

/* Use of a place, the least important first. A new request takes the least important one. */
enum hold { HOLDS_NOTHING, HOLDS_INSERT, HOLDS_ISSUE };

static enum hold hold_of(const struct raidtrace_issued *request)
{
	if (request->in_flight || request->sequenced || request->requeued)
		return HOLDS_ISSUE;
	return request->inserted_ns ? HOLDS_INSERT : HOLDS_NOTHING;
}

static struct raidtrace_issued *search_request(struct raidtrace_engine *engine, u64 address,
					       enum hold most)
{
	unsigned long i, home = home_of(address, engine->request_bits);
	struct raidtrace_issued *least = NULL;

	for (i = 0; i < engine->reach; i++) {
		struct raidtrace_issued *place = &engine->requests[home ^ i];

		if (place->request == address)
			return place;
		if (hold_of(place) <= most && (!least || hold_of(place) < hold_of(least)))
			least = place;
	}
	if (least) {
		*least = (struct raidtrace_issued){
			.request = address, .class = RAIDTRACE_CLASSES,
		};
	} else if (engine->reach < PLACES_MOST) {
		engine->reach = PLACES_MOST;
		return search_request(engine, address, most);
	}
	return least;
}

/*
 * The place of a request. A request without one gets a place that holds @most at most; NULL for
 * none. An issue may take the place of an insert: a scheduler can hold more requests than there are
 * places, and then one time of an insert is unknown.
 */
static inline struct raidtrace_issued *find_request(struct raidtrace_engine *engine, u64 address,
						    enum hold most)
{
	struct raidtrace_issued *home;

	if (!engine->requests)
		return NULL;
	home = &engine->requests[home_of(address, engine->request_bits)];
	return home->request == address ? home : search_request(engine, address, most);
}

static u64 since(u64 then_ns, u64 now_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

/*
 * A bio ends; NULL for an unknown one. On a bio-based disk an unknown end may be that of a piece
 * that the driver split off, so that it counts for nothing.
 */
static __always_inline void end_bio(struct raidtrace_engine *engine,
				    struct raidtrace_queued *queued,
				    u32 groups, enum raidtrace_direction direction, u64 now_ns)
{
	if (groups & RAIDTRACE_GROUP_LATENCY) {
		if (queued)
			raidtrace_count_q2c(engine->account, queued->direction,
					    since(queued->queued_ns, now_ns));
		else if (engine->requests)
			engine->account->flow[direction].q2c_unknown++;
	}
	if (queued)
		queued->bio = 0;
}

/*
 * Find the row of a source's task. When a row is reassigned, every source looks up its row again.
 */
static void find_row(struct raidtrace_engine *engine, struct raidtrace_source *source)
{
	u64 replaced = engine->submitters.replaced;

	engine->submitters.replaced = 0;
	source->row = raidtrace_submitter_row(&engine->submitters, &source->task);
	if (engine->submitters.replaced) {
		raidtrace_account_release(engine->account, source->row);
		engine->table++;
	}
	engine->submitters.replaced |= replaced;
	source->table = engine->table;
}

static __always_inline u32 row_of(struct raidtrace_engine *engine,
				  struct raidtrace_source *source, u32 groups, u64 now_ns)
{
	if (!(groups & RAIDTRACE_GROUP_SUBMITTER))
		return RAIDTRACE_SUBMITTER_REST;
	if (source->table != engine->table)
		find_row(engine, source);
	engine->submitters.queued_ns[source->row] = now_ns;
	return source->row;
}

static __always_inline void engine_queue(struct raidtrace_engine *engine,
					 struct raidtrace_source *source, const u64 *record,
					 u32 groups, u64 now_ns)
{
	u64 head = record[1];
	struct raidtrace_bio bio = {
		.direction = raidtrace_event_direction(head),
		.class = raidtrace_event_class(head),
		.queued_ns = now_ns,
		.sector = record[3],
		.bytes = raidtrace_event_bytes(head),
		.submitter = row_of(engine, source, groups, now_ns),
		.ahead = head & RAIDTRACE_EVENT_AHEAD,
		.unplaced = head & RAIDTRACE_EVENT_UNPLACED,
	};

	if (groups & RAIDTRACE_GROUPS_BIOS && engine->bios)
		keep_bio(engine, &(struct raidtrace_queued){
			.bio = record[2], .queued_ns = now_ns, .pid = source->task.pid,
			.row = bio.submitter, .class = bio.class, .direction = bio.direction });
	raidtrace_count_bio(&engine->arrival, engine->account, groups, &bio);
}

/* The end of a bio that no request carried. A refused bio has no latency. */
static void engine_end(struct raidtrace_engine *engine, const u64 *record, u64 now_ns)
{
	enum raidtrace_direction direction = raidtrace_event_direction(record[1]);
	struct raidtrace_queued *queued = find_bio(engine, record[2], false);

	if (!(record[1] & RAIDTRACE_EVENT_NOWAIT)) {
		end_bio(engine, queued, engine->queue.groups, direction, now_ns);
		return;
	}
	engine->account->flow[direction].refused++;
	if (queued)
		queued->bio = 0;
}

static void engine_split(struct raidtrace_engine *engine, const u64 *record)
{
	const struct raidtrace_queued *whole = find_bio(engine, record[3], false);
	struct raidtrace_queued piece;

	if (!whole)
		return;
	piece = *whole;
	piece.bio = record[2];
	keep_bio(engine, &piece);
}

/* Clear the members that the next issue at this address does not set. */
static void forget_first(struct raidtrace_ended *ended)
{
	ended->queued_ns = 0;
	ended->again = false;
}

/* A request is queued when the first of its bios is, by its process. */
static void know_first(struct raidtrace_ended *ended, const struct raidtrace_queued *bio)
{
	if (ended->queued_ns && ended->queued_ns <= bio->queued_ns)
		return;
	ended->queued_ns = bio->queued_ns;
	ended->pid = bio->pid;
	ended->row = bio->row;
}

/* Several bios of different classes are mixed. An unknown bio has no class. */
static void engine_issue_bio(struct raidtrace_engine *engine, const u64 *record)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_INSERT);
	const struct raidtrace_queued *bio = find_bio(engine, record[3], false);

	if (!request || !bio)
		return;
	if (request->in_flight)
		forget_first(&request->ended);
	know_first(&request->ended, bio);
	if (request->class == RAIDTRACE_CLASSES)
		request->class = bio->class;
	else if (request->class != bio->class)
		request->class = RAIDTRACE_CLASS_MIXED;
}

/* The class of a request. The entry of its only bio moves to the request until it ends. */
static __always_inline enum raidtrace_class class_of(struct raidtrace_engine *engine,
						     struct raidtrace_issued *request, u32 groups,
						     u64 bio)
{
	enum raidtrace_class class = request->class;
	struct raidtrace_queued *queued = NULL;

	if (groups & RAIDTRACE_GROUPS_BIOS && bio)
		queued = find_bio(engine, bio, false);

	request->class = RAIDTRACE_CLASSES;
	request->only.bio = 0;
	if (queued) {
		know_first(&request->ended, queued);
		request->only = *queued;
		queued->bio = 0;
		return request->only.class;
	}
	return class == RAIDTRACE_CLASSES ? RAIDTRACE_CLASS_OTHER : class;
}

static __always_inline void engine_issue(struct raidtrace_engine *engine, const u64 *record,
					 u32 groups, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_INSERT);
	u64 head = record[1];
	struct raidtrace_issue issue = {
		.direction = raidtrace_event_direction(head),
		.sector = record[3],
		.bytes = raidtrace_event_bytes(head),
		.unplaced = head & RAIDTRACE_EVENT_UNPLACED,
	};

	if (!request)
		return;
	if (request->in_flight)
		raidtrace_count_abandon(&engine->queue, engine->account, now_ns,
					request->ended.direction);
	issue.again = request->requeued;
	issue.class = class_of(engine, request, groups, record[4]);
	if (groups & RAIDTRACE_GROUP_PLACE)
		issue.place = raidtrace_place_bin(&engine->place, issue.sector);
	request->ended.inserted_ns = request->inserted_ns;
	request->ended.issued_ns = now_ns;
	request->ended.sector = issue.sector;
	request->ended.bytes = issue.bytes;
	request->ended.depth = engine->queue.in_flight[RAIDTRACE_DIRECTION_ALL];
	request->ended.class = issue.class;
	request->ended.again |= issue.again;
	request->ended.direction = issue.direction;
	request->depth_row = raidtrace_depth_row(engine->queue.in_flight[RAIDTRACE_DIRECTION_ALL]);
	request->in_flight = true;
	request->sequenced = false;
	request->requeued = false;
	raidtrace_count_issue(&engine->queue, engine->account, groups, now_ns, &issue);
	if (request->inserted_ns)
		raidtrace_count_i2d(engine->account, issue.direction,
				    since(request->inserted_ns, now_ns));
	request->inserted_ns = 0;
}

/*
 * Count an issue for its hardware queue, before engine_issue(). A request found in flight has no
 * observed end. Not inline: that would cost each event the registers that this needs.
 */
static noinline void issue_on_hwq(struct raidtrace_engine *engine,
				  const struct raidtrace_source *source, const u64 *record,
				  u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_INSERT);
	struct raidtrace_hwq_issue *issue;

	if (!request)
		return;
	issue = &engine->hwqs->issue[request - engine->requests];
	if (request->in_flight)
		raidtrace_hwq_count_end(engine->hwqs, engine->account, now_ns, NULL, issue);
	raidtrace_hwq_count_issue(engine->hwqs, engine->account, now_ns,
				  raidtrace_event_row(record[1]), &source->cpu, issue);
}

/*
 * Count an end, or without @cpu a requeue, for its hardware queue, before engine_complete() or
 * engine_requeue(). A request that is not in flight left its queue before.
 */
static noinline void end_on_hwq(struct raidtrace_engine *engine, const struct raidtrace_cpu *cpu,
				const u64 *record, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_NOTHING);

	if (request && request->in_flight && !(record[1] & RAIDTRACE_EVENT_PART))
		raidtrace_hwq_count_end(engine->hwqs, engine->account, now_ns, cpu,
					&engine->hwqs->issue[request - engine->requests]);
}

static void engine_requeue(struct raidtrace_engine *engine, const u64 *record, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_NOTHING);

	if (!request || !request->in_flight) {
		engine->account->flow[raidtrace_event_direction(record[1])].requeued_unissued++;
		return;
	}
	raidtrace_count_requeue(&engine->queue, engine->account, now_ns, request->ended.direction);
	request->in_flight = false;
	request->requeued = true;
	/* Before its next issue other bios may be merged into it. */
	if (request->only.bio)
		keep_bio(engine, &request->only);
	request->only.bio = 0;
}

static void count_part(struct raidtrace_account *account, const struct raidtrace_issued *request,
		       u64 head)
{
	bool known = request && request->in_flight;
	struct raidtrace_flow *flow = &account->flow[known ? request->ended.direction :
						     raidtrace_event_direction(head)];

	flow->partial++;
	flow->errors += !!(head & RAIDTRACE_EVENT_ERROR);
	if (known)
		flow->bytes_completed += raidtrace_event_bytes(head);
}

/*
 * The last completion of a request that is not in flight: the second end of a flush sequence; else
 * its issue was not observed if the driver had it, and otherwise it had none.
 */
static void end_aside(struct raidtrace_account *account, const struct raidtrace_issued *request,
		      u64 head)
{
	bool sequenced = request && request->sequenced;
	struct raidtrace_flow *flow = &account->flow[sequenced ? request->ended.direction :
						     raidtrace_event_direction(head)];

	flow->errors += !!(head & RAIDTRACE_EVENT_ERROR);
	if (sequenced)
		return;
	if (head & RAIDTRACE_EVENT_STARTED)
		flow->unmatched++;
	else
		flow->unissued++;
}

static __always_inline void remember(struct raidtrace_engine *engine,
				     struct raidtrace_issued *request, bool error, u64 now_ns)
{
	request->ended.completed_ns = now_ns;
	request->ended.error = error;
	raidtrace_history_put(&engine->history, &request->ended);
}

static __always_inline void end_request(struct raidtrace_engine *engine,
					struct raidtrace_issued *request, u64 head, u32 groups,
					u64 now_ns)
{
	if (request && request->in_flight) {
		struct raidtrace_completion completion = {
			.direction = request->ended.direction,
			.bytes = raidtrace_event_bytes(head),
			.error = head & RAIDTRACE_EVENT_ERROR,
			.d2c_ns = since(request->ended.issued_ns, now_ns),
			.depth_row = request->depth_row,
		};

		raidtrace_count_completion(&engine->queue, engine->account, groups, now_ns, &completion);
		if (groups & RAIDTRACE_GROUP_LATENCY && engine->history.ended)
			remember(engine, request, completion.error, now_ns);
	} else {
		end_aside(engine->account, request, head);
	}
	if (!request)
		return;
	forget_first(&request->ended);
	request->in_flight = false;
	request->requeued = false;
	request->inserted_ns = 0;
	request->sequenced = head & RAIDTRACE_EVENT_SEQUENCE;
}

static __always_inline void engine_complete(struct raidtrace_engine *engine, const u64 *record,
					    u32 groups, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_NOTHING);
	u64 bio = record[3], head = record[1];
	struct raidtrace_queued *queued;

	if (head & RAIDTRACE_EVENT_PART)
		count_part(engine->account, request, head);
	else
		end_request(engine, request, head, groups, now_ns);
	if (!(groups & RAIDTRACE_GROUPS_BIOS) || !bio)
		return;
	if (request && request->only.bio == bio)
		queued = &request->only;
	else
		queued = find_bio(engine, bio, false);
	end_bio(engine, queued, groups, raidtrace_event_direction(head), now_ns);
}

/* A merged request is not issued. The next one at its address was not inserted. */
static void engine_merge(struct raidtrace_engine *engine, const u64 *record)
{
	struct raidtrace_issued *request = find_request(engine, record[2], HOLDS_NOTHING);

	engine->account->flow[raidtrace_event_direction(record[1])].request_merges++;
	if (request)
		request->inserted_ns = 0;
}

static void engine_insert(struct raidtrace_engine *engine, const u64 *record, u64 now_ns)
{
	struct raidtrace_issued *request = NULL;

	engine->account->flow[raidtrace_event_direction(record[1])].inserted++;
	if (engine->queue.groups & RAIDTRACE_GROUP_LATENCY)
		request = find_request(engine, record[2], HOLDS_NOTHING);
	if (request)
		request->inserted_ns = now_ns;
}

static void engine_task(struct raidtrace_engine *engine, struct raidtrace_source *source,
			const u64 *record)
{
	source->task = (struct raidtrace_task){
		.comm = { record[2], record[3] }, .cgroup = record[4],
		.pid = raidtrace_event_bytes(record[1]),
	};
	source->table = engine->table - 1;
}

/* Rare events. Inline they would cost the others registers. */
static noinline void engine_other(struct raidtrace_engine *engine, struct raidtrace_source *source,
				  const u64 *record, u64 now_ns)
{
	switch (raidtrace_event_kind(record[1])) {
	case RAIDTRACE_EVENT_COUNT:
		return raidtrace_count_event(engine->account, raidtrace_event_direction(record[1]),
					     raidtrace_event_class(record[1]),
					     raidtrace_event_bytes(record[1]));
	case RAIDTRACE_EVENT_INSERT:
		return engine_insert(engine, record, now_ns);
	case RAIDTRACE_EVENT_END:
		return engine_end(engine, record, now_ns);
	case RAIDTRACE_EVENT_ISSUE_BIO:
		return engine_issue_bio(engine, record);
	case RAIDTRACE_EVENT_TASK:
		return engine_task(engine, source, record);
	case RAIDTRACE_EVENT_SPLIT:
		return engine_split(engine, record);
	case RAIDTRACE_EVENT_MERGE:
		return engine_merge(engine, record);
	case RAIDTRACE_EVENT_REQUEUE_HWQ:
		end_on_hwq(engine, NULL, record, now_ns);
		fallthrough;
	case RAIDTRACE_EVENT_REQUEUE:
		return engine_requeue(engine, record, now_ns);
	default:
		return;
	}
}

/* raidtrace_engine_count() for @groups; a constant in two of its callers. */
static __always_inline u32 count_events(struct raidtrace_engine *engine,
					struct raidtrace_source *source, const u64 *words,
					u32 mask, u32 tail, u32 head, u64 until,
					unsigned int *left, u32 groups)
{
	unsigned int nr;

	for (nr = *left; nr && tail != head; nr--) {
		const u64 *record = words + (tail & mask);
		u64 now_ns;

		if (record[0] > until)
			break;
		now_ns = raidtrace_queue_time(&engine->queue, record[0]);
		switch (raidtrace_event_kind(record[1])) {
		case RAIDTRACE_EVENT_QUEUE:
			engine_queue(engine, source, record, groups, now_ns);
			tail += raidtrace_event_words(RAIDTRACE_EVENT_QUEUE);
			break;
		case RAIDTRACE_EVENT_ISSUE_HWQ:
			issue_on_hwq(engine, source, record, now_ns);
			fallthrough;
		case RAIDTRACE_EVENT_ISSUE:
			engine_issue(engine, record, groups, now_ns);
			tail += raidtrace_event_words(RAIDTRACE_EVENT_ISSUE);
			break;
		case RAIDTRACE_EVENT_COMPLETE_HWQ:
			end_on_hwq(engine, &source->cpu, record, now_ns);
			fallthrough;
		case RAIDTRACE_EVENT_COMPLETE:
			engine_complete(engine, record, groups, now_ns);
			tail += raidtrace_event_words(RAIDTRACE_EVENT_COMPLETE);
			break;
		default:
			engine_other(engine, source, record, now_ns);
			tail += raidtrace_event_words(raidtrace_event_kind(record[1]));
		}
	}
	*left = nr;
	return tail;
}

/*
 * Count the events of a source from @tail to @head in a ring of @mask + 1 words: those until
 * @until, CLOCK_MONOTONIC, *@left of them at most, which is decremented. A late event, written
 * after later ones were counted, counts at the time of the last one. Returns the new tail.
 *
 * The code is compiled for the default groups and for flow alone, too: each of their events would
 * otherwise test some ten groups.
 */
u32 raidtrace_engine_count(struct raidtrace_engine *engine, struct raidtrace_source *source,
			   const u64 *words, u32 mask, u32 tail, u32 head, u64 until,
			   unsigned int *left)
{
	switch (engine->queue.groups) {
	case RAIDTRACE_GROUPS_DEFAULT:
		return count_events(engine, source, words, mask, tail, head, until, left,
				    RAIDTRACE_GROUPS_DEFAULT);
	case RAIDTRACE_GROUP_FLOW:
		return count_events(engine, source, words, mask, tail, head, until, left,
				    RAIDTRACE_GROUP_FLOW);
	default:
		return count_events(engine, source, words, mask, tail, head, until, left,
				    engine->queue.groups);
	}
}

/* Begin with nothing in flight; @engine is all zero but for account, tables and place. */
void raidtrace_engine_start(struct raidtrace_engine *engine, u32 groups, u32 streams, u64 now_ns)
{
	unsigned int i;

	engine->reach = PLACES;
	raidtrace_arrival_start(&engine->arrival, groups, streams);
	raidtrace_queue_start(&engine->queue, groups, streams, now_ns);
	for (i = 0; engine->requests && i < 1U << engine->request_bits; i++)
		engine->requests[i].class = RAIDTRACE_CLASSES;
}

/* Count the time spent at the present depths up to now. */
void raidtrace_engine_advance(struct raidtrace_engine *engine, u64 now_ns)
{
	raidtrace_queue_advance(&engine->queue, engine->account, now_ns);
	if (engine->hwqs)
		raidtrace_hwqs_advance(engine->hwqs, engine->account, engine->queue.last_ns);
}

/* Reset, right after an advance, into an account of zeroes. Requests in flight stay known. */
void raidtrace_engine_reset(struct raidtrace_engine *engine)
{
	raidtrace_queue_reset(&engine->queue);
	if (engine->hwqs)
		raidtrace_hwqs_reset(engine->hwqs, engine->account);
	raidtrace_arrival_reset(&engine->arrival);
	engine->submitters = (struct raidtrace_submitters){};
	engine->table++;
}
