/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is recorded in addition to the disks: the machine's activity, its settings, and
 * what disturbed the run.
 */

#ifndef RECORD_MACHINE_H
#define RECORD_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"
#include "disk/settings.h"
#include "machine/machine.h"
#include "store/writer.h"
#include "watch/watch.h"

/**
 * struct surroundings - of one recording
 * @writer: where rows go
 * @host: activity
 * @watch: disturbances, NULL without
 * @settings: of the machine
 * @looked_ns: of the last look, as rows have it
 * @begun: surroundings_begin() has been called
 */
struct surroundings {
	struct writer *writer;
	struct host host;
	struct watch *watch;
	struct settings settings;
	uint64_t looked_ns;
	bool begun;
};

/**
 * surroundings_begin - describe the machine and take the first look
 * @s: zeroed; to be given to surroundings_free()
 * @writer: started
 * @disks: recorded; they have to stay
 * @nr: how many
 * @path: of the recording
 * @now_ns: begin of the recording
 *
 * Return: 0 or -errno.
 */
int surroundings_begin(struct surroundings *s, struct writer *writer,
		       const struct disk *disks, size_t nr, const char *path,
		       uint64_t now_ns);

/**
 * surroundings_look - put what happened into the transaction being filled
 * @s: begun
 * @now_ns: end of a sample
 * @always: even if the last look was less than a second ago
 *
 * Return: 0 or -errno.
 */
int surroundings_look(struct surroundings *s, uint64_t now_ns, bool always);

/* surroundings_end - the last look, and the verdict */
int surroundings_end(struct surroundings *s, uint64_t now_ns);
void surroundings_free(struct surroundings *s);

#endif
