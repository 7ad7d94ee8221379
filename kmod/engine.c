// SPDX-License-Identifier: GPL-2.0-only
/* Count the events of a disk in order of time. */
#include "engine.h"
#include "account-events.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#else
#define noinline
#define fallthrough	__attribute__((__fallthrough__))
/* As the kernel's. */
#define smp_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)
#endif

/* Places that an address may have, and the larger number after requests found none free. */
#define PLACES		8
#define PLACES_MOST	64

/* Tells the compiler that a pointer is not NULL. */
#define assume(pointer) do { if (!(pointer)) __builtin_unreachable(); } while (0)

/* Added to the groups: the disk has requests; their history is kept. */
#define HAS_REQUESTS	0x40000000U
#define HAS_HISTORY	0x80000000U

static __always_inline unsigned long home_of(u64 address, unsigned int bits)
{
	return address * 0x9e3779b97f4a7c15ULL >> (64 - bits);
}

static struct raidtrace_queued *search_bio(struct raidtrace_engine *engine, u64 bio, bool free)
{
	unsigned long i, home = home_of(bio, engine->bio_bits);
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

/* Find the place of a bio; with @free, also accept a free place. Returns NULL for none. */
static __always_inline struct raidtrace_queued *find_bio(struct raidtrace_engine *engine, u64 bio,
							 bool free)
{
	struct raidtrace_queued *home;

	home = &engine->bios[home_of(bio, engine->bio_bits)];
	if (home->bio != bio && !(free && !home->bio))
		return search_bio(engine, bio, free);
	assume(home);
	return home;
}

/* Use of a place, the least important first. A new request takes the least important one. */
enum hold { HOLDS_NOTHING, HOLDS_INSERT, HOLDS_ISSUE };

static enum hold hold_of(const struct raidtrace_issued *request)
{
	if (request->progress != RAIDTRACE_NOT_ISSUED)
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
			.request = address, .class = RAIDTRACE_CLASSES, .bio = engine->bios,
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
static __always_inline struct raidtrace_issued *find_request(struct raidtrace_engine *engine,
							     u32 groups, u64 address,
							     enum hold most)
{
	struct raidtrace_issued *home;

	if (!(groups & HAS_REQUESTS))
		return NULL;
	home = &engine->requests[home_of(address, engine->request_bits)];
	if (home->request != address)
		return search_request(engine, address, most);
	assume(home);
	return home;
}

/*
 * Count the time of the state of the disk, held or backlog, until now. Called before the first bio
 * waits or the last no longer waits, and while bios wait before the first request is in flight or the
 * last no longer is.
 */
static __always_inline void spend_waiting(struct raidtrace_engine *engine, u64 now_ns)
{
	u64 spent_ns = now_ns - engine->waited_ns;

	engine->waited_ns = now_ns;
	if (!engine->waiting)
		return;
	if (engine->queue.in_flight[RAIDTRACE_DIRECTION_ALL])
		engine->account->disk.backlog_ns += spent_ns;
	else
		engine->account->disk.held_ns += spent_ns;
}

/* The same, if bios wait and @in_flight requests are in flight. */
static __always_inline void spend_at(struct raidtrace_engine *engine, u32 groups, u64 now_ns,
				     u32 in_flight)
{
	if (groups & RAIDTRACE_GROUP_LATENCY &&
	    engine->queue.in_flight[RAIDTRACE_DIRECTION_ALL] == in_flight && engine->waiting)
		spend_waiting(engine, now_ns);
}

/* One more bio, or request that was requeued, waits. */
static __always_inline void begin_wait(struct raidtrace_engine *engine, u64 now_ns)
{
	if (!engine->waiting++)
		engine->waited_ns = now_ns;
	engine->wait_ns -= now_ns;
}

/* One waits no longer: it is issued, or it ends without that. */
static __always_inline void end_wait(struct raidtrace_engine *engine, u64 now_ns)
{
	if (engine->waiting == 1)
		spend_waiting(engine, now_ns);
	engine->waiting--;
	engine->wait_ns += now_ns;
}

static __always_inline void end_wait_of(struct raidtrace_engine *engine,
					struct raidtrace_queued *bio, u64 now_ns)
{
	if (!bio->waits)
		return;
	bio->waits = false;
	end_wait(engine, now_ns);
}

/* Put a bio in a place, perhaps that of another with its address. */
static __always_inline void put_bio(struct raidtrace_engine *engine, struct raidtrace_queued *place,
				    const struct raidtrace_queued *bio, u64 now_ns)
{
	if (place->bio)
		end_wait_of(engine, place, now_ns);
	*place = *bio;
	if (bio->waits)
		begin_wait(engine, now_ns);
}

/* A bio ends. Most were issued before. */
static __always_inline void forget_bio(struct raidtrace_engine *engine, struct raidtrace_queued *bio,
				       u64 now_ns)
{
	end_wait_of(engine, bio, now_ns);
	bio->bio = 0;
}

/* A request that was requeued waits no longer. Called before its progress changes. */
static __always_inline void end_requeued(struct raidtrace_engine *engine,
					 const struct raidtrace_issued *request, u32 groups,
					 u64 now_ns)
{
	if (groups & RAIDTRACE_GROUP_LATENCY && request->progress == RAIDTRACE_REQUEUED)
		end_wait(engine, now_ns);
}

/*
 * End a bio, most likely of @direction; NULL for an unknown one. On a bio-based disk, an unknown end
 * may be that of a piece that the driver split off, so it is not counted.
 */
static __always_inline void end_bio(struct raidtrace_engine *engine,
				    struct raidtrace_queued *queued, u64 head, u32 groups,
				    enum raidtrace_direction direction, u64 now_ns)
{
	if (groups & RAIDTRACE_GROUP_LATENCY) {
		if (queued && queued->direction == direction)
			raidtrace_count_q2c(engine->account, direction, now_ns - queued->queued_ns);
		else if (queued)
			raidtrace_count_q2c(engine->account, queued->direction,
					    now_ns - queued->queued_ns);
		else if (groups & HAS_REQUESTS)
			engine->account->flow[raidtrace_event_direction(head)].q2c_unknown++;
	}
	if (queued)
		forget_bio(engine, queued, now_ns);
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
					 u32 groups, enum raidtrace_direction direction, u64 now_ns)
{
	u64 head = record[1];
	struct raidtrace_bio bio = {
		.direction = direction,
		.class = raidtrace_event_class(head),
		.queued_ns = now_ns,
		.sector = record[3],
		.bytes = raidtrace_event_bytes(head),
		.submitter = row_of(engine, source, groups, now_ns),
		.ahead = head & RAIDTRACE_EVENT_AHEAD,
		.unplaced = head & RAIDTRACE_EVENT_UNPLACED,
	};

	if (groups & RAIDTRACE_GROUPS_BIOS) {
		struct raidtrace_queued *place = find_bio(engine, record[2], true);

		/* A bio without data does not wait: its flush is a request of its own. */
		const struct raidtrace_queued queued = {
			.bio = record[2], .queued_ns = now_ns, .pid = source->task.pid,
			.owner = raidtrace_owner(&engine->submitters, bio.submitter),
			.class = bio.class, .direction = bio.direction,
			.waits = bio.direction != RAIDTRACE_DIRECTION_FLUSH,
		};

		/* A bio without a place stays unknown. */
		if (place)
			put_bio(engine, place, &queued, now_ns);
		else
			engine->account->disk.waiting_unknown++;
	}
	raidtrace_count_bio(&engine->arrival, engine->account, groups, &bio);
}

/*
 * The end of a bio that is not the only one of its request, or that has none. On a disk with requests, a
 * bio without one has no latency: it was refused, it failed, or blk-crypto replaced it by an encrypted
 * one, whose latency is unknown.
 */
static void engine_end(struct raidtrace_engine *engine, const u64 *record, u32 groups, u64 now_ns)
{
	enum raidtrace_direction direction = raidtrace_event_direction(record[1]);
	struct raidtrace_queued *queued = NULL;

	if (groups & RAIDTRACE_GROUPS_BIOS)
		queued = find_bio(engine, record[2], false);
	if (!(record[1] & (RAIDTRACE_EVENT_NOWAIT | RAIDTRACE_EVENT_ALONE))) {
		end_bio(engine, queued, record[1], groups, direction, now_ns);
		return;
	}
	if (record[1] & RAIDTRACE_EVENT_NOWAIT)
		engine->account->flow[direction].refused++;
	if (queued)
		forget_bio(engine, queued, now_ns);
}

static void engine_split(struct raidtrace_engine *engine, const u64 *record, u64 now_ns)
{
	const struct raidtrace_queued *whole = find_bio(engine, record[3], false);
	struct raidtrace_queued *place = find_bio(engine, record[2], true);
	struct raidtrace_queued piece;

	if (!whole || !place)
		return;
	piece = *whole;
	piece.bio = record[2];
	put_bio(engine, place, &piece, now_ns);
}

static __always_inline struct raidtrace_ended *known_of(struct raidtrace_engine *engine,
							const struct raidtrace_issued *request)
{
	return &engine->history->known[request - engine->requests];
}

/* Called before the first event of a new issue: a request in flight has no observed end. */
static void forget_abandoned(const struct raidtrace_issued *request,
			     struct raidtrace_ended *known)
{
	if (request->progress == RAIDTRACE_IN_FLIGHT && request->class == RAIDTRACE_CLASSES)
		*known = (struct raidtrace_ended){};
}

/* A request is queued when its first bio is, by the process of this bio. */
static void know_bio(struct raidtrace_ended *known, const struct raidtrace_queued *bio)
{
	if (known->queued_ns && known->queued_ns <= bio->queued_ns)
		return;
	known->queued_ns = bio->queued_ns;
	known->pid = bio->pid;
	known->row = bio->owner & RAIDTRACE_OWNER_ROW;
}

/* Several bios of different classes are mixed. An unknown bio has no class. */
static void engine_issue_bio(struct raidtrace_engine *engine, const u64 *record, u32 groups,
			     u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, groups, record[2], HOLDS_INSERT);
	struct raidtrace_queued *bio = find_bio(engine, record[3], false);

	if (!request || !bio)
		return;
	end_wait_of(engine, bio, now_ns);
	if (groups & HAS_HISTORY) {
		forget_abandoned(request, known_of(engine, request));
		know_bio(known_of(engine, request), bio);
	}
	if (request->class == RAIDTRACE_CLASSES) {
		request->class = bio->class;
		request->owner = bio->owner;
	} else if (request->class != bio->class) {
		request->class = RAIDTRACE_CLASS_MIXED;
	}
}

/* Keep the facts about an issue for the history. */
static noinline void know_issue(struct raidtrace_engine *engine,
				const struct raidtrace_issued *request,
				const struct raidtrace_issue *issue,
				const struct raidtrace_queued *bio, u64 now_ns)
{
	struct raidtrace_ended *known = known_of(engine, request);

	forget_abandoned(request, known);
	if (bio)
		know_bio(known, bio);
	known->inserted_ns = request->inserted_ns;
	known->issued_ns = now_ns;
	known->sector = issue->sector;
	known->bytes = issue->bytes;
	known->depth = engine->queue.in_flight[RAIDTRACE_DIRECTION_ALL];
	known->direction = issue->direction;
	known->class = issue->class;
	known->again |= issue->again;
}

/* Row of d2c by depth of a request that is issued now. */
static __always_inline unsigned int present_depth_row(const struct raidtrace_queue *queue)
{
	return raidtrace_depth_row(raidtrace_depth_bin(queue->in_flight[RAIDTRACE_DIRECTION_ALL]));
}

static __always_inline void engine_issue(struct raidtrace_engine *engine, const u64 *record,
					 u32 groups, enum raidtrace_direction direction, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, groups, record[2], HOLDS_INSERT);
	struct raidtrace_queued *bio = NULL;
	u64 head = record[1];
	u32 seek_bin;
	struct raidtrace_issue issue = {
		.direction = direction,
		.sector = record[3],
		.bytes = raidtrace_event_bytes(head),
		.unplaced = head & RAIDTRACE_EVENT_UNPLACED,
		.class = RAIDTRACE_CLASS_OTHER,
	};

	if (!request)
		return;
	if (request->progress == RAIDTRACE_IN_FLIGHT) {
		spend_at(engine, groups, now_ns, 1);
		raidtrace_count_abandon(&engine->queue, engine->account, now_ns,
					request->direction);
	}
	end_requeued(engine, request, groups, now_ns);
	issue.again = request->progress == RAIDTRACE_REQUEUED;
	if (groups & RAIDTRACE_GROUPS_BIOS && record[4])
		bio = find_bio(engine, record[4], false);
	if (bio) {
		issue.class = bio->class;
		end_wait_of(engine, bio, now_ns);
		request->owner = bio->owner;
		request->bio = bio;
	} else if (request->class != RAIDTRACE_CLASSES) {
		issue.class = request->class;
	} else if (groups & RAIDTRACE_GROUP_SUBMITTER) {
		request->owner = RAIDTRACE_SUBMITTER_REST;
	}
	if (groups & RAIDTRACE_GROUP_PLACE)
		issue.place = raidtrace_place_bin(&engine->place, issue.sector);
	if (groups & HAS_HISTORY)
		know_issue(engine, request, &issue, bio, now_ns);
	request->issued_ns = now_ns;
	request->progress = RAIDTRACE_IN_FLIGHT;
	request->class = RAIDTRACE_CLASSES;
	request->direction = issue.direction;
	spend_at(engine, groups, now_ns, 0);
	request->depth_row = present_depth_row(&engine->queue);
	seek_bin = raidtrace_count_issue(&engine->queue, engine->account, groups, now_ns, &issue);
	if (groups & RAIDTRACE_GROUP_LATENCY && !issue.again) {
		request->seek_row = raidtrace_seek_row(seek_bin);
		request->size_row = raidtrace_size_row(round_sectors(issue.bytes));
	}
	/* Bios can be merged into a request that was requeued. */
	if (issue.again && issue.bytes > request->bytes)
		raidtrace_count_bytes(engine->account, groups, &issue,
				      issue.bytes - request->bytes);
	request->bytes = issue.bytes;
	if (request->inserted_ns && groups & RAIDTRACE_GROUP_LATENCY)
		raidtrace_count_i2d(engine->account, issue.direction,
				    now_ns - request->inserted_ns);
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
	struct raidtrace_issued *request = find_request(engine, HAS_REQUESTS, record[2],
							HOLDS_INSERT);
	struct raidtrace_hwq_issue *issue;

	if (!request)
		return;
	issue = &engine->hwqs->issue[request - engine->requests];
	if (request->progress == RAIDTRACE_IN_FLIGHT)
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
	struct raidtrace_issued *request = find_request(engine, HAS_REQUESTS, record[2],
							HOLDS_NOTHING);

	if (request && request->progress == RAIDTRACE_IN_FLIGHT && !(record[1] & RAIDTRACE_EVENT_PART))
		raidtrace_hwq_count_end(engine->hwqs, engine->account, now_ns, cpu,
					&engine->hwqs->issue[request - engine->requests]);
}

static void engine_requeue(struct raidtrace_engine *engine, const u64 *record, u32 groups,
			   u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, groups, record[2], HOLDS_NOTHING);

	if (!request || request->progress != RAIDTRACE_IN_FLIGHT) {
		engine->account->flow[raidtrace_event_direction(record[1])].requeued_unissued++;
		return;
	}
	spend_at(engine, groups, now_ns, 1);
	raidtrace_count_requeue(&engine->queue, engine->account, now_ns, request->direction);
	if (groups & RAIDTRACE_GROUP_LATENCY)
		begin_wait(engine, now_ns);
	request->progress = RAIDTRACE_REQUEUED;
}

static void count_part(struct raidtrace_account *account, struct raidtrace_issued *request,
		       u64 head)
{
	bool known = request && request->progress == RAIDTRACE_IN_FLIGHT;
	struct raidtrace_flow *flow = &account->flow[known ? request->direction :
						     raidtrace_event_direction(head)];

	flow->partial++;
	flow->errors += !!(head & RAIDTRACE_EVENT_ERROR);
	if (!known)
		return;
	flow->bytes_completed += raidtrace_event_bytes(head);
	request->bytes -= raidtrace_event_bytes(head);
}

/*
 * Count the last completion of a request that is not in flight. It is the second end of a flush
 * sequence. Otherwise its issue was not observed if the driver had it, and it had no issue if not.
 */
static void end_aside(struct raidtrace_account *account, const struct raidtrace_issued *request,
		      u64 head)
{
	bool failed = request && request->progress == RAIDTRACE_FAILED;
	bool sequenced = failed || (request && request->progress == RAIDTRACE_SEQUENCED);
	struct raidtrace_flow *flow = &account->flow[sequenced ? request->direction :
						     raidtrace_event_direction(head)];

	flow->errors += head & RAIDTRACE_EVENT_ERROR && !failed;
	if (sequenced)
		return;
	if (head & RAIDTRACE_EVENT_STARTED)
		flow->unmatched++;
	else
		flow->unissued++;
}

/* Keep a request that ends in the history if it was slow or fails. */
static noinline void keep_ended(struct raidtrace_history *history, struct raidtrace_ended *known,
				const struct raidtrace_completion *completion, u64 now_ns)
{
	if (!completion->error && completion->d2c_ns < history->slow_ns)
		return;
	known->completed_ns = now_ns;
	known->error = completion->error;
	history->ended[history->nr++ % RAIDTRACE_HISTORY] = *known;
}

static __always_inline void end_request(struct raidtrace_engine *engine,
					struct raidtrace_issued *request, u64 head, u32 groups,
					enum raidtrace_direction direction, u64 now_ns)
{
	if (request && request->progress == RAIDTRACE_IN_FLIGHT) {
		struct raidtrace_completion completion = {
			.direction = direction,
			.bytes = raidtrace_event_bytes(head),
			.error = head & RAIDTRACE_EVENT_ERROR,
			.d2c_ns = now_ns - request->issued_ns,
			.depth_row = request->depth_row,
			.size_row = request->size_row,
			.seek_row = request->seek_row,
			.submitter = groups & RAIDTRACE_GROUP_SUBMITTER ?
				raidtrace_owner_row(&engine->submitters, request->owner) : 0,
		};

		spend_at(engine, groups, now_ns, 1);
		raidtrace_count_completion(&engine->queue, engine->account, groups, now_ns, &completion);
		if (groups & HAS_HISTORY)
			keep_ended(engine->history, known_of(engine, request), &completion, now_ns);
	} else {
		end_aside(engine->account, request, head);
	}
	if (!request)
		return;
	end_requeued(engine, request, groups, now_ns);
	if (groups & HAS_HISTORY)
		*known_of(engine, request) = (struct raidtrace_ended){};
	request->progress = RAIDTRACE_NOT_ISSUED;
	request->inserted_ns = 0;
	if (head & RAIDTRACE_EVENT_SEQUENCE)
		request->progress = head & RAIDTRACE_EVENT_ERROR ? RAIDTRACE_FAILED :
								   RAIDTRACE_SEQUENCED;
}

/* The completion of a request, NULL for an unknown one. @direction: of its issue, if it is in flight. */
static __always_inline void count_completion(struct raidtrace_engine *engine, const u64 *record,
					     struct raidtrace_issued *request, u32 groups,
					     enum raidtrace_direction direction, u64 now_ns)
{
	u64 head = record[1];

	if (head & RAIDTRACE_EVENT_PART)
		count_part(engine->account, request, head);
	else
		end_request(engine, request, head, groups, direction, now_ns);
	if (!(groups & RAIDTRACE_GROUPS_BIOS) || !record[3])
		return;
	if (request && request->bio->bio == record[3])
		end_bio(engine, request->bio, head, groups, direction, now_ns);
	else
		end_bio(engine, find_bio(engine, record[3], false), head, groups, direction, now_ns);
}

static void engine_complete(struct raidtrace_engine *engine, const u64 *record, u32 groups, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, groups, record[2], HOLDS_NOTHING);

	count_completion(engine, record, request, groups,
			 request ? request->direction : raidtrace_event_direction(record[1]), now_ns);
}

/*
 * The same for a request of @direction in flight that is at its first place. Returns whether it is
 * one; if not, nothing was counted.
 */
static __always_inline bool engine_complete_known(struct raidtrace_engine *engine, const u64 *record,
						  u32 groups, enum raidtrace_direction direction,
						  u64 now_ns)
{
	struct raidtrace_issued *request;

	request = &engine->requests[home_of(record[2], engine->request_bits)];
	if (request->request != record[2] || request->progress != RAIDTRACE_IN_FLIGHT ||
	    request->direction != direction)
		return false;
	assume(request);
	count_completion(engine, record, request, groups, direction, now_ns);
	return true;
}

/* A merged request is not issued. The next one at its address was neither inserted nor requeued. */
static void engine_merge(struct raidtrace_engine *engine, const u64 *record, u32 groups, u64 now_ns)
{
	struct raidtrace_issued *request = find_request(engine, groups, record[2], HOLDS_NOTHING);

	engine->account->flow[raidtrace_event_direction(record[1])].request_merges++;
	if (!request)
		return;
	request->inserted_ns = 0;
	end_requeued(engine, request, groups, now_ns);
	if (request->progress == RAIDTRACE_REQUEUED)
		request->progress = RAIDTRACE_NOT_ISSUED;
}

static void engine_insert(struct raidtrace_engine *engine, const u64 *record, u32 groups,
			  u64 now_ns)
{
	struct raidtrace_issued *request = NULL;

	engine->account->flow[raidtrace_event_direction(record[1])].inserted++;
	if (groups & (RAIDTRACE_GROUP_LATENCY | HAS_HISTORY))
		request = find_request(engine, groups, record[2], HOLDS_NOTHING);
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

/* Any event. Inline it would cost the frequent ones registers. */
static noinline void engine_other(struct raidtrace_engine *engine, struct raidtrace_source *source,
				  const u64 *record, u64 now_ns)
{
	enum raidtrace_direction direction = raidtrace_event_direction(record[1]);
	u32 groups = engine->queue.groups;

	switch (raidtrace_event_kind(record[1])) {
	case RAIDTRACE_EVENT_QUEUE:
		return engine_queue(engine, source, record, groups, direction, now_ns);
	case RAIDTRACE_EVENT_ISSUE_HWQ:
		issue_on_hwq(engine, source, record, now_ns);
		fallthrough;
	case RAIDTRACE_EVENT_ISSUE:
		return engine_issue(engine, record, groups, direction, now_ns);
	case RAIDTRACE_EVENT_COMPLETE_HWQ:
		end_on_hwq(engine, &source->cpu, record, now_ns);
		fallthrough;
	case RAIDTRACE_EVENT_COMPLETE:
		return engine_complete(engine, record, groups, now_ns);
	case RAIDTRACE_EVENT_COUNT:
		return raidtrace_count_event(engine->account, direction,
					     raidtrace_event_class(record[1]),
					     raidtrace_event_bytes(record[1]));
	case RAIDTRACE_EVENT_INSERT:
		return engine_insert(engine, record, groups, now_ns);
	case RAIDTRACE_EVENT_END:
		return engine_end(engine, record, groups, now_ns);
	case RAIDTRACE_EVENT_ISSUE_BIO:
		if (groups & RAIDTRACE_GROUPS_BIOS)
			engine_issue_bio(engine, record, groups, now_ns);
		return;
	case RAIDTRACE_EVENT_TASK:
		return engine_task(engine, source, record);
	case RAIDTRACE_EVENT_SPLIT:
		if (groups & RAIDTRACE_GROUPS_BIOS)
			engine_split(engine, record, now_ns);
		return;
	case RAIDTRACE_EVENT_MERGE:
		return engine_merge(engine, record, groups, now_ns);
	case RAIDTRACE_EVENT_REQUEUE_HWQ:
		end_on_hwq(engine, NULL, record, now_ns);
		fallthrough;
	case RAIDTRACE_EVENT_REQUEUE:
		return engine_requeue(engine, record, groups, now_ns);
	default:
		return;
	}
}

#define KIND_AND_DIRECTION	255
#define HEAD(kind, direction) \
	(RAIDTRACE_DIRECTION_##direction << RAIDTRACE_EVENT_DIRECTION | RAIDTRACE_EVENT_##kind)

/*
 * Count a record. Returns its words. With @groups, the frequent events of reads and of writes are
 * compiled for these groups: each would otherwise test some ten groups, and compute where the counters
 * of its direction are.
 */
static __always_inline unsigned int count_record(struct raidtrace_engine *engine,
						 struct raidtrace_source *source,
						 const u64 *record, u32 groups)
{
	u64 now_ns = raidtrace_queue_time(&engine->queue, record[0]);

	switch (groups ? record[1] & KIND_AND_DIRECTION : RAIDTRACE_EVENTS) {
	case HEAD(QUEUE, READ):
		engine_queue(engine, source, record, groups, RAIDTRACE_DIRECTION_READ, now_ns);
		return raidtrace_event_words(RAIDTRACE_EVENT_QUEUE);
	case HEAD(QUEUE, WRITE):
		engine_queue(engine, source, record, groups, RAIDTRACE_DIRECTION_WRITE, now_ns);
		return raidtrace_event_words(RAIDTRACE_EVENT_QUEUE);
	case HEAD(ISSUE, READ):
		engine_issue(engine, record, groups, RAIDTRACE_DIRECTION_READ, now_ns);
		return raidtrace_event_words(RAIDTRACE_EVENT_ISSUE);
	case HEAD(ISSUE, WRITE):
		engine_issue(engine, record, groups, RAIDTRACE_DIRECTION_WRITE, now_ns);
		return raidtrace_event_words(RAIDTRACE_EVENT_ISSUE);
	case HEAD(COMPLETE, READ):
		if (engine_complete_known(engine, record, groups, RAIDTRACE_DIRECTION_READ, now_ns))
			return raidtrace_event_words(RAIDTRACE_EVENT_COMPLETE);
		break;
	case HEAD(COMPLETE, WRITE):
		if (engine_complete_known(engine, record, groups, RAIDTRACE_DIRECTION_WRITE, now_ns))
			return raidtrace_event_words(RAIDTRACE_EVENT_COMPLETE);
		break;
	default:
		break;
	}
	engine_other(engine, source, record, now_ns);
	return raidtrace_event_words(raidtrace_event_kind(record[1]));
}

/* The time at @at has changed: restore the order of the heap below it. */
static __always_inline void sift(struct raidtrace_next *next, unsigned int nr, unsigned int at)
{
	struct raidtrace_next moved = next[at];
	unsigned int child;

	while ((child = 2 * at + 1) < nr) {
		child += next[child + 1].time < next[child].time;
		if (next[child].time >= moved.time)
			break;
		next[at] = next[child];
		at = child;
	}
	next[at] = moved;
}

/* Add a source, whose next event is at @time, to a heap of @nr; there are two more places behind it. */
void raidtrace_heap_add(struct raidtrace_next *next, unsigned int nr, u64 time,
			struct raidtrace_source *source)
{
	next[nr + 1].time = ~0ULL;
	next[nr + 2].time = ~0ULL;
	for (; nr && next[(nr - 1) / 2].time > time; nr = (nr - 1) / 2)
		next[nr] = next[(nr - 1) / 2];
	next[nr] = (struct raidtrace_next){ time, source };
}

/* raidtrace_engine_count() for @groups, a constant; 0 for any. */
static __always_inline unsigned int count_events(struct raidtrace_engine *engine,
						 struct raidtrace_next *next, unsigned int nr,
						 u64 until, unsigned int *left, u32 groups)
{
	unsigned int most = *left;

	while (nr && most && next->time <= until) {
		struct raidtrace_source *source = next->source;
		u32 at = source->tail & source->mask, size = source->mask + 1;
		const u64 *first = source->words + at, *record = first, *stop;
		u64 before = until;

		/* Count the events of this source before the first event of the others. */
		before = before < next[1].time ? before : next[1].time;
		before = before < next[2].time ? before : next[2].time;
		stop = first + (source->end - source->tail < size - at ?
				source->end - source->tail : size - at);
		do {
			record += count_record(engine, source, record, groups);
			most--;
		} while (most && record < stop && record[0] <= before);
		at = source->tail + (record - first);
		if (at == source->end) {
			*next = next[nr - 1];
			next[--nr].time = ~0ULL;
		} else {
			next->time = source->words[at & source->mask];
		}
		/* The words before the tail may be written again. */
		smp_store_release(&source->tail, at);
		sift(next, nr, 0);
	}
	*left = most;
	return nr;
}

/*
 * Count the events of @nr sources in order of time: those until @until, CLOCK_MONOTONIC, *@left of
 * them at most, which is decremented. @next is their heap. A late event, written after later ones
 * were counted, counts at the time of the last one. Returns how many sources have more events.
 *
 * The code is compiled for the default groups and for flow alone, too.
 */
unsigned int raidtrace_engine_count(struct raidtrace_engine *engine, struct raidtrace_next *next,
				    unsigned int nr, u64 until, unsigned int *left)
{
	switch (engine->queue.groups) {
	case RAIDTRACE_GROUPS_DEFAULT | HAS_REQUESTS:
		return count_events(engine, next, nr, until, left,
				    RAIDTRACE_GROUPS_DEFAULT | HAS_REQUESTS);
	case RAIDTRACE_GROUP_FLOW | HAS_REQUESTS:
		return count_events(engine, next, nr, until, left,
				    RAIDTRACE_GROUP_FLOW | HAS_REQUESTS);
	default:
		return count_events(engine, next, nr, until, left, 0);
	}
}

/* Begin with nothing in flight; @engine is all zero but for account, tables and place. */
void raidtrace_engine_start(struct raidtrace_engine *engine, u32 groups, u32 streams, u64 now_ns)
{
	engine->reach = PLACES;
	groups |= engine->requests ? HAS_REQUESTS : 0;
	groups |= engine->history ? HAS_HISTORY : 0;
	raidtrace_position_start(&engine->arrival, streams);
	raidtrace_queue_start(&engine->queue, groups, streams, now_ns);
	engine->waited_ns = now_ns;
}

/* Count the time spent at the present depths up to now. */
void raidtrace_engine_advance(struct raidtrace_engine *engine, u64 now_ns)
{
	raidtrace_queue_advance(&engine->queue, engine->account, now_ns);
	spend_waiting(engine, engine->queue.last_ns);
	now_ns = engine->waiting * engine->queue.last_ns;
	engine->account->disk.waiting_sum_ns += engine->wait_ns + now_ns;
	engine->wait_ns = -now_ns;
	if (engine->hwqs)
		raidtrace_hwqs_advance(engine->hwqs, engine->account, engine->queue.last_ns);
}

/* Bios and requests on their way are then of processes without a row. */
static void submitters_reset(struct raidtrace_submitters *submitters)
{
	unsigned int row;

	submitters->replaced = 0;
	for (row = 0; row < RAIDTRACE_SUBMITTERS; row++) {
		submitters->task[row] = (struct raidtrace_task){};
		submitters->queued_ns[row] = 0;
		submitters->generation[row]++;
	}
}

/* Reset, right after an advance, into an account of zeroes. Requests in flight stay known. */
void raidtrace_engine_reset(struct raidtrace_engine *engine)
{
	raidtrace_queue_reset(&engine->queue);
	if (engine->hwqs)
		raidtrace_hwqs_reset(engine->hwqs, engine->account);
	raidtrace_position_start(&engine->arrival, engine->arrival.streams.nr);
	submitters_reset(&engine->submitters);
	engine->table++;
}
