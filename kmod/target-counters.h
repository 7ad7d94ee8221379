/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the counters of targets. */
#ifndef RAIDTRACE_TARGET_COUNTERS_H
#define RAIDTRACE_TARGET_COUNTERS_H

struct raidtrace_target;

int raidtrace_counters_alloc(struct raidtrace_target *target);
void raidtrace_counters_free(struct raidtrace_target *target);
void raidtrace_counters_exit(void);

#endif /* RAIDTRACE_TARGET_COUNTERS_H */
