// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl load: insert the kernel module. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
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

/* A module just built is meant before an installed one. */
static const char *find_built(const char *directory, char *ret, size_t size)
{
	const char *const places[] = {
		"raidtrace.ko", "kmod/raidtrace.ko", "%s/../../kmod/raidtrace.ko",
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *real;

		snprintf(ret, size, "%s%s", i == 2 ? directory : "",
			 i == 2 ? places[i] + 2 : places[i]);
		real = realpath(ret, NULL);
		if (!real)
			continue;
		snprintf(ret, size, "%s", real);
		free(real);
		return ret;
	}
	return NULL;
}

static int run(struct context *context, void *data)
{
	struct load_options *load = data;
	char path[PATH_MAX], why[512];
	const char *file = load->file;
	int err;

	if (!file)
		file = find_built(context->directory, path, sizeof(path));
	if (rt_module_loaded() > 0)
		return fail("load: raidtrace is loaded already; see it with: raidctl; replace it with: raidctl unload, then raidctl load");
	if (geteuid())
		return fail("load: not permitted; run it as root: sudo raidctl load");
	err = rt_module_load(file, why, sizeof(why));
	if (err)
		return fail("%s: not loaded: %s", file ? file : "raidtrace",
			    why);
	printf("loaded %s\n", file ? file : "the installed raidtrace");
	fflush(stdout);
	/* What is loaded but cannot be used is said at once. */
	return connect_module(context, false);
}

const struct verb verb_load = {
	.argp = {
		NULL, parse, "[FILE]",
		"Load the kernel module: FILE, or raidtrace.ko of the current directory or of the source tree that raidctl was built in, or else the one installed under /lib/modules. It counts nothing until a disk is attached.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct load_options),
	.run = run,
};
