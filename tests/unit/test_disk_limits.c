// SPDX-License-Identifier: GPL-2.0-or-later

/* Limits of a disk by the files of a made sysfs. */

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange.h"

static char place[] = "/tmp/limits-XXXXXX";

static int made_disk(void **state)
{
	static const char *const directories[] = { "queue", "mq", "mq/0", "mq/1", "mq/2" };
	static const char *const files[][2] = {
		{ "size", "1953525168" },	{ "queue/max_sectors_kb", "1280" },
		{ "queue/max_segments", "128" }, { "queue/max_hw_sectors_kb", "4096" },
		{ "queue/rotational", "1" },	{ "queue/read_ahead_kb", "128" },
		{ "queue/nr_requests", "64" },	{ "mq/0/nr_tags", "254" },
	};
	int disk;

	if (!mkdtemp(place) || chdir(place))
		return -1;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		assert_int_equal(mkdir(directories[i], 0700), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *file = fopen(files[i][0], "w");

		assert_non_null(file);
		fprintf(file, "%s\n", files[i][1]);
		assert_int_equal(fclose(file), 0);
	}
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

static void all_are_read(void **state)
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

/* What is given bios alone has no requests, whatever its queue's directory says. */
static void of_bios_alone(void **state)
{
	struct rt_target target = { .bio_based = true };

	rt_limits_read((int)(intptr_t)*state, &target);
	assert_int_equal(target.capacity_sectors, 1953525168);
	assert_int_equal(target.nr_requests, 0);
	assert_int_equal(target.nr_hw_queues, 0);
	assert_int_equal(target.nr_tags, 0);
}

static void none_are_zero(void **state)
{
	struct rt_target target = { .max_segments = 7 };

	(void)state;
	rt_limits_read(-1, &target);
	assert_int_equal(target.capacity_sectors, 0);
	assert_int_equal(target.max_segments, 0);
	assert_int_equal(target.nr_hw_queues, 0);
	assert_false(target.rotational);
}

/* What lies above a disk in a made sysfs: a controller, a host, the SCSI device. */
static void parents_are_read(void **state)
{
	static const char *const commands[] = {
		"mkdir -p bus/pci bus/scsi bus/other drivers/3w-9xxx drivers/sd pci0/1:0.0/host0/target0:0:7/0:0:7:0",
		"ln -s ../../bus/pci pci0/1:0.0/subsystem; ln -s ../../drivers/3w-9xxx pci0/1:0.0/driver",
		"cd pci0/1:0.0/host0; for name in . target0:0:7 target0:0:7/0:0:7:0; do ln -s /x/bus/scsi $name/subsystem; done",
		"ln -s /x/drivers/sd pci0/1:0.0/host0/target0:0:7/0:0:7:0/driver",
		"mkdir sda sdb; ln -s ../pci0/1:0.0/host0/target0:0:7/0:0:7:0 sda/device",
	};
	struct rt_parents above;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_read),
		cmocka_unit_test(of_bios_alone),
		cmocka_unit_test(none_are_zero),
		cmocka_unit_test(parents_are_read),
	};

	return cmocka_run_group_tests_name("disk-limits", tests, made_disk, remove_disk);
}
