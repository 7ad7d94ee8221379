// SPDX-License-Identifier: GPL-2.0-or-later
/* The command of a lab guest: its session, what it writes, its end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The terminal of an interactive guest; its size travels in the request as "ROWSxCOLUMNS". */
static void take_terminal(const char *text)
{
	struct winsize size = { 0 };
	int fd = open("/dev/tty0", O_RDWR);

	if (fd < 0 || ioctl(fd, TIOCSCTTY, 1))
		_exit(127);
	if (sscanf(text, "%hux%hu", &size.ws_row, &size.ws_col) == 2)
		ioctl(fd, TIOCSWINSZ, &size);
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);
}

__attribute__((noreturn))
static void become_command(const struct request *request, int out, int err)
{
	sigset_t none;
	int null;

	setsid();
	if (request->console) {
		take_terminal(request->console);
	} else {
		null = open("/dev/null", O_RDONLY);
		dup2(null, 0);
		dup2(out, 1);
		dup2(err, 2);
		if (null > 2)
			close(null);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	clearenv();
	for (int i = 0; i < request->envs; i++)
		putenv(request->env[i]);
	if (chdir(request->cwd)) {
		fprintf(stderr, "raidctl lab: %s: %s\n", request->cwd, strerror(errno));
		_exit(127);
	}
	execvp(request->arg[0], request->arg);
	fprintf(stderr, "raidctl lab: %s: %s\n", request->arg[0], strerror(errno));
	_exit(127);
}

struct stream {
	int from, to;		/* pipe from the command, file on the host; from is -1 at its end */
};

/* Move the available bytes. */
static void drain(struct stream *stream)
{
	static char buffer[1 << 16];
	ssize_t n;

	while (stream->from >= 0 && (n = read(stream->from, buffer, sizeof(buffer))) != -1) {
		if (!n) {
			close(stream->from);
			stream->from = -1;
		} else if (file_write_all(stream->to, buffer, n)) {
			fail("the host's directory for the command's output is full or gone");
		}
	}
}

static struct stream open_stream(const char *path, int *write_end)
{
	struct stream stream;
	int ends[2];

	stream.to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (stream.to < 0 || pipe2(ends, O_CLOEXEC))
		fail("%s: %s", path, strerror(errno));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	stream.from = ends[0];
	*write_end = ends[1];
	return stream;
}

/* Reap every child. Return: the wait status of the command if it is among them, else -1. */
static int reap(pid_t command)
{
	int status, found = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == command)
			found = status;
	return found;
}

int command_run(const struct request *request, long long *simulated_ns)
{
	struct stream streams[2];
	struct pollfd fds[3];
	int out, err, status = -1;
	long long start_ns;
	sigset_t child;
	pid_t command;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	streams[0] = open_stream(CONTROL "/stdout", &out);
	streams[1] = open_stream(CONTROL "/stderr", &err);
	fds[2] = (struct pollfd){ .fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN };

	start_ns = now_ns();
	command = fork();
	if (command < 0)
		fail("fork: %s", strerror(errno));
	if (!command)
		become_command(request, out, err);
	close(out);
	close(err);

	while (status < 0) {
		struct signalfd_siginfo info;

		fds[0] = (struct pollfd){ .fd = streams[0].from, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = streams[1].from, .events = POLLIN };
		poll(fds, 3, -1);
		drain(&streams[0]);
		drain(&streams[1]);
		while (read(fds[2].fd, &info, sizeof(info)) > 0)
			;
		status = reap(command);
	}
	*simulated_ns = now_ns() - start_ns;

	/* Processes that the command left running must neither hold the pipes nor use the disks. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	drain(&streams[0]);
	drain(&streams[1]);
	close(streams[0].to);
	close(streams[1].to);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
