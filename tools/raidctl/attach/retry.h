/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ATTACH_RETRY_H
#define ATTACH_RETRY_H

#include <stdint.h>

#include <raidtrace.h>

/*
 * counters_advance_again - rt_counters_advance(), and again while memory is short
 *
 * The kernel builds its answer in one piece of memory. A host that writes all it
 * can may not have one at the moment; counters run on, so a second later is as
 * good. Returns what the last try returned, after a second at most.
 */
int counters_advance_again(struct rt_client *client, uint32_t id,
			   struct rt_counters *last, struct rt_counters *span);

#endif
