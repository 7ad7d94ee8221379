// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl tail: the last requests of a disk, the next ones, or those before a request that is slow or fails. */

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "record/record.h"
#include "report/report.h"

#define KEY_SLOWER	's'
#define KEY_FAILED	'f'
#define KEY_LINES	'n'
#define KEY_CSV		'c'
#define KEY_FOLLOW	'F'

#define LINES	20
#define FOLLOW_MS	20

/* The source keeps this many. */
#define KEPT	4096

struct tail_options {
	struct words words;
	const char *source;
	bool next;	/* wait for the number of requests: the source kept none before */
	int signals;	/* a descriptor; the first signal ends the waiting */
	uint64_t slower_ns;
	bool failed;
	long lines;
	bool csv;
	bool json;
	bool follow;
};

static const struct argp_option options[] = {
	{ "lines", KEY_LINES, "N", 0, "Print N requests, 0 for all (default 20; with --csv or --json all)", 0 },
	{ "slower", KEY_SLOWER, "TIME", 0,
	  "Wait for a request that takes at least TIME, such as 50ms, from issue to completion, and print it last",
	  0 },
	{ "failed", KEY_FAILED, NULL, 0, "Wait for a request that fails, and print it last", 0 },
	{ "csv", KEY_CSV, NULL, 0, "Print every column as CSV", 0 },
	{ "follow", KEY_FOLLOW, NULL, 0,
	  "With --csv: print each request that completes from now on, until Ctrl-C, then the number of lost requests",
	  0 },
	OPTION_SOURCE,
	OPTION_JSON,
	{ 0 }
};

static error_t parse_lines(const char *arg, struct argp_state *state)
{
	struct tail_options *tail = state->input;
	char *end;

	errno = 0;
	tail->lines = strtol(arg, &end, 10);
	if (errno || end == arg || *end || tail->lines < 0)
		argp_error(state, "lines: %s is not a number of requests", arg);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tail_options *tail = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		tail->lines = -1;
		return 0;
	case KEY_LINES:
		return parse_lines(arg, state);
	case KEY_SLOWER:
		if (parse_latency(arg, &tail->slower_ns))
			argp_error(state, "slower: %s is not a time with a unit; give one such as 50ms or 1s", arg);
		return 0;
	case KEY_FAILED:
		tail->failed = true;
		return 0;
	case KEY_CSV:
		tail->csv = true;
		return 0;
	case KEY_FOLLOW:
		tail->follow = true;
		return 0;
	case KEY_SOURCE:
		tail->source = source_parse(arg, state);
		return 0;
	case KEY_JSON:
		tail->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&tail->words, arg);
	case ARGP_KEY_END:
		if (tail->words.nr != 1)
			argp_error(state, "name one disk");
		if (tail->csv && tail->json)
			argp_error(state, "give --csv or --json, not both");
		if (tail->follow && (!tail->csv || tail->slower_ns || tail->failed || tail->lines >= 0))
			argp_error(state, "--follow needs --csv and excludes the other options");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int explain(struct rt_client *client, const struct rt_target *target, int err)
{
	if (err == -EPERM)
		return fail("tail: %s: not permitted; only root may read single requests",
			    target->disk);
	return fail("tail: %s: %s%s", target->disk,
		    rt_reason(client, err),
		    err == -EOPNOTSUPP && !target->bio_based ?
		    "; to keep requests: raidctl attach, or record --events" : "");
}

/* Append all requests after a number that the module has. */
static int read_behind(struct rt_client *client, uint32_t id, uint64_t after, struct requests *ret)
{
	struct rt_history *part = malloc(sizeof(*part));
	int err = part ? 0 : -ENOMEM;

	while (!err) {
		err = rt_history_get(client, id, after, part);
		if (err || !part->nr)
			break;
		err = requests_add(ret, part->ended, part->nr);
		after = part->ended[part->nr - 1].number;
	}
	free(part);
	return err;
}

static bool is_awaited(const struct rt_ended *ended, const struct tail_options *tail)
{
	return (tail->slower_ns && ended->completed_ns - ended->issued_ns >= tail->slower_ns) ||
	       (tail->failed && ended->error);
}

/* End with the first expected request from index @first on, and drop those long before it. */
static void cut_off(struct requests *requests, size_t first, const struct tail_options *tail)
{
	size_t less;

	while (first < requests->nr && !requests->has_awaited)
		requests->has_awaited = is_awaited(&requests->ended[first++], tail);
	if (requests->has_awaited)
		requests->nr = first;
	less = requests->nr > KEPT ? requests->nr - KEPT : 0;
	if (less)
		memmove(requests->ended, requests->ended + less, KEPT * sizeof(*requests->ended));
	requests->nr -= less;
}

/* Return: the number of requests to print, 0 for all. */
static size_t nr_lines(const struct tail_options *tail)
{
	return tail->lines >= 0 ? (size_t)tail->lines : tail->csv || tail->json ? 0 : LINES;
}

static bool is_complete(const struct requests *requests, const struct tail_options *tail)
{
	if (tail->slower_ns || tail->failed)
		return requests->has_awaited;
	return nr_lines(tail) && requests->nr >= nr_lines(tail);
}

static void announce(const struct rt_target *target, const struct tail_options *tail)
{
	if (tail->slower_ns || tail->failed)
		note("waiting for such a request of %s; Ctrl-C prints the requests so far", target->disk);
	else if (nr_lines(tail))
		note("waiting for %zu requests of %s; Ctrl-C prints the requests so far", nr_lines(tail), target->disk);
	else
		note("waiting for requests of %s; Ctrl-C prints them", target->disk);
}

/* Read completed requests until the expected ones or a signal arrive. */
static int wait_for_requests(struct rt_client *client, const struct rt_target *target,
			     struct requests *requests, const struct tail_options *tail)
{
	struct pollfd signals = { .fd = tail->signals, .events = POLLIN };
	int err = read_behind(client, target->id, 0, requests);

	if (!err)
		announce(target, tail);
	while (!err && poll(&signals, 1, FOLLOW_MS) <= 0) {
		size_t known = requests->nr;

		err = read_behind(client, target->id, known ? requests->ended[known - 1].number : 0,
				  requests);
		cut_off(requests, known, tail);
		if (is_complete(requests, tail))
			break;
	}
	return err;
}

/* Events that were lost are missing among the requests, too. */
static int read_losses(struct rt_client *client, const struct rt_target *target, struct losses *ret)
{
	struct rt_counters counters;
	int err = rt_counters_get(client, target->id, &counters);

	if (!err)
		err = losses_get(client, target->id, &counters, ret);
	rt_counters_free(&counters);
	return err;
}

static int print(struct requests *requests, const struct rt_target *target,
		 const struct tail_options *tail)
{
	size_t lines = nr_lines(tail);
	size_t first = lines && lines < requests->nr ? requests->nr - lines : 0;

	if (tail->csv) {
		requests_csv_names(stdout);
		requests_csv(stdout, requests, first);
	} else if (tail->json) {
		requests_json(stdout, requests, first, target->disk);
	} else {
		requests_text(stdout, requests, first, target->disk);
	}
	return EXIT_DONE;
}

static int tail_of(struct rt_client *client, const struct rt_target *target,
		   const struct tail_options *tail)
{
	struct requests requests = {
		.classes = target->groups & RAIDTRACE_GROUPS_CLASSES, .source = rt_source_name(client),
	};
	int err, status;

	err = tail->slower_ns || tail->failed || tail->next ? wait_for_requests(client, target, &requests, tail) :
							      read_behind(client, target->id, 0, &requests);
	if (!err)
		err = read_losses(client, target, &requests.losses);
	status = err ? explain(client, target, err) : print(&requests, target, tail);
	losses_note(target->disk, &requests.losses);
	free(requests.ended);
	return status;
}

/* Print the requests since the last call, and count those that the module dropped. */
static int print_next(struct rt_client *client, const struct rt_target *target, uint64_t *after, uint64_t *nr,
		      uint64_t *lost)
{
	struct requests requests = { .classes = target->groups & RAIDTRACE_GROUPS_CLASSES };
	int err = read_behind(client, target->id, *after, &requests);

	if (!err && requests.nr) {
		uint64_t last = requests.ended[requests.nr - 1].number;

		requests_csv(stdout, &requests, 0);
		*nr += requests.nr;
		*lost += last - *after - requests.nr;
		*after = last;
	}
	free(requests.ended);
	return err;
}

static int follow(struct rt_client *client, const struct rt_target *target, const struct tail_options *tail)
{
	struct pollfd signals = { .fd = tail->signals, .events = POLLIN };
	struct rt_history *now = malloc(sizeof(*now));
	int err = now ? 0 : -ENOMEM;
	struct losses losses = { 0 };
	uint64_t after = 0, nr = 0, lost = 0;

	if (!err)
		err = rt_history_get(client, target->id, UINT64_MAX, now);
	if (!err) {
		after = now->total;
		requests_csv_names(stdout);
	}
	while (!err && !fflush(stdout)) {
		bool ends = poll(&signals, 1, FOLLOW_MS) > 0;

		err = print_next(client, target, &after, &nr, &lost);
		if (ends)
			break;
	}
	free(now);
	if (!err)
		err = read_losses(client, target, &losses);
	if (err)
		return explain(client, target, err);
	note("%s: %" PRIu64 " requests, %" PRIu64 " lost, counted by %s", target->disk, nr, lost,
	     rt_source_name(client));
	losses_note(target->disk, &losses);
	return ferror(stdout) ? fail("tail: the output cannot be written") : EXIT_DONE;
}

static int print_requests(struct rt_client *client, const struct tail_options *tail)
{
	struct rt_target *targets;
	size_t nr;
	int status = args_targets(client, &tail->words, &nr, &targets);

	if (status)
		return status;
	status = tail->follow ? follow(client, &targets[0], tail) : tail_of(client, &targets[0], tail);
	free(targets);
	return status;
}

static int run(struct context *context, void *data)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct tail_options *tail = data;
	struct recorder recorder = { .owner = -1, .events = true };
	int status = connect_source(context, tail->source);

	recorder.client = context->client;
	tail->signals = -1;
	tail->next = !status && source_is_own(context->client);
	if (!status && (tail->next || tail->follow || tail->slower_ns || tail->failed)) {
		tail->signals = signals_open(numbers);
		if (tail->signals < 0)
			status = fail("tail: %s", strerror(-tail->signals));
	}
	if (!status && tail->next)
		status = recorder_attach_words(&recorder, &tail->words, "tail");
	if (!status)
		status = print_requests(context->client, tail);
	recorder_detach(&recorder);
	recorder_free(&recorder);
	if (tail->signals >= 0)
		close(tail->signals);
	free(tail->words.word);
	return status;
}

const struct verb verb_tail = {
	.argp = {
		options, parse, "DISK",
		"Print the last completed requests of the attached disk DISK, the newest last: time from queueing to issue and from issue to completion, position, size, purpose and process. The module keeps the last 4,096. Where it is not loaded, wait for requests, and print those.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct tail_options),
	.run = run,
};
