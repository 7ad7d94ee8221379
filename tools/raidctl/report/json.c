// SPDX-License-Identifier: GPL-2.0-or-later

/* JSON of raidctl list, status and show. Names contain units. null: not known. */

#include "report/report.h"

#include <json-c/json.h>
#include <string.h>

#include "base/base.h"
#include "format/format.h"
#include "numbers/numbers.h"

static struct json_object *mounts_object(const struct disk *disk)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < disk->nr_mounts; i++) {
		const struct mount *mount = &disk->mounts[i];
		struct json_object *object = json_new_object();

		json_add_text(object, "device", mount->device);
		json_add_text(object, "directory", mount->dir);
		json_add_text(object, "fstype", mount->fstype);
		json_add_text(object, "options", mount->options);
		json_element(array, object);
	}
	return array;
}

static struct json_object *disk_object(const struct disk *disk)
{
	struct json_object *object = json_new_object();

	json_add_text(object, "disk", disk->name);
	json_add_count(object, "major", disk->major);
	json_add_count(object, "minor", disk->minor);
	json_add_text(object, "driver", disk->above.driver);
	json_add_text(object, "pci", disk->above.pci);
	json_add_text(object, "hctl", disk->above.hctl);
	json_add_text(object, "model", disk->model);
	json_add_text(object, "firmware", disk->firmware);
	json_add_bool(object, "unit_3ware", disk->above.unit_3ware);
	json_add_text(object, "kind", disk->kind);
	json_add_bool(object, "rotational", disk->rotational);
	json_add_count(object, "capacity_sectors", disk->capacity_sectors);
	json_add_count(object, "readahead_kib", disk->readahead_kib);
	json_add_count(object, "readahead_sectors",
		       disk->readahead_kib * 1024 / SECTOR_BYTES);
	json_add_text(object, "readahead_from", disk_readahead_from(disk));
	json_add_count(object, "optimal_io_bytes", disk->optimal_io_bytes);
	json_add_count(object, "hardware_queues", disk->nr_queues);
	json_add_count(object, "max_sectors_kib", disk->max_sectors_kb);
	json_add_count(object, "max_hw_sectors_kib", disk->max_hw_sectors_kb);
	json_add_or_null(object, "queue_depth", disk->queue_depth);
	json_add_or_null(object, "nr_requests", disk->nr_requests);
	json_add_text(object, "scheduler", disk->scheduler);
	json_member(object, "mounts", mounts_object(disk));
	return object;
}

void json_disks(FILE *to, const struct disk *disks, size_t nr)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < nr; i++)
		json_element(array, disk_object(&disks[i]));
	json_finish(to, array);
}

/* sysfs has no facts about a disk that is gone. */
static void null_unknown(struct json_object *object)
{
	static const char *const known[] = { "target", "disk", "attached_ns", "gone", "bio_based" };

	json_object_object_foreach(object, key, value) {
		bool keep = false;

		(void)value;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			keep |= !strcmp(key, known[i]);
		if (!keep)
			json_member(object, key, NULL);
	}
}

static struct json_object *target_object(const struct rt_target *t)
{
	struct json_object *object = json_new_object();

	json_add_count(object, "target", t->id);
	json_add_text(object, "disk", t->disk);
	json_add_text(object, "driver", t->above.driver);
	json_add_text(object, "pci", t->above.pci);
	json_add_text(object, "hctl", t->above.hctl);
	json_add_bool(object, "gone", t->gone);
	json_add_bool(object, "unit_3ware", t->above.unit_3ware);
	json_add_bool(object, "bio_based", t->bio_based);
	json_add_bool(object, "rotational", t->rotational);
	json_add_count(object, "capacity_sectors", t->capacity_sectors);
	json_add_count(object, "max_sectors", t->max_sectors);
	json_add_count(object, "max_hw_sectors", t->max_hw_sectors);
	json_add_count(object, "max_segments", t->max_segments);
	json_add_count(object, "nr_requests", t->nr_requests);
	json_add_count(object, "nr_hw_queues", t->nr_hw_queues);
	json_add_count(object, "nr_tags", t->nr_tags);
	json_add_count(object, "attached_ns", t->attached_ns);
	if (t->gone)
		null_unknown(object);
	return object;
}

static struct json_object *recordings_array(const struct status *status)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < status->nr_recordings; i++) {
		const struct living *recording = &status->recordings[i];
		struct json_object *object = json_new_object();

		json_member(object, "id",
			    json_new_int64(recording->pid));
		json_member(object, "detached",
			    json_new_boolean(recording->detached));
		json_member(object, "file",
			    json_new_string(recording->file));
		json_element(array, object);
	}
	return array;
}

/* Requirements of the kernel on modules, and advice if raidctl load would be refused. */
static struct json_object *signing_object(const struct status *status)
{
	struct json_object *object = json_new_object();
	char why[96] = "", advice[384] = "";

	if (rt_signing_needed(&status->signing)) {
		rt_signing_why(&status->signing, why, sizeof(why));
		rt_signing_advice(&status->signing, status->module_file[0] ? status->module_file : NULL,
				  status->module_signer, advice, sizeof(advice));
	}
	json_add_text(object, "why", why);
	json_add_text(object, "module", status->module_file);
	json_add_text(object, "signer", status->module_signer);
	json_member(object, "enrolled", status->module_enrolled < 0 ? NULL :
		    json_new_boolean(status->module_enrolled));
	json_add_text(object, "advice", advice);
	return object;
}

void json_status(FILE *to, const struct status *status)
{
	struct json_object *object = json_new_object();
	struct json_object *array = json_new_array();

	json_add_bool(object, "loaded", status->loaded);
	if (status->loaded) {
		json_add_text(object, "version", status->info.version);
		json_add_count(object, "abi", status->info.abi);
		json_add_count(object, "max_targets", status->info.max_targets);
		json_add_text(object, "unavailable", status->info.unavailable);
	}
	json_add_bool(object, "simulated", status->simulated);
	json_add_text(object, "lab_profile", status->profile);
	json_add_count(object, "units_3ware", status->nr_units);
	for (size_t i = 0; i < status->nr_targets; i++)
		json_element(array,
			     target_object(&status->targets[i]));
	json_member(object, "targets", array);
	json_member(object, "recordings", recordings_array(status));
	json_member(object, "settings_left", status->settings_left < 0 ? NULL :
		    json_new_boolean(status->settings_left));
	json_member(object, "signing", signing_object(status));
	json_finish(to, object);
}

/* Add the bins that are not empty. A bin without an upper end has null for high. */
static struct json_object *histogram_object(const struct rt_histogram *h,
					    unsigned int kind)
{
	struct json_object *bins = json_new_array();

	for (unsigned int i = 0; i < h->nr_bins; i++) {
		struct json_object *bin;
		struct range range = bin_range(kind, h->first_bin + i);

		if (!h->counts[i])
			continue;
		bin = json_new_object();
		if (bin_columns(kind))
			json_add_count(bin, "row", (h->first_bin + i) /
				       bin_columns(kind));
		json_add_range(bin, "low", "high", &range);
		json_add_count(bin, "count", h->counts[i]);
		json_element(bins, bin);
	}
	return bins;
}

static void add_flow(struct json_object *to, const struct rt_flow *flow,
		     uint64_t unknown)
{
	struct json_object *object = json_new_object();

#define X(member, attribute, ...)					\
	json_add_known(object, #member, unknown & RT_COUNTER_BIT(attribute),	\
		  flow->member);
	RT_FLOW_COUNTERS(X)
#undef X
	json_add_known(object, "in_flight", unknown & RT_COUNTER_BIT(IN_FLIGHT),
		       flow->in_flight);
	json_add_known(object, "in_flight_max", unknown & RT_COUNTER_BIT(IN_FLIGHT),
		       flow->in_flight_max);
	json_member(to, "flow", object);
}

static void add_stats(struct json_object *to,
		      const struct direction_stats *stats, uint64_t unknown)
{
	bool any = stats->requests > 0;
	bool no_issue = unknown & RT_COUNTER_BIT(ISSUED);

	json_add_known(to, "requests", no_issue, stats->requests);
	json_add_known(to, "bytes", no_issue, stats->bytes);
	json_add_number(to, "mib_per_s", !(unknown & RT_COUNTER_BIT(BYTES_COMPLETED)),
			stats->bytes_per_s / (1 << 20));
	json_add_number(to, "iops", !(unknown & RT_COUNTER_BIT(COMPLETED)), stats->iops);
	json_add_number(to, "in_flight_mean", stats->depth_known,
			stats->depth_mean);
	json_member(to, "in_flight_max",
		    stats->depth_known ?
			       json_new_uint64(stats->depth_max) : NULL);
	json_add_bool(to, "in_flight_is_lower_bound",
		      stats->depth_known && !stats->depth_exact);
	json_add_range(to, "request_sectors_mode_low", "request_sectors_mode_high",
		       &stats->size_mode);
	json_add_known(to, "request_mode_count", no_issue || (any && !stats->size_mode.known),
		       stats->size_mode_count);
	json_add_number(to, "request_bytes_mean", any, stats->size_mean_bytes);
	json_add_known(to, "sequential", !stats->sequential_known, stats->sequential);
	json_add_number(to, "sequential_share", any && stats->sequential_known,
			any ? (double)stats->sequential / (double)stats->requests :
			 0);
	json_add_known(to, "seeks", !stats->sequential_known, stats->seeks);
	json_add_number(to, "seek_sectors_mean", stats->seeks > 0,
			stats->seek_mean_sectors);
	json_add_number(to, "d2c_mean_ns", stats->d2c_mean_known,
			stats->d2c_mean_ns);
	json_add_range(to, "d2c_p50_ns_low", "d2c_p50_ns_high", &stats->d2c_p50);
	json_add_range(to, "d2c_p99_ns_low", "d2c_p99_ns_high", &stats->d2c_p99);
	json_add_range(to, "d2c_p999_ns_low", "d2c_p999_ns_high", &stats->d2c_p999);
	json_add_range(to, "d2c_max_ns_low", "d2c_max_ns_high", &stats->d2c_max);
}

static struct json_object *direction_object(const struct rt_counters *c,
					    unsigned int direction)
{
	struct json_object *object = json_new_object();
	struct json_object *histograms = json_new_object();
	struct direction_stats stats;

	stats_of(c, false, direction, &stats);
	if (direction != RAIDTRACE_DIRECTION_ALL) {
		add_stats(object, &stats, c->unknown);
		add_flow(object, &c->flow[direction], c->unknown);
	} else {
		json_add_number(object, "in_flight_mean", stats.depth_known,
				stats.depth_mean);
		json_add_known(object, "in_flight_max", !stats.depth_known,
			       stats.depth_max);
		json_add_bool(object, "in_flight_is_lower_bound",
			      stats.depth_known && !stats.depth_exact);
	}
	for (unsigned int k = 0; k < RT_KINDS; k++)
		if (c->histogram[direction][k].nr_bins)
			json_member(histograms, rt_kind_name(k),
				    histogram_object(&c->histogram[direction][k], k));
	json_member(object, "histograms", histograms);
	return object;
}

/* A direction without events is left out, except reads. */
static bool has_direction(const struct rt_counters *c, unsigned int direction)
{
	return direction == RAIDTRACE_DIRECTION_READ ||
	       direction == RAIDTRACE_DIRECTION_WRITE ||
	       direction == RAIDTRACE_DIRECTION_ALL ||
	       !flow_is_idle(&c->flow[direction]);
}

static void add_groups(struct json_object *to, const struct rt_counters *c)
{
	struct json_object *groups = json_new_array();
	struct json_object *kinds = json_new_array();

	for (unsigned int i = 0; rt_group_name(i); i++)
		if (counts_group(c, 1U << i))
			json_element(groups, json_new_string(rt_group_name(i)));
	for (unsigned int k = 0; k < RT_KINDS; k++)
		if (!counts_kind(c, k))
			json_element(kinds, json_new_string(rt_kind_name(k)));
	json_member(to, "groups", groups);
	json_member(to, "histograms_not_counted", kinds);
}

static void add_disk(struct json_object *to, const struct rt_counters *c)
{
	struct json_object *object = json_new_object();

#define X(member, attribute, ...)					\
	json_add_known(object, #member,					\
		       c->disk.unknown & RT_DISK_BIT(attribute), c->disk.member);
	RT_DISK_COUNTERS(X)
	X(streams_alive, STREAMS_ALIVE)
	X(streams_alive_queued, STREAMS_ALIVE_QUEUED)
#undef X
	json_member(to, "disk_counters", object);
}

static struct json_object *origin_object(const struct rt_counters *c)
{
	struct json_object *object;

	if (!counts_group(c, RAIDTRACE_GROUP_ORIGIN))
		return NULL;
	object = json_new_object();
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
		struct json_object *row = json_new_object();

#define X(member, attribute, ...)					\
		json_add_known(row, #member,				\
			       origin_unknown(c->unknown, offsetof(struct rt_origin, member)), \
			       c->origin[i].member);
		RT_ORIGIN_COUNTERS(X)
#undef X
		json_member(object, rt_class_name(i), row);
	}
	return object;
}

static struct json_object *submitters_object(const struct rt_counters *c)
{
	struct json_object *array;

	if (!counts_group(c, RAIDTRACE_GROUP_SUBMITTER))
		return NULL;
	array = json_new_array();
	for (size_t i = 0; i < c->nr_submitters; i++) {
		const struct rt_submitter *s = &c->submitters[i];
		struct json_object *row = json_new_object();

		json_add_known(row, "pid", s->rest, s->pid);
		json_add_text(row, "comm", s->comm);
		json_add_text(row, "cgroup", s->path);
#define X(member, attribute, ...) json_add_count(row, #member, s->member);
		RT_SUBMITTER_COUNTERS(X)
#undef X
		json_element(array, row);
	}
	return array;
}

static struct json_object *hwqs_object(const struct rt_counters *c)
{
	struct json_object *array;

	if (!counts_group(c, RAIDTRACE_GROUP_HWQ))
		return NULL;
	array = json_new_array();
	for (unsigned int i = 0; i < c->nr_hwqs; i++) {
		const struct rt_hwq *hwq = &c->hwq[i];
		struct json_object *row;

		if (!(hwq->issued | hwq->depth_sum_ns))
			continue;
		row = json_new_object();
		json_add_count(row, "hwq", i);
#define X(member, attribute, ...) json_add_count(row, #member, hwq->member);
		RT_HWQ_COUNTERS(X)
		X(in_flight, IN_FLIGHT)
		X(in_flight_max, IN_FLIGHT_MAX)
#undef X
		json_element(array, row);
	}
	return array;
}

static void add_other_groups(struct json_object *to, const struct rt_counters *c)
{
	add_groups(to, c);
	add_disk(to, c);
	json_member(to, "origin", origin_object(c));
	json_member(to, "submitters", submitters_object(c));
	json_member(to, "hwqs", hwqs_object(c));
}

static struct json_object *span_object(const struct span *span)
{
	const struct rt_counters *c = &span->counters;
	struct json_object *object = json_new_object();
	struct json_object *directions = json_new_object();

	json_add_text(object, "disk", span->disk);
	json_add_count(object, "start_ns", c->since_ns);
	json_add_count(object, "end_ns", c->now_ns);
	json_add_number(object, "seconds", true,
			(double)(c->now_ns - c->since_ns) / 1e9);
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
		if (has_direction(c, d))
			json_member(directions,
				    rt_direction_name(d),
					       direction_object(c, d));
	json_member(object, "directions", directions);
	add_other_groups(object, c);
	return object;
}

void json_counters(FILE *to, const struct counted *counted, size_t nr)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < nr; i++) {
		const struct rt_counters *c = &counted[i].span.counters;
		struct json_object *object = span_object(&counted[i].span);

		json_add_text(object, "source", counted[i].source);
		losses_json(object, &counted[i].losses);
		json_add_bool(object, "simulated", lab_has_devices());
		json_add_bool(object, "gone", c->gone);
		json_add_count(object, "readahead_sectors", c->readahead_sectors);
		json_add_count(object, "readahead_kib", c->readahead_sectors * SECTOR_BYTES / 1024);
		json_member(object, "target", target_object(counted[i].target));
		json_element(array, object);
	}
	json_finish(to, array);
}
