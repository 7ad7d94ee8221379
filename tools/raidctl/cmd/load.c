// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl load: insert the kernel module. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cmd/command.h"

struct load_options {
	const char *file;
};

static error_t parse(int key, char *arg, struct argp_state *state)
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
 * A program that lies in the tree it was built in belongs to the module of that
 * tree.  The current directory is not searched: anybody may have filled it.
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

static int run(struct context *context, void *data)
{
	struct load_options *load = data;
	char path[PATH_MAX], why[1024], profile[64];
	const char *file = load->file;
	int err;

	/* A guest of the lab has it nowhere else. On a machine root did not write the environment. */
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
	/* Report at once a module that is loaded but cannot be used. */
	return connect_module(context, false);
}

const struct verb verb_load = {
	.argp = {
		NULL, parse, "[FILE]",
		"Load the kernel module. It counts nothing until a disk is attached. The module is the first of these: FILE; in a guest of raidctl lab, the file that RAIDTRACE_KO names; kmod/raidtrace.ko of the source tree that contains this raidctl; the module installed below /lib/modules. A module in the current directory is loaded only as FILE.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct load_options),
	.run = run,
};
