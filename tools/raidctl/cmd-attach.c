// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl attach: begin to count disks. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "command.h"
#include "message.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	return words_add(state->input, arg);
}

/* All or none: what was attached before a refusal is detached again. */
static int attach_all(struct rt_client *client, const struct disk *disks,
		      size_t nr)
{
	struct rt_target *targets = calloc(nr, sizeof(*targets));
	int err = targets ? 0 : -ENOMEM;
	size_t done = 0;

	while (!err && done < nr) {
		err = rt_target_add(client, disks[done].major,
				    disks[done].minor, NULL, &targets[done]);
		if (!err)
			done++;
	}
	if (err) {
		fail("%s: cannot be attached: %s%s", disks[done].name,
		     rt_error(client)[0] ? rt_error(client) : strerror(-err),
		     err == -EEXIST ? "; see its counters: raidctl show" : "");
		while (done)
			rt_target_del(client, targets[--done].id);
	}
	for (size_t i = 0; i < done; i++)
		printf("%s attached, target %u\n", targets[i].disk,
		       targets[i].id);
	free(targets);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct context *context, void *data)
{
	struct words *words = data;
	struct disk *disks;
	size_t nr;
	int status = args_disks(words, "attach", &nr, &disks);

	if (!status) {
		status = attach_all(context->client, disks, nr);
		free(disks);
	}
	free(words->word);
	return status;
}

const struct verb verb_attach = {
	.argp = {
		NULL, parse, "[DISK...]",
		"Begin to count what the request queue of each DISK is given. Without DISK: of all 3ware units.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct words),
	.run = run,
};
