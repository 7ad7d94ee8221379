// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording that continues without a terminal, and its end. */

#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/claim.h"
#include "base/base.h"

/* A command may need some time to end; its recording ends after it. */
#define STOP_SECONDS	60
#define LOOK_MS		50

/* Wait in the first process. Does not return. */
static void await_begin(pid_t pid, int ready, const char *path)
{
	char byte;
	int status;

	if (read(ready, &byte, 1) == 1) {
		terminal_print(stdout, "recording %d to %s; end it with: raidctl record --stop %d\n",
			       (int)pid, path, (int)pid);
		fflush(stdout);
		_exit(EXIT_DONE);
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(EXIT_FAILED);
}

int detached_fork(struct detached *detached, const char *path)
{
	int pipes[2];
	pid_t pid;

	snprintf(detached->log, sizeof(detached->log), "%s.log", path);
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid) {
		close(pipes[1]);
		await_begin(pid, pipes[0], path);
	}
	close(pipes[0]);
	detached->ready = pipes[1];
	/* Its own session, so that no terminal can end or stop it. */
	setsid();
	return 0;
}

int detached_begun(struct detached *detached)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int log = open(detached->log,
		       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
		       0644);

	if (null < 0 || log < 0)
		return -errno;
	dup2(null, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	close(null);
	close(log);
	if (write(detached->ready, "", 1) < 0)
		return -errno;
	close(detached->ready);
	detached->ready = -1;
	return 0;
}

/* Choose the recording with this number, or the only detached one. */
static const struct living *choose(const struct living *all, size_t nr,
				   const char *id)
{
	const struct living *chosen = NULL;
	size_t candidates = 0;

	for (size_t i = 0; i < nr; i++) {
		if (id ? all[i].pid != atoi(id) : !all[i].detached)
			continue;
		chosen = &all[i];
		candidates++;
	}
	if (candidates == 1)
		return chosen;
	if (candidates)
		fail("record: %zu detached recordings are running; choose one: raidctl record --stop ID; to list them: raidctl status",
		     candidates);
	else if (id)
		fail("record: there is no recording %s; to list the recordings: raidctl status",
		     id);
	else
		fail("record: no detached recording is running; to list the recordings: raidctl status");
	return NULL;
}

static bool process_is_alive(pid_t pid)
{
	struct living *all;
	bool alive = false;
	size_t nr;

	if (owner_living(&nr, &all))
		return true;
	for (size_t i = 0; i < nr; i++)
		alive |= all[i].pid == pid;
	free(all);
	return alive;
}

static int stop(const struct living *recording)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

	if (kill(recording->pid, SIGINT))
		return fail("record: recording %d cannot be ended: %s; only root and the user who began it may end it",
			    (int)recording->pid, strerror(errno));
	for (int i = 0; i < STOP_SECONDS * 1000 / LOOK_MS; i++) {
		if (!process_is_alive(recording->pid)) {
			terminal_print(stdout, "Recording saved to %s. To see it: raidctl report %s\n",
				       recording->file, recording->file);
			return EXIT_DONE;
		}
		nanosleep(&pause, NULL);
	}
	return fail("record: recording %d still runs %d s after the signal, because its command does; send a stronger signal: raidctl record --stop %d",
		    (int)recording->pid, STOP_SECONDS, (int)recording->pid);
}

int detached_stop(const char *id)
{
	const struct living *chosen;
	struct living *all;
	int status;
	size_t nr;

	if (owner_living(&nr, &all))
		return fail("record: %s", strerror(ENOMEM));
	chosen = choose(all, nr, id);
	status = chosen ? stop(chosen) : EXIT_FAILED;
	free(all);
	return status;
}
