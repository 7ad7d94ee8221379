// SPDX-License-Identifier: GPL-2.0-or-later
/* The NVMe drive's faults, by each trigger. */
#include <stdio.h>
#include <string.h>

#include "nvme-driver.h"

static bool is_lost(struct drive *drive)
{
	return drive_last(drive)->status == RL_LOG_LOST;
}

static bool is_bad(struct drive *drive)
{
	return drive->host->nvme.fault.bad.sectors == 3;
}

static bool is_slow(struct drive *drive)
{
	return drive->host->nvme.timing.flash.slow == 50;
}

static bool is_failed(struct drive *drive)
{
	return drive_read(drive, NV_REG_CSTS) == (NV_CSTS_READY | NV_CSTS_FATAL);
}

static bool is_gone(struct drive *drive)
{
	return drive_read(drive, NV_REG_CSTS) == 0xffffffff && drive_read(drive, NV_REG_VS) == 0xffffffff &&
	       nv_kind.read(&drive->host->nvme.device, NV_REG_CAP, 8) == ~0ULL;
}

/* Every kind of fault strikes by command count, by time, and by place. */
TEST(every_fault_strikes_by_each_trigger)
{
	static const struct { const char *name, *more; bool (*struck)(struct drive *drive); } kinds[] = {
		[NV_FAULT_LOSE] = { "lose", "", is_lost },
		[NV_FAULT_MEDIUM] = { "medium", ",fault.medium_lba=1001,fault.medium_sectors=3", is_bad },
		[NV_FAULT_SLOW] = { "slow", ",fault.slow_factor=50", is_slow },
		[NV_FAULT_RESET] = { "reset", "", is_failed },
		[NV_FAULT_GONE] = { "gone", "", is_gone },
	};
	static const char *const triggers[] = { "command=3", "ms=50", "lba=1003" };
	size_t i, j;

	assert_int_equal(RL_COUNT(kinds), NV_FAULTS);
	for (i = 0; i < NV_FAULTS; i++)
		for (j = 0; j < RL_COUNT(triggers); j++) {
			char text[300];
			struct drive *drive;
			struct command read;

			/* Sectors that cannot be read are a place, and have no other. */
			if (i == NV_FAULT_MEDIUM && j == 2)
				continue;
			snprintf(text, sizeof(text), QUICK_DRIVE ",fault.%s_%s%s", kinds[i].name, triggers[j], kinds[i].more);
			drive = drive_ready(text, 8);
			assert_int_equal(drive_transfer(drive, false, 0, 8, 0), NV_GOOD);
			/* Only commands that move data count. */
			assert_int_equal(drive_run(drive, 1, io_command(NV_FLUSH, 0, 0), NULL), NV_GOOD);
			assert_int_equal(drive_run(drive, 1, io_command(NV_READ, 1048576, 8), NULL), NV_BAD_LBA);
			assert_int_equal(drive_transfer(drive, true, 1004, 8, 0), NV_GOOD);
			if (kinds[i].struck(drive))
				fail_msg("%s strikes too early", text);
			drive_pass(drive, 60 * MS);
			read = transfer(drive, false, 1000, 8, 0);
			drive_submit(drive, 1, &read);
			if (!kinds[i].struck(drive))
				fail_msg("%s does not strike", text);
			host_destroy(drive->host);
		}
}

TEST(a_lost_command_is_lost_until_a_reset)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",fault.lose_command=2", 8);
	struct command command = transfer(drive, true, 100, 8, 0);
	struct completion completion;
	u32 result;
	u16 id;

	memset(host_at(drive->host, HOST_DATA), 0x11, 4096);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
	memset(host_at(drive->host, HOST_DATA), 0x22, 4096);
	id = drive_submit(drive, 1, &command);
	drive_pass(drive, 60000 * MS);
	assert_false(drive_poll(drive, 1, &completion));
	assert_int_equal(drive->host->nvme.depth, 1);
	/* The driver sends an abort, which does not help. */
	assert_int_equal(drive_run(drive, 0, admin_command(NV_ABORT, 0, (u32)id << 16 | 1, 0), &result), NV_GOOD);
	assert_int_equal(result, 1);
	/* Others go on. The lost write was not executed. */
	assert_int_equal(drive_transfer(drive, false, 100, 8, 4096), NV_GOOD);
	assert_int_equal(drive_last(drive)->depth, 1);
	assert_int_equal(*(u8 *)host_at(drive->host, HOST_DATA + 4096), 0x11);
	/* The driver deletes the queue, then resets the controller. */
	assert_int_equal(drive_run(drive, 0, admin_command(NV_DELETE_SQ, 0, 1, 0), NULL), NV_GOOD);
	assert_int_equal(drive->host->nvme.depth, 0);
	assert_false(drive_poll(drive, 1, &completion));
	drive_disable(drive);
	assert_int_equal(rl_log_at(&drive->host->nvme.device.log, 3)->status, RL_LOG_LOST);
	drive_enable(drive);
	assert_int_equal(drive_pair(drive, 1, 8), NV_GOOD);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
}

TEST(bad_sectors_fail_until_they_are_written)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",fault.medium_lba=1001,fault.medium_sectors=4", 8);
	u8 *data = host_at(drive->host, HOST_DATA);

	drive_pass(drive, 1);
	assert_int_equal(drive_transfer(drive, false, 993, 8, 0), NV_GOOD);
	assert_int_equal(drive_transfer(drive, false, 994, 8, 0), 0x4281);
	assert_int_equal(drive_last(drive)->status, RL_LOG_FAILED);
	assert_int_equal(drive_transfer(drive, false, 1004, 8, 0), 0x4281);
	assert_int_equal(drive_transfer(drive, false, 1005, 8, 0), NV_GOOD);
	assert_int_equal(drive_transfer(drive, true, 1000, 3, 0), NV_GOOD);
	assert_int_equal(drive_transfer(drive, false, 1000, 3, 0), NV_GOOD);
	assert_int_equal(drive_transfer(drive, false, 1000, 4, 0), 0x4281);
	assert_int_equal(drive_run(drive, 1, io_command(NV_WRITE_ZEROES, 1003, 2), NULL), NV_GOOD);
	assert_int_equal(drive_transfer(drive, false, 990, 30, 0), NV_GOOD);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_LOG, 0, 127 << 16 | 2, 0), NULL), NV_GOOD);
	assert_int_equal(rl_get64(data + 160), 3);
}

/* A deallocation that reaches across the end of the bad sectors makes all that it covers readable. */
TEST(a_deallocation_cures_all_it_covers)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",fault.medium_lba=1000,fault.medium_sectors=8", 8);
	u8 *data = host_at(drive->host, HOST_DATA);
	struct command command = io_command(NV_DATASET, 0, 0);

	drive_pass(drive, 1);
	/* Old data there: the drive has to remove it piece by piece. */
	memset(data, 0x5a, 4096);
	assert_int_equal(drive_transfer(drive, true, 1006, 4, 0), NV_GOOD);
	assert_int_equal(drive_transfer(drive, true, 1004, 1, 0), NV_GOOD);
	assert_int_equal(drive->host->nvme.fault.bad.sectors, 6);
	memset(data, 0, NV_RANGE_BYTES);
	rl_put(data + 4, 100, 4);
	rl_put(data + 8, 1003, 8);
	command_data(drive, &command, 0, NV_RANGE_BYTES);
	rl_put(command.byte + NV_CDW11, NV_DSM_DEALLOCATE, 4);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
	assert_int_equal(drive->host->nvme.fault.bad.lba, 1000);
	assert_int_equal(drive->host->nvme.fault.bad.sectors, 3);
	assert_int_equal(drive_transfer(drive, false, 1003, 100, 0), NV_GOOD);
}

TEST(a_failed_controller_works_after_a_reset)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",fault.reset_command=3", 8);
	struct command read = transfer(drive, false, 0, 8, 0);
	struct completion completion;
	u32 i;

	for (i = 0; i < 2; i++)
		drive_submit(drive, 1, &read);
	/* The controller fails at the first of two commands with one doorbell. */
	for (i = 0; i < 2; i++)
		drive_put(drive, 1, &read);
	drive_ring(drive, 1);
	assert_true(is_failed(drive));
	drive_submit(drive, 1, &read);
	drive_pass(drive, 60000 * MS);
	assert_false(drive_poll(drive, 1, &completion));
	/* Those that it never fetched are in the log, too. */
	assert_int_equal(drive->host->nvme.device.log.count, 7);
	for (i = 2; i < 7; i++)
		assert_int_equal(rl_log_at(&drive->host->nvme.device.log, i)->status, RL_LOG_RESET);
	drive_disable(drive);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), 0);
	drive_enable(drive);
	assert_int_equal(drive_pair(drive, 1, 8), NV_GOOD);
	for (i = 0; i < 10; i++)
		assert_int_equal(drive_run(drive, 1, read, NULL), NV_GOOD);
}

TEST(a_drive_that_is_gone_stays_gone)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",fault.gone_ms=20", 8);
	struct command read = transfer(drive, false, 0, 8, 0);
	struct rl_device *device = &drive->host->nvme.device;

	drive_submit(drive, 1, &read);
	drive_pass(drive, 10 * MS);
	assert_true(drive->host->irq);
	drive_pass(drive, 20 * MS);
	assert_true(is_gone(drive));
	assert_false(drive->host->irq);
	assert_int_equal(drive->host->wake, RL_NEVER);
	drive_submit(drive, 1, &read);
	drive_disable(drive);
	drive_enable(drive);
	nv_kind.event(device, 1);
	nv_kind.reset(device);
	drive_pass(drive, 1000 * MS);
	assert_true(is_gone(drive));
	assert_int_equal(device->log.count, 3);
}

TEST(slow_flash_takes_its_factor)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",flash.read_ns=80000,fault.slow_command=2,fault.slow_factor=7", 8);
	u64 before, good, slow;

	before = drive->host->clock;
	assert_int_equal(drive_transfer(drive, false, 0, 8, 0), NV_GOOD);
	good = drive->host->clock - before;
	before = drive->host->clock;
	assert_int_equal(drive_transfer(drive, false, 0, 8, 0), NV_GOOD);
	slow = drive->host->clock - before;
	assert_true(slow == good + 6 * 80000);
}
