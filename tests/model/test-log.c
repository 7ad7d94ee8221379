// SPDX-License-Identifier: GPL-2.0-or-later
/* The ground-truth log: order, depth, times, and lost entries. */
#include <string.h>

#include "host.h"

static const struct rl_log_entry *last(struct host *host)
{
	return rl_log_at(&host->model.device.log, host->model.device.log.count - 1);
}

HOST_TEST(an_entry_says_what_was_asked)
{
	u64 posted;

	host->clock += 12345;
	posted = host->clock;
	driver_transfer(host, 77, true, 987654, 24, 0);
	assert_int_equal(last(host)->status, RL_LOG_RUNNING);
	assert_int_equal(driver_finish(host, 77), 0);
	assert_int_equal(last(host)->request_id, 77);
	assert_int_equal(last(host)->opcode, 0x8a);
	assert_int_equal(last(host)->unit, 0);
	assert_int_equal(last(host)->lba, 987654);
	assert_int_equal(last(host)->sectors, 24);
	assert_int_equal(last(host)->arrival_ns, posted);
	assert_int_equal(last(host)->completion_ns, host->clock);
	assert_true(host->clock > posted);
	assert_int_equal(last(host)->status, RL_LOG_GOOD);
	assert_string_equal(tw_kind.command_name(last(host)), "WRITE");
}

/* Depth and order against a count kept here, completions in any order. */
HOST_TEST(depth_is_what_arrival_found)
{
	u32 first = host->model.device.log.count, in_flight = 0, posted = 0, i;
	u16 depth[1000];
	bool used[256] = { false };
	u64 seed = 77;

	while (posted < 1000 || in_flight) {
		if (posted < 1000 && in_flight < 200 && random_number(&seed) % 3) {
			u32 id = random_number(&seed) % 256;

			if (used[id])
				continue;
			depth[posted++] = (u16)in_flight++;
			used[id] = true;
			driver_transfer(host, id, random_number(&seed) % 4 == 0, random_number(&seed) % 15000000, 8, 0);
		} else if (in_flight) {
			used[driver_response(host)] = false;
			/* More may have come due at the same time: they have left the controller too. */
			in_flight = host->model.depth[0];
		}
	}
	assert_int_equal(host->model.device.log.count, first + 1000);
	for (i = 0; i < 1000; i++) {
		const struct rl_log_entry *entry = rl_log_at(&host->model.device.log, first + i);

		assert_int_equal(entry->depth, depth[i]);
		assert_int_equal(entry->status, RL_LOG_GOOD);
		assert_true(entry->completion_ns > entry->arrival_ns);
		assert_true(!i || entry->arrival_ns >= rl_log_at(&host->model.device.log, first + i - 1)->arrival_ns);
	}
}

HOST_TEST(what_is_no_command_to_a_unit_counts_in_no_depth)
{
	static const u8 sense[16] = { 0x03, 0, 0, 0, 128 }, inquiry[16] = { 0x12, [4] = 36 };
	struct segment segment = { HOST_DATA, 512 };

	driver_scsi(host, 1, 0, sense, &segment, 1);
	assert_int_equal(last(host)->unit, RL_LOG_ADMIN);
	assert_string_equal(tw_kind.command_name(last(host)), "GET_EVENT");
	driver_param(host, 2, TW_OP_GET_PARAM, TW_TABLE_VERSION, TW_PARAM_BIOS, 16);
	assert_string_equal(tw_kind.command_name(last(host)), "GET_PARAM");
	driver_scsi(host, 3, 5, inquiry, &segment, 1);
	assert_int_equal(last(host)->unit, 5);
	driver_scsi(host, 4, 0, inquiry, &segment, 1);
	assert_int_equal(last(host)->depth, 0);
	assert_string_equal(tw_kind.command_name(last(host)), "INQUIRY");
	driver_scsi(host, 5, 0, inquiry, &segment, 1);
	assert_int_equal(last(host)->depth, 1);
	while (host->wake != RL_NEVER)
		driver_response(host);
	assert_int_equal(host->model.depth[0], 0);
}

HOST_TEST(failures_and_resets_are_marked)
{
	u32 running;

	driver_transfer(host, 1, false, ~0ULL, 8, 0);
	driver_finish(host, 1);
	assert_int_equal(last(host)->status, RL_LOG_FAILED);
	assert_int_equal(last(host)->sectors, 0);
	driver_transfer(host, 1, false, 0, 8, 0);
	running = host->model.device.log.count - 1;
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_SOFT_RESET);
	assert_int_equal(rl_log_at(&host->model.device.log, running)->status, RL_LOG_RESET);
}

TEST(the_lost_command_never_completes)
{
	struct host *host = host_create("store_mib=4,log_entries=99,array.drives=4,fault.lose_command=3");
	u32 i, lost;

	driver_probe(host);
	for (i = 0; i < 5; i++)
		driver_transfer(host, i, i == 2, 1000 * i, 8, 0);
	lost = host->model.device.log.count - 3;
	for (i = 0; i < 4; i++)
		assert_int_not_equal(driver_response(host), 2);
	assert_int_equal(host->wake, RL_NEVER);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_RESPONSE_EMPTY);
	assert_int_equal(rl_log_at(&host->model.device.log, lost)->status, RL_LOG_LOST);
	assert_int_equal(rl_log_at(&host->model.device.log, lost)->lba, 2000);
	assert_int_equal(host->model.depth[0], 1);
	assert_int_equal(rl_store_zero_run(&host->model.store, 2000, 8), 8);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_SOFT_RESET);
	assert_int_equal(rl_log_at(&host->model.device.log, lost)->status, RL_LOG_LOST);
	assert_int_equal(host->model.depth[0], 0);
}

TEST(a_full_log_counts_what_it_could_not_hold)
{
	struct host *host = host_create("store_mib=4,log_entries=5,array.drives=4");
	u32 i;

	for (i = 0; i < 9; i++) {
		driver_transfer(host, 1, false, i * 8, 8, 0);
		assert_int_equal(driver_finish(host, 1), 0);
	}
	assert_int_equal(host->model.device.log.count, 5);
	assert_int_equal(host->model.device.log.lost, 4);
	assert_int_equal(host->model.device.nr_commands, 9);
	assert_int_equal(last(host)->lba, 32);
}
