/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs in the kernel. load.c is a library of its own, raidtrace-bpf.so, which is loaded when it is used:
 * nothing else needs libbpf.
 */
#ifndef DOOR_LOAD_H
#define DOOR_LOAD_H

#include "door.h"

#define DOOR_PROGRAMS	16	/* at most */
#define DOOR_OPEN	"raidtrace_door_open"
#define DOOR_CLOSE	"raidtrace_door_close"

/**
 * struct door - loaded and attached programs
 * @state: what both sides see
 * @nr_rings: number of rings
 * @rings: mapped rings, in succession
 * @ring_step: bytes from one to the next
 * @unavailable: tracepoints that the kernel lacks, separated by blanks
 * @nr_programs: number of programs that are attached
 * @program: their descriptors
 * @object: libbpf's, see close()
 */
struct door {
	struct door_state *state;
	unsigned int nr_rings;
	char *rings;
	size_t ring_step;
	char unavailable[256];
	unsigned int nr_programs;
	int program[DOOR_PROGRAMS];
	void *object;
	void *link[DOOR_PROGRAMS];
};

/*
 * Load and attach the programs: raidtrace_door_open(). @nr_rings: one for each CPU, @ring_bytes each, a power of two.
 * Return: 0, or -errno and the reason in @text; then nothing is attached.
 */
typedef int door_open_t(struct door *door, unsigned int nr_rings, unsigned int ring_bytes, char *text, size_t size);

/* Detach and unload: raidtrace_door_close(). */
typedef void door_close_t(struct door *door);

#endif /* DOOR_LOAD_H */
