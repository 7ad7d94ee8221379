// SPDX-License-Identifier: GPL-2.0-or-later

/* Live rows: one sample of each disk of a source, as a recording in memory. */

#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/claim.h"
#include "attach/source.h"
#include "base/base.h"
#include "report/losses.h"

/* Settings are put again for each sample, so a change needs no row. */
static int unchanged(void *data, const char *name, const char *value)
{
	(void)data;
	(void)name;
	(void)value;
	return 0;
}

static void free_disk(struct recorded *disk)
{
	rt_counters_free(&disk->last);
	rt_counters_free(&disk->span);
	settings_free(&disk->settings);
}

static bool is_chosen(const struct live *live, uint32_t id)
{
	for (size_t i = 0; i < live->nr_chosen; i++)
		if (live->chosen[i].id == id)
			return true;
	return !live->nr_chosen;
}

/* Is it the target of a disk that is known? A module that was loaded again gives the same ids. */
static bool is_same(const struct rt_target *a, const struct rt_target *b)
{
	return a->id == b->id && a->attached_ns == b->attached_ns && !strcmp(a->disk, b->disk);
}

static int add_disk(struct live *live, const struct rt_target *target)
{
	struct recorded *disk;

	for (size_t i = 0; i < live->nr; i++)
		if (is_same(&live->disks[i].target, target)) {
			live->disks[i].target = *target;
			return 0;
		}
	disk = reallocarray(live->disks, live->nr + 1, sizeof(*disk));
	if (!disk)
		return -ENOMEM;
	live->disks = disk;
	disk[live->nr++] = (struct recorded){
		.target = *target, .number = target->id, .put_readahead = UINT64_MAX,
		.settings.changed = unchanged,
	};
	return 0;
}

/* Follow the targets of the source: some come, some go. */
static int follow_targets(struct live *live)
{
	struct rt_target *targets;
	size_t nr, kept = 0;
	int err = rt_target_list(live->recorder.client, &nr, &targets);

	if (err)
		return err;
	for (size_t i = 0; i < live->nr; i++) {
		bool there = false;

		for (size_t j = 0; j < nr; j++)
			there |= is_same(&targets[j], &live->disks[i].target);
		if (there)
			live->disks[kept++] = live->disks[i];
		else
			free_disk(&live->disks[i]);
	}
	live->nr = kept;
	for (size_t i = 0; i < nr && !err; i++)
		if (is_chosen(live, targets[i].id))
			err = add_disk(live, &targets[i]);
	free(targets);
	return err;
}

/*
 * Advance the counters of a disk. @left_out: there is no span, because this is the first snapshot or the one after a
 * reset, the target was deleted meanwhile, or the module lacked memory for its answer.
 */
static int advance(struct live *live, struct recorded *disk)
{
	bool first = !disk->last.now_ns;
	uint32_t resets = disk->last.resets;
	int err = counters_advance_again(live->recorder.client, disk->target.id, &disk->last, &disk->span);

	disk->left_out = err || first || disk->last.resets != resets || disk->span.now_ns <= disk->span.since_ns;
	if (err == -ERANGE)
		rt_counters_free(&disk->last);
	/* Without memory, BPF programs of our own lost records for good. */
	if (err == -ENOENT || err == -ENODEV || err == -ERANGE ||
	    (err == -ENOMEM && !source_is_own(live->recorder.client)))
		return 0;
	return err;
}

static int put_settings(struct rows *rows, struct recorded *disk, bool all, uint32_t hidden)
{
	int err = all ? recorder_read_settings(disk, unchanged) : recorder_put_readahead(disk);
	char text[GROUPS_TEXT];

	for (size_t i = 0; i < disk->settings.nr && !err; i++)
		err = store_put_setting(rows, 0, disk->number, disk->settings.known[i].name,
					disk->settings.known[i].value);
	if (!err && (disk->target.gone || disk->last.gone))
		err = store_put_setting(rows, 0, disk->number, "gone", "1");
	if (!err && hidden)
		err = store_put_setting(rows, 0, disk->number, "groups_hidden", groups_text(text, hidden));
	return err;
}

static int put_disk(struct live *live, struct recorded *disk, bool total)
{
	struct rt_counters *counted = total ? &disk->last : &disk->span;
	bool left_out = total ? !disk->last.now_ns : disk->left_out;
	struct rows *rows = store_rows(live->store);
	struct rt_target target = disk->target;
	int err;

	/* Without a privilege, the module counts more groups than it gives. */
	if (!left_out)
		target.groups &= counted->groups;
	err = store_put_target(rows, disk->number, &target);
	if (!err)
		err = put_settings(rows, disk, total, disk->target.groups & ~target.groups);
	if (err || left_out)
		return err;
	cgroups_name(counted);
	return store_put_sample(live->store, disk->number, 0, counted);
}

static int put_facts(struct live *live)
{
	struct rows *rows = store_rows(live->store);
	int err = record_put_machine(rows);

	if (!err)
		err = store_begin_phase(rows, 0, "now", 0);
	if (!err && live->waits)
		err = store_put_meta(rows, "module_loaded", live->recorder.client ? "yes" : "no");
	if (!err && live->picked[0])
		err = store_put_meta(rows, "picked", live->picked);
	if (!err && live->recorder.client)
		err = record_put_source(rows, live->recorder.client, &live->info);
	if (!err && live->recorder.client && source_is_own(live->recorder.client))
		err = recorder_put_losses(live->recorder.client, rows, live->disks, live->nr, false);
	return err;
}

static int put_sample(struct live *live, bool total)
{
	int err = store_begin(live->store);

	if (err)
		return err;
	err = store_clear(live->store);
	if (!err)
		err = put_facts(live);
	for (size_t i = 0; i < live->nr && !err; i++)
		err = put_disk(live, &live->disks[i], total);
	for (size_t i = 0; i < live->nr; i++)
		rt_counters_free(&live->disks[i].span);
	if (!err)
		return store_commit(live->store);
	store_rollback(live->store);
	return err;
}

/*
 * Connect to the module, which can be unloaded, loaded again and replaced between two samples. A module that is not
 * loaded is no failure.
 */
static int connect_again(struct live *live, char *why, size_t size)
{
	int err;

	rt_close(live->recorder.client);
	live->recorder.client = NULL;
	err = rt_open(&live->recorder.client);
	if (err == -ENOENT)
		return 0;
	if (!err)
		err = rt_info_get(live->recorder.client, &live->info);
	if (!err && live->info.abi != RAIDTRACE_ABI) {
		snprintf(why, size, "the loaded module has ABI %u, this raidctl has ABI %u; load the module of the same version: raidctl unload, then raidctl load FILE",
			 live->info.abi, RAIDTRACE_ABI);
		err = -EPROTO;
	}
	return err;
}

int live_sample(struct live *live, bool total, char *why, size_t size)
{
	int err = 0, store_err;

	why[0] = '\0';
	if (live->waits)
		err = connect_again(live, why, size);
	if (!err && live->recorder.client)
		err = follow_targets(live);
	for (size_t i = 0; i < live->nr && !err && live->recorder.client; i++)
		err = advance(live, &live->disks[i]);
	if (err && !why[0])
		snprintf(why, size, "%s: %s", !live->recorder.client || !source_is_own(live->recorder.client) ?
			 "the module" : "BPF programs",
			 live->recorder.client ? rt_reason(live->recorder.client, err) : strerror(-err));
	if (err)
		return err;
	if (!live->store)
		err = store_create_in_memory(&live->store);
	store_err = err ? err : put_sample(live, total);
	if (store_err)
		snprintf(why, size, "the sample cannot be stored: %s", store_error(live->store));
	return store_err;
}

void live_end(struct live *live)
{
	for (size_t i = 0; i < live->nr; i++)
		free_disk(&live->disks[i]);
	free(live->disks);
	free(live->chosen);
	store_close(live->store);
	recorder_detach(&live->recorder);
	recorder_free(&live->recorder);
}
