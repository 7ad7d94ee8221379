// SPDX-License-Identifier: GPL-2.0-or-later

/* Replies of raidtrace.ko, taken apart; nothing here needs a socket. */

#include "reply.h"
#include "submitters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

static void copy_text(char *to, size_t size, struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

static uint32_t u32(struct nlattr *attr)
{
	return attr && nla_len(attr) >= 4 ? nla_get_u32(attr) : 0;
}

static uint64_t u64(struct nlattr *attr)
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
	info->abi = u32(attrs[RAIDTRACE_A_INFO_ABI]);
	copy_text(info->version, sizeof(info->version),
		  attrs[RAIDTRACE_A_INFO_VERSION]);
	info->nr_targets = u32(attrs[RAIDTRACE_A_INFO_NR_TARGETS]);
	info->max_targets = u32(attrs[RAIDTRACE_A_INFO_MAX_TARGETS]);
	info->now_ns = u64(attrs[RAIDTRACE_A_INFO_NOW_NS]);
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
	t->id = u32(attrs[RAIDTRACE_A_TARGET_ID]);
	t->major = u32(attrs[RAIDTRACE_A_TARGET_MAJOR]);
	t->minor = u32(attrs[RAIDTRACE_A_TARGET_MINOR]);
	copy_text(t->disk, sizeof(t->disk), attrs[RAIDTRACE_A_TARGET_DISK]);
	copy_text(t->driver, sizeof(t->driver),
		  attrs[RAIDTRACE_A_TARGET_DRIVER]);
	copy_text(t->pci, sizeof(t->pci), attrs[RAIDTRACE_A_TARGET_PCI]);
	copy_text(t->hctl, sizeof(t->hctl), attrs[RAIDTRACE_A_TARGET_HCTL]);
	t->gone = u32(attrs[RAIDTRACE_A_TARGET_STATE]) == RAIDTRACE_STATE_GONE;
	t->unit_3ware = attrs[RAIDTRACE_A_TARGET_UNIT_3WARE];
	t->bio_based = attrs[RAIDTRACE_A_TARGET_BIO_BASED];
	t->rotational = attrs[RAIDTRACE_A_TARGET_ROTATIONAL];
	t->capacity_sectors = u64(attrs[RAIDTRACE_A_TARGET_CAPACITY_SECTORS]);
	t->readahead_sectors = u64(attrs[RAIDTRACE_A_TARGET_READAHEAD_SECTORS]);
	t->max_sectors = u32(attrs[RAIDTRACE_A_TARGET_MAX_SECTORS]);
	t->max_hw_sectors = u32(attrs[RAIDTRACE_A_TARGET_MAX_HW_SECTORS]);
	t->max_segments = u32(attrs[RAIDTRACE_A_TARGET_MAX_SEGMENTS]);
	t->nr_requests = u32(attrs[RAIDTRACE_A_TARGET_NR_REQUESTS]);
	t->nr_hw_queues = u32(attrs[RAIDTRACE_A_TARGET_NR_HW_QUEUES]);
	t->nr_tags = u32(attrs[RAIDTRACE_A_TARGET_NR_TAGS]);
	t->attached_ns = u64(attrs[RAIDTRACE_A_TARGET_ATTACHED_NS]);
	t->groups = u32(attrs[RAIDTRACE_A_TARGET_GROUPS]);
	t->streams = u32(attrs[RAIDTRACE_A_TARGET_STREAMS]);
	t->place_sectors = u64(attrs[RAIDTRACE_A_TARGET_PLACE_SECTORS]);
	return 0;
}

static int parse_flow(struct nlattr *nest, struct rt_counters *c)
{
	struct nlattr *attrs[RAIDTRACE_A_FLOW_MAX + 1];
	struct rt_flow *flow;
	uint32_t direction;

	if (nla_parse_nested(attrs, RAIDTRACE_A_FLOW_MAX, nest, NULL) ||
	    !attrs[RAIDTRACE_A_FLOW_DIRECTION])
		return -EBADMSG;
	direction = u32(attrs[RAIDTRACE_A_FLOW_DIRECTION]);
	if (direction >= RT_DIRECTIONS)
		return -EBADMSG;
	flow = &c->flow[direction];
	/* What the module cannot count it leaves out; of all directions together it keeps in-flight numbers alone. */
#define X(member, attribute)						\
	flow->member = u64(attrs[RAIDTRACE_A_FLOW_##attribute]);	\
	if (direction != RAIDTRACE_DIRECTION_ALL &&			\
	    !attrs[RAIDTRACE_A_FLOW_##attribute])			\
		c->unknown |= RT_COUNTER_BIT(attribute);
	RT_FLOW_COUNTERS(X)
#undef X
	if (!attrs[RAIDTRACE_A_FLOW_IN_FLIGHT])
		c->unknown |= RT_COUNTER_BIT(IN_FLIGHT);
	flow->in_flight = u32(attrs[RAIDTRACE_A_FLOW_IN_FLIGHT]);
	flow->in_flight_max = u32(attrs[RAIDTRACE_A_FLOW_IN_FLIGHT_MAX]);
	return 0;
}

static int parse_histogram(struct nlattr *nest, struct rt_counters *c)
{
	struct nlattr *attrs[RAIDTRACE_A_HISTOGRAM_MAX + 1];
	struct rt_histogram *histogram;
	uint32_t direction, kind;
	unsigned int nr_bins;

	if (nla_parse_nested(attrs, RAIDTRACE_A_HISTOGRAM_MAX, nest, NULL) ||
	    !attrs[RAIDTRACE_A_HISTOGRAM_COUNTS])
		return -EBADMSG;
	direction = u32(attrs[RAIDTRACE_A_HISTOGRAM_DIRECTION]);
	kind = u32(attrs[RAIDTRACE_A_HISTOGRAM_KIND]);
	nr_bins = nla_len(attrs[RAIDTRACE_A_HISTOGRAM_COUNTS]) / 8;
	if (direction >= RT_DIRECTIONS || kind >= RT_KINDS)
		return -EBADMSG;
	histogram = &c->histogram[direction][kind];
	if (!nr_bins || histogram->counts)
		return nr_bins ? -EBADMSG : 0;
	histogram->counts = malloc(nr_bins * 8);
	if (!histogram->counts)
		return -ENOMEM;
	/* Attributes are aligned to four bytes only: copy, do not point. */
	memcpy(histogram->counts,
	       nla_data(attrs[RAIDTRACE_A_HISTOGRAM_COUNTS]), nr_bins * 8);
	histogram->first_bin = u32(attrs[RAIDTRACE_A_HISTOGRAM_FIRST_BIN]);
	histogram->nr_bins = nr_bins;
	return 0;
}

static int parse_origin(struct nlattr *nest, struct rt_counters *c)
{
	struct nlattr *attrs[RAIDTRACE_A_ORIGIN_MAX + 1];
	struct rt_origin *origin;
	uint32_t class_;

	if (nla_parse_nested(attrs, RAIDTRACE_A_ORIGIN_MAX, nest, NULL) ||
	    !attrs[RAIDTRACE_A_ORIGIN_CLASS])
		return -EBADMSG;
	class_ = u32(attrs[RAIDTRACE_A_ORIGIN_CLASS]);
	if (class_ >= RT_CLASSES)
		return -EBADMSG;
	origin = &c->origin[class_];
#define X(member, attribute)						\
	origin->member = u64(attrs[RAIDTRACE_A_ORIGIN_##attribute]);
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
	s.index = u32(attrs[RAIDTRACE_A_SUBMITTER_INDEX]);
	/* The module names a row once. */
	for (size_t i = 0; i < c->nr_submitters; i++)
		if (c->submitters[i].index == s.index)
			return -EBADMSG;
	s.rest = !attrs[RAIDTRACE_A_SUBMITTER_PID];
	s.pid = u32(attrs[RAIDTRACE_A_SUBMITTER_PID]);
	copy_text(s.comm, sizeof(s.comm), attrs[RAIDTRACE_A_SUBMITTER_COMM]);
#define X(member, attribute)						\
	s.member = u64(attrs[RAIDTRACE_A_SUBMITTER_##attribute]);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return rt_submitters_append(c, &s);
}

static void parse_disk(struct nlattr *const attrs[], struct rt_disk *disk)
{
#define X(member, attribute)						\
	disk->member = u64(attrs[RAIDTRACE_A_COUNTERS_##attribute]);	\
	if (!attrs[RAIDTRACE_A_COUNTERS_##attribute])			\
		disk->unknown |= RT_DISK_BIT(attribute);
	RT_DISK_COUNTERS(X)
#undef X
	disk->streams_alive = u32(attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE]);
	if (!attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE])
		disk->unknown |= RT_DISK_BIT(STREAMS_ALIVE);
	disk->streams_alive_queued =
		u32(attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED]);
	if (!attrs[RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED])
		disk->unknown |= RT_DISK_BIT(STREAMS_ALIVE_QUEUED);
}

static int parse_nest(struct nlattr *attr, struct rt_counters *c)
{
	switch (nla_type(attr)) {
	case RAIDTRACE_A_COUNTERS_FLOW:
		return parse_flow(attr, c);
	case RAIDTRACE_A_COUNTERS_HISTOGRAM:
		return parse_histogram(attr, c);
	case RAIDTRACE_A_COUNTERS_ORIGIN:
		return parse_origin(attr, c);
	case RAIDTRACE_A_COUNTERS_SUBMITTER:
		return parse_submitter(attr, c);
	default:
		return 0;
	}
}

int rt_parse_counters(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_COUNTERS_MAX + 1], *attr;
	struct rt_counters *c = ret;
	int err = 0, rest;

	if (genlmsg_parse(nlh, 0, attrs, RAIDTRACE_A_COUNTERS_MAX, NULL) ||
	    !attrs[RAIDTRACE_A_COUNTERS_NOW_NS])
		return -EBADMSG;
	c->id = u32(attrs[RAIDTRACE_A_COUNTERS_ID]);
	c->since_ns = u64(attrs[RAIDTRACE_A_COUNTERS_SINCE_NS]);
	c->now_ns = u64(attrs[RAIDTRACE_A_COUNTERS_NOW_NS]);
	c->resets = u32(attrs[RAIDTRACE_A_COUNTERS_RESETS]);
	c->gone = u32(attrs[RAIDTRACE_A_COUNTERS_STATE]) ==
		  RAIDTRACE_STATE_GONE;
	c->readahead_sectors =
		u64(attrs[RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS]);
	c->groups = u32(attrs[RAIDTRACE_A_COUNTERS_GROUPS]);
	parse_disk(attrs, &c->disk);
	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rest) {
		err = parse_nest(attr, c);
		if (err)
			return err;
	}
	return 0;
}
