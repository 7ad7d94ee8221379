// SPDX-License-Identifier: GPL-2.0-or-later

/* Long texts through the program that PAGER names. */

#include "base/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/terminal.h"

static pid_t pager;

void pager_begin(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (!command || !command[0] || !isatty(STDOUT_FILENO) || pipe(ends))
		return;
	terminal_width(stdout);
	fflush(stdout);
	pager = fork();
	if (pager < 0) {
		close(ends[0]);
		close(ends[1]);
		pager = 0;
		return;
	}
	if (!pager) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	/* Somebody who leaves the pager early has seen enough. */
	signal(SIGPIPE, SIG_IGN);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
}

void pager_end(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
	/* What was not read is no failure. */
	clearerr(stdout);
}
