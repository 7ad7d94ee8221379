/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel's own count of a disk's requests, as a witness of the counters of BPF programs. */

#ifndef RECORD_WITNESS_H
#define RECORD_WITNESS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raidtrace.h"

/* Directions that the kernel counts. Its writes contain write zeroes and empty flushes. */
enum witness_kind {
	WITNESS_READ,
	WITNESS_WRITE,
	WITNESS_DISCARD,
	WITNESS_KINDS,
};

/* A reading of /sys/block/DISK/stat: ended requests, and the bytes of ended parts. */
struct witness_reading {
	bool known;	/* the kernel counts the requests of this disk, and no others */
	uint64_t requests[WITNESS_KINDS];
	uint64_t bytes[WITNESS_KINDS];
};

/* Readings around the begin and around the end of counting. */
struct witness {
	struct witness_reading before_begin;
	struct witness_reading after_begin;
	struct witness_reading before_end;
	struct witness_reading after_end;
};

/* Both limits of a number; it is the same within these. */
struct witness_limits {
	uint64_t least;
	uint64_t most;
};

/* Numbers of one kind that should be equal. */
struct witness_pair {
	bool known;	/* both have limits */
	struct witness_limits kernel;
	struct witness_limits counted;
};

struct witness_verdict {
	bool known;	/* false: the counts cannot be compared */
	struct witness_pair requests[WITNESS_KINDS];
	struct witness_pair bytes[WITNESS_KINDS];
};

/* Read the kernel's count of a disk. */
void witness_read(unsigned int major, unsigned int minor, struct witness_reading *ret);

/*
 * Compare the readings with the counters of the same time. @processors: each may be between its two counts of a
 * request. @largest: bytes of a request at most. Pure.
 */
void witness_compare(const struct witness *witness, const struct rt_counters *counters, unsigned int processors,
		     uint64_t largest, struct witness_verdict *ret);

/* Name all differences. @ret: "" if there are none. Return: @ret. */
char *witness_text(char *ret, size_t size, const struct witness_verdict *verdict);

/* Add the limits of all kinds to an object; null if they are not known. */
void witness_json(struct json_object *to, const char *key, const struct witness_verdict *verdict);

#endif
