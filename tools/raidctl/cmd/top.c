// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl top: the counters of all targets, live. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "machine/machine.h"
#include "record/record.h"
#include "report/losses.h"
#include "top/top.h"

#define KEY_INTERVAL	'i'

struct top_options {
	struct words disks;
	const char *source;
	uint64_t interval_ns;
};

/* A run of raidctl top. */
struct watch {
	struct rt_client *client;	/* connected */
	struct recorder recorder;	/* disks attached for this run */
	struct top top;	/* rows on the screen */
	struct top_keys keys;	/* state of the dialogue */
	char simulated[DISK_NAME];	/* profile of the simulated controller */
	uint64_t sampled_ns;	/* time of the requests for the present snapshots */
	char failed[256];	/* reason why it cannot continue, or "" */
};

static const struct argp_option options[] = {
	{ "interval", KEY_INTERVAL, "TIME", 0,
	  "Length of an interval, in ms, s or m, from 50ms to 1m (default 1s)",
	  0 },
	OPTION_SOURCE,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_options *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		top->interval_ns = NS_PER_S;
		return 0;
	case KEY_INTERVAL:
		if (parse_duration(arg, &top->interval_ns))
			argp_error(state, "interval: %s is not a time; give one such as 500ms, 2s or 1m",
				   arg);
		if (top->interval_ns < TOP_SHORTEST_NS ||
		    top->interval_ns > TOP_LONGEST_NS)
			argp_error(state, "interval: %s is not between 50ms and 1m",
				   arg);
		return 0;
	case KEY_SOURCE:
		top->source = source_parse(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&top->disks, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static void stop(struct watch *watch, const char *what, int err)
{
	snprintf(watch->failed, sizeof(watch->failed), "%s: %s", what,
		 rt_reason(watch->client, err));
}

/*
 * A target that is deleted between list and snapshot is marked the next time. If the kernel lacks memory for an answer,
 * the target's interval becomes longer.
 */
static void sample(struct watch *watch)
{
	struct rt_target *targets;
	size_t nr;
	int err = rt_target_list(watch->client, &nr, &targets);

	watch->sampled_ns = clock_ns(CLOCK_MONOTONIC);
	if (!err) {
		err = top_targets(&watch->top, targets, nr);
		free(targets);
	}
	for (size_t i = 0; i < watch->top.nr && !err; i++) {
		struct top_row *row = &watch->top.rows[i];
		struct rt_counters span;

		if (row->state == TOP_DETACHED)
			continue;
		err = rt_counters_advance(watch->client, row->target.id,
					  &row->last, &span);
		if (!err)
			err = top_row_count(row, &span);
		if (!err)
			err = losses_get(watch->client, row->target.id, &row->last, &row->losses);
		else if (err == -ERANGE)
			top_row_restart(row);
		/* Without memory, BPF programs of our own lost records for good. */
		if (err == -ENOENT || (err == -ENOMEM && !source_is_own(watch->client)) || err == -ERANGE)
			err = 0;
		rt_counters_free(&span);
	}
	if (err)
		stop(watch, "raidtrace no longer answers", err);
	top_sort(&watch->top);
}

static void attribute_path(const struct rt_target *target, char *ret,
			   size_t size)
{
	snprintf(ret, size, "/sys/block/%s/queue/read_ahead_kb", target->disk);
}

static void ask_readahead(struct watch *watch)
{
	struct top_row *row = top_picked(&watch->top);
	char path[256];

	attribute_path(&row->target, path, sizeof(path));
	if (!access(path, W_OK))
		top_keys_edit(&watch->keys, row);
	else
		top_keys_message(&watch->keys, "%s: readahead cannot be changed: %s%s",
				 row->target.disk, strerror(errno),
				 errno == EACCES ? "; run raidctl top as root" : "");
}

/* Get the readahead in KiB. Return: -ENODEV if another disk has this name now. */
static int read_readahead(const struct rt_target *target, uint64_t *kib)
{
	char text[64], number[64];

	snprintf(number, sizeof(number), "%u:%u", target->major, target->minor);
	if (disk_attribute(target->disk, "dev", text, sizeof(text)) <= 0 ||
	    strcmp(text, number))
		return -ENODEV;
	if (disk_attribute(target->disk, "queue/read_ahead_kb", text,
			   sizeof(text)) <= 0)
		return -EIO;
	*kib = strtoull(text, NULL, 10);
	return 0;
}

static int put_readahead(const struct rt_target *target, uint64_t kib)
{
	char path[256];
	int fd, err = 0;

	attribute_path(target, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%" PRIu64 "\n", kib) < 0)
		err = -errno;
	close(fd);
	return err;
}

static void write_readahead(struct watch *watch)
{
	const struct rt_target *target = &watch->keys.disk;
	uint64_t kib = watch->keys.kib, old = 0, new = 0;
	char was[64], is[64];
	int err = read_readahead(target, &old);

	if (!err)
		err = put_readahead(target, kib);
	if (!err)
		err = read_readahead(target, &new);
	if (err) {
		top_keys_message(&watch->keys, "%s: readahead was not changed: %s",
				 target->disk, strerror(-err));
		return;
	}
	top_keys_message(&watch->keys, "%s: readahead was %s, is %s%s",
			 target->disk, top_readahead_text(was, sizeof(was), old),
			 top_readahead_text(is, sizeof(is), new),
			 new == kib ? "" : ": rounded");
	for (size_t i = 0; i < watch->top.nr; i++)
		if (watch->top.rows[i].target.id == target->id)
			watch->top.rows[i].readahead_sectors =
				new * 1024 / SECTOR_BYTES;
}

/* Handle keys. Return: false to end. */
static bool take_keys(struct watch *watch)
{
	int key;

	while ((key = top_view_key())) {
		switch (top_key(&watch->keys, &watch->top, key)) {
		case TOP_QUIT:
			return false;
		case TOP_MAY_WRITE:
			ask_readahead(watch);
			break;
		case TOP_WRITE:
			write_readahead(watch);
			break;
		default:
			break;
		}
	}
	return true;
}

/* Milliseconds until the interval ends, -1 for never. */
static int time_left(const struct watch *watch)
{
	return watch->keys.frozen ? -1 :
		top_events_left(watch->sampled_ns + watch->keys.interval_ns);
}

static void run_view(struct watch *watch, int signals)
{
	struct top_picture picture = {
		.top = &watch->top, .keys = &watch->keys,
		.source = rt_source_name(watch->client),
		.simulated = watch->simulated,
	};
	bool go_on = true;

	sample(watch);
	while (go_on && !watch->failed[0]) {
		enum top_event event;

		top_view_draw(&picture);
		event = top_events_wait(signals, time_left(watch));
		if (event == TOP_EVENT_KEYS)
			go_on = take_keys(watch);
		else if (event == TOP_EVENT_END)
			go_on = false;
		if (go_on && !time_left(watch))
			sample(watch);
	}
}

/* Attach the named disks, or every 3ware unit if nothing is attached. */
static int attach(struct watch *watch, const struct context *context,
		  const struct words *words)
{
	int status;

	if (!words->nr && context->info.nr_targets)
		return 0;
	if (!is_admin())
		return fail("top: %s not permitted to attach disks; run it as root: sudo raidctl top",
			    words->nr ? "it is" : "no disk is attached, and it is");
	status = recorder_attach_words(&watch->recorder, words, "top");
	if (!status && watch->recorder.nr)
		watch->top.picked = watch->recorder.disks[0].target.id;
	return status;
}

/* Counters that need a missing tracepoint. */
static uint64_t unavailable(const struct rt_info *info)
{
	static const struct {
		const char *tracepoint;
		uint64_t counters;
	} table[] = {
		{ "block_split", RT_COUNTER_BIT(SPLITS) },
		{ "block_bio_backmerge", RT_COUNTER_BIT(BACK_MERGES) },
		{ "block_bio_frontmerge", RT_COUNTER_BIT(FRONT_MERGES) },
		{ "block_rq_merge", RT_COUNTER_BIT(REQUEST_MERGES) },
	};
	uint64_t ret = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strstr(info->unavailable, table[i].tracepoint))
			ret |= table[i].counters;
	return ret;
}

static int watch_disks(struct watch *watch, const struct context *context,
		       const struct words *words)
{
	int signals = top_events_open(), status;

	if (signals < 0)
		return EXIT_FAILED;
	status = attach(watch, context, words);
	if (!status)
		status = top_view_begin();
	if (!status)
		run_view(watch, signals);
	top_view_end();
	for (size_t i = 0; i < watch->top.nr; i++)
		losses_note(watch->top.rows[i].target.disk, &watch->top.rows[i].losses);
	recorder_detach(&watch->recorder);
	recorder_free(&watch->recorder);
	close(signals);
	if (watch->failed[0])
		return fail("top: %s%s", watch->failed, source_is_own(watch->client) ? "" :
			    "; to see whether the module is loaded: raidctl");
	return status;
}

static int run(struct context *context, void *data)
{
	struct top_options *given = data;
	struct watch watch = {
		.recorder = { .owner = -1 },
		.keys = { .interval_ns = given->interval_ns },
	};
	int status = 0;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		status = usage_error("top: standard %s is not a terminal; print the counters once with: raidctl show, or keep them with: raidctl record",
				     isatty(STDOUT_FILENO) ? "input" : "output");
	if (!status)
		status = connect_source(context, given->source);
	if (!status) {
		watch.client = context->client;
		watch.recorder.client = context->client;
		watch.top.unavailable = unavailable(&context->info);
		lab_profile(watch.simulated, sizeof(watch.simulated));
		status = watch_disks(&watch, context, &given->disks);
		top_free(&watch.top);
	}
	free(given->disks.word);
	return status;
}

const struct verb verb_top = {
	.argp = {
		options, parse, "[DISK...]",
		"Watch disks live. top attaches each DISK; without DISK and without attached disks, all 3ware units (in a guest of the lab, all simulated disks). At its end it detaches the disks that it attached. Press ? for the keys.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct top_options),
	.run = run,
};
