// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * raidctl rows: the live rows of a source, for raidctl show, top and exporter, which are Python and start this program.
 *
 * Each line of standard input asks for a sample: "total" (since attach or reset) or "difference" (since the sample
 * before). The answer on standard output is a line "rows N" and the N bytes of a recording, or a line "failed" with the
 * reason. At the end of the input, or with SIGTERM, the program detaches what it attached. Keys of the terminal do not
 * end it, because its parent still wants the last sample. A failure before the first answer is printed, and ends it.
 */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "record/record.h"

struct rows_options {
	const char *verb;	/* that reads the rows: show, top or exporter */
	const char *source;
	struct words words;
};

static const struct argp_option options[] = {
	OPTION_SOURCE,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct rows_options *given = state->input;

	switch (key) {
	case KEY_SOURCE:
		given->source = source_parse(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (given->verb)
			return words_add(&given->words, arg);
		given->verb = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "rows is a part of show, top and exporter; see: raidctl show --help");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* raidctl show prints the attached disks; BPF programs count those of the command line. */
static int begin_show(struct live *live, const struct rows_options *given)
{
	int status = source_open(given->source, &live->recorder.client, &live->info);

	if (status)
		return status;
	if (source_is_own(live->recorder.client))
		return recorder_attach_words(&live->recorder, &given->words, "show");
	if (!given->words.nr)
		return 0;
	return args_targets(live->recorder.client, &given->words, &live->nr_chosen, &live->chosen);
}

/* raidctl top attaches the named disks, or every 3ware unit if nothing is attached. */
static int begin_top(struct live *live, const struct rows_options *given)
{
	int status = source_open(given->source, &live->recorder.client, &live->info);

	if (status || (!given->words.nr && live->info.nr_targets))
		return status;
	if (!is_admin())
		return fail("top: %s not permitted to attach disks; run it as root: sudo raidctl top",
			    given->words.nr ? "it is" : "no disk is attached, and it is");
	status = recorder_attach_words(&live->recorder, &given->words, "top");
	if (!status && live->recorder.nr)
		memcpy(live->picked, live->recorder.disks[0].target.disk, sizeof(live->picked));
	return status;
}

/*
 * raidctl exporter serves the attached disks. It counts by BPF programs if it is asked to: without the name of a disk
 * only with --source, because an exporter that waits for the module needs no privilege.
 */
static int begin_exporter(struct live *live, const struct rows_options *given)
{
	bool module = !strcmp(source_chosen(given->source), SOURCE_MODULE);
	int status;

	if (module && given->words.nr)
		return usage_error("exporter: %s: the module serves all attached disks; leave out the name, or count the disk by BPF programs: --source bpf",
				   given->words.word[0]);
	live->waits = module || (!given->source && !given->words.nr);
	if (live->waits && !module)
		note("raidtrace is not loaded, and nothing is counted until it is; to count by BPF programs: raidctl exporter DISK");
	if (live->waits)
		return 0;
	status = source_open(given->source, &live->recorder.client, &live->info);
	return status ? status : recorder_attach_words(&live->recorder, &given->words, "exporter");
}

/* Print the answer. Return: false if nobody reads it. */
static bool answer(struct live *live, bool total)
{
	unsigned char *bytes = NULL;
	size_t size = 0;
	char why[512];

	if (!live_sample(live, total, why, sizeof(why))) {
		bytes = store_bytes(live->store, &size);
		snprintf(why, sizeof(why), "%s", strerror(ENOMEM));
	}
	if (bytes) {
		printf("rows %zu\n", size);
		fwrite(bytes, 1, size, stdout);
	} else {
		terminal_print(stdout, "failed %s\n", why);
	}
	store_bytes_free(bytes);
	return !fflush(stdout) && !ferror(stdout);
}

/* Read one line of standard input. Return: false at its end, with SIGTERM, or for a line that is no request. */
static bool next_request(int signals, bool *total)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	char line[16] = "";
	size_t used = 0;

	while (used < sizeof(line) - 1 && (!used || line[used - 1] != '\n')) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents)
			return false;
		if (fds[0].revents && read(STDIN_FILENO, &line[used++], 1) != 1)
			return false;
	}
	*total = !strcmp(line, "total\n");
	return *total || !strcmp(line, "difference\n");
}

static int run(struct context *context, void *data)
{
	static const struct {
		const char *verb;
		int (*begin)(struct live *live, const struct rows_options *given);
	} verbs[] = { { "show", begin_show }, { "top", begin_top }, { "exporter", begin_exporter } };
	static const int ends[] = { SIGTERM, 0 };
	struct rows_options *given = data;
	struct live live = { .recorder.owner = -1 };
	int status = EXIT_USAGE, signals = signals_open(ends);
	bool total;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(given->verb, verbs[i].verb))
			status = verbs[i].begin(&live, given);
	while (!status && next_request(signals, &total) && answer(&live, total))
		;
	/* The parent may end before its answer: this is no failure of ours. */
	__fpurge(stdout);
	clearerr(stdout);
	context->client = live.recorder.client;
	live_end(&live);
	close(signals);
	free(given->words.word);
	return status;
}

const struct verb verb_rows = {
	.argp = {
		options, parse, "VERB [DISK...]",
		"Print the live rows of disks, for the verbs show, top and exporter.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct rows_options),
	.run = run,
};
