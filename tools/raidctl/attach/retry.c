// SPDX-License-Identifier: GPL-2.0-or-later

#include "attach/claim.h"

#include <errno.h>
#include <time.h>

#define TRIES	100
#define PAUSE_NS	(10 * 1000 * 1000)

int counters_advance_again(struct rt_client *client, uint32_t id,
			   struct rt_counters *last, struct rt_counters *span)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int err = rt_counters_advance(client, id, last, span);

	for (int tries = 1; err == -ENOMEM && tries < TRIES; tries++) {
		nanosleep(&pause, NULL);
		err = rt_counters_advance(client, id, last, span);
	}
	return err;
}
