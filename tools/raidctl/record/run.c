// SPDX-License-Identifier: GPL-2.0-or-later

/* One recording from attaching to the summary. */

#include "record/run.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/claim.h"
#include "base/base.h"
#include "disk/md-dm.h"
#include "format/format.h"
#include "record/loop.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "report/glance.h"
#include "store/load.h"
#include "store/machine.h"
#include "store/store.h"
#include "store/writer.h"
#include "version.h"

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
	else if (follow->over && child->pid)
		snprintf(ret, size, "duration: the command was interrupted");
	else if (follow->signal && !follow->over)
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

/* Columns: begin and end in ns since the start, and what disturbed. */
static int say_disturbance(void *data, int nr, const char *const *values)
{
	(void)nr;
	print_labelled(data, LABEL_WIDTH, "disturbed", "%.1f s to %.1f s: %s", strtod(values[0], NULL) / 1e9,
		       strtod(values[1], NULL) / 1e9, values[2]);
	return 0;
}

static void say_recording(FILE *to, struct store *store, const struct recording *recording)
{
	bool real = !strcmp(recording_meta(recording, "lab_time"), "real");
	const char *end = recording_meta(recording, "end");
	const char *status = recording_meta(recording, "exit_status");

	fputc('\n', to);
	glance_table(to, recording);
	if (strcmp(end, "complete") || (status[0] && strcmp(status, "0")))
		print_labelled(to, LABEL_WIDTH, "end", "%s%s%s", end, status[0] ? ", exit status " : "", status);
	if (!strcmp(recording_meta(recording, "simulated"), "yes"))
		print_labelled(to, LABEL_WIDTH, "simulated", "profile %s: %s",
			       recording_meta(recording, "lab_profile"),
			       real ? "controller of the lab's model, in real time" :
			       "controller and all times are of the lab's model");
	store_each_row(store, "SELECT max(d.start_ns - begin, 0), d.end_ns - begin, text FROM disturbance AS d,"
		       " (SELECT CAST(value AS INTEGER) AS begin FROM meta WHERE key='start_ns')"
		       " ORDER BY d.start_ns, disturbance LIMIT 8", say_disturbance, to);
}

static bool summarise(const struct record_run *run, struct store *store)
{
	/* With a command standard output is the command's. */
	FILE *to = run->command ? stderr : stdout;
	struct recording recording;

	if (!store_is_there(store)) {
		fail("%s: removed or replaced while it was recorded: the recording is lost",
		     run->path);
		return false;
	}
	if (!run->quiet && !recording_load(store, &recording)) {
		say_recording(to, store, &recording);
		recording_free(&recording);
	}
	if (run->quiet)
		fputs("raidctl: ", to);
	else
		fputc('\n', to);
	terminal_print(to, "Recording saved to %s. To see what limits it: raidctl report %s\n",
		       run->path, run->path);
	return true;
}

static int exit_status(const struct follow *follow)
{
	const struct child *child = &follow->child;
	char invariants[256];

	if (follow->over && child->pid)
		note("%s: interrupted after the duration; the recording contains everything until then",
		     follow->command[0]);
	else if (child->pid && WIFSIGNALED(child->status))
		fail("%s: killed by signal %d (%s); the recording contains everything until then",
		     follow->command[0], WTERMSIG(child->status),
		     strsignal(WTERMSIG(child->status)));
	if (follow->cutter.missed)
		note("%u phases were too short to be separated; they are part of the following phase",
		     follow->cutter.missed);
	if (follow->store_error) /* and the sums may lack a part of what came last */
		return EXIT_FAILED;
	recorder_check(follow->recorder, invariants, sizeof(invariants));
	if (strcmp(invariants, "hold"))
		note("the counters do not agree with each other: %s; please report it",
		     invariants);
	if (follow->recorder->gone)
		return EXIT_FAILED;
	if (child->pid && WIFSIGNALED(child->status))
		return EXIT_FAILED;
	return child->pid ? child_exit_status(child) : EXIT_DONE;
}

/* Which of the disks is made of which. */
static int put_stack(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->nr; i++)
		for (size_t j = 0; j < recorder->nr && !err; j++) {
			const struct recorded *lower = &recorder->disks[i];
			const struct recorded *upper = &recorder->disks[j];
			struct stacked row = { lower->number, upper->number };

			if (stack_lies_on(upper->target.disk,
					  lower->target.disk))
				err = writer_put(recorder->writer,
						 store_put_stacked, &row,
						 sizeof(row));
		}
	return err;
}

static int besides(void *data, uint64_t now_ns, enum moment moment)
{
	struct follow *follow = data;

	if (moment == MOMENT_END)
		return surroundings_end(&follow->surroundings, now_ns);
	return surroundings_look(&follow->surroundings, now_ns,
				 moment == MOMENT_CUT);
}

/* The store exists and is empty. */
static int begin(const struct record_run *run, struct follow *follow,
		 const struct disk *disks, size_t nr)
{
	struct recorder *recorder = follow->recorder;
	struct record_facts facts = {
		.info = run->info, .tool_version = RAIDTRACE_VERSION,
		.interval_ns = run->interval_ns, .steady = run->steady,
		.command = run->command, .notes = &run->notes,
	};
	const char *phase = run->command ? PHASE_OUTSIDE : PHASE_RUN;
	int err = recorder_begin(recorder, follow->store,
				 run->phase && !run->command ? run->phase :
							       phase);

	facts.start_ns = recorder->start_ns;
	if (!err)
		err = record_meta_put(follow->store, &facts);
	if (!err)
		err = put_stack(recorder);
	if (!err)
		err = surroundings_begin(&follow->surroundings,
					 recorder->writer, disks, nr,
					 run->path, recorder->start_ns);
	recorder->besides = besides;
	recorder->data = follow;
	return err;
}

/* Whatever happens it is detached after. */
static int record_to(const struct record_run *run, struct follow *follow,
		     const struct disk *disks, size_t nr, int signals)
{
	struct recorder *recorder = follow->recorder;
	struct store *store = follow->store;
	int status, err = begin(run, follow, disks, nr);
	bool is_there;

	if (!err && run->detached)
		err = detached_begun(run->detached);
	if (err)
		return fail("%s: cannot be written: %s", run->path,
			    store_error(store)[0] ? store_error(store) :
						    strerror(-err));
	follow_run(follow, signals);
	if (follow->exec_error) {
		unlink(run->path);
		return fail("%s: cannot be executed: %s; nothing was recorded",
			    run->command[0], strerror(-follow->exec_error));
	}
	if (!follow->store_error) {
		follow->store_error = put_end(follow);
		if (follow->store_error)
			fail("%s: the end could not be stored: %s; everything stored before can be read",
			     run->path,
			     store_error(store)[0] ?
			     store_error(store) :
			     strerror(-follow->store_error));
	}
	recorder_detach(recorder);
	if (follow->store_error) {
		writer_stop(recorder->writer);
		recorder->writer = NULL;
		store_stopped(store);
	}
	is_there = summarise(run, store);
	status = exit_status(follow);
	return is_there ? status : EXIT_FAILED;
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

static int create(const struct record_run *run, struct store **ret)
{
	int err;

	if (run->replace)
		store_remove(run->path);
	err = store_create(run->path, ret);
	if (!err)
		return 0;
	if (err == -EEXIST)
		return fail("%s: exists; name another with -o, or replace it with --force",
			    run->path);
	return fail("%s: cannot be created: %s; name another place with -o",
		    run->path, store_error(NULL));
}

/* For other raidctls, wherever they run. */
static int describe(const struct record_run *run,
		    const struct recorder *recorder)
{
	char *path = realpath(run->path, NULL);
	int err = owner_describe(recorder->owner, path ? path : run->path,
				 run->detached);

	free(path);
	return err ? fail("the recording cannot be noted below /run: %s",
			  strerror(-err)) : 0;
}

static int attach_and_record(const struct record_run *run,
			     struct follow *follow, const struct disk *disks,
			     size_t nr)
{
	struct recorder *recorder = follow->recorder;
	int signals = follow_prepare(), status;

	if (signals < 0)
		return fail("record: %s", strerror(-signals));
	recorder->streams = run->streams;
	recorder->hwq = run->hwq;
	recorder->events = run->events;
	status = recorder_attach(recorder, disks, nr);
	if (status)
		return status;
	status = create(run, &follow->store);
	if (!status) {
		warn_of_own_writes(run->path, disks, nr);
		status = describe(run, recorder);
		if (!status)
			status = record_to(run, follow, disks, nr, signals);
		surroundings_free(&follow->surroundings);
		writer_stop(recorder->writer);
		recorder->writer = NULL;
		store_close(follow->store);
	}
	recorder_detach(recorder);
	return status;
}

/* The same memory comes and goes with each sample: what is given back the kernel has to clear again. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
	/* A thread with its own arena interrupts all processors of our threads when it takes or returns memory. */
	mallopt(M_ARENA_MAX, 1);
}

int record_run(const struct record_run *run, const struct disk *disks,
	       size_t nr)
{
	struct recorder recorder = { .client = run->client, .owner = -1 };
	struct follow follow = {
		.recorder = &recorder, .command = run->command,
		.cutter = run->cutter, .phase = run->phase,
		.interval_ns = run->interval_ns, .steady = run->steady,
		.duration_ns = run->duration_ns,
	};
	int status;

	keep_memory();
	owner_socket(getpid(), follow.socket, sizeof(follow.socket));
	status = attach_and_record(run, &follow, disks, nr);
	recorder_free(&recorder);
	return status;
}
