// SPDX-License-Identifier: GPL-2.0-or-later

/* The owner of a target, and requests for counters while memory is short. */

#include "unit.h"

#include <sys/file.h>
#include <sys/wait.h>

#include "attach/claim.h"

/* Stands in for the kernel, which lacks memory for the first answers. */
static int requests, failing, failure;

static int advance(struct rt_client *client, uint32_t id, struct rt_counters *last, struct rt_counters *span)
{
	(void)client;
	(void)span;
	assert_int_equal(id, 7);
	last->now_ns = (uint64_t)++requests;
	return requests <= failing ? failure : 0;
}

#define rt_counters_advance advance
#include "../../tools/raidctl/attach/claim.c"

static char directory[] = "/tmp/raidtrace-owner-XXXXXX";
static const struct rt_target mine = { .id = 7, .major = 8, .minor = 0,
				       .attached_ns = 1000 };

static int make_directory(void **state)
{
	(void)state;
	return !mkdtemp(directory) || setenv("RAIDTRACE_RUN", directory, 1);
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static void remove_claim(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	assert_int_equal(unlink(path), 0);
}

TEST(living_owner)
{
	struct rt_target other = mine;
	int fd;

	assert_int_equal(owner_of(&mine), 0);
	assert_int_equal(owner_begin(&fd), 0);
	assert_int_equal(owner_of(&mine), 0);
	assert_int_equal(owner_added(fd, &mine), 0);
	assert_int_equal(owner_of(&mine), getpid());
	/* The same id after the module was loaded anew is another target. */
	other.attached_ns = 2000;
	assert_int_equal(owner_of(&other), 0);
	owner_end(fd);
	assert_int_equal(owner_of(&mine), 0);
}

/* The claim has the number of the process and its start time as the kernel counts it (field 22 of stat). */
TEST(owner_is_identified)
{
	char name[128], text[256] = "", stat[1024] = "", *field;
	FILE *file;
	int fd;

	file = fopen("/proc/self/stat", "re");
	assert_non_null(file);
	assert_true(fread(stat, 1, sizeof(stat) - 1, file) > 0);
	fclose(file);
	field = strtok(strrchr(stat, ')'), " ");
	for (int i = 2; i < 22; i++)
		field = strtok(NULL, " ");
	assert_int_equal(owner_begin(&fd), 0);
	snprintf(name, sizeof(name), "%s/record-%d", directory, (int)getpid());
	file = fopen(name, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	/* With it ends the place where marks are taken. */
	owner_socket(getpid(), name, sizeof(name));
	assert_int_equal(strncmp(name, directory, strlen(directory)), 0);
	unit_write(directory, name + strlen(directory) + 1, "");
	owner_end(fd);
	assert_int_equal(access(name, F_OK), -1);
	snprintf(name, sizeof(name), "owner %d %s\n", (int)getpid(), field);
	assert_string_equal(text, name);
}

/* Killed between asking the kernel and noting its answer. */
TEST(requested_and_not_added)
{
	struct rt_target target = mine;
	int fd;

	assert_int_equal(owner_begin(&fd), 0);
	assert_int_equal(owner_adding(fd, 8, 0), 0);
	/* Attached before that: it is somebody else's. */
	assert_int_equal(owner_of(&target), 0);
	target.attached_ns = UINT64_MAX;
	assert_int_equal(owner_of(&target), getpid());
	target.minor = 16;
	assert_int_equal(owner_of(&target), 0);
	owner_end(fd);
}

TEST(dead_owner)
{
	char text[64];
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	snprintf(text, sizeof(text), "owner %d 12345\ntarget 7 1000\n", (int)pid);
	unit_write(directory, "record-1", text);
	assert_int_equal(owner_of(&mine), 0);
	/* A process of that number lives, but it began at another time. */
	snprintf(text, sizeof(text), "owner %d 1\ntarget 7 1000\n", (int)getpid());
	unit_write(directory, "record-1", text);
	assert_int_equal(owner_of(&mine), 0);
	/* Cut short, or not ours at all. */
	unit_write(directory, "record-1", "target 7 1000\nowner");
	unit_write(directory, "other", "owner 1 1\n");
	assert_int_equal(owner_of(&mine), 0);
	/* A claim that was removed meanwhile. */
	snprintf(text, sizeof(text), "%s/record-9", directory);
	assert_int_equal(symlink("nowhere", text), 0);
	assert_int_equal(owner_of(&mine), 0);
	remove_claim("record-9");
	remove_claim("record-1");
	remove_claim("other");
}

/* The result of the last of @nr requests, when the first @times of them fail. */
static int advance_repeatedly(int times, int err, int nr)
{
	struct rt_counters last, span;
	int result;

	requests = 0;
	failing = times;
	failure = err;
	result = counters_advance_again(NULL, 7, &last, &span);
	assert_int_equal(last.now_ns, nr);
	assert_int_equal(requests, nr);
	return result;
}

TEST(while_memory_is_short)
{
	assert_int_equal(advance_repeatedly(0, -ENOMEM, 1), 0);
	assert_int_equal(advance_repeatedly(3, -ENOMEM, 4), 0);
	assert_int_equal(advance_repeatedly(1000000, -ENOMEM, 100), -ENOMEM);
	assert_int_equal(advance_repeatedly(1, -ENODEV, 1), -ENODEV);
}

/* Journals without a lock are those of killed processes. */
TEST(settings_of_killed_experiments)
{
	char journals[96], path[160];
	int fd;

	assert_int_equal(settings_left(), 0);
	snprintf(journals, sizeof(journals), "%s/sweep", directory);
	assert_int_equal(mkdir(journals, 0700), 0);
	assert_int_equal(settings_left(), 0);
	unit_write(journals, "12-34.journal", "{}\n");
	unit_write(journals, "12-34.text", "{}\n");
	assert_int_equal(settings_left(), 1);
	snprintf(path, sizeof(path), "%s/12-34.journal", journals);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(settings_left(), 0);
	unit_write(journals, "13-35.journal", "{}\n");
	assert_int_equal(settings_left(), 1);
	close(fd);
	assert_int_equal(settings_left(), 2);
	unlink(path);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", journals, i ? "12-34.text" : "13-35.journal");
		unlink(path);
	}
	/* A directory that cannot be read: not known. */
	assert_int_equal(rmdir(journals), 0);
	assert_int_equal(symlink("sweep", journals), 0);
	assert_int_equal(settings_left(), -1);
	unlink(journals);
}

GROUP_FIXTURE(make_directory, remove_directory)
