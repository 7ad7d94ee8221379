/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What every unit test includes: cmocka and what it needs before it. */

#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Those beyond standard error, for SQLite keeps these three occupied. */
static inline int open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int nr = 0;

	while (directory && (entry = readdir(directory)))
		nr += atoi(entry->d_name) > STDERR_FILENO && atoi(entry->d_name) != dirfd(directory);
	closedir(directory);
	return nr;
}

static int descriptors_before;

static void __attribute__((constructor)) count_descriptors(void)
{
	descriptors_before = open_descriptors();
	close(STDIN_FILENO); /* 0 is a descriptor as good as any */
}

/* What is opened is closed again, in every test: as memory that is not freed, which a sanitizer finds. */
static void __attribute__((destructor)) descriptors_are_closed(void)
{
	if (open_descriptors() == descriptors_before)
		return;
	fprintf(stderr, "descriptors are open that were not when the tests began\n");
	_exit(1);
}

#endif
