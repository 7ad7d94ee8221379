// SPDX-License-Identifier: GPL-2.0-or-later

/* Limits of a disk by the files of a made sysfs. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "internal.h"
#include "machine/machine.h"

static char place[] = "/tmp/limits-XXXXXX";

static int make_disk(void **state)
{
	static const char *const directories[] = { "queue", "mq", "mq/0", "mq/1", "mq/2" };
	static const char *const files[][2] = {
		{ "size", "1953525168\n" },	{ "queue/max_sectors_kb", "1280\n" },
		{ "queue/max_segments", "128\n" }, { "queue/max_hw_sectors_kb", "4096\n" },
		{ "queue/rotational", "1\n" },	{ "queue/read_ahead_kb", "128\n" },
		{ "queue/nr_requests", "64\n" },	{ "mq/0/nr_tags", "254\n" },
	};
	int disk;

	if (!mkdtemp(place) || chdir(place))
		return -1;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		assert_int_equal(mkdir(directories[i], 0700), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unit_write(place, files[i][0], files[i][1]);
	disk = open(place, O_PATH | O_DIRECTORY);
	*state = (void *)(intptr_t)disk;
	return disk < 0;
}

static int remove_disk(void **state)
{
	char command[64];

	close((int)(intptr_t)*state);
	snprintf(command, sizeof(command), "rm -r %s", place);
	return system(command);
}

TEST(all_are_read)
{
	struct rt_target target = { 0 };

	rt_limits_read((int)(intptr_t)*state, &target);
	assert_int_equal(target.capacity_sectors, 1953525168);
	assert_int_equal(target.readahead_sectors, 256);
	assert_int_equal(target.max_sectors, 2560);
	assert_int_equal(target.max_hw_sectors, 8192);
	assert_int_equal(target.max_segments, 128);
	assert_true(target.rotational);
	assert_int_equal(target.nr_requests, 64);
	assert_int_equal(target.nr_hw_queues, 3);
	assert_int_equal(target.nr_tags, 254);
}

/* A bio-based disk has no requests, whatever its queue's directory contains; without a disk nothing is known. */
TEST(some_are_zero)
{
	struct rt_target target = { .bio_based = true }, none = { .max_segments = 7 };

	rt_limits_read((int)(intptr_t)*state, &target);
	assert_int_equal(target.capacity_sectors, 1953525168);
	assert_int_equal(target.nr_requests + target.nr_hw_queues + target.nr_tags, 0);
	rt_limits_read(-1, &none);
	assert_memory_equal(&none, &(struct rt_target){ 0 }, sizeof(none));
}

/* Parents of a disk in a made sysfs: a controller, a host, the SCSI device. */
TEST(parents_are_read)
{
	static const char *const commands[] = {
		"mkdir -p bus/pci bus/scsi bus/other drivers/3w-9xxx drivers/sd pci0/1:0.0/host0/target0:0:7/0:0:7:0",
		"ln -s ../../bus/pci pci0/1:0.0/subsystem; ln -s ../../drivers/3w-9xxx pci0/1:0.0/driver",
		"cd pci0/1:0.0/host0; for name in . target0:0:7 target0:0:7/0:0:7:0; do ln -s /x/bus/scsi $name/subsystem; done",
		"ln -s /x/drivers/sd pci0/1:0.0/host0/target0:0:7/0:0:7:0/driver",
		"mkdir sda sdb; ln -s ../pci0/1:0.0/host0/target0:0:7/0:0:7:0 sda/device",
	};
	struct rt_parents above;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_int_equal(system(commands[i]), 0);
	rt_parents_read("sda", &above);
	assert_string_equal(above.driver, "3w-9xxx");
	assert_string_equal(above.pci, "1:0.0");
	assert_string_equal(above.hctl, "0:0:7:0");
	assert_true(above.unit_3ware);
	assert_int_equal(unlink("pci0/1:0.0/subsystem"), 0);
	rt_parents_read("sda", &above);
	assert_string_equal(above.driver, "sd");
	assert_string_equal(above.pci, "");
	assert_false(above.unit_3ware);
	rt_parents_read("sdb", &above);
	assert_string_equal(above.driver, "");
}

/* Limits of cgroups: the files io.max that are read, and the lines of a disk in them. */

#define PLAIN	"8:0 rbps=1048576 wbps=max riops=max wiops=max\n"
#define BOTH	"8:16 rbps=7 wbps=max riops=max wiops=max\n8:0 rbps=max wbps=max riops=max wiops=40\n"

/* A directory takes the place of a mounted hierarchy. */
static char root[64];
static int version;	/* of the hierarchy */

static void put_limits(const char *cgroup, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, cgroup);
	assert_int_equal(mkdir(path, 0700), 0);
	if (text)
		unit_write(path, "io.max", text);
}

static int make_cgroups(void **state)
{
	(void)state;
	version = 2;
	strcpy(root, "/tmp/raidtrace-cgroups-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_cgroups(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void expect_file(unsigned int file, const char *device, const char *text)
{
	struct cgroup_limits limits;
	char *printed;

	assert_int_equal(cgroup_limits_read(root, version, &limits), 0);
	printed = cgroup_limits_of(&limits, file, device);
	assert_string_equal(printed, text);
	free(printed);
	cgroup_limits_free(&limits);
}

static void expect_limits(const char *device, const char *text)
{
	expect_file(0, device, text);
}

/* Only limits of the requested disk, sorted by path; a cgroup without a line for it is left out. */
FIXTURE_TEST(limits_of_disk, make_cgroups, remove_cgroups)
{
	put_limits("/z", PLAIN);
	put_limits("/a b", "");
	put_limits("/a b/inner", BOTH);
	expect_limits("8:0", "/a b/inner rbps=max wbps=max riops=max wiops=40\n"
	       "/z rbps=1048576 wbps=max riops=max wiops=max");
	expect_limits("8:16", "/a b/inner rbps=7 wbps=max riops=max wiops=max");
	expect_limits("8:1", "");
	expect_limits("8", "");
	expect_limits(":0", "");
}

/* The root has children, and no file of its own that counts. Below a cgroup without io.max none can have one. */
FIXTURE_TEST(no_limits, make_cgroups, remove_cgroups)
{
	struct cgroup_limits limits;

	expect_limits("8:0", "");
	put_limits("/plain", NULL);
	put_limits("/plain/below", PLAIN);
	expect_limits("8:0", "");
	assert_int_equal(cgroup_limits_read("/nonexistent", 2, &limits), -ENOENT);
	assert_int_equal(limits.nr, 0);
}

static void put_other(const char *cgroup, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, cgroup);
	unit_write(path, name, text);
}

/* A weight of 100 for all disks is the default; the model of io.cost is the root's. */
FIXTURE_TEST(other_files, make_cgroups, remove_cgroups)
{
	put_other("", "io.cost.qos", "8:0 enable=1 ctrl=user min=100.00\n");
	put_other("", "io.max", "8:0 rbps=1 wbps=max riops=max wiops=max\n");
	put_limits("/a", "");
	put_other("/a", "io.latency", "8:0 target=300\n8:16 target=9\n");
	put_other("/a", "io.weight", "default 100\n8:16 200\n");
	put_other("/a", "io.cost.qos", "8:0 enable=1\n");
	put_limits("/b", "");
	put_other("/b", "io.weight", "default 50\n8:16 20\n");
	expect_limits("8:0", "");
	expect_file(1, "8:0", "/a target=300");
	expect_file(2, "8:0", "/b 50");
	expect_file(2, "8:16", "/a 200\n/b 20");
	expect_file(4, "8:0", "/ enable=1 ctrl=user min=100.00");
	expect_file(5, "8:0", "");
}

/* Version 1 has a file for each limit. The root has limits, too, and files of version 2 do not count. */
FIXTURE_TEST(first_version, make_cgroups, remove_cgroups)
{
	version = 1;
	put_other("", "blkio.throttle.read_bps_device", "8:0 1048576\n");
	put_limits("/a", "8:0 rbps=1 wbps=max riops=max wiops=max\n");
	put_other("/a", "blkio.throttle.read_bps_device", "8:16 7\n");
	put_other("/a", "blkio.throttle.write_iops_device", "8:0 40\n8:16 50\n");
	expect_limits("8:0", "");
	expect_file(6, "8:0", "/ 1048576");
	expect_file(6, "8:16", "/a 7");
	expect_file(9, "8:0", "/a 40");
	assert_string_equal(cgroup_limit_file(9, 1), "blkio.throttle.write_iops_device");
	assert_null(cgroup_limit_file(9, 2));
	version = 2;
	expect_file(6, "8:0", "");
}

/* More bytes than one read returns, next to a file that is no directory. */
FIXTURE_TEST(long_file, make_cgroups, remove_cgroups)
{
	char text[3 * 4096] = "", path[128];
	size_t used = 0;

	for (int minor = 0; used < sizeof(text) - 64; minor++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "9:%d rbps=1 wbps=max riops=max wiops=max\n", minor);
	strcat(text, "8:0 rbps=2 wbps=max riops=max wiops=max");
	put_limits("/a", text);
	snprintf(path, sizeof(path), "%s/file", root);
	fclose(fopen(path, "w"));
	expect_limits("8:0", "/a rbps=2 wbps=max riops=max wiops=max");
	expect_limits("9:3", "/a rbps=1 wbps=max riops=max wiops=max");
}

GROUP_FIXTURE(make_disk, remove_disk)
