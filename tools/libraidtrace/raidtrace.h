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
	X(queued, QUEUED, "bios",					\
	  "bios queued (Q)")						\
	X(got, GOT, "requests",						\
	  "requests allocated (G)")					\
	X(back_merges, BACK_MERGES, "bios",				\
	  "bios merged at the end of a request (M)")			\
	X(front_merges, FRONT_MERGES, "bios",				\
	  "bios merged at the beginning of a request (F)")			\
	X(request_merges, REQUEST_MERGES, "requests",			\
	  "requests merged into another request")			\
	X(splits, SPLITS, "bios",					\
	  "bios split because they were larger than a request may be")	\
	X(inserted, INSERTED, "requests",				\
	  "requests inserted into the scheduler (I)")			\
	X(issued, ISSUED, "requests",					\
	  "requests issued to the driver (D)")				\
	X(requeued, REQUEUED, "requests",				\
	  "requests taken back after an issue (R)")			\
	X(requeued_unissued, REQUEUED_UNISSUED, "requests",		\
	  "requests requeued without an observed issue since attach")	\
	X(completed, COMPLETED, "requests",				\
	  "requests ended whose issue was counted (C)")	\
	X(partial, PARTIAL, "completions",				\
	  "completions of a part of a request, which continues")	\
	X(errors, ERRORS, "completions",				\
	  "completions with a status other than success")		\
	X(unmatched, UNMATCHED, "requests",				\
	  "requests ended whose issue was not counted")	\
	X(unissued, UNISSUED, "requests",				\
	  "requests ended that were never issued, such as empty flushes") \
	X(abandoned, ABANDONED, "requests",				\
	  "requests of which no end was observed before their tag was issued again") \
	X(bytes_queued, BYTES_QUEUED, "bytes",				\
	  "bytes of the bios queued")					\
	X(bytes_issued, BYTES_ISSUED, "bytes",				\
	  "bytes of the requests issued")				\
	X(bytes_completed, BYTES_COMPLETED, "bytes",			\
	  "bytes completed")						\
	X(sequential, SEQUENTIAL, "requests",				\
	  "requests issued that begin where the previous one on the disk ended") \
	X(seek_forward_sectors, SEEK_FORWARD_SECTORS, "sectors",	\
	  "sum of the distances of requests that begin beyond the previous end") \
	X(seek_backward_sectors, SEEK_BACKWARD_SECTORS, "sectors",	\
	  "sum of the distances of requests that begin before the previous end") \
	X(d2c_sum_ns, D2C_SUM_NS, "ns",					\
	  "sum of the times from issue to completion")			\
	X(sequential_queued, SEQUENTIAL_QUEUED, "bios",			\
	  "bios queued that begin where the previous one on the disk ended") \
	X(seek_queued_forward_sectors, SEEK_QUEUED_FORWARD_SECTORS, "sectors",	\
	  "sum of the distances of bios that begin beyond the previous end") \
	X(seek_queued_backward_sectors, SEEK_QUEUED_BACKWARD_SECTORS, "sectors",	\
	  "sum of the distances of bios that begin before the previous end") \
	X(stream, STREAM, "requests",					\
	  "requests issued that begin where one of the last streams ended") \
	X(stream_queued, STREAM_QUEUED, "bios",				\
	  "bios queued that begin where one of the last streams ended")	\
	X(i2d_sum_ns, I2D_SUM_NS, "ns",					\
	  "sum of the times from insert to issue")			\
	X(q2c_sum_ns, Q2C_SUM_NS, "ns",					\
	  "sum of the times from queue to completion, of bios or their pieces") \
	X(q2c_unknown, Q2C_UNKNOWN, "pieces",				\
	  "pieces of bios completed that were not observed when they were queued") \
	X(ahead_queued, AHEAD_QUEUED, "bios",				\
	  "bios queued that read ahead")				\
	X(bytes_ahead_queued, BYTES_AHEAD_QUEUED, "bytes",		\
	  "bytes of the bios that read ahead")				\
	X(reissued, REISSUED, "requests",				\
	  "requests among issued that had been requeued; bytes and positions were counted at their first issue") \
	X(refused, REFUSED, "bios",					\
	  "bios among queued that ended at once, as they were not allowed to wait; "	\
	  "ABI 1 to 4 did not count them as queued")			\
	X(depth_sum_ns, DEPTH_SUM_NS, "ns",				\
	  "time multiplied by requests in flight; divided by the length of the sample, the mean depth; " \
	  "of read, write and all")

/* Counters of struct rt_disk that only grow, as RT_FLOW_COUNTERS. */
#define RT_DISK_COUNTERS(X)						\
	X(plugs, PLUGS, "plugs",					\
	  "times that a task began to collect requests")			\
	X(unplugs_explicit, UNPLUGS_EXPLICIT, "unplugs",		\
	  "collected requests sent because the task submitted its last one")		\
	X(unplugs_schedule, UNPLUGS_SCHEDULE, "unplugs",		\
	  "collected requests sent because the task slept")			\
	X(tag_waits, TAG_WAITS, "waits",				\
	  "waits for a request because all tags were taken; not counted since ABI 5")		\
	X(ra_sync_sectors, RA_SYNC_SECTORS, "sectors",			\
	  "sectors of windows read ahead because a page was not in memory")	\
	X(ra_async_sectors, RA_ASYNC_SECTORS, "sectors",		\
	  "sectors of windows read ahead because the program reached a marked page")	\
	X(streams_forgotten, STREAMS_FORGOTTEN, "streams",		\
	  "streams of requests replaced by new ones within a second of their last request") \
	X(streams_forgotten_queued, STREAMS_FORGOTTEN_QUEUED, "streams",	\
	  "streams of bios replaced by new ones within a second of their last bio") \
	X(held_ns, HELD_NS, "ns",					\
	  "time with bios waiting and no request in flight")		\
	X(backlog_ns, BACKLOG_NS, "ns",					\
	  "time with bios waiting and requests in flight")		\
	X(waiting_sum_ns, WAITING_SUM_NS, "ns",				\
	  "time multiplied by bios waiting; divided by the length of the sample, their mean number") \
	X(waiting_unknown, WAITING_UNKNOWN, "bios",			\
	  "bios queued that are not among those waiting, as there was no room for them")

/* Counters of struct rt_origin, as RT_FLOW_COUNTERS. */
#define RT_ORIGIN_COUNTERS(X)						\
	X(queued, QUEUED, "bios",					\
	  "bios queued")						\
	X(bytes_queued, BYTES_QUEUED, "bytes",				\
	  "bytes of the bios queued")					\
	X(seeks_queued, SEEKS_QUEUED, "bios",				\
	  "bios queued that do not begin where the previous one ended")	\
	X(issued, ISSUED, "requests",					\
	  "requests issued")						\
	X(bytes_issued, BYTES_ISSUED, "bytes",				\
	  "bytes of the requests issued")				\
	X(seeks, SEEKS, "requests",					\
	  "requests issued that do not begin where the previous one ended")	\
	X(seek_sectors, SEEK_SECTORS, "sectors",			\
	  "sum of the distances of these seeks, forward and backward")

/* Counters of struct rt_submitter, as RT_FLOW_COUNTERS. */
#define RT_SUBMITTER_COUNTERS(X)					\
	X(queued, QUEUED, "bios",					\
	  "bios queued by the process")					\
	X(bytes_queued, BYTES_QUEUED, "bytes",				\
	  "their bytes")						\
	X(seeks_queued, SEEKS_QUEUED, "bios",				\
	  "bios queued that do not begin where the previous one on the disk ended") \
	X(completed, COMPLETED, "requests",				\
	  "requests ended whose first bio the process queued")		\
	X(d2c_sum_ns, D2C_SUM_NS, "ns",					\
	  "sum of the times from issue to completion of these requests")

/* Counters of struct rt_hwq, as RT_FLOW_COUNTERS. */
#define RT_HWQ_COUNTERS(X)						\
	X(issued, ISSUED, "requests",					\
	  "requests issued")						\
	X(completed_same_cpu, COMPLETED_SAME_CPU, "requests",		\
	  "requests ended on the CPU that issued them")		\
	X(completed_other_cpu, COMPLETED_OTHER_CPU, "requests",		\
	  "requests ended on another CPU of the same NUMA node")	\
	X(completed_other_node, COMPLETED_OTHER_NODE, "requests",	\
	  "requests ended on a CPU of another NUMA node")		\
	X(returned, RETURNED, "requests",				\
	  "issues that were undone: requeued or abandoned")		\
	X(depth_sum_ns, DEPTH_SUM_NS, "ns",				\
	  "time multiplied by requests in flight; divided by the length of the sample, the mean depth")

/* Counters of struct rt_flow, for sets of them. The others are those of RT_FLOW_COUNTERS. */
enum rt_counter {
#define X(member, attribute, ...) RT_COUNTER_##attribute,
	RT_FLOW_COUNTERS(X)
#undef X
	RT_COUNTER_IN_FLIGHT,	/* in_flight, in_flight_max and values derived from them */
};

/* Counters of struct rt_disk, for sets of them. The others are those of RT_DISK_COUNTERS. */
enum rt_disk_counter {
#define X(member, attribute, ...) RT_DISK_##attribute,
	RT_DISK_COUNTERS(X)
#undef X
	RT_DISK_STREAMS_ALIVE,	/* streams_alive */
	RT_DISK_STREAMS_ALIVE_QUEUED,	/* streams_alive_queued */
};

#define RT_DISK_BIT(counter)	((uint32_t)1 << RT_DISK_##counter)
#define RT_COUNTER_BIT(counter)	((uint64_t)1 << RT_COUNTER_##counter)

/*
 * Events of one direction; Documentation/counters.rst says exactly when each counter moves. The
 * members made by RT_FLOW_COUNTERS are events or, where the name says so, bytes, sectors or
 * nanoseconds.
 */
struct rt_flow {
#define X(member, attribute, ...) uint64_t member;
	RT_FLOW_COUNTERS(X)
#undef X
	uint32_t in_flight;	/* requests in flight at the end of the span, not a difference */
	uint32_t in_flight_max;	/* highest depth since attach or reset, not a difference */
};

/* Events that have no direction. The other members are made by RT_DISK_COUNTERS. */
struct rt_disk {
	uint32_t unknown;	/* RT_DISK_BIT() of each member that is not known; it is 0 */
#define X(member, attribute, ...) uint64_t member;
	RT_DISK_COUNTERS(X)
#undef X
	uint32_t streams_alive;	/* continued streams of requests at the end of the span */
	uint32_t streams_alive_queued;	/* continued streams of bios at the end of the span */
};

/* Bios and requests of one class; the members are made by RT_ORIGIN_COUNTERS. */
struct rt_origin {
#define X(member, attribute, ...) uint64_t member;
	RT_ORIGIN_COUNTERS(X)
#undef X
};

/* Bios and requests of one process. The other members are made by RT_SUBMITTER_COUNTERS. */
struct rt_submitter {
	uint32_t index;	/* row of the module's table */
	bool rest;	/* the row of all processes without a row of their own; it has no process */
	uint32_t pid;	/* the process */
	char comm[16];	/* name of the thread */
	/* cgroup that the bios are charged to, by its inode; 0 for none */
	uint64_t cgroup;
	char path[RT_CGROUP_MAX];	/* of the cgroup, filled in by the caller; "" if not known */
#define X(member, attribute, ...) uint64_t member;
	RT_SUBMITTER_COUNTERS(X)
#undef X
};

/* Hardware queues of a disk that are counted apart, and the row of all others. */
#define RT_HWQS		(RAIDTRACE_HWQ_REST + 1)

/* Requests of one hardware queue. The other members are made by RT_HWQ_COUNTERS. */
struct rt_hwq {
#define X(member, attribute, ...) uint64_t member;
	RT_HWQ_COUNTERS(X)
#undef X
	uint32_t in_flight;	/* requests in flight at the end of the span, not a difference */
	uint32_t in_flight_max;	/* highest depth since attach or reset, not a difference */
};

/* The number of requests of a hardware queue that ended on any CPU. */
static inline uint64_t rt_hwq_completed(const struct rt_hwq *hwq)
{
	return hwq->completed_same_cpu + hwq->completed_other_cpu +
	       hwq->completed_other_node;
}

/* Bins of one direction and kind, trimmed. */
struct rt_histogram {
	unsigned int first_bin;	/* index of counts[0] */
	unsigned int nr_bins;	/* number of bins, 0 for an empty histogram */
	uint64_t *counts;	/* events, or nanoseconds for the depth-time kind */
};

/* Counters of one target in (since_ns, now_ns]. */
struct rt_counters {
	uint32_t id;	/* of the target */
	uint64_t snapshot;	/* the module's number of the snapshot where the span ends, 0 for none */
	uint64_t since_ns;
	uint64_t now_ns;
	uint32_t resets;	/* of the target until @now_ns */
	bool gone;	/* the disk was removed */
	uint64_t readahead_sectors;	/* of the disk at @now_ns */
	/* groups that the source counts, enum raidtrace_group flags; 0 when that is not known */
	uint32_t groups;
	/* RT_COUNTER_BIT() of counters that are not known: they are 0 in @flow, their histograms are empty */
	uint64_t unknown;
	struct rt_disk disk;	/* counters without a direction */
	struct rt_origin origin[RT_CLASSES];	/* by enum raidtrace_class; known with the group origin */
	size_t nr_submitters;
	/* processes in the order of their index; known with the group submitter */
	struct rt_submitter *submitters;
	unsigned int nr_hwqs;	/* one more than the highest row of @hwq that is not zero */
	/*
	 * RT_HWQS rows by number, NULL if @nr_hwqs is 0; the last row is that of all higher numbers; known with the
	 * group hwq
	 */
	struct rt_hwq *hwq;
	/*
	 * by enum raidtrace_direction; of RAIDTRACE_DIRECTION_ALL only the in-flight members and
	 * depth_sum_ns are kept
	 */
	struct rt_flow flow[RT_DIRECTIONS];
	/* by direction and enum raidtrace_histogram_kind */
	struct rt_histogram histogram[RT_DIRECTIONS][RT_KINDS];
};

/* The module. */
struct rt_info {
	uint32_t abi;	/* RAIDTRACE_ABI it was built with */
	char version[RT_NAME_MAX];
	uint32_t nr_targets;
	uint32_t max_targets;
	uint64_t now_ns;	/* the kernel's clock when it answered */
	char unavailable[4 * RT_NAME_MAX];	/* tracepoints this kernel lacks, separated by blanks */
};

#define RT_DRIVER_3WARE	"3w-9xxx"

/* The devices above a disk. */
struct rt_parents {
	/* of the PCI device, or of the nearest parent that has one; "" for none */
	char driver[RT_NAME_MAX];
	char pci[RT_NAME_MAX];	/* address of the PCI device, "" for none */
	char hctl[RT_NAME_MAX];	/* SCSI host:channel:id:lun, "" when it is not SCSI */
	bool unit_3ware;	/* it is a unit of a controller driven by 3w-9xxx */
};

/*
 * Find the devices above a disk. @disk: its directory in sysfs. @ret: filled in; all texts are "" if nothing is known.
 */
void rt_parents_read(const char *disk, struct rt_parents *ret);

/* One traced disk. */
struct rt_target {
	uint32_t id;	/* never used twice while the module is loaded */
	uint32_t major;	/* of the whole disk */
	uint32_t minor;	/* of the whole disk */
	char disk[RT_NAME_MAX];	/* its name without /dev/ */
	struct rt_parents above;	/* not known if the disk is gone */
	bool gone;	/* the disk was removed, its counters are kept */
	/* the target comes from a trace: only @id, @disk and @attached_ns are known */
	bool name_only;
	bool bio_based;	/* md or dm */
	bool rotational;	/* as the block layer reports it */
	uint64_t capacity_sectors;	/* size of the disk */
	uint64_t readahead_sectors;	/* as blockdev --getra prints it */
	uint32_t max_sectors;	/* largest request the block layer builds */
	uint32_t max_hw_sectors;	/* largest request the driver takes */
	uint32_t max_segments;	/* most memory segments of a request */
	uint32_t nr_requests;	/* size of the queue */
	uint32_t nr_hw_queues;	/* hardware queues that a processor uses */
	uint32_t nr_tags;	/* tags per hardware queue */
	uint64_t attached_ns;	/* when counting began */
	uint32_t groups;	/* what is counted, enum raidtrace_group flags */
	uint32_t streams;	/* streams that are remembered, 0 for none */
	uint64_t place_sectors;	/* sectors per bin of the histogram place, 0 for none */
};

/* The kernel's number for the sector of a request without one. */
#define RT_NO_SECTOR	UINT64_MAX

/* A range of a disk. */
struct rt_extent {
	uint64_t sector;	/* first sector, from the start of the whole disk */
	uint64_t nr_sectors;
};

/* Groups that are counted by default. */
#define RT_GROUPS_DEFAULT	(2 * RAIDTRACE_GROUP_READAHEAD - 1)

/* How to count a disk; all zero for the defaults. */
struct rt_options {
	uint32_t groups;	/* enum raidtrace_group flags, 0 for all but RAIDTRACE_GROUP_HWQ */
	uint32_t streams;	/* streams to remember, 0 for the module's default */
	bool history;	/* keep the last requests that failed or took at least @history_ns */
	uint64_t history_ns;	/* nanoseconds from issue to completion */
	size_t nr_journal;
	const struct rt_extent *journal;	/* sectors of a filesystem's journal */
};

/* A request that ended. */
struct rt_ended {
	/* number of requests kept since the attach, with this one; missing numbers were lost */
	uint64_t number;
	uint64_t queued_ns;	/* when the first of its bios was queued, 0 if none was observed */
	uint64_t inserted_ns;	/* time of its insert, 0 if it had none */
	uint64_t issued_ns;	/* time of its last issue */
	uint64_t completed_ns;	/* time of its end */
	uint64_t sector;	/* first sector; RT_NO_SECTOR for flushes and passthrough */
	uint32_t bytes;	/* issued */
	uint32_t direction;	/* enum raidtrace_direction */
	uint32_t class_;	/* enum raidtrace_class */
	uint32_t depth;	/* requests in flight at its issue */
	bool known;	/* @pid is known */
	uint32_t pid;	/* the process that queued the first bio */
	char comm[16];	/* its name, "" if not known any more */
	bool error;	/* its status was not success */
	bool again;	/* it was requeued and issued again */
};

/* Maximum number of requests in one reply. */
#define RT_HISTORY_MOST	64

/* A part of the last requests of a disk that ended. */
struct rt_history {
	uint64_t total;	/* requests kept since it was attached */
	size_t nr;
	struct rt_ended ended[RT_HISTORY_MOST];	/* in the order of their ends */
};

struct rt_client;

/* source.c: a source of counters: the module over netlink (client.c), or BPF programs of this process (door.c) */

/*
 * Connect to the module. @ret: the connection, to be given to rt_close().
 * Return: 0; -ENOENT when no module offers the family; another -errno.
 */
int rt_open(struct rt_client **ret);

/*
 * Count by BPF programs, which end with this process. @ret: to be given to rt_close(). @text: the reason of a failure.
 * Return: 0; -ENOENT if this raidtrace was built without them; another -errno.
 */
int rt_open_bpf(struct rt_client **ret, char *text, size_t size);

/* "module" or "bpf" */
const char *rt_source_name(const struct rt_client *client);

/* End a connection. @client: of rt_open(), may be NULL. */
void rt_close(struct rt_client *client);

/* Return: the kernel's explanation of the last failure without a newline, "" for none. */
const char *rt_error(const struct rt_client *client);

/* Return: the text of rt_error(), or the text of -errno if the kernel gave none. */
const char *rt_reason(const struct rt_client *client, int err);

/*
 * Start counting a disk. @fd: a whole disk, open for reading; may be closed afterwards. @options: NULL for the
 * defaults.
 * Return: 0; -EEXIST if it is a target already; another -errno.
 */
int rt_target_add(struct rt_client *client, int fd,
		  const struct rt_options *options, struct rt_target *ret);

/*
 * The same by the disk's number; the disk need not be opened.
 * Return: as rt_target_add(); -EOPNOTSUPP if the source is the module.
 */
int rt_target_add_number(struct rt_client *client, unsigned int major, unsigned int minor,
			 const struct rt_options *options, struct rt_target *ret);

/* Version and limits of the module. Return: 0 or -errno. */
int rt_info_get(struct rt_client *client, struct rt_info *ret);

/* Stop counting a disk. Return: 0; -ENOENT if there is no such target; another -errno. */
int rt_target_del(struct rt_client *client, uint32_t id);

/* Reset the counters of a disk to zero. Return: 0; -ENOENT if there is no such target; another -errno. */
int rt_target_reset(struct rt_client *client, uint32_t id);

/* Replace the sectors of the journal of a disk's filesystem; @nr may be 0. Return: 0 or -errno. */
int rt_target_set_journal(struct rt_client *client, uint32_t id,
			  const struct rt_extent *journal, size_t nr);

/* All targets in the order of their ids. Return: 0 or -errno. */
int rt_target_list(struct rt_client *client, size_t *nr,
		   struct rt_target **ret);

/*
 * Read one consistent snapshot. @ret: the span since attach or reset, to be given to rt_counters_free().
 * Return: 0; -ENOENT if there is no such target; -ENOMEM; another -errno.
 */
int rt_counters_get(struct rt_client *client, uint32_t id,
		    struct rt_counters *ret);

/*
 * Read one consistent snapshot, and the span since an earlier one. @last: the earlier snapshot, or the start of
 * counting; becomes the new one. @span: to be given to rt_counters_free(). If the target was reset, the span starts at
 * the reset, and @resets of @last changes. The cost depends on the counters that changed.
 * Return: 0; -ENOENT if there is no such target; -ENOMEM; another -errno. After a failure @last is unchanged, there is
 * no span, and the call can be repeated.
 */
int rt_counters_advance(struct rt_client *client, uint32_t id,
			struct rt_counters *last, struct rt_counters *span);

/*
 * Read the next requests of a disk that ended. @after: number of the last known request, 0 for none. @ret: filled in;
 * empty if there are no more at present.
 * Return: 0; -EOPNOTSUPP for a disk without requests; another -errno.
 */
int rt_history_get(struct rt_client *client, uint32_t id, uint64_t after,
		   struct rt_history *ret);

/* Kinds of records that BPF programs write; the names are those of kmod/engine.h. */
#define RT_RECORDS	16

/* Records of a disk that had no room. */
struct rt_lost {
	uint64_t records[RT_RECORDS];	/* by kind */
	/* runs of a program, for any disk, that the kernel left out: they interrupted another run of it */
	uint64_t missed;
};

/* The records lost since a disk was added. Return: 0 or -errno; always zeroes if the source is the module. */
int rt_lost_get(struct rt_client *client, uint32_t id, struct rt_lost *ret);

/* Name of a kind of record, NULL beyond the last. */
const char *rt_record_name(unsigned int kind);

/* counters.c: arithmetic on snapshots */

/* Free the memory of counters, which are all zero afterwards. */
void rt_counters_free(struct rt_counters *counters);

/*
 * The difference of two snapshots of one target. @from: the earlier. @to: the later, with the same number of resets.
 * @ret: the difference, spans (from->now_ns, to->now_ns]; the in-flight members are those of @to.
 * Return: 0; -ENOMEM; -ERANGE if a counter decreased.
 */
int rt_counters_delta(const struct rt_counters *from,
		      const struct rt_counters *to, struct rt_counters *ret);

/*
 * Extend a span by the one that follows it. @sum: the span to extend; may be all zero at first.
 * Return: 0; or -ENOMEM, then @sum is unusable but can be freed.
 */
int rt_counters_add(struct rt_counters *sum, const struct rt_counters *next);

/* Add to one bin, growing the histogram as needed. Return: 0 or -ENOMEM. */
int rt_histogram_count(struct rt_histogram *histogram, unsigned int bin,
		       uint64_t count);

/* The sum of all bins. */
uint64_t rt_histogram_sum(const struct rt_histogram *histogram);

/*
 * Bins of an account as a histogram, without copying them. @counts: all bins.
 * Return: the bins from the first to the last that is not zero; valid as long as @counts, not to be
 * changed or freed.
 */
struct rt_histogram rt_histogram_view(const uint64_t *counts, unsigned int nr);

/*
 * Do the numbers of a span agree with each other? @in_flight_before: requests in flight at its start, by direction.
 * @text: the first equation that does not hold; unchanged if all do. Checked: issued + in flight before = completed +
 * requeued + in flight after; each size histogram sums to issued; each depth-time histogram sums to the length of the
 * span.
 * Return: whether all hold.
 */
bool rt_counters_check(const struct rt_counters *counters,
		       const uint32_t in_flight_before[RT_DIRECTIONS],
		       char *text, size_t size);

/*
 * Names of the enums as in the netlink spec, kinds with underscores; NULL beyond the last. A group has the index of its
 * flag.
 */
const char *rt_direction_name(unsigned int direction);
const char *rt_class_name(unsigned int class_);
const char *rt_group_name(unsigned int index);
const char *rt_kind_name(unsigned int kind);

/* signing.c: modules that this kernel accepts */

/* Requirements of a kernel on modules; -1 when not known. */
struct rt_signing {
	int enforced;	/* only signed modules are accepted: module.sig_enforce */
	int lockdown;	/* 0 none, 1 integrity, 2 confidentiality; from 1 on as @enforced */
	int secure_boot;	/* the firmware's secure boot is on */
	char key[128];	/* private key that DKMS signs with, "" for none */
	char cert[128];	/* its certificate, "" for none */
};

/* Look at this machine. @root: directory in front of every path, "" for the machine itself. */
void rt_signing_read(const char *root, struct rt_signing *ret);

/* Does the kernel refuse a module without a signature by one of its keys? */
bool rt_signing_needed(const struct rt_signing *signing);

/* The reasons for signed modules, "secure boot, lockdown integrity". */
void rt_signing_why(const struct rt_signing *signing, char *ret, size_t size);

/*
 * The commands that make a module loadable. @file: the module, NULL if not known. @signer: of the module, NULL for
 * none.
 */
void rt_signing_advice(const struct rt_signing *signing, const char *file,
		       const char *signer, char *ret, size_t size);

/*
 * Does the kernel have a key of this signer? @root: directory of proc and sys, "" except in tests.
 * Return: 0 or 1; -1 if not known.
 */
int rt_signing_enrolled(const char *root, const char *signer);

/* module.c: libkmod */

/* Is the module loaded? Return: 1 loaded, 0 not loaded, -errno. */
int rt_module_loaded(void);

/*
 * Find the module that rt_module_load() would insert. @path: module file, NULL for the one under /lib/modules. @file:
 * its path, "" for none. @signer: of the module, "" for none.
 * Return: 0; -ENOENT if there is none; another -errno.
 */
int rt_module_find(const char *path, char *file, size_t size, char *signer,
		   size_t signer_size);

/*
 * Insert raidtrace. @path: module file, NULL for the one under /lib/modules. @text: the reason of a failure.
 * Return: 0; -EEXIST when it is loaded already; another -errno.
 */
int rt_module_load(const char *path, char *text, size_t size);

/* Remove raidtrace. Return: 0; -ENOENT if it is not loaded; -EBUSY if in use; -errno. */
int rt_module_unload(void);

#endif
