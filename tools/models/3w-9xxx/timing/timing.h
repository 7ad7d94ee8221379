/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a command will be done: the controller's own time, its write-back cache,
 * and its drives. Formulas are in Documentation/3w-9xxx.rst.
 */
#ifndef TW_TIMING_H
#define TW_TIMING_H

#include "resources.h"

void tw_timing_create(struct tw_timing *timing, const struct tw_config *config);

/* Each returns when the command that arrives at @now is done. @now must not go back. */
u64 tw_timing_read(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_write(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_flush(struct tw_timing *timing, u32 unit, u64 now);
u64 tw_timing_other(struct tw_timing *timing, u64 now);

/* Let the cache and all drives do what they would have begun before @now. */
void tw_timing_advance(struct tw_timing *timing, u64 now);

/**
 * tw_timing_lose_cache() - what waits in the write-back cache will not be written
 * @timing: the controller, advanced to the moment when that happens
 * @lost: called for all lost sectors, and for whole stripes of parity
 *
 * Return: how many operations and rows were waiting.
 */
u32 tw_timing_lose_cache(struct tw_timing *timing, const struct tw_landing *lost);

/* The drive has gone: nothing waits for it any more, and its replacement is a new one. */
void tw_timing_lose_drive(struct tw_timing *timing, u32 unit, u32 member);

#endif
