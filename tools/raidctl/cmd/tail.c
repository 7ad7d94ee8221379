// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl tail: the last requests of a disk, or those before a request that is slow or fails. */

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "report/report.h"

#define KEY_SLOWER	's'
#define KEY_FAILED	'f'
#define KEY_LINES	'n'
#define KEY_CSV		'c'
#define KEY_FOLLOW	'F'

#define LINES	20
#define FOLLOW_MS	20

/* The module keeps this many. */
#define KEPT	4096

struct tail_options {
	struct words words;
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
	case KEY_JSON:
		tail->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&tail->words, arg);
	case ARGP_KEY_END:
		if (tail->words.nr != 1)
			argp_error(state, "name one attached disk");
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

/* Read completed requests until an expected one or a signal arrives. */
static int wait_for_one(struct rt_client *client, const struct rt_target *target,
			struct requests *requests, const struct tail_options *tail)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct pollfd signals = { .fd = signals_open(numbers), .events = POLLIN };
	int err = signals.fd < 0 ? signals.fd : read_behind(client, target->id, 0, requests);

	if (!err)
		note("waiting for such a request of %s; Ctrl-C prints the requests so far", target->disk);
	while (!err && poll(&signals, 1, FOLLOW_MS) <= 0) {
		size_t known = requests->nr;

		err = read_behind(client, target->id, known ? requests->ended[known - 1].number : 0,
				  requests);
		cut_off(requests, known, tail);
		if (requests->has_awaited)
			break;
	}
	if (signals.fd >= 0)
		close(signals.fd);
	return err;
}

static int print(struct requests *requests, const struct rt_target *target,
		 const struct tail_options *tail)
{
	long lines = tail->lines >= 0 ? tail->lines : tail->csv || tail->json ? 0 : LINES;
	size_t first = lines && (size_t)lines < requests->nr ? requests->nr - (size_t)lines : 0;

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
	struct requests requests = { .classes = target->groups & RAIDTRACE_GROUPS_CLASSES };
	int err, status;

	err = tail->slower_ns || tail->failed ? wait_for_one(client, target, &requests, tail) :
						read_behind(client, target->id, 0, &requests);
	status = err ? explain(client, target, err) : print(&requests, target, tail);
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

static int follow(struct rt_client *client, const struct rt_target *target)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct pollfd signals = { .fd = signals_open(numbers), .events = POLLIN };
	struct rt_history *now = malloc(sizeof(*now));
	int err = now ? signals.fd < 0 ? signals.fd : 0 : -ENOMEM;
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
	close(signals.fd);
	if (err)
		return explain(client, target, err);
	note("%s: %" PRIu64 " requests, %" PRIu64 " lost", target->disk, nr, lost);
	return ferror(stdout) ? fail("tail: the output cannot be written") : EXIT_DONE;
}

static int run(struct context *context, void *data)
{
	struct tail_options *tail = data;
	struct rt_target *targets;
	size_t nr;
	int status = args_targets(context->client, &tail->words, &nr, &targets);

	free(tail->words.word);
	if (status)
		return status;
	status = tail->follow ? follow(context->client, &targets[0]) :
				tail_of(context->client, &targets[0], tail);
	free(targets);
	return status;
}

const struct verb verb_tail = {
	.argp = {
		options, parse, "DISK",
		"Print the last completed requests of the attached disk DISK, the newest last: time from queueing to issue and from issue to completion, position, size, purpose and process. The module keeps the last 4,096.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct tail_options),
	.run = run,
};
