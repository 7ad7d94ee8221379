/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One request to raidtrace.ko and its replies; within the library. */

#ifndef RT_EXCHANGE_H
#define RT_EXCHANGE_H

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

#endif
