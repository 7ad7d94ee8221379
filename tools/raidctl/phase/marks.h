/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Phases that a script names while it is recorded.
 *
 * The recorder has a socket of datagrams; who asks binds an address of its own
 * and waits for the answer, which is sent when the counters have been read.
 * Messages are text: "phase NAME", "end", "note TEXT"; the answer is "ok ..."
 * or "error ...".
 */

#ifndef PHASE_MARKS_H
#define PHASE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Longest message, with its terminating zero. */
#define MARK_TEXT	256
#define MARK_NAME	64

/* Environment of the command: the socket of the recorder that follows it. */
#define MARK_VARIABLE	"RAIDTRACE_RECORD"

/**
 * struct mark - one message to the recorder
 * @text: what it says
 * @from: who is to be answered
 * @from_len: of @from
 */
struct mark {
	char text[MARK_TEXT];
	struct sockaddr_un from;
	socklen_t from_len;
};

/**
 * marks_open - take marks from now on
 * @path: of the socket; one that is there is replaced
 *
 * Return: file descriptor to poll, or -errno.
 */
int marks_open(const char *path);

/* marks_take - the next message; false when there is none now */
bool marks_take(int fd, struct mark *ret);
void marks_answer(int fd, const struct mark *mark, const char *text);

/**
 * marks_ask - send a message and wait for the answer
 * @path: of the recorder's socket
 * @text: the message
 * @answer: what it answered
 * @size: of @answer
 *
 * Return: 0; -ETIMEDOUT; another -errno.
 */
int marks_ask(const char *path, const char *text, char *answer, size_t size);

/* mark_name_valid - printable, without tabs and lines, 1 to MARK_NAME - 1 bytes */
bool mark_name_valid(const char *name);

#endif
