/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The counters of a disk that this process counts itself, by the engine of the module. */

#ifndef RT_COUNTED_H
#define RT_COUNTED_H

#include "engine.h"
#include "raidtrace.h"

/*
 * An account as counters, in the form of a snapshot of the module. @engine: whose state goes with it. @unavailable: 1
 * << enum raidtrace_event_counter of events that are not observed. @ret: all zero; to be given to rt_counters_free()
 * even on failure; its members from @id to @gone and @readahead_sectors are the caller's. Return: 0 or -ENOMEM.
 */
int rt_account_counters(const struct raidtrace_account *account, const struct raidtrace_engine *engine,
			uint32_t unavailable, struct rt_counters *ret);

#endif
