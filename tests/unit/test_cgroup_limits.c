// SPDX-License-Identifier: GPL-2.0-or-later

/* Limits of cgroups: which files io.max are found, and what of them is a disk's. */

#include "unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "machine/cgroup-limits.h"

#define PLAIN	"8:0 rbps=1048576 wbps=max riops=max wiops=max\n"
#define BOTH	"8:16 rbps=7 wbps=max riops=max wiops=max\n8:0 rbps=max wbps=max riops=max wiops=40\n"

/* A directory takes the place of a mounted hierarchy. */
static char root[64];

static void put(const char *cgroup, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, cgroup);
	assert_int_equal(mkdir(path, 0700), 0);
	if (!text)
		return;
	snprintf(path, sizeof(path), "%s%s/io.max", root, cgroup);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/raidtrace-cgroups-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void expect(const char *device, const char *text)
{
	struct cgroup_limits limits;
	char *found;

	assert_int_equal(cgroup_limits_read(root, &limits), 0);
	found = cgroup_limits_of(&limits, device);
	assert_string_equal(found, text);
	free(found);
	cgroup_limits_free(&limits);
}

/* Sorted by path, of the disk that is asked for alone; a cgroup without a line for it is left out. */
static void of_a_disk(void **state)
{
	(void)state;
	put("/z", PLAIN);
	put("/a b", "");
	put("/a b/inner", BOTH);
	expect("8:0", "/a b/inner rbps=max wbps=max riops=max wiops=40\n"
	       "/z rbps=1048576 wbps=max riops=max wiops=max");
	expect("8:16", "/a b/inner rbps=7 wbps=max riops=max wiops=max");
	expect("8:1", "");
	expect("8", "");
	expect(":0", "");
}

/* Where a cgroup has no io.max none below it can have one: nobody looks there. */
static void not_below_one_without(void **state)
{
	(void)state;
	put("/plain", NULL);
	put("/plain/below", PLAIN);
	expect("8:0", "");
}

/* The root has children, and no file of its own that counts. */
static void nothing_there(void **state)
{
	struct cgroup_limits limits;

	(void)state;
	expect("8:0", "");
	assert_int_equal(cgroup_limits_read("/nonexistent", &limits), -ENOENT);
	assert_int_equal(limits.nr, 0);
}

/* More than is read at once, and what is no directory beside it. */
static void long_file(void **state)
{
	char text[3 * 4096] = "", path[128];
	size_t used = 0;

	(void)state;
	for (int minor = 0; used < sizeof(text) - 64; minor++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "9:%d rbps=1 wbps=max riops=max wiops=max\n", minor);
	strcat(text, "8:0 rbps=2 wbps=max riops=max wiops=max");
	put("/a", text);
	snprintf(path, sizeof(path), "%s/file", root);
	fclose(fopen(path, "w"));
	expect("8:0", "/a rbps=2 wbps=max riops=max wiops=max");
	expect("9:3", "/a rbps=1 wbps=max riops=max wiops=max");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_a_disk, begin, end),
		cmocka_unit_test_setup_teardown(not_below_one_without, begin, end),
		cmocka_unit_test_setup_teardown(nothing_there, begin, end),
		cmocka_unit_test_setup_teardown(long_file, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
