/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One request to raidtrace.ko and its replies; within the library. */

#ifndef RT_EXCHANGE_H
#define RT_EXCHANGE_H

#include "arithmetic.h"
#include "raidtrace.h"

struct nl_msg;
struct nlmsghdr;

/* rt_request - a request without attributes yet, NULL when memory is short */
struct nl_msg *rt_request(struct rt_client *client, uint8_t command, int flags);

/**
 * rt_exchange - send a request and take every reply up to the last
 * @client: the connection
 * @msg: consumed
 * @parse: called for each reply, NULL when none is expected
 * @ret: for @parse
 *
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

struct nlattr;

/* A number of an attribute; 0 when it is missing or too short. */
uint32_t rt_attr_u32(const struct nlattr *attr);
uint64_t rt_attr_u64(const struct nlattr *attr);

/* @ret: struct rt_info */
int rt_parse_info(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_target */
int rt_parse_target(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_counters; to be given to rt_counters_free() even on failure */
int rt_parse_counters(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_advance with its @last; its @now is to be freed even on failure */
int rt_parse_advance(struct nlmsghdr *nlh, void *ret);

/* @ret: struct rt_history; in history.c */
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
