// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl check: does what a benchmark needs hold? */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/units.h"
#include "check/check.h"
#include "cmd/command.h"
#include "disk/args.h"
#include "disk/disk.h"
#include "report/print.h"

#define KEY_DATA_SIZE 's'

struct check_options {
	struct words disks;
	uint64_t data_bytes;
	bool json;
};

static const struct argp_option options[] = {
	{ "data-size", KEY_DATA_SIZE, "SIZE", 0, "How much the benchmark reads or writes: 20G, 20480M", 0 },
	OPTION_JSON,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_options *check = state->input;

	switch (key) {
	case KEY_DATA_SIZE:
		if (parse_size(arg, &check->data_bytes))
			argp_error(state, "data size: %s is no size; give for example 20G, 20480M or a number of bytes",
				   arg);
		return 0;
	case KEY_JSON:
		check->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&check->disks, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

/* Those named, else all 3ware units; none of either is no failure. */
static int find_disks(const struct words *words, size_t *nr,
		      struct disk **ret)
{
	size_t units = 0;
	int err;

	if (!words->nr) {
		err = disk_list(nr, ret);
		if (err)
			return fail("check: the disks cannot be listed: %s",
				    strerror(-err));
		while (units < *nr && (*ret)[units].above.unit_3ware)
			units++;
		disk_list_free(*ret, *nr);
		*nr = 0;
		*ret = NULL;
		if (!units)
			return 0;
	}
	return args_disks(words, "check", nr, ret);
}

static int judge(const struct check_options *check, const struct disk *disks,
		 size_t nr_disks)
{
	struct facts facts;
	struct finding *findings = NULL;
	int status = EXIT_DONE, err = facts_read(disks, nr_disks, &facts);
	size_t nr;

	facts.data_bytes = check->data_bytes;
	if (!err)
		findings = check_judge(&facts, disks, nr_disks, &nr);
	if (!findings) {
		facts_free(&facts);
		return fail("check: %s", strerror(err ? -err : ENOMEM));
	}
	print_ops_of(check->json)->check(stdout, &facts, findings, nr);
	for (size_t i = 0; i < nr; i++)
		if (findings[i].verdict == VERDICT_FAIL)
			status = EXIT_FAILED;
	free(findings);
	facts_free(&facts);
	return status;
}

static int run(struct context *context, void *data)
{
	struct check_options *check = data;
	struct disk *disks = NULL;
	size_t nr = 0;
	int status = find_disks(&check->disks, &nr, &disks);
	int err = 0;

	(void)context;
	/* Then there is nothing to be given back. */
	if (status) {
		free(check->disks.word);
		return status;
	}
	for (size_t i = 0; !err && i < nr; i++)
		err = disk_mounts(disks[i].name, &disks[i].nr_mounts,
				  &disks[i].mounts);
	if (err)
		status = fail("check: the mount table cannot be read: %s",
			      strerror(-err));
	if (!status)
		status = judge(check, disks, nr);
	free(check->disks.word);
	disk_list_free(disks, nr);
	return status;
}

const struct verb verb_check = {
	.argp = {
		options, parse, "[DISK...]",
		"Look whether what a benchmark needs holds: a data set that no memory holds, a quiet machine, and settings that are as meant. Each rule says pass, warn, fail or not available, what was seen and what to do; nothing is changed. Without DISK, all 3ware units are looked at.\vExit status: 0 when no rule fails, 1 when one does.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct check_options),
	.run = run,
};
