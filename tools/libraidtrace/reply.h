/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Replies of raidtrace.ko.  A reply is whatever came through the socket: it
 * may be cut short, lack attributes or hold those of a later version; what is
 * missing is zero, and what must not be missing is an error.
 *
 * Each function takes one message and @ret, which was all zero before the
 * first; they return 0, -EBADMSG or -ENOMEM.
 */

#ifndef REPLY_H
#define REPLY_H

#include "advance.h"
#include "raidtrace.h"

struct nlattr;
struct nlmsghdr;

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

#endif
