/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Client of raidtrace.ko: the kernel's targets and counters as plain structs.
 *
 * Times are CLOCK_MONOTONIC nanoseconds, sectors are 512 bytes.  Functions
 * that return int return 0 or -errno, rt_error() then holds the kernel's own
 * words where it sent some.  A client belongs to one thread.
 */

#ifndef RAIDTRACE_H
#define RAIDTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/raidtrace.h>

#define RT_NAME_MAX	64
#define RT_CGROUP_MAX	256
#define RT_DIRECTIONS	(RAIDTRACE_DIRECTION_MAX + 1)
#define RT_KINDS	(RAIDTRACE_HISTOGRAM_KIND_MAX + 1)
#define RT_CLASSES	(RAIDTRACE_CLASS_MAX + 1)

/*
 * Counters of struct rt_flow that only grow: X(member, tail of the uapi
 * attribute's name).  Member names are the columns of a recording too.
 */
#define RT_FLOW_COUNTERS(X)						\
	X(queued, QUEUED, "queued_bios", "bios",			\
	  "bios queued (Q)")						\
	X(got, GOT, "got_requests", "requests",				\
	  "requests allocated (G)")					\
	X(back_merges, BACK_MERGES, "back_merged_bios", "bios",		\
	  "bios merged at the end of a request (M)")			\
	X(front_merges, FRONT_MERGES, "front_merged_bios", "bios",	\
	  "bios merged at the begin of a request (F)")			\
	X(request_merges, REQUEST_MERGES, "merged_requests", "requests", \
	  "requests merged into another request")			\
	X(splits, SPLITS, "split_bios", "bios",				\
	  "bios split because they were larger than a request may be")	\
	X(inserted, INSERTED, "inserted_requests", "requests",		\
	  "requests inserted into the scheduler (I)")			\
	X(issued, ISSUED, "issued_requests", "requests",		\
	  "requests issued to the driver (D)")				\
	X(requeued, REQUEUED, "requeued_requests", "requests",		\
	  "requests taken back after an issue (R)")			\
	X(requeued_unissued, REQUEUED_UNISSUED, "requeued_unissued_requests", "requests", \
	  "requests requeued that no issue was seen of since attach")	\
	X(completed, COMPLETED, "completed_requests", "requests",	\
	  "requests that ended and whose issue was counted (C)")	\
	X(partial, PARTIAL, "partial_completions", "completions",	\
	  "completions of a part, after which the request went on")	\
	X(errors, ERRORS, "failed_completions", "completions",		\
	  "completions with a status other than success")		\
	X(unmatched, UNMATCHED, "unmatched_requests", "requests",	\
	  "requests that ended but whose issue was not counted")	\
	X(unissued, UNISSUED, "unissued_requests", "requests",		\
	  "requests that ended without having been issued, as an empty flush does") \
	X(abandoned, ABANDONED, "abandoned_requests", "requests",	\
	  "requests whose tag was issued again before they were seen to end") \
	X(bytes_queued, BYTES_QUEUED, "queued_bytes", "bytes",		\
	  "bytes of the bios queued")					\
	X(bytes_issued, BYTES_ISSUED, "issued_bytes", "bytes",		\
	  "bytes of the requests issued")				\
	X(bytes_completed, BYTES_COMPLETED, "completed_bytes", "bytes",	\
	  "bytes completed")						\
	X(sequential, SEQUENTIAL, "sequential_requests", "requests",	\
	  "requests issued that begin where the previous one on the disk ended") \
	X(seek_forward_sectors, SEEK_FORWARD_SECTORS, "seek_forward_sectors", "sectors", \
	  "sum of the distances of requests that begin beyond the previous end") \
	X(seek_backward_sectors, SEEK_BACKWARD_SECTORS, "seek_backward_sectors", "sectors", \
	  "sum of the distances of requests that begin before the previous end") \
	X(d2c_sum_ns, D2C_SUM_NS, "d2c_seconds", "ns",			\
	  "sum of the times from issue to completion")			\
	X(sequential_queued, SEQUENTIAL_QUEUED, "sequential_queued_bios", "bios", \
	  "bios queued that begin where the one before on the disk ended") \
	X(seek_queued_forward_sectors, SEEK_QUEUED_FORWARD_SECTORS, "seek_queued_forward_sectors", "sectors", \
	  "sum of the distances of bios that begin beyond the previous end") \
	X(seek_queued_backward_sectors, SEEK_QUEUED_BACKWARD_SECTORS, "seek_queued_backward_sectors", "sectors", \
	  "sum of the distances of bios that begin before the previous end") \
	X(stream, STREAM, "stream_requests", "requests",		\
	  "requests issued that begin where one of the last streams ended") \
	X(stream_queued, STREAM_QUEUED, "stream_queued_bios", "bios",	\
	  "bios queued that begin where one of the last streams ended")	\
	X(i2d_sum_ns, I2D_SUM_NS, "i2d_seconds", "ns",			\
	  "sum of the times from insert to issue")			\
	X(q2c_sum_ns, Q2C_SUM_NS, "q2c_seconds", "ns",			\
	  "sum of the times from queue to completion, of bios or their pieces") \
	X(q2c_unknown, Q2C_UNKNOWN, "q2c_unknown_pieces", "pieces",	\
	  "pieces of bios that completed and whose queueing was not seen") \
	X(ahead_queued, AHEAD_QUEUED, "ahead_queued_bios", "bios",	\
	  "bios queued that read ahead")				\
	X(bytes_ahead_queued, BYTES_AHEAD_QUEUED, "ahead_queued_bytes", "bytes", \
	  "bytes of the bios that read ahead")				\
	X(reissued, REISSUED, "reissued_requests", "requests",		\
	  "of issued, requests that had been requeued before, whose data and position were counted then") \
	X(refused, REFUSED, "refused_bios", "bios",			\
	  "of queued, bios that were not to wait and would have had to; ABI 1 to 4 did not count them as queued") \
	X(depth_sum_ns, DEPTH_SUM_NS, "in_flight_request_seconds", "ns",	\
	  "time by requests in flight: by the length of the sample their mean; of read, write and all")

/* Counters of struct rt_disk that only grow, as RT_FLOW_COUNTERS. */
#define RT_DISK_COUNTERS(X)						\
	X(plugs, PLUGS, "plugs", "plugs",				\
	  "tasks that began to hold requests back")			\
	X(unplugs_explicit, UNPLUGS_EXPLICIT, "done_unplugs", "unplugs", \
	  "held requests sent because the task was done")		\
	X(unplugs_schedule, UNPLUGS_SCHEDULE, "slept_unplugs", "unplugs", \
	  "held requests sent because the task slept")			\
	X(tag_waits, TAG_WAITS, "tag_waits", "waits",			\
	  "waits for a request because all tags were taken; not counted since ABI 5")		\
	X(ra_sync_sectors, RA_SYNC_SECTORS, "readahead_sync_sectors", "sectors", \
	  "sectors of windows read ahead because a page was missing")	\
	X(ra_async_sectors, RA_ASYNC_SECTORS, "readahead_async_sectors", "sectors", \
	  "sectors of windows read ahead because a marked page was met")	\
	X(streams_forgotten, STREAMS_FORGOTTEN, "forgotten_streams", "streams", \
	  "streams of requests forgotten within a second of their last move, because more began than are remembered") \
	X(streams_forgotten_queued, STREAMS_FORGOTTEN_QUEUED, "forgotten_bio_streams", "streams", \
	  "streams of bios, likewise")

/* Counters of struct rt_origin, as RT_FLOW_COUNTERS. */
#define RT_ORIGIN_COUNTERS(X)						\
	X(queued, QUEUED, "class_queued_bios", "bios",			\
	  "bios queued")						\
	X(bytes_queued, BYTES_QUEUED, "class_queued_bytes", "bytes",	\
	  "bytes of the bios queued")					\
	X(seeks_queued, SEEKS_QUEUED, "class_queued_seeks_bios", "bios", \
	  "bios queued elsewhere than where the one before ended")	\
	X(issued, ISSUED, "class_issued_requests", "requests",		\
	  "requests issued")						\
	X(bytes_issued, BYTES_ISSUED, "class_issued_bytes", "bytes",	\
	  "bytes of the requests issued")				\
	X(seeks, SEEKS, "class_seeks_requests", "requests",		\
	  "requests issued elsewhere than where the one before ended")	\
	X(seek_sectors, SEEK_SECTORS, "class_seek_sectors", "sectors",	\
	  "sum of the distances of these seeks, forward and backward")

/* Counters of struct rt_submitter, as RT_FLOW_COUNTERS; the metric is that of the cgroup they are charged to. */
#define RT_SUBMITTER_COUNTERS(X)					\
	X(queued, QUEUED, "cgroup_queued_bios", "bios",			\
	  "bios that it queued")					\
	X(bytes_queued, BYTES_QUEUED, "cgroup_queued_bytes", "bytes",	\
	  "their bytes")						\
	X(seeks_queued, SEEKS_QUEUED, "cgroup_queued_seeks_bios", "bios", \
	  "bios queued elsewhere than where the one before on the disk ended")

/* Counters of struct rt_hwq, as RT_FLOW_COUNTERS. */
#define RT_HWQ_COUNTERS(X)						\
	X(issued, ISSUED, "hwq_issued_requests", "requests",		\
	  "requests issued")						\
	X(completed_same_cpu, COMPLETED_SAME_CPU, "hwq_completed_same_cpu_requests", "requests", \
	  "requests that ended on the CPU that issued them")		\
	X(completed_other_cpu, COMPLETED_OTHER_CPU, "hwq_completed_other_cpu_requests", "requests", \
	  "requests that ended on another CPU of the same NUMA node")	\
	X(completed_other_node, COMPLETED_OTHER_NODE, "hwq_completed_other_node_requests", "requests", \
	  "requests that ended on a CPU of another NUMA node")		\
	X(returned, RETURNED, "hwq_returned_requests", "requests",	\
	  "issues that were undone: requeued or abandoned")		\
	X(depth_sum_ns, DEPTH_SUM_NS, "hwq_in_flight_request_seconds", "ns", \
	  "time by requests in flight: by the length of the sample their mean")

/**
 * enum rt_counter - counters of struct rt_flow, for sets of them
 * @RT_COUNTER_IN_FLIGHT: in_flight, in_flight_max and what is made of them
 *
 * The others are those of RT_FLOW_COUNTERS.
 */
enum rt_counter {
#define X(member, attribute, ...) RT_COUNTER_##attribute,
	RT_FLOW_COUNTERS(X)
#undef X
	RT_COUNTER_IN_FLIGHT,
};

/**
 * enum rt_disk_counter - counters of struct rt_disk, for sets of them
 * @RT_DISK_STREAMS_ALIVE: streams_alive
 * @RT_DISK_STREAMS_ALIVE_QUEUED: streams_alive_queued
 *
 * The others are those of RT_DISK_COUNTERS.
 */
enum rt_disk_counter {
#define X(member, attribute, ...) RT_DISK_##attribute,
	RT_DISK_COUNTERS(X)
#undef X
	RT_DISK_STREAMS_ALIVE,
	RT_DISK_STREAMS_ALIVE_QUEUED,
};

#define RT_DISK_BIT(counter)	((uint32_t)1 << RT_DISK_##counter)
#define RT_COUNTER_BIT(counter)	((uint64_t)1 << RT_COUNTER_##counter)

/**
 * struct rt_flow - events of one direction; Documentation/counters.rst says
 *	exactly when each counter moves
 * @in_flight: requests in flight at the end of the span, not a difference
 * @in_flight_max: highest depth since attach or reset, not a difference
 * @depth_sum_ns: of reads, writes and all together alone, 0 else
 *
 * The members made by RT_FLOW_COUNTERS are events or, where the name says so,
 * bytes, sectors or nanoseconds.
 */
struct rt_flow {
#define X(member, attribute, ...) uint64_t member;
	RT_FLOW_COUNTERS(X)
#undef X
	uint32_t in_flight;
	uint32_t in_flight_max;
};

/**
 * struct rt_disk - events that have no direction
 * @unknown: RT_DISK_BIT() of each member that the source cannot tell; it is 0
 * @streams_alive: streams of requests that were continued, where the span ends
 * @streams_alive_queued: streams of bios, likewise
 *
 * The other members are made by RT_DISK_COUNTERS.
 */
struct rt_disk {
	uint32_t unknown;
#define X(member, attribute, ...) uint64_t member;
	RT_DISK_COUNTERS(X)
#undef X
	uint32_t streams_alive;
	uint32_t streams_alive_queued;
};

/**
 * struct rt_origin - bios and requests of one class; the members are made by
 *	RT_ORIGIN_COUNTERS
 */
struct rt_origin {
#define X(member, attribute, ...) uint64_t member;
	RT_ORIGIN_COUNTERS(X)
#undef X
};

/**
 * struct rt_submitter - bios of one process
 * @index: row of the module's table
 * @rest: the row of all that found the table full; it has no process
 * @pid: the process
 * @comm: name of the thread
 * @cgroup: cgroup that the bios are charged to, by its inode; 0 for nobody's, or when read
 *	from a recording
 * @path: of the cgroup, which who samples finds out; "" when not known
 *
 * The other members are made by RT_SUBMITTER_COUNTERS.
 */
struct rt_submitter {
	uint32_t index;
	bool rest;
	uint32_t pid;
	char comm[16];
	uint64_t cgroup;
	char path[RT_CGROUP_MAX];
#define X(member, attribute, ...) uint64_t member;
	RT_SUBMITTER_COUNTERS(X)
#undef X
};

/* Hardware queues of a disk that are counted apart, and the row of all others. */
#define RT_HWQS		(RAIDTRACE_HWQ_REST + 1)

/**
 * struct rt_hwq - requests of one hardware queue
 * @in_flight: requests in flight at the end of the span, not a difference
 * @in_flight_max: highest depth since attach or reset, not a difference
 *
 * The other members are made by RT_HWQ_COUNTERS.
 */
struct rt_hwq {
#define X(member, attribute, ...) uint64_t member;
	RT_HWQ_COUNTERS(X)
#undef X
	uint32_t in_flight;
	uint32_t in_flight_max;
};

/* rt_hwq_completed - how many requests of a hardware queue ended, wherever */
static inline uint64_t rt_hwq_completed(const struct rt_hwq *hwq)
{
	return hwq->completed_same_cpu + hwq->completed_other_cpu +
	       hwq->completed_other_node;
}

/**
 * struct rt_histogram - bins of one direction and kind, trimmed
 * @first_bin: index of counts[0]
 * @nr_bins: how many there are, 0 for an empty histogram
 * @counts: events, or nanoseconds for the depth-time kind
 */
struct rt_histogram {
	unsigned int first_bin;
	unsigned int nr_bins;
	uint64_t *counts;
};

/**
 * struct rt_counters - what happened on one target in (since_ns, now_ns]
 * @id: the target
 * @snapshot: the module's number of the snapshot where the span ends, 0 for none
 * @since_ns: where the span begins
 * @now_ns: where it ends
 * @resets: how often the target had been reset by @now_ns
 * @gone: the disk was removed
 * @readahead_sectors: of the disk at @now_ns
 * @groups: enum raidtrace_group flags of what the source counts at all; of the
 *	others nothing is known. 0 when the source does not say
 * @unknown: counters that the source cannot tell, RT_COUNTER_BIT() of each;
 *	they are 0 in @flow, and histograms of them are empty
 * @disk: what has no direction
 * @origin: by enum raidtrace_class; known with the group origin
 * @nr_submitters: how many there are in @submitters
 * @submitters: processes in the order of their index; known with the group
 *	submitter
 * @nr_hwqs: one more than the highest row of @hwq that is not zero
 * @hwq: by number of the hardware queue, the last row those of all higher numbers; known
 *	with the group hwq
 * @flow: by enum raidtrace_direction; of RAIDTRACE_DIRECTION_ALL only the
 *	in-flight members and depth_sum_ns are kept
 * @histogram: by direction and enum raidtrace_histogram_kind
 */
struct rt_counters {
	uint32_t id;
	uint64_t snapshot;
	uint64_t since_ns;
	uint64_t now_ns;
	uint32_t resets;
	bool gone;
	uint64_t readahead_sectors;
	uint32_t groups;
	uint64_t unknown;
	struct rt_disk disk;
	struct rt_origin origin[RT_CLASSES];
	size_t nr_submitters;
	struct rt_submitter *submitters;
	unsigned int nr_hwqs;
	struct rt_hwq hwq[RT_HWQS];
	struct rt_flow flow[RT_DIRECTIONS];
	struct rt_histogram histogram[RT_DIRECTIONS][RT_KINDS];
};

/**
 * struct rt_info - the module
 * @abi: RAIDTRACE_ABI it was built with
 * @version: its version
 * @nr_targets: targets there are
 * @max_targets: targets there can be
 * @now_ns: the kernel's clock when it answered
 * @unavailable: tracepoints this kernel lacks, separated by blanks
 */
struct rt_info {
	uint32_t abi;
	char version[RT_NAME_MAX];
	uint32_t nr_targets;
	uint32_t max_targets;
	uint64_t now_ns;
	char unavailable[4 * RT_NAME_MAX];
};

#define RT_DRIVER_3WARE	"3w-9xxx"

/**
 * struct rt_parents - devices above a disk
 * @driver: of the PCI device, or of the nearest parent that has one; "" for none
 * @pci: address of the PCI device, "" for none
 * @hctl: SCSI host:channel:id:lun, "" when it is not SCSI
 * @unit_3ware: it is a unit of a controller driven by 3w-9xxx
 */
struct rt_parents {
	char driver[RT_NAME_MAX];
	char pci[RT_NAME_MAX];
	char hctl[RT_NAME_MAX];
	bool unit_3ware;
};

/**
 * rt_parents_read - find the devices above a disk
 * @disk: the disk's directory in sysfs
 * @ret: filled in, all "" when nothing is known
 */
void rt_parents_read(const char *disk, struct rt_parents *ret);

/**
 * struct rt_target - one traced disk
 * @id: never used twice while the module is loaded
 * @major: of the whole disk
 * @minor: of the whole disk
 * @disk: its name without /dev/
 * @above: the devices above it; unknown when it is gone
 * @gone: the disk was removed, its counters are kept
 * @name_only: nothing is known but @id, @disk and @attached_ns, because it
 *	comes from a trace
 * @bio_based: md or dm
 * @rotational: as the block layer has it
 * @capacity_sectors: size of the disk
 * @readahead_sectors: as blockdev --getra prints it
 * @max_sectors: largest request the block layer builds
 * @max_hw_sectors: largest request the driver takes
 * @max_segments: most memory segments of a request
 * @nr_requests: of the queue
 * @nr_hw_queues: hardware queues that a processor uses
 * @nr_tags: tags per hardware queue
 * @attached_ns: when counting began
 * @groups: what is counted, enum raidtrace_group flags
 * @streams: streams that are remembered, 0 for none
 * @place_sectors: sectors per bin of the histogram place, 0 for none
 */
struct rt_target {
	uint32_t id;
	uint32_t major;
	uint32_t minor;
	char disk[RT_NAME_MAX];
	struct rt_parents above;
	bool gone;
	bool name_only;
	bool bio_based;
	bool rotational;
	uint64_t capacity_sectors;
	uint64_t readahead_sectors;
	uint32_t max_sectors;
	uint32_t max_hw_sectors;
	uint32_t max_segments;
	uint32_t nr_requests;
	uint32_t nr_hw_queues;
	uint32_t nr_tags;
	uint64_t attached_ns;
	uint32_t groups;
	uint32_t streams;
	uint64_t place_sectors;
};

/**
 * struct rt_extent - a range of a disk
 * @sector: where it begins, from the beginning of the whole disk
 * @nr_sectors: how long it is
 */
struct rt_extent {
	uint64_t sector;
	uint64_t nr_sectors;
};

/* What is counted of a disk when no groups are named. */
#define RT_GROUPS_DEFAULT	(2 * RAIDTRACE_GROUP_READAHEAD - 1)

/**
 * struct rt_options - how a disk is to be counted; all zero for the defaults
 * @groups: enum raidtrace_group flags, 0 for all but RAIDTRACE_GROUP_HWQ
 * @streams: streams to remember, 0 for the module's default
 * @history: keep the last requests that failed or took at least @history_ns
 * @history_ns: nanoseconds from issue to completion
 * @nr_journal: how many there are in @journal
 * @journal: sectors of a filesystem's journal
 */
struct rt_options {
	uint32_t groups;
	uint32_t streams;
	bool history;
	uint64_t history_ns;
	size_t nr_journal;
	const struct rt_extent *journal;
};

/**
 * struct rt_ended - a request that ended
 * @number: how many had ended with it since the disk was attached; numbers that are
 *	left out were lost
 * @queued_ns: when the first of its bios was queued, 0: none was observed
 * @inserted_ns: when it was inserted, 0 when it was not
 * @issued_ns: its last issue
 * @completed_ns: its end
 * @sector: where it begins
 * @bytes: issued
 * @direction: enum raidtrace_direction
 * @class_: enum raidtrace_class
 * @depth: requests in flight that its issue found
 * @known: @pid is known
 * @pid: the process that queued the first bio
 * @comm: its name, "" when that is not known any more
 * @error: its status was not success
 * @again: it was requeued and issued again
 */
struct rt_ended {
	uint64_t number;
	uint64_t queued_ns;
	uint64_t inserted_ns;
	uint64_t issued_ns;
	uint64_t completed_ns;
	uint64_t sector;
	uint32_t bytes;
	uint32_t direction;
	uint32_t class_;
	uint32_t depth;
	bool known;
	uint32_t pid;
	char comm[16];
	bool error;
	bool again;
};

/* Requests of one answer at most. */
#define RT_HISTORY_MOST	64

/**
 * struct rt_history - a part of the last requests of a disk that ended
 * @total: how many ended since it was attached
 * @nr: how many there are in @ended
 * @ended: in the order of their ends
 */
struct rt_history {
	uint64_t total;
	size_t nr;
	struct rt_ended ended[RT_HISTORY_MOST];
};

struct rt_client;

/* client.c: netlink; reply.c takes the answers apart */

/**
 * rt_open - connect to the module
 * @ret: the connection, to be given to rt_close()
 *
 * Return: 0; -ENOENT when no module offers the family; another -errno.
 */
int rt_open(struct rt_client **ret);

/**
 * rt_close - end a connection
 * @client: of rt_open(), may be NULL
 */
void rt_close(struct rt_client *client);

/**
 * rt_error - the kernel's explanation of the last failure
 * @client: the connection
 *
 * Return: text without a newline, "" when the kernel gave none.
 */
const char *rt_error(const struct rt_client *client);

/**
 * rt_target_add - begin to count a disk
 * @client: the connection
 * @fd: of a whole disk, open for reading; may be closed afterwards
 * @options: how to count it, NULL for the defaults
 * @ret: filled in with what the module says of it
 *
 * Return: 0; -EEXIST when it is a target already; another -errno.
 */
int rt_target_add(struct rt_client *client, int fd,
		  const struct rt_options *options, struct rt_target *ret);

/**
 * rt_info_get - what the module says of itself
 * @client: the connection
 * @ret: filled in
 *
 * Return: 0 or -errno.
 */
int rt_info_get(struct rt_client *client, struct rt_info *ret);

/**
 * rt_target_del - count a disk no longer
 * @client: the connection
 * @id: of the target
 *
 * Return: 0; -ENOENT when there is no such target; another -errno.
 */
int rt_target_del(struct rt_client *client, uint32_t id);

/**
 * rt_target_reset - count a disk from zero again
 * @client: the connection
 * @id: of the target
 *
 * Return: 0; -ENOENT when there is no such target; another -errno.
 */
int rt_target_reset(struct rt_client *client, uint32_t id);

/**
 * rt_target_set_journal - where the journal of the filesystem on a target is
 * @client: the connection
 * @id: the target
 * @journal: ranges of the disk, in the place of those known so far
 * @nr: how many, 0 for none
 *
 * Return: 0 or -errno.
 */
int rt_target_set_journal(struct rt_client *client, uint32_t id,
			  const struct rt_extent *journal, size_t nr);

/**
 * rt_target_list - all targets in the order of their ids
 * @client: the connection
 * @nr: how many
 * @ret: array to free(), NULL when there are none
 *
 * Return: 0 or -errno.
 */
int rt_target_list(struct rt_client *client, size_t *nr,
		   struct rt_target **ret);

/**
 * rt_counters_get - one consistent snapshot
 * @client: the connection
 * @id: target
 * @ret: to be given to rt_counters_free(), of the span since attach or reset
 *
 * Return: 0; -ENOENT when there is no such target; -ENOMEM; another -errno.
 */
int rt_counters_get(struct rt_client *client, uint32_t id,
		    struct rt_counters *ret);

/**
 * rt_counters_advance - one consistent snapshot, and what happened until then
 * @client: the connection
 * @id: target
 * @last: an earlier snapshot of it, or where counting began; becomes this one
 * @span: what happened since, to be given to rt_counters_free(). Of a target that
 *	was reset meanwhile it begins at the reset, and @last has another @resets
 *
 * Costs by what changed, not by what there is.
 *
 * Return: 0; -ENOENT when there is no such target; -ENOMEM; another -errno. On
 * failure @last is as it was, there is no span, and it can be tried again.
 */
int rt_counters_advance(struct rt_client *client, uint32_t id,
			struct rt_counters *last, struct rt_counters *span);

/**
 * rt_history_get - the next requests of a disk that ended
 * @client: the connection
 * @id: the target
 * @after: number of the last one that is known, 0 for none
 * @ret: filled in; none in it means that there are no more for now
 *
 * Return: 0; -EOPNOTSUPP for a disk without requests; another -errno.
 */
int rt_history_get(struct rt_client *client, uint32_t id, uint64_t after,
		   struct rt_history *ret);

/* counters.c: arithmetic on snapshots */

/**
 * rt_counters_free - give back what counters have allocated
 * @counters: are all zero afterwards
 */
void rt_counters_free(struct rt_counters *counters);

/**
 * rt_counters_delta - what happened between two snapshots of one target
 * @from: the earlier
 * @to: the later, with the same number of resets
 * @ret: the difference, spans (from->now_ns, to->now_ns]; the in-flight
 *	members are those of @to
 *
 * Return: 0; -ENOMEM; -ERANGE when a counter went backwards.
 */
int rt_counters_delta(const struct rt_counters *from,
		      const struct rt_counters *to, struct rt_counters *ret);

/**
 * rt_counters_add - extend a span by the one that follows it
 * @sum: what is extended; may be all zero at first
 * @next: what is added
 *
 * Return: 0 or -ENOMEM, @sum is then unusable but can be freed.
 */
int rt_counters_add(struct rt_counters *sum, const struct rt_counters *next);

/**
 * rt_histogram_count - add to one bin, growing the histogram as needed
 * @histogram: what is changed
 * @bin: index
 * @count: what is added
 *
 * Return: 0 or -ENOMEM.
 */
int rt_histogram_count(struct rt_histogram *histogram, unsigned int bin,
		       uint64_t count);

/**
 * rt_histogram_sum - of all bins
 * @histogram: may be empty
 */
uint64_t rt_histogram_sum(const struct rt_histogram *histogram);

/**
 * rt_histogram_view - bins of an account as a histogram, without copying them
 * @counts: all bins
 * @nr: how many
 *
 * Return: the bins from the first to the last that is not zero; valid as long
 * as @counts, not to be changed or freed.
 */
struct rt_histogram rt_histogram_view(const uint64_t *counts, unsigned int nr);

/**
 * rt_counters_check - do the numbers of a span agree with each other?
 * @counters: the span
 * @in_flight_before: requests in flight where it begins, by direction
 * @text: the first that does not hold, untouched when all do
 * @size: of @text
 *
 * Checked: issued + in flight before = completed + requeued + in flight
 * after, each size histogram sums to issued, each depth-time histogram to the
 * length of the span.
 *
 * Return: whether all hold.
 */
bool rt_counters_check(const struct rt_counters *counters,
		       const uint32_t in_flight_before[RT_DIRECTIONS],
		       char *text, size_t size);

/**
 * rt_direction_name - as in the netlink spec, NULL when there is no such
 * @direction: enum raidtrace_direction
 */
const char *rt_direction_name(unsigned int direction);

/**
 * rt_class_name - as in the netlink spec, NULL when there is no such
 * @class_: enum raidtrace_class
 */
const char *rt_class_name(unsigned int class_);

/**
 * rt_group_name - as in the netlink spec, NULL when there is no such
 * @index: of the flag in enum raidtrace_group, from 0
 */
const char *rt_group_name(unsigned int index);

/**
 * rt_kind_name - as in the netlink spec but with underscores, NULL likewise
 * @kind: enum raidtrace_histogram_kind
 */
const char *rt_kind_name(unsigned int kind);

/* signing.c: which modules this kernel takes */

/**
 * struct rt_signing - what a kernel asks of a module; -1 where it is not known
 * @enforced: signed modules alone are taken: module.sig_enforce
 * @lockdown: 0 none, 1 integrity, 2 confidentiality; from 1 on as @enforced
 * @secure_boot: the firmware's secure boot is on
 * @key: private key that DKMS signs with, "" for none
 * @cert: its certificate, "" for none
 */
struct rt_signing {
	int enforced;
	int lockdown;
	int secure_boot;
	char key[128];
	char cert[128];
};

/**
 * rt_signing_read - look at this machine
 * @root: directory in front of every path, "" for the machine itself
 * @ret: filled in
 */
void rt_signing_read(const char *root, struct rt_signing *ret);

/**
 * rt_signing_needed - does the kernel refuse a module that is not signed by a key it has?
 * @signing: of rt_signing_read()
 */
bool rt_signing_needed(const struct rt_signing *signing);

/**
 * rt_signing_why - what asks for signed modules, "secure boot, lockdown integrity"
 * @signing: of rt_signing_read()
 * @ret: the text
 * @size: of @ret
 */
void rt_signing_why(const struct rt_signing *signing, char *ret, size_t size);

/**
 * rt_signing_advice - the commands that make a module loadable
 * @signing: what the kernel asks
 * @file: the module, NULL where it is not known
 * @signer: who signed it, NULL for nobody
 * @ret: text, one line
 * @size: of @ret
 */
void rt_signing_advice(const struct rt_signing *signing, const char *file,
		       const char *signer, char *ret, size_t size);

/**
 * rt_signing_enrolled - does the kernel have a key of that signer?
 * @root: where proc and sys lie, "" but for tests
 * @signer: as a signed module names it
 *
 * Return: 0 or 1; -1 when it does not tell.
 */
int rt_signing_enrolled(const char *root, const char *signer);

/* module.c: libkmod */

/**
 * rt_module_loaded - is there a module of that name, and in which state?
 *
 * Return: 1 loaded, 0 not loaded, -errno.
 */
int rt_module_loaded(void);

/**
 * rt_module_find - the module that rt_module_load() would take
 * @path: module file, NULL for the one under /lib/modules
 * @file: its path, "" when there is none
 * @size: of @file
 * @signer: who signed it, "" for nobody
 * @signer_size: of @signer
 *
 * Return: 0; -ENOENT when there is none; another -errno.
 */
int rt_module_find(const char *path, char *file, size_t size, char *signer,
		   size_t signer_size);

/**
 * rt_module_load - insert raidtrace
 * @path: module file, NULL for the one under /lib/modules
 * @text: why it failed, for people
 * @size: of @text
 *
 * Return: 0; -EEXIST when it is loaded already; another -errno.
 */
int rt_module_load(const char *path, char *text, size_t size);

/**
 * rt_module_unload - remove raidtrace
 *
 * Return: 0; -ENOENT when it is not loaded; -EBUSY when in use; -errno.
 */
int rt_module_unload(void);

#endif
