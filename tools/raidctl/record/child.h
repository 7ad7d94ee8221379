/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The command that a recording follows. */

#ifndef RECORD_CHILD_H
#define RECORD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "phase/phase.h"

/**
 * struct child - a command that runs in its own process group
 * @pid: its process and group, 0 when there is none
 * @fd: ends of the pipes that it prints to, -1 once closed
 * @exited: it has ended, @status is from waitpid()
 * @status: as waitpid() gives it
 * @foreground: the terminal was handed to it and has to be taken back
 */
struct child {
	pid_t pid;
	int fd[NR_STREAMS];
	bool exited;
	int status;
	bool foreground;
};

/**
 * child_find - can the command be executed?
 * @name: path, or name looked for in PATH
 *
 * Return: 0; -ENOENT when it is not found; -EACCES when it cannot be executed.
 */
int child_find(const char *name);

/**
 * child_start - run a command with pipes for its output
 * @child: what is set up
 * @argv: the command, ends with NULL
 * @variable: name of a variable added to its environment, NULL for none
 * @value: of that variable
 *
 * Its standard input is ours.  On a terminal its group is the foreground one,
 * so Ctrl-C reaches it directly.
 *
 * Return: 0; -errno when it could not be executed, nothing runs then.
 */
int child_start(struct child *child, char *const *argv, const char *variable,
		const char *value);

/* child_signal - to the whole group of a command that has not ended */
void child_signal(const struct child *child, int signal);

/**
 * child_reap - take note of what happened to the command
 * @child: running
 * @ended: called with each process that has ended, the command or an orphan of
 *	it that this process adopted, before it is waited for; NULL for none
 * @data: for @ended
 *
 * A command that was stopped (Ctrl-Z) is continued: it cannot be suspended
 * while time is being counted.
 *
 * Return: whether it has ended.
 */
bool child_reap(struct child *child, void (*ended)(void *data, pid_t pid),
		void *data);

/**
 * child_read - what the command printed
 * @child: running or ended
 * @stream: which of the two
 * @buffer: to fill
 * @size: of @buffer
 *
 * Return: bytes; 0 when there is nothing now or the stream has ended.
 */
size_t child_read(struct child *child, enum stream stream, char *buffer,
		  size_t size);

/* child_release - close the pipes, take the terminal back */
void child_release(struct child *child);

/* child_exit_status - as a shell has it: its own, or 128 + signal */
int child_exit_status(const struct child *child);

#endif
