/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Within the library: arithmetic on counters, histograms and processes; requests and replies. */

#ifndef RT_INTERNAL_H
#define RT_INTERNAL_H

#include "raidtrace.h"

/* Add bins to bins; 0 or -ENOMEM. */
int rt_histogram_add(struct rt_histogram *histogram,
		     const struct rt_histogram *next);

/*
 * The counts that the later of two histograms has more. @from: the earlier. @to: the later. @ret: empty; gets the
 * bins from the first to the last that differ, which of a short span are few and often none.
 * Return: 0; -ENOMEM; -ERANGE when a count fell.
 */
int rt_histogram_delta(const struct rt_histogram *from,
		       const struct rt_histogram *to, struct rt_histogram *ret);

/* Let it have bins [first, end), new ones zero; 0 or -ENOMEM. */
int rt_histogram_cover(struct rt_histogram *histogram, unsigned int first,
		       unsigned int end);

/*
 * By how much a run of bins has grown. @from: the histogram as it was. @first: index of the first of the
 * bins. @counts: the bins as they are now. @ret: what grew is added; its bins lie before @first.
 * Return: 0; -ENOMEM; -ERANGE when a count fell.
 */
int rt_histogram_grown(const struct rt_histogram *from, unsigned int first,
		       const uint64_t *counts, unsigned int nr,
		       struct rt_histogram *ret);

/* An answer that may contain only what changed since the last snapshot. */
struct rt_advance {
	const struct rt_counters *last;	/* the snapshot it is counted from */
	/*
	 * what the answer says: a snapshot; of a partial answer the counters as they are now, but
	 * only processes with a name, and growths of histograms
	 */
	struct rt_counters now;
	bool partial;	/* what the answer left out is as in @last */
};

/*
 * Compute the span since the last snapshot, which becomes this one. Takes @now of @advance.
 * @last: its last. @span: empty.
 * Return: 0; -ENOMEM or -ERANGE, @last is then as it was and @span empty.
 */
int rt_advance_apply(struct rt_advance *advance, struct rt_counters *last,
		     struct rt_counters *span);

/* The processes of struct rt_counters. */

/* One process more. @counters: that it is of. @submitter: copied. Return: 0 or -ENOMEM. */
int rt_submitters_append(struct rt_counters *counters,
			 const struct rt_submitter *submitter);

/* Add those of @next to those of @sum; 0 or -ENOMEM. */
int rt_submitters_add(struct rt_counters *sum, const struct rt_counters *next);

/* Subtract those of @from, which @counters has too; 0 or -ERANGE. */
int rt_submitters_subtract(struct rt_counters *counters,
			   const struct rt_counters *from);

/* Rows of nothing for processes that only @next has; 0 or -ENOMEM. */
int rt_submitters_make_room(struct rt_counters *counters,
			    const struct rt_counters *next);

/* Subtract from those of @counters what @from has of them; 0 or -ERANGE. */
int rt_submitters_less(struct rt_counters *counters,
		       const struct rt_counters *from);

/*
 * Move what processes had in @last that have given their rows away in @now to
 * the row of the rest, as the module did; 0 or -ENOMEM.
 */
int rt_submitters_release(struct rt_counters *last, const struct rt_counters *now);

struct nl_msg;
struct nlmsghdr;

/* A request without attributes yet, NULL when memory is short. */
struct nl_msg *rt_request(struct rt_client *client, uint8_t command, int flags);

/*
 * Send a request and take every reply up to the last. @msg: consumed. @parse: called for each reply, NULL
 * when none is expected.
 * Return: 0; what @parse returned; or -errno, the kernel's with rt_error().
 */
int rt_exchange(struct rt_client *client, struct nl_msg *msg,
		int (*parse)(struct nlmsghdr *, void *), void *ret);

/*
 * Replies of raidtrace.ko.  A reply is whatever came through the socket: it
 * may be cut short, lack attributes or hold those of a later version; what is
 * missing is zero, and what must not be missing is an error.
 *
 * Each function takes one message and @ret, which was all zero before the
 * first; they return 0, -EBADMSG or -ENOMEM.
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

/* Limits of a target's disk, as sysfs has them now. */

/*
 * Fill in @target's limits by files below @disk, a descriptor of its directory in
 * sysfs. What is not there is 0, as all of a disk that is gone (-1).
 */
void rt_limits_read(int disk, struct rt_target *target);

/* Fill in what sysfs has of @target's disk. Nothing is known of a disk that is gone. */
void rt_target_describe(struct rt_target *target);

#endif
