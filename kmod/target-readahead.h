/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of readahead, which no event tells of. */
#ifndef RAIDTRACE_TARGET_READAHEAD_H
#define RAIDTRACE_TARGET_READAHEAD_H

struct raidtrace_target;

void raidtrace_readahead_watch(void (*changed)(struct raidtrace_target *target));
void raidtrace_readahead_look(struct raidtrace_target *target);
void raidtrace_readahead_exit(void);

#endif /* RAIDTRACE_TARGET_READAHEAD_H */
