/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel's clocks in nanoseconds. */

#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* clock_ns - nanoseconds of a clock, CLOCK_MONOTONIC unless something else is meant */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

#endif
