// SPDX-License-Identifier: GPL-2.0-only
/* Events of requests with the driver: issue and completion. As kmod/probe-request.c. */
#include "probe.h"

/*
 * Write the bios of a request, which has some: those that end with @bytes if @ends. Each record has several. The block
 * layer limits their number. Linux 6.1 takes a loop that ends with its condition.
 */
static __always_inline void write_bios(const struct door_disk *disk, struct request *rq, u32 kind, bool ends, u32 bytes)
{
	u64 head = raidtrace_event_head(kind, op_direction(rq->cmd_flags, 1), 0, 0, 0);
	struct bio *bio = rq->bio;
	u32 i = 0, at;

	do {
		struct door_bios *record;
		struct slot slot;

		if (ends && bio->bi_iter.bi_size > bytes)
			return;
		if (!reserve(disk, head, sizeof(*record), &slot))
			return;
		record = (void *)slot.record;
		record->request = (u64)rq;
		for (at = 0; at < DOOR_BIOS; at++) {
			u32 size = bio ? bio->bi_iter.bi_size : 0;

			record->bio[at] = 0;
			if (!bio || (ends && size > bytes))
				continue;
			record->bio[at] = (u64)bio;
			bytes -= size;
			bio = bio->bi_next;
		}
		submit(&slot);
	} while (bio && ++i < DOOR_BIOS_MOST / DOOR_BIOS);
}

/* Whether a request with bios has more than one. Its own members are read at once, those of a bio with a check. */
static __always_inline bool has_several(struct request *rq)
{
	return rq->bio != rq->biotail;
}

static __always_inline u32 row_flags(struct request *rq)
{
	u32 row = rq->mq_hctx->queue_num;

	return (row < RAIDTRACE_HWQ_REST ? row : RAIDTRACE_HWQ_REST) << RAIDTRACE_EVENT_ROW;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_rq_issue, struct request *rq)
{
	struct door_disk *disk = disk_of_request(rq);
	enum raidtrace_event kind = RAIDTRACE_EVENT_ISSUE;
	struct slot slot;
	struct bio *bio;
	u32 flags;

	if (!disk)
		return 0;
	bio = disk->groups & RAIDTRACE_GROUPS_BIOS ? rq->bio : NULL;
	flags = unplaced(rq->cmd_flags);
	if (wants_hwq(disk)) {
		kind = RAIDTRACE_EVENT_ISSUE_HWQ;
		flags |= row_flags(rq);
	}
	if (unlikely(bio && has_several(rq))) {
		write_bios(disk, rq, DOOR_ISSUE_BIOS, false, 0);
		bio = NULL;
	}
	if (!reserve(disk, raidtrace_event_head(kind, request_direction(rq), 0, flags, rq->__data_len), 5 * sizeof(u64),
		     &slot))
		return 0;
	slot.record[2] = (u64)rq;
	slot.record[3] = rq->__sector;
	slot.record[4] = (u64)bio;
	submit(&slot);
	return 0;
}

/* Bios that end with a request; see bios_ended() of the module. */
static __always_inline struct bio *bios_ended(const struct door_disk *disk, struct request *rq)
{
	bool ended = disk->groups & RAIDTRACE_GROUPS_BIOS && !(rq->rq_flags & door_constants.rq_flush_seq) &&
		     op_direction(rq->cmd_flags, 1) != RAIDTRACE_DIRECTION_PASSTHROUGH;

	return ended ? rq->bio : NULL;
}

static __always_inline u32 completion_flags(struct request *rq, bool error, u32 bytes)
{
	u32 flags = error ? RAIDTRACE_EVENT_ERROR : 0;

	if (bytes < rq->__data_len)
		flags |= RAIDTRACE_EVENT_PART;
	if (rq->rq_flags & door_constants.rq_flush_seq && (rq->cmd_flags & 255) != 2)
		flags |= RAIDTRACE_EVENT_SEQUENCE;
	if (rq->state != MQ_RQ_IDLE)
		flags |= RAIDTRACE_EVENT_STARTED;
	return flags;
}

/* Without bytes: see write_complete_empty() of the module. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_rq_complete, struct request *rq, int status, unsigned int bytes)
{
	struct door_disk *disk = disk_of_request(rq);
	enum raidtrace_event kind = RAIDTRACE_EVENT_COMPLETE;
	struct slot slot;
	struct bio *bio;
	u32 flags;

	if (!disk)
		return 0;
	if (unlikely(!bytes && !rq->bio && (rq->cmd_flags & 255) != 2 &&
		     op_direction(rq->cmd_flags, 1) != RAIDTRACE_DIRECTION_PASSTHROUGH))
		return 0;
	bio = bios_ended(disk, rq);
	if (unlikely(bio && has_several(rq))) {
		write_bios(disk, rq, DOOR_ENDS, true, bytes);
		bio = NULL;
	}
	if (unlikely(bytes < rq->__data_len && bio && bio->bi_iter.bi_size > bytes))
		bio = NULL;
	if (wants_hwq(disk))
		kind = RAIDTRACE_EVENT_COMPLETE_HWQ;
	flags = completion_flags(rq, status & 255, bytes);
	if (!reserve(disk, raidtrace_event_head(kind, request_direction(rq), 0, flags, bytes), 4 * sizeof(u64), &slot))
		return 0;
	slot.record[2] = (u64)rq;
	slot.record[3] = (u64)bio;
	submit(&slot);
	return 0;
}
