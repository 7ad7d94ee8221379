/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who attached which target, so that nothing stays attached for a recorder
 * that was killed.
 *
 * Each recorder keeps a file RUN_DIRECTORY/record-PID with lines
 *	owner <pid> <start time of the process>
 *	adding <major> <minor> <CLOCK_MONOTONIC ns>
 *	target <id> <attached_ns>
 * "adding" is written before the kernel is asked, "target" after, so there is
 * no moment at which a kill would lose track of a target.
 */

#ifndef OWNER_H
#define OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "raidtrace.h"

/**
 * owner_begin - claim to be a recorder
 * @fd: the file, for the other functions; -1 after a failure
 *
 * Return: 0 or -errno.
 */
int owner_begin(int *fd);
int owner_adding(int fd, unsigned int major, unsigned int minor);
int owner_added(int fd, const struct rt_target *target);

/* owner_end - all that was attached is detached again */
void owner_end(int fd);

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

#endif
