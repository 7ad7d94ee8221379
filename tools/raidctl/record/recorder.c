// SPDX-License-Identifier: GPL-2.0-or-later

/* Samples of a recording, made from snapshots of targets. */

#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/claim.h"
#include "attach/source.h"
#include "base/base.h"
#include "disk/disk.h"
#include "format/format.h"
#include "machine/machine.h"
#include "report/losses.h"
#include "store/store.h"

/* Shortest time between two readings of settings of the queue, except at changes of phase. */
#define QUEUE_INTERVAL_NS	NS_PER_S

/* The longest sample of an idle disk. */
#define IDLE_NS	(NS_PER_S / 2)

void recorder_free(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];

		rt_counters_free(&disk->last);
		rt_counters_free(&disk->span);
		rt_counters_free(&disk->phase);
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

/* The counters of a target that we attached start at zero. */
static int baseline(struct recorded *disk)
{
	struct rt_counters now = { 0 }, until;
	unsigned long reads, writes;
	char text[64];
	int err;

	/*
	 * The disk was attached before, so its own count includes all reads and writes whose issue is not counted.
	 * Without iostats it stays 0.
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
		/* The first sample begins at attach, so it includes requests that completed since then. */
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

static int begin_phase(struct recorder *recorder, const char *phase)
{
	return store_begin_phase(writer_rows(recorder->writer), recorder->phase,
				 phase, recorder->now_ns);
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
		err = recorder_describe(&recorder->disks[i]);
	}
	if (!err)
		err = recorder_put_limits(recorder, true);
	if (!err)
		err = begin_phase(recorder, phase);
	if (!err)
		err = writer_commit(recorder->writer);
	/* Report a store that is not writable before the command begins. */
	return err ? err : writer_flush(recorder->writer);
}

/* The disk or its target is gone. Its samples are kept. */
static void end_disk(struct recorded *disk, const char *why)
{
	disk->ended = true;
	disk->recorder->gone = true;
	fail("%s: %s; its recording ends here, %.3f s after it began",
	     disk->target.disk, why,
	     (double)(disk->last.now_ns - disk->recorder->start_ns) / 1e9);
}

/*
 * Another process set the counters to zero, so start again. The events between the last sample and the reset are lost,
 * and the recording reports this.
 */
static int begin_after_reset(struct recorded *disk)
{
	note("%s: another process reset its counters; the activity since the last sample is lost",
	     disk->target.disk);
	disk->was_reset = true;
	return store_put_setting(writer_rows(disk->recorder->writer), disk->span.since_ns,
				 disk->number, "reset",
				 "counters set to zero by another process");
}

/* The field of requests in flight, counted from the name. */
#define IN_FLIGHT_FIELD	9

static bool is_line_of(const char *line, unsigned int major, unsigned int minor)
{
	char *end;

	/* This runs for each disk at each sample; sscanf() would take ten times as long. */
	return strtoul(line, &end, 10) == major && strtoul(end, NULL, 10) == minor;
}

/* Find the line of a disk, first at the offset that it had last. */
static const char *find_line(const char *text, unsigned int major,
			     unsigned int minor, size_t offset)
{
	if (text && strnlen(text, offset) == offset &&
	    (!offset || text[offset - 1] == '\n') &&
	    is_line_of(text + offset, major, minor))
		return text + offset;
	while (text && !is_line_of(text, major, minor))
		text = proc_line(text);
	return text;
}

static bool in_flight(const char *line)
{
	/* Major and minor number and the name come first. */
	for (int field = 0; field < 3 + IN_FLIGHT_FIELD - 1; field++) {
		line += strspn(line, " ");
		line += strcspn(line, " ");
	}
	line += strspn(line, " ");
	return *line < '0' || *line > '9' || strtoull(line, NULL, 10);
}

bool idle_since(const char *text, unsigned int major, unsigned int minor,
		struct idle_line *last)
{
	const char *line = find_line(text, major, minor, last->offset);
	size_t len = line ? strcspn(line, "\n") : 0;

	if (!line || len >= sizeof(last->text)) {
		last->text[0] = '\0';
		return false;
	}
	last->offset = (size_t)(line - text);
	if (strlen(last->text) == len && !memcmp(last->text, line, len))
		return !last->in_flight;
	memcpy(last->text, line, len);
	last->text[len] = '\0';
	last->in_flight = in_flight(last->text);
	return false;
}

static bool has_events(const struct rt_counters *span)
{
	for (int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		uint64_t any = 0;

#define X(member, attribute, ...) any |= span->flow[d].member;
		RT_FLOW_COUNTERS(X)
#undef X
		if (any)
			return true;
	}
	return false;
}

/* Does a span have no event and no time? */
static bool is_empty(const struct rt_counters *span)
{
	return span->now_ns == span->since_ns && !has_events(span);
}

/* The text of /proc/diskstats, NULL if each disk had events in its last sample: reading takes long. */
static const char *read_diskstats(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->nr; i++)
		if (!recorder->disks[i].ended && !recorder->disks[i].busy)
			return proc_read(&recorder->diskstats);
	return NULL;
}

/* May the sample of an idle disk continue? */
static bool is_still_idle(struct recorded *disk, const char *diskstats,
			  uint64_t now_ns)
{
	bool idle = idle_since(diskstats, disk->target.major,
			       disk->target.minor, &disk->idle);

	return idle && now_ns - disk->last.now_ns < IDLE_NS &&
	       !disk->recorder->mounts_changed;
}

/*
 * Take snapshots before anything is stored: this is the time at which a sample or a phase ends. Between phases, idle
 * disks are left out unless @all.
 */
static int take_snapshots(struct recorder *recorder, bool all)
{
	const char *diskstats = read_diskstats(recorder);
	bool clock = false;

	recorder->now_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];
		uint32_t resets = disk->last.resets;
		int err;

		disk->left_out = disk->ended ||
				 (is_still_idle(disk, diskstats, recorder->now_ns) &&
				  !all);
		if (disk->left_out)
			continue;
		err = counters_advance_again(recorder->client, disk->target.id,
					     &disk->last, &disk->span);
		if (err == -ENOENT || err == -ENODEV) {
			end_disk(disk, "target gone: another process detached it or unloaded the module");
			disk->left_out = true;
			continue;
		}
		if (err)
			return err;
		disk->reset_now = disk->last.resets != resets;
		disk->busy = has_events(&disk->span);
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
	bool empty = is_empty(&disk->span);

	cgroups_name(&disk->span);
	if (!err && !empty)
		err = rt_counters_add(&disk->phase, &disk->span);
	if (err || empty)
		rt_counters_free(&disk->span);
	else
		err = writer_put_sample(recorder->writer, disk->number,
					recorder->phase, &disk->span);
	if (!err && disk->last.gone)
		end_disk(disk, "target gone: the disk was removed");
	return err;
}

/* Put a sample of each disk into the present transaction. */
static int put_samples(struct recorder *recorder, bool all)
{
	bool queue = clock_ns(CLOCK_MONOTONIC) - recorder->queue_ns >= QUEUE_INTERVAL_NS;
	/* A setting has the time of a sample, so each disk needs one, idle or not. */
	int err = take_snapshots(recorder, all || queue);

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		if (disk->left_out)
			continue;
		err = put_span(disk);
		if (!err)
			err = recorder_put_events(disk);
		if (!err)
			err = recorder_sample_settings(disk, queue);
	}
	if (queue && !err)
		err = recorder_put_limits(recorder, false);
	if (queue)
		recorder->queue_ns = recorder->now_ns;
	recorder->mounts_changed = false;
	return err;
}

int recorder_sample(struct recorder *recorder)
{
	int err = put_samples(recorder, false);

	if (!err)
		err = surroundings_look(&recorder->surroundings, recorder->now_ns, false);
	return err ? err : writer_commit(recorder->writer);
}

static int end_phase(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		err = rt_counters_add(&disk->total, &disk->phase);
		rt_counters_free(&disk->phase);
	}
	if (!err)
		err = store_end_phase(writer_rows(recorder->writer), recorder->phase,
				      recorder->now_ns);
	return err ? err : recorder_cut_settings(recorder);
}

int recorder_cut(struct recorder *recorder, const char *phase)
{
	int err = put_samples(recorder, true);

	if (!err)
		err = end_phase(recorder);
	recorder->phase++;
	if (!err)
		err = begin_phase(recorder, phase);
	if (!err)
		err = surroundings_look(&recorder->surroundings, recorder->now_ns, true);
	return err ? err : writer_commit(recorder->writer);
}

int recorder_output(struct recorder *recorder, const char *stream,
		    const char *text, size_t len)
{
	return store_put_output(writer_rows(recorder->writer), clock_ns(CLOCK_MONOTONIC), stream,
				text, len);
}

void recorder_check(const struct recorder *recorder, char *text, size_t size)
{
	char what[192];

	snprintf(text, size, "hold");
	for (size_t i = 0; i < recorder->nr; i++) {
		const struct recorded *disk = &recorder->disks[i];

		if (disk->was_reset) {
			snprintf(text, size, "%s: not known, because its counters were reset",
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

int recorder_put_losses(struct rt_client *client, struct rows *rows, const struct recorded *disks, size_t nr,
			bool noted)
{
	struct json_object *by_disk = json_new_object();
	uint64_t all = 0;
	int err;

	for (size_t i = 0; i < nr; i++) {
		struct json_object *of_disk = json_new_object();
		const struct recorded *disk = &disks[i];
		struct losses losses;

		json_member(by_disk, disk->target.disk, of_disk);

		/* Nothing is lost of a target that another process deleted. */
		if (losses_get(client, disk->target.id, &disk->last, &losses))
			continue;
		/* The sum for all disks is counted once. */
		if (i)
			losses.lost.missed = 0;
		all += losses_sum(&losses);
		if (noted)
			losses_note(disk->target.disk, &losses);
		losses_json(of_disk, &losses);
	}
	err = store_put_meta_number(rows, "records_lost", all);
	if (!err)
		err = store_put_meta(rows, "losses", json_object_to_json_string_ext(by_disk, JSON_C_TO_STRING_PLAIN));
	json_object_put(by_disk);
	return err;
}

/* Compare the counters with the kernel's own, which are those of bios for a disk without requests. */
static int put_witness(struct recorder *recorder)
{
	unsigned int processors = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	struct json_object *by_disk = json_new_object();
	char text[256];
	int err;

	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];
		struct witness_verdict verdict;

		witness_compare(&disk->witness, &disk->total, processors,
				(uint64_t)disk->target.max_sectors * SECTOR_BYTES, &verdict);
		verdict.known &= !disk->target.bio_based && !disk->ended && !disk->was_reset;
		if (witness_text(text, sizeof(text), &verdict)[0])
			note("%s: the counters differ from /sys/block/%s/stat: the kernel completed at least %s than were counted",
			     disk->target.disk, disk->target.disk, text);
		witness_json(by_disk, disk->target.disk, &verdict);
	}
	err = store_put_meta(writer_rows(recorder->writer), "witness",
			     json_object_to_json_string_ext(by_disk, JSON_C_TO_STRING_PLAIN));
	json_object_put(by_disk);
	return err;
}

int recorder_end(struct recorder *recorder, const char *why)
{
	struct rows *rows = writer_rows(recorder->writer);
	uint64_t lost = 0;
	char text[256];
	int err;

	for (size_t i = 0; i < recorder->nr; i++)
		witness_read(recorder->disks[i].target.major, recorder->disks[i].target.minor,
			     &recorder->disks[i].witness.before_end);
	err = put_samples(recorder, true);
	for (size_t i = 0; i < recorder->nr; i++)
		witness_read(recorder->disks[i].target.major, recorder->disks[i].target.minor,
			     &recorder->disks[i].witness.after_end);
	for (size_t i = 0; i < recorder->nr; i++)
		lost += recorder->disks[i].lost;
	if (recorder->events && lost)
		note("%" PRIu64 " single requests were lost between samples; a shorter --interval loses fewer. Counters are complete",
		     lost);
	if (!err)
		err = end_phase(recorder);
	if (!err)
		err = surroundings_end(&recorder->surroundings, recorder->now_ns);
	if (!err && recorder->events)
		err = store_put_meta_number(rows, "requests_lost", lost);
	if (!err && source_is_own(recorder->client))
		err = recorder_put_losses(recorder->client, rows, recorder->disks, recorder->nr, true);
	if (!err && source_is_own(recorder->client))
		err = put_witness(recorder);
	recorder_check(recorder, text, sizeof(text));
	if (!err)
		err = store_put_meta(rows, "invariants", text);
	if (!err)
		err = store_put_meta_number(rows, "end_ns", recorder->now_ns);
	if (!err)
		err = store_put_meta(rows, "end", why);
	if (!err)
		err = writer_commit(recorder->writer);
	return err ? err : writer_flush(recorder->writer);
}
