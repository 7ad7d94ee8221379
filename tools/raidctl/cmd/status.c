// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl list and status: the disks, without module and privilege; the module, attached disks and recordings. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/claim.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "report/report.h"

/* The options of both verbs. */
struct json_options {
	bool json;
};

static const struct argp_option options[] = { OPTION_JSON, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct json_options *given = state->input;

	(void)arg;
	if (key != KEY_JSON)
		return ARGP_ERR_UNKNOWN;
	given->json = true;
	return 0;
}

static int run_list(struct context *context, void *data)
{
	struct json_options *given = data;
	struct disk *disks;
	size_t nr;
	int err = disk_list(&nr, &disks);

	(void)context;
	if (err)
		return fail("list: /sys/block cannot be read: %s",
			    strerror(-err));
	if (given->json)
		json_finish(stdout, json_disks(disks, nr));
	else
		text_disks(stdout, disks, nr);
	disk_list_free(disks, nr);
	return EXIT_DONE;
}

static void count_units(struct status *status)
{
	struct disk *disks;
	size_t nr;

	if (disk_list(&nr, &disks))
		return;
	for (size_t i = 0; i < nr; i++)
		status->nr_units += disks[i].above.unit_3ware;
	disk_list_free(disks, nr);
}

static void read_signing(struct status *status)
{
	rt_signing_read("", &status->signing);
	rt_module_find(NULL, status->module_file, sizeof(status->module_file),
		       status->module_signer, sizeof(status->module_signer));
	status->module_enrolled = status->module_signer[0] ?
		rt_signing_enrolled("", status->module_signer) : -1;
}

static int run_status(struct context *context, void *data)
{
	struct json_options *given = data;
	struct status status = { 0 };

	status.loaded = rt_module_loaded() > 0;
	if (status.loaded) {
		int failed = connect_module(context);

		if (failed)
			return failed;
		if (rt_target_list(context->client, &status.nr_targets,
				   &status.targets))
			return fail("status: the targets cannot be listed: %s",
				    rt_error(context->client));
		status.info = context->info;
		status.info.nr_targets = (uint32_t)status.nr_targets;
	}
	status.simulated = lab_profile(status.profile, sizeof(status.profile));
	count_units(&status);
	if (given->json)
		read_signing(&status);
	if (owner_living(&status.nr_recordings, &status.recordings))
		status.nr_recordings = 0;
	status.settings_left = settings_left();
	(given->json ? json_status : text_status)(stdout, &status);
	free(status.targets);
	free(status.recordings);
	return EXIT_DONE;
}

const struct verb verb_list = {
	.argp = {
		options, parse, NULL,
		"List every disk: kind (rotating, flash, virtual, array), model, size, readahead and what set it, hardware queues, scheduler, driver and mounted file systems. Units of 3ware controllers come first.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct json_options),
	.run = run_list,
};

const struct verb verb_status = {
	.argp = {
		options, parse, NULL,
		"Show the module, the attached disks, the running recordings, and whether a killed raidctl why or sweep left settings to restore. raidctl without a verb does the same.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct json_options),
	.run = run_status,
};
