// SPDX-License-Identifier: GPL-2.0-or-later

/* The disks of a recording, attached for it or before. */

#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/claim.h"
#include "attach/source.h"
#include "base/base.h"

/* The target of a disk that another process attached. */
static int find_attached(struct recorder *recorder, const struct disk *disk,
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
	struct rt_options options = { 0 };
	char text[320];
	int err = owner_adding(recorder->owner, disk->major, disk->minor);

	if (err)
		return fail("%s: not attached, because /run cannot be written: %s",
			    disk->name, strerror(-err));
	/* Before the attach, because reading a file system is I/O of the disk. */
	err = journals_of_disk(disk->name, &ret->journals);
	if (err)
		return fail("%s: %s", disk->name, strerror(-err));
	options.streams = recorder->streams;
	if (recorder->hwq)
		options.groups = RT_GROUPS_DEFAULT | RAIDTRACE_GROUP_HWQ;
	options.history = recorder->events;
	options.nr_journal = ret->journals.nr;
	options.journal = ret->journals.extents;
	witness_read(disk->major, disk->minor, &ret->witness.before_begin);
	err = source_attach(recorder->client, disk, &options, &ret->target, text, sizeof(text));
	witness_read(disk->major, disk->minor, &ret->witness.after_begin);
	if (!err) {
		ret->ours = true;
		owner_added(recorder->owner, &ret->target);
		return 0;
	}
	if (err == -EEXIST && !find_attached(recorder, disk, &ret->target))
		return 0;
	/* A refusal has a text. Without a text the answer was lost, and the disk may be attached. */
	recorder->unsure = strncmp(text, "cannot be opened", 16) && !rt_error(recorder->client)[0];
	return fail("%s: %s", disk->name, text);
}

int recorder_attach(struct recorder *recorder, const struct disk *disks,
		    size_t nr)
{
	int err = owner_begin(&recorder->owner);

	if (err) {
		owner_end(recorder->owner);
		return fail("the attached disks cannot be noted below /run: %s; without this note they could not be detached after a crash",
			    strerror(-err));
	}
	recorder->disks = calloc(nr, sizeof(*recorder->disks));
	if (!recorder->disks)
		err = fail("%s", strerror(ENOMEM));
	for (size_t i = 0; i < nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		disk->number = (uint32_t)i + 1;
		disk->put_readahead = UINT64_MAX;
		disk->recorder = recorder;
		err = attach_one(recorder, &disks[i], disk);
		if (!err)
			recorder->nr++;
	}
	if (err)
		recorder_detach(recorder);
	return err;
}

int recorder_attach_words(struct recorder *recorder, const struct words *words, const char *verb)
{
	struct disk *disks;
	size_t nr;
	int status = args_disks(words, verb, &nr, &disks);

	if (status)
		return status;
	status = recorder_attach(recorder, disks, nr);
	free(disks);
	return status;
}

void recorder_detach(struct recorder *recorder)
{
	bool left = recorder->unsure;

	for (size_t i = 0; i < recorder->nr; i++) {
		struct recorded *disk = &recorder->disks[i];
		int err;

		if (!disk->ours)
			continue;
		err = rt_target_del(recorder->client, disk->target.id);
		/* Another process detached it, or the module is unloaded. */
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

int recorder_find_journals(struct recorded *disk)
{
	struct journals now;
	int err;

	if (!disk->ours)
		return 0;
	err = journals_of_disk(disk->target.disk, &now);
	if (err)
		return err;
	/* A journal that the module refuses only means a missing counter. */
	if (now.nr != disk->journals.nr ||
	    (now.nr && memcmp(now.extents, disk->journals.extents,
				now.nr * sizeof(*now.extents))))
		rt_target_set_journal(disk->recorder->client, disk->target.id,
				      now.extents, now.nr);
	journals_free(&disk->journals);
	disk->journals = now;
	return 0;
}
