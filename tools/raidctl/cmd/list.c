// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl list: the disks, without module and privilege. */

#include <string.h>

#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "report/report.h"

struct list_options {
	bool json;
};

static const struct argp_option options[] = { OPTION_JSON, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_options *list = state->input;

	(void)arg;
	if (key != KEY_JSON)
		return ARGP_ERR_UNKNOWN;
	list->json = true;
	return 0;
}

static int run(struct context *context, void *data)
{
	struct list_options *list = data;
	struct disk *disks;
	size_t nr;
	int err = disk_list(&nr, &disks);

	(void)context;
	if (err)
		return fail("list: /sys/block cannot be read: %s",
			    strerror(-err));
	(list->json ? json_disks : text_disks)(stdout, disks, nr);
	disk_list_free(disks, nr);
	return EXIT_DONE;
}

const struct verb verb_list = {
	.argp = {
		options, parse, NULL,
		"List every disk: kind (rotating, flash, virtual, array), model, size, readahead and what set it, hardware queues, scheduler, driver and mounted file systems. Units of 3ware controllers come first.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct list_options),
	.run = run,
};
