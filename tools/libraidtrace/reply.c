// SPDX-License-Identifier: GPL-2.0-or-later

/* Parsers for the replies of raidtrace.ko. No socket is needed. */

#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

/* No histogram has this many bins. */
#define MOST_BINS	65536

static void copy_text(char *to, size_t size, struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

/* The number in an attribute; 0 if it is missing or too short. */
static uint32_t attr_u32(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 4 ? nla_get_u32(attr) : 0;
}

static uint64_t attr_u64(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 8 ? nla_get_u64(attr) : 0;
}

int rt_parse_info(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_INFO_MAX + 1], *attr;
	struct rt_info *info = ret;
	size_t used = 0;
	int rest;

	if (genlmsg_parse(nlh, 0, attrs, RAIDTRACE_A_INFO_MAX, NULL) ||
	    !attrs[RAIDTRACE_A_INFO_ABI])
		return -EBADMSG;
	info->abi = attr_u32(attrs[RAIDTRACE_A_INFO_ABI]);
	copy_text(info->version, sizeof(info->version),
		  attrs[RAIDTRACE_A_INFO_VERSION]);
	info->nr_targets = attr_u32(attrs[RAIDTRACE_A_INFO_NR_TARGETS]);
	info->max_targets = attr_u32(attrs[RAIDTRACE_A_INFO_MAX_TARGETS]);
	info->now_ns = attr_u64(attrs[RAIDTRACE_A_INFO_NOW_NS]);
	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rest) {
		if (nla_type(attr) != RAIDTRACE_A_INFO_UNAVAILABLE ||
		    used >= sizeof(info->unavailable))
			continue;
		used += snprintf(info->unavailable + used,
				 sizeof(info->unavailable) - used, "%s%.*s",
				 used ? " " : "", nla_len(attr),
				 nla_get_string(attr));
	}
	return 0;
}

int rt_parse_target(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_TARGET_MAX + 1];
	struct rt_target *t = ret;

	if (genlmsg_parse(nlh, 0, attrs, RAIDTRACE_A_TARGET_MAX, NULL) ||
	    !attrs[RAIDTRACE_A_TARGET_ID])
		return -EBADMSG;
	t->id = attr_u32(attrs[RAIDTRACE_A_TARGET_ID]);
	t->major = attr_u32(attrs[RAIDTRACE_A_TARGET_MAJOR]);
	t->minor = attr_u32(attrs[RAIDTRACE_A_TARGET_MINOR]);
	copy_text(t->disk, sizeof(t->disk), attrs[RAIDTRACE_A_TARGET_DISK]);
	t->gone = attr_u32(attrs[RAIDTRACE_A_TARGET_STATE]) == RAIDTRACE_STATE_GONE;
	t->bio_based = attrs[RAIDTRACE_A_TARGET_BIO_BASED];
	t->attached_ns = attr_u64(attrs[RAIDTRACE_A_TARGET_ATTACHED_NS]);
	t->groups = attr_u32(attrs[RAIDTRACE_A_TARGET_GROUPS]);
	t->streams = attr_u32(attrs[RAIDTRACE_A_TARGET_STREAMS]);
	t->place_sectors = attr_u64(attrs[RAIDTRACE_A_TARGET_PLACE_SECTORS]);
	return 0;
}

/*
 * Each attribute of a nest, or of a message. Flows and histograms are most of a sample, and libnl's own loop needs
 * three calls for each attribute.
 */
#define for_each_nested(attr, left, nest)				\
	for_each_attr(attr, left, nla_data(nest), nla_len(nest))
#define for_each_attr_of(attr, left, nlh)				\
	for_each_attr(attr, left, nlmsg_attrdata(nlh, GENL_HDRLEN),	\
		      nlmsg_attrlen(nlh, GENL_HDRLEN))
#define for_each_attr(attr, left, first, size)				\
	for ((attr) = (struct nlattr *)(first), (left) = (size);	\
	     (left) >= NLA_HDRLEN && (attr)->nla_len >= NLA_HDRLEN &&	\
	     (attr)->nla_len <= (left);					\
	     (left) -= NLA_ALIGN((attr)->nla_len),			\
	     (attr) = (struct nlattr *)((char *)(attr) +		\
					NLA_ALIGN((attr)->nla_len)))

/* The number in an attribute of up to eight bytes, whatever its size. */
static uint64_t value_of(const struct nlattr *attr)
{
	const char *data = (const char *)attr + NLA_HDRLEN;
	uint64_t large = 0;
	uint32_t small = 0;

	if (attr->nla_len >= NLA_HDRLEN + sizeof(large)) {
		memcpy(&large, data, sizeof(large));
		return large;
	}
	if (attr->nla_len >= NLA_HDRLEN + sizeof(small))
		memcpy(&small, data, sizeof(small));
	return small;
}

/* Offset in struct rt_flow and bit of the counter of each attribute. The bit of other attributes is 0. */
static const struct {
	uint16_t offset;
	uint64_t bit;
} flow_counters[RAIDTRACE_A_FLOW_MAX + 1] = {
#define X(member, attribute, ...)					\
	[RAIDTRACE_A_FLOW_##attribute] = {				\
		offsetof(struct rt_flow, member), RT_COUNTER_BIT(attribute) \
	},
	RT_FLOW_COUNTERS(X)
#undef X
};

static void take_counter(const struct nlattr *attr, struct rt_flow *flow,
			 uint64_t *known)
{
	unsigned int type = attr->nla_type & NLA_TYPE_MASK;

	if (type == RAIDTRACE_A_FLOW_IN_FLIGHT) {
		flow->in_flight = (uint32_t)value_of(attr);
		*known |= RT_COUNTER_BIT(IN_FLIGHT);
	} else if (type == RAIDTRACE_A_FLOW_IN_FLIGHT_MAX) {
		flow->in_flight_max = (uint32_t)value_of(attr);
	} else if (type <= RAIDTRACE_A_FLOW_MAX && flow_counters[type].bit) {
		*(uint64_t *)((char *)flow + flow_counters[type].offset) =
			value_of(attr);
		*known |= flow_counters[type].bit;
	}
}

static int parse_flow(struct nlattr *nest, struct rt_counters *c)
{
	uint64_t all = RT_COUNTER_BIT(IN_FLIGHT), known = 0;
	uint32_t direction = RT_DIRECTIONS;
	struct rt_flow flow = { 0 };
	struct nlattr *attr;
	int left;

	for_each_nested(attr, left, nest)
		if ((attr->nla_type & NLA_TYPE_MASK) ==
		    RAIDTRACE_A_FLOW_DIRECTION)
			direction = (uint32_t)value_of(attr);
		else
			take_counter(attr, &flow, &known);
	if (direction >= RT_DIRECTIONS)
		return -EBADMSG;
	/* The module omits counters that it does not have. The sum of all directions has only the numbers in flight. */
#define X(member, attribute, ...) all |= RT_COUNTER_BIT(attribute);
	if (direction != RAIDTRACE_DIRECTION_ALL) {
		RT_FLOW_COUNTERS(X)
	}
#undef X
	/* Other directions have no depth over time. */
	if (direction > RAIDTRACE_DIRECTION_WRITE)
		all &= ~RT_COUNTER_BIT(DEPTH_SUM_NS);
	c->unknown |= all & ~known;
	c->flow[direction] = flow;
	return 0;
}

/* Bins of one histogram, in the form of the reply. */
struct piece {
	uint32_t direction;
	uint32_t kind;
	unsigned int first;
	unsigned int nr;
	const void *bins; /* aligned to four bytes only */
};

static int parse_piece(struct nlattr *nest, struct piece *ret)
{
	struct nlattr *attr;
	int left;

	*ret = (struct piece){ .direction = RT_DIRECTIONS };
	for_each_nested(attr, left, nest)
		switch (attr->nla_type & NLA_TYPE_MASK) {
		case RAIDTRACE_A_HISTOGRAM_DIRECTION:
			ret->direction = (uint32_t)value_of(attr);
			break;
		case RAIDTRACE_A_HISTOGRAM_KIND:
			ret->kind = (uint32_t)value_of(attr);
			break;
		case RAIDTRACE_A_HISTOGRAM_FIRST_BIN:
			ret->first = (unsigned int)value_of(attr);
			break;
		case RAIDTRACE_A_HISTOGRAM_COUNTS:
			ret->nr = (attr->nla_len - NLA_HDRLEN) / 8;
			ret->bins = (const char *)attr + NLA_HDRLEN;
			break;
		default:
			break;
		}
	return ret->bins && ret->direction < RT_DIRECTIONS &&
	       ret->kind < RT_KINDS && ret->first < MOST_BINS ? 0 : -EBADMSG;
}

static int parse_histogram(struct nlattr *nest, struct rt_counters *c)
{
	struct rt_histogram *histogram;
	struct piece piece;

	if (parse_piece(nest, &piece))
		return -EBADMSG;
	histogram = &c->histogram[piece.direction][piece.kind];
	if (!piece.nr || histogram->counts)
		return piece.nr ? -EBADMSG : 0;
	histogram->counts = malloc(piece.nr * 8);
	if (!histogram->counts)
		return -ENOMEM;
	memcpy(histogram->counts, piece.bins, piece.nr * 8);
	histogram->first_bin = piece.first;
	histogram->nr_bins = piece.nr;
	return 0;
}

/* Parse a part of a histogram that changed. The parts of a histogram are in order. */
static int parse_grown(struct nlattr *nest, struct rt_advance *advance)
{
	uint64_t bins[64];
	struct rt_histogram *grown;
	struct piece piece;
	int err = parse_piece(nest, &piece);

	if (err)
		return err;
	grown = &advance->now.histogram[piece.direction][piece.kind];
	if (grown->nr_bins && piece.first < grown->first_bin + grown->nr_bins)
		return -EBADMSG;
	for (unsigned int done = 0; done < piece.nr && !err;) {
		unsigned int nr = piece.nr - done;

		if (nr > sizeof(bins) / sizeof(bins[0]))
			nr = sizeof(bins) / sizeof(bins[0]);
		memcpy(bins, (const char *)piece.bins + done * 8, nr * 8);
		err = rt_histogram_grown(&advance->last->histogram[piece.direction][piece.kind],
					 piece.first + done, bins, nr, grown);
		done += nr;
	}
	return err;
}

static int parse_origin(struct nlattr *nest, struct rt_counters *c)
{
	struct nlattr *attrs[RAIDTRACE_A_ORIGIN_MAX + 1];
	struct rt_origin *origin;
	uint32_t class_;

	if (nla_parse_nested(attrs, RAIDTRACE_A_ORIGIN_MAX, nest, NULL) ||
	    !attrs[RAIDTRACE_A_ORIGIN_CLASS])
		return -EBADMSG;
	class_ = attr_u32(attrs[RAIDTRACE_A_ORIGIN_CLASS]);
	if (class_ >= RT_CLASSES)
		return -EBADMSG;
	origin = &c->origin[class_];
#define X(member, attribute, ...)					\
	origin->member = attr_u64(attrs[RAIDTRACE_A_ORIGIN_##attribute]);
	RT_ORIGIN_COUNTERS(X)
#undef X
	return 0;
}

static int parse_submitter(struct nlattr *nest, struct rt_counters *c)
{
	struct nlattr *attrs[RAIDTRACE_A_SUBMITTER_MAX + 1];
	struct rt_submitter s = { 0 };

	if (nla_parse_nested(attrs, RAIDTRACE_A_SUBMITTER_MAX, nest, NULL) ||
	    !attrs[RAIDTRACE_A_SUBMITTER_INDEX])
		return -EBADMSG;
	s.index = attr_u32(attrs[RAIDTRACE_A_SUBMITTER_INDEX]);
	/* The module names a row once. */
	for (size_t i = 0; i < c->nr_submitters; i++)
		if (c->submitters[i].index == s.index)
			return -EBADMSG;
	s.rest = !attrs[RAIDTRACE_A_SUBMITTER_PID];
	s.pid = attr_u32(attrs[RAIDTRACE_A_SUBMITTER_PID]);
	copy_text(s.comm, sizeof(s.comm), attrs[RAIDTRACE_A_SUBMITTER_COMM]);
	s.cgroup = attr_u64(attrs[RAIDTRACE_A_SUBMITTER_CGROUP]);
#define X(member, attribute, ...)					\
	s.member = attr_u64(attrs[RAIDTRACE_A_SUBMITTER_##attribute]);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return rt_submitters_append(c, &s);
}

static int parse_hwq(struct nlattr *nest, struct rt_counters *c)
{
	struct nlattr *attrs[RAIDTRACE_A_HWQ_MAX + 1];
	struct rt_hwq *hwq;
	uint32_t index;

	if (nla_parse_nested(attrs, RAIDTRACE_A_HWQ_MAX, nest, NULL) ||
	    !attrs[RAIDTRACE_A_HWQ_INDEX])
		return -EBADMSG;
	index = attr_u32(attrs[RAIDTRACE_A_HWQ_INDEX]);
	if (index >= RT_HWQS)
		return -EBADMSG;
	if (rt_hwqs_make_room(c))
		return -ENOMEM;
	hwq = &c->hwq[index];
#define X(member, attribute, ...)					\
	hwq->member = attr_u64(attrs[RAIDTRACE_A_HWQ_##attribute]);
	RT_HWQ_COUNTERS(X)
#undef X
	hwq->in_flight = attr_u32(attrs[RAIDTRACE_A_HWQ_IN_FLIGHT]);
	hwq->in_flight_max = attr_u32(attrs[RAIDTRACE_A_HWQ_IN_FLIGHT_MAX]);
	if (c->nr_hwqs <= index)
		c->nr_hwqs = index + 1;
	return 0;
}

static void parse_disk(struct nlattr *const attrs[], struct rt_disk *disk)
{
#define X(member, attribute, ...)					\
	disk->member = attr_u64(attrs[RAIDTRACE_A_COUNTERS_##attribute]);	\
	if (!attrs[RAIDTRACE_A_COUNTERS_##attribute])			\
		disk->unknown |= RT_DISK_BIT(attribute);
	RT_DISK_COUNTERS(X)
#undef X
	disk->streams_alive = attr_u32(attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE]);
	if (!attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE])
		disk->unknown |= RT_DISK_BIT(STREAMS_ALIVE);
	disk->streams_alive_queued =
		attr_u32(attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED]);
	if (!attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED])
		disk->unknown |= RT_DISK_BIT(STREAMS_ALIVE_QUEUED);
}

static int parse_nest(struct nlattr *attr, struct rt_counters *c)
{
	switch (attr->nla_type & NLA_TYPE_MASK) {
	case RAIDTRACE_A_COUNTERS_FLOW:
		return parse_flow(attr, c);
	case RAIDTRACE_A_COUNTERS_HISTOGRAM:
		return parse_histogram(attr, c);
	case RAIDTRACE_A_COUNTERS_ORIGIN:
		return parse_origin(attr, c);
	case RAIDTRACE_A_COUNTERS_SUBMITTER:
		return parse_submitter(attr, c);
	case RAIDTRACE_A_COUNTERS_HWQ:
		return parse_hwq(attr, c);
	default:
		return 0;
	}
}

static int parse_head(struct nlmsghdr *nlh, struct nlattr **attrs,
		      struct rt_counters *c)
{
	if (genlmsg_parse(nlh, 0, attrs, RAIDTRACE_A_COUNTERS_MAX, NULL) ||
	    !attrs[RAIDTRACE_A_COUNTERS_NOW_NS])
		return -EBADMSG;
	c->id = attr_u32(attrs[RAIDTRACE_A_COUNTERS_ID]);
	c->snapshot = attr_u64(attrs[RAIDTRACE_A_COUNTERS_SNAPSHOT]);
	c->since_ns = attr_u64(attrs[RAIDTRACE_A_COUNTERS_SINCE_NS]);
	c->now_ns = attr_u64(attrs[RAIDTRACE_A_COUNTERS_NOW_NS]);
	c->resets = attr_u32(attrs[RAIDTRACE_A_COUNTERS_RESETS]);
	c->gone = attr_u32(attrs[RAIDTRACE_A_COUNTERS_STATE]) ==
		  RAIDTRACE_STATE_GONE;
	c->readahead_sectors =
		attr_u64(attrs[RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS]);
	c->groups = attr_u32(attrs[RAIDTRACE_A_COUNTERS_GROUPS]);
	parse_disk(attrs, &c->disk);
	return 0;
}

static int parse_nests(struct nlmsghdr *nlh, struct rt_counters *c)
{
	struct nlattr *attr;
	int err, rest;

	for_each_attr_of(attr, rest, nlh) {
		err = parse_nest(attr, c);
		if (err)
			return err;
	}
	return 0;
}

int rt_parse_counters(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_COUNTERS_MAX + 1];
	int err = parse_head(nlh, attrs, ret);

	return err ? err : parse_nests(nlh, ret);
}

int rt_parse_advance(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_COUNTERS_MAX + 1], *attr;
	struct rt_advance *advance = ret;
	struct rt_counters *now = &advance->now;
	int err = parse_head(nlh, attrs, now), rest;

	if (err)
		return err;
	advance->partial = attrs[RAIDTRACE_A_COUNTERS_PARTIAL];
	if (!advance->partial)
		return parse_nests(nlh, now);
	memcpy(now->flow, advance->last->flow, sizeof(now->flow));
	memcpy(now->origin, advance->last->origin, sizeof(now->origin));
	if (advance->last->nr_hwqs) {
		if (rt_hwqs_make_room(now))
			return -ENOMEM;
		now->nr_hwqs = advance->last->nr_hwqs;
		memcpy(now->hwq, advance->last->hwq, RT_HWQS * sizeof(*now->hwq));
	}
	now->unknown = advance->last->unknown;
	for_each_attr_of(attr, rest, nlh) {
		err = (attr->nla_type & NLA_TYPE_MASK) == RAIDTRACE_A_COUNTERS_HISTOGRAM ?
			parse_grown(attr, advance) : parse_nest(attr, now);
		if (err)
			return err;
	}
	return 0;
}

static int parse_ended(struct nlattr *nest, struct rt_history *history)
{
	struct nlattr *attrs[RAIDTRACE_A_ENDED_MAX + 1];
	struct rt_ended *e;

	if (history->nr == RT_HISTORY_MOST ||
	    nla_parse_nested(attrs, RAIDTRACE_A_ENDED_MAX, nest, NULL))
		return -EBADMSG;
	e = &history->ended[history->nr];
	*e = (struct rt_ended){
		.number = attr_u64(attrs[RAIDTRACE_A_ENDED_NUMBER]),
		.queued_ns = attr_u64(attrs[RAIDTRACE_A_ENDED_QUEUED_NS]),
		.inserted_ns = attr_u64(attrs[RAIDTRACE_A_ENDED_INSERTED_NS]),
		.issued_ns = attr_u64(attrs[RAIDTRACE_A_ENDED_ISSUED_NS]),
		.completed_ns = attr_u64(attrs[RAIDTRACE_A_ENDED_COMPLETED_NS]),
		.sector = attr_u64(attrs[RAIDTRACE_A_ENDED_SECTOR]),
		.bytes = attr_u32(attrs[RAIDTRACE_A_ENDED_BYTES]),
		.direction = attr_u32(attrs[RAIDTRACE_A_ENDED_DIRECTION]),
		.class_ = attr_u32(attrs[RAIDTRACE_A_ENDED_CLASS]),
		.depth = attr_u32(attrs[RAIDTRACE_A_ENDED_DEPTH]),
		.known = attrs[RAIDTRACE_A_ENDED_PID],
		.pid = attr_u32(attrs[RAIDTRACE_A_ENDED_PID]),
		.error = attrs[RAIDTRACE_A_ENDED_ERROR],
		.again = attrs[RAIDTRACE_A_ENDED_AGAIN],
	};
	if (!e->number || e->direction >= RAIDTRACE_DIRECTION_ALL ||
	    e->class_ >= RT_CLASSES || e->issued_ns > e->completed_ns)
		return -EBADMSG;
	if (attrs[RAIDTRACE_A_ENDED_COMM])
		nla_strlcpy(e->comm, attrs[RAIDTRACE_A_ENDED_COMM], sizeof(e->comm));
	history->nr++;
	return 0;
}

int rt_parse_history(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_HISTORY_MAX + 1], *attr;
	struct rt_history *history = ret;
	int rest, err = 0;

	if (genlmsg_parse(nlh, 0, attrs, RAIDTRACE_A_HISTORY_MAX, NULL) ||
	    !attrs[RAIDTRACE_A_HISTORY_NR])
		return -EBADMSG;
	history->total = attr_u64(attrs[RAIDTRACE_A_HISTORY_NR]);
	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rest)
		if (!err && nla_type(attr) == RAIDTRACE_A_HISTORY_ENDED)
			err = parse_ended(attr, history);
	return err;
}
