// SPDX-License-Identifier: GPL-2.0-or-later
/* The NVMe drive's data: reads return the data of the writes, with any list of pages; invalid commands are refused. */
#include <stdlib.h>
#include <string.h>

#include "nvme-driver.h"

#define PAGES		64U	/* of data, in random order */
#define LIST_PAGES	8U
#define LIST_BASE	(HOST_DATA + (1U << 20))

static u64 page_address(u32 page)
{
	return HOST_DATA + (u64)page * PAGE;
}

/* Where the bytes of one command are. */
struct places {
	u64 address[PAGES];
	u32 bytes[PAGES];
	u32 count;
};

/* Pages in random order, from a random place in the first on; lists of a random length, which lead to each other. */
static void scatter(struct drive *drive, struct command *command, u32 bytes, u64 *seed, struct places *places)
{
	u32 order[PAGES], i, j, other, offset = random_number(seed) % (PAGE / 4) * 4, lists = 0;
	u64 list;

	/* Often a whole page, so that the last page is whole as well and may have the last entry of a list. */
	offset = random_number(seed) % 2 ? offset : 0;
	for (i = 0; i < PAGES; i++)
		order[i] = i;
	for (i = PAGES; i > 1; i--) {
		other = random_number(seed) % i;
		j = order[i - 1];
		order[i - 1] = order[other];
		order[other] = j;
	}
	for (places->count = 0; bytes; bytes -= places->bytes[places->count++], offset = 0) {
		places->address[places->count] = page_address(order[places->count]) + offset;
		places->bytes[places->count] = (u32)rl_min(bytes, PAGE - offset);
	}
	rl_put(command->byte + NV_PRP1, places->address[0], 8);
	if (places->count < 3) {
		rl_put(command->byte + NV_PRP2, places->count == 2 ? places->address[1] : 0x123, 8);
		return;
	}
	/* The first list begins near its end, so that several are needed. */
	list = LIST_BASE + PAGE - 8 * (1 + random_number(seed) % 20);
	rl_put(command->byte + NV_PRP2, list, 8);
	for (i = 1; i < places->count; i++, list += 8) {
		if (list % PAGE == PAGE - 8 && i + 1 < places->count) {
			u64 next = LIST_BASE + ++lists * PAGE;

			assert_true(lists < LIST_PAGES);
			rl_put(host_at(drive->host, list), next, 8);
			list = next;
		}
		rl_put(host_at(drive->host, list), places->address[i], 8);
	}
}

static void fill(struct drive *drive, const struct places *places, u8 *truth, u64 *seed)
{
	u32 kind = random_number(seed) % 4, i;

	for (i = 0; i < places->count; truth += places->bytes[i++]) {
		u8 *at = host_at(drive->host, places->address[i]);

		if (kind)
			random_fill(seed, at, places->bytes[i]);
		else
			memset(at, (int)(random_number(seed) % 3), places->bytes[i]);
		memcpy(truth, at, places->bytes[i]);
	}
}

static void compare(struct drive *drive, const struct places *places, const u8 *truth)
{
	u32 i;

	for (i = 0; i < places->count; truth += places->bytes[i++])
		assert_memory_equal(host_at(drive->host, places->address[i]), truth, places->bytes[i]);
}

/* Deallocate some ranges, of which each byte of @truth becomes zero. */
static void deallocate(struct drive *drive, u8 *truth, u64 blocks, u32 lba_bytes, u64 *seed)
{
	u32 count = 1 + random_number(seed) % 256, i;
	struct command command = io_command(NV_DATASET, count - 1, 0);

	for (i = 0; i < count; i++) {
		u32 length = random_number(seed) % 4;
		u64 block = random_number(seed) % (blocks - length);
		u8 *range = host_at(drive->host, HOST_DATA + 2048 + i * 16);

		rl_put(range, 0, 4);
		rl_put(range + 4, length, 4);
		rl_put(range + 8, block, 8);
		memset(truth + block * lba_bytes, 0, length * lba_bytes);
	}
	/* It straddles two pages. */
	command_data(drive, &command, 2048, 4096);
	rl_put(command.byte + NV_CDW11, NV_DSM_DEALLOCATE, 4);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
}

static void keeps_data(u32 lba_bytes, u32 max_blocks)
{
	struct drive *drive = drive_ready(lba_bytes == 512 ? QUICK_DRIVE ",drive.sectors=65536" :
					  QUICK_DRIVE ",drive.sectors=65536,nvme.lba_bytes=4096", 8);
	u32 blocks = (4U << 20) / lba_bytes, i;
	u8 *truth = calloc(blocks, lba_bytes);
	u64 seed = lba_bytes;

	for (i = 0; i < 3000; i++) {
		u32 length = 1 + random_number(&seed) % max_blocks;
		u64 block = random_number(&seed) % (blocks - length);
		u8 opcode = (u8[]){ NV_READ, NV_WRITE, NV_READ, NV_WRITE, NV_WRITE_ZEROES, NV_DATASET }[random_number(&seed) % 6];
		struct command command = io_command(opcode, block, length);
		struct places places;
		u32 j;

		if (opcode == NV_DATASET && random_number(&seed) % 8)
			opcode = NV_READ;
		command.byte[0] = opcode;
		if (opcode == NV_DATASET) {
			deallocate(drive, truth, blocks, lba_bytes, &seed);
			continue;
		}
		scatter(drive, &command, length * lba_bytes, &seed, &places);
		if (opcode == NV_WRITE)
			fill(drive, &places, truth + block * lba_bytes, &seed);
		else if (opcode == NV_WRITE_ZEROES)
			memset(truth + block * lba_bytes, 0, length * lba_bytes);
		for (j = 0; opcode == NV_READ && j < places.count; j++)
			memset(host_at(drive->host, places.address[j]), 0xee, places.bytes[j]);
		assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
		if (opcode == NV_READ)
			compare(drive, &places, truth + block * lba_bytes);
	}
	free(truth);
	host_destroy(drive->host);
}

TEST(data_comes_back_by_blocks_of_512)
{
	keeps_data(512, (PAGES - 1) * 8);
}

TEST(data_comes_back_by_blocks_of_4096)
{
	keeps_data(4096, PAGES - 1);
}

/* Nothing behind the last byte is written, and nothing before the first. */
TEST(a_read_writes_its_bytes_alone)
{
	struct drive *drive = drive_ready(QUICK_DRIVE, 8);
	u8 *data = host_at(drive->host, HOST_DATA);
	struct command command = io_command(NV_READ, 0, 19);

	memset(data, 0xee, 16 * PAGE);
	command_data(drive, &command, PAGE - 512, 19 * 512);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
	assert_int_equal(data[PAGE - 513], 0xee);
	assert_int_equal(data[PAGE - 512], 0);
	assert_int_equal(data[PAGE - 512 + 19 * 512 - 1], 0);
	assert_int_equal(data[PAGE - 512 + 19 * 512], 0xee);
}

static struct command with(struct command command, u32 place, u64 value, u32 bytes)
{
	rl_put(command.byte + place, value, bytes);
	return command;
}

TEST(every_wrong_io_command_has_its_status)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",nvme.max_transfer_kib=8", 8);
	const struct command read = transfer(drive, false, 0, 16, 0);
	const struct { struct command command; u16 status; } wrong[] = {
		{ with(read, NV_OPCODE, 0x05, 1), 0x4001 },	/* compare */
		{ with(read, NV_OPCODE, 0x0d, 1), 0x4001 },	/* reservation */
		{ with(read, NV_OPCODE, 0x7d, 1), 0x4001 },
		{ with(read, NV_FLAGS, 1, 1), 0x4002 },
		{ with(read, NV_FLAGS, 0x40, 1), 0x4002 },
		{ with(read, NV_COMMAND_NSID, 0, 4), 0x400b },
		{ with(read, NV_COMMAND_NSID, 2, 4), 0x400b },
		{ with(read, NV_COMMAND_NSID, NV_NSID_ALL, 4), 0x400b },
		{ with(io_command(NV_FLUSH, 0, 0), NV_COMMAND_NSID, 2, 4), 0x400b },
		{ with(read, NV_CDW12, 16, 2), 0x4002 },	/* 17 blocks are more than 8 KiB */
		{ with(with(read, NV_OPCODE, NV_WRITE, 1), NV_CDW12, 0x0010000f, 4), 0x4002 },	/* directive */
		{ with(read, NV_CDW10, 1048576 - 15, 8), 0x4080 },
		{ with(read, NV_CDW10, 1048576, 8), 0x4080 },
		{ with(read, NV_CDW10, 0xfffffffffffffff8ULL, 8), 0x4080 },
		{ io_command(NV_WRITE_ZEROES, 1048570, 7), 0x4080 },
		{ with(read, NV_PRP1, HOST_DATA + 2, 8), 0x4013 },
		{ with(read, NV_PRP2, HOST_DATA + 8, 8), 0x4013 },
		{ with(read, NV_PRP1, 0, 8), 0x4004 },
		{ with(read, NV_PRP2, 0, 8), 0x4004 },
		{ with(with(read, NV_PRP1, HOST_DATA + 512, 8), NV_PRP2, HOST_DATA + (1 << 20) + 4, 8), 0x4013 },
		{ with(with(read, NV_PRP1, HOST_DATA + 512, 8), NV_PRP2, 0, 8), 0x4004 },	/* a list that is not there */
		{ with(with(read, NV_OPCODE, NV_WRITE, 1), NV_PRP2, HOST_BASE + HOST_BYTES, 8), 0x4004 },
		{ with(io_command(NV_DATASET, 0, 0), NV_CDW11, 4, 4), 0x4004 },	/* ranges that are not there */
	};
	size_t i;

	for (i = 0; i < RL_COUNT(wrong); i++) {
		u16 status = drive_run(drive, 1, wrong[i].command, NULL);

		if (status != wrong[i].status)
			fail_msg("command %zu: status %x, not %x", i, status, wrong[i].status);
		assert_int_equal(drive_last(drive)->status, RL_LOG_FAILED);
	}
	/* The same, right. */
	assert_int_equal(drive_run(drive, 1, read, NULL), NV_GOOD);
	assert_int_equal(drive_run(drive, 1, with(read, NV_CDW10, 1048576 - 16, 8), NULL), NV_GOOD);
	assert_int_equal(drive_run(drive, 1, io_command(NV_FLUSH, 0, 0), NULL), NV_GOOD);
	assert_int_equal(drive_run(drive, 1, with(io_command(NV_FLUSH, 0, 0), NV_COMMAND_NSID, NV_NSID_ALL, 4), NULL), NV_GOOD);
	/* Without data there is no limit of a transfer. */
	assert_int_equal(drive_run(drive, 1, io_command(NV_WRITE_ZEROES, 0, 65536), NULL), NV_GOOD);
}

/* An entry of a list that is no page, behind good ones. */
TEST(a_bad_entry_of_a_list_is_found)
{
	struct drive *drive = drive_ready(QUICK_DRIVE, 8);
	struct command read = transfer(drive, false, 0, 64, 0);
	u8 *list = host_at(drive->host, rl_get64(read.byte + NV_PRP2));

	assert_int_equal(drive_run(drive, 1, read, NULL), NV_GOOD);
	rl_put(list + 8 * 6, HOST_DATA + 4, 8);
	assert_int_equal(drive_run(drive, 1, read, NULL), NV_BAD_PRP);
	rl_put(list + 8 * 6, 0, 8);
	assert_int_equal(drive_run(drive, 1, read, NULL), NV_BAD_TRANSFER);
}

TEST(ranges_beyond_the_end_change_nothing)
{
	struct drive *drive = drive_ready(QUICK_DRIVE, 8);
	u8 *data = host_at(drive->host, HOST_DATA);
	struct command command = io_command(NV_DATASET, 1, 0);

	memset(data, 0x5a, 4096);
	assert_int_equal(drive_transfer(drive, true, 0, 8, 0), NV_GOOD);
	memset(data, 0, 32);
	rl_put(data + 4, 8, 4);
	rl_put(data + 20, 2, 4);
	rl_put(data + 24, 1048575, 8);
	rl_put(command.byte + NV_PRP1, HOST_DATA, 8);
	rl_put(command.byte + NV_CDW11, NV_DSM_DEALLOCATE, 4);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_BAD_LBA);
	assert_int_equal(drive_transfer(drive, false, 0, 8, 4096), NV_GOOD);
	assert_int_equal(data[4096], 0x5a);
	/* A hint that is not "deallocate" neither. */
	rl_put(data + 24, 0, 8);
	rl_put(command.byte + NV_CDW11, 1, 4);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
	assert_int_equal(drive_transfer(drive, false, 0, 8, 4096), NV_GOOD);
	assert_int_equal(data[4096], 0x5a);
	rl_put(command.byte + NV_CDW11, NV_DSM_DEALLOCATE, 4);
	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
	assert_int_equal(drive_last(drive)->sectors, 10);
	assert_int_equal(drive_transfer(drive, false, 0, 8, 4096), NV_GOOD);
	assert_int_equal(data[4096], 0);
}

TEST(an_exhausted_store_is_reported)
{
	struct drive *drive = drive_ready("store_mib=4,log_entries=9999,drive.sectors=1048576,nvme.max_transfer_kib=0", 8);
	u64 seed = 1;
	u16 status = NV_GOOD;
	u32 i;

	random_fill(&seed, host_at(drive->host, HOST_DATA), 1 << 20);
	for (i = 0; i < 8 && !status; i++)
		status = drive_transfer(drive, true, i * 2048, 2048, 0);
	assert_int_equal(status, NV_INTERNAL);
	assert_int_equal(drive->host->reports, 1);
	assert_true(i == 4);
}
