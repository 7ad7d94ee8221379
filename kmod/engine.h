/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine of one disk: takes its events, one after the other, and counts them.
 *
 * It knows the bios between queue and issue and the requests between insert and
 * completion, by their addresses, in two hash tables of a fixed size. An address
 * has one of eight places; of requests in flight, when eight did not do once, one of
 * 64.
 *
 * Plain C: the kernel module and the tests compile this one file. Nothing here
 * locks or reads a clock; the caller does.
 */
#ifndef RAIDTRACE_ENGINE_H
#define RAIDTRACE_ENGINE_H

#include "account.h"
#include "account-hwq.h"
#include "event.h"
#include "history.h"
#include "submitter.h"

/* What needs to know of a request's bios when and as what they were queued. */
#define RAIDTRACE_GROUPS_BIOS \
	(RAIDTRACE_GROUP_LATENCY | RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME)

/* Places for bios, as a power of two. */
#define RAIDTRACE_ENGINE_BIO_BITS	14

/**
 * struct raidtrace_queued - a bio from queue to issue, or to its end
 * @bio: its address, 0 for a free place
 * @queued_ns: when it was queued
 * @pid: the process that queued it
 * @row: of that process
 * @class: what it is for
 * @direction: what it asks for
 *
 * A bio that ends without an event leaves its place behind, until one at the same
 * address takes it over.
 */
struct raidtrace_queued {
	u64 bio;
	u64 queued_ns;
	u32 pid;
	unsigned short row;
	unsigned char class;
	unsigned char direction;
};

/**
 * struct raidtrace_issued - a request that has been seen
 * @request: its address, 0 for a free place
 * @inserted_ns: when it was inserted, 0 when it was not since its last issue
 * @only: its only bio while it is in flight; without an address when it has none or
 *	several, or nothing is known of it
 * @ended: what will be known of it when it ends; its direction is that of the last issue
 * @depth_row: raidtrace_depth_row() of the depth of all that the issue found
 * @class: of the bios told of for the issue to come, RAIDTRACE_CLASSES for none yet
 * @in_flight: issued, and neither completed nor requeued
 * @sequenced: only the end of its flush sequence is to come
 * @requeued: the issue to come is not its first
 *
 * A place stays with its address as long as no other request needs it: the
 * block layer uses the same ones again and again.
 */
struct raidtrace_issued {
	u64 request;
	u64 inserted_ns;
	struct raidtrace_queued only;
	struct raidtrace_ended ended;
	unsigned char depth_row;
	unsigned char class;
	bool in_flight;
	bool sequenced;
	bool requeued;
};

/**
 * struct raidtrace_source - where events come from in the order of their times: a CPU
 * @cpu: that CPU
 * @task: that they are of
 * @row: its row of the table of processes
 * @table: as &raidtrace_engine.table when @row was found
 */
struct raidtrace_source {
	struct raidtrace_cpu cpu;
	struct raidtrace_task task;
	u32 row;
	u32 table;
};

/**
 * struct raidtrace_engine - one disk
 * @arrival: of the disk's bios
 * @queue: of the disk's requests; its groups are what is counted
 * @place: how the disk is cut in parts
 * @account: that is counted in; may be another from event to event
 * @submitters: processes that queued bios
 * @table: moves when a row of @submitters has another process
 * @bios: 1 << RAIDTRACE_ENGINE_BIO_BITS places, NULL when no group needs them
 * @requests: places for requests, NULL for a disk that has none
 * @request_bits: there are 1 << @request_bits
 * @reach: how many places a request may have
 * @history: the last requests
 * @hwqs: the hardware queues, NULL when they are not counted
 */
struct raidtrace_engine {
	struct raidtrace_arrival arrival;
	struct raidtrace_queue queue;
	struct raidtrace_place place;
	struct raidtrace_account *account;
	struct raidtrace_submitters submitters;
	u32 table;
	struct raidtrace_queued *bios;
	struct raidtrace_issued *requests;
	unsigned int request_bits;
	unsigned int reach;
	struct raidtrace_history history;
	struct raidtrace_hwqs *hwqs;
};

void raidtrace_engine_start(struct raidtrace_engine *engine, u32 groups, u32 streams, u64 now_ns);
void raidtrace_engine_take(struct raidtrace_engine *engine, struct raidtrace_source *source,
			   const u64 *record, u64 time_ns);
void raidtrace_engine_advance(struct raidtrace_engine *engine, u64 now_ns);
void raidtrace_engine_reset(struct raidtrace_engine *engine);

#endif /* RAIDTRACE_ENGINE_H */
