/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated virtio block device, as a hypervisor offers a volume to its guest.
 * Knows neither kernel nor clock; a host gives it both through rl_host_ops.
 */
#ifndef VB_VIRTIO_H
#define VB_VIRTIO_H

#include "base/base.h"
#include "media/media.h"
#include "wire.h"

enum vb_fault_kind {
	VB_FAULT_LOSE,		/* a request is never answered */
	VB_FAULT_MEDIUM,	/* sectors that cannot be read */
	VB_FAULT_SLOW,		/* every request takes longer */
	VB_FAULTS,
};

/**
 * struct vb_fault_config - profile table "fault"
 * @trigger: by an enum vb_fault_kind; no @lba for VB_FAULT_MEDIUM
 * @medium_lba: first bad sector; 0: where the triggering request began
 * @medium_sectors: how many
 * @slow_factor: every request takes this many times as long
 */
struct vb_fault_config {
	struct rl_trigger trigger[VB_FAULTS];
	u64 medium_lba;
	u32 medium_sectors;
	u32 slow_factor;
};

/**
 * struct vb_config - a profile of this device
 * @base: see there
 * @sectors: capacity in 512-byte sectors
 * @queue_size: requests that the queue holds, a power of two
 * @segments: of a request, at most
 * @io_opt_kib: optimal size that the device reports; 0: it reports none
 * @rotational: 1: what Linux takes every virtio disk for
 * @write_cache: 1 if the device reports a volatile cache, which makes Linux send flushes
 * @discard: 1 if the device takes discards
 * @flush_ns: time of a flush
 * @latency_ns: added to every request; overlaps with others
 * @bytes_s: rate of the link, of both directions together
 * @iops: limit of reads and writes a second; 0: none
 * @limit_bytes_s: limit of bytes a second that they move; 0: none
 * @burst_ios: so many reads and writes may start at once after a pause
 * @burst_bytes: the same in bytes
 * @fault: see there
 */
struct vb_config {
	struct rl_config base;
	u64 sectors;
	u32 queue_size;
	u32 segments;
	u32 io_opt_kib;
	u32 rotational;
	u32 write_cache;
	u32 discard;
	u32 flush_ns;
	u32 latency_ns;
	u64 bytes_s;
	u64 iops;
	u64 limit_bytes_s;
	u64 burst_ios;
	u64 burst_bytes;
	struct vb_fault_config fault;
};

extern const struct rl_keys vb_keys;

#define VB_MAX_QUEUE		1024U
#define VB_MAX_SEGMENTS		256U

enum vb_request_state { VB_FREE, VB_RUNNING, VB_LOST };

/**
 * struct vb_request - a request that waits for its time
 * @state: an enum vb_request_state
 * @status: what is written when it is due
 * @head: its first descriptor
 * @written: bytes that were written into the driver's memory, the status among them
 * @status_at: where the status goes
 * @log: entry, or RL_LOG_NONE
 * @due_ns: when it is answered
 * @order: of arrival: decides between equal times
 */
struct vb_request {
	u8 state;
	u8 status;
	u16 head;
	u32 written;
	u64 status_at;
	u32 log;
	u64 due_ns;
	u64 order;
};

/* A piece of the driver's memory. */
struct vb_segment {
	u64 address;
	u32 bytes;
	bool write;		/* by the device */
};

/**
 * struct vb_queue - the request queue
 * @size: entries that the driver chose
 * @enabled: it may be used
 * @desc: address of the descriptors
 * @driver: address of the ring of requests
 * @device: address of the ring of answers
 * @avail: the next entry of the driver's ring
 * @used: the next entry of the device's ring
 */
struct vb_queue {
	u32 size;
	bool enabled;
	u64 desc;
	u64 driver;
	u64 device;
	u16 avail;
	u16 used;
};

#define VB_BOUNCE_SECTORS	8U

/**
 * struct vb_model - the device
 * @device: what every device has
 * @config: the profile
 * @device_select: which half of the features is read
 * @driver_select: which half is written
 * @features: that the driver accepted
 * @status: of the device, as the driver sets it
 * @isr: why the line is up
 * @queue_select: queue of the registers; only queue 0 exists
 * @queue: that one
 * @request: in the device
 * @running: how many
 * @arrivals: requests so far
 * @segment: of the request that is being looked at
 * @segments: how many
 * @iops: limit
 * @bytes: limit
 * @link: rate
 * @slow: every request takes this many times as long
 * @store: contents
 * @armed: faults
 * @nr_transfers: reads and writes so far
 * @lose_next: the next read or write is lost
 * @bad: sectors that cannot be read
 * @bounce: data in transfer
 */
struct vb_model {
	struct rl_device device;
	struct vb_config config;
	u32 device_select;
	u32 driver_select;
	u64 features;
	u8 status;
	u8 isr;
	u16 queue_select;
	struct vb_queue queue;
	struct vb_request request[VB_MAX_QUEUE];
	u32 running;
	u64 arrivals;
	struct vb_segment segment[VB_MAX_SEGMENTS + 2];
	u32 segments;
	struct rl_bucket iops;
	struct rl_bucket bytes;
	struct rl_bucket link;
	u32 slow;
	struct rl_store store;
	struct rl_armed armed[VB_FAULTS];
	u64 nr_transfers;
	bool lose_next;
	struct rl_bad bad;
	u64 bounce[VB_BOUNCE_SECTORS * RL_SECTOR_BYTES / sizeof(u64)];
};

extern const struct rl_kind vb_kind;

/* The queue (queue.c). */

/* The driver has put requests into its ring: begin them all. */
void vb_queue_notify(struct vb_model *model);

/* Requests that are due by @now are answered, in the order of their times. */
void vb_queue_answer(struct vb_model *model, u64 now);

/* Return: when the next is due, RL_NEVER if none runs. */
u64 vb_queue_wake_ns(const struct vb_model *model);

/* All requests are forgotten. */
void vb_queue_forget(struct vb_model *model);

/* Requests (request.c). */

/* Begin the request whose segments were looked up; it has a place. */
void vb_request_begin(struct vb_model *model, struct vb_request *request, u64 now);

const char *vb_request_name(const struct rl_log_entry *entry);

/* Faults by time that are due by @now (request.c). */
void vb_fault_advance(struct vb_model *model, u64 now);
void vb_fault_create(struct vb_model *model);
u64 vb_fault_wake_ns(const struct vb_model *model);

#endif
