// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl list: the disks, without module and privilege. */

#include <string.h>

#include "base/message.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "report/print.h"

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
	print_ops_of(list->json)->disks(stdout, disks, nr);
	disk_list_free(disks, nr);
	return EXIT_DONE;
}

const struct verb verb_list = {
	.argp = {
		options, parse, NULL,
		"Show every disk: driver, size, readahead in KiB and in sectors, largest request, queue depth, requests of the queue, scheduler and mounted file systems. 3ware units come first and are marked.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct list_options),
	.run = run,
};
