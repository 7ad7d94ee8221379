// SPDX-License-Identifier: GPL-2.0-or-later

/* The recorded command. */

#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int child_find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char full[PATH_MAX];
	int err = -ENOENT;

	if (strchr(name, '/'))
		return executable(name);
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		snprintf(full, sizeof(full), "%.*s/%s", (int)(end - path),
			 end == path ? "." : path, name);
		if (end == path)
			snprintf(full, sizeof(full), "./%s", name);
		switch (executable(full)) {
		case 0:
			return 0;
		case -EACCES:
			err = -EACCES;
		}
	}
	return err;
}

/* Execute the command in the new process. Does not return; errno is written to @report. */
static void exec_command(char *const *argv, const int pipes[NR_STREAMS][2],
			 int report)
{
	sigset_t none;
	int err;

	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(pipes[STREAM_STDOUT][1], STDOUT_FILENO);
	dup2(pipes[STREAM_STDERR][1], STDERR_FILENO);
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static void give_terminal(struct child *child)
{
	if (tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	/* Otherwise this call would stop a process group in the background. */
	signal(SIGTTOU, SIG_IGN);
	child->foreground = !tcsetpgrp(STDIN_FILENO, child->pid);
}

static void close_pair(int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

/* Wait for exec. Return: 0 after it, or its -errno. */
static int await_exec(struct child *child, int report)
{
	int err = 0;

	if (read(report, &err, sizeof(err)) != sizeof(err))
		return 0;
	waitpid(child->pid, NULL, 0);
	child->pid = 0;
	return -err;
}

int child_start(struct child *child, char *const *argv, const char *variable,
		const char *value)
{
	int pipes[NR_STREAMS][2], report[2], err;

	memset(child, 0, sizeof(*child));
	child->fd[STREAM_STDOUT] = -1;
	child->fd[STREAM_STDERR] = -1;
	if (pipe2(report, O_CLOEXEC))
		return -errno;
	for (int i = 0; i < NR_STREAMS; i++) {
		if (pipe2(pipes[i], O_CLOEXEC)) {
			err = -errno;
			if (i)
				close_pair(pipes[0]);
			close_pair(report);
			return err;
		}
	}
	child->pid = fork();
	if (!child->pid && variable)
		setenv(variable, value, 1);
	if (!child->pid)
		exec_command(argv, (const int (*)[2])pipes, report[1]);
	err = child->pid < 0 ? -errno : 0;
	close(report[1]);
	for (int i = 0; i < NR_STREAMS; i++) {
		close(pipes[i][1]);
		child->fd[i] = pipes[i][0];
		fcntl(child->fd[i], F_SETFL, O_NONBLOCK);
	}
	if (!err) {
		/* Both processes do this, because either may be first. */
		setpgid(child->pid, child->pid);
		give_terminal(child);
		err = await_exec(child, report[0]);
	} else {
		child->pid = 0;
	}
	close(report[0]);
	if (err)
		child_release(child);
	return err;
}

void child_signal(const struct child *child, int signal)
{
	if (child->pid && !child->exited)
		kill(-child->pid, signal);
}

/* waitid() that is not interrupted by a signal. Return: is there one? */
static bool is_one(struct child *child, idtype_t type, pid_t id, siginfo_t *ret, int how)
{
	int err;

	do {
		*ret = (siginfo_t){ 0 };
		err = waitid(type, (id_t)id, ret, how | WNOHANG);
	} while (err && errno == EINTR);
	if (err && errno != ECHILD)
		child->unsure = true;
	return !err && ret->si_pid;
}

bool child_reap(struct child *child, void (*ended)(void *data, pid_t pid),
		void *data)
{
	siginfo_t info;
	int status;

	child->unsure = false;
	while (is_one(child, P_ALL, 0, &info, WEXITED | WNOWAIT)) {
		pid_t pid = info.si_pid;

		if (ended)
			ended(data, pid);
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR) {
				child->unsure = true;
				return child->exited;
			}
		if (pid == child->pid) {
			child->exited = true;
			child->status = status;
		}
	}
	while (child->pid && !child->exited &&
	       is_one(child, P_PID, child->pid, &info, WSTOPPED))
		kill(-child->pid, SIGCONT);
	return child->exited;
}

size_t child_read(struct child *child, enum stream stream, char *buffer,
		  size_t size)
{
	ssize_t len;

	if (child->fd[stream] < 0)
		return 0;
	len = read(child->fd[stream], buffer, size);
	if (len > 0)
		return (size_t)len;
	if (!len || (errno != EAGAIN && errno != EINTR)) {
		close(child->fd[stream]);
		child->fd[stream] = -1;
	}
	return 0;
}

void child_release(struct child *child)
{
	for (int i = 0; i < NR_STREAMS; i++)
		if (child->fd[i] >= 0)
			close(child->fd[i]);
	child->fd[STREAM_STDOUT] = -1;
	child->fd[STREAM_STDERR] = -1;
	if (child->foreground)
		tcsetpgrp(STDIN_FILENO, getpgrp());
	child->foreground = false;
}

int child_exit_status(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}
