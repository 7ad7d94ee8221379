// SPDX-License-Identifier: GPL-2.0-or-later

/* The time of a recording. */

#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/base.h"
#include "phase/phase.h"
#include "store/store.h"

enum source {
	SOURCE_STDOUT = STREAM_STDOUT,
	SOURCE_STDERR = STREAM_STDERR,
	SOURCE_SIGNAL,
	SOURCE_TICK,
	SOURCE_END,
	SOURCE_MOUNTS,
	SOURCE_MARKS,
	SOURCE_FAILED,
	NR_SOURCES
};

int follow_prepare(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0 };

	/* If the reader of our output ends, we must not end. */
	signal(SIGPIPE, SIG_IGN);
	return signals_open(numbers);
}

/*
 * A phase changes when its text is read, which should be before the command's next request. A real-time thread runs as
 * soon as it wakes up; on one processor, before the write(2) that woke it returns. If it is not permitted, changes of
 * phase are as late as the scheduler is. Children do not inherit it.
 */
static void raise_priority(void)
{
	struct sched_param param = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
}

static void restore_priority(void)
{
	struct sched_param param = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &param);
}

/* Create a timer that expires at @first_ns (absolute), then every @interval_ns. */
static int timer_at(uint64_t first_ns, uint64_t interval_ns)
{
	struct itimerspec spec = {
		.it_value = { (time_t)(first_ns / NS_PER_S),
			      (long)(first_ns % NS_PER_S) },
		.it_interval = { (time_t)(interval_ns / NS_PER_S),
				 (long)(interval_ns % NS_PER_S) },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
	return fd;
}

static void keep_first_error(struct follow *follow, int err)
{
	if (err && !follow->store_error)
		follow->store_error = err;
}

static void write_all(struct child *child, enum stream stream, const char *text,
		      size_t len)
{
	int fd = stream == STREAM_STDOUT ? STDOUT_FILENO : STDERR_FILENO;

	progress_clear();
	if (isatty(fd))
		progress_passed(text, len);
	while (len) {
		ssize_t done = write(fd, text, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			/* Let the command fail in the same way. */
			close(child->fd[stream]);
			child->fd[stream] = -1;
			return;
		}
		text += done;
		len -= (size_t)done;
	}
}

/* Read all output that the command has printed. Change the phase first, then pass the output on. */
static void take_output(struct follow *follow, enum stream stream)
{
	struct recorder *recorder = follow->recorder;
	char text[4096];
	size_t len;

	while ((len = child_read(&follow->child, stream, text, sizeof(text)))) {
		bool recording = !follow->store_error;
		bool cut = phase_feed(&follow->run->cutter, stream, text, len);
		const char *phase = follow->run->cutter.now;

		if (cut && recording)
			keep_first_error(follow, recorder_cut(recorder, phase ? phase :
						      PHASE_OUTSIDE));
		if (recording)
			keep_first_error(follow,
					 recorder_output(recorder, stream_name(stream),
							 text, len));
		write_all(&follow->child, stream, text, len);
	}
}

/*
 * The first signal is passed on once, and the recording continues until the command ends. A command that ignores the
 * signal gets a stronger one.
 */
static void take_stop(struct follow *follow, int number)
{
	static const int stronger[] = { 0, SIGTERM, SIGKILL };
	unsigned int again = follow->nr_signals++;

	if (!follow->signal)
		follow->signal = number;
	if (!follow->child.pid || follow->child.exited)
		return;
	if (!again) {
		child_signal(&follow->child, number);
		return;
	}
	if (again > 2)
		again = 2;
	note("stopping the command: %s", strsignal(stronger[again]));
	child_signal(&follow->child, stronger[again]);
}

static void note_ended(void *data, pid_t pid)
{
	struct follow *follow = data;

	if (follow->recorder->surroundings.begun)
		host_reaped(&follow->recorder->surroundings.host, pid);
}

static void take_signals(struct follow *follow, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			child_reap(&follow->child, note_ended, follow);
		else
			take_stop(follow, (int)info.ssi_signo);
	}
}

#define SHOW_NS	(NS_PER_S / 2)

static void add_up(const struct rt_counters *counters, struct record_progress *ret)
{
	ret->depth_ns += (double)counters->flow[RAIDTRACE_DIRECTION_ALL].depth_sum_ns;
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_OTHER; d++) {
		ret->bytes += (double)counters->flow[d].bytes_issued;
		ret->issued += (double)(counters->flow[d].issued - counters->flow[d].reissued);
		ret->sequential += (double)counters->flow[d].sequential;
	}
}

static void sum_up(const struct recorder *recorder,
		   struct record_progress *ret)
{
	*ret = (struct record_progress){ .shown_ns = recorder->now_ns };
	for (size_t i = 0; i < recorder->nr; i++) {
		add_up(&recorder->disks[i].total, ret);
		add_up(&recorder->disks[i].phase, ret);
	}
}

static void show_progress(struct record_progress *progress,
			  const struct recorder *recorder, const char *phase,
			  uint64_t left_ns)
{
	char clock[UNITS_TEXT], size[UNITS_TEXT], share[UNITS_TEXT];
	char text[UNITS_TEXT], left[UNITS_TEXT + 8] = "";
	struct record_progress now, last = *progress;
	double ns, issued;

	if (!progress_is_shown() ||
	    recorder->now_ns - last.shown_ns < SHOW_NS)
		return;
	sum_up(recorder, &now);
	*progress = now;
	if (!last.shown_ns)
		last.shown_ns = recorder->start_ns;
	ns = (double)(now.shown_ns - last.shown_ns);
	issued = now.issued - last.issued;
	format_clock(clock, recorder->now_ns - recorder->start_ns);
	if (left_ns)
		snprintf(left, sizeof(left), ", %s left",
			 format_clock(text, left_ns));
	if (issued > 0)
		progress_show("[%s%s%s%s  %.1f MB/s, %.1f in flight, %s, %s sequential]",
			      clock, left, phase ? " " : "", phase ? phase : "",
			      (now.bytes - last.bytes) / ns * 1e3,
			      (now.depth_ns - last.depth_ns) / ns,
			      format_bytes(size, (now.bytes - last.bytes) / issued),
			      format_share(share,
					   now.sequential - last.sequential,
					   issued));
	else
		progress_show("[%s%s%s%s  no requests, %.1f in flight]", clock,
			      left, phase ? " " : "", phase ? phase : "",
			      (now.depth_ns - last.depth_ns) / ns);
}

/* Rest of --duration, or the estimate of the command. */
static uint64_t time_left(const struct follow *follow)
{
	const struct recorder *recorder = follow->recorder;
	uint64_t elapsed = recorder->now_ns - recorder->start_ns;

	if (follow->run->duration_ns > elapsed)
		return follow->run->duration_ns - elapsed;
	return follow->run->cutter.left_s * NS_PER_S;
}

/* Make the samples of a long recording longer. */
static void lengthen_interval(struct follow *follow, int fd)
{
	struct recorder *recorder = follow->recorder;
	struct itimerspec spec;
	char text[32];

	if (follow->run->steady || ++follow->nr_samples < FOLLOW_SAMPLES)
		return;
	follow->nr_samples = 0;
	follow->interval_ns *= 2;
	spec.it_interval = (struct timespec){
		(time_t)(follow->interval_ns / NS_PER_S),
		(long)(follow->interval_ns % NS_PER_S),
	};
	spec.it_value = spec.it_interval;
	timerfd_settime(fd, 0, &spec, NULL);
	snprintf(text, sizeof(text), "%" PRIu64, follow->interval_ns);
	keep_first_error(follow, store_put_setting(writer_rows(recorder->writer), recorder->now_ns,
						   0, "interval_ns", text));
}

static void take_tick(struct follow *follow, int fd)
{
	uint64_t expired;

	if (read(fd, &expired, sizeof(expired)) != sizeof(expired))
		return;
	/* There is no second SIGCHLD for the same end. */
	if (follow->child.unsure)
		child_reap(&follow->child, note_ended, follow);
	if (follow->store_error)
		return;
	keep_first_error(follow, recorder_sample(follow->recorder));
	show_progress(&follow->progress, follow->recorder,
		      follow->run->cutter.now, time_left(follow));
	lengthen_interval(follow, fd);
}

/* Return: the answer to a message. */
static const char *answer_mark(struct follow *follow, const char *text)
{
	const char *phase = PHASE_OUTSIDE;

	if (!strncmp(text, "phase ", 6) && mark_name_valid(text + 6))
		phase = text + 6;
	else if (strcmp(text, "end"))
		return "unknown message; raidctl may be of another version";
	if (follow->store_error)
		return "the recording has failed and ended";
	keep_first_error(follow, recorder_cut(follow->recorder, phase));
	return follow->store_error ? "the recording has failed" : "ok";
}

static void take_marks(struct follow *follow, int fd)
{
	struct mark mark;

	while (marks_take(fd, &mark))
		marks_answer(fd, &mark, answer_mark(follow, mark.text));
}

static bool finished(const struct follow *follow)
{
	if (follow->child.pid)
		return follow->child.exited;
	return follow->signal || follow->store_error ||
	       recorder_all_ended(follow->recorder);
}

/* Report a failing store at once, and let the command continue. */
static void report_store_error(struct follow *follow)
{
	static bool reported;
	const char *command = "";

	if (!follow->store_error || reported)
		return;
	reported = true;
	if (follow->child.pid)
		command = follow->child.exited ? "" : "; the command continues";
	else if (follow->run->command)
		command = "; the command was not started";
	fail("recording stopped: %s; everything stored before can be read%s",
	     store_error(follow->store)[0] ? store_error(follow->store) :
					     strerror(-follow->store_error),
	     command);
	recorder_detach(follow->recorder);
}

static void take_events(struct follow *follow, const struct pollfd *polls,
			int signals)
{
	/* Output before exit, because the last output of a command ends a phase. */
	if (polls[SOURCE_STDERR].revents)
		take_output(follow, STREAM_STDERR);
	if (polls[SOURCE_STDOUT].revents)
		take_output(follow, STREAM_STDOUT);
	if (polls[SOURCE_SIGNAL].revents)
		take_signals(follow, signals);
	if (polls[SOURCE_MARKS].revents)
		take_marks(follow, polls[SOURCE_MARKS].fd);
	if (polls[SOURCE_MOUNTS].revents) {
		follow->recorder->mounts_changed = true;
		follow->recorder->cgroups = 0;
	}
	if (polls[SOURCE_TICK].revents)
		take_tick(follow, polls[SOURCE_TICK].fd);
	if (polls[SOURCE_END].revents) {
		uint64_t expired;

		if (read(polls[SOURCE_END].fd, &expired, sizeof(expired)) > 0 &&
		    !follow->child.exited) {
			follow->over = !follow->signal;
			take_stop(follow, SIGINT);
		}
	}
	if (polls[SOURCE_FAILED].revents && !follow->store_error)
		keep_first_error(follow, writer_flush(follow->recorder->writer));
	report_store_error(follow);
}

static void loop(struct follow *follow, struct pollfd *polls, int signals)
{
	while (!finished(follow)) {
		polls[SOURCE_STDOUT].fd = follow->child.fd[STREAM_STDOUT];
		polls[SOURCE_STDERR].fd = follow->child.fd[STREAM_STDERR];
		if (follow->store_error)
			polls[SOURCE_FAILED].fd = -1;
		if (poll(polls, NR_SOURCES, -1) < 0) {
			/* The events are not known; the command continues. */
			if (errno != EINTR)
				keep_first_error(follow, -errno);
			report_store_error(follow);
			continue;
		}
		take_events(follow, polls, signals);
	}
	if (follow->child.pid) {
		take_output(follow, STREAM_STDERR);
		take_output(follow, STREAM_STDOUT);
	}
	report_store_error(follow);
}

/* The command's phase begins when the command does. */
static void start_command(struct follow *follow)
{
	const char *phase = phase_named(&follow->run->cutter) ?
			    PHASE_OUTSIDE : PHASE_RUN;

	if (follow->run->phase)
		phase = follow->run->phase;
	if (strcmp(phase, PHASE_OUTSIDE))
		keep_first_error(follow, recorder_cut(follow->recorder, phase));
	if (!follow->store_error)
		follow->exec_error = child_start(&follow->child,
						 follow->run->command,
						 MARK_VARIABLE, follow->socket);
}

static void open_sources(struct follow *follow, struct pollfd *polls,
			 int signals)
{
	uint64_t begin = follow->recorder->now_ns;

	for (int i = 0; i < NR_SOURCES; i++)
		polls[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	polls[SOURCE_SIGNAL].fd = signals;
	polls[SOURCE_TICK].fd = timer_at(begin + follow->interval_ns,
					 follow->interval_ns);
	if (follow->run->duration_ns)
		polls[SOURCE_END].fd = timer_at(begin + follow->run->duration_ns, 0);
	/* The kernel signals a change of the mount table as urgent data. */
	polls[SOURCE_MOUNTS].fd = open("/proc/self/mountinfo",
				       O_RDONLY | O_CLOEXEC);
	polls[SOURCE_MOUNTS].events = POLLPRI;
	if (follow->socket[0])
		polls[SOURCE_MARKS].fd = marks_open(follow->socket);
	polls[SOURCE_FAILED].fd = writer_failed_fd(follow->recorder->writer);
}

void follow_run(struct follow *follow, int signals)
{
	struct pollfd polls[NR_SOURCES];

	follow->child.fd[STREAM_STDOUT] = -1;
	follow->child.fd[STREAM_STDERR] = -1;
	open_sources(follow, polls, signals);
	if (follow->socket[0] && polls[SOURCE_MARKS].fd < 0)
		note("phases cannot be marked: %s: %s", follow->socket,
		     strerror(-polls[SOURCE_MARKS].fd));
	raise_priority();
	if (follow->run->command)
		start_command(follow);
	if (!follow->exec_error)
		loop(follow, polls, signals);
	restore_priority();
	progress_clear();
	for (int i = SOURCE_TICK; i <= SOURCE_MARKS; i++)
		if (polls[i].fd >= 0)
			close(polls[i].fd);
	child_release(&follow->child);
}
