/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States that the inputs of a fuzzer reached, printed at the end if FUZZ_REACHED is set. tests/model/run compares a corpus with them. */
#ifndef TW_TEST_REACHED_H
#define TW_TEST_REACHED_H

#include <stdio.h>
#include <stdlib.h>

#include "3w-9xxx/controller/controller.h"

static struct {
	bool event[256];
	bool given[256];	/* by this input, as an event of the user's */
	bool lost;
	bool lost_by_second;
	bool full;
	bool slow;
	bool medium;
} reached;

static void reached_print(void)
{
	u32 i;

	printf("reached:%s%s%s%s%s", reached.lost ? " lost" : "", reached.lost_by_second ? " lost-by-second" : "",
	       reached.full ? " full" : "", reached.slow ? " slow" : "", reached.medium ? " medium" : "");
	for (i = 0; i < RL_COUNT(reached.event); i++)
		if (reached.event[i])
			printf(" %02x", i);
	printf("\n");
}

/* After each step of an input. */
static void reached_look(const struct tw_model *model)
{
	static bool begun;
	u32 i;

	if (!getenv("FUZZ_REACHED"))
		return;
	if (!begun && atexit(reached_print))
		abort();
	begun = true;
	for (i = 0; i < model->nr_events; i++)
		if (!reached.given[model->event[i].code & 0xff])
			reached.event[model->event[i].code & 0xff] = true;
	for (i = 0; i < TW_MAX_REQUESTS; i++) {
		bool lost = model->request[i].state == TW_REQUEST_LOST;

		reached.lost |= lost;
		reached.lost_by_second |= lost && model->config.base.count == 2;
	}
	for (i = 0; i < TW_MAX_DRIVES; i++)
		reached.slow |= model->timing.drive[i].slow > 1;
	reached.full |= model->fault.full;
	reached.medium |= model->fault.bad.sectors > 0;
}

#endif
