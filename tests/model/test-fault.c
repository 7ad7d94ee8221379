// SPDX-License-Identifier: GPL-2.0-or-later
/* Configured faults: when each strikes, and the status that the driver gets. */
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "3w-9xxx/wire/wire.h"

/* Return: status of the newest log entry. */
static u8 last_status(struct host *host)
{
	return rl_log_at(&host->model.device.log, host->model.device.log.count - 1)->status;
}

TEST(a_bad_sector_has_its_sense_and_what_is_before_it)
{
	struct host *host = probed(SMALL_ARRAY "array.drives=4,", "fault.medium_lba=5000,fault.medium_sectors=3");
	const struct tw_header *header = driver_header(host, 1);
	static const u8 place[] = { 0, 0, 0x13, 0x88 };

	assert_int_equal(read_at(host, 4992, 8), 0);
	assert_int_equal(read_at(host, 5003, 8), 0);
	memset(host_at(host, HOST_DATA), 0x77, 16 * 512);
	assert_int_equal(read_at(host, 4996, 16), 1);
	assert_int_equal(header->sense[0], 0xf0);
	assert_int_equal(header->sense[2], TW_SENSE_MEDIUM);
	assert_int_equal(header->sense[12], TW_ASC_READ_ERROR);
	assert_memory_equal(header->sense + 3, place, 4);
	assert_int_equal(tw_get16(header->error), TW_ERROR_MEDIUM);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA + 4 * 512 - 1), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA + 4 * 512), 0x77);
	assert_int_equal(read_at(host, 5001, 1), 1);
	expect_events(host, (const u16[]){ TW_AEN_DRIVE_ECC_ERROR, TW_AEN_DRIVE_ECC_ERROR, 0 });
	/* Written, they are good again: the drive has put them elsewhere. */
	assert_int_equal(write_at(host, 5000, 2, 0x33), 0);
	assert_int_equal(read_at(host, 5000, 2), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x33);
	assert_int_equal(read_at(host, 5000, 3), 1);
	assert_int_equal(write_at(host, 4000, 200, 1), 0);
	assert_int_equal(read_at(host, 5002, 1), 1);
	assert_int_equal(write_at(host, 4990, 100, 1), 0);
	assert_int_equal(read_at(host, 4990, 100), 0);
}

TEST(redundancy_repairs_a_bad_sector)
{
	struct host *host = probed(redundant_levels[2].shape, "fault.medium_command=2");

	assert_int_equal(write_at(host, 100, 8, 0x44), 0);
	assert_int_equal(read_at(host, 100, 8), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x44);
	expect_events(host, (const u16[]){ TW_AEN_DRIVE_ECC_ERROR, TW_AEN_SECTOR_REPAIRED, 0 });
	assert_int_equal(read_at(host, 100, 8), 0);
	expect_events(host, (const u16[]){ 0 });
}

TEST(a_drive_becomes_slow)
{
	struct host *host = probed(SMALL_ARRAY "array.drives=4,", "fault.slow_member=2,fault.slow_command=3,fault.slow_factor=50");
	u64 before;

	before = host->clock;
	assert_int_equal(read_at(host, 32 * 900 + 32, 8), 0);
	assert_true(host->clock - before < 40 * MS);
	assert_int_equal(read_at(host, 32 * 400 + 64, 8), 0);
	before = host->clock;
	assert_int_equal(read_at(host, 32 * 4 + 32, 8), 0);
	assert_true(host->clock - before > 50 * MS);
}

TEST(without_redundancy_a_removed_drive_takes_the_unit_along)
{
	struct host *host = probed(SMALL_ARRAY "array.level=single,array.drives=1,array.units=3,",
				   "fault.remove_member=2,fault.remove_command=2");
	u8 cdb[16] = { 0x28, [8] = 1 };
	struct segment segment = { HOST_DATA, 512 };

	assert_int_equal(write_at(host, 9, 1, 7), 0);
	assert_int_equal(read_at(host, 9, 1), 0);
	expect_events(host, (const u16[]){ TW_AEN_DRIVE_REMOVED, TW_AEN_INCOMPLETE_UNIT, 0 });
	driver_scsi(host, 1, 1, cdb, &segment, 1);
	assert_int_equal(driver_finish(host, 1), 1);
	assert_int_equal(tw_get16(driver_header(host, 1)->error), TW_ERROR_UNIT_OFFLINE);
	assert_int_equal(driver_header(host, 1)->sense[2], TW_SENSE_NOT_READY);
	driver_scsi(host, 1, 2, cdb, &segment, 1);
	assert_int_equal(driver_finish(host, 1), 0);
}

TEST(a_unit_goes_and_others_stay)
{
	static const u8 ready[6] = { 0 };
	struct host *host = probed(SMALL_ARRAY "array.level=raid1,array.drives=2,array.units=2,", "fault.gone_ms=100,fault.unit=1");

	assert_int_equal(driver_command(host, 1, ready, 6, 0), 0);
	host_pass(host, 200 * MS);
	assert_true(host->irq);
	assert_int_equal(driver_command(host, 1, ready, 6, 0), 1);
	assert_int_equal(driver_header(host, 0)->sense[13], 3);
	assert_int_equal(driver_command(host, 0, ready, 6, 0), 0);
	expect_events(host, (const u16[]){ TW_AEN_UNIT_DELETED, 0 });
}

TEST(the_queue_is_full_for_a_while)
{
	struct host *host = probed(SMALL_ARRAY "array.drives=4,", "fault.full_command=2,fault.full_for_ms=30");
	u32 irqs;

	assert_int_equal(read_at(host, 0, 8), 0);
	assert_false(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL);
	assert_int_equal(read_at(host, 0, 8), 0);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL);
	irqs = host->irqs;
	/* The driver sets its command aside and requests an interrupt when there is room. */
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_UNMASK_COMMAND);
	host_pass(host, 20 * MS);
	assert_int_equal(host->irqs, irqs);
	host_pass(host, 20 * MS);
	assert_int_equal(host->irqs, irqs + 1);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND);
	assert_false(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL);
}

TEST(the_controller_resets_itself)
{
	struct host *host = probed(SMALL_ARRAY "array.drives=4,", "fault.reset_command=3");
	u32 i;

	for (i = 0; i < 3; i++)
		driver_transfer(host, 10 + i, false, i * 1000, 8, i * 4096);
	host_pass(host, 60000 * MS);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_RESPONSE_EMPTY);
	assert_int_equal(host->model.depth[0], 0);
	for (i = host->model.device.log.count - 3; i < host->model.device.log.count; i++)
		assert_int_equal(rl_log_at(&host->model.device.log, i)->status, RL_LOG_RESET);
	expect_events(host, (const u16[]){ TW_AEN_RESET, 0 });
	for (i = 0; i < 3; i++) {
		driver_transfer(host, 10 + i, false, i * 1000, 8, i * 4096);
		assert_int_equal(driver_finish(host, 10 + i), 0);
	}
}

/* Data without redundancy cannot be repaired. */
TEST(a_bad_sector_in_a_degraded_unit_is_an_error)
{
	struct host *host = probed(redundant_levels[2].shape,
				   "fault.remove_member=1,fault.remove_ms=10,fault.medium_ms=20,fault.medium_lba=64");

	host_pass(host, 50 * MS);
	assert_int_equal(read_at(host, 64, 1), 1);
}

static bool is_lost(struct host *host)
{
	return last_status(host) == RL_LOG_LOST;
}

static bool is_bad(struct host *host)
{
	return host->model.fault.bad.sectors == 3;
}

static bool is_slow(struct host *host)
{
	return host->model.timing.drive[1].slow == 50;
}

static bool is_offline(struct host *host)
{
	return host->model.fault.offline[0];
}

static bool is_full(struct host *host)
{
	return tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL;
}

/* By command or place the command goes with it; by time there may be none. */
static bool is_reset(struct host *host)
{
	u32 i;

	for (i = 0; i < host->model.nr_events; i++)
		if (host->model.event[i].code == TW_AEN_RESET)
			return true;
	return false;
}

/* Every kind of fault strikes by command count, by time, and by place. */
TEST(every_fault_strikes_by_each_trigger)
{
	static const struct { const char *name, *more; bool (*struck)(struct host *host); } kinds[] = {
		[TW_FAULT_LOSE] = { "lose", "", is_lost },
		[TW_FAULT_MEDIUM] = { "medium", ",fault.medium_lba=1001,fault.medium_sectors=3", is_bad },
		[TW_FAULT_SLOW] = { "slow", ",fault.slow_member=2,fault.slow_factor=50", is_slow },
		[TW_FAULT_REMOVE] = { "remove", ",fault.remove_member=2", is_offline },
		[TW_FAULT_RESET] = { "reset", "", is_reset },
		[TW_FAULT_FULL] = { "full", ",fault.full_for_ms=900", is_full },
		[TW_FAULT_GONE] = { "gone", "", is_offline },
		[TW_FAULT_SECOND] = { "second", ",fault.second_member=1", is_offline },
		[TW_FAULT_POWER] = { "power", "", is_reset },
	};
	static const char *const triggers[] = { "command=3", "ms=50", "lba=1003" };
	size_t i, j;

	assert_int_equal(RL_COUNT(kinds), TW_FAULTS);
	for (i = 0; i < TW_FAULTS; i++)
		for (j = 0; j < RL_COUNT(triggers); j++) {
			char text[200];
			struct host *host;

			/* Sectors that cannot be read are a place, and have no other. */
			if (i == TW_FAULT_MEDIUM && j == 2)
				continue;
			snprintf(text, sizeof(text), "fault.%s_%s%s", kinds[i].name, triggers[j], kinds[i].more);
			host = probed(SMALL_ARRAY "array.drives=4,", text);
			while (fetch_event(host))
				;
			assert_int_equal(read_at(host, 0, 8), 0);
			assert_int_equal(write_at(host, 900, 8, 1), 0);
			if (kinds[i].struck(host))
				fail_msg("%s strikes too early", text);
			host_pass(host, 60 * MS);
			driver_transfer(host, 2, false, 1000, 8, 0);
			if (!kinds[i].struck(host))
				fail_msg("%s does not strike", text);
			/* Once only. */
			if (i == TW_FAULT_LOSE)
				assert_int_equal(read_at(host, 1000, 8), 0);
			host_destroy(host);
		}
}
