// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a lab kernel: what it asks the host for as random is the same in every run. Without this, hash seeds and
 * UUIDs, and with them where a file system puts a directory, would differ between two runs of one command.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	static uint64_t state = 0x9e3779b97f4a7c15;
	unsigned char *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < length; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (unsigned char)(state >> 56);
	}
	return (ssize_t)length;
}
