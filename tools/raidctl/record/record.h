/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * raidctl record: run.c attaches, records and sums up; loop.c waits, samples and cuts until there is a reason to stop;
 * recorder*.c make samples of snapshots.
 */

#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "disk/disk.h"
#include "machine/machine.h"
#include "numbers/numbers.h"
#include "phase/phase.h"
#include "raidtrace.h"
#include "store/store.h"
#include "watch/watch.h"

/* machine.c: the machine's activity, its settings, and disturbances of the run */

struct surroundings {
	struct writer *writer;
	struct host host;
	struct watch *watch;		/* NULL without */
	struct settings settings;	/* of the machine */
	uint64_t looked_ns;
	bool begun;
};

/*
 * Describe the machine and take the first look. @s is zeroed; @disks have to stay. Functions return 0 or -errno, and 0
 * when @s has not begun. End with surroundings_free() in all cases.
 */
int surroundings_begin(struct surroundings *s, struct writer *writer,
		       const struct disk *disks, size_t nr, const char *path,
		       uint64_t now_ns);

/* Put what happened into the transaction; without @always at most once a second. */
int surroundings_look(struct surroundings *s, uint64_t now_ns, bool always);

/* The last look, and the verdict. */
int surroundings_end(struct surroundings *s, uint64_t now_ns);
void surroundings_free(struct surroundings *s);

/* recorder.c: samples of snapshots of targets */

/*
 * Disks that are idle need no snapshot at each sample: /proc/diskstats, read once for all disks, shows that no request
 * began or ended. Their sample goes on until one does, or for half a second.
 */

/* The numbers of a line of /proc/diskstats; newer kernels may have more. */
#define IDLE_LINE	256

/* The line of one disk at its last sample, "" when not known. */
struct idle_line {
	char text[IDLE_LINE];
};

/*
 * Did no request of a disk begin or end since its last sample, and is none in flight? @text is /proc/diskstats now,
 * NULL when it cannot be read. @last becomes the present line unless the disk is idle.
 */
bool idle_since(const char *text, unsigned int major, unsigned int minor,
		struct idle_line *last);

/* One disk of a recording. */
struct recorded {
	struct rt_target target;
	struct journals journals;	/* as they were sent to the module; only for targets that we attached */
	uint32_t number;		/* in the recording */
	bool ours;			/* attached by this process, which has to detach it */
	bool ended;			/* the disk is gone or the target was deleted */
	bool left_out;			/* of the sample that is being taken */
	struct idle_line idle;
	bool reset_now;			/* by another process, since the last sample */
	bool was_reset;			/* by another process, so sums cannot be checked */
	uint32_t before[RT_DIRECTIONS];	/* requests in flight where the recording begins */
	struct rt_counters last;	/* snapshot at the end of the last sample, or of the one being stored */
	struct rt_counters span;	/* sample that is being stored */
	struct rt_counters phase;	/* all samples of the present phase */
	struct rt_counters total;	/* all samples */
	bool in_phase;			/* the present phase has a sample of the disk */
	uint64_t begin_ns;		/* of its first sample */
	int64_t carried;		/* reads and writes that may be in flight at its begin, -1 when not known */
	bool events;			/* its requests are kept one by one */
	uint64_t known;			/* number of the last of them */
	uint64_t lost;			/* requests that the module dropped before they were read */
	uint64_t put_readahead;		/* stored sectors of readahead, UINT64_MAX for none yet */
	struct settings settings;
	struct recorder *recorder;
};

/* A running recording. */
struct recorder {
	struct rt_client *client;
	struct writer *writer;		/* NULL until recorder_begin() */
	size_t nr;
	struct recorded *disks;
	uint32_t streams;		/* to remember of each disk, 0 for the module's default */
	bool hwq;			/* count hardware queues of disks that are not attached yet */
	bool events;			/* keep requests one by one */
	int owner;			/* file with the targets that are ours */
	/*
	 * A disk may have been attached without our knowing. The owner's file then stays, and the next raidctl detaches
	 * the disk; at worst one that somebody attached by hand in the same instant.
	 */
	bool unsure;
	uint32_t phase;			/* number of the present phase */
	char phase_name[PHASE_NAME];
	size_t nr_spans;
	struct span *spans;		/* of phases that ended, in order of phase, then disk */
	uint64_t start_ns;		/* begin of the first sample */
	uint64_t now_ns;		/* end of the last sample */
	uint64_t queue_ns;		/* last reading of settings of the queue */
	bool gone;			/* at least one disk ended early */
	struct proc_file diskstats;
	bool mounts_changed;		/* read the mount table again */
	uint64_t limits_ns;		/* next reading of limits of cgroups */
	struct surroundings surroundings;
};

/*
 * Attach disks that are not attached yet. Of @recorder only client, streams, hwq, events and owner (-1) are set.
 * Return: 0 or an exit status; the failure is printed and nothing is attached.
 */
int recorder_attach(struct recorder *recorder, const struct disk *disks,
		    size_t nr);

/*
 * Describe the disks and begin the first phase. The first sample of a disk that was attached for this recording begins
 * at its attach, that of another now. Return: 0 or -errno; store_error() has words if they are not "".
 */
int recorder_begin(struct recorder *recorder, struct store *store,
		   const char *phase);

/* End a sample of each disk and have it stored. Return: 0 or -errno, also of an earlier sample. */
int recorder_sample(struct recorder *recorder);

/* Store a sample as recorder_sample() does, then begin another phase. */
int recorder_cut(struct recorder *recorder, const char *phase);

/* Keep output of the command for the next sample. */
int recorder_output(struct recorder *recorder, const char *stream,
		    const char *text, size_t len);

/* Do the sums of all samples agree? @text gets "hold", or what does not. */
void recorder_check(const struct recorder *recorder, char *text, size_t size);

/* End the phase and store how the recording ended; all is stored then. */
int recorder_end(struct recorder *recorder, const char *why);

/* Add the present phase to the spans. Return: 0 or -ENOMEM. */
int recorder_end_phase(struct recorder *recorder);

/* Detach what is ours; the last thing that is done. */
void recorder_detach(struct recorder *recorder);
void recorder_free(struct recorder *recorder);

/* Is no disk left to be sampled? */
bool recorder_all_ended(const struct recorder *recorder);

/* recorder-attach.c: look for journals again after a mount, and send them to the kernel. */
int recorder_find_journals(struct recorded *disk);

/* recorder-events.c: requests one by one, from now on, and those until the last sample. Return: 0 or -errno. */
int recorder_begin_events(struct recorded *disk);
int recorder_put_events(struct recorded *disk);

/* recorder-settings.c: settings at the begin, at a sample, with @queue also those of the queue, and at a cut */
int recorder_describe(struct recorded *disk);
int recorder_sample_settings(struct recorded *disk, bool queue);
int recorder_cut_settings(struct recorder *recorder);

/*
 * The setting io.max of each disk. Without @always it is read only so often that it takes at most 1/500 of a processor.
 */
int recorder_put_limits(struct recorder *recorder, bool always);

/* child.c: the command that a recording follows */

struct child {
	pid_t pid;		/* its process and group, 0 for none */
	int fd[NR_STREAMS];	/* ends of the pipes of its output, -1 once closed */
	bool exited;
	int status;		/* of waitpid(), when it has exited */
	bool foreground;	/* it has the terminal, which has to be taken back */
};

/* Can a path, or a name in PATH, be executed? Return: 0; -ENOENT; -EACCES. */
int child_find(const char *name);

/*
 * Run a command with pipes for its output and one more variable in its environment. Its standard input is ours. On a
 * terminal its group is the foreground one, so Ctrl-C reaches it directly.
 * Return: 0; -errno when it could not be executed, then nothing runs.
 */
int child_start(struct child *child, char *const *argv, const char *variable,
		const char *value);

/* Send a signal to the whole group of a command that has not ended. */
void child_signal(const struct child *child, int signal);

/*
 * Note what happened to the command. @ended is called with each process that has ended, the command or an orphan that
 * this process adopted, before it is waited for. A stopped command (Ctrl-Z) is continued: it cannot be suspended while
 * time is being counted. Return: has it ended?
 */
bool child_reap(struct child *child, void (*ended)(void *data, pid_t pid),
		void *data);

/* Read output. Return: bytes; 0 when there is none now or the stream has ended. */
size_t child_read(struct child *child, enum stream stream, char *buffer,
		  size_t size);

/* Close the pipes, take the terminal back. */
void child_release(struct child *child);

/* Exit status as a shell has it: its own, or 128 + signal. */
int child_exit_status(const struct child *child);

/* run.c: one recording from attaching to the summary */

/* Name of the phase of a command that names none, or of no command. */
#define PHASE_RUN "run"

/* The options of a recording. */
struct record_run {
	struct rt_client *client;	/* privileged */
	const struct rt_info *info;
	const char *path;		/* does not exist, or is to be replaced */
	bool replace;
	const char *phase;		/* name of the first phase, NULL for the usual one */
	struct words notes;
	uint32_t streams;		/* 0 for the module's default */
	bool hwq;
	bool events;
	uint64_t interval_ns;		/* length of the first samples */
	bool steady;			/* of all samples; else it doubles after FOLLOW_SAMPLES of one length */
	uint64_t duration_ns;		/* 0 for no limit; a command gets SIGINT */
	bool quiet;			/* no summary */
	char **command;			/* ends with NULL; NULL for none */
	struct phase_cutter cutter;	/* set up for @command */
	struct detached *detached;	/* gets a message at the begin; may be NULL */
};

/* Attach, record, detach, sum up. Return: exit status; failures are printed. */
int record_run(struct record_run *run, const struct disk *disks, size_t nr);

/* loop.c: the time of a recording */

/* Ten minutes of the shortest; a day then has less than 45,000. */
#define FOLLOW_SAMPLES	6000

/* Sums at the last line of progress. */
struct record_progress {
	uint64_t shown_ns;
	double bytes;		/* issued, of all disks */
	double issued;		/* requests */
	double sequential;
	double depth_ns;	/* in flight times time, summed over disks */
};

/* One recording while it runs; the caller sets the members up to @socket. */
struct follow {
	struct record_run *run;
	struct recorder *recorder;	/* begun */
	struct store *store;		/* for the words of a failure */
	uint64_t interval_ns;		/* present length of a sample */
	char socket[108];		/* path where marks are taken, "" for none */
	unsigned int nr_samples;	/* of the present length */
	struct record_progress progress;
	struct child child;
	int signal;			/* the first one that stops the recording, 0 for none yet */
	bool over;			/* it was none, but the duration */
	unsigned int nr_signals;
	int exec_error;			/* -errno when the command could not be executed */
	int store_error;		/* -errno when a sample could not be taken or stored */
};

/* From here on signals end a recording in order. Return: a descriptor of signals for follow_run(), or -errno. */
int follow_prepare(void);

/*
 * Sample until the command ends, a signal comes, the duration is over or no disk is left. The last sample is still to
 * be taken then: recorder_end().
 */
void follow_run(struct follow *follow, int signals);

/* background.c: a recording that goes on without a terminal, and its end */

struct detached {
	int ready;		/* pipe to the process that waits; -1 when none does */
	char log[PATH_MAX];	/* takes what raidctl and the command print */
};

/*
 * Go on in another process; its log is the path of the recording with ".log". The first process waits for
 * detached_begun(), prints how to end the recording and exits; if the other one fails before, it exits with its status.
 * Return: 0 in the new process; -errno in the first, which then goes on.
 */
int detached_fork(struct detached *detached, const char *path);

/* The recording runs: release the terminal. Return: 0 or -errno; then nothing has changed. */
int detached_begun(struct detached *detached);

/* End the recording with a number, NULL for the only detached one, and wait for its end. Return: exit status. */
int detached_stop(const char *id);

#endif
