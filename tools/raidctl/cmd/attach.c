// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl attach: start counting disks. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"

struct attach_options {
	struct words words;	/* disks */
	struct rt_options how;	/* how they are counted */
};

enum { KEY_GROUPS = 0x100, KEY_STREAMS, KEY_SLOWER };

static const struct argp_option options[] = {
	{ "groups", KEY_GROUPS, "NAME,...", 0,
	  "Count only these groups of counters, which raidctl-attach(8) lists; flow is always counted (default: all except hwq)",
	  0 },
	{ "streams", KEY_STREAMS, "N", 0,
	  "Remember the last N streams of sequential requests, 1 to 64 (default 16)", 0 },
	{ "slower", KEY_SLOWER, "TIME", 0,
	  "Keep for raidctl tail only requests that fail or take at least TIME, such as 50ms, from issue to completion (default: the last 4,096 of all requests)",
	  0 },
	{ 0 },
};

/* The flags of names of groups separated by commas; 0 for an unknown name. "all" stands for each of them. */
static uint32_t groups_of(const char *text)
{
	uint32_t groups = 0;

	while (*text) {
		size_t len = strcspn(text, ",");
		const char *name;
		unsigned int i = 0;

		while ((name = rt_group_name(i)) &&
		       (strlen(name) != len || strncmp(name, text, len)))
			i++;
		if (name)
			groups |= UINT32_C(1) << i;
		else if (len == strlen("all") && !strncmp(text, "all", len))
			groups |= RT_GROUPS_DEFAULT | RAIDTRACE_GROUP_HWQ;
		else
			return 0;
		text += len + (text[len] == ',');
	}
	return groups;
}

static error_t refuse_groups(const char *arg)
{
	char names[256] = "";
	const char *name;

	for (unsigned int i = 0; (name = rt_group_name(i)); i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, " %s", name);
	}
	usage_error("attach: --groups %s: contains an unknown group; the groups are: all%s",
		    arg, names);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct attach_options *attach = state->input;
	char *end;

	switch (key) {
	case KEY_GROUPS:
		attach->how.groups = groups_of(arg);
		if (attach->how.groups)
			return 0;
		refuse_groups(arg);
		exit(EXIT_USAGE);
	case KEY_STREAMS:
		attach->how.streams = (uint32_t)strtoul(arg, &end, 10);
		if (*arg && !*end && attach->how.streams >= 1 &&
		    attach->how.streams <= 64)
			return 0;
		usage_error("attach: --streams %s: give a number from 1 to 64",
			    arg);
		exit(EXIT_USAGE);
	case KEY_SLOWER:
		if (parse_latency(arg, &attach->how.history_ns))
			argp_error(state, "slower: %s is not a time with a unit; give one such as 50ms or 1s", arg);
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&attach->words, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static int attach(struct rt_client *client, const struct disk *disk,
		  const struct rt_options *how, struct rt_target *ret)
{
	char text[320];
	int err = source_attach(client, disk, how, ret, text, sizeof(text));

	return err ? fail("%s: %s%s", disk->name, text, err == -EEXIST ? "; see its counters: raidctl show" : "") : 0;
}

/* Counters that do not exist for a disk without requests, and the place where they exist. */
static const char *bios_alone(const struct rt_target *target)
{
	static char text[256 + RT_NAME_MAX];

	if (strncmp(target->disk, "nvme", 4))
		snprintf(text, sizeof(text), "%s receives only bios: requests, latency and depth are counted at the disks below it; attach these",
			 target->disk);
	else
		snprintf(text, sizeof(text), "%s combines several NVMe paths and receives only bios: requests, latency and depth are not counted, because the paths cannot be opened; with the kernel option nvme_core.multipath=N each path is a disk",
			 target->disk);
	return text;
}

/* Attach all disks or none: after a refusal, those already attached are detached again. */
static int attach_all(struct rt_client *client, const struct disk *disks,
		      size_t nr, const struct rt_options *how)
{
	struct rt_target *targets = calloc(nr, sizeof(*targets));
	int err = targets ? 0 : fail("%s", strerror(ENOMEM));
	size_t done = 0;

	while (!err && done < nr) {
		err = attach(client, &disks[done], how, &targets[done]);
		if (!err)
			done++;
	}
	while (err && done)
		rt_target_del(client, targets[--done].id);
	for (size_t i = 0; i < done; i++) {
		terminal_print(stdout, "%s attached, target %u\n", targets[i].disk,
			       targets[i].id);
		if (targets[i].bio_based)
			note("%s%s", bios_alone(&targets[i]),
			     how->history_ns ? "; --slower has no effect" : "");
	}
	free(targets);
	return err;
}

static int run(struct context *context, void *data)
{
	struct attach_options *attach = data;
	struct disk *disks;
	size_t nr;
	int status = args_disks(&attach->words, "attach", &nr, &disks);

	attach->how.history = true;
	if (!status) {
		status = attach_all(context->client, disks, nr, &attach->how);
		free(disks);
	}
	free(attach->words.word);
	return status;
}

const struct verb verb_attach = {
	.argp = {
		options, parse, "[DISK...]",
		"Begin to count the requests of each DISK. Without DISK, count all units of 3ware controllers; in a guest of raidctl lab, all simulated disks.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct attach_options),
	.run = run,
};
