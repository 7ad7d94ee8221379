// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl record: attach, follow, store, detach, sum up. */

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "command.h"
#include "follow.h"
#include "lab.h"
#include "message.h"
#include "print.h"
#include "recorder.h"
#include "recording.h"
#include "store.h"
#include "units.h"
#include "writer.h"

#define KEY_DISK	'd'
#define KEY_OUTPUT	'o'
#define KEY_INTERVAL	'i'
#define KEY_FORCE	'f'
#define KEY_QUIET	'q'
#define KEY_DURATION	256
#define KEY_PHASES	257

#define MIN_INTERVAL_NS	((uint64_t)1000000)

struct record_options {
	struct words disks;
	const char *path;
	const char *phases;
	uint64_t interval_ns;
	uint64_t duration_ns;
	bool force;
	bool quiet;
	char **command;
	char default_path[64];
};

static const struct argp_option options[] = {
	{ "disk", KEY_DISK, "DISK", 0, "Record DISK; may be given several times. Without it: all 3ware units", 0 },
	{ "output", KEY_OUTPUT, "FILE", 0, "Write the recording to FILE instead of raidtrace-DATE-TIME.rtdb", 0 },
	{ "interval", KEY_INTERVAL, "TIME", 0, "Length of a sample, 1s if not given; ms, s, m, h are understood", 0 },
	{ "duration", KEY_DURATION, "TIME", 0, "Stop after TIME; a COMMAND is interrupted then", 0 },
	{ "phases", KEY_PHASES, "PROGRAM", 0, "Cut phases as PROGRAM prints them (bonnie++), or none; without it the program is recognised by COMMAND", 0 },
	{ "force", KEY_FORCE, NULL, 0, "Replace FILE if it exists", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "Do not print the summary", 0 },
	{ 0 }
};

static void take_duration(struct argp_state *state, const char *what,
			  const char *text, uint64_t *ret)
{
	if (parse_duration(text, ret))
		argp_error(state, "%s: %s is no time; give for example 500ms, 2s or 1m",
			   what, text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *record = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		record->interval_ns = NS_PER_S;
		return 0;
	case KEY_DISK:
		return words_add(&record->disks, arg);
	case KEY_OUTPUT:
		record->path = arg;
		return 0;
	case KEY_PHASES:
		record->phases = arg;
		return 0;
	case KEY_FORCE:
		record->force = true;
		return 0;
	case KEY_QUIET:
		record->quiet = true;
		return 0;
	case KEY_INTERVAL:
		take_duration(state, "interval", arg, &record->interval_ns);
		if (record->interval_ns < MIN_INTERVAL_NS)
			argp_error(state, "interval: %s is below 1ms", arg);
		return 0;
	case KEY_DURATION:
		take_duration(state, "duration", arg, &record->duration_ns);
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the command's, its options too. */
		record->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int check_command(const struct record_options *record)
{
	const char *name = record->command ? record->command[0] : NULL;

	switch (name ? child_find(name) : 0) {
	case 0:
		return 0;
	case -EACCES:
		return fail("%s: cannot be executed; is it a program, and permitted to you?",
			    name);
	default:
		return fail("%s: command not found; nothing was attached or recorded; name a program in PATH or give its path",
			    name);
	}
}

static int check_path(const struct record_options *record)
{
	struct stat st;

	if (lstat(record->path, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return fail("%s: exists and is no regular file; name another with -o",
			    record->path);
	if (!record->force)
		return fail("%s: exists; name another with -o, or replace it with --force",
			    record->path);
	return 0;
}

static int set_up_cutter(const struct record_options *record,
			 struct phase_cutter *cutter)
{
	memset(cutter, 0, sizeof(*cutter));
	if (!record->command ||
	    (record->phases && !strcmp(record->phases, "none")))
		return 0;
	if (phase_cutter_init(cutter, record->phases, record->command))
		return 0;
	return usage_error("--phases: %s is not known; known are: none, %s",
			   record->phases, phase_program_name(0));
}

static void default_path(char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(ret, size, "raidtrace-%Y%m%d-%H%M%S.rtdb", &local);
}

/* The command as a JSON array: words may hold blanks and quotes. */
static int put_command(struct store *store, char **command)
{
	struct json_object *array = json_object_new_array();
	int err;

	for (; *command; command++)
		json_object_array_add(array, json_object_new_string(*command));
	err = store_put_meta(store, "command",
			     json_object_to_json_string_ext(
				     array, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(array);
	return err;
}

static int put_number(struct store *store, const char *key, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return store_put_meta(store, key, text);
}

static int put_machine(struct store *store)
{
	char profile[DISK_NAME], started[64], kernel[PATH_MAX];
	time_t now = time(NULL);
	struct utsname uts;
	struct tm utc;
	int err;

	uname(&uts);
	gmtime_r(&now, &utc);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	err = store_put_meta(store, "kernel", uts.release);
	if (!err)
		err = store_put_meta(store, "machine", uts.machine);
	if (!err)
		err = store_put_meta(store, "hostname", uts.nodename);
	if (!err)
		err = store_put_meta(store, "started_utc", started);
	if (!err)
		err = store_put_meta(store, "simulated",
				     lab_profile(profile, sizeof(profile)) ?
				     "yes" : "no");
	if (!err && profile[0])
		err = store_put_meta(store, "lab_profile", profile);
	if (!err && profile[0])
		err = store_put_meta(store, "lab_time", lab_time());
	if (!err && lab_kernel(kernel, sizeof(kernel)))
		err = store_put_meta(store, "lab_kernel", kernel);
	return err;
}

static int put_meta(struct store *store, const struct context *context,
		    const struct record_options *record, uint64_t start_ns)
{
	int err = store_begin(store);

	if (!err)
		err = store_put_meta(store, "tool_version", RAIDCTL_VERSION);
	if (!err)
		err = store_put_meta(store, "module_version",
				     context->info.version);
	if (!err)
		err = store_put_meta(store, "unavailable",
				     context->info.unavailable);
	if (!err)
		err = put_number(store, "abi", context->info.abi);
	if (!err)
		err = put_number(store, "interval_ns", record->interval_ns);
	if (!err)
		err = put_number(store, "start_ns", start_ns);
	if (!err)
		err = store_put_meta(store, "end", "running");
	if (!err)
		err = put_machine(store);
	if (!err && record->command)
		err = put_command(store, record->command);
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

/* How it ended, for meta.end. */
static void describe_end(const struct follow *follow, char *ret, size_t size)
{
	const struct child *child = &follow->child;

	if (child->pid && WIFSIGNALED(child->status) && !follow->signal)
		snprintf(ret, size, "killed: the command, by signal %d (%s)",
			 WTERMSIG(child->status),
			 strsignal(WTERMSIG(child->status)));
	else if (follow->recorder->gone)
		snprintf(ret, size, "target gone");
	else if (follow->signal && (follow->command || !follow->duration_ns ||
				    follow->signal != SIGINT))
		snprintf(ret, size, "interrupted");
	else
		snprintf(ret, size, "complete");
}

static int put_end(struct follow *follow)
{
	char why[128], status[16];
	int err = 0;

	describe_end(follow, why, sizeof(why));
	snprintf(status, sizeof(status), "%d",
		 child_exit_status(&follow->child));
	if (follow->child.pid)
		err = writer_put_meta(follow->recorder->writer, "exit_status",
				      status);
	return err ? err : recorder_end(follow->recorder, why);
}

static void summarise(const struct record_options *record, struct store *store)
{
	/* With a command standard output is the command's. */
	FILE *to = record->command ? stderr : stdout;
	struct recording recording;

	if (!record->quiet && !recording_load(store, NULL, &recording)) {
		recording.path = record->path;
		fputc('\n', to);
		print_text.recording(to, &recording);
		recording_free(&recording);
	}
	fprintf(to, "%srecording in %s; see it again: raidctl report %s\n",
		record->quiet ? "raidctl: " : "\n", record->path,
		record->path);
}

static int exit_status(const struct follow *follow)
{
	const struct child *child = &follow->child;
	char invariants[256];

	if (child->pid && WIFSIGNALED(child->status))
		fail("%s: killed by signal %d (%s); the recording is kept up to there",
		     follow->command[0], WTERMSIG(child->status),
		     strsignal(WTERMSIG(child->status)));
	if (follow->cutter.missed)
		note("%u phases began and ended before they could be told apart; they are part of the one that follows",
		     follow->cutter.missed);
	recorder_check(follow->recorder, invariants, sizeof(invariants));
	if (strcmp(invariants, "hold"))
		note("the counters do not agree with each other: %s; please report it",
		     invariants);
	if (follow->store_error || follow->recorder->gone)
		return EXIT_FAILED;
	if (child->pid && WIFSIGNALED(child->status))
		return EXIT_FAILED;
	return child->pid ? child_exit_status(child) : EXIT_DONE;
}

/* The store exists and is empty; whatever happens it is detached after. */
static int record_to(struct context *context,
		     const struct record_options *record,
		     struct follow *follow, struct store *store, int signals)
{
	struct recorder *recorder = follow->recorder;
	int err = recorder_begin(recorder, store,
				 follow->command ? PHASE_OUTSIDE : PHASE_RUN);

	follow->store = store;
	if (!err)
		err = put_meta(store, context, record, recorder->start_ns);
	if (err)
		return fail("%s: cannot be written: %s", record->path,
			    store_error(store)[0] ? store_error(store) :
						    strerror(-err));
	follow_run(follow, signals);
	if (follow->exec_error) {
		unlink(record->path);
		return fail("%s: cannot be executed: %s; nothing was recorded",
			    record->command[0], strerror(-follow->exec_error));
	}
	if (!follow->store_error) {
		follow->store_error = put_end(follow);
		if (follow->store_error)
			fail("%s: the end could not be stored: %s; what was stored until here can be read",
			     record->path, store_error(store));
	}
	recorder_detach(recorder);
	summarise(record, store);
	return exit_status(follow);
}

/* The recording is then part of what it records. */
static void warn_of_own_writes(const char *path, const struct disk *disks,
			       size_t nr)
{
	struct stat st;

	if (stat(path, &st))
		return;
	for (size_t i = 0; i < nr; i++)
		if (disk_holds(disks[i].name, st.st_dev))
			note("%s lies on %s, which is recorded: its own writes are counted too; name another place with -o",
			     path, disks[i].name);
}

static int create(const struct record_options *record, struct store **ret)
{
	int err;

	if (record->force)
		unlink(record->path);
	err = store_create(record->path, ret);
	if (!err)
		return 0;
	if (err == -EEXIST)
		return fail("%s: exists; name another with -o, or replace it with --force",
			    record->path);
	return fail("%s: cannot be created: %s; name another place with -o",
		    record->path, store_error(NULL));
}

static int attach_and_record(struct context *context,
			     const struct record_options *record,
			     struct follow *follow, const struct disk *disks,
			     size_t nr)
{
	struct recorder *recorder = follow->recorder;
	int signals = follow_prepare(), status;
	struct store *store;

	if (signals < 0)
		return fail("record: %s", strerror(-signals));
	status = recorder_attach(recorder, disks, nr);
	if (status)
		return status;
	status = create(record, &store);
	if (!status) {
		warn_of_own_writes(record->path, disks, nr);
		status = record_to(context, record, follow, store, signals);
		writer_stop(recorder->writer);
		recorder->writer = NULL;
		store_close(store);
	}
	recorder_detach(recorder);
	return status;
}

static int run(struct context *context, void *data)
{
	struct record_options *record = data;
	struct recorder recorder = { .client = context->client, .owner = -1 };
	struct follow follow = {
		.recorder = &recorder, .command = record->command,
		.interval_ns = record->interval_ns,
		.duration_ns = record->duration_ns,
	};
	struct disk *disks;
	size_t nr;
	int status = set_up_cutter(record, &follow.cutter);

	if (!record->path) {
		default_path(record->default_path,
			     sizeof(record->default_path));
		record->path = record->default_path;
	}
	if (!status)
		status = check_command(record);
	if (!status)
		status = check_path(record);
	if (!status)
		status = args_disks(&record->disks, "record", &nr, &disks);
	free(record->disks.word);
	if (status)
		return status;
	if (!record->command)
		note("recording to %s; end it with Ctrl-C", record->path);
	status = attach_and_record(context, record, &follow, disks, nr);
	recorder_free(&recorder);
	free(disks);
	return status;
}

const struct verb verb_record = {
	.argp = {
		options, parse, "[--] [COMMAND [ARG...]]",
		"Record what the queues of disks are given, until Ctrl-C or while COMMAND runs, and print a summary. The output of COMMAND is passed on, its exit status too. Disks that were not attached are detached at the end.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct record_options),
	.run = run,
};
