// SPDX-License-Identifier: GPL-2.0-or-later

/* From snapshots of targets to samples of a recording. */

#include "record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/claim.h"
#include "base/base.h"
#include "disk/settings-machine.h"
#include "machine/cgroup.h"
#include "numbers/numbers.h"
#include "store/writer.h"

/* Settings of the queue are not read more often than that, but at cuts. */
#define QUEUE_INTERVAL_NS	NS_PER_S

/* No sample is longer because a disk does nothing. */
#define IDLE_NS	(NS_PER_S / 2)

void recorder_free(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];

		rt_counters_free(&disk->last);
		rt_counters_free(&disk->span);
		rt_counters_free(&disk->total);
		settings_free(&disk->settings);
		journals_free(&disk->journals);
	}
	free(recorder->disks);
	if (recorder->diskstats.text)
		proc_close(&recorder->diskstats);
	writer_stop(recorder->writer);
}

bool recorder_all_ended(const struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr; i++)
		if (!recorder->disks[i].ended)
			return false;
	return true;
}

static int put_readahead(struct recorded *disk)
{
	char text[32];
	int err;

	if (disk->last.readahead_sectors == disk->put_readahead)
		return 0;
	disk->put_readahead = disk->last.readahead_sectors;
	snprintf(text, sizeof(text), "%" PRIu64, disk->last.readahead_sectors);
	err = settings_set(&disk->settings, "readahead_sectors", text,
			   recorder_put_setting, disk);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%" PRIu64,
		 disk->last.readahead_sectors * SECTOR_BYTES / 1024);
	return settings_set(&disk->settings, "readahead_kib", text,
			    recorder_put_setting, disk);
}

static int put_mounts(struct recorded *disk)
{
	int err = settings_mounts(&disk->settings, recorder_put_setting, disk);

	if (err || !disk->ours)
		return err;
	return settings_set(&disk->settings, "journal", disk->journals.text,
			    recorder_put_setting, disk);
}

/* Counters of a target of ours begin with zero when it was attached. */
static int baseline(struct recorded *disk)
{
	struct rt_counters now = { 0 }, until;
	unsigned long reads, writes;
	char text[64];
	int err;

	/*
	 * Attached before, so that the disk's own count has all reads and writes that no issue
	 * will be counted of; without iostats it stays 0.
	 */
	disk->carried = -1;
	if (disk_attribute(disk->target.disk, "queue/iostats", text, sizeof(text)) > 0 &&
	    !strcmp(text, "1") &&
	    disk_attribute(disk->target.disk, "inflight", text, sizeof(text)) > 0 &&
	    sscanf(text, "%lu %lu", &reads, &writes) == 2)
		disk->carried = (int64_t)(reads + writes);
	err = counters_advance_again(disk->recorder->client,
				     disk->target.id, &now, &until);
	if (err)
		return err;
	rt_counters_free(&until);
	if (disk->ours) {
		/* The first sample begins at attach: those that ended since are in it. */
		for (int d = 0; d <= RAIDTRACE_DIRECTION_WRITE && disk->carried >= 0; d++)
			disk->carried += (int64_t)now.flow[d].unmatched;
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
	int err = writer_put_target(disk->recorder->writer, disk->number,
				    &disk->target);

	disk->settings.disk = disk->target.disk;
	disk->settings.hctl = disk->target.above.hctl;
	if (!err)
		err = put_readahead(disk);
	if (!err && disk->carried >= 0 && !disk->target.bio_based) {
		char text[32];

		snprintf(text, sizeof(text), "%" PRId64, disk->carried);
		err = recorder_put_setting(disk, "in_flight_at_attach", text);
	}
	if (!err)
		err = settings_queue(&disk->settings, recorder_put_setting, disk);
	if (!err)
		err = settings_device(&disk->settings, recorder_put_setting, disk);
	if (!err)
		err = settings_controller(&disk->settings, disk->target.above.pci,
					  disk->target.above.unit_3ware, recorder_put_setting,
					  disk);
	return err ? err : put_mounts(disk);
}

int recorder_begin(struct recorder *recorder, struct store *store,
		   const char *phase)
{
	int err = 0;

	proc_open(&recorder->diskstats, "/proc/diskstats");
	err = writer_start(store, &recorder->writer);
	for (size_t i = 0; i < recorder->nr && !err && recorder->events; i++)
		err = recorder_begin_events(&recorder->disks[i]);
	for (size_t i = 0; i < recorder->nr && !err; i++)
		err = baseline(&recorder->disks[i]);
	if (err)
		return err;
	recorder->start_ns = recorder->disks[0].last.now_ns;
	recorder->now_ns = recorder->start_ns;
	for (size_t i = 0; i < recorder->nr && !err; i++) {
		recorder->disks[i].begin_ns = recorder->disks[i].last.now_ns;
		err = describe(&recorder->disks[i]);
	}
	if (!err)
		err = recorder_put_limits(recorder, true);
	if (!err)
		err = writer_begin_phase(recorder->writer, recorder->phase,
					 phase, recorder->start_ns);
	if (!err)
		err = writer_commit(recorder->writer);
	/* What cannot be stored at all is better known before it begins. */
	return err ? err : writer_flush(recorder->writer);
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
static int begin_after_reset(struct recorded *disk)
{
	note("%s: another process reset its counters; the activity since the last sample is lost",
	     disk->target.disk);
	disk->was_reset = true;
	return writer_put_setting(disk->recorder->writer, disk->span.since_ns,
				  disk->number, "reset",
				  "counters set to zero by another process");
}

/* Nothing at all since the last sample, not even time. */
static bool is_empty(const struct rt_counters *span)
{
	if (span->now_ns != span->since_ns)
		return false;
	for (int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		uint64_t any = 0;

#define X(member, attribute, ...) any |= span->flow[d].member;
		RT_FLOW_COUNTERS(X)
#undef X
		if (any)
			return false;
	}
	return true;
}

/* Its sample goes on: a later one has what there will be. */
static bool goes_on(struct recorded *disk, const char *diskstats,
		    uint64_t now_ns)
{
	bool idle = idle_since(diskstats, disk->target.major,
			       disk->target.minor, &disk->idle);

	return idle && now_ns - disk->last.now_ns < IDLE_NS &&
	       !disk->recorder->mounts_changed;
}

/*
 * Before anything is stored: this is the moment a sample or a phase ends.
 * Between phases disks that do nothing are left out unless @all.
 */
static int take_snapshots(struct recorder *recorder, bool all)
{
	const char *diskstats = proc_read(&recorder->diskstats);
	bool clock = false;

	recorder->now_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];
		uint32_t resets = disk->last.resets;
		int err;

		disk->left_out = disk->ended ||
				 (goes_on(disk, diskstats, recorder->now_ns) &&
				  !all);
		if (disk->left_out)
			continue;
		err = counters_advance_again(recorder->client, disk->target.id,
					     &disk->last, &disk->span);
		if (err == -ENOENT || err == -ENODEV) {
			end_disk(disk, "target gone: somebody else detached it or unloaded the module");
			disk->left_out = true;
			continue;
		}
		if (err)
			return err;
		disk->reset_now = disk->last.resets != resets;
		if (!clock)
			recorder->now_ns = disk->last.now_ns;
		clock = true;
	}
	return 0;
}

static int put_span(struct recorded *disk)
{
	struct recorder *recorder = disk->recorder;
	int err = disk->reset_now ? begin_after_reset(disk) : 0;

	cgroups_name(&disk->span);
	if (!err)
		err = rt_counters_add(&disk->total, &disk->span);
	if (!err && !is_empty(&disk->span))
		err = writer_put_sample(recorder->writer, disk->number,
					recorder->phase, &disk->span);
	rt_counters_free(&disk->span);
	if (!err && disk->last.gone)
		end_disk(disk, "target gone: the disk was removed");
	return err;
}

/* Readahead comes with the counters; the rest costs a file each. */
static int sample_settings(struct recorded *disk, bool queue)
{
	int err = put_readahead(disk);

	if (!err && queue)
		err = settings_queue(&disk->settings, recorder_put_setting, disk);
	if (!err && disk->recorder->mounts_changed)
		err = recorder_find_journals(disk);
	if (!err && disk->recorder->mounts_changed)
		err = put_mounts(disk);
	return err;
}

/* Take a sample of each disk into the transaction that is being filled. */
static int put_samples(struct recorder *recorder, bool all)
{
	bool queue = clock_ns(CLOCK_MONOTONIC) - recorder->queue_ns >= QUEUE_INTERVAL_NS;
	/* A setting has the time of a sample: with it comes one of each disk, idle or not. */
	int err = take_snapshots(recorder, all || queue);

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		if (disk->left_out)
			continue;
		err = put_span(disk);
		if (!err)
			err = recorder_put_events(disk);
		if (!err)
			err = sample_settings(disk, queue);
	}
	if (queue && !err)
		err = recorder_put_limits(recorder, false);
	if (queue)
		recorder->queue_ns = recorder->now_ns;
	recorder->mounts_changed = false;
	return err;
}

static int put_besides(struct recorder *recorder, enum moment moment)
{
	if (!recorder->besides)
		return 0;
	return recorder->besides(recorder->data, recorder->now_ns, moment);
}

int recorder_sample(struct recorder *recorder)
{
	int err = put_samples(recorder, false);

	if (!err)
		err = put_besides(recorder, MOMENT_SAMPLE);
	return err ? err : writer_commit(recorder->writer);
}

static int next_phase(struct recorder *recorder, const char *phase)
{
	int err = writer_end_phase(recorder->writer, recorder->phase,
				   recorder->now_ns);

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		if (disk->ended)
			continue;
		err = settings_queue(&disk->settings, recorder_put_setting, disk);
		if (!err)
			err = settings_device(&disk->settings,
					      recorder_put_setting, disk);
	}
	if (!err)
		err = recorder_put_limits(recorder, true);
	if (err || !phase)
		return err;
	return writer_begin_phase(recorder->writer, ++recorder->phase, phase,
				  recorder->now_ns);
}

int recorder_cut(struct recorder *recorder, const char *phase)
{
	int err = put_samples(recorder, true);

	if (!err)
		err = next_phase(recorder, phase);
	if (!err)
		err = put_besides(recorder, MOMENT_CUT);
	return err ? err : writer_commit(recorder->writer);
}

int recorder_output(struct recorder *recorder, const char *stream,
		    const char *text, size_t len)
{
	return writer_put_output(recorder->writer, clock_ns(CLOCK_MONOTONIC), stream, text,
				 len);
}

static int put_lost(struct recorder *recorder)
{
	uint64_t lost = 0;
	char text[32];

	for (size_t i = 0; i < recorder->nr; i++)
		lost += recorder->disks[i].lost;
	snprintf(text, sizeof(text), "%" PRIu64, lost);
	return writer_put_meta(recorder->writer, "requests_lost", text);
}

int recorder_end(struct recorder *recorder, const char *why)
{
	char text[256];
	int err = put_samples(recorder, true);

	if (!err)
		err = next_phase(recorder, NULL);
	if (!err)
		err = put_besides(recorder, MOMENT_END);
	if (!err && recorder->events)
		err = put_lost(recorder);
	recorder_check(recorder, text, sizeof(text));
	if (!err)
		err = writer_put_meta(recorder->writer, "invariants", text);
	snprintf(text, sizeof(text), "%" PRIu64, recorder->now_ns);
	if (!err)
		err = writer_put_meta(recorder->writer, "end_ns", text);
	if (!err)
		err = writer_put_meta(recorder->writer, "end", why);
	if (!err)
		err = writer_commit(recorder->writer);
	return err ? err : writer_flush(recorder->writer);
}
