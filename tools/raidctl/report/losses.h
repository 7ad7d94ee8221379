/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The events of a disk that its source did not deliver, so that the counters lack them. */

#ifndef REPORT_LOSSES_H
#define REPORT_LOSSES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "raidtrace.h"

/* Losses since the disk was attached. */
struct losses {
	struct rt_lost lost;
	/*
	 * Requests whose end BPF programs did not see: the kernel can leave out a program without a count (observed
	 * with 6.18 on a busy machine, up to 1 in 1,000). 0 if the source is the module.
	 */
	uint64_t undelivered;
};

/* Read the losses of a disk. @counters: since it was attached. Return: 0 or -errno; -ENOENT if it was detached. */
int losses_get(struct rt_client *client, uint32_t id, const struct rt_counters *counters, struct losses *ret);

/* The number of events that were lost. */
uint64_t losses_sum(const struct losses *losses);

/* Print the losses of a disk, if there are any, as a note. Its counters lack them. */
void losses_note(const char *disk, const struct losses *losses);

/* Add the losses by kind to an object. */
void losses_json(struct json_object *to, const struct losses *losses);

#endif
