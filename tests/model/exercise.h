/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of faults and rebuilds do with a controller: let time pass, read, write, hear events. */
#ifndef TW_TEST_EXERCISE_H
#define TW_TEST_EXERCISE_H

#include "host.h"

#define MS	1000000ULL
#define SMALL	"store_mib=16,log_entries=9999,drive.sectors=65536,array.stripe_kib=16,"

/* Every level that outlives a member. */
struct redundant_level {
	const char *shape;
	u32 drives;
};

#define REDUNDANT_LEVELS 4
extern const struct redundant_level levels[REDUNDANT_LEVELS];

/* Return: a controller of this shape whose driver has probed. */
struct host *probed(const char *shape, const char *faults);

/* Fetch the next event. The events that wait must be these, 0 at the end. */
u16 fetch_event(struct host *host);
void expect_events(struct host *host, const u16 *codes);

/* Let time pass. */
void pass(struct host *host, u64 ns);

/* At most 2 MiB at HOST_DATA. Both return the command's status. */
u8 read_at(struct host *host, u64 lba, u32 sectors);
u8 write_at(struct host *host, u64 lba, u32 sectors, int byte);

/* One random READ or WRITE, compared with a plain memory image of the first sectors. */
void random_command(struct host *host, u8 *truth, u64 *seed, u32 capacity);
void everything_reads_back(struct host *host, const u8 *truth, u32 capacity);

#endif
