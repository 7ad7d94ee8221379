/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who attached which target, so that nothing stays attached for a recorder
 * that was killed.
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

#include <raidtrace.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "raidtrace.h"

#define OWNER_PATH	1024

/**
 * owner_begin - claim to be a recorder
 * @fd: the file, for the other functions; -1 after a failure
 *
 * Return: 0 or -errno.
 */
int owner_begin(int *fd);
int owner_adding(int fd, unsigned int major, unsigned int minor);
int owner_added(int fd, const struct rt_target *target);

/**
 * owner_describe - tell others about the recording
 * @fd: from owner_begin()
 * @file: of the recording, an absolute path
 * @detached: nobody waits for it
 *
 * Return: 0 or -errno.
 */
int owner_describe(int fd, const char *file, bool detached);

/* owner_end - all that was attached is detached again */
void owner_end(int fd);

/* owner_socket - where the recorder of a process takes marks */
void owner_socket(pid_t pid, char *ret, size_t size);

/**
 * struct living - a running recording
 * @pid: process of its recorder
 * @detached: nobody waits for it
 * @file: where to
 */
struct living {
	pid_t pid;
	bool detached;
	char file[OWNER_PATH];
};

/**
 * owner_living - every running recording, in order of their processes
 * @nr: how many
 * @ret: to be given to free()
 *
 * Return: 0 or -ENOMEM.
 */
int owner_living(size_t *nr, struct living **ret);

/**
 * owner_of - is a target attached by a recorder that lives?
 * @target: the target
 *
 * Return: its process id, 0 for none.
 */
pid_t owner_of(const struct rt_target *target);

/**
 * owner_sweep - detach what dead recorders left attached, and say so
 * @client: connected and privileged
 */
void owner_sweep(struct rt_client *client);

/*
 * counters_advance_again - rt_counters_advance(), and again while memory is short
 *
 * The kernel builds its answer in one piece of memory. A host that writes all it
 * can may not have one at the moment; counters run on, so a second later is as
 * good. Returns what the last try returned, after a second at most.
 */
int counters_advance_again(struct rt_client *client, uint32_t id,
			   struct rt_counters *last, struct rt_counters *span);

#endif
