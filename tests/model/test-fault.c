// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults on request: when each strikes, what the driver is told, and that no data is lost that redundancy keeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "member.h"
#include "scsi.h"
#include "suites.h"

#define MS 1000000ULL
#define SMALL "store_mib=16,log_entries=9999,drive.sectors=65536,array.stripe_kib=16,"

/* Every level that outlives a member, with its number of members and of data columns. */
static const struct { const char *shape; u32 drives; } levels[] = {
	{ SMALL "array.level=raid1,array.drives=2,", 2 },
	{ SMALL "array.level=raid5,array.drives=3,", 3 },
	{ SMALL "array.level=raid5,array.drives=5,", 5 },
	{ SMALL "array.level=raid10,array.drives=6,", 6 },
};

static struct host *probed(const char *shape, const char *faults)
{
	char text[600];
	struct host *host;

	assert_true(strlen(shape) + strlen(faults) < sizeof(text));
	host = host_create(strcat(strcpy(text, shape), faults));
	driver_probe(host);
	return host;
}

static u16 fetch_event(struct host *host)
{
	static const u8 sense[6] = { 0x03, 0, 0, 0, 128 };

	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_ATTENTION);
	assert_int_equal(driver_command(host, 0, sense, 6, 512), 0);
	return tw_get16(((struct tw_header *)host_at(host, HOST_DATA))->error);
}

static void expect_events(struct host *host, const u16 *codes)
{
	while (*codes)
		assert_int_equal(fetch_event(host), *codes++);
	assert_int_equal(fetch_event(host), TW_AEN_EMPTY);
}

static void pass(struct host *host, u64 ns)
{
	u64 end = host->clock + ns;

	while (host->wake <= end) {
		host->clock = host->wake > host->clock ? host->wake : host->clock;
		host->wake = TW_NEVER;
		tw_model_tick(&host->model);
	}
	host->clock = end;
}

static u8 read_at(struct host *host, u64 lba, u32 sectors)
{
	driver_transfer(host, 1, false, lba, sectors, 0);
	return driver_finish(host, 1);
}

static u8 write_at(struct host *host, u64 lba, u32 sectors, int byte)
{
	memset(host_at(host, HOST_DATA), byte, sectors * 512);
	driver_transfer(host, 1, true, lba, sectors, 0);
	return driver_finish(host, 1);
}

/* Return: status of the newest log entry. */
static u8 last_status(struct host *host)
{
	return tw_log_at(&host->model.log, host->model.log.count - 1)->status;
}

static void a_command_is_lost_by_each_trigger(void **state)
{
	static const char *const triggers[] = { "fault.lose_command=3", "fault.lose_ms=50", "fault.lose_lba=1003" };
	size_t i;

	(void)state;
	for (i = 0; i < TW_COUNT(triggers); i++) {
		struct host *host = probed(SMALL "array.drives=4,", triggers[i]);

		assert_int_equal(read_at(host, 0, 8), 0);
		assert_int_equal(write_at(host, 900, 8, 1), 0);
		pass(host, 60 * MS);
		driver_transfer(host, 2, false, 1000, 8, 0);
		assert_int_equal(last_status(host), TW_LOG_LOST);
		pass(host, 60000 * MS);
		assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_RESPONSE_EMPTY);
		/* Once only. */
		assert_int_equal(read_at(host, 1000, 8), 0);
		host_destroy(host);
	}
}

static void a_bad_sector_has_its_sense_and_what_is_before_it(void **state)
{
	struct host *host = probed(SMALL "array.drives=4,", "fault.medium_lba=5000,fault.medium_sectors=3");
	const struct tw_header *header = driver_header(host, 1);
	static const u8 place[] = { 0, 0, 0x13, 0x88 };

	(void)state;
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
	host_destroy(host);
}

static void redundancy_repairs_a_bad_sector(void **state)
{
	struct host *host = probed(levels[2].shape, "fault.medium_command=2");

	(void)state;
	assert_int_equal(write_at(host, 100, 8, 0x44), 0);
	assert_int_equal(read_at(host, 100, 8), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x44);
	expect_events(host, (const u16[]){ TW_AEN_DRIVE_ECC_ERROR, TW_AEN_SECTOR_REPAIRED, 0 });
	assert_int_equal(read_at(host, 100, 8), 0);
	expect_events(host, (const u16[]){ 0 });
	host_destroy(host);
}

static void a_drive_becomes_slow(void **state)
{
	struct host *host = probed(SMALL "array.drives=4,", "fault.slow_member=2,fault.slow_command=3,fault.slow_factor=50");
	u64 before;

	(void)state;
	before = host->clock;
	assert_int_equal(read_at(host, 32 * 900 + 32, 8), 0);
	assert_true(host->clock - before < 40 * MS);
	assert_int_equal(read_at(host, 32 * 400 + 64, 8), 0);
	before = host->clock;
	assert_int_equal(read_at(host, 32 * 4 + 32, 8), 0);
	assert_true(host->clock - before > 50 * MS);
	host_destroy(host);
}

static void without_redundancy_a_removed_drive_takes_the_unit_along(void **state)
{
	struct host *host = probed(SMALL "array.level=single,array.drives=1,array.units=3,",
				   "fault.remove_member=2,fault.remove_command=2");
	u8 cdb[16] = { 0x28, [8] = 1 };
	struct segment segment = { HOST_DATA, 512 };

	(void)state;
	assert_int_equal(write_at(host, 9, 1, 7), 0);
	assert_int_equal(read_at(host, 9, 1), 0);
	expect_events(host, (const u16[]){ TW_AEN_DRIVE_REMOVED, TW_AEN_INCOMPLETE_UNIT, 0 });
	driver_scsi(host, 1, 1, cdb, &segment, 1);
	assert_int_equal(driver_finish(host, 1), 1);
	assert_int_equal(tw_get16(driver_header(host, 1)->error), TW_ERROR_UNIT_OFFLINE);
	assert_int_equal(driver_header(host, 1)->sense[2], TW_SENSE_NOT_READY);
	driver_scsi(host, 1, 2, cdb, &segment, 1);
	assert_int_equal(driver_finish(host, 1), 0);
	host_destroy(host);
}

static void a_unit_goes_and_others_stay(void **state)
{
	static const u8 ready[6] = { 0 };
	struct host *host = probed(SMALL "array.level=raid1,array.drives=2,array.units=2,", "fault.gone_ms=100,fault.unit=1");

	(void)state;
	assert_int_equal(driver_command(host, 1, ready, 6, 0), 0);
	pass(host, 200 * MS);
	assert_true(host->irq);
	assert_int_equal(driver_command(host, 1, ready, 6, 0), 1);
	assert_int_equal(driver_header(host, 0)->sense[13], 3);
	assert_int_equal(driver_command(host, 0, ready, 6, 0), 0);
	expect_events(host, (const u16[]){ TW_AEN_UNIT_DELETED, 0 });
	host_destroy(host);
}

static void the_queue_is_full_for_a_while(void **state)
{
	struct host *host = probed(SMALL "array.drives=4,", "fault.full_command=2,fault.full_for_ms=30");
	u32 irqs;

	(void)state;
	assert_int_equal(read_at(host, 0, 8), 0);
	assert_false(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL);
	assert_int_equal(read_at(host, 0, 8), 0);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL);
	irqs = host->irqs;
	/* The driver puts its command aside and asks to be told when there is room. */
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_UNMASK_COMMAND);
	pass(host, 20 * MS);
	assert_int_equal(host->irqs, irqs);
	pass(host, 20 * MS);
	assert_int_equal(host->irqs, irqs + 1);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND);
	assert_false(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_COMMAND_FULL);
	host_destroy(host);
}

static void the_controller_resets_itself(void **state)
{
	struct host *host = probed(SMALL "array.drives=4,", "fault.reset_command=3");
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		driver_transfer(host, 10 + i, false, i * 1000, 8, i * 4096);
	pass(host, 60000 * MS);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_RESPONSE_EMPTY);
	assert_int_equal(host->model.depth[0], 0);
	for (i = host->model.log.count - 3; i < host->model.log.count; i++)
		assert_int_equal(tw_log_at(&host->model.log, i)->status, TW_LOG_RESET);
	expect_events(host, (const u16[]){ TW_AEN_RESET, 0 });
	for (i = 0; i < 3; i++) {
		driver_transfer(host, 10 + i, false, i * 1000, 8, i * 4096);
		assert_int_equal(driver_finish(host, 10 + i), 0);
	}
	host_destroy(host);
}

/* One random READ or WRITE, compared with a plain memory image. */
static void random_command(struct host *host, u8 *truth, u64 *seed, u32 capacity)
{
	u32 sectors = 1 + random_number(seed) % 150, lba = random_number(seed) % (capacity - sectors);
	u8 *data = host_at(host, HOST_DATA);

	if (random_number(seed) % 2) {
		if (random_number(seed) % 4)
			random_fill(seed, data, sectors * 512);
		else
			memset(data, (int)(random_number(seed) % 3), sectors * 512);
		memcpy(truth + lba * 512, data, sectors * 512);
		driver_transfer(host, 1, true, lba, sectors, 0);
		assert_int_equal(driver_finish(host, 1), 0);
		return;
	}
	memset(data, 0xee, sectors * 512);
	assert_int_equal(read_at(host, lba, sectors), 0);
	assert_memory_equal(data, truth + lba * 512, sectors * 512);
}

static void everything_reads_back(struct host *host, const u8 *truth, u32 capacity)
{
	u32 lba;

	for (lba = 0; lba < capacity; lba += 128) {
		assert_int_equal(read_at(host, lba, 128), 0);
		assert_memory_equal(host_at(host, HOST_DATA), truth + lba * 512, 128 * 512);
	}
}

/* Whichever member goes, whatever is written meanwhile: what is read is what was written. */
static void data_outlives_a_drive_and_its_rebuild(void **state)
{
	enum { SPAN = 4096 };
	u8 *truth = malloc(SPAN * 512);
	u64 seed = 77;
	size_t i;
	u32 member, round;

	(void)state;
	for (i = 0; i < TW_COUNT(levels); i++)
		for (member = 1; member <= levels[i].drives; member++) {
			char faults[160];
			struct host *host;
			u32 during = 0;

			snprintf(faults, sizeof(faults), "fault.remove_member=%u,fault.remove_command=200,fault.replace_ms=1000,"
				 "array.background_kib=16,array.background_pause_us=3000,controller.cache_mib=1", member);
			host = probed(levels[i].shape, faults);
			memset(truth, 0, SPAN * 512);
			for (round = 0; round < 300; round++)
				random_command(host, truth, &seed, SPAN);
			assert_int_equal(host->model.timing.health[0].missing, member - 1);
			expect_events(host, (const u16[]){ TW_AEN_DRIVE_REMOVED, TW_AEN_DEGRADED_UNIT, 0 });
			everything_reads_back(host, truth, SPAN);
			pass(host, 1000 * MS);
			while (host->model.background.kind == TW_BACKGROUND_REBUILD && ++during < 400)
				random_command(host, truth, &seed, SPAN);
			assert_true(during > 20);
			everything_reads_back(host, truth, SPAN);
			pass(host, 200000 * MS);
			assert_int_equal(host->model.timing.health[0].missing, TW_NO_MEMBER);
			expect_events(host, (const u16[]){ TW_AEN_DRIVE_INSERTED, TW_AEN_REBUILD_STARTED, TW_AEN_REBUILD_DONE, 0 });
			everything_reads_back(host, truth, SPAN);
			/* Copies and parity as well: another member could go now. */
			assert_int_equal(tw_members_verify(&host->model, 0, 0, SPAN), 0);
			host_destroy(host);
		}
	free(truth);
}

/* Without this the test above would show nothing: the member's contents are really away. */
static void a_removed_member_holds_nothing(void **state)
{
	struct host *host = probed(levels[2].shape, "fault.remove_member=1,fault.remove_ms=1000");
	u8 sector[512];

	(void)state;
	assert_int_equal(write_at(host, 0, 256, 0x61), 0);
	tw_store_read(&host->model.store, 0, 1, sector);
	assert_int_equal(sector[0], 0x61);
	pass(host, 2000 * MS);
	tw_store_read(&host->model.store, 0, 1, sector);
	assert_int_equal(sector[0], 0);
	assert_int_equal(read_at(host, 0, 1), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x61);
	/* Nor is anything written to it any more. */
	assert_int_equal(write_at(host, 0, 256, 0x62), 0);
	tw_store_read(&host->model.store, 0, 1, sector);
	assert_int_equal(sector[0], 0);
	assert_int_equal(read_at(host, 0, 1), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x62);
	host_destroy(host);
}

/* What is not redundant any more cannot be repaired. */
static void a_bad_sector_in_a_degraded_unit_is_an_error(void **state)
{
	struct host *host = probed(levels[2].shape,
				   "fault.remove_member=1,fault.remove_ms=10,fault.medium_ms=20,fault.medium_lba=64");

	(void)state;
	pass(host, 50 * MS);
	assert_int_equal(read_at(host, 64, 1), 1);
	host_destroy(host);
}

/* A rebuild takes longer while there is work, and work takes longer while there is a rebuild. */
static void a_rebuild_and_commands_slow_each_other(void **state)
{
	static const char faults[] = "fault.remove_member=1,fault.remove_ms=10,fault.replace_ms=10,"
				     "array.background_pause_us=2000";
	struct host *idle = probed(levels[2].shape, faults), *busy = probed(levels[2].shape, faults);
	u64 seed = 4, sound = 0, begin, worked = 0;
	u32 i;

	(void)state;
	begin = busy->clock;
	for (i = 0; i < 20 || busy->model.timing.health[0].missing != TW_NO_MEMBER; i++) {
		u64 before = busy->clock;

		read_at(busy, random_number(&seed) % 200000, 8);
		worked += busy->clock - before;
		assert_true(i < 100000);
	}
	worked /= i;
	pass(idle, busy->clock - begin - 1 * MS);
	assert_int_equal(idle->model.background.kind, TW_BACKGROUND_NONE);
	for (i = 0; i < 100; i++) {
		u64 before = busy->clock;

		read_at(busy, random_number(&seed) % 200000, 8);
		sound += (busy->clock - before) / 100;
	}
	assert_true(worked > sound);
	host_destroy(idle);
	host_destroy(busy);
}

static void a_unit_is_initialised_and_verified(void **state)
{
	static const char *const keys[] = { "array.initialize=1", "array.verify=1" };
	static const u16 done[] = { TW_AEN_INITIALIZE_DONE, TW_AEN_VERIFY_DONE };
	size_t i, level;
	u64 seed = 6;
	u32 j;

	(void)state;
	for (level = 0; level < TW_COUNT(levels); level++)
		for (i = 0; i < TW_COUNT(keys); i++) {
			struct host *host = probed(levels[level].shape, keys[i]);
			u8 *truth = calloc(4096, 512);

			/* That it began was told before the driver came, which drains and ignores it. */
			assert_int_not_equal(host->model.background.kind, TW_BACKGROUND_NONE);
			for (j = 0; j < 50; j++)
				random_command(host, truth, &seed, 4096);
			pass(host, 100000 * MS);
			expect_events(host, (const u16[]){ done[i], 0 });
			assert_int_equal(host->model.background.differing, 0);
			assert_int_equal(tw_members_verify(&host->model, 0, 0, 65536), 0);
			host_destroy(host);
			free(truth);
		}
}

static void verifying_sees_a_member_that_differs(void **state)
{
	struct host *host = probed(levels[2].shape, "array.verify=1");
	u8 sector[512] = { 1 };

	(void)state;
	assert_int_equal(write_at(host, 0, 256, 0x61), 0);
	assert_true(tw_store_write(&host->model.store, 40000, 1, sector));
	pass(host, 100000 * MS);
	assert_int_equal(host->model.background.differing, 1);
	host_destroy(host);
}

int fault_suite(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_lost_by_each_trigger),
		cmocka_unit_test(a_bad_sector_has_its_sense_and_what_is_before_it),
		cmocka_unit_test(redundancy_repairs_a_bad_sector),
		cmocka_unit_test(a_drive_becomes_slow),
		cmocka_unit_test(without_redundancy_a_removed_drive_takes_the_unit_along),
		cmocka_unit_test(a_unit_goes_and_others_stay),
		cmocka_unit_test(the_queue_is_full_for_a_while),
		cmocka_unit_test(the_controller_resets_itself),
		cmocka_unit_test(data_outlives_a_drive_and_its_rebuild),
		cmocka_unit_test(a_removed_member_holds_nothing),
		cmocka_unit_test(a_bad_sector_in_a_degraded_unit_is_an_error),
		cmocka_unit_test(a_rebuild_and_commands_slow_each_other),
		cmocka_unit_test(a_unit_is_initialised_and_verified),
		cmocka_unit_test(verifying_sees_a_member_that_differs),
	};

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
