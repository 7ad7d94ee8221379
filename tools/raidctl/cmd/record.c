// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl record: attach, record, store, detach, print the summary. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "phase/phase.h"
#include "record/record.h"
#include "store/store.h"

#define KEY_DISK	'd'
#define KEY_OUTPUT	'o'
#define KEY_INTERVAL	'i'
#define KEY_FORCE	'f'
#define KEY_QUIET	'q'
#define KEY_DURATION	256
#define KEY_PHASES	257
#define KEY_PHASE	258
#define KEY_NOTE	259
#define KEY_MEMBERS	260
#define KEY_DETACH	261
#define KEY_STOP	262
#define KEY_STREAMS	263
#define KEY_EVENTS	264
#define KEY_HWQ		265

#define MIN_INTERVAL_NS		((uint64_t)1000000)
#define DEFAULT_INTERVAL_NS	((uint64_t)100000000)
/* The module keeps 4,096 requests of a disk, so none is lost up to 200,000 per second. */
#define EVENTS_INTERVAL_NS	((uint64_t)20000000)

struct record_options {
	struct words disks;
	const char *phases;
	const char *duration;	/* as given */
	bool no_members;
	bool detach;
	bool stop;
	const char *source;
	struct record_run run;
	char default_path[64];
};

static const struct argp_option options[] = {
	{ "disk", KEY_DISK, "DISK", 0,
	  "Record DISK; may be given several times (default: 3ware units; in a guest of raidctl lab, all disks; otherwise those of the arguments of COMMAND or of the working directory)",
	  0 },
	{ "output", KEY_OUTPUT, "FILE", 0, "Write the recording to FILE instead of raidtrace-DATE-TIME.rtdb", 0 },
	{ "interval", KEY_INTERVAL, "TIME", 0,
	  "Length of a sample, in ms, s, m or h (default 100ms; after every 6000 samples the length doubles)",
	  0 },
	{ "duration", KEY_DURATION, "TIME", 0, "Stop after TIME; COMMAND receives SIGINT", 0 },
	{ "phase", KEY_PHASE, "NAME", 0, "Name of the first phase; raidctl mark begins others", 0 },
	{ "phases", KEY_PHASES, "PROGRAM", 0,
	  "Divide the recording into phases by the output of PROGRAM: bonnie++, iozone, fio, ddt or ioperf; none makes one phase (default: recognise the program by COMMAND)",
	  0 },
	{ "note", KEY_NOTE, "TEXT", 0, "Store TEXT in the recording; may be given several times", 0 },
	{ "no-members", KEY_MEMBERS, NULL, 0, "Do not record the disks below md and dm disks", 0 },
	{ "streams", KEY_STREAMS, "N", 0,
	  "Remember the last N streams of sequential requests, 1 to 64 (default 16)",
	  0 },
	{ "hwq", KEY_HWQ, NULL, 0, "Also count the requests of each hardware queue", 0 },
	{ "events", KEY_EVENTS, NULL, 0,
	  "Also keep every single request, and report how many were lost; a sample then takes 20ms unless --interval is given",
	  0 },
	OPTION_SOURCE,
	{ "detach", KEY_DETACH, NULL, 0, "Record in the background, independent of the terminal", 0 },
	{ "stop", KEY_STOP, NULL, 0,
	  "End the background recording with the number ID; ID may be omitted if only one runs",
	  0 },
	{ "force", KEY_FORCE, NULL, 0, "Replace FILE if it exists", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "Do not print the summary", 0 },
	{ 0 }
};

static void take_duration(struct argp_state *state, const char *what,
			  const char *text, uint64_t *ret)
{
	if (parse_duration(text, ret))
		argp_error(state, "%s: %s is not a time; give one such as 500ms, 2s or 1m",
			   what, text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *record = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		record->run.interval_ns = DEFAULT_INTERVAL_NS;
		return 0;
	case KEY_PHASE:
		if (!mark_name_valid(arg))
			argp_error(state, "phase: a name has 1 to %d bytes, none of them a control character",
				   PHASE_NAME - 1);
		record->run.phase = arg;
		return 0;
	case KEY_NOTE:
		return words_add(&record->run.notes, arg);
	case KEY_MEMBERS:
		record->no_members = true;
		return 0;
	case KEY_STREAMS:
		record->run.streams = (uint32_t)strtoul(arg, &end, 10);
		if (!*arg || *end || record->run.streams < 1 ||
		    record->run.streams > 64)
			argp_error(state, "streams: %s: give a number from 1 to 64",
				   arg);
		return 0;
	case KEY_HWQ:
		record->run.hwq = true;
		return 0;
	case KEY_EVENTS:
		record->run.events = true;
		return 0;
	case KEY_SOURCE:
		record->source = source_parse(arg, state);
		return 0;
	case KEY_DETACH:
		record->detach = true;
		return 0;
	case KEY_STOP:
		record->stop = true;
		return 0;
	case KEY_DISK:
		return words_add(&record->disks, arg);
	case KEY_OUTPUT:
		record->run.path = arg;
		return 0;
	case KEY_PHASES:
		record->phases = arg;
		return 0;
	case KEY_FORCE:
		record->run.replace = true;
		return 0;
	case KEY_QUIET:
		record->run.quiet = true;
		return 0;
	case KEY_INTERVAL:
		take_duration(state, "interval", arg,
			      &record->run.interval_ns);
		record->run.steady = true;
		if (record->run.interval_ns < MIN_INTERVAL_NS)
			argp_error(state, "interval: %s is below 1ms", arg);
		return 0;
	case KEY_DURATION:
		record->duration = arg;
		take_duration(state, "duration", arg,
			      &record->run.duration_ns);
		return 0;
	case ARGP_KEY_END:
		if (record->run.events && !record->run.steady)
			record->run.interval_ns = EVENTS_INTERVAL_NS;
		record->run.steady |= record->run.events;
		return 0;
	case ARGP_KEY_ARG:
		/* The rest belongs to the command, including options. */
		record->run.command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int check_command(const struct record_options *record)
{
	const char *name = record->run.command ? record->run.command[0] : NULL;

	switch (name ? child_find(name) : 0) {
	case 0:
		return 0;
	case -EACCES:
		return fail("%s: cannot be executed; it is not a program, or you lack the permission: ls -l",
			    name);
	default:
		return fail("%s: command not found; nothing was attached or recorded; name a program in PATH or give its path",
			    name);
	}
}

static int check_path(const struct record_options *record)
{
	struct stat st;

	if (lstat(record->run.path, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return fail("%s: exists and is not a regular file; name another with -o",
			    record->run.path);
	if (!record->run.replace)
		return fail("%s: exists; name another with -o, or replace it with --force",
			    record->run.path);
	/* Before the disks are attached; create() of record/run.c decides. */
	return store_is_recorded(record->run.path) ? record_refuse_written(record->run.path) : 0;
}

static int set_up_cutter(const struct record_options *record,
			 struct phase_cutter *cutter)
{
	char known[128] = "none";

	memset(cutter, 0, sizeof(*cutter));
	if (!record->run.command ||
	    (record->phases && !strcmp(record->phases, "none")))
		return 0;
	if (phase_cutter_init(cutter, record->phases, record->run.command))
		return 0;
	for (size_t i = 0, at = strlen(known); phase_program_name(i) && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, ", %s",
				       phase_program_name(i));
	return usage_error("--phases: unknown program %s; known programs: %s",
			   record->phases, known);
}

/* Two recordings in the same second, or with a clock that starts again in each guest, get numbers. */
static void default_path(char *ret, size_t size)
{
	time_t now = time(NULL);
	char begun[32];
	struct stat st;
	struct tm local;

	localtime_r(&now, &local);
	strftime(begun, sizeof(begun), "raidtrace-%Y%m%d-%H%M%S", &local);
	snprintf(ret, size, "%s.rtdb", begun);
	for (unsigned int n = 2; !lstat(ret, &st); n++)
		snprintf(ret, size, "%s-%u.rtdb", begun, n);
}

/*
 * Find the named disks and their members. If none is named, all 3ware units (in a guest of the lab, all simulated
 * disks) and the disks above them. If there are none, the disks of the command.
 */
static int find_disks(const struct record_options *record, size_t *nr,
		      struct disk **disks)
{
	bool of_command = !record->disks.nr && record->run.command &&
			  !args_has_default();
	int status = of_command ?
			     args_command_disks(record->run.command, record->run.quiet, nr, disks) :
			     args_disks(&record->disks, "record", nr, disks);
	int err = 0;

	if (status || record->no_members)
		return status;
	if (!record->disks.nr && !of_command)
		err = stack_add_holders(nr, disks);
	if (!err)
		err = stack_add_members(nr, disks);
	if (!err)
		return EXIT_DONE;
	free(*disks);
	return fail("record: %s", strerror(-err));
}

static int check(struct record_options *record, struct phase_cutter *cutter)
{
	int status = set_up_cutter(record, cutter);

	if (!record->run.path) {
		default_path(record->default_path,
			     sizeof(record->default_path));
		record->run.path = record->default_path;
	}
	if (!status)
		status = check_command(record);
	return status ? status : check_path(record);
}

static int detach(struct record_options *record, struct detached *detached)
{
	int err = detached_fork(detached, record->run.path);

	if (err)
		return fail("record: no background process could be started: %s", strerror(-err));
	record->run.detached = detached;
	return EXIT_DONE;
}

static int run(struct context *context, void *data)
{
	struct record_options *record = data;
	struct detached detached;
	struct disk *disks;
	int status;
	size_t nr;

	if (record->stop)
		return detached_stop(record->run.command ?
				     record->run.command[0] : NULL);
	status = check(record, &record->run.cutter);
	if (!status)
		status = find_disks(record, &nr, &disks);
	free(record->disks.word);
	if (status)
		return status;
	if (record->detach)
		status = detach(record, &detached);
	/* BPF programs and their thread belong to the process that records. */
	if (!status)
		status = connect_source(context, record->source);
	record->run.client = context->client;
	record->run.info = &context->info;
	if (!status && !record->detach && !record->run.command)
		note("recording to %s%s%s; end it%s with Ctrl-C",
		     record->run.path, record->duration ? " for " : "",
		     record->duration ? record->duration : "",
		     record->duration ? " earlier" : "");
	if (!status)
		status = record_run(&record->run, disks, nr);
	free(record->run.notes.word);
	free(disks);
	return status;
}

const struct verb verb_record = {
	.argp = {
		options, parse, "[--] [COMMAND [ARG...]]\n--stop [ID]",
		"Record the requests of disks into a file, until Ctrl-C or while COMMAND runs, and print a summary. The output and the exit status of COMMAND are passed on. Disks that record attached are detached at the end.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct record_options),
	.run = run,
};
