/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Internal interfaces: arithmetic on counters, histograms and processes; requests and replies. */

#ifndef RT_INTERNAL_H
#define RT_INTERNAL_H

#include "raidtrace.h"

/* Add bins to bins. Return: 0 or -ENOMEM. */
int rt_histogram_add(struct rt_histogram *histogram,
		     const struct rt_histogram *next);

/*
 * The difference of two histograms. @from: the earlier. @to: the later. @ret: empty; gets the bins from the first to
 * the last difference.
 * Return: 0; -ENOMEM; -ERANGE if a count decreased.
 */
int rt_histogram_delta(const struct rt_histogram *from,
		       const struct rt_histogram *to, struct rt_histogram *ret);

/* Extend a histogram to the bins [first, end); new bins are zero. Return: 0 or -ENOMEM. */
int rt_histogram_cover(struct rt_histogram *histogram, unsigned int first,
		       unsigned int end);

/*
 * The growth of a sequence of bins. @from: the earlier histogram. @first: index of the first bin. @counts: the present
 * bins. @ret: empty, or with growth from @from before @first; the growth is added.
 * Return: 0; -ENOMEM; -ERANGE if a count decreased.
 */
int rt_histogram_grown(const struct rt_histogram *from, unsigned int first,
		       const uint64_t *counts, unsigned int nr,
		       struct rt_histogram *ret);

/* A reply that may contain only the changes since the last snapshot. */
struct rt_advance {
	const struct rt_counters *last;	/* the snapshot to which the changes refer */
	/*
	 * the reply: a snapshot; in a partial reply the present counters, but only processes with a name, and the
	 * growth of histograms
	 */
	struct rt_counters now;
	bool partial;	/* counters missing in the reply are as in @last */
};

/*
 * Compute the span since the last snapshot, and make @last the present one. Consumes @now of @advance. @last: the last
 * snapshot. @span: empty.
 * Return: 0; -ENOMEM or -ERANGE, then @last is unchanged and @span empty.
 */
int rt_advance_apply(struct rt_advance *advance, struct rt_counters *last,
		     struct rt_counters *span);

/* Allocate the rows of hardware queues, all zero, unless they are there. Return: 0 or -ENOMEM. */
int rt_hwqs_make_room(struct rt_counters *counters);

/* The processes of struct rt_counters. */

/* Append a process. @counters: the owner of the list. @submitter: copied. Return: 0 or -ENOMEM. */
int rt_submitters_append(struct rt_counters *counters,
			 const struct rt_submitter *submitter);

/* Add the processes of @next to those of @sum. Return: 0 or -ENOMEM. */
int rt_submitters_add(struct rt_counters *sum, const struct rt_counters *next);

/* Subtract the processes of @from, which @counters also contains. Return: 0 or -ERANGE. */
int rt_submitters_subtract(struct rt_counters *counters,
			   const struct rt_counters *from);

/* Add empty rows for processes that only @next has. Return: 0 or -ENOMEM. */
int rt_submitters_make_room(struct rt_counters *counters,
			    const struct rt_counters *next);

/* Subtract the processes of @from from those of @counters. Return: 0 or -ERANGE. */
int rt_submitters_less(struct rt_counters *counters,
		       const struct rt_counters *from);

/*
 * Move the counters of processes in @last whose rows were reassigned in @now to the row of the rest, as the module did.
 * Return: 0 or -ENOMEM.
 */
int rt_submitters_release(struct rt_counters *last, const struct rt_counters *now);

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

/* A kind of source of counters; the members are as the functions of raidtrace.h. source.c calls them. */
struct rt_source {
	const char *name;
	int (*info_get)(struct rt_client *client, struct rt_info *ret);
	int (*target_add)(struct rt_client *client, int fd, const struct rt_options *options, struct rt_target *ret);
	int (*target_add_number)(struct rt_client *client, unsigned int major, unsigned int minor,
				 const struct rt_options *options, struct rt_target *ret);	/* may be NULL */
	int (*target_del)(struct rt_client *client, uint32_t id);
	int (*target_reset)(struct rt_client *client, uint32_t id);
	int (*target_set_journal)(struct rt_client *client, uint32_t id, const struct rt_extent *journal, size_t nr);
	int (*target_list)(struct rt_client *client, size_t *nr, struct rt_target **ret);
	int (*counters_get)(struct rt_client *client, uint32_t id, struct rt_counters *ret);
	int (*counters_advance)(struct rt_client *client, uint32_t id, struct rt_counters *last,
				struct rt_counters *span);
	int (*history_get)(struct rt_client *client, uint32_t id, uint64_t after, struct rt_history *ret);
	int (*lost_get)(struct rt_client *client, uint32_t id, struct rt_lost *ret);	/* NULL: none is ever lost */
	void (*close)(struct rt_client *client);
};

extern const struct rt_source rt_module_source;

/* A source that is open. */
struct rt_client {
	const struct rt_source *source;
	char error[256];	/* text for the last failure, "" for none */
	struct nl_sock *socket;	/* of the module: connected */
	int family;	/* of the module: id of the raidtrace family */
	void *door;	/* of the BPF programs */
};

/* exchange.c: close the socket. */
void rt_exchange_close(struct rt_client *client);

/* Create a request without attributes. Return: NULL if memory is short. */
struct nl_msg *rt_request(struct rt_client *client, uint8_t command, int flags);

/*
 * Send a request and process each reply up to the last. @msg: consumed. @parse: called for each reply, NULL if none is
 * expected.
 * Return: 0; the result of @parse; or -errno, that of the kernel with rt_error().
 */
int rt_exchange(struct rt_client *client, struct nl_msg *msg,
		int (*parse)(struct nlmsghdr *, void *), void *ret);

/*
 * Replies of raidtrace.ko. A reply may be cut short, lack attributes or have those of a later version. A missing
 * attribute is zero; a missing required attribute is an error.
 *
 * Each function parses one message into @ret, which is all zero before the first. They return 0, -EBADMSG or -ENOMEM.
 */

/* @ret: struct rt_info */
int rt_parse_info(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_target */
int rt_parse_target(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_counters; to be given to rt_counters_free() even on failure */
int rt_parse_counters(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_advance with its @last; its @now is to be freed even on failure */
int rt_parse_advance(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_history */
int rt_parse_history(struct nlmsghdr *nlh, void *ret);

/* Limits of a target's disk, from sysfs. */

/*
 * Fill in the limits of @target from files below @disk, a descriptor of its directory in sysfs. A missing file gives 0;
 * a disk that is gone (-1) gives only zeroes.
 */
void rt_limits_read(int disk, struct rt_target *target);

/* Fill in the facts of sysfs about the disk of @target. Nothing is known about a disk that is gone. */
void rt_target_describe(struct rt_target *target);

#endif
