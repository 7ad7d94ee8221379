// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl mark: start a phase of the recording that records this script. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/claim.h"
#include "base/base.h"
#include "cmd/command.h"
#include "phase/phase.h"

#define KEY_END		'e'
#define KEY_RECORD	'r'

struct mark_options {
	const char *name;
	bool end;
	int record;
};

static const struct argp_option options[] = {
	{ "end", KEY_END, NULL, 0, "End the current phase; reports call the time that follows \"outside\"", 0 },
	{ "record", KEY_RECORD, "ID", 0, "Use the recording with this number, as raidctl status prints it", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct mark_options *mark = state->input;
	char *end;

	switch (key) {
	case KEY_END:
		mark->end = true;
		return 0;
	case KEY_RECORD:
		mark->record = (int)strtol(arg, &end, 10);
		if (*end || mark->record <= 0)
			argp_error(state, "record: %s is not the number of a recording; to list the numbers: raidctl status",
				   arg);
		return 0;
	case ARGP_KEY_ARG:
		if (mark->name)
			argp_error(state, "%s: give one name; quote a name that contains blanks",
				   arg);
		mark->name = arg;
		return 0;
	case ARGP_KEY_END:
		if (!mark->name && !mark->end)
			argp_error(state, "give the name of the phase, or --end");
		if (mark->name && mark->end)
			argp_error(state, "%s: --end takes no name", mark->name);
		if (mark->name && !mark_name_valid(mark->name))
			argp_error(state, "a name has 1 to %d bytes, none of them a control character",
				   PHASE_NAME - 1);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Find the recorder of this process, or the only one that runs. */
static int find_recorder(const struct mark_options *mark, char *ret,
			 size_t size)
{
	const char *variable = getenv(MARK_VARIABLE);
	struct living *living;
	int status = EXIT_DONE;
	size_t nr;

	if (mark->record) {
		owner_socket(mark->record, ret, size);
		return EXIT_DONE;
	}
	if (variable && *variable) {
		snprintf(ret, size, "%s", variable);
		return EXIT_DONE;
	}
	if (owner_living(&nr, &living))
		return fail("mark: %s", strerror(ENOMEM));
	if (nr == 1)
		owner_socket(living[0].pid, ret, size);
	else if (nr)
		status = fail("mark: %zu recordings are running; choose one with --record ID; to list them: raidctl status",
			      nr);
	else
		status = fail("mark: no recording is running; start one: raidctl record -- COMMAND");
	free(living);
	return status;
}

static int explain(int err, const char *path)
{
	switch (-err) {
	case ENOENT:
	case ECONNREFUSED:
		return fail("mark: the recording has ended, or the number is wrong; to list the recordings: raidctl status");
	case EACCES:
	case EPERM:
		return fail("mark: %s: not permitted; only the user who records may mark a phase",
			    path);
	case ETIMEDOUT:
		return fail("mark: the recorder does not answer; is it stopped?");
	default:
		return fail("mark: %s: %s", path, strerror(-err));
	}
}

static int run(struct context *context, void *data)
{
	struct mark_options *mark = data;
	char path[256], text[MARK_TEXT], answer[MARK_TEXT];
	int err, status = find_recorder(mark, path, sizeof(path));

	(void)context;
	if (status)
		return status;
	if (mark->end)
		snprintf(text, sizeof(text), "end");
	else
		snprintf(text, sizeof(text), "phase %s", mark->name);
	err = marks_send(path, text, answer, sizeof(answer));
	if (err)
		return explain(err, path);
	if (strncmp(answer, "ok", 2))
		return fail("mark: %s", answer);
	return EXIT_DONE;
}

const struct verb verb_mark = {
	.argp = {
		options, parse, "NAME\n--end",
		"Begin the phase NAME of a running recording. In the command of raidctl record, the phase belongs to that recording, otherwise to the only recording that runs. Everything before the call belongs to the previous phase, everything after it to NAME.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct mark_options),
	.run = run,
};
