// SPDX-License-Identifier: GPL-2.0-or-later

/* Looks at /proc: whether the threads of the command run, are in the kernel, or wait for something. */

#include "machine/machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

/* Looks take at most this part (1/SPARE) of a processor. With the default length, each second sample has one. */
#define SPARE		200
#define EVERY_NS	(NS_PER_S * 15 / 100)
/* Threads of a look. The rest is not read. */
#define THREADS_MAX	256

static const char *const names[NR_LOOKS] = {
	[LOOK_RUNNING] = "running", [LOOK_KERNEL] = "kernel", [LOOK_STOPPED] = "stopped", [LOOK_LOCK] = "lock",
	[LOOK_SOCKET] = "socket", [LOOK_SLEEP] = "sleep", [LOOK_REQUESTS] = "requests", [LOOK_POLL] = "poll",
	[LOOK_PIPE] = "pipe", [LOOK_OTHER] = "other", [LOOK_CHILD] = "child",
};

const char *look_name(enum command_look look)
{
	return names[look];
}

/* A call that waits for a file waits for what the file is. */
static enum command_look look_of_file(const char *link)
{
	return !strncmp(link, "pipe:", 5) ? LOOK_PIPE : !strncmp(link, "socket:", 7) ? LOOK_SOCKET :
	       strstr(link, "inotify") || strstr(link, "eventfd") || strstr(link, "timerfd") ? LOOK_POLL : LOOK_OTHER;
}

enum command_look look_of_call(long call, const char *link)
{
	switch (call) {
	case SYS_futex:
	case SYS_flock:
	case SYS_fcntl:
		return LOOK_LOCK;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return LOOK_SLEEP;
	case SYS_wait4:
	case SYS_waitid:
		return LOOK_CHILD;
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
#ifdef SYS_poll	/* older architectures have these, too */
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
#endif
		return LOOK_POLL;
	case SYS_io_getevents:
	case SYS_io_uring_enter:
		return LOOK_REQUESTS;
	case SYS_accept4:
	case SYS_connect:
		return LOOK_SOCKET;
	default:
		return look_of_file(link);
	}
}

/* The reason why a thread sleeps. It may have ended, or run on, meanwhile. */
static enum command_look waits_for(int pid, int thread, const char *wchan)
{
	char path[96], text[256] = "", link[64] = "";
	unsigned int file;
	long call;
	int nr = proc_thread_read(pid, thread, "syscall", text, sizeof(text)) ?
		 sscanf(text, "%ld 0x%x", &call, &file) : 0;
	ssize_t len;

	if (strstr(wchan, "freezer"))
		return LOOK_STOPPED;
	if (strstr(wchan, "pipe") || strstr(wchan, "fifo"))
		return LOOK_PIPE;
	if (nr < 1)
		return !strncmp(text, "running", 7) ? LOOK_RUNNING : LOOK_OTHER;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, nr > 1 ? file : 0);
	len = readlink(path, link, sizeof(link) - 1);
	link[len > 0 ? len : 0] = '\0';
	return look_of_call(call, link);
}

/* The states of all threads of a look. */
struct glimpse {
	unsigned int nr;
	bool has[NR_LOOKS];
	char wchan[LOOK_WCHAN];	/* of a thread in the kernel */
};

static void look_at_thread(int pid, int thread, struct glimpse *to)
{
	char text[512], wchan[LOOK_WCHAN] = "", *end;
	enum command_look look = LOOK_RUNNING;

	if (to->nr >= THREADS_MAX || !proc_thread_read(pid, thread, "stat", text, sizeof(text)))
		return;
	end = strrchr(text, ')');
	if (!end || strspn(end + 1, " ") != 1 || strchr("ZX", end[2]))
		return;
	to->nr++;
	if (end[2] != 'R' && (!proc_thread_read(pid, thread, "wchan", wchan, sizeof(wchan)) || wchan[0] == '0'))
		wchan[0] = '\0';
	if (end[2] == 'T' || end[2] == 't' || (end[2] == 'D' && strstr(wchan, "refrigerator")))
		look = LOOK_STOPPED;
	else if (end[2] == 'D')
		look = LOOK_KERNEL;
	else if (end[2] != 'R')
		look = waits_for(pid, thread, wchan);
	if (look == LOOK_KERNEL && !to->wchan[0])
		memcpy(to->wchan, wchan, sizeof(wchan));
	to->has[look] = true;
}

static void look_at_process(void *data, const struct process *process)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			look_at_thread(process->pid, atoi(entry->d_name), data);
	if (dir)
		closedir(dir);
}

static void add_kernel(struct looks *looks, const char *wchan)
{
	size_t at = 0;

	while (at < looks->nr_wchans && strcmp(looks->wchans[at].name, wchan))
		at++;
	if (at == LOOK_WCHANS)
		return;
	if (at == looks->nr_wchans)
		memcpy(looks->wchans[looks->nr_wchans++].name, wchan, LOOK_WCHAN);
	looks->wchans[at].nr++;
}

/*
 * One thread that runs, or is in the kernel, stands for all. A pipe leads to another process, a parent waits for a
 * child: the reason is what the others wait for.
 */
static void add(struct looks *looks, struct glimpse *glimpse)
{
	bool *has = glimpse->has;
	unsigned int nr = 0;

	for (int i = 0; i < LOOK_PIPE; i++)
		nr += has[i];
	looks->all++;
	for (int i = 0; i < NR_LOOKS; i++) {
		if (!has[i] || (i > LOOK_RUNNING && has[LOOK_RUNNING]) || (i > LOOK_KERNEL && has[LOOK_KERNEL]) ||
		    (i >= LOOK_PIPE && nr))
			continue;
		looks->nr[i]++;
		if (i == LOOK_KERNEL)
			add_kernel(looks, glimpse->wchan);
		nr += i >= LOOK_PIPE;
	}
}

void looks_take(struct looks *looks, int root)
{
	struct glimpse glimpse = { 0 };
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	if (begin_ns < looks->next_ns)
		return;
	tree_each(root, look_at_process, &glimpse);
	if (glimpse.nr)
		add(looks, &glimpse);
	looks->next_ns = begin_ns + SPARE * (clock_ns(CLOCK_MONOTONIC) - begin_ns);
	if (looks->next_ns < begin_ns + EVERY_NS)
		looks->next_ns = begin_ns + EVERY_NS;
}
