// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl detach and reset: targets that may still be recorded. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/claim.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"

#define KEY_ALL		'a'
#define KEY_FORCE	'f'

struct detach_options {
	struct words words;
	bool all;
	bool force;
};

static const struct argp_option options[] = {
	{ "all", KEY_ALL, NULL, 0, "All attached disks", 0 },
	{ "force", KEY_FORCE, NULL, 0, "Include a disk that is being recorded", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct detach_options *detach = state->input;

	switch (key) {
	case KEY_ALL:
		detach->all = true;
		return 0;
	case KEY_FORCE:
		detach->force = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&detach->words, arg);
	case ARGP_KEY_END:
		if (!detach->words.nr == !detach->all)
			argp_error(state, "give either DISK or --all");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int refuse_recorded(const struct rt_target *targets, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		pid_t pid = owner_of(&targets[i]);

		if (pid)
			return fail("%s: process %d records it; stop the recording first, or use --force",
				    targets[i].disk, (int)pid);
	}
	return 0;
}

static int each_target(struct context *context, struct detach_options *detach,
		       int (*change)(struct rt_client *, uint32_t),
		       const char *done)
{
	struct rt_target *targets;
	size_t nr;
	int status = args_targets(context->client, &detach->words, &nr,
				  &targets);

	free(detach->words.word);
	if (status)
		return status;
	if (!detach->force)
		status = refuse_recorded(targets, nr);
	for (size_t i = 0; i < nr && !status; i++) {
		int err = change(context->client, targets[i].id);

		if (err)
			status = fail("%s: %s", targets[i].disk,
				      rt_reason(context->client, err));
		else
			terminal_print(stdout, "%s %s\n", targets[i].disk, done);
	}
	if (!nr)
		puts("no disk is attached");
	free(targets);
	return status;
}

static int run_detach(struct context *context, void *data)
{
	return each_target(context, data, rt_target_del, "detached");
}

static int run_reset(struct context *context, void *data)
{
	return each_target(context, data, rt_target_reset, "reset");
}

const struct verb verb_detach = {
	.argp = {
		options, parse, "DISK...\n--all",
		"Stop counting each DISK and drop its counters. For a disk that was removed, give the name that it had.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct detach_options),
	.run = run_detach,
};

const struct verb verb_reset = {
	.argp = {
		options, parse, "DISK...\n--all",
		"Set the counters of each DISK to zero. The completion of requests that are in flight is still counted.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct detach_options),
	.run = run_reset,
};
