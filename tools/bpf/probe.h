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

/* Set before the programs are loaded, of the running kernel. */
const volatile struct door_constants door_constants = {};

struct door_state door_state = {};

/* A ring for each CPU. Others write into one of these. */
struct door_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct door_ring);
} door_ring_of SEC(".maps");

/* The disk with a number, NULL if it is not counted. */
static __always_inline struct door_disk *find_disk(u32 major, u32 minor, u64 diskseq)
{
	u32 dev = major << 20 | minor, place = door_place(dev), i;

	for (i = 0; i < DOOR_TRIES; i++) {
		struct door_disk *disk = &door_state.disk[(place + i) % DOOR_PLACES];

		if (disk->dev == dev)
			return !disk->diskseq || disk->diskseq == diskseq ? disk : NULL;
		if (!disk->dev)
			return NULL;
	}
	return NULL;
}

/* The disk of an event, NULL if it is not counted. */
static __always_inline struct door_disk *disk_of(struct gendisk *gendisk)
{
	return gendisk ? find_disk(gendisk->major, gendisk->first_minor, gendisk->diskseq) : NULL;
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
	return (opf & 255) == door_constants.op_zone_append ? RAIDTRACE_EVENT_UNPLACED : 0;
}

static __always_inline bool has_bit(u64 flags, u32 bit)
{
	return bit < 64 && flags >> bit & 1;
}

static __always_inline bool wants_hwq(const struct door_disk *disk)
{
	return disk->groups & RAIDTRACE_GROUP_HWQ;
}

/*
 * A record in the ring of this CPU, to be given to bpf_ringbuf_submit(); NULL if there is no room, which is counted.
 * The time is read behind the reservation: a record with an earlier time than the reader's is in the ring.
 */
static __always_inline u64 *reserve(const struct door_disk *disk, u64 head, u32 size)
{
	u32 cpu = bpf_get_smp_processor_id(), first = 0;
	void *ring = bpf_map_lookup_elem(&door_ring_of, &cpu);
	u64 *record = NULL;

	if (!ring)
		ring = bpf_map_lookup_elem(&door_ring_of, &first);
	if (ring)
		record = bpf_ringbuf_reserve(ring, size, 0);
	if (unlikely(!record)) {
		__sync_fetch_and_add(&door_state.lost[disk->number % DOOR_DISKS]
						     [head & RAIDTRACE_EVENT_NIBBLE], 1);
		return NULL;
	}
	record[0] = bpf_ktime_get_ns() | (u64)disk->number << DOOR_TIME_BITS;
	record[1] = head;
	return record;
}

static __always_inline void submit(u64 *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Write an event of three words. */
static __always_inline void write_one(const struct door_disk *disk, u64 head, const void *one)
{
	u64 *record = reserve(disk, head, 3 * sizeof(u64));

	if (!record)
		return;
	record[2] = (u64)one;
	submit(record);
}

/* Write an event of four words. */
static __always_inline void write_two(const struct door_disk *disk, u64 head, const void *one,
				      const void *two)
{
	u64 *record = reserve(disk, head, 4 * sizeof(u64));

	if (!record)
		return;
	record[2] = (u64)one;
	record[3] = (u64)two;
	submit(record);
}

/* Write an event without state; @amount is that of an unplug or a window. */
static __always_inline void write_count(const struct door_disk *disk,
					enum raidtrace_direction direction,
					enum raidtrace_event_counter counter, u32 amount)
{
	u64 *record = reserve(disk, raidtrace_event_head(RAIDTRACE_EVENT_COUNT, direction, counter, 0,
							 amount), 2 * sizeof(u64));

	if (record)
		submit(record);
}

#endif /* DOOR_PROBE_H */
