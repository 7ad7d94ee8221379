// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl unload: remove the kernel module. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/claim.h"
#include "base/base.h"
#include "cmd/command.h"

struct unload_options {
	bool force;
};

static const struct argp_option options[] = {
	{ "force", 'f', NULL, 0, "Unload even if a disk is being recorded; the recording ends", 0 }, { 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct unload_options *unload = state->input;

	(void)arg;
	if (key != 'f')
		return ARGP_ERR_UNKNOWN;
	unload->force = true;
	return 0;
}

/* The module can go while targets exist; a recording would end with it. */
static int refuse_recorded(struct context *context)
{
	struct rt_target *targets;
	int status = 0;
	size_t nr;

	if (rt_open(&context->client) ||
	    rt_target_list(context->client, &nr, &targets))
		return 0;
	for (size_t i = 0; i < nr && !status; i++) {
		pid_t pid = owner_of(&targets[i]);

		if (pid)
			status = fail("unload: process %d records %s; stop it first, or use --force",
				      (int)pid, targets[i].disk);
	}
	free(targets);
	rt_close(context->client);
	context->client = NULL;
	return status;
}

static int run(struct context *context, void *data)
{
	struct unload_options *unload = data;
	int err;

	if (rt_module_loaded() <= 0)
		return fail("unload: raidtrace is not loaded");
	if (geteuid())
		return fail("unload: not permitted; run it as root: sudo raidctl unload");
	if (!unload->force && refuse_recorded(context))
		return EXIT_FAILED;
	err = rt_module_unload();
	if (err == -EBUSY)
		return fail("unload: raidtrace is in use; end the programs that use it and try again");
	if (err)
		return fail("unload: %s", strerror(-err));
	puts("unloaded raidtrace");
	return EXIT_DONE;
}

const struct verb verb_unload = {
	.argp = {
		options, parse, NULL,
		"Detach all disks, drop their counters, and unload the kernel module.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct unload_options),
	.run = run,
};
