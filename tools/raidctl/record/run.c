// SPDX-License-Identifier: GPL-2.0-or-later

/* One recording from attaching to the summary. */

#include "record/record.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
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
#include "disk/disk.h"
#include "format/format.h"
#include "report/report.h"
#include "store/store.h"

/* Store the command as a JSON array, because words may contain blanks and quotes. */
static int put_command(struct rows *rows, char **command)
{
	struct json_object *array = json_object_new_array();
	const char *text = NULL;
	int err = 0;

	for (; *command && !err; command++)
		err = json_append(array, *command);
	if (!err)
		text = json_object_to_json_string_ext(array, JSON_C_TO_STRING_NOSLASHESCAPE);
	err = text ? store_put_meta(rows, "command", text) : -ENOMEM;
	json_object_put(array);
	return err;
}

/* Store facts about the recording in the first transaction. */
static int put_meta(struct rows *rows, const struct record_run *run, uint64_t start_ns)
{
	int err = record_put_source(rows, run->client, run->info);

	if (!err)
		err = store_put_meta_number(rows, "interval_ns", run->interval_ns);
	if (!err)
		err = store_put_meta(rows, "interval", run->steady ? "steady" : "doubling");
	if (!err)
		err = store_put_meta_number(rows, "start_ns", start_ns);
	if (!err)
		err = store_put_meta(rows, "end", "running");
	if (!err)
		err = record_put_machine(rows);
	if (!err && run->command)
		err = put_command(rows, run->command);
	for (size_t i = 0; i < run->notes.nr && !err; i++)
		err = store_put_note(rows, start_ns, run->notes.word[i]);
	return err;
}

/* Describe the end of the recording, for meta.end. */
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
		err = store_put_meta(writer_rows(follow->recorder->writer), "exit_status", status);
	return err ? err : recorder_end(follow->recorder, why);
}

#define OWN_SHARE	100	/* of all bytes, 1 / OWN_SHARE by the recording itself is negligible */
#define DISTURBANCES	8	/* the report has all of them */

static void print_disturbances(FILE *to, const struct follow *follow)
{
	struct watch *watch = follow->recorder->surroundings.watch;
	uint64_t start_ns = follow->recorder->start_ns;
	const struct disturbance *all;
	size_t nr;

	if (!watch)
		return;
	watch_finish(watch);
	all = watch_all(watch, &nr);
	for (size_t i = 0; i < nr && i < DISTURBANCES; i++) {
		uint64_t begin_ns = all[i].start_ns > start_ns ? all[i].start_ns - start_ns : 0;

		print_labelled(to, LABEL_WIDTH, "disturbed", "%.1f s to %.1f s: %s", (double)begin_ns / 1e9,
			       (double)(all[i].end_ns - start_ns) / 1e9, all[i].text);
	}
}

/* Let raidctl report print its table. Without Python there is none; the recording is complete. */
static void print_table(FILE *to, const char *path)
{
	const char *const arguments[] = { "raidctl-report", "--table", "--", path, NULL };
	char program[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - sizeof("-report"));
	sigset_t none;
	pid_t pid;

	if (len < 0)
		return;
	memcpy(program + len, "-report", sizeof("-report"));
	fflush(to);
	pid = fork();
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(fileno(to), STDOUT_FILENO);
		execv(program, (char *const *)arguments);
		_exit(EXIT_FAILED);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void print_summary(FILE *to, const struct follow *follow)
{
	const struct child *child = &follow->child;
	char profile[DISK_NAME], end[128] = "stopped", status[32] = "";
	bool simulated = lab_profile(profile, sizeof(profile));

	fputc('\n', to);
	if (!follow->store_error) {
		print_table(to, follow->run->path);
		describe_end(follow, end, sizeof(end));
		if (child->pid)
			snprintf(status, sizeof(status), ", exit status %d", child_exit_status(child));
	}
	if (strcmp(end, "complete") || (status[0] && child_exit_status(child)))
		print_labelled(to, LABEL_WIDTH, "end", "%s%s", end, status);
	if (simulated)
		print_labelled(to, LABEL_WIDTH, "simulated", "profile %s: %s", profile,
			       strcmp(lab_time(), "real") ? "controller and all times are of the lab's model" :
			       "controller of the lab's model, in real time");
	print_disturbances(to, follow);
}

static bool summarise(const struct record_run *run, const struct follow *follow)
{
	/* With a command, standard output belongs to the command. */
	FILE *to = run->command ? stderr : stdout;

	if (!store_is_there(follow->store)) {
		fail("%s: removed or replaced while it was recorded: the recording is lost",
		     run->path);
		return false;
	}
	if (!run->quiet)
		print_summary(to, follow);
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
		     follow->run->command[0]);
	else if (child->pid && WIFSIGNALED(child->status))
		fail("%s: killed by signal %d (%s); the recording contains everything until then",
		     follow->run->command[0], WTERMSIG(child->status),
		     strsignal(WTERMSIG(child->status)));
	if (follow->run->cutter.missed)
		note("%u phases were too short to be separated; they are part of the following phase",
		     follow->run->cutter.missed);
	if (follow->store_error) /* the sums may lack the last part, too */
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

/* Store the stack of disks. */
static int put_stack(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->nr; i++)
		for (size_t j = 0; j < recorder->nr && !err; j++) {
			const struct recorded *lower = &recorder->disks[i];
			const struct recorded *upper = &recorder->disks[j];

			if (stack_lies_on(upper->target.disk, lower->target.disk))
				err = store_put_stacked(writer_rows(recorder->writer),
							lower->number, upper->number);
		}
	return err;
}

/* The store exists and is empty. */
static int begin(const struct record_run *run, struct follow *follow,
		 const struct disk *disks, size_t nr)
{
	struct recorder *recorder = follow->recorder;
	const char *phase = run->command ? PHASE_OUTSIDE : PHASE_RUN;
	int err = recorder_begin(recorder, follow->store,
				 run->phase && !run->command ? run->phase :
							       phase);

	if (!err)
		err = put_meta(writer_rows(recorder->writer), run, recorder->start_ns);
	if (!err)
		err = writer_commit(recorder->writer);
	if (!err)
		err = writer_flush(recorder->writer);
	if (!err)
		err = put_stack(recorder);
	if (!err)
		err = surroundings_begin(&recorder->surroundings,
					 recorder->writer, disks, nr,
					 run->path, recorder->start_ns);
	return err;
}

/* If the file is on a recorded disk, report how much the recording itself wrote, unless it is negligible. */
static void note_own_writes(const struct follow *follow)
{
	const struct recorder *recorder = follow->recorder;
	char written[UNITS_TEXT], all[UNITS_TEXT];
	struct stat st;

	if (stat(follow->run->path, &st))
		return;
	for (size_t i = 0; i < recorder->nr; i++) {
		const struct rt_counters *total = &recorder->disks[i].total;
		const char *disk = recorder->disks[i].target.disk;
		uint64_t own = 0, bytes = 0;

		for (size_t k = 0; k < total->nr_submitters; k++) {
			bytes += total->submitters[k].bytes_queued;
			if (total->submitters[k].pid == (uint32_t)getpid())
				own += total->submitters[k].bytes_queued;
		}
		if (!own || own < bytes / OWN_SHARE || !disk_holds(disk, st.st_dev))
			continue;
		note("%s: %s of %s were written by the recording itself, because %s is on this disk; to exclude it, name a file on another disk with -o",
		     disk, format_bytes(written, (double)own), format_bytes(all, (double)bytes), follow->run->path);
	}
}

/* The caller detaches the disks in all cases. */
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
	if (!follow->store_error)
		note_own_writes(follow);
	recorder_detach(recorder);
	if (follow->store_error) {
		writer_stop(recorder->writer);
		recorder->writer = NULL;
		store_stopped(store);
	}
	is_there = summarise(run, follow);
	status = exit_status(follow);
	return is_there ? status : EXIT_FAILED;
}

int record_refuse_written(const char *path)
{
	return fail("%s: not replaced, because another raidctl record is writing it; name another with -o, or end that recording: raidctl status lists it",
		    path);
}

static int create(const struct record_run *run, struct store **ret)
{
	int err = run->replace ? store_replace(run->path) : 0;

	if (err)
		return record_refuse_written(run->path);
	err = store_create(run->path, ret);
	if (!err)
		return 0;
	if (err == -EEXIST)
		return fail("%s: exists; name another with -o, or replace it with --force",
			    run->path);
	return fail("%s: cannot be created: %s; name another place with -o",
		    run->path, store_error(NULL));
}

/* Describe this recording in the claim, for every other raidctl. */
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
		status = describe(run, recorder);
		if (!status)
			status = record_to(run, follow, disks, nr, signals);
		surroundings_free(&recorder->surroundings);
		writer_stop(recorder->writer);
		recorder->writer = NULL;
		store_close(follow->store);
	}
	recorder_detach(recorder);
	return status;
}

/* Each sample allocates the same memory again. Memory that is returned must be cleared by the kernel. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
	/* A thread with its own arena interrupts all processors of our threads when it maps or unmaps memory. */
	mallopt(M_ARENA_MAX, 1);
}

int record_run(struct record_run *run, const struct disk *disks, size_t nr)
{
	struct recorder recorder = { .client = run->client, .owner = -1 };
	struct follow follow = {
		.run = run, .recorder = &recorder, .interval_ns = run->interval_ns,
	};
	int status;

	keep_memory();
	owner_socket(getpid(), follow.socket, sizeof(follow.socket));
	status = attach_and_record(run, &follow, disks, nr);
	recorder_free(&recorder);
	return status;
}
