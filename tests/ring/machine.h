/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One disk with rings and an engine, and requests that are written down as the handlers do it. */
#ifndef RAIDTRACE_RING_MACHINE_H
#define RAIDTRACE_RING_MACHINE_H

#include "kernel.h"

#include "probe.h"

/* Broken on purpose: all that is in the rings is taken, not only events before the clock was read. */
extern bool no_cut;

/* The time of this machine in nanoseconds, where a test sets it; 0 for ticks of the processor. */
extern uint64_t made_ns;

/* Count one record. */
void count_record(struct raidtrace_engine *engine, struct raidtrace_source *source, const uint64_t *record);

struct raidtrace_probe *machine_new(unsigned int cpus);
void machine_free(struct raidtrace_probe *probe);

uint64_t clock_ticks(void);
uint64_t machine_now(void);
void pin(unsigned int cpu);

void write_insert(struct raidtrace_probe *probe, unsigned int cpu, uint64_t request);
void write_queue(struct raidtrace_probe *probe, unsigned int cpu, uint64_t bio, uint64_t sector);
void write_issue(struct raidtrace_probe *probe, unsigned int cpu, uint64_t request, uint64_t bio, uint64_t sector);
void write_complete(struct raidtrace_probe *probe, unsigned int cpu, uint64_t request, uint64_t bio, uint64_t time);

#endif
