/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One disk of a blktrace trace: its events into the account that the kernel
 * module keeps of a disk, by the same code.
 */

#ifndef IMPORT_DEVICE_H
#define IMPORT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "account.h"
#include "import/blktrace.h"
#include "import/pending.h"
#include "raidtrace.h"

/* What a trace can tell; also place, where the size of the disk is known. */
#define BLKTRACE_GROUPS \
	(RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE |		\
	 RAIDTRACE_GROUP_SEEK | RAIDTRACE_GROUP_STREAM |	\
	 RAIDTRACE_GROUP_DEPTH | RAIDTRACE_GROUP_LATENCY |	\
	 RAIDTRACE_GROUP_PLUG | RAIDTRACE_GROUP_READAHEAD)

/**
 * struct blktrace_device - one disk
 * @device: major << 20 | minor
 * @index: number of it in the trace, from 0
 * @events: how many
 * @seen: enum blktrace_what that the trace has of it, 1 << each
 * @missing: sequence numbers left out between events of one CPU
 * @given_up: requests that had to leave the map of what is in flight
 * @capacity_sectors: size of the disk, 0: not given
 * @place: how it is cut, all zero likewise
 * @arrival: of the disk's bios
 * @state: of the disk's queue
 * @account: since the last sample
 * @total: as @account, until the last sample
 * @empty_flushes: flushes without data that got a request and did not end yet
 * @sequences: per CPU, sequence number of the last event, 0 for none
 * @nr_sequences: length of @sequences
 */
struct blktrace_device {
	uint32_t device;
	uint16_t index;
	uint64_t events;
	uint32_t seen;
	uint64_t missing;
	uint64_t given_up;
	uint64_t capacity_sectors;
	struct raidtrace_place place;
	struct raidtrace_position arrival;
	struct raidtrace_queue state;
	struct raidtrace_account account;
	struct raidtrace_account total;
	uint64_t empty_flushes;
	uint32_t *sequences;
	size_t nr_sequences;
};

/**
 * blktrace_device_new - a disk that nothing is known of
 * @device: its number
 * @index: of it in the trace
 * @capacity_sectors: its size, 0 when that is not known
 * @start_ns: where counting begins
 *
 * Return: to be given to blktrace_device_free(); NULL without memory.
 */
struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index,
					    uint64_t capacity_sectors,
					    uint64_t start_ns);
void blktrace_device_free(struct blktrace_device *device);

/**
 * blktrace_device_event - count an event
 * @device: its disk
 * @pending: what is begun on all disks
 * @others: disks by index, for a request of another that has to make room
 * @event: the event
 *
 * Return: 0 or -ENOMEM.
 */
int blktrace_device_event(struct blktrace_device *device,
			  struct blktrace_pending *pending,
			  struct blktrace_device *const *others,
			  const struct blktrace_event *event);

/**
 * blktrace_device_sample - what happened since the last sample
 * @device: the disk
 * @start_ns: where the last sample ended
 * @end_ns: now
 * @span: filled in; its histograms point into the device, so it is valid until
 *	blktrace_device_begin() and not to be freed
 */
void blktrace_device_sample(struct blktrace_device *device, uint64_t start_ns,
			    uint64_t end_ns, struct rt_counters *span);

/* blktrace_device_begin - add the sample to the total and begin the next */
void blktrace_device_begin(struct blktrace_device *device);

/* blktrace_device_total - all samples; valid and not to be freed likewise */
void blktrace_device_total(struct blktrace_device *device, uint64_t start_ns,
			   uint64_t end_ns, struct rt_counters *span);

/**
 * blktrace_device_unknown - counters that the trace cannot tell
 * @device: at the end of the trace
 *
 * A trace that has bios queued, requests issued and requests completed is taken
 * for one of all events, as blktrace takes it unless it is told otherwise: what
 * does not occur in it did not happen.  Of a trace that lacks one of these
 * only what it does have is known.
 *
 * Return: RT_COUNTER_BIT() of each.
 */
uint64_t blktrace_device_unknown(const struct blktrace_device *device);

/* blktrace_device_unknown_disk - RT_DISK_BIT() of each that this trace lacks */
uint32_t blktrace_device_unknown_disk(const struct blktrace_device *device);

#endif
