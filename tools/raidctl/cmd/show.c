// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl show: the counters now. */

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "machine/machine.h"
#include "report/report.h"

struct show_options {
	struct words words;
	bool json;
};

static const struct argp_option options[] = { OPTION_JSON, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_options *show = state->input;

	switch (key) {
	case KEY_JSON:
		show->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&show->words, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static int show_targets(struct rt_client *client, struct rt_target *targets,
			size_t nr, bool json)
{
	struct span *spans = calloc(nr ? nr : 1, sizeof(*spans));
	int status = spans ? 0 : fail("show: out of memory");

	for (size_t i = 0; i < nr && !status; i++) {
		int err = rt_counters_get(client, targets[i].id,
					  &spans[i].counters);

		spans[i].disk = targets[i].disk;
		spans[i].bio_based = targets[i].bio_based;
		cgroups_name(&spans[i].counters);
		if (err)
			status = fail("%s: no counters: %s", targets[i].disk,
				      rt_reason(client, err));
	}
	if (!status)
		(json ? json_counters : text_counters)(stdout, targets, spans, nr);
	for (size_t i = 0; spans && i < nr; i++)
		rt_counters_free(&spans[i].counters);
	free(spans);
	return status;
}

static int run(struct context *context, void *data)
{
	struct show_options *show = data;
	struct rt_target *targets;
	size_t nr;
	int status = args_targets(context->client, &show->words, &nr,
				  &targets);

	free(show->words.word);
	if (status)
		return status;
	if (!nr && !show->json)
		note("no disk is attached; attach one: raidctl attach DISK (as root)");
	else
		status = show_targets(context->client, targets, nr,
				      show->json);
	free(targets);
	return status;
}

const struct verb verb_show = {
	.argp = {
		options, parse, "[DISK...]",
		"Print the counters of each DISK, or of all attached disks, since they were attached or reset.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct show_options),
	.run = run,
};
