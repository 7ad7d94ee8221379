/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Headers and helpers of every unit test: cmocka and the headers that it needs. */

#ifndef UNIT_H
#define UNIT_H

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* raidctl has a function of that name. */
#undef fail
#undef fail_msg
#define fail_msg(format, ...)							\
	do {									\
		print_error("ERROR: " format "\n", ##__VA_ARGS__);		\
		_fail(__FILE__, __LINE__);					\
	} while (0)

/* The number of descriptors above standard error; 0 counts too, unless SQLite has opened /dev/null there. */
static inline int open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	char file[64] = "";
	int nr = 0;

	while (directory && (entry = readdir(directory)))
		nr += atoi(entry->d_name) > STDERR_FILENO && atoi(entry->d_name) != dirfd(directory);
	if (dirfd(directory) && readlink("/proc/self/fd/0", file, sizeof(file) - 1) > 0)
		nr += strcmp(file, "/dev/null") != 0;
	closedir(directory);
	return nr;
}

static int descriptors_before;

static void __attribute__((constructor)) count_descriptors(void)
{
	close(STDIN_FILENO); /* 0 is a descriptor as good as any */
	descriptors_before = open_descriptors();
}

/* Every test closes the descriptors that it opened; leaks of memory are found by a sanitizer. */
static void __attribute__((destructor)) descriptors_are_closed(void)
{
	if (open_descriptors() == descriptors_before)
		return;
	fprintf(stderr, "descriptors are open that were not when the tests began\n");
	_exit(1);
}

/*
 * A function that is a test of the program. FIXTURE_TEST has cmocka's setup and teardown, GROUP_FIXTURE those of all tests
 * together. Tests run in the order of the file.
 */
#define FIXTURE_TEST(name, setup, teardown) \
	static void name(void **state); \
	__attribute__((constructor)) static void add_##name(void) \
	{ \
		test_add((struct CMUnitTest){ #name, name, setup, teardown, NULL }); \
	} \
	static void name(void **state __attribute__((unused)))
#define TEST(name)	FIXTURE_TEST(name, NULL, NULL)
#define GROUP_FIXTURE(setup, teardown) \
	__attribute__((constructor)) static void set_group_fixture(void) \
	{ \
		group_setup = setup; \
		group_teardown = teardown; \
	}

static struct CMUnitTest all_tests[32];
static size_t nr_tests;
static CMFixtureFunction group_setup, group_teardown;

/* Before main(): another test for it to run. */
static inline void test_add(struct CMUnitTest test)
{
	if (nr_tests == sizeof(all_tests) / sizeof(all_tests[0]))
		abort();
	all_tests[nr_tests++] = test;
}

/* Each test is a program of one file. */
int main(void)
{
	struct CMUnitTest tests[nr_tests];

	memcpy(tests, all_tests, sizeof(tests));
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

/* Make a file of a directory, or replace it. */
static inline void unit_write(const char *directory, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#endif
