// SPDX-License-Identifier: GPL-2.0-or-later
/* The NVMe drive: registers, queues, admin commands, interrupts, and everything that it refuses. */
#include <string.h>

#include "host/kinds/kinds.h"
#include "nvme-driver.h"

#define READY	"store_mib=8,log_entries=5000,drive.sectors=131072"

TEST(registers_are_those_of_the_specification)
{
	struct drive *drive = drive_create(READY ",nvme.queues=4");
	struct rl_device *device = &drive->host->nvme.device;
	struct rl_pci pci;

	nv_kind.identify(device, &pci);
	assert_int_equal(pci.class, 0x0108);
	assert_int_equal(pci.interface, 2);
	assert_int_equal(pci.bar, 0);
	assert_int_equal(pci.bar_bytes, 8192);
	assert_int_equal(pci.vectors, 5);
	/* 1024 entries, contiguous, doorbells 4 bytes apart, NVM command set, pages of 4 KiB alone. */
	assert_int_equal(drive_read(drive, 0), 0x010103ff);
	assert_int_equal(drive_read(drive, 4), 0x20);
	assert_true(nv_kind.read(device, 0, 8) == 0x20010103ffULL);
	assert_true(nv_kind.read(device, 0, 2) == ~0ULL);
	assert_int_equal(drive_read(drive, 8), 0x10400);
	assert_int_equal(drive_read(drive, 0x18), 0);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), 0);
	drive_write(drive, NV_REG_AQA, 0x00070003);
	assert_int_equal(drive_read(drive, NV_REG_AQA), 0x00070003);
	nv_kind.write(device, NV_REG_ASQ, 8, 0x123456789fffULL);
	assert_true(nv_kind.read(device, NV_REG_ASQ, 8) == 0x123456789000ULL);
	drive_write(drive, NV_REG_ACQ + 4, 7);
	assert_true(nv_kind.read(device, NV_REG_ACQ, 8) == 7ULL << 32);
	nv_kind.write(device, NV_REG_CC, 2, 1);
	assert_int_equal(drive_read(drive, NV_REG_CC), 0);
}

TEST(it_is_enabled_shut_down_and_reset)
{
	struct drive *drive = drive_enabled(READY);

	assert_int_equal(drive_pair(drive, 1, 8), NV_GOOD);
	drive_write(drive, NV_REG_CC, drive_read(drive, NV_REG_CC) | 0x4000);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), 9);
	drive_disable(drive);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), 0);
	assert_int_equal(drive->host->nvme.sq[1].entries, 0);
	assert_true(drive_read(drive, NV_REG_AQA) != 0);
	drive_enable(drive);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), NV_CSTS_READY);
	assert_int_equal(drive_pair(drive, 1, 8), NV_GOOD);
	nv_kind.reset(&drive->host->nvme.device);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), 0);
	assert_int_equal(drive_read(drive, NV_REG_CC), 0);
	assert_int_equal(drive_read(drive, NV_REG_AQA), 0);
}

TEST(what_cannot_be_enabled_is_fatal)
{
	static const struct { u32 aqa, cc; } wrong[] = {
		{ 0x000f0000, 1 }, { 0x0000000f, 1 }, { 0x000f000f, 1 | 1 << 4 }, { 0x000f000f, 1 | 1 << 7 },
		{ 0x000f000f, 1 | 1 << 11 },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(wrong); i++) {
		struct drive *drive = drive_create(READY);

		drive_write(drive, NV_REG_AQA, wrong[i].aqa);
		drive_write(drive, NV_REG_CC, wrong[i].cc);
		assert_int_equal(drive_read(drive, NV_REG_CSTS), NV_CSTS_FATAL);
		drive_write(drive, NV_REG_DOORBELL, 1);
		drive_write(drive, NV_REG_CC, 0);
		assert_int_equal(drive_read(drive, NV_REG_CSTS), 0);
		drive_enable(drive);
		assert_int_equal(drive_read(drive, NV_REG_CSTS), NV_CSTS_READY);
		host_destroy(drive->host);
	}
}

static const u8 *identify(struct drive *drive, u32 page, u32 nsid)
{
	memset(host_at(drive->host, HOST_DATA), 0xee, PAGE);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_IDENTIFY, nsid, page, 0), NULL), NV_GOOD);
	return host_at(drive->host, HOST_DATA);
}

static void assert_text(const u8 *at, const char *text, size_t bytes)
{
	size_t i;

	assert_memory_equal(at, text, strlen(text));
	for (i = strlen(text); i < bytes; i++)
		assert_int_equal(at[i], ' ');
}

TEST(it_says_what_it_is)
{
	struct drive *drive = drive_enabled(READY ",name=some_drive,nvme.model=A_model,nvme.max_transfer_kib=128,"
					    "nvme.optimal_write_kib=32768");
	const u8 *page = identify(drive, NV_IDENTIFY_CONTROLLER, 0);

	assert_text(page + 4, "some drive", 20);
	assert_text(page + 24, "A model", 40);
	assert_text(page + 64, "1.0", 8);
	assert_int_equal(page[77], 5);
	assert_int_equal(rl_get32(page + 80), 0x10400);
	assert_int_equal(page[111], 1);
	assert_int_equal(page[512], 0x66);
	assert_int_equal(page[513], 0x44);
	assert_int_equal(rl_get32(page + 516), 1);
	assert_int_equal(rl_get16(page + 520), 0x000c);
	assert_int_equal(page[525], 7);
	assert_int_equal(rl_get16(page + 528), 7);
	assert_string_equal((const char *)page + 768, "nqn.2026-11.invalid.raidtrace:some drive");
	page = identify(drive, NV_IDENTIFY_NAMESPACE, 1);
	assert_true(rl_get64(page) == 131072 && rl_get64(page + 8) == 131072);
	assert_int_equal(page[24], 0x12);
	assert_int_equal(rl_get16(page + 36), 7);
	assert_int_equal(page[33], 1);
	assert_int_equal(rl_get16(page + 64), 7);
	assert_int_equal(rl_get16(page + 72), 65535);
	assert_int_equal(page[130], 9);
	assert_int_equal(page[120] & 3, 2);
	page = identify(drive, NV_IDENTIFY_ACTIVE, 0);
	assert_int_equal(rl_get32(page), 1);
	assert_int_equal(rl_get32(page + 4), 0);
	assert_int_equal(rl_get32(identify(drive, NV_IDENTIFY_ACTIVE, 1)), 0);
	page = identify(drive, NV_IDENTIFY_NAMES, 1);
	assert_int_equal(page[0], 1);
	assert_int_equal(page[1], 8);
	assert_int_equal(page[4] & 3, 2);
	assert_int_equal(page[12], 0);
	assert_int_equal(identify(drive, NV_IDENTIFY_SET_NAMESPACE, 1)[0], 0);
	assert_int_equal(identify(drive, NV_IDENTIFY_SET_CONTROLLER, 0)[0], 0);
}

TEST(other_drives_say_something_else)
{
	static const char *const more[] = {
		"name=a,nvme.lba_bytes=4096,nvme.max_transfer_kib=0,nvme.write_cache=0", "name=b",
		"name=an_extraordinarily_long_name,count=16", "nvme.serial=S1,count=2", "nvme.serial=S1,nvme.optimal_write_kib=16",
	};
	static const char *const serials[] = { "a", "b", "an extraordinaril-13", "S1-1", "S1" };
	u8 names[RL_COUNT(more)][8];
	size_t i, j;

	for (i = 0; i < RL_COUNT(more); i++) {
		struct drive *drive;
		char text[300] = READY;
		const u8 *page;

		drive = drive_create(strcat(strcat(text, ","), more[i]));
		rl_keys_select(&nv_keys, &drive->host->nvme.config.base, i == 2 ? 13 : i == 3);
		drive_enable(drive);
		page = identify(drive, NV_IDENTIFY_CONTROLLER, 0);
		assert_text(page + 4, serials[i], 20);
		assert_string_equal((const char *)page + 768 + strlen("nqn.2026-11.invalid.raidtrace:"), serials[i]);
		assert_int_equal(page[77], i ? 7 : 0);
		assert_int_equal(page[525], i ? 7 : 6);
		assert_int_equal(rl_get16(page + 528), i ? 7 : 0);
		page = identify(drive, NV_IDENTIFY_NAMESPACE, 1);
		assert_int_equal(page[130], i ? 9 : 12);
		assert_true(rl_get64(page) == (i ? 131072 : 16384));
		assert_int_equal(page[24], i == 4 ? 0x12 : 2);
		assert_int_equal(rl_get16(page + 36), i ? 7 : 0);
		assert_int_equal(rl_get16(page + 72), i == 4 ? 31 : 0);
		memcpy(names[i], page + 120, 8);
		for (j = 0; j < i; j++)
			assert_true(memcmp(names[i], names[j], 8));
		host_destroy(drive->host);
	}
}

TEST(logs_and_features)
{
	struct drive *drive = drive_ready(READY ",nvme.queues=3", 8);
	u8 *data = host_at(drive->host, HOST_DATA);
	u32 result;

	assert_int_equal(drive_transfer(drive, true, 0, 100, 8192), NV_GOOD);
	assert_int_equal(drive_transfer(drive, true, 0, 100, 8192), NV_GOOD);
	assert_int_equal(drive_transfer(drive, false, 0, 3, 8192), NV_GOOD);
	memset(data, 0xee, PAGE);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_LOG, NV_NSID_ALL, 127 << 16 | 2, 0), NULL), NV_GOOD);
	assert_int_equal(rl_get16(data + 1), 310);
	assert_int_equal(data[3], 100);
	assert_int_equal(rl_get64(data + 32), 1);
	assert_int_equal(rl_get64(data + 48), 1);
	assert_int_equal(rl_get64(data + 64), 1);
	assert_int_equal(rl_get64(data + 80), 2);
	assert_int_equal(data[511], 0);
	assert_int_equal(data[512], 0xee);
	/* No more than the driver has room for, nor than there is. */
	memset(data, 0xee, PAGE);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_LOG, 0, 3 << 16 | 3, 0), NULL), NV_GOOD);
	assert_int_equal(data[0], 1);
	assert_text(data + 8, "1.0", 8);
	assert_int_equal(data[16], 0xee);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_LOG, 0, 0xffffU << 16 | 1, 0xffff), NULL), NV_GOOD);
	assert_int_equal(data[63], 0);
	assert_int_equal(data[64], 0xee);

	assert_int_equal(drive_run(drive, 0, admin_command(NV_SET_FEATURES, 0, 7, 0x00ff00ff), &result), NV_GOOD);
	assert_int_equal(result, 0x00020002);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_FEATURES, 0, 7, 0), &result), NV_GOOD);
	assert_int_equal(result, 0x00020002);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_FEATURES, 0, 6, 0), &result), NV_GOOD);
	assert_int_equal(result, 1);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_SET_FEATURES, 0, 6, 0), &result), NV_GOOD);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_FEATURES, 0, 6, 0), &result), NV_GOOD);
	assert_int_equal(result, 0);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_SET_FEATURES, 0, 0xb, 0x123), &result), NV_GOOD);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_FEATURES, 0, 0xb, 0), &result), NV_GOOD);
	assert_int_equal(result, 0x123);
	/* A reset restores the values of power-on. */
	drive_disable(drive);
	drive_enable(drive);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_FEATURES, 0, 6, 0), &result), NV_GOOD);
	assert_int_equal(result, 1);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_GET_FEATURES, 0, 0xb, 0), &result), NV_GOOD);
	assert_int_equal(result, 0);
}

static struct command with(struct command command, u32 place, u64 value, u32 bytes)
{
	rl_put(command.byte + place, value, bytes);
	return command;
}

TEST(every_wrong_admin_command_has_its_status)
{
	struct drive *drive = drive_ready(READY ",nvme.queues=2,nvme.write_cache=0", 8);
	const struct { struct command command; u16 status; } wrong[] = {
		{ admin_command(0x03, 0, 0, 0), 0x4001 },
		{ admin_command(0x18, 0, 0, 0), 0x4001 },	/* keep alive */
		{ admin_command(0x80, 0, 0, 0), 0x4001 },	/* format */
		{ with(admin_command(NV_IDENTIFY, 0, 1, 0), 1, 1, 1), 0x4002 },	/* fused */
		{ with(admin_command(NV_IDENTIFY, 0, 1, 0), 1, 0x40, 1), 0x4002 },	/* scatter-gather list */
		{ with(admin_command(NV_IDENTIFY, 0, 1, 0), NV_PRP1, HOST_DATA + 2, 8), 0x4013 },
		{ with(admin_command(NV_IDENTIFY, 0, 1, 0), NV_PRP1, 4096, 8), 0x4004 },
		{ admin_command(NV_IDENTIFY, 0, 4, 0), 0x4002 },
		{ admin_command(NV_IDENTIFY, 1, 8, 0), 0x4002 },
		{ admin_command(NV_IDENTIFY, 0, 0, 0), 0x400b },
		{ admin_command(NV_IDENTIFY, 2, 0, 0), 0x400b },
		{ admin_command(NV_IDENTIFY, 0xffffffff, 0, 0), 0x400b },
		{ admin_command(NV_IDENTIFY, 0xfffffffe, 2, 0), 0x400b },
		{ admin_command(NV_IDENTIFY, 2, 3, 0), 0x400b },
		{ admin_command(NV_IDENTIFY, 1, 5, 2U << 24), 0x4002 },
		{ admin_command(NV_IDENTIFY, 0, 6, 2U << 24), 0x4002 },
		{ admin_command(NV_GET_LOG, 0, 5, 0), 0x4109 },
		{ admin_command(NV_GET_LOG, 0, 4, 0), 0x4109 },
		{ admin_command(NV_GET_LOG, 1, 2, 0), 0x400b },
		{ with(admin_command(NV_GET_LOG, 0, 2, 0), NV_CDW12, 64, 4), 0x4002 },
		{ admin_command(NV_SET_FEATURES, 0, 0x0c, 0), 0x4002 },	/* autonomous power states */
		{ admin_command(NV_SET_FEATURES, 0, 6, 1), 0x4002 },	/* it has no volatile cache */
		{ admin_command(NV_GET_FEATURES, 0, 6, 0), 0x4002 },
		{ admin_command(NV_SET_FEATURES, 0, 0x8000000b, 0), 0x410d },
		{ admin_command(NV_SET_FEATURES, 0, 7, 0xffff), 0x4002 },
		{ admin_command(NV_SET_FEATURES, 0, 7, 0xffff0000), 0x4002 },
		{ admin_command(NV_GET_FEATURES, 0, 0x10b, 0), 0x4002 },
		{ admin_command(NV_GET_FEATURES, 0, 2, 0), 0x4002 },
		{ create_cq(0, 8, 0), 0x4101 },
		{ create_cq(3, 8, 0), 0x4101 },
		{ create_cq(1, 8, 0), 0x4101 },
		{ create_cq(2, 1, 0), 0x4102 },
		{ create_cq(2, 1025, 0), 0x4102 },
		{ create_cq(2, 8, 3), 0x4108 },
		{ with(create_cq(2, 8, 0), NV_CDW11, 2, 4), 0x4002 },	/* not contiguous */
		{ with(create_cq(2, 8, 0), NV_PRP1, HOST_DATA + 64, 8), 0x4013 },
		{ create_sq(0, 8, 1), 0x4101 },
		{ create_sq(3, 8, 1), 0x4101 },
		{ create_sq(1, 8, 1), 0x4101 },
		{ create_sq(2, 8, 0), 0x4101 },
		{ create_sq(2, 8, 3), 0x4101 },
		{ create_sq(2, 8, 2), 0x4100 },
		{ create_sq(2, 1, 1), 0x4102 },
		{ create_sq(2, 1025, 1), 0x4102 },
		{ with(create_sq(2, 8, 1), NV_CDW11, 1 << 16, 4), 0x4002 },
		{ with(create_sq(2, 8, 1), NV_PRP1, HOST_DATA + 64, 8), 0x4013 },
		{ admin_command(NV_DELETE_CQ, 0, 0, 0), 0x4101 },
		{ admin_command(NV_DELETE_CQ, 0, 2, 0), 0x4101 },
		{ admin_command(NV_DELETE_CQ, 0, 1, 0), 0x410c },	/* has a submission queue */
		{ admin_command(NV_DELETE_SQ, 0, 0, 0), 0x4101 },
		{ admin_command(NV_DELETE_SQ, 0, 2, 0), 0x4101 },
		{ admin_command(NV_DELETE_SQ, 0, 300, 0), 0x4101 },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(wrong); i++) {
		u16 status = drive_run(drive, 0, wrong[i].command, NULL);

		if (status != wrong[i].status)
			fail_msg("command %zu: status %x, not %x", i, status, wrong[i].status);
		assert_int_equal(drive_last(drive)->status, RL_LOG_FAILED);
		assert_int_equal(drive_last(drive)->unit, RL_LOG_ADMIN);
	}
	/* Sizes of entries that no queue has. */
	drive_write(drive, NV_REG_CC, NV_CC_ENABLE | 7 << 16 | 5 << 20);
	assert_int_equal(drive_run(drive, 0, create_cq(2, 8, 0), NULL), 0x4102);
	assert_int_equal(drive_run(drive, 0, create_sq(2, 8, 1), NULL), 0x4102);
}

TEST(queues_are_created_and_deleted)
{
	struct drive *drive = drive_enabled(READY);
	struct command flush = io_command(NV_FLUSH, 0, 0);
	u32 queue;

	for (queue = 1; queue <= 16; queue++)
		assert_int_equal(drive_pair(drive, queue, 4 + queue), NV_GOOD);
	for (queue = 16; queue; queue--) {
		assert_int_equal(drive_run(drive, queue, flush, NULL), NV_GOOD);
		assert_int_equal(drive->host->raised[queue], 1);
	}
	for (queue = 1; queue <= 16; queue++) {
		assert_int_equal(drive_run(drive, 0, admin_command(NV_DELETE_SQ, 0, queue, 0), NULL), NV_GOOD);
		assert_int_equal(drive_run(drive, 0, admin_command(NV_DELETE_CQ, 0, queue, 0), NULL), NV_GOOD);
	}
	assert_int_equal(drive_pair(drive, 16, 300), NV_GOOD);
	assert_int_equal(drive_run(drive, 16, flush, NULL), NV_GOOD);
}

/* Two submission queues share a completion queue. Deleting one completes its commands. */
TEST(a_deleted_queue_answers_its_commands)
{
	struct drive *drive = drive_ready(READY ",flash.read_ns=50000000,flash.channels=1", 16);
	struct command read = transfer(drive, false, 0, 8, 0), remove = admin_command(NV_DELETE_SQ, 0, 2, 0);
	u16 ids[3], first;
	u32 i;

	drive->pair[2].entries = 8;
	assert_int_equal(drive_run(drive, 0, create_sq(2, 8, 1), NULL), NV_GOOD);
	first = drive_submit(drive, 1, &read);
	for (i = 0; i < 3; i++)
		ids[i] = drive_submit(drive, 2, &read);
	assert_int_equal(drive->host->nvme.depth, 4);
	assert_int_equal(drive_run(drive, 0, remove, NULL), NV_GOOD);
	assert_int_equal(drive->host->nvme.depth, 1);
	for (i = 0; i < 3; i++) {
		const u8 *entry = host_at(drive->host, cq_address(1) + i * NV_COMPLETION_BYTES);

		assert_int_equal(rl_get16(entry + 12), ids[i]);
		assert_int_equal(rl_get16(entry + 10), 2);
		assert_int_equal(rl_get16(entry + 14), NV_QUEUE_DELETED << 1 | 1);
	}
	drive->pair[1].head = 3;
	drive_write(drive, NV_REG_DOORBELL + 12, 3);
	assert_int_equal(drive_wait(drive, 1).id, first);
}

/* Many rounds through queues of every size, with up to all entries in use. */
TEST(queues_wrap_around)
{
	static const u32 sizes[] = { 2, 3, 5, 64, 1024 };
	size_t i;

	for (i = 0; i < RL_COUNT(sizes); i++) {
		struct drive *drive = drive_ready(READY ",flash.read_ns=1000,link.latency_ns=0,log_entries=20000", sizes[i]);
		u32 rounds = 7 * sizes[i] + 3, batch, done, n;
		struct command read = transfer(drive, false, 0, 8, 0);

		for (batch = 1, done = 0; done < rounds; batch = batch % (sizes[i] - 1) + 1, done += n) {
			u16 id = drive->next_id;

			for (n = 0; n < batch; n++)
				drive_put(drive, 1, &read);
			drive_ring(drive, 1);
			assert_int_equal(drive->host->nvme.depth, batch);
			for (n = 0; n < batch; n++) {
				struct completion completion = drive_wait(drive, 1);

				assert_int_equal(completion.id, (u16)(id + n));
				assert_int_equal(completion.status, NV_GOOD);
				assert_int_equal(completion.sq_head, drive->pair[1].tail);
			}
		}
		assert_int_equal(drive->host->nvme.depth, 0);
		assert_int_equal(drive->host->raised[1], done);
		host_destroy(drive->host);
	}
}

/* The completion queue is smaller than the submission queue, and the driver takes nothing for a while. */
TEST(a_full_completion_queue_holds_completions_back)
{
	struct drive *drive = drive_enabled(READY);
	struct command read = transfer(drive, false, 0, 8, 0);
	u32 i, busy = 0;
	u16 id;

	assert_int_equal(drive_pair(drive, 1, 4), NV_GOOD);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_DELETE_SQ, 0, 1, 0), NULL), NV_GOOD);
	drive->pair[1].entries = 16;
	assert_int_equal(drive_run(drive, 0, create_sq(1, 16, 1), NULL), NV_GOOD);
	id = drive->next_id;
	for (i = 0; i < 11; i++)
		drive_put(drive, 1, &read);
	drive_ring(drive, 1);
	drive_pass(drive, 1000000000);
	assert_int_equal(drive->host->wake, RL_NEVER);
	assert_int_equal(drive->host->raised[1], 3);
	for (i = 0; i < NV_SLOTS; i++)
		busy += drive->host->nvme.slot[i].state == NV_SLOT_BLOCKED;
	assert_int_equal(busy, 8);
	drive->pair[1].entries = 4;
	for (i = 0; i < 11; i++) {
		assert_int_equal(drive_wait(drive, 1).id, id + i);
		assert_int_equal(drive->host->nvme.depth, i < 8 ? 7 - i : 0);
	}
	assert_int_equal(drive->host->raised[1], 11);
	/* Deleting both drops the blocked commands. */
	drive->pair[1].entries = 16;
	for (i = 0; i < 11; i++)
		drive_put(drive, 1, &read);
	drive_ring(drive, 1);
	drive_pass(drive, 1000000000);
	assert_int_equal(drive->host->nvme.depth, 8);
	assert_int_equal(drive_pair(drive, 2, 4), NV_GOOD);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_DELETE_SQ, 0, 1, 0), NULL), NV_GOOD);
	id = drive_submit(drive, 2, &read);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_DELETE_CQ, 0, 1, 0), NULL), NV_GOOD);
	assert_int_equal(drive->host->nvme.depth, 1);
	assert_int_equal(drive_wait(drive, 2).id, id);
	assert_int_equal(drive_pair(drive, 1, 64), NV_GOOD);
	assert_int_equal(drive_run(drive, 1, read, NULL), NV_GOOD);
}

/* More commands than there are slots wait in their queues, and none of them is forgotten. */
TEST(commands_beyond_the_slots_wait)
{
	struct drive *drive = drive_enabled(READY ",flash.read_ns=1000000,flash.channels=1,log_entries=20000");
	struct command read = transfer(drive, false, 0, 1, 0);
	struct completion completion;
	u32 queue, i, done = 0;

	for (queue = 1; queue <= 16; queue++)
		assert_int_equal(drive_pair(drive, queue, 512), NV_GOOD);
	for (queue = 1; queue <= 16; queue++) {
		for (i = 0; i < 511; i++)
			drive_put(drive, queue, &read);
		drive_ring(drive, queue);
	}
	assert_int_equal(drive->host->nvme.depth, NV_SLOTS);
	while (done < 16 * 511) {
		drive_pass(drive, 10000000);
		for (queue = 1; queue <= 16; queue++)
			while (drive_poll(drive, queue, &completion))
				done++;
	}
	assert_int_equal(drive->host->nvme.depth, 0);
	drive_pass(drive, 1000000000);
	for (queue = 1; queue <= 16; queue++)
		assert_false(drive_poll(drive, queue, &completion));
}

TEST(interrupts_are_raised_and_masked)
{
	struct drive *drive = drive_ready(READY, 8);
	struct command read = transfer(drive, false, 0, 8, 0), quiet = create_cq(2, 8, 2);
	struct completion completion;
	u32 before = drive->host->raised[0];

	assert_int_equal(before, 2);
	assert_false(drive->host->irq);
	drive_submit(drive, 1, &read);
	drive_pass(drive, 1000000);
	assert_int_equal(drive->host->raised[1], 1);
	assert_true(drive->host->irq);
	drive_write(drive, NV_REG_INTMS, 2);
	assert_false(drive->host->irq);
	assert_int_equal(drive_read(drive, NV_REG_INTMC), 2);
	drive_write(drive, NV_REG_INTMC, 2);
	assert_true(drive->host->irq);
	assert_true(drive_poll(drive, 1, &completion));
	assert_false(drive->host->irq);
	/* A queue without interrupts raises none. */
	rl_put(quiet.byte + NV_CDW11, 2 << 16 | 1, 4);
	drive->pair[2] = (struct pair){ .entries = 8, .phase = 1 };
	memset(host_at(drive->host, cq_address(2)), 0, 8 * NV_COMPLETION_BYTES);
	assert_int_equal(drive_run(drive, 0, quiet, NULL), NV_GOOD);
	assert_int_equal(drive_run(drive, 0, create_sq(2, 8, 2), NULL), NV_GOOD);
	drive_submit(drive, 2, &read);
	drive_pass(drive, 1000000);
	assert_false(drive->host->irq);
	assert_int_equal(drive->host->raised[2], 0);
	assert_true(drive_poll(drive, 2, &completion));
}

TEST(events_wait_for_requests_and_requests_for_events)
{
	struct drive *drive = drive_enabled(READY);
	struct command request = admin_command(NV_ASYNC_EVENT, 0, 0, 0);
	u16 ids[NV_MAX_EVENT_REQUESTS];
	struct completion completion;
	u32 result, i;

	for (i = 0; i < NV_MAX_EVENT_REQUESTS; i++)
		ids[i] = drive_submit(drive, 0, &request);
	assert_int_equal(drive_run(drive, 0, request, NULL), 0x4105);
	drive_pass(drive, 1000000000);
	assert_false(drive_poll(drive, 0, &completion));
	nv_kind.event(&drive->host->nvme.device, 0x0101);
	completion = drive_wait(drive, 0);
	assert_int_equal(completion.id, ids[0]);
	assert_int_equal(completion.result, 0x020101);
	nv_kind.event(&drive->host->nvme.device, 0x0002);
	completion = drive_wait(drive, 0);
	assert_int_equal(completion.id, ids[1]);
	assert_int_equal(completion.result, 0x040002);
	/* Doorbells that are not there, and values that cannot be. */
	drive_write(drive, NV_REG_DOORBELL + 8 * 5, 1);
	assert_int_equal(drive_wait(drive, 0).result, 0x010000);
	drive_write(drive, NV_REG_DOORBELL, ADMIN_ENTRIES);
	assert_int_equal(drive_wait(drive, 0).result, 0x010100);
	/* The driver has taken more than there was. */
	drive_write(drive, NV_REG_DOORBELL + 4, drive->pair[0].head + 1);
	for (i = 0; i < 20; i++)
		nv_kind.event(&drive->host->nvme.device, 0x0301);
	assert_int_equal(drive_run(drive, 0, request, &result), NV_GOOD);
	assert_int_equal(result, 0x010100);
	for (i = 0; i < NV_MAX_EVENTS - 1; i++) {
		assert_int_equal(drive_run(drive, 0, request, &result), NV_GOOD);
		assert_int_equal(result, 0x020301);
	}
	drive_submit(drive, 0, &request);
	drive_pass(drive, 1000000000);
	assert_false(drive_poll(drive, 0, &completion));
	/* Held requests are forgotten by a reset. */
	drive_disable(drive);
	assert_int_equal(drive_last(drive)->status, RL_LOG_RESET);
}

TEST(an_abort_aborts_nothing)
{
	struct drive *drive = drive_ready(READY, 8);
	struct command read = transfer(drive, false, 0, 8, 0);
	u16 id = drive_submit(drive, 1, &read);
	u32 result;

	assert_int_equal(drive_run(drive, 0, admin_command(NV_ABORT, 0, (u32)id << 16 | 1, 0), &result), NV_GOOD);
	assert_int_equal(result, 1);
	assert_int_equal(drive_wait(drive, 1).id, id);
}

/* Queues that are not in memory: the controller cannot go on. */
TEST(a_queue_out_of_reach_is_fatal)
{
	struct drive *drive = drive_ready(READY, 8);
	struct command read = transfer(drive, false, 0, 8, 0), far = create_sq(2, 8, 1);
	u32 i;

	for (i = 0; i < 2; i++) {
		drive_submit(drive, 1, &read);
		if (i) {
			/* Its completion queue. */
			far = create_cq(2, 8, 2);
			rl_put(far.byte + NV_PRP1, HOST_BASE + HOST_BYTES, 8);
			assert_int_equal(drive_run(drive, 0, far, NULL), NV_GOOD);
			drive->pair[2] = (struct pair){ .entries = 8, .phase = 1 };
			assert_int_equal(drive_run(drive, 0, create_sq(2, 8, 2), NULL), NV_GOOD);
			drive_submit(drive, 2, &read);
			drive_pass(drive, 1000000000);
		} else {
			rl_put(far.byte + NV_PRP1, HOST_BASE + HOST_BYTES, 8);
			assert_int_equal(drive_run(drive, 0, far, NULL), NV_GOOD);
			drive_write(drive, NV_REG_DOORBELL + 16, 1);
			assert_int_equal(drive->host->nvme.device.nr_refused, 1);
			assert_int_equal(drive_last(drive)->unit, RL_LOG_ADMIN);
			assert_int_equal(rl_log_at(&drive->host->nvme.device.log, 2)->status, RL_LOG_RESET);
		}
		assert_int_equal(drive_read(drive, NV_REG_CSTS), NV_CSTS_READY | NV_CSTS_FATAL);
		assert_int_equal(drive->host->wake, RL_NEVER);
		assert_false(drive->host->irq);
		drive_ring(drive, 1);
		assert_int_equal(drive->host->nvme.depth, 0);
		drive_disable(drive);
		drive_enable(drive);
		assert_int_equal(drive_pair(drive, 1, 8), NV_GOOD);
		assert_int_equal(drive_run(drive, 1, read, NULL), NV_GOOD);
	}
}

TEST(a_reset_forgets_commands)
{
	struct drive *drive = drive_ready(READY, 16);
	struct command read = transfer(drive, false, 0, 64, 0);
	struct completion completion;
	u32 i;

	for (i = 0; i < 10; i++)
		drive_submit(drive, 1, &read);
	drive_disable(drive);
	memset(host_at(drive->host, HOST_BASE), 0x77, 1 << 20);
	drive_pass(drive, 1000000000);
	assert_false(drive->host->irq);
	for (i = 0; i < 1 << 20; i++)
		assert_int_equal(((u8 *)host_at(drive->host, HOST_BASE))[i], 0x77);
	for (i = 0; i < 10; i++)
		assert_int_equal(rl_log_at(&drive->host->nvme.device.log, 2 + i)->status, RL_LOG_RESET);
	drive_enable(drive);
	assert_int_equal(drive_pair(drive, 1, 16), NV_GOOD);
	assert_int_equal(drive_run(drive, 1, read, NULL), NV_GOOD);
	assert_false(drive_poll(drive, 1, &completion));
}

/* The optimal size by its general key; that a namespace rotates is in a page that there is only then. */
TEST(reports_what_the_queue_keys_say)
{
	struct drive *drive = drive_enabled(READY ",queue.io_opt_kib=1024,queue.rotational=1");
	const u8 *page = identify(drive, NV_IDENTIFY_NAMESPACE, 1);

	assert_int_equal(rl_get16(page + NV_NS_OPTIMAL_WRITE), 2047);
	assert_true(page[NV_NS_FEATURES] & NV_NS_HAS_OPTIMAL);
	assert_true(nv_kind.read(&drive->host->nvme.device, NV_REG_CAP, 8) >> 60 & 1);
	page = identify(drive, NV_IDENTIFY_COMMON, 1);
	assert_int_equal(page[0], 0x10);
	assert_int_equal(page[14], 1);
	assert_int_equal(drive_run(drive, 0, admin_command(NV_IDENTIFY, 2, NV_IDENTIFY_COMMON, 0), NULL), NV_BAD_NAMESPACE);
	drive = drive_enabled(READY);
	assert_false(nv_kind.read(&drive->host->nvme.device, NV_REG_CAP, 8) >> 60 & 1);
}

TEST(faults_belong_to_one_drive)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct nv_config config;

	assert_ptr_equal(rl_kind_of("name=x,device=nvme"), &nv_kind);
	assert_true(rl_keys_parse(&nv_keys, &config.base, "device=nvme,count=3,fault.drive=2,fault.lose_ms=5", error));
	rl_keys_select(&nv_keys, &config.base, 2);
	assert_int_equal(config.fault.trigger[NV_FAULT_LOSE].ms, 5);
	rl_keys_select(&nv_keys, &config.base, 1);
	assert_int_equal(config.fault.trigger[NV_FAULT_LOSE].ms, 0);
	assert_int_equal(config.base.number, 1);
}

TEST(status_and_log_are_text)
{
	struct drive *drive = drive_ready(READY ",name=x,limit.iops=5000", 8);
	struct rl_device *device = &drive->host->nvme.device;
	struct command ranges = io_command(NV_DATASET, 0, 0);
	char buffer[RL_STATUS_BYTES];
	struct rl_text text;

	drive_transfer(drive, true, 64, 8, 0);
	rl_text_init(&text, buffer, sizeof(buffer));
	rl_device_show(device, 1, &text);
	assert_string_equal(buffer, "device_1_driver: nvme\n"
			    "device_1_drive: simulated NVMe drive, serial x, 131072 sectors, blocks of 512 bytes\n"
			    "device_1_state: ready\ndevice_1_io_queues: 1\ndevice_1_limit_iops: 5000\n"
			    "device_1_limit_bytes_s: none\ndevice_1_cache_kib: 65536\ndevice_1_cache_kib_used: 16\n");
	rl_text_init(&text, buffer, sizeof(buffer));
	rl_device_log_line(&text, device, 2);
	assert_non_null(strstr(buffer, "3,2,0x01,WRITE,0,64,8,"));
	assert_non_null(strstr(buffer, ",0,good\n"));
	rl_text_init(&text, buffer, sizeof(buffer));
	rl_device_log_line(&text, device, 0);
	assert_non_null(strstr(buffer, "1,0,0x05,CREATE_CQ,,0,0,"));
	memset(host_at(drive->host, HOST_DATA), 0, 16);
	rl_put(ranges.byte + NV_PRP1, HOST_DATA, 8);
	assert_int_equal(drive_run(drive, 1, ranges, NULL), NV_GOOD);
	assert_string_equal(nv_kind.command_name(drive_last(drive)), "DEALLOCATE");
}

TEST(every_command_has_its_name)
{
	static const struct { u8 unit, opcode; const char *name; } names[] = {
		{ 0, 0, "FLUSH" }, { 0, 1, "WRITE" }, { 0, 2, "READ" }, { 0, 5, "OTHER" }, { 0, 8, "WRITE_ZEROES" },
		{ 0, 9, "DEALLOCATE" }, { RL_LOG_ADMIN, 0, "DELETE_SQ" }, { RL_LOG_ADMIN, 1, "CREATE_SQ" },
		{ RL_LOG_ADMIN, 2, "GET_LOG_PAGE" }, { RL_LOG_ADMIN, 4, "DELETE_CQ" }, { RL_LOG_ADMIN, 5, "CREATE_CQ" },
		{ RL_LOG_ADMIN, 6, "IDENTIFY" }, { RL_LOG_ADMIN, 8, "ABORT" }, { RL_LOG_ADMIN, 9, "SET_FEATURES" },
		{ RL_LOG_ADMIN, 10, "GET_FEATURES" }, { RL_LOG_ADMIN, 12, "ASYNC_EVENT" }, { RL_LOG_ADMIN, 13, "OTHER" },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(names); i++) {
		const struct rl_log_entry entry = { .unit = names[i].unit, .opcode = names[i].opcode };

		assert_string_equal(nv_kind.command_name(&entry), names[i].name);
	}
}

static void assert_state(struct drive *drive, const char *state)
{
	char buffer[RL_STATUS_BYTES], line[50];
	struct rl_text text;

	rl_text_init(&text, line, sizeof(line));
	rl_text_add(&text, "\nstate: ");
	rl_text_add(&text, state);
	rl_text_add(&text, "\n");
	rl_text_init(&text, buffer, sizeof(buffer));
	rl_device_show(&drive->host->nvme.device, 0, &text);
	assert_non_null(strstr(buffer, line));
}

TEST(status_has_its_state)
{
	struct drive *drive = drive_create(READY ",fault.reset_ms=5,fault.gone_ms=8");

	assert_state(drive, "disabled");
	drive_enable(drive);
	assert_state(drive, "ready");
	drive_pass(drive, 6000000);
	assert_state(drive, "failed");
	drive_pass(drive, 6000000);
	assert_state(drive, "gone");
}
