// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl import: a recording from a trace of blktrace. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "import/import.h"

#define KEY_OUTPUT	'o'
#define KEY_INTERVAL	'i'
#define KEY_QUIET	'q'
#define KEY_SECTORS	's'

#define DEFAULT_INTERVAL_NS	(NS_PER_S / 10)
#define INTERVAL_MIN_NS		(NS_PER_S / 1000)
#define DEFAULT_OUTPUT		"imported.rtdb"

struct import_options {
	struct words traces;
	const char *output;
	uint64_t interval_ns;
	size_t nr_capacities;
	struct blktrace_capacity capacities[BLKTRACE_DEVICES];
	bool quiet;
};

static const struct argp_option options[] = {
	{ "output", KEY_OUTPUT, "FILE", 0,
	  "Write the recording to FILE, which must not exist (default " DEFAULT_OUTPUT ")",
	  0 },
	{ "interval", KEY_INTERVAL, "TIME", 0,
	  "Length of a sample in the time of the trace, such as 10ms or 1s (default 100ms)",
	  0 },
	{ "sectors", KEY_SECTORS, "[DISK=]N", 0,
	  "Size of DISK, or of every disk, in sectors of 512 bytes, as in /sys/block/DISK/size; may be given several times. Without it, the histogram of positions (place) is not available",
	  0 },
	{ "quiet", KEY_QUIET, NULL, 0, "Print neither progress nor summary", 0 },
	{ 0 }
};

/* Parse "sdb=1000215216" or "1000215216". A name may contain a colon, such as 253:0. */
static int take_sectors(struct import_options *import, const char *text)
{
	struct blktrace_capacity *capacity;
	const char *equals = strrchr(text, '='), *number = text;
	size_t len = 0;
	char *end;

	if (import->nr_capacities == BLKTRACE_DEVICES)
		return -E2BIG;
	capacity = &import->capacities[import->nr_capacities];
	if (equals) {
		len = (size_t)(equals - text);
		number = equals + 1;
	}
	if (len >= sizeof(capacity->disk) || (equals && !len) ||
	    *number < '0' || *number > '9')
		return -EINVAL;
	errno = 0;
	capacity->sectors = strtoull(number, &end, 10);
	if (errno || *end || !capacity->sectors ||
	    capacity->sectors > INT64_MAX)
		return -EINVAL;
	snprintf(capacity->disk, sizeof(capacity->disk), "%.*s", (int)len, text);
	import->nr_capacities++;
	return 0;
}

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
			argp_error(state, "a recording cannot be written to standard output; name a file");
		import->output = arg;
		return 0;
	case KEY_INTERVAL:
		if (parse_duration(arg, &import->interval_ns) ||
		    import->interval_ns < INTERVAL_MIN_NS)
			argp_error(state, "%s is not an interval of at least 1ms, such as 100ms, 1s or 1m",
				   arg);
		return 0;
	case KEY_QUIET:
		import->quiet = true;
		return 0;
	case KEY_SECTORS:
		if (take_sectors(import, arg))
			argp_error(state, "%s is not the size of a disk in sectors, such as 1000215216 or sdb=1000215216",
				   arg);
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&import->traces, arg);
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a TRACE, such as sda for sda.blktrace.0, sda.blktrace.1 ..., or - for standard input");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* One run of the verb. */
struct importing {
	const struct import_options *options;	/* options of the command line */
	struct blktrace_files files;	/* of the trace */
	struct blktrace_merge merge;	/* sources in the order of time */
	struct blktrace_import import;	/* the accounting */
	struct blktrace_record record;	/* the recording */
	uint64_t begun_ns;	/* start of this run, CLOCK_MONOTONIC */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/*
 * Ctrl-C also reaches blktrace if its output comes through a pipe. The rest of this output is read first. A second
 * Ctrl-C ends the import.
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

static int on_tick(void *data)
{
	struct importing *in = data;
	uint64_t passed = clock_ns(CLOCK_MONOTONIC) - in->begun_ns;
	uint64_t read = blktrace_files_read(&in->files);
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

static int print_failure(const struct importing *in, int err)
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
	if (store_error(in->record.store)[0])
		return fail("%s: cannot be written: %s", in->options->output,
			    store_error(in->record.store));
	return fail("%s: %s", path, strerror(-err));
}

/* Refuse a recording whose sums no verb could read. Distances and times of a trace may have any value. */
static int sums_fit(struct importing *in)
{
	return store_sums_fit(in->record.store) ? fail("%s: not imported: a sum is too large to be stored: %s",
			  in->files.sources[0].path,
			  store_error(in->record.store)) : 0;
}

static int import_all(struct importing *in)
{
	int err;

	in->merge = (struct blktrace_merge){
		.nr = in->files.nr,
		.readers = in->files.readers,
		.note = blktrace_record_note,
		.data = &in->record,
	};
	in->import = (struct blktrace_import){
		.merge = &in->merge,
		.interval_ns = in->options->interval_ns,
		.sample = blktrace_record_sample,
		.capacity = blktrace_record_capacity,
		.tick = on_tick,
		.data = &in->record,
		.tick_data = in,
	};
	in->record.files = &in->files;
	in->record.import = &in->import;
	in->record.nr_capacities = in->options->nr_capacities;
	in->record.capacities = in->options->capacities;
	err = blktrace_record_begin(&in->record);
	if (!err)
		err = blktrace_merge_open(&in->merge, in->files.stream ?
					  BLKTRACE_WINDOW : 1);
	if (!err)
		err = blktrace_import_run(&in->import);
	progress_clear();
	if (!err && !in->import.started)
		return fail("%s: the trace contains no event; run blktrace as root, while the disk is in use",
			    in->files.sources[0].path);
	if (!err) {
		char disks[BLKTRACE_DEVICES * (RT_NAME_MAX + 2)];
		const char *missing = blktrace_record_unmatched(&in->record, disks, sizeof(disks));

		if (missing)
			return fail("--sectors %s: the trace does not contain this disk, so nothing is imported; name one of: %s",
				    missing, disks);
		err = blktrace_record_end(&in->record);
	}
	return err ? print_failure(in, err) : sums_fit(in);
}

static void print_cut_files(const struct importing *in)
{
	for (size_t i = 0; i < in->files.nr; i++)
		if (in->files.readers[i].cut)
			note("%s ends within the record at offset %" PRIu64 ": the end of the trace is missing; everything before it is imported",
			     in->files.sources[i].path,
			     in->files.readers[i].offset);
}

static void print_result(const struct importing *in)
{
	uint64_t missing = blktrace_record_missing(&in->record);
	char events[UNITS_TEXT];

	print_cut_files(in);
	if (in->merge.late)
		note("%" PRIu64 " events arrived too late to be sorted; they count at the time of their arrival",
		     in->merge.late);
	if (missing)
		note("the kernel dropped %" PRIu64 " events, so counts are too low; trace again with larger buffers: blktrace -b 2048 -n 32",
		     missing);
	if (in->options->quiet)
		return;
	terminal_print(stdout, "%s: %s events of %zu disk%s, %.3f s; see: raidctl report %s\n",
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
	int status, err = store_create(output, &in->record.store);

	if (err == -EEXIST)
		return fail("%s: the file exists; name another with -o, or remove it",
			    output);
	if (err)
		return fail("%s: cannot be created: %s", output,
			    store_error(NULL));
	catch_interrupt(in->files.stream);
	in->begun_ns = clock_ns(CLOCK_MONOTONIC);
	status = import_all(in);
	if (status)
		store_rollback(in->record.store);
	store_close(in->record.store);
	if (status)
		store_remove(output);
	else
		print_result(in);
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
		"Convert a trace of blktrace to a recording. TRACE is one of: sda, for the files sda.blktrace.0, sda.blktrace.1 and so on, one for each CPU; a file with the events of all CPUs, as blkparse -d writes it; - for standard input, as in: blktrace -d /dev/sda -o - | raidctl import -\v"
		"raidctl report and raidctl export read the imported recording like any other. raidctl-import(8) lists the values that a trace does not contain; they are not available.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct import_options),
	.run = run,
};
