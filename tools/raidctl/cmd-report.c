// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl report: what a recording holds. */

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "print.h"
#include "recording.h"
#include "store.h"

#define KEY_PHASE 'p'

struct report_options {
	const char *path;
	const char *phase;
	bool json;
};

static const struct argp_option options[] = {
	OPTION_JSON,
	{ "phase", KEY_PHASE, "NAME", 0, "Only phases of that name", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *report = state->input;

	switch (key) {
	case KEY_JSON:
		report->json = true;
		return 0;
	case KEY_PHASE:
		report->phase = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (report->path)
			argp_error(state, "one RECORDING at a time");
		report->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a RECORDING");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int print(struct store *store, const struct report_options *report)
{
	struct recording recording;
	int status = EXIT_DONE;

	if (recording_load(store, report->phase, &recording)) {
		status = fail("%s: cannot be read: %s", report->path,
			      store_error(store));
	} else if (report->phase && !recording.nr_spans) {
		status = fail("%s: it has no phase %s; see them all: raidctl report %s",
			      report->path, report->phase, report->path);
	} else {
		recording.path = report->path;
		print_ops_of(report->json)->recording(stdout, &recording);
	}
	recording_free(&recording);
	return status;
}

static int run(struct context *context, void *data)
{
	struct report_options *report = data;
	struct store *store;
	int status;

	(void)context;
	if (store_open(report->path, &store))
		return fail("%s: %s", report->path, store_error(NULL));
	status = print(store, report);
	store_close(store);
	return status;
}

const struct verb verb_report = {
	.argp = {
		options, parse, "RECORDING",
		"Print per phase and disk: requests, bytes, throughput, requests in flight, request sizes, sequential share, seeks, merges and splits, and latency from issue to completion (d2c).",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct report_options),
	.run = run,
};
