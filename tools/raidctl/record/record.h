/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * raidctl record: run.c attaches, records and prints the summary; loop.c waits, samples and changes phases until the
 * end; recorder*.c make samples of snapshots.
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
#include "phase/phase.h"
#include "raidtrace.h"
#include "record/witness.h"
#include "store/store.h"
#include "watch/watch.h"

/* machine.c: the machine, its activity and settings, the source of counters, and disturbances of the run */

/* Put the facts about the source of counters, and about this machine. Return: 0 or -errno. */
int record_put_source(struct rows *rows, const struct rt_client *client, const struct rt_info *info);
int record_put_machine(struct rows *rows);

struct surroundings {
	struct writer *writer;
	struct host host;
	struct watch *watch;		/* NULL: no watch */
	struct settings settings;	/* of the machine */
	uint64_t looked_ns;
	bool begun;
};

/*
 * Describe the machine and make the first reading. @s is zeroed; @disks must stay valid. The functions return 0 or
 * -errno, and 0 if @s has not begun. End with surroundings_free() in all cases.
 */
int surroundings_begin(struct surroundings *s, struct writer *writer,
		       const struct disk *disks, size_t nr, const char *path,
		       uint64_t now_ns);

/* Add the changes since the last reading to the transaction, without @always at most once a second. */
int surroundings_look(struct surroundings *s, uint64_t now_ns, bool always);

/* Make the last reading, and store the verdict. */
int surroundings_end(struct surroundings *s, uint64_t now_ns);
void surroundings_free(struct surroundings *s);

/* recorder.c: samples of snapshots of targets */

/*
 * Idle disks need no snapshot at each sample. /proc/diskstats, read once for all disks, shows that no request began or
 * ended. Their sample continues until one does, or for half a second. The file is not read while all disks are busy.
 */

/* The numbers of a line of /proc/diskstats; newer kernels may have more. */
#define IDLE_LINE	256

/* The line of one disk at its last sample. All zero: not known. */
struct idle_line {
	char text[IDLE_LINE];	/* "" if not known */
	size_t offset;		/* of the line in the file; seldom changes */
	bool in_flight;		/* it shows requests in flight */
};

/*
 * Did no request of a disk begin or end since its last sample, and is none in flight? @text: /proc/diskstats now, NULL
 * if it cannot be read. @last becomes the present line.
 */
bool idle_since(const char *text, unsigned int major, unsigned int minor,
		struct idle_line *last);

/* One disk of a recording. */
struct recorded {
	struct rt_target target;
	struct journals journals;	/* as sent to the module; only for targets attached by us */
	uint32_t number;		/* in the recording */
	bool ours;			/* attached by this process, which must detach it */
	bool ended;			/* the disk is gone or the target was deleted */
	bool left_out;			/* left out of the present sample */
	struct idle_line idle;
	bool busy;			/* its last sample has events */
	bool reset_now;			/* reset by another process since the last sample */
	bool was_reset;			/* reset by another process, so sums cannot be checked */
	uint32_t before[RT_DIRECTIONS];	/* requests in flight at the start of the recording */
	struct rt_counters last;	/* snapshot at the end of the last sample, or of the one that is being stored */
	struct rt_counters span;	/* sample that is being stored */
	struct rt_counters phase;	/* all samples of the present phase */
	struct rt_counters total;	/* all phases that ended */
	uint64_t begin_ns;		/* of its first sample */
	int64_t carried;		/* reads and writes that may be in flight at its start, -1 if not known */
	bool events;			/* its requests are recorded one by one */
	uint64_t known;			/* number of the last one */
	uint64_t lost;			/* requests that the module dropped before they were read */
	uint64_t put_readahead;		/* stored readahead in sectors, UINT64_MAX: none yet */
	struct settings settings;
	struct witness witness;		/* the kernel's own count, if BPF programs count */
	struct recorder *recorder;
};

/* A running recording. */
struct recorder {
	struct rt_client *client;
	struct writer *writer;		/* NULL until recorder_begin() */
	size_t nr;
	struct recorded *disks;
	uint32_t streams;		/* streams to remember for each disk, 0 for the module's default */
	bool hwq;			/* count hardware queues of disks that are not attached yet */
	bool events;			/* record requests one by one */
	int owner;			/* file with our targets */
	/*
	 * A disk may have been attached without our knowledge. The owner's file then stays, and the next raidctl
	 * detaches the disk; in the worst case, one that somebody attached by hand at the same time.
	 */
	bool unsure;
	uint32_t phase;			/* number of the present phase */
	uint64_t start_ns;		/* start of the first sample */
	uint64_t now_ns;		/* end of the last sample */
	uint64_t queue_ns;		/* last reading of settings of the queue */
	bool gone;			/* at least one disk is gone */
	struct proc_file diskstats;
	bool mounts_changed;		/* read the mount table again */
	int cgroups;			/* version of their hierarchy; 0: none, or search again after a mount */
	uint64_t limits_ns;		/* next reading of limits of cgroups */
	struct surroundings surroundings;
};

/*
 * Attach the disks that are not attached yet. Only client, streams, hwq, events and owner (-1) of @recorder are set.
 * Return: 0 or an exit status; the failure is printed and nothing is attached.
 */
int recorder_attach(struct recorder *recorder, const struct disk *disks,
		    size_t nr);

/*
 * Attach the disks of a command line. Without a word, these are all 3ware units (in a guest of the lab, all simulated
 * disks). @verb: for messages. As recorder_attach().
 */
int recorder_attach_words(struct recorder *recorder, const struct words *words, const char *verb);

/*
 * Describe the disks and begin the first phase. The first sample of a disk that was attached for this recording begins
 * at its attach, that of another disk now. Return: 0 or -errno; store_error() has a text unless it is "".
 */
int recorder_begin(struct recorder *recorder, struct store *store,
		   const char *phase);

/* End a sample of each disk and store it. Return: 0 or -errno, also for an earlier sample. */
int recorder_sample(struct recorder *recorder);

/* Like recorder_sample(), then begin another phase. */
int recorder_cut(struct recorder *recorder, const char *phase);

/* Keep output of the command for the next sample. */
int recorder_output(struct recorder *recorder, const char *stream,
		    const char *text, size_t len);

/* Do the sums of all phases that ended agree? @text gets "hold", or the invariant that does not hold. */
void recorder_check(const struct recorder *recorder, char *text, size_t size);

/* End the phase and store the reason of the end. Afterwards everything is stored. */
int recorder_end(struct recorder *recorder, const char *why);

/*
 * Put the events that the source lost since attach: they are missing in the counters. @noted: print them, too. Return:
 * 0 or -errno.
 */
int recorder_put_losses(struct rt_client *client, struct rows *rows, const struct recorded *disks, size_t nr,
			bool noted);

/* Detach our targets. This is the last step. */
void recorder_detach(struct recorder *recorder);
void recorder_free(struct recorder *recorder);

/* Are all disks gone? */
bool recorder_all_ended(const struct recorder *recorder);

/* recorder-attach.c: search for journals again after a mount, and send them to the kernel. */
int recorder_find_journals(struct recorded *disk);

/* recorder-events.c: record requests one by one from now on; store those until the last sample. Return: 0 or -errno. */
int recorder_begin_events(struct recorded *disk);
int recorder_put_events(struct recorded *disk);

/*
 * recorder-settings.c: settings at the start, at a sample (with @queue also those of the queue), and at a change of
 * phase
 */
int recorder_describe(struct recorded *disk);

/* Read all settings of a disk; @changed is called for each. Return: 0 or -errno. */
int recorder_read_settings(struct recorded *disk, int (*changed)(void *data, const char *name, const char *value));

/* Set the readahead, if it differs from that of the last snapshot. Return: 0 or -errno. */
int recorder_put_readahead(struct recorded *disk);
int recorder_sample_settings(struct recorded *disk, bool queue);
int recorder_cut_settings(struct recorder *recorder);

/*
 * Store the setting io.max of each disk. Without @always, it is read so seldom that it takes at most 1/500 of a
 * processor.
 */
int recorder_put_limits(struct recorder *recorder, bool always);

/*
 * live.c: live rows for show, top and exporter: each sample of all disks becomes a recording in memory with one
 * phase, without the samples before it. A setting has the time 0, because the time of its last change is not known.
 */
struct live {
	struct recorder recorder;	/* client, NULL while there is no module; disks attached by this process */
	struct rt_info info;		/* of the source */
	bool waits;			/* the module may be loaded, unloaded and replaced meanwhile */
	char picked[RT_NAME_MAX];	/* the disk that the user named first, "" for none */
	size_t nr_chosen;
	struct rt_target *chosen;	/* only these targets; none: all */
	size_t nr;
	struct recorded *disks;		/* the targets of the last sample */
	struct store *store;		/* the last sample */
};

/*
 * Take a sample. @total: since attach or the last reset. Otherwise since the sample before: a disk without that one, or
 * that was reset, has no row, and of its settings only the readahead is read, because intervals may be short. Return: 0
 * or -errno, then @why has the reason; the next call may succeed.
 */
int live_sample(struct live *live, bool total, char *why, size_t size);

/* Detach the disks that were attached for the rows. The client remains open. */
void live_end(struct live *live);

/* child.c: the recorded command */

struct child {
	pid_t pid;		/* its process and process group, 0 for none */
	int fd[NR_STREAMS];	/* our ends of the pipes of its output, -1 after close */
	bool exited;
	bool unsure;		/* a wait failed: a process may have ended that was not waited for */
	int status;		/* of waitpid(), after it has exited */
	bool foreground;	/* it has the terminal, which we must take back */
};

/* Can a path, or a name in PATH, be executed? Return: 0; -ENOENT; -EACCES. */
int child_find(const char *name);

/*
 * Run a command with pipes for its output and one more environment variable. It inherits standard input. On a terminal,
 * its process group becomes the foreground one, so Ctrl-C reaches it directly. Return: 0; -errno if it could not be
 * executed; then nothing runs.
 */
int child_start(struct child *child, char *const *argv, const char *variable,
		const char *value);

/* Send a signal to the process group of a command that has not ended. */
void child_signal(const struct child *child, int signal);

/*
 * Check the state of the command. @ended is called with each process that has ended (the command, or an orphan that
 * this process adopted) before it is waited for. A stopped command (Ctrl-Z) is continued: it must not be suspended
 * while time is counted. Return: has it ended?
 */
bool child_reap(struct child *child, void (*ended)(void *data, pid_t pid),
		void *data);

/* Read output. Return: bytes; 0 if there is none now or the stream has ended. */
size_t child_read(struct child *child, enum stream stream, char *buffer,
		  size_t size);

/* Close the pipes and take the terminal back. */
void child_release(struct child *child);

/* The exit status as in a shell: the command's own, or 128 + signal. */
int child_exit_status(const struct child *child);

/* run.c: one recording, from attaching to the summary */

/* Name of the only phase of a command without named phases, or without a command. */
#define PHASE_RUN "run"

/* The options of a recording. */
struct record_run {
	struct rt_client *client;	/* privileged */
	const struct rt_info *info;
	const char *path;		/* a file that does not exist, or that is replaced */
	bool replace;
	const char *phase;		/* name of the first phase, NULL for the default */
	struct words notes;
	uint32_t streams;		/* 0 for the module's default */
	bool hwq;
	bool events;
	uint64_t interval_ns;		/* length of the first samples */
	bool steady;			/* for all samples; if false, it doubles after FOLLOW_SAMPLES samples */
	uint64_t duration_ns;		/* 0 for no limit; at its end the command gets SIGINT */
	bool quiet;			/* no summary */
	char **command;			/* ends with NULL; NULL for none */
	struct phase_cutter cutter;	/* set up for @command */
	struct detached *detached;	/* gets a message at the start; may be NULL */
};

/* Attach, record, detach and print the summary. Return: exit status; failures are printed. */
int record_run(struct record_run *run, const struct disk *disks, size_t nr);

/* Print that @path is not replaced, because another process writes it. Return: exit status. */
int record_refuse_written(const char *path);

/* loop.c: the time of a recording */

/* Ten minutes of the shortest samples. A day then has less than 45,000 samples. */
#define FOLLOW_SAMPLES	6000

/* Sums at the time of the last line of progress. */
struct record_progress {
	uint64_t shown_ns;
	double bytes;		/* issued, of all disks */
	double issued;		/* requests */
	double sequential;
	double depth_ns;	/* requests in flight times time, summed over disks */
};

/* The state of a running recording. The caller sets the members up to @socket. */
struct follow {
	struct record_run *run;
	struct recorder *recorder;	/* begun */
	struct store *store;		/* for the text of a failure */
	uint64_t interval_ns;		/* present length of a sample */
	char socket[108];		/* path of the socket for marks, "" for none */
	unsigned int nr_samples;	/* of the present length */
	struct record_progress progress;
	struct child child;
	int signal;			/* the first signal that ends the recording, 0: none yet */
	bool over;			/* the duration ended the recording, not a signal */
	unsigned int nr_signals;
	int exec_error;			/* -errno if the command could not be executed */
	int store_error;		/* -errno if a sample could not be taken or stored */
};

/* From now on, signals end a recording in order. Return: a descriptor of signals for follow_run(), or -errno. */
int follow_prepare(void);

/*
 * Sample until the command ends, a signal arrives, the duration is over or all disks are gone. The last sample is taken
 * afterwards, by recorder_end().
 */
void follow_run(struct follow *follow, int signals);

/* background.c: a recording that continues without a terminal, and its end */

struct detached {
	int ready;		/* pipe to the waiting process; -1: none waits */
	char log[PATH_MAX];	/* file for the output of raidctl and of the command */
};

/*
 * Continue in a new process, whose log is the path of the recording with ".log". The first process waits for
 * detached_begun(), prints how to end the recording and exits. If the new one fails before, the first exits with its
 * status. Return: 0 in the new process; -errno in the first one, which then continues.
 */
int detached_fork(struct detached *detached, const char *path);

/* Report that the recording runs, and release the terminal. Return: 0 or -errno; then nothing has changed. */
int detached_begun(struct detached *detached);

/* End the recording with an id, or the only detached one for NULL, and wait for its end. Return: exit status. */
int detached_stop(const char *id);

#endif
