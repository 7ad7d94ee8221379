/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Files in which each recorder notes its targets, so that nothing stays attached after a recorder was killed.
 *
 * Each recorder keeps a file RUN_DIRECTORY/record-PID with lines
 *	owner <pid> <start time of the process>
 *	adding <major> <minor> <CLOCK_MONOTONIC ns>
 *	target <id> <attached_ns>
 *	file <path of the recording>
 *	detached
 *
 * and a socket RUN_DIRECTORY/mark-PID. "adding" is written before the request to the kernel, "target" after it. So
 * after a kill at any time, the file names the target.
 */

#ifndef ATTACH_CLAIM_H
#define ATTACH_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "raidtrace.h"

#define OWNER_PATH	1024

/*
 * Create the file of this process. @fd gets its descriptor, or -1 after a failure. Return: 0 or -errno, as for
 * owner_adding() and owner_added().
 */
int owner_begin(int *fd);
int owner_adding(int fd, unsigned int major, unsigned int minor);
int owner_added(int fd, const struct rt_target *target);

/* Write the absolute path of the recording to the file, and whether it runs without a terminal. Return: 0 or -errno. */
int owner_describe(int fd, const char *file, bool detached);

/* Remove the file, after everything is detached. */
void owner_end(int fd);

/* Write the path of the socket on which the recorder of a process receives marks to @ret. */
void owner_socket(pid_t pid, char *ret, size_t size);

/* A running recording. */
struct living {
	pid_t pid;	/* process of its recorder */
	bool detached;	/* the recording has no terminal */
	char file[OWNER_PATH];
};

/* List the running recordings, in order of their process ids. @ret: free with free(). Return: 0 or -ENOMEM. */
int owner_living(size_t *nr, struct living **ret);

/* Is a target attached by a running recorder? Return: its process id, or 0. */
pid_t owner_of(const struct rt_target *target);

/* Detach the targets of dead recorders, and print this. @client must be privileged. */
void owner_sweep(struct rt_client *client);

/*
 * Count the runs of raidctl why and sweep that were killed and whose settings are not restored: by the journals that
 * they left. Return: their number; -1 if this user may not read the journals.
 */
int settings_left(void);

/*
 * rt_counters_advance(), repeated for at most a second while memory is short. The kernel builds its answer in one block
 * of memory, which may not be available on a host that writes a lot. Counting continues meanwhile. Return: the result
 * of the last try.
 */
int counters_advance_again(struct rt_client *client, uint32_t id,
			   struct rt_counters *last, struct rt_counters *span);

#endif
