// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl import: a recording of what blktrace wrote. */

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "blktrace-files.h"
#include "blktrace-import.h"
#include "command.h"
#include "message.h"
#include "progress.h"
#include "store.h"
#include "units.h"

#define KEY_OUTPUT	'o'
#define KEY_INTERVAL	'i'
#define KEY_QUIET	'q'

#define DEFAULT_INTERVAL_NS	(NS_PER_S / 10)
#define INTERVAL_MIN_NS		(NS_PER_S / 1000)
#define DEFAULT_OUTPUT		"imported.rtdb"

/* Samples that are written in one transaction. */
#define SAMPLES_PER_COMMIT	512

/* Names of processes that are kept. */
#define PROCESSES_MAX	256
#define PROCESS_NAME	16

struct import_options {
	struct words traces;
	const char *output;
	uint64_t interval_ns;
	bool quiet;
};

static const struct argp_option options[] = {
	{ "output", KEY_OUTPUT, "FILE", 0, "Make the recording FILE, which must not exist yet; " DEFAULT_OUTPUT " without this", 0 },
	{ "interval", KEY_INTERVAL, "TIME", 0, "Length of a sample in the time of the trace, such as 10ms or 1s; 100ms without this", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "No progress, no summary", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct import_options *import = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		import->output = DEFAULT_OUTPUT;
		import->interval_ns = DEFAULT_INTERVAL_NS;
		return 0;
	case KEY_OUTPUT:
		if (!strcmp(arg, "-"))
			argp_error(state, "a recording cannot go to standard output; name a file");
		import->output = arg;
		return 0;
	case KEY_INTERVAL:
		if (parse_duration(arg, &import->interval_ns) ||
		    import->interval_ns < INTERVAL_MIN_NS)
			argp_error(state, "%s: no interval of at least 1ms, such as 100ms, 1s or 1m",
				   arg);
		return 0;
	case KEY_QUIET:
		import->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&import->traces, arg);
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a TRACE, such as sda for sda.blktrace.0, sda.blktrace.1 ..., or - for standard input");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/**
 * struct importing - one run of the verb
 * @options: what was asked for
 * @files: of the trace
 * @merge: sources in the order of time
 * @import: the accounting
 * @store: the recording
 * @nr_targets: disks that are in the recording
 * @samples: since the last commit
 * @begun: CLOCK_MONOTONIC in nanoseconds
 * @wall_ns: the traced machine's clock when tracing began, nanoseconds since
 *	1970; 0 when the trace does not tell
 * @processes: names that the trace has
 * @nr_processes: how many
 */
struct importing {
	const struct import_options *options;
	struct blktrace_files files;
	struct blktrace_merge merge;
	struct blktrace_import import;
	struct store *store;
	size_t nr_targets;
	unsigned int samples;
	uint64_t begun;
	uint64_t wall_ns;
	char processes[PROCESSES_MAX][PROCESS_NAME];
	size_t nr_processes;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/*
 * Ctrl-C reaches blktrace too when its output comes by a pipe: what it still
 * has to say is waited for.  A second one ends the import.
 */
static void catch_interrupt(bool stream)
{
	struct sigaction action = {
		.sa_handler = on_interrupt,
		.sa_flags = stream ? SA_RESETHAND | SA_RESTART : SA_RESETHAND,
	};

	interrupted = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void keep_process(struct importing *in, const struct blktrace_note *note)
{
	char name[PROCESS_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)note->len, note->text);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	for (size_t i = 0; i < in->nr_processes; i++)
		if (!strcmp(in->processes[i], name))
			return;
	if (name[0] && in->nr_processes < PROCESSES_MAX)
		memcpy(in->processes[in->nr_processes++], name, sizeof(name));
}

static int on_note(void *data, const struct blktrace_event *event,
		   const struct blktrace_note *note)
{
	struct importing *in = data;

	switch (note->kind) {
	case BLKTRACE_NOTE_PROCESS:
		keep_process(in, note);
		return 0;
	case BLKTRACE_NOTE_TIMESTAMP:
		if (!in->wall_ns) {
			in->wall_ns = note->wall_s * NS_PER_S + note->wall_ns;
			in->import.begun_ns = event->time_ns;
		}
		return 0;
	case BLKTRACE_NOTE_MESSAGE:
		return store_put_output(in->store, event->time_ns, "blktrace",
					note->text, note->len);
	}
	return 0;
}

/* Names that have been given to numbers for good; others have none of their own. */
static void name_disk(uint32_t device, char *ret, size_t size)
{
	static const unsigned int sd_majors[] = {
		8, 65, 66, 67, 68, 69, 70, 71, 128, 129, 130, 131, 132, 133,
		134, 135,
	};
	unsigned int major = device >> 20, minor = device & 0xfffff;
	char letters[4] = "";

	for (unsigned int i = 0; i < sizeof(sd_majors) / sizeof(sd_majors[0]);
	     i++) {
		unsigned int n = i * 16 + (minor & 0xff) / 16;

		if (major != sd_majors[i])
			continue;
		if (n >= 26)
			snprintf(letters, sizeof(letters), "%c%c",
				 'a' + n / 26 - 1, 'a' + n % 26);
		else
			snprintf(letters, sizeof(letters), "%c", 'a' + n);
		if (minor % 16)
			snprintf(ret, size, "sd%s%u", letters, minor % 16);
		else
			snprintf(ret, size, "sd%s", letters);
		return;
	}
	if (major == 9)
		snprintf(ret, size, "md%u", minor);
	else
		snprintf(ret, size, "%u:%u", major, minor);
}

static int put_target(struct importing *in,
		      const struct blktrace_device *device)
{
	struct rt_target target = {
		.name_only = true,
		.attached_ns = in->import.start_ns,
	};
	uint32_t number = device->index + 1U;
	char text[32];
	int err;

	in->nr_targets++;
	name_disk(device->device, target.disk, sizeof(target.disk));
	snprintf(text, sizeof(text), "%u:%u", device->device >> 20,
		 device->device & 0xfffff);
	err = store_put_target(in->store, number, &target);
	if (err)
		return err;
	return store_put_setting(in->store, in->import.start_ns, number,
				 "device", text);
}

static int on_sample(void *data, const struct blktrace_device *device,
		     const struct rt_counters *span)
{
	struct importing *in = data;
	int err = 0;

	if (!in->nr_targets)
		err = store_begin_phase(in->store, 1, "run", span->since_ns);
	if (!err && device->index >= in->nr_targets)
		err = put_target(in, device);
	if (!err)
		err = store_put_sample(in->store, device->index + 1U, 1, span);
	if (err || ++in->samples < SAMPLES_PER_COMMIT)
		return err;
	in->samples = 0;
	err = store_commit(in->store);
	return err ? err : store_begin(in->store);
}

static int on_tick(void *data)
{
	struct importing *in = data;
	uint64_t passed = clock_ns() - in->begun, read = blktrace_files_read(&in->files);
	char events[UNITS_TEXT], left[UNITS_TEXT];

	if (interrupted && !in->files.stream)
		return -EINTR;
	if (in->options->quiet || passed < NS_PER_S)
		return 0;
	format_count(events, in->import.events);
	if (in->files.stream || !in->files.bytes || read > in->files.bytes)
		progress_show("import: %s events", events);
	else
		progress_show("import: %.0f %%, %s events, %s left",
			      100.0 * (double)read / (double)in->files.bytes, events,
			      format_clock(left, (uint64_t)((double)passed *
					   (double)(in->files.bytes - read) /
					   (double)read)));
	return 0;
}

static int put_count(struct store *store, const char *key, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	return store_put_meta(store, key, text);
}

static int put_started(struct importing *in)
{
	time_t seconds = (time_t)(in->wall_ns / NS_PER_S);
	char text[64];
	struct tm utc;

	if (!in->wall_ns || !gmtime_r(&seconds, &utc))
		return 0;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return store_put_meta(in->store, "started_utc", text);
}

static int put_processes(struct importing *in)
{
	struct json_object *names = json_object_new_array();
	int err;

	for (size_t i = 0; i < in->nr_processes; i++)
		json_object_array_add(names,
				      json_object_new_string(in->processes[i]));
	err = store_put_meta(in->store, "trace_processes",
			     json_object_to_json_string(names));
	json_object_put(names);
	return err;
}

/* Where a source ends within a record; the last of several is enough. */
static int put_cut(struct importing *in)
{
	int err = 0;

	for (size_t i = 0; i < in->files.nr && !err; i++) {
		char text[512];

		if (!in->files.readers[i].cut)
			continue;
		snprintf(text, sizeof(text),
			 "%s ends within the record at offset %" PRIu64,
			 in->files.sources[i].path, in->files.readers[i].offset);
		note("%s: the end of the trace is missing; what comes before it is imported",
		     text);
		err = store_put_meta(in->store, "trace_cut", text);
	}
	return err;
}

static uint64_t sum_missing(const struct importing *in)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < in->import.nr; i++)
		missing += in->import.devices[i]->missing;
	return missing;
}

static int put_format(struct importing *in)
{
	const struct blktrace_reader *reader = NULL;
	char text[64];

	for (size_t i = 0; i < in->files.nr; i++)
		if (in->files.readers[i].version)
			reader = &in->files.readers[i];
	if (!reader)
		return 0;
	snprintf(text, sizeof(text), "blktrace version %u, %s-endian",
		 reader->version,
		 reader->swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
			 "big" : "little");
	return store_put_meta(in->store, "source", text);
}

/* What is known before the first event. */
static int begin_recording(struct importing *in)
{
	int err = store_begin(in->store);

	if (!err)
		err = store_put_meta(in->store, "tool_version",
				     RAIDCTL_VERSION);
	if (!err)
		err = store_put_meta(in->store, "source", "blktrace");
	if (!err)
		err = put_count(in->store, "abi", RAIDTRACE_ABI);
	if (!err)
		err = put_count(in->store, "interval_ns",
				in->options->interval_ns);
	if (!err)
		err = store_put_meta(in->store, "end", "running");
	return err;
}

static int forget_unknown(struct importing *in)
{
	int err = 0;

	for (size_t i = 0; i < in->import.nr && !err; i++) {
		const struct blktrace_device *device = in->import.devices[i];

		err = store_forget(in->store, device->index + 1U,
				   blktrace_device_unknown(device));
	}
	return err;
}

/* What is known after the last event. */
static int end_recording(struct importing *in)
{
	char invariants[256];
	int err = forget_unknown(in);

	blktrace_import_check(&in->import, invariants, sizeof(invariants));
	if (!err)
		err = put_format(in);
	if (!err)
		err = put_started(in);
	if (!err)
		err = put_processes(in);
	if (!err)
		err = put_cut(in);
	if (!err)
		err = put_count(in->store, "trace_events",
				in->import.events + in->merge.notes);
	if (!err)
		err = put_count(in->store, "trace_late", in->merge.late);
	if (!err)
		err = put_count(in->store, "trace_missing", sum_missing(in));
	if (!err)
		err = put_count(in->store, "start_ns", in->import.start_ns);
	if (!err)
		err = put_count(in->store, "end_ns", in->import.now_ns);
	if (!err)
		err = store_end_phase(in->store, 1, in->import.now_ns);
	if (!err)
		err = store_put_meta(in->store, "invariants", invariants);
	if (!err)
		err = store_put_meta(in->store, "end", "complete");
	return err ? err : store_commit(in->store);
}

static int say_why(const struct importing *in, int err)
{
	const char *path = in->files.sources[in->merge.failed].path;
	const struct blktrace_reader *reader =
		&in->files.readers[in->merge.failed];

	switch (err) {
	case -EBADMSG:
		return fail("%s: refused at offset %" PRIu64 ": %s; nothing is imported",
			    path, reader->offset, reader->wrong);
	case -E2BIG:
		return fail("%s: it has more than %d disks; trace or import fewer at a time",
			    path, BLKTRACE_DEVICES);
	case -EINTR:
		return fail("import: interrupted; nothing is imported");
	}
	if (store_error(in->store)[0])
		return fail("%s: cannot be written: %s", in->options->output,
			    store_error(in->store));
	return fail("%s: %s", path, strerror(-err));
}

static int import_all(struct importing *in)
{
	int err = begin_recording(in);

	in->merge = (struct blktrace_merge){
		.nr = in->files.nr,
		.readers = in->files.readers,
		.note = on_note,
		.data = in,
	};
	in->import = (struct blktrace_import){
		.merge = &in->merge,
		.interval_ns = in->options->interval_ns,
		.sample = on_sample,
		.tick = on_tick,
		.data = in,
	};
	if (!err)
		err = blktrace_merge_open(&in->merge, in->files.stream ?
					  BLKTRACE_WINDOW : 1);
	if (!err)
		err = blktrace_import_run(&in->import);
	progress_clear();
	if (!err && !in->import.started)
		return fail("%s: no event in it; was blktrace run as root, and its disk used?",
			    in->files.sources[0].path);
	if (!err)
		err = end_recording(in);
	return err ? say_why(in, err) : 0;
}

static void say_done(const struct importing *in)
{
	uint64_t missing = sum_missing(in);
	char events[UNITS_TEXT];

	if (in->merge.late)
		note("%" PRIu64 " events came too late to be put in order; they count as happening when they came",
		     in->merge.late);
	if (missing)
		note("the kernel dropped %" PRIu64 " events, so counts are too low; trace again with larger buffers: blktrace -b 2048 -n 32",
		     missing);
	if (in->options->quiet)
		return;
	printf("%s: %s events of %zu disk%s, %.3f s; see: raidctl report %s\n",
	       in->options->output, format_count(events, in->import.events + in->merge.notes),
	       in->import.nr, in->import.nr == 1 ? "" : "s",
	       (double)(in->import.now_ns - in->import.start_ns) / 1e9,
	       in->options->output);
}

static void close_all(struct importing *in)
{
	blktrace_import_free(&in->import);
	blktrace_merge_close(&in->merge);
	blktrace_files_close(&in->files);
}

static int import_to(struct importing *in)
{
	const char *output = in->options->output;
	int status, err = store_create(output, &in->store);

	if (err == -EEXIST)
		return fail("%s: it exists already; name another file with -o, or remove it",
			    output);
	if (err)
		return fail("%s: cannot be made: %s", output,
			    store_error(NULL));
	catch_interrupt(in->files.stream);
	in->begun = clock_ns();
	status = import_all(in);
	if (status)
		store_rollback(in->store);
	store_close(in->store);
	if (status)
		unlink(output);
	else
		say_done(in);
	return status;
}

static int run(struct context *context, void *data)
{
	struct import_options *import = data;
	struct importing *in = calloc(1, sizeof(*in));
	int status;

	(void)context;
	if (!in)
		return fail("%s", strerror(ENOMEM));
	in->options = import;
	status = blktrace_files_open(&in->files, &import->traces);
	if (!status)
		status = import_to(in);
	close_all(in);
	free(in);
	free(import->traces.word);
	return status;
}

const struct verb verb_import = {
	.argp = {
		options, parse, "TRACE...",
		"Make a recording of what blktrace wrote. TRACE is the name that blktrace was given, such as sda for the files sda.blktrace.0, sda.blktrace.1 ..., one for each CPU; or one file with the events of all CPUs, as blkparse -d makes it; or - for standard input, as in: blktrace -d /dev/sda -o - | raidctl import -\v"
		"raidctl report and raidctl export read it like any recording. What a trace cannot tell is not available in it: raidctl-import(8) says what.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct import_options),
	.run = run,
};
