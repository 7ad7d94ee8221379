/* SPDX-License-Identifier: GPL-2.0-only */
/* For all programs: the disk of an event, its direction, a record in the ring of the CPU. */
#ifndef DOOR_PROBE_H
#define DOOR_PROBE_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "door.h"
#include "kernel.h"

#define unlikely(x)	__builtin_expect(!!(x), 0)

/* Set before the programs are loaded. */
const volatile struct door_constants door_constants = {};

struct door_state door_state = {};

/* A ring for each CPU. Their number and size are set before the programs are loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct door_ring));
} door_rings SEC(".maps");

/* The disk of a sequence number, NULL if it is not counted. */
static __always_inline struct door_disk *find_disk(u64 diskseq)
{
	u32 i;

	for (i = 0; i < DOOR_TRIES; i++) {
		struct door_disk *disk = &door_state.disk[(diskseq + i) % DOOR_PLACES];

		if (!disk->diskseq)
			return NULL;
		if (disk->diskseq == diskseq)
			return disk;
	}
	return NULL;
}

/* The disk of an event, NULL if it is not counted. A read through NULL gives 0, which no disk has. */
static __always_inline struct door_disk *disk_of(struct gendisk *gendisk)
{
	return find_disk(gendisk->diskseq);
}

static __always_inline struct door_disk *disk_of_bio(struct bio *bio)
{
	return disk_of(bio->bi_bdev->bd_disk);
}

static __always_inline struct door_disk *disk_of_request(struct request *rq)
{
	return disk_of(rq->q->disk);
}

/* Direction of an operation. A write with no @bytes is a flush. */
static __always_inline enum raidtrace_direction op_direction(u32 opf, u32 bytes)
{
	u32 op = opf & 255;

	if (!op)
		return RAIDTRACE_DIRECTION_READ;
	if (op == 1)
		return bytes ? RAIDTRACE_DIRECTION_WRITE : RAIDTRACE_DIRECTION_FLUSH;
	if (op == 2)
		return RAIDTRACE_DIRECTION_FLUSH;
	if (op == door_constants.op_zone_append)
		return RAIDTRACE_DIRECTION_WRITE;
	if (op == door_constants.op_discard)
		return RAIDTRACE_DIRECTION_DISCARD;
	if (op == door_constants.op_write_zeroes)
		return RAIDTRACE_DIRECTION_WRITE_ZEROES;
	if (op == door_constants.op_drv_in || op == door_constants.op_drv_out)
		return RAIDTRACE_DIRECTION_PASSTHROUGH;
	return RAIDTRACE_DIRECTION_OTHER;
}

static __always_inline enum raidtrace_direction bio_direction(struct bio *bio)
{
	return op_direction(bio->bi_opf, bio->bi_iter.bi_size);
}

static __always_inline enum raidtrace_direction request_direction(struct request *rq)
{
	return op_direction(rq->cmd_flags, rq->__data_len);
}

static __always_inline u32 unplaced(u32 opf)
{
	u32 op = opf & 255;

	return op > 2 && op == door_constants.op_zone_append ? RAIDTRACE_EVENT_UNPLACED : 0;
}

static __always_inline bool wants_hwq(const struct door_disk *disk)
{
	return disk->groups & RAIDTRACE_GROUP_HWQ;
}

/* A record that is being written. */
struct slot {
	u64 *record;
	u64 time;
};

#define ATTEMPTS 8

/* Room in a ring, to be tried again where an interrupt took it. Return: false if there is none. */
static __always_inline bool reserve_in(struct door_ring *ring, u32 size, struct slot *ret)
{
	u32 i;

	for (i = 0; i < ATTEMPTS; i++) {
		u64 head = *(volatile u64 *)&ring->head, found;

		if (unlikely(head + size > *(volatile u64 *)&ring->limit))
			return false;
		found = __sync_val_compare_and_swap(&ring->head, head, head + size);
		barrier_var(found);
		if (found == head) {
			ret->record = (void *)ring->words + (head & door_constants.ring_mask);
			return true;
		}
	}
	return false;
}

/*
 * Begin a record of @size bytes in the ring of this CPU, to be ended by submit(). Return: false if there is no room,
 * which is counted. The time is read behind the reservation: a record with an earlier time than the reader's is in the
 * ring.
 */
static __always_inline bool reserve(const struct door_disk *disk, u64 head, u32 size, struct slot *ret)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct door_ring *ring = bpf_map_lookup_elem(&door_rings, &cpu);

	/* A CPU that came later. */
	if (unlikely(!ring)) {
		cpu = 0;
		ring = bpf_map_lookup_elem(&door_rings, &cpu);
	}
	if (unlikely(!ring || !reserve_in(ring, size, ret))) {
		__sync_fetch_and_add(&door_state.lost[disk->number % DOOR_DISKS][head & RAIDTRACE_EVENT_NIBBLE], 1);
		return false;
	}
	ret->time = bpf_ktime_get_ns() | (u64)disk->number << DOOR_TIME_BITS;
	ret->record[1] = head;
	return true;
}

static __always_inline void submit(struct slot *slot)
{
	barrier();
#ifdef __TARGET_ARCH_x86
	*(volatile u64 *)slot->record = slot->time;
#else
	__sync_lock_test_and_set(slot->record, slot->time);
#endif
}

/* Write an event of three words. */
static __always_inline void write_one(const struct door_disk *disk, u64 head, const void *one)
{
	struct slot slot;

	if (!reserve(disk, head, 3 * sizeof(u64), &slot))
		return;
	slot.record[2] = (u64)one;
	submit(&slot);
}

/* Write an event of four words. */
static __always_inline void write_two(const struct door_disk *disk, u64 head, const void *one,
				      const void *two)
{
	struct slot slot;

	if (!reserve(disk, head, 4 * sizeof(u64), &slot))
		return;
	slot.record[2] = (u64)one;
	slot.record[3] = (u64)two;
	submit(&slot);
}

/* Write an event without state; @amount is that of an unplug or a window. */
static __always_inline void write_count(const struct door_disk *disk,
					enum raidtrace_direction direction,
					enum raidtrace_event_counter counter, u32 amount)
{
	u64 head = raidtrace_event_head(RAIDTRACE_EVENT_COUNT, direction, counter, 0, amount);
	struct slot slot;

	if (reserve(disk, head, 2 * sizeof(u64), &slot))
		submit(&slot);
}

#endif /* DOOR_PROBE_H */
