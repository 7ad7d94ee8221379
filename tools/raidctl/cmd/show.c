// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl show: the counters now, or over a time from now on. */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "machine/machine.h"
#include "record/record.h"
#include "report/report.h"

#define KEY_DURATION	256

struct show_options {
	struct words words;
	const char *source;
	uint64_t duration_ns;	/* 0: since attach or reset */
	int signals;	/* a descriptor; the first signal ends the duration */
	bool json;
};

static const struct argp_option options[] = {
	{ "duration", KEY_DURATION, "TIME", 0,
	  "Count for TIME from now on, or until Ctrl-C (default: with the module since attach or reset, with bpf 1s)",
	  0 },
	OPTION_SOURCE,
	OPTION_JSON,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_options *show = state->input;

	switch (key) {
	case KEY_DURATION:
		if (parse_duration(arg, &show->duration_ns))
			argp_error(state, "duration: %s is not a time; give one such as 500ms, 2s or 1m", arg);
		return 0;
	case KEY_SOURCE:
		show->source = source_parse(arg, state);
		return 0;
	case KEY_JSON:
		show->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&show->words, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

/* The counters of a disk, and its losses. */
struct shown {
	struct rt_counters total;	/* since attach or reset; empty unless a time is counted */
	struct rt_counters span;
	struct losses losses;
};

/* Wait for a time or a signal. */
static void wait_for(uint64_t ns, int signals_fd)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + ns, now_ns;
	struct pollfd signals = { .fd = signals_fd, .events = POLLIN };
	bool goes_on = true;

	while (goes_on && (now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		struct timespec left = { (time_t)((end_ns - now_ns) / NS_PER_S), (long)((end_ns - now_ns) % NS_PER_S) };

		goes_on = ppoll(&signals, 1, &left, NULL) <= 0;
	}
}

/* Read the counters of a disk; with @total, since the last call. */
static int read_counters(struct rt_client *client, const struct rt_target *target, bool total, struct shown *ret)
{
	int err;

	rt_counters_free(&ret->span);
	err = total ? rt_counters_advance(client, target->id, &ret->total, &ret->span) :
		      rt_counters_get(client, target->id, &ret->span);
	if (!err)
		err = losses_get(client, target->id, total ? &ret->total : &ret->span, &ret->losses);
	return err ? fail("%s: no counters: %s", target->disk, rt_reason(client, err)) : 0;
}

static int read_all(struct rt_client *client, const struct rt_target *targets, size_t nr,
		    const struct show_options *show, struct shown *shown)
{
	int status = 0;

	for (size_t i = 0; i < nr && show->duration_ns && !status; i++)
		status = read_counters(client, &targets[i], true, &shown[i]);
	if (show->duration_ns && !status)
		wait_for(show->duration_ns, show->signals);
	for (size_t i = 0; i < nr && !status; i++)
		status = read_counters(client, &targets[i], show->duration_ns, &shown[i]);
	return status;
}

static int show_targets(struct rt_client *client, const struct rt_target *targets, size_t nr,
			const struct show_options *show)
{
	struct shown *shown = calloc(nr + 1, sizeof(*shown));
	struct counted *counted = calloc(nr + 1, sizeof(*counted));
	int status = shown && counted ? 0 : fail("show: out of memory");

	if (!status)
		status = read_all(client, targets, nr, show, shown);
	for (size_t i = 0; i < nr && !status; i++) {
		counted[i] = (struct counted){
			.target = &targets[i], .source = rt_source_name(client), .losses = shown[i].losses,
			.span.disk = targets[i].disk, .span.bio_based = targets[i].bio_based,
			.span.counters = shown[i].span,
		};
		cgroups_name(&counted[i].span.counters);
	}
	if (!status)
		(show->json ? json_counters : text_counters)(stdout, counted, nr);
	for (size_t i = 0; shown && i < nr; i++) {
		rt_counters_free(&shown[i].span);
		rt_counters_free(&shown[i].total);
	}
	free(counted);
	free(shown);
	return status;
}

static int show_attached(struct rt_client *client, const struct show_options *show)
{
	struct rt_target *targets;
	size_t nr;
	int status = args_targets(client, &show->words, &nr, &targets);

	if (status)
		return status;
	if (!nr && !show->json)
		note("no disk is attached; attach one: raidctl attach DISK (as root)");
	else
		status = show_targets(client, targets, nr, show);
	free(targets);
	return status;
}

static int run(struct context *context, void *data)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct show_options *show = data;
	struct recorder recorder = { .owner = -1 };
	int status = connect_source(context, show->source);
	bool is_own = !status && source_is_own(context->client);

	recorder.client = context->client;
	if (is_own && !show->duration_ns)
		show->duration_ns = NS_PER_S;
	show->signals = !status && show->duration_ns ? signals_open(numbers) : -1;
	if (is_own)
		status = recorder_attach_words(&recorder, &show->words, "show");
	if (!status)
		status = show_attached(context->client, show);
	recorder_detach(&recorder);
	recorder_free(&recorder);
	if (show->signals >= 0)
		close(show->signals);
	free(show->words.word);
	return status;
}

const struct verb verb_show = {
	.argp = {
		options, parse, "[DISK...]",
		"Print the counters of each DISK, or of all attached disks, since they were attached or reset. Where the module is not loaded, count each DISK by BPF programs for a time, and print this.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct show_options),
	.run = run,
};
