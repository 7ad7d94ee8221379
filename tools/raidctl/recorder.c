// SPDX-License-Identifier: GPL-2.0-or-later

/* From snapshots of targets to samples of a recording. */

#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"
#include "owner.h"
#include "stats.h"
#include "units.h"

/**
 * struct output - a piece that the command printed
 * @time_ns: when it was read
 * @stream: "stdout" or "stderr"
 * @text: not terminated
 * @len: its length
 */
struct output {
	uint64_t time_ns;
	const char *stream;
	char *text;
	size_t len;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The target of a disk that somebody attached before us. */
static int adopt(struct recorder *recorder, const struct disk *disk,
		 struct rt_target *ret)
{
	struct rt_target *targets;
	int err = -ENOENT;
	size_t nr;

	if (rt_target_list(recorder->client, &nr, &targets))
		return -EIO;
	for (size_t i = 0; i < nr; i++) {
		if (targets[i].gone || targets[i].major != disk->major ||
		    targets[i].minor != disk->minor)
			continue;
		*ret = targets[i];
		err = 0;
	}
	free(targets);
	return err;
}

static int attach_one(struct recorder *recorder, const struct disk *disk,
		      struct recorded *ret)
{
	int err = owner_adding(recorder->owner, disk->major, disk->minor);

	if (err)
		return fail("%s: not attached, because /run cannot be written: %s",
			    disk->name, strerror(-err));
	err = rt_target_add(recorder->client, disk->major, disk->minor,
			    &ret->target);
	if (!err) {
		ret->ours = true;
		owner_added(recorder->owner, &ret->target);
		return 0;
	}
	if (err == -EEXIST && !adopt(recorder, disk, &ret->target))
		return 0;
	return fail("%s: cannot be attached: %s", disk->name,
		    rt_error(recorder->client)[0] ? rt_error(recorder->client) :
						    strerror(-err));
}

int recorder_attach(struct recorder *recorder, const struct disk *disks,
		    size_t nr)
{
	int err = owner_begin(&recorder->owner);

	if (err) {
		owner_end(recorder->owner);
		return fail("what is attached cannot be noted below /run: %s; without that nothing could be detached after a crash",
			    strerror(-err));
	}
	recorder->disks = calloc(nr, sizeof(*recorder->disks));
	if (!recorder->disks)
		err = fail("%s", strerror(ENOMEM));
	for (size_t i = 0; i < nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		disk->number = (uint32_t)i + 1;
		disk->recorder = recorder;
		err = attach_one(recorder, &disks[i], disk);
		if (!err)
			recorder->nr++;
	}
	if (err)
		recorder_detach(recorder);
	return err;
}

void recorder_detach(struct recorder *recorder)
{
	bool left = false;

	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];
		int err;

		if (!disk->ours)
			continue;
		err = rt_target_del(recorder->client, disk->target.id);
		/* Somebody else was faster, or the module is gone. */
		if (!err || err == -ENOENT) {
			disk->ours = false;
			continue;
		}
		left = true;
		fail("%s: cannot be detached: %s; try: raidctl detach %s",
		     disk->target.disk, strerror(-err), disk->target.disk);
	}
	if (!left)
		owner_end(recorder->owner);
	recorder->owner = -1;
}

void recorder_free(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];

		rt_counters_free(&disk->last);
		rt_counters_free(&disk->now);
		rt_counters_free(&disk->total);
		rt_counters_free(&disk->newest);
		settings_free(&disk->settings);
	}
	free(recorder->disks);
	for (size_t i = 0; i < recorder->nr_output; i++)
		free(recorder->output[i].text);
	free(recorder->output);
}

bool recorder_all_ended(const struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr; i++)
		if (!recorder->disks[i].ended)
			return false;
	return true;
}

static int put_setting(void *data, const char *name, const char *value)
{
	const struct recorded *disk = data;

	return store_put_setting(disk->recorder->store, disk->last.now_ns,
				 disk->number, name, value);
}

static int put_readahead(struct recorded *disk)
{
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%" PRIu64, disk->last.readahead_sectors);
	err = settings_set(&disk->settings, "readahead_sectors", text,
			   put_setting, disk);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%" PRIu64,
		 disk->last.readahead_sectors * SECTOR_BYTES / 1024);
	return settings_set(&disk->settings, "readahead_kib", text,
			    put_setting, disk);
}

/* Counters of a target of ours begin with zero when it was attached. */
static int baseline(struct recorded *disk)
{
	struct rt_client *client = disk->recorder->client;
	struct rt_counters now;
	int err = rt_counters_get(client, disk->target.id, &now);

	if (err)
		return err;
	if (disk->ours) {
		disk->last.since_ns = now.since_ns;
		disk->last.now_ns = now.since_ns;
		disk->last.resets = now.resets;
		disk->last.readahead_sectors = now.readahead_sectors;
		rt_counters_free(&now);
		return 0;
	}
	disk->last = now;
	for (int d = 0; d < RT_DIRECTIONS; d++)
		disk->before[d] = now.flow[d].in_flight;
	return 0;
}

static int describe(struct recorded *disk)
{
	int err = store_put_target(disk->recorder->store, disk->number,
				   &disk->target);

	disk->settings.disk = disk->target.disk;
	disk->settings.hctl = disk->target.hctl;
	if (!err)
		err = put_readahead(disk);
	if (!err)
		err = settings_queue(&disk->settings, put_setting, disk);
	if (!err)
		err = settings_device(&disk->settings, put_setting, disk);
	if (!err)
		err = settings_mounts(&disk->settings, put_setting, disk);
	return err;
}

int recorder_begin(struct recorder *recorder, struct store *store,
		   const char *phase)
{
	int err = 0;

	recorder->store = store;
	for (size_t i = 0; i < recorder->nr && !err; i++)
		err = baseline(&recorder->disks[i]);
	if (err)
		return err;
	recorder->start_ns = recorder->disks[0].last.now_ns;
	recorder->now_ns = recorder->start_ns;
	err = store_begin(store);
	for (size_t i = 0; i < recorder->nr && !err; i++)
		err = describe(&recorder->disks[i]);
	if (!err)
		err = store_begin_phase(store, recorder->phase, phase,
					recorder->start_ns);
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

/* The disk or its target is no more: what was sampled until here stays. */
static void end_disk(struct recorded *disk, const char *why)
{
	disk->ended = true;
	disk->recorder->gone = true;
	fail("%s: %s; its recording ends here, %.3f s after it began",
	     disk->target.disk, why,
	     (double)(disk->last.now_ns - disk->recorder->start_ns) / 1e9);
}

/*
 * Somebody set the counters to zero: begin again from there.  What happened
 * between the last sample and the reset is lost, and the recording says so.
 */
static int begin_after_reset(struct recorded *disk,
			     const struct rt_counters *now)
{
	note("%s: its counters were reset by somebody else; what happened since the last sample is lost",
	     disk->target.disk);
	rt_counters_free(&disk->last);
	disk->last.since_ns = now->since_ns;
	disk->last.now_ns = now->since_ns;
	disk->last.resets = now->resets;
	disk->was_reset = true;
	return put_setting(disk, "reset", "counters set to zero by another process");
}

/* Nothing at all since the last sample, not even time. */
static bool is_empty(const struct rt_counters *span)
{
	if (span->now_ns != span->since_ns)
		return false;
	for (int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		uint64_t any = 0;

#define X(member, attribute) any |= span->flow[d].member;
		RT_FLOW_COUNTERS(X)
#undef X
		if (any)
			return false;
	}
	return true;
}

/* Before anything is stored: this is the moment a sample or a phase ends. */
static int take_snapshots(struct recorder *recorder)
{
	bool clock = false;

	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];
		int err;

		if (disk->ended)
			continue;
		err = rt_counters_get(recorder->client, disk->target.id,
				      &disk->now);
		if (err == -ENOENT || err == -ENODEV) {
			end_disk(disk, "target gone: somebody else detached it or unloaded the module");
			continue;
		}
		if (err)
			return err;
		if (!clock)
			recorder->now_ns = disk->now.now_ns;
		clock = true;
	}
	return 0;
}

static int put_span(struct recorded *disk)
{
	struct recorder *recorder = disk->recorder;
	struct rt_counters span;
	int err = 0;

	if (disk->now.resets != disk->last.resets)
		err = begin_after_reset(disk, &disk->now);
	if (!err)
		err = rt_counters_delta(&disk->last, &disk->now, &span);
	if (err)
		return err;
	if (!is_empty(&span))
		err = store_put_sample(recorder->store, disk->number,
				       recorder->phase, &span);
	if (!err)
		err = rt_counters_add(&disk->total, &span);
	rt_counters_free(&disk->last);
	rt_counters_free(&disk->newest);
	disk->last = disk->now;
	disk->newest = span;
	memset(&disk->now, 0, sizeof(disk->now));
	if (!err && disk->last.gone)
		end_disk(disk, "target gone: the disk was removed");
	return err;
}

static int sample_settings(struct recorded *disk)
{
	int err = put_readahead(disk);

	if (!err)
		err = settings_queue(&disk->settings, put_setting, disk);
	if (!err && disk->recorder->mounts_changed)
		err = settings_mounts(&disk->settings, put_setting, disk);
	return err;
}

static int put_outputs(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->nr_output && !err; i++) {
		const struct output *output = &recorder->output[i];

		err = store_put_output(recorder->store, output->time_ns,
				       output->stream, output->text,
				       output->len);
	}
	return err;
}

static void drop_outputs(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr_output; i++)
		free(recorder->output[i].text);
	recorder->nr_output = 0;
}

/* Part of a transaction, after take_snapshots(). */
static int put_samples(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		if (disk->ended)
			continue;
		err = put_span(disk);
		if (!err)
			err = sample_settings(disk);
	}
	if (!err)
		err = put_outputs(recorder);
	return err;
}

int recorder_sample(struct recorder *recorder)
{
	int err = take_snapshots(recorder);

	if (!err)
		err = store_begin(recorder->store);
	if (!err)
		err = put_samples(recorder);
	if (!err)
		err = store_commit(recorder->store);
	else
		store_rollback(recorder->store);
	if (err)
		return err;
	drop_outputs(recorder);
	recorder->mounts_changed = false;
	return 0;
}

static int next_phase(struct recorder *recorder, const char *phase)
{
	int err = store_end_phase(recorder->store, recorder->phase,
				  recorder->now_ns);

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		if (!disk->ended)
			err = settings_device(&disk->settings, put_setting,
					      disk);
	}
	if (err || !phase)
		return err;
	return store_begin_phase(recorder->store, ++recorder->phase, phase,
				 recorder->now_ns);
}

/* One transaction: the sample before the cut and the phase after it. */
static int sample_and(struct recorder *recorder, const char *phase)
{
	int err = take_snapshots(recorder);

	if (!err)
		err = store_begin(recorder->store);
	if (!err)
		err = put_samples(recorder);
	if (!err)
		err = next_phase(recorder, phase);
	return err;
}

int recorder_cut(struct recorder *recorder, const char *phase)
{
	int err = sample_and(recorder, phase);

	if (!err)
		err = store_commit(recorder->store);
	else
		store_rollback(recorder->store);
	if (!err)
		drop_outputs(recorder);
	return err;
}

int recorder_output(struct recorder *recorder, const char *stream,
		    const char *text, size_t len)
{
	struct output *more = reallocarray(recorder->output,
					   recorder->nr_output + 1,
					   sizeof(*more));
	char *copy = malloc(len);

	if (more)
		recorder->output = more;
	if (!more || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	more[recorder->nr_output++] = (struct output){
		.time_ns = clock_ns(), .stream = stream, .text = copy,
		.len = len,
	};
	return 0;
}

void recorder_check(const struct recorder *recorder, char *text, size_t size)
{
	char what[192];

	snprintf(text, size, "hold");
	for (size_t i = 0; i < recorder->nr; i++) {
		const struct recorded *disk = &recorder->disks[i];

		if (disk->was_reset) {
			snprintf(text, size, "%s: not known, its counters were reset meanwhile",
				 disk->target.disk);
			return;
		}
		if (!rt_counters_check(&disk->total, disk->before, what,
				       sizeof(what))) {
			snprintf(text, size, "%s: %s", disk->target.disk, what);
			return;
		}
	}
}

int recorder_end(struct recorder *recorder, const char *why)
{
	char text[256];
	int err = sample_and(recorder, NULL);

	recorder_check(recorder, text, sizeof(text));
	if (!err)
		err = store_put_meta(recorder->store, "invariants", text);
	snprintf(text, sizeof(text), "%" PRIu64, recorder->now_ns);
	if (!err)
		err = store_put_meta(recorder->store, "end_ns", text);
	if (!err)
		err = store_put_meta(recorder->store, "end", why);
	if (!err)
		err = store_commit(recorder->store);
	else
		store_rollback(recorder->store);
	if (!err)
		drop_outputs(recorder);
	return err;
}
