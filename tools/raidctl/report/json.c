// SPDX-License-Identifier: GPL-2.0-or-later

/* JSON of raidctl list and status. Names contain units. null: not known. */

#include "report/report.h"

#include <json-c/json.h>
#include <string.h>

#include "base/base.h"
#include "format/format.h"

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

static int add_name(void *data, const char *disk)
{
	json_element(data, json_new_string(disk));
	return 0;
}

static struct json_object *disk_object(const struct disk *disk)
{
	struct json_object *object = json_new_object(), *members = json_new_array();

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
	stack_each_member(disk->name, add_name, members);
	json_member(object, "members", members);
	json_member(object, "mounts", mounts_object(disk));
	return object;
}

struct json_object *json_disks(const struct disk *disks, size_t nr)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < nr; i++)
		json_element(array, disk_object(&disks[i]));
	return array;
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
