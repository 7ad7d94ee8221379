/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Notes of the process that attached each target, so that nothing stays attached
 * after a recorder was killed.
 *
 * Each recorder keeps a file RUN_DIRECTORY/record-PID with lines
 *	owner <pid> <start time of the process>
 *	adding <major> <minor> <CLOCK_MONOTONIC ns>
 *	target <id> <attached_ns>
 *	file <path of the recording>
 *	detached
 * and a socket RUN_DIRECTORY/mark-PID.  "adding" is written before the request to the kernel, "target" after it, so
 * a kill at any moment leaves a trace of the target.
 */

#ifndef ATTACH_CLAIM_H
#define ATTACH_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "raidtrace.h"

#define OWNER_PATH	1024

/* Create the file of this process. @fd gets it, -1 after a failure. Return: 0 or -errno, as the functions below. */
int owner_begin(int *fd);
int owner_adding(int fd, unsigned int major, unsigned int minor);
int owner_added(int fd, const struct rt_target *target);

/* Note the absolute path of the recording, and whether it runs without a terminal. */
int owner_describe(int fd, const char *file, bool detached);

/* Remove the file: everything is detached. */
void owner_end(int fd);

/* The path of the socket on which the recorder of a process takes marks. */
void owner_socket(pid_t pid, char *ret, size_t size);

/* A running recording. */
struct living {
	pid_t pid;	/* process of its recorder */
	bool detached;	/* it runs without a terminal */
	char file[OWNER_PATH];
};

/* Every running recording, in order of their processes. @ret: to be given to free(). Return: 0 or -ENOMEM. */
int owner_living(size_t *nr, struct living **ret);

/* Is a target attached by a recorder that lives? Return: its process id, 0 for none. */
pid_t owner_of(const struct rt_target *target);

/* Detach the targets of dead recorders, and print that. @client has to be privileged. */
void owner_sweep(struct rt_client *client);

/*
 * rt_counters_advance(), repeated for at most a second while memory is short. The kernel builds its answer in one piece
 * of memory, which a host that writes a lot may not have at the moment; counters run on meanwhile.
 * Return: as the last try.
 */
int counters_advance_again(struct rt_client *client, uint32_t id,
			   struct rt_counters *last, struct rt_counters *span);

#endif
