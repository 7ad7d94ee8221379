// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl load and unload: insert and remove the kernel module. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/claim.h"
#include "base/base.h"
#include "cmd/command.h"

struct load_options {
	const char *file;
};

static error_t parse_load(int key, char *arg, struct argp_state *state)
{
	struct load_options *load = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (load->file)
		argp_error(state, "one FILE at most");
	load->file = arg;
	return 0;
}

/*
 * If the program is in its build tree, use the module of this tree. The current directory is not searched, because
 * anybody may have written to it.
 */
static const char *find_built(const char *directory, char *ret, size_t size)
{
	static const char place[] = "/tools/bin";
	size_t len = strlen(directory), tail = sizeof(place) - 1;

	if (len < tail || strcmp(directory + len - tail, place))
		return NULL;
	snprintf(ret, size, "%.*s/kmod/raidtrace.ko", (int)(len - tail),
		 directory);
	return access(ret, F_OK) ? NULL : ret;
}

static int run_load(struct context *context, void *data)
{
	struct load_options *load = data;
	char path[PATH_MAX], why[1024], profile[64];
	const char *file = load->file;
	int err;

	/* In a guest of the lab, the module is only there. On a real machine, root did not set this variable. */
	if (!file && lab_profile(profile, sizeof(profile)))
		file = secure_getenv("RAIDTRACE_KO");
	if (!file)
		file = find_built(context->directory, path, sizeof(path));
	if (rt_module_loaded() > 0)
		return fail("load: raidtrace is already loaded; to replace it: raidctl unload, then raidctl load");
	if (geteuid())
		return fail("load: not permitted; run it as root: sudo raidctl load");
	err = rt_module_load(file, why, sizeof(why));
	if (err)
		return fail("%s: not loaded: %s", file ? file : "raidtrace",
			    why);
	terminal_print(stdout, "loaded %s\n", file ? file : "the installed raidtrace");
	fflush(stdout);
	/* Report a module that is loaded but not usable at once. */
	return connect_module(context);
}

const struct verb verb_load = {
	.argp = {
		NULL, parse_load, "[FILE]",
		"Load the kernel module. It counts nothing until a disk is attached. The module is the first of these: FILE; in a guest of raidctl lab, the file that RAIDTRACE_KO names; kmod/raidtrace.ko of the source tree that contains this raidctl; the module installed below /lib/modules. A module in the current directory is loaded only as FILE.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct load_options),
	.run = run_load,
};

struct unload_options {
	bool force;
};

static const struct argp_option options[] = {
	{ "force", 'f', NULL, 0, "Unload even if a disk is being recorded; the recording ends", 0 }, { 0 }
};

static error_t parse_unload(int key, char *arg, struct argp_state *state)
{
	struct unload_options *unload = state->input;

	(void)arg;
	if (key != 'f')
		return ARGP_ERR_UNKNOWN;
	unload->force = true;
	return 0;
}

/* Refuse to unload while targets are recorded: the module could be unloaded, but the recording would end. */
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
			status = fail("unload: process %d records %s; stop the recording first, or use --force",
				      (int)pid, targets[i].disk);
	}
	free(targets);
	rt_close(context->client);
	context->client = NULL;
	return status;
}

static int run_unload(struct context *context, void *data)
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
		options, parse_unload, NULL,
		"Detach all disks, drop their counters, and unload the kernel module.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct unload_options),
	.run = run_unload,
};
