// SPDX-License-Identifier: GPL-2.0-or-later

/* Journals in images; the file systems' own tools give the expected sectors. */

#include "unit.h"

#include <errno.h>
#include <inttypes.h>

#include "disk/disk.h"

static char image[] = "/tmp/test-journal-XXXXXX";

static void run_command(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run_command(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

/* The numbers that a tool prints. */
static size_t read_numbers(const char *command, uint64_t *ret, size_t most)
{
	char line[512];
	FILE *answer;
	size_t nr = 0;

	snprintf(line, sizeof(line), "%s", command);
	answer = popen(line, "r");
	assert_non_null(answer);
	while (nr < most && fscanf(answer, "%" SCNu64, &ret[nr]) == 1)
		nr++;
	pclose(answer);
	return nr;
}

/* The blocks that debugfs lists for inode 8 are in the extents, and no other sector is. */
static void expect_extents_of_debugfs(unsigned int block_size)
{
	static uint64_t blocks[100000];
	struct journal journal;
	char command[256];
	uint64_t sectors = 0;
	size_t nr, inside = 0;

	snprintf(command, sizeof(command),
		 "debugfs -R 'blocks <8>' %s 2>/dev/null", image);
	nr = read_numbers(command, blocks, 100000);
	assert_true(nr > 100);
	assert_int_equal(journal_read(image, "ext4", "rw", &journal), 0);
	assert_true(journal.nr >= 1);
	assert_string_equal(journal.device, "");
	for (size_t e = 0; e < journal.nr; e++)
		sectors += journal.extents[e].nr_sectors;
	for (size_t i = 0; i < nr; i++) {
		uint64_t sector = blocks[i] * block_size / 512;
		bool is_inside = false;

		for (size_t e = 0; e < journal.nr; e++)
			is_inside |= sector >= journal.extents[e].sector &&
				 sector + block_size / 512 <=
				 journal.extents[e].sector +
				 journal.extents[e].nr_sectors;
		inside += is_inside;
	}
	/* debugfs lists the blocks of the map of an ext3 journal too. */
	assert_true(inside >= nr - nr / 100 - 4);
	assert_int_equal(sectors, inside * block_size / 512);
	journal_free(&journal);
}

TEST(ext4_and_ext3)
{
	run_command("truncate -s 64M %s && mke2fs -q -F -t ext4 -b 4096 %s", image, image);
	expect_extents_of_debugfs(4096);
	run_command("mke2fs -q -F -t ext4 -b 1024 -J size=16 %s", image);
	expect_extents_of_debugfs(1024);
	run_command("mke2fs -q -F -t ext3 -b 1024 %s", image);
	expect_extents_of_debugfs(1024);
}

TEST(ext2_has_none)
{
	struct journal journal;

	run_command("mke2fs -q -F -t ext2 %s", image);
	assert_int_equal(journal_read(image, "ext2", NULL, &journal), 0);
	assert_int_equal(journal.nr, 0);
	/* A journal on a device that is not there is not known. */
	run_command("truncate -s 300M %s.j && mke2fs -q -F -b 4096 -O journal_dev %s.j 2048", image, image);
	run_command("mke2fs -q -F -t ext4 -b 4096 -O ^has_journal %s && debugfs -w -f - %s >/dev/null 2>&1 <<X\n"
	    "feature +has_journal\nset_super_value journal_uuid 11111111-2222-3333-4444-555555555555\nX", image, image);
	assert_int_equal(journal_read(image, "ext4", NULL, &journal), -ENODEV);
	run_command("rm -f %s.j", image);
}

TEST(xfs)
{
	struct journal journal;
	uint64_t expected[2];
	char command[512];

	run_command("truncate -s 400M %s && mkfs.xfs -q -f %s", image, image);
	snprintf(command, sizeof(command),
		 "xfs_db -r -c 'sb 0' -c 'p logstart logblocks' %s | sed 's/.*= //'; "
		 "xfs_db -r -c \"convert fsblock $(xfs_db -r -c 'sb 0' -c 'p logstart' %s | sed 's/.*= //') daddr\" %s | sed 's/.*(\\([0-9]*\\)).*/\\1/'",
		 image, image, image);
	{
		uint64_t numbers[3];

		assert_int_equal(read_numbers(command, numbers, 3), 3);
		expected[0] = numbers[2];
		expected[1] = numbers[1] * 8;
	}
	assert_int_equal(journal_read(image, "xfs", "rw", &journal), 0);
	assert_int_equal(journal.nr, 1);
	assert_int_equal(journal.extents[0].sector, expected[0]);
	assert_int_equal(journal.extents[0].nr_sectors, expected[1]);
	journal_free(&journal);
}

TEST(xfs_external)
{
	struct journal journal;
	char options[128];

	run_command("truncate -s 400M %s && rm -f %s.log && truncate -s 64M %s.log && mkfs.xfs -q -f -l logdev=%s.log,size=64m %s",
	    image, image, image, image, image);
	snprintf(options, sizeof(options), "rw,logdev=%s.log,noquota", image);
	assert_int_equal(journal_read(image, "xfs", options, &journal), 0);
	assert_int_equal(journal.nr, 1);
	assert_int_equal(journal.extents[0].sector, 0);
	assert_int_equal(journal.extents[0].nr_sectors, 64 << 11);
	assert_non_null(strstr(journal.device, ".log"));
	journal_free(&journal);
	assert_int_equal(journal_read(image, "xfs", "rw", &journal), -ENODEV);
	assert_int_equal(journal_read(image, "xfs", "logdev=/nowhere/log", &journal), -ENOENT);
	run_command("rm -f %s.log", image);
}

TEST(no_such_file_system)
{
	struct journal journal;

	run_command("truncate -s 0 %s && truncate -s 1M %s", image, image);
	assert_int_equal(journal_read(image, "ext4", NULL, &journal), -EINVAL);
	assert_int_equal(journal_read(image, "xfs", NULL, &journal), -EINVAL);
	assert_int_equal(journal_read(image, "btrfs", NULL, &journal), -ENOTSUP);
	assert_int_equal(journal_read("/nonexistent", "xfs", NULL, &journal), -ENOENT);
}

static int make_image(void **state)
{
	(void)state;
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	return close(mkstemp(image));
}

static int remove_image(void **state)
{
	(void)state;
	return unlink(image);
}

GROUP_FIXTURE(make_image, remove_image)
