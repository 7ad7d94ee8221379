// SPDX-License-Identifier: GPL-2.0-only
/* The reply to counters-get: one snapshot in one message. */
#include "netlink.h"
#include "compat.h"
#include "target.h"

#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/genetlink.h>

/**
 * struct snapshot - a snapshot for one reader
 * @target: its last snapshot is sent
 * @base: number of the snapshot that the reader has, 0 for none of use
 * @groups: groups that the reader may get
 */
struct snapshot {
	const struct raidtrace_target *target;
	u64 base;
	u32 groups;
};

#define HWQ(attr, member) \
	RAIDTRACE_COUNTER(HWQ, attr, hwq, member, HWQ, false, EVENT_COUNTERS)
#define ORIGIN(attr, member, bios) \
	RAIDTRACE_COUNTER(ORIGIN, attr, origin, member, ORIGIN, bios, EVENT_COUNTERS)
#define SUBMITTER(attr, member) \
	RAIDTRACE_COUNTER(SUBMITTER, attr, submitted, member, SUBMITTER, true, EVENT_COUNTERS)

static const struct raidtrace_counter hwq_counters[] = {
	HWQ(ISSUED, issued),
	HWQ(COMPLETED_SAME_CPU, completed_same_cpu),
	HWQ(COMPLETED_OTHER_CPU, completed_other_cpu),
	HWQ(COMPLETED_OTHER_NODE, completed_other_node),
	HWQ(RETURNED, returned),
	HWQ(CARRIED, carried),
	HWQ(DEPTH_SUM_NS, depth_sum_ns),
};

static const struct raidtrace_counter origin_counters[] = {
	ORIGIN(QUEUED, queued, true),
	ORIGIN(BYTES_QUEUED, bytes_queued, true),
	ORIGIN(SEEKS_QUEUED, seeks_queued, true),
	ORIGIN(ISSUED, issued, false),
	ORIGIN(BYTES_ISSUED, bytes_issued, false),
};

static const struct raidtrace_counter submitter_counters[] = {
	SUBMITTER(QUEUED, queued),
	SUBMITTER(BYTES_QUEUED, bytes_queued),
	SUBMITTER(SEEKS_QUEUED, seeks_queued),
	SUBMITTER(COMPLETED, completed),
	SUBMITTER(D2C_SUM_NS, d2c_sum_ns),
};

/* A reader without privilege gets the last snapshot again if it is younger. */
#define UNPRIVILEGED_NS	(50 * NSEC_PER_MSEC)

/*
 * A message is written in pieces of two pages: recent changes and a quiet disk fit one. Any part of it
 * fits a piece. Pieces behind the first one are copied to fragments of four pages.
 */
#define PIECE_ROOM	(SKB_WITH_OVERHEAD(8192) - nlmsg_total_size(genlmsg_total_size(0)))
#define FRAGMENT_ORDER	2
#define FRAGMENT_BYTES	(PAGE_SIZE << FRAGMENT_ORDER)

static_assert(FRAGMENT_BYTES * MAX_SKB_FRAGS > 3 * sizeof(struct raidtrace_account) / 2);

/*
 * Put an attribute of @size bytes, a multiple of four; the caller knows that there is room. A snapshot
 * has hundreds of attributes, and nla_put() needs five calls for each. Returns its data.
 */
static void *put_data(struct sk_buff *skb, int attr, unsigned int size)
{
	struct nlattr *nla = __skb_put(skb, nla_attr_size(size));

	nla->nla_type = attr;
	nla->nla_len = nla_attr_size(size);
	return nla_data(nla);
}

/* Put a number. Returns 0 or -EMSGSIZE. */
static int put_u32(struct sk_buff *skb, int attr, u32 value)
{
	if (skb_tailroom(skb) < nla_attr_size(sizeof(value)))
		return -EMSGSIZE;
	*(u32 *)put_data(skb, attr, sizeof(value)) = value;
	return 0;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value, int pad)
{
	if (nla_need_padding_for_64bit(skb) || skb_tailroom(skb) < nla_attr_size(sizeof(value)))
		return nla_put_u64_64bit(skb, attr, value, pad);
	memcpy(put_data(skb, attr, sizeof(value)), &value, sizeof(value));
	return 0;
}

static bool has_group(const struct snapshot *snapshot, u32 group, bool bios)
{
	return group & snapshot->groups && (bios || !snapshot->target->bio_based);
}

/*
 * Put the counters that a reader may get. If the kernel lacks a tracepoint, its counters are left
 * out: they are unknown, not zero. Returns 0 or -EMSGSIZE.
 */
static int put_each(struct sk_buff *skb, const struct snapshot *snapshot,
		    const struct raidtrace_counter *counter, unsigned int nr,
		    const void *counters, int pad)
{
	int err = 0;

	for (; nr-- && !err; counter++) {
		if (!has_group(snapshot, counter->group, counter->bios) ||
		    (counter->event != RAIDTRACE_EVENT_COUNTERS &&
		     !raidtrace_probe_counts(counter->event, snapshot->target->bio_based)))
			continue;
		err = put_u64(skb, counter->attr, *(const u64 *)(counters + counter->offset), pad);
	}
	return err;
}

/* Whether depth-sum-ns of a direction, or of all, is sent. */
static bool has_depth_sum(const struct snapshot *snapshot, u32 direction)
{
	return snapshot->groups & RAIDTRACE_GROUP_DEPTH &&
	       (direction <= RAIDTRACE_DIRECTION_WRITE || direction == RAIDTRACE_DIRECTION_ALL);
}

/*
 * Whether the counters of a direction, or of all, changed since the reader's snapshot. While
 * requests are in flight, depth-sum-ns grows without an event.
 */
static bool flow_changed(const struct snapshot *snapshot, u32 direction, const void *counters,
			 size_t size)
{
	return raidtrace_target_changed(snapshot->target, snapshot->base, counters, size) ||
	       (has_depth_sum(snapshot, direction) &&
		snapshot->target->at_snapshot.queue.in_flight[direction]);
}

/* Requests in flight of a direction, or of all. */
static int put_in_flight(struct sk_buff *skb, const struct snapshot *snapshot,
			 enum raidtrace_direction direction)
{
	const struct raidtrace_queue *state = &snapshot->target->at_snapshot.queue;
	unsigned int set = min_t(unsigned int, direction, RAIDTRACE_DEPTH_ALL);
	int err = put_u32(skb, RAIDTRACE_A_FLOW_IN_FLIGHT, state->in_flight[direction]) ?:
		  put_u32(skb, RAIDTRACE_A_FLOW_IN_FLIGHT_MAX,
			  state->in_flight_max[direction]);

	if (err || !has_depth_sum(snapshot, direction))
		return err;
	return put_u64(skb, RAIDTRACE_A_FLOW_DEPTH_SUM_NS,
		       snapshot->target->total->depth_sum_ns[set],
				 RAIDTRACE_A_FLOW_PAD);
}

static int put_flow_state(struct sk_buff *skb, const struct snapshot *snapshot, u32 direction,
			  const void *counters)
{
	if (snapshot->target->bio_based)
		return 0;
	return put_u64(skb, RAIDTRACE_A_FLOW_CARRIED,
		       snapshot->target->at_snapshot.queue.carried[direction],
				 RAIDTRACE_A_FLOW_PAD) ?:
	       put_in_flight(skb, snapshot, direction);
}

/* Requests in flight follow from the counters. */
static int put_hwq_state(struct sk_buff *skb, const struct snapshot *snapshot, u32 row,
			 const void *counters)
{
	const struct raidtrace_hwq *hwq = counters;
	u64 ended = hwq->completed_same_cpu + hwq->completed_other_cpu +
		    hwq->completed_other_node + hwq->returned;

	return put_u32(skb, RAIDTRACE_A_HWQ_IN_FLIGHT, hwq->issued + hwq->carried - ended) ?:
	       put_u32(skb, RAIDTRACE_A_HWQ_IN_FLIGHT_MAX, hwq->carried + hwq->depth_rises);
}

/* Seeks to the requests of a class, from those of all classes. */
static int put_origin_seeks(struct sk_buff *skb, const struct snapshot *snapshot, u32 row,
			    const void *counters)
{
	const struct raidtrace_account *total = snapshot->target->total;
	u64 seeks = 0, sectors = 0;
	unsigned int bin;

	if (snapshot->target->bio_based)
		return 0;
	for (bin = row; bin < RAIDTRACE_BLAME_BINS; bin += RAIDTRACE_CLASSES) {
		seeks += total->blame[bin];
		sectors += total->blame_distance[bin];
	}
	return put_u64(skb, RAIDTRACE_A_ORIGIN_SEEKS, seeks, RAIDTRACE_A_ORIGIN_PAD) ?:
	       put_u64(skb, RAIDTRACE_A_ORIGIN_SEEK_SECTORS, sectors,
		       RAIDTRACE_A_ORIGIN_PAD);
}

/* The row of the rest has no process. */
static int put_submitter_task(struct sk_buff *skb, const struct snapshot *snapshot, u32 row,
			      const void *counters)
{
	const struct raidtrace_task *task = &snapshot->target->at_snapshot.submitters.task[row];
	char comm[TASK_COMM_LEN];

	if (row == RAIDTRACE_SUBMITTER_REST)
		return 0;
	strscpy(comm, (const char *)task->comm, sizeof(comm));
	return put_u32(skb, RAIDTRACE_A_SUBMITTER_PID, task->pid) ?:
	       nla_put_string(skb, RAIDTRACE_A_SUBMITTER_COMM, comm) ?:
	       (task->cgroup ? put_u64(skb, RAIDTRACE_A_SUBMITTER_CGROUP, task->cgroup,
				       RAIDTRACE_A_SUBMITTER_PAD) : 0);
}

/**
 * struct rows - structures of an account that are sent alike, one nest each
 * @nest: attribute of a row
 * @index: attribute of its number
 * @pad: padding in the nest
 * @group: its group
 * @bios: bio-based disks have it
 * @sparse: rows without any count are left out
 * @nr: number of rows
 * @size: of a row
 * @offset: of the first row in the account
 * @counters: counters of a row
 * @nr_counters: their number
 * @put_state: puts the rest of a row, NULL for nothing
 */
struct rows {
	u16 nest;
	u16 index;
	u16 pad;
	u16 group;
	bool bios;
	bool sparse;
	unsigned int nr;
	size_t size;
	size_t offset;
	const struct raidtrace_counter *counters;
	unsigned int nr_counters;
	int (*put_state)(struct sk_buff *skb, const struct snapshot *snapshot, u32 row,
			 const void *counters);
};

#define ROWS(set, index_, group_, bios_, sparse_, member, counters_, put_state_) \
	{ .nest = RAIDTRACE_A_COUNTERS_##set, .index = RAIDTRACE_A_##set##_##index_, \
	  .pad = RAIDTRACE_A_##set##_PAD, .group = RAIDTRACE_GROUP_##group_, \
	  .bios = bios_, .sparse = sparse_, \
	  .nr = sizeof_field(struct raidtrace_account, member) / \
		sizeof_field(struct raidtrace_account, member[0]), \
	  .size = sizeof_field(struct raidtrace_account, member[0]), \
	  .offset = offsetof(struct raidtrace_account, member), \
	  .counters = counters_, .nr_counters = ARRAY_SIZE(counters_), .put_state = put_state_ }

static const struct rows all_rows[] = {
	ROWS(FLOW, DIRECTION, FLOW, true, false, flow, raidtrace_flow_counters, put_flow_state),
	ROWS(ORIGIN, CLASS, ORIGIN, true, false, origin, origin_counters, put_origin_seeks),
	ROWS(SUBMITTER, INDEX, SUBMITTER, true, true, submitted, submitter_counters,
	     put_submitter_task),
	ROWS(HWQ, INDEX, HWQ, false, true, hwq, hwq_counters, put_hwq_state),
};

static int put_row(struct sk_buff *skb, const struct snapshot *snapshot, const struct rows *rows,
		   u32 row)
{
	const void *counters = (const void *)snapshot->target->total + rows->offset +
			       row * rows->size;
	bool changed = rows->nest == RAIDTRACE_A_COUNTERS_FLOW ?
		       flow_changed(snapshot, row, counters, rows->size) :
		       raidtrace_target_changed(snapshot->target, snapshot->base, counters,
						rows->size);
	struct nlattr *nest;
	int err;

	if (!changed || (rows->sparse && !memchr_inv(counters, 0, rows->size)))
		return 0;
	nest = nla_nest_start(skb, rows->nest);
	if (!nest)
		return -EMSGSIZE;
	err = put_u32(skb, rows->index, row) ?:
	      put_each(skb, snapshot, rows->counters, rows->nr_counters, counters, rows->pad) ?:
	      (rows->put_state ? rows->put_state(skb, snapshot, row, counters) : 0);
	nla_nest_end(skb, nest);
	return err;
}

/* Requests in flight of all directions, when those of one may have changed. */
static int put_all_in_flight(struct sk_buff *skb, const struct snapshot *snapshot)
{
	const struct raidtrace_target *target = snapshot->target;
	struct nlattr *nest;
	int err;

	if (!flow_changed(snapshot, RAIDTRACE_DIRECTION_ALL, target->total->flow,
			  sizeof(target->total->flow)))
		return 0;
	nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_FLOW);
	if (!nest)
		return -EMSGSIZE;
	err = put_u32(skb, RAIDTRACE_A_FLOW_DIRECTION, RAIDTRACE_DIRECTION_ALL) ?:
	      (target->bio_based ? 0 : put_in_flight(skb, snapshot, RAIDTRACE_DIRECTION_ALL));
	nla_nest_end(skb, nest);
	return err;
}

static int put_streams(struct sk_buff *skb, const struct snapshot *snapshot)
{
	const struct raidtrace_target *target = snapshot->target;
	const struct raidtrace_streams *streams = &target->at_snapshot.queue.position.streams;
	int err;

	if (!(snapshot->groups & RAIDTRACE_GROUP_STREAM))
		return 0;
	err = put_u32(skb, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED,
		      target->at_snapshot.streams_alive) ?:
	      put_u64(skb, RAIDTRACE_A_COUNTERS_STREAMS_FORGOTTEN_QUEUED,
		      target->at_snapshot.streams_forgotten, RAIDTRACE_A_COUNTERS_PAD);
	if (err || target->bio_based)
		return err;
	return put_u32(skb, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE,
		       raidtrace_streams_alive(streams, target->at_snapshot.queue.last_ns)) ?:
	       put_u64(skb, RAIDTRACE_A_COUNTERS_STREAMS_FORGOTTEN, streams->forgotten,
		       RAIDTRACE_A_COUNTERS_PAD);
}

static int put_head(struct sk_buff *skb, struct raidtrace_target *target,
		    const struct snapshot *snapshot)
{
	u64 readahead;
	enum raidtrace_state state = raidtrace_target_state(target, &readahead);
	int err;

	err = put_u32(skb, RAIDTRACE_A_COUNTERS_ID, target->id) ?:
	      put_u64(skb, RAIDTRACE_A_COUNTERS_SINCE_NS, target->at_snapshot.queue.since_ns,
		      RAIDTRACE_A_COUNTERS_PAD) ?:
	      put_u64(skb, RAIDTRACE_A_COUNTERS_NOW_NS, target->at_snapshot.queue.last_ns,
		      RAIDTRACE_A_COUNTERS_PAD) ?:
	      put_u32(skb, RAIDTRACE_A_COUNTERS_RESETS, target->resets) ?:
	      put_u32(skb, RAIDTRACE_A_COUNTERS_STATE, state) ?:
	      put_u32(skb, RAIDTRACE_A_COUNTERS_GROUPS, snapshot->groups) ?:
	      put_u64(skb, RAIDTRACE_A_COUNTERS_SNAPSHOT, target->snapshot,
		      RAIDTRACE_A_COUNTERS_PAD);
	if (!err && snapshot->base)
		err = nla_put_flag(skb, RAIDTRACE_A_COUNTERS_PARTIAL);
	if (err || state == RAIDTRACE_STATE_GONE)
		return err;
	return put_u64(skb, RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS, readahead,
		       RAIDTRACE_A_COUNTERS_PAD);
}

/* Starting a new piece costs as much as 16 bins, so shorter gaps are sent along. */
#define CLOSE	(2 * RAIDTRACE_LOT)

/* Bytes before the bins: the headers of the nest and of the bins, three numbers. */
#define PIECE_HEAD	(2 * NLA_HDRLEN + 3 * nla_attr_size(sizeof(u32)))

/* Put bins without the zeroes at either end. */
static int put_piece(struct sk_buff *skb, enum raidtrace_histogram_kind kind,
		     enum raidtrace_direction direction, u32 first, u32 end, const u64 *bins)
{
	struct nlattr *nest;
	u32 size;

	while (end > first && !bins[end - 1])
		end--;
	if (end == first)
		return 0;
	while (!bins[first])
		first++;
	size = (end - first) * sizeof(*bins);
	if (skb_tailroom(skb) < PIECE_HEAD + size)
		return -EMSGSIZE;
	nest = put_data(skb, RAIDTRACE_A_COUNTERS_HISTOGRAM | NLA_F_NESTED, 0) - NLA_HDRLEN;
	*(u32 *)put_data(skb, RAIDTRACE_A_HISTOGRAM_KIND, sizeof(u32)) = kind;
	*(u32 *)put_data(skb, RAIDTRACE_A_HISTOGRAM_DIRECTION, sizeof(u32)) = direction;
	*(u32 *)put_data(skb, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, sizeof(u32)) = first;
	memcpy(put_data(skb, RAIDTRACE_A_HISTOGRAM_COUNTS, size), bins + first, size);
	nla_nest_end(skb, nest);
	return 0;
}

/* Put the bins that changed, and short gaps between them. */
static int put_changed(struct sk_buff *skb, const struct snapshot *snapshot,
		       enum raidtrace_histogram_kind kind, enum raidtrace_direction direction,
		       const u64 *bins)
{
	u32 begin = bins - (const u64 *)snapshot->target->total, all = raidtrace_hist_bins(kind);
	u32 lots = DIV_ROUND_UP(begin + all, RAIDTRACE_LOT), lot = begin / RAIDTRACE_LOT;
	u32 at, first = 0, end = 0;
	int err = 0;

	for (; !err; lot++) {
		lot = raidtrace_changes_next(snapshot->target->changes, snapshot->base, lot, lots);
		if (lot >= lots)
			break;
		at = max_t(u32, lot * RAIDTRACE_LOT, begin) - begin;
		if (end && at - end > CLOSE) {
			err = put_piece(skb, kind, direction, first, end, bins);
			end = 0;
		}
		first = end ? first : at;
		end = min_t(u32, (lot + 1) * RAIDTRACE_LOT - begin, all);
	}
	return err || !end ? err : put_piece(skb, kind, direction, first, end, bins);
}

static int put_histogram(struct sk_buff *skb, const struct snapshot *snapshot,
			 enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	const u64 *bins = raidtrace_account_bins(snapshot->target->total, kind, direction);

	if (snapshot->base)
		return put_changed(skb, snapshot, kind, direction, bins);
	return put_piece(skb, kind, direction, 0, raidtrace_hist_bins(kind), bins);
}

static int put_disk_state(struct sk_buff *skb, struct raidtrace_target *target,
			  const struct snapshot *snapshot)
{
	return put_head(skb, target, snapshot) ?:
	       put_each(skb, snapshot, raidtrace_disk_counters, ARRAY_SIZE(raidtrace_disk_counters),
			&target->total->disk, RAIDTRACE_A_COUNTERS_PAD) ?:
	       put_streams(skb, snapshot);
}

/*
 * The first of the rows [@row, @nr) of @per counters that may have changed since the reader's snapshot,
 * which it has; @nr for none. @first: the first counter of row 0.
 */
static unsigned int changed_row(const struct snapshot *snapshot, unsigned int first,
				unsigned int per, unsigned int row, unsigned int nr)
{
	unsigned int lot;

	lot = raidtrace_changes_next(snapshot->target->changes, snapshot->base,
				     (first + row * per) / RAIDTRACE_LOT,
				     DIV_ROUND_UP(first + nr * per, RAIDTRACE_LOT));
	if (lot * RAIDTRACE_LOT <= first + row * per)
		return row;
	return min((lot * RAIDTRACE_LOT - first) / per, nr);
}

/* The first row from @row on that must be sent; their number for none. */
static unsigned int next_row(const struct snapshot *snapshot, const struct rows *rows,
			     unsigned int row)
{
	if (!has_group(snapshot, rows->group, rows->bios))
		return rows->nr;
	/* Flows change without an event, too. */
	if (!snapshot->base || rows->nest == RAIDTRACE_A_COUNTERS_FLOW)
		return row;
	return changed_row(snapshot, rows->offset / sizeof(u64), rows->size / sizeof(u64), row,
			   rows->nr);
}

#define ALL_DIRECTIONS	(RAIDTRACE_DIRECTION_MAX + 1)

/* The first direction from @direction on whose histogram must be sent; ALL_DIRECTIONS for none. */
static unsigned int next_direction(const struct snapshot *snapshot, unsigned int kind,
				   unsigned int direction)
{
	const struct raidtrace_histogram *histogram = &raidtrace_histograms[kind];
	unsigned int row = min_t(unsigned int, direction, histogram->rows);
	unsigned int nr = histogram->rows + histogram->all;

	if (!has_group(snapshot, histogram->group, histogram->bios) || row >= nr)
		return ALL_DIRECTIONS;
	if (snapshot->base)
		row = changed_row(snapshot, histogram->offset, histogram->bins, row, nr);
	if (row == nr)
		return ALL_DIRECTIONS;
	return row < histogram->rows ? row : RAIDTRACE_DIRECTION_ALL;
}

/*
 * Put a part of the message by its number, which becomes that of the next part; parts that did not
 * change are skipped. Returns 1 behind the last one, 0, or -EMSGSIZE.
 */
static int put_part(struct sk_buff *skb, struct raidtrace_target *target,
		    const struct snapshot *snapshot, unsigned int *number)
{
	unsigned int part = *number, row, i;

	*number += 1;
	if (!part--)
		return put_disk_state(skb, target, snapshot);
	for (i = 0; i < ARRAY_SIZE(all_rows); i++) {
		if (part < all_rows[i].nr) {
			row = next_row(snapshot, &all_rows[i], part);
			if (row == all_rows[i].nr) {
				*number += row - part - 1;
				return 0;
			}
			*number += row - part;
			return put_row(skb, snapshot, &all_rows[i], row);
		}
		part -= all_rows[i].nr;
	}
	if (!part--)
		return put_all_in_flight(skb, snapshot);
	if (part >= RAIDTRACE_KINDS * ALL_DIRECTIONS)
		return 1;
	row = next_direction(snapshot, part / ALL_DIRECTIONS, part % ALL_DIRECTIONS);
	if (row == ALL_DIRECTIONS) {
		*number += row - part % ALL_DIRECTIONS - 1;
		return 0;
	}
	*number += row - part % ALL_DIRECTIONS;
	return put_histogram(skb, snapshot, part / ALL_DIRECTIONS, row);
}

/* Copy bytes to the fragments of a message. Returns 0, -ENOMEM or -EMSGSIZE. */
static int append(struct sk_buff *skb, const unsigned char *bytes, unsigned int left)
{
	unsigned int nr, used, size;
	struct page *page;
	skb_frag_t *last;

	for (; left; left -= size, bytes += size) {
		nr = skb_shinfo(skb)->nr_frags;
		if (!nr || skb_frag_size(&skb_shinfo(skb)->frags[nr - 1]) == FRAGMENT_BYTES) {
			if (nr == MAX_SKB_FRAGS)
				return -EMSGSIZE;
			page = alloc_pages(RAIDTRACE_GFP | __GFP_COMP, FRAGMENT_ORDER);
			if (!page)
				return -ENOMEM;
			skb_add_rx_frag(skb, nr++, page, 0, 0, FRAGMENT_BYTES);
		}
		last = &skb_shinfo(skb)->frags[nr - 1];
		used = skb_frag_size(last);
		size = min_t(unsigned int, left, FRAGMENT_BYTES - used);
		memcpy(skb_frag_address(last) + used, bytes, size);
		skb_frag_size_add(last, size);
		skb->len += size;
		skb->data_len += size;
	}
	return 0;
}

/*
 * Put all parts, the first ones in @skb, the others in @piece and from there in the fragments of @skb.
 * Returns 0 or -errno.
 */
static int put_parts(struct sk_buff *skb, struct sk_buff **piece, struct raidtrace_target *target,
		     const struct snapshot *snapshot)
{
	struct sk_buff *to = skb;
	unsigned int part = 0, next, mark;
	int err;

	for (;;) {
		mark = to->len;
		next = part;
		err = put_part(to, target, snapshot, &next);
		if (err > 0)
			return to == skb ? 0 : append(skb, to->data, to->len);
		if (!err) {
			part = next;
			continue;
		}
		/* The piece is full. */
		skb_trim(to, mark);
		if (to == skb) {
			to = *piece = alloc_skb(PIECE_ROOM, RAIDTRACE_GFP);
			err = to ? 0 : -ENOMEM;
		} else if (mark) {
			err = append(skb, to->data, mark);
			skb_trim(to, 0);
		}
		if (err)
			return err;
	}
}

/* The message; NULL without memory. */
static struct sk_buff *counters_message(struct raidtrace_target *target,
					const struct snapshot *snapshot, struct genl_info *info,
					const struct genl_family *family)
{
	struct sk_buff *skb = genlmsg_new(PIECE_ROOM, RAIDTRACE_GFP), *piece = NULL;
	void *header;
	int err;

	if (!skb)
		return NULL;
	header = genlmsg_put_reply(skb, info, family, 0, info->genlhdr->cmd);
	err = header ? put_parts(skb, &piece, target, snapshot) : -EMSGSIZE;
	kfree_skb(piece);
	if (err) {
		nlmsg_free(skb);
		return NULL;
	}
	nlmsg_hdr(skb)->nlmsg_len = skb->len;
	return skb;
}

/*
 * A snapshot as the reply to a request; without privilege of the group flow alone and at most
 * UNPRIVILEGED_NS old. Returns ERR_PTR(-errno) with the reason in @info. Context: process, target's
 * lock.
 */
struct sk_buff *raidtrace_counters_message(struct raidtrace_target *target,
					   struct genl_info *info,
					   const struct genl_family *family, bool privileged)
{
	struct nlattr *base = info->attrs[RAIDTRACE_A_COUNTERS_SNAPSHOT];
	struct snapshot snapshot = {
		.target = target,
		.groups = privileged ? target->options.groups : RAIDTRACE_GROUP_FLOW,
	};
	struct sk_buff *skb;

	raidtrace_target_collect(target, privileged ? 0 : UNPRIVILEGED_NS);
	snapshot.base = raidtrace_target_base(target, base ? nla_get_u64(base) : 0);
	skb = counters_message(target, &snapshot, info, family);
	if (skb)
		return skb;
	return ERR_PTR(raidtrace_refuse(-ENOMEM, info->extack,
					"not enough memory for the reply"));
}
