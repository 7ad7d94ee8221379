// SPDX-License-Identifier: GPL-2.0-or-later
/* SCSI commands: answers, data, refusals, sense data; every opcode is executed or refused. */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "3w-9xxx/wire/wire.h"

static u32 big(const u8 *at)
{
	return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

/* Bytes that the last command of driver_command() returned, from its SG entry. */
static u32 returned(struct host *host)
{
	return tw_get32(((struct tw_execute_scsi *)driver_packet(host, 0))->sg[0].length);
}

/* The command is refused with this sense key, code and firmware error. */
static void expect_refusal(struct host *host, u32 id, u8 key, u8 asc, u16 error)
{
	const struct tw_header *header = driver_header(host, id);

	assert_int_equal(driver_finish(host, id), 1);
	assert_int_equal(header->sense[0], 0x70);
	assert_int_equal(header->sense[2], key);
	assert_int_equal(header->sense[12], asc);
	assert_int_equal(tw_get16(header->error), error);
}

TEST(inquiry_names_the_unit)
{
	static const u8 cdb[] = { 0x12, 0, 0, 0, 255, 0 };
	struct host *host = host_create("store_mib=4,log_entries=99,controller.product=Logical_Disk_00,"
					"controller.revision=1.00");
	const u8 *data = host_at(host, HOST_DATA);

	assert_int_equal(driver_command(host, 0, cdb, 6, 512), 0);
	assert_int_equal(returned(host), 36);
	assert_int_equal(data[0], 0);
	assert_memory_equal(data + 8, "3ware   Logical Disk 00 1.00", 28);
}

HOST_TEST(inquiry_pages)
{
	static const u8 pages[] = { 0x12, 1, 0, 0, 255, 0 }, serial[] = { 0x12, 1, 0x80, 0, 255, 0 };
	static const u8 identity[] = { 0x12, 1, 0x83, 0, 255, 0 }, none[] = { 0x12, 1, 0xb1, 0, 255, 0 };
	const u8 *data = host_at(host, HOST_DATA);

	assert_int_equal(driver_command(host, 0, pages, 6, 512), 0);
	assert_memory_equal(data, "\0\0\0\3\0\x80\x83", 7);
	assert_int_equal(returned(host), 7);
	assert_int_equal(driver_command(host, 0, serial, 6, 512), 0);
	assert_memory_equal(data, "\0\x80\0\x10SIMULATED      A", 20);
	assert_int_equal(driver_command(host, 0, identity, 6, 512), 0);
	assert_memory_equal(data, "\0\x83\0\x0c\1\3\0\x08\x30", 9);
	driver_command(host, 0, none, 6, 512);
	assert_int_equal(tw_get16(driver_header(host, 0)->error), TW_ERROR_CDB_FIELD);
}

HOST_TEST(an_answer_is_no_longer_than_asked_for)
{
	static const u8 cdb[] = { 0x12, 0, 0, 0, 5, 0 };
	u8 *data = host_at(host, HOST_DATA);

	memset(data, 0x5a, 64);
	assert_int_equal(driver_command(host, 0, cdb, 6, 512), 0);
	assert_int_equal(returned(host), 5);
	assert_int_equal(data[5], 0x5a);
	/* Nor longer than the buffer, nor does it need one. */
	memset(data, 0x5a, 64);
	assert_int_equal(driver_command(host, 0, (const u8[]){ 0x12, 0, 0, 0, 255, 0 }, 6, 12), 0);
	assert_int_equal(data[12], 0x5a);
	assert_int_equal(driver_command(host, 0, cdb, 6, 0), 0);
}

HOST_TEST(capacity_in_both_sizes)
{
	static const u8 ten[10] = { 0x25 }, sixteen[16] = { 0x9e, 0x10, [13] = 32 };
	const u8 *data = host_at(host, HOST_DATA);

	/* 4 drives of 31250 stripes of 128 sectors. */
	assert_int_equal(driver_command(host, 0, ten, 10, 512), 0);
	assert_int_equal(big(data), 15999999);
	assert_int_equal(big(data + 4), 512);
	assert_int_equal(driver_command(host, 0, sixteen, 16, 512), 0);
	assert_int_equal(big(data), 0);
	assert_int_equal(big(data + 4), 15999999);
	assert_int_equal(big(data + 8), 512);
	assert_int_equal(returned(host), 32);
}

TEST(beyond_2_tib_only_the_long_capacity_tells)
{
	static const u8 ten[10] = { 0x25 }, sixteen[16] = { 0x9e, 0x10, [13] = 32 };
	struct host *host = host_create("store_mib=4,log_entries=99,array.drives=16,drive.sectors=2000000000");
	const u8 *data = host_at(host, HOST_DATA);

	assert_int_equal(driver_command(host, 0, ten, 10, 512), 0);
	assert_int_equal(big(data), 0xffffffff);
	assert_int_equal(driver_command(host, 0, sixteen, 16, 512), 0);
	assert_true(((u64)big(data) << 32 | big(data + 4)) == 31999999999ULL);
	/* 16 TB away data is kept like anywhere. */
	memset(host_at(host, HOST_DATA), 0x31, 512);
	driver_transfer(host, 1, true, 31999999999ULL, 1, 0);
	assert_int_equal(driver_finish(host, 1), 0);
	driver_transfer(host, 1, false, 31999999999ULL, 1, 4096);
	assert_int_equal(driver_finish(host, 1), 0);
	assert_memory_equal(host_at(host, HOST_DATA), host_at(host, HOST_DATA + 4096), 512);
}

TEST(mode_sense_tells_of_the_cache)
{
	static const u8 six[] = { 0x1a, 0, 0x08, 0, 192, 0 }, ten[10] = { 0x5a, 0, 0x3f, [8] = 192 };
	static const u8 changeable[] = { 0x1a, 0, 0x48, 0, 192, 0 }, other[] = { 0x1a, 0, 0x0a, 0, 192, 0 };
	struct host *host = host_create("store_mib=4,log_entries=99,controller.write_cache_reported=1");
	const u8 *data = host_at(host, HOST_DATA);

	assert_int_equal(driver_command(host, 0, six, 6, 512), 0);
	assert_int_equal(data[0], 23);
	assert_memory_equal(data + 4, "\x08\x12\x04", 3);
	assert_int_equal(driver_command(host, 0, ten, 10, 512), 0);
	assert_int_equal(data[1], 26);
	assert_memory_equal(data + 8, "\x08\x12\x04", 3);
	assert_int_equal(driver_command(host, 0, changeable, 6, 512), 0);
	assert_memory_equal(data + 4, "\x08\x12\x00", 3);
	assert_int_equal(driver_command(host, 0, other, 6, 512), 1);
}

HOST_TEST(commands_without_data)
{
	static const u8 cdbs[][16] = { { 0x00 }, { 0x1b, 0, 0, 0, 1 }, { 0x1e }, { 0x35 }, { 0x91 },
				       { 0x2f, [8] = 8 } };
	size_t i;

	for (i = 0; i < RL_COUNT(cdbs); i++)
		assert_int_equal(driver_command(host, 0, cdbs[i], 16, 0), 0);
}

HOST_TEST(report_luns_is_one)
{
	static const u8 cdb[16] = { 0xa0, [9] = 64 };
	const u8 *data = host_at(host, HOST_DATA);

	assert_int_equal(driver_command(host, 0, cdb, 12, 512), 0);
	assert_int_equal(big(data), 8);
	assert_int_equal(returned(host), 16);
}

HOST_TEST(unknown_things_are_refused)
{
	static const u8 opcode[16] = { 0xc7 }, action[16] = { 0x9e, 0x12, [13] = 32 };
	struct segment segment = { HOST_DATA, 512 };
	struct tw_execute_scsi *packet = driver_packet(host, 4);

	driver_scsi(host, 4, 0, opcode, &segment, 1);
	expect_refusal(host, 4, TW_SENSE_ILLEGAL, TW_ASC_OPCODE, TW_ERROR_CDB_FIELD);
	driver_scsi(host, 4, 0, action, &segment, 1);
	expect_refusal(host, 4, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_CDB_FIELD);
	driver_scsi(host, 4, 1, (const u8[16]){ 0x12, [4] = 36 }, &segment, 1);
	expect_refusal(host, 4, TW_SENSE_ILLEGAL, TW_ASC_LUN, TW_ERROR_UNIT);
	/* LUN 1 of a unit that exists. */
	packet->request_id_lun = tw_put16(1 << 12 | 4);
	packet->unit = 0;
	packet->status = 0;
	driver_post(host, 4);
	expect_refusal(host, 4, TW_SENSE_ILLEGAL, TW_ASC_LUN, TW_ERROR_UNIT);
	/* A packet opcode that no driver sends. */
	memset(packet, 0, 24);
	packet->opcode = 0x1f;
	((u8 *)packet)[2] = 4;
	driver_post(host, 4);
	expect_refusal(host, 4, TW_SENSE_ILLEGAL, TW_ASC_OPCODE, TW_ERROR_OPCODE);
}

HOST_TEST(ranges_beyond_the_end_are_refused)
{
	static const u8 force[16] = { 0x8a, 0x08, [13] = 8 };
	static const struct { u64 lba; u32 sectors; } bad[] = {
		{ 16000000, 1 }, { 15999999, 2 }, { 15999900, 200 }, { ~0ULL, 1 }, { ~0ULL - 7, 16 }, { 1ULL << 63, 1 },
	};
	struct segment segment = { HOST_DATA, 4096 };
	size_t i;

	for (i = 0; i < RL_COUNT(bad); i++) {
		driver_transfer(host, 3, i % 2, bad[i].lba, bad[i].sectors, 0);
		expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_LBA, TW_ERROR_LBA_RANGE);
	}
	driver_transfer(host, 3, false, 15999999, 1, 0);
	assert_int_equal(driver_finish(host, 3), 0);
	driver_scsi(host, 3, 0, force, &segment, 1);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_CDB_FIELD);
}

HOST_TEST(bad_scatter_gather_lists_are_refused)
{
	static const u8 cdb[16] = { 0x28, [8] = 8 };
	struct segment list[TW_SG_MAX + 1];
	u32 i;

	for (i = 0; i <= TW_SG_MAX; i++)
		list[i] = (struct segment){ HOST_DATA + i * 512, 512 };
	driver_scsi(host, 3, 0, cdb, list, TW_SG_MAX + 1);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_COUNT);
	driver_scsi(host, 3, 0, cdb, list, 0xfff);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_COUNT);
	driver_scsi(host, 3, 0, cdb, list, 7);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_SIZE);
	driver_scsi(host, 3, 0, cdb, list, 0);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_SIZE);
	list[2].bytes = 0;
	driver_scsi(host, 3, 0, cdb, list, 10);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_ZERO);
	list[2] = (struct segment){ HOST_DATA + 2, 512 };
	driver_scsi(host, 3, 0, cdb, list, 10);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_UNALIGNED);
	/* Memory that is not there, in the middle and across the end. */
	list[2].address = 0x1000;
	driver_scsi(host, 3, 0, cdb, list, 10);
	expect_refusal(host, 3, TW_SENSE_HARDWARE, 0, TW_ERROR_PCI_ABORT);
	list[2].address = HOST_BASE + HOST_BYTES - 4;
	driver_scsi(host, 3, 0, cdb, list, 10);
	expect_refusal(host, 3, TW_SENSE_HARDWARE, 0, TW_ERROR_PCI_ABORT);
	driver_scsi(host, 3, 0, cdb, list, 2);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_SG_SIZE);
}

HOST_TEST(too_many_sectors_are_refused)
{
	static const u8 cdb[16] = { 0x88, [11] = 1, [13] = 1 };
	struct segment segment = { HOST_DATA, 0xfffffffc };

	driver_scsi(host, 3, 0, cdb, &segment, 1);
	expect_refusal(host, 3, TW_SENSE_ILLEGAL, TW_ASC_FIELD, TW_ERROR_TOO_LARGE);
	/* No sectors are no error and need no list. */
	driver_scsi(host, 3, 0, (const u8[16]){ 0x28 }, NULL, 0);
	assert_int_equal(driver_finish(host, 3), 0);
}

/* READ and WRITE in their three lengths, through lists cut at odd places, against an array. */
HOST_TEST(random_transfers_equal_an_array)
{
	enum { SPAN = 4096, AREA = 256 * 1024 };
	u8 *truth = calloc(SPAN, RL_SECTOR_BYTES);
	u64 seed = 2024;
	u32 round, i;

	for (round = 0; round < 3000; round++) {
		u32 sectors = 1 + random_number(&seed) % 200, lba = random_number(&seed) % (SPAN - sectors);
		u32 bytes = sectors * RL_SECTOR_BYTES, count = 0, at = 0, kind = random_number(&seed) % 3;
		bool write = random_number(&seed) % 2;
		struct segment list[TW_SG_MAX];
		u8 cdb[16] = { 0 };

		while (at < bytes) {
			u32 part = count == TW_SG_MAX - 1 ? bytes - at : 4 + random_number(&seed) % 8192 / 4 * 4;

			part = part > bytes - at ? bytes - at : part;
			/* Segments in reverse order with gaps between them. */
			list[count].address = HOST_DATA + AREA * 8 - (u64)count * 16 - at - part;
			list[count].bytes = part;
			at += part;
			count++;
		}
		cdb[0] = (u8)((kind == 0 ? 0x08 : kind == 1 ? 0x28 : 0x88) + (write ? 2 : 0));
		if (kind == 0) {
			cdb[2] = (u8)(lba >> 8);
			cdb[3] = (u8)lba;
			cdb[4] = (u8)sectors;
		} else {
			cdb[kind == 1 ? 4 : 8] = (u8)(lba >> 8);
			cdb[kind == 1 ? 5 : 9] = (u8)lba;
			cdb[kind == 1 ? 8 : 13] = (u8)sectors;
		}
		if (write)
			for (i = 0; i < count; i++) {
				u8 *segment = host_at(host, list[i].address);

				if (random_number(&seed) % 3)
					random_fill(&seed, segment, list[i].bytes);
				else
					memset(segment, (int)(random_number(&seed) % 3), list[i].bytes);
			}
		driver_scsi(host, 1, 0, cdb, list, count);
		assert_int_equal(driver_finish(host, 1), 0);
		for (i = 0, at = 0; i < count; at += list[i++].bytes) {
			u8 *disk = truth + (size_t)lba * RL_SECTOR_BYTES + at;

			if (write)
				memcpy(disk, host_at(host, list[i].address), list[i].bytes);
			else
				assert_memory_equal(disk, host_at(host, list[i].address), list[i].bytes);
		}
	}
	free(truth);
}

HOST_TEST(six_byte_commands_move_256_for_zero)
{
	static const u8 cdb[16] = { 0x0a, 0, 0, 5, 0 };
	struct segment segment = { HOST_DATA, 256 * 512 };

	driver_scsi(host, 1, 0, cdb, &segment, 1);
	assert_int_equal(driver_finish(host, 1), 0);
	assert_int_equal(rl_log_at(&host->model.device.log, host->model.device.log.count - 1)->sectors, 256);
}

TEST(units_do_not_share_sectors)
{
	struct host *host = host_create("store_mib=4,log_entries=99,array.level=single,array.drives=1,array.units=3");
	u8 cdb[16] = { 0x2a, [5] = 7, [8] = 1 };
	struct segment segment = { HOST_DATA, 512 };
	u8 unit;

	for (unit = 0; unit < 3; unit++) {
		memset(host_at(host, HOST_DATA), unit + 1, 512);
		driver_scsi(host, 1, unit, cdb, &segment, 1);
		assert_int_equal(driver_finish(host, 1), 0);
	}
	cdb[0] = 0x28;
	for (unit = 0; unit < 3; unit++) {
		driver_scsi(host, 1, unit, cdb, &segment, 1);
		assert_int_equal(driver_finish(host, 1), 0);
		assert_int_equal(((u8 *)host_at(host, HOST_DATA))[511], unit + 1);
	}
	driver_scsi(host, 1, 3, cdb, &segment, 1);
	expect_refusal(host, 1, TW_SENSE_ILLEGAL, TW_ASC_LUN, TW_ERROR_UNIT);
}

TEST(an_exhausted_store_is_a_medium_error_and_a_report)
{
	struct host *host = host_create("store_mib=4,log_entries=99,array.drives=4");
	u64 seed = 8;
	u32 i;

	random_fill(&seed, host_at(host, HOST_DATA), 256 * 512);
	for (i = 0; i < 31; i++) {
		driver_transfer(host, 1, true, i * 256, 256, 0);
		assert_int_equal(driver_finish(host, 1), 0);
	}
	assert_int_equal(host->reports, 0);
	driver_transfer(host, 1, true, i * 256, 256, 0);
	expect_refusal(host, 1, TW_SENSE_MEDIUM, TW_ASC_WRITE_ERROR, TW_ERROR_MEDIUM);
	assert_true(host->model.store.exhausted);
	assert_int_equal(host->reports, 1);
}

static const struct { const char *name; u8 opcode; bool done; } packets[] = {
#define PACKET(name, opcode, done) { #name, opcode, done },
#define COMMAND(name, opcode, done, length)
#include "opcodes.h"
};

static const struct { const char *name; u8 opcode; bool done; u32 length; } commands[] = {
#define PACKET(name, opcode, done)
#define COMMAND(name, opcode, done, length) { #name, opcode, done, length },
#include "opcodes.h"
};

static bool does_command(u32 opcode)
{
	size_t i;

	for (i = 0; i < RL_COUNT(commands); i++)
		if (commands[i].opcode == opcode)
			return commands[i].done;
	return false;
}

/* One sector, or room for any answer; and the other fields that an opcode needs. */
static void fill_in(u8 cdb[16], u32 opcode)
{
	memset(cdb, 0, 16);
	cdb[0] = (u8)opcode;
	switch (opcode) {
	case 0x08: case 0x0a: case 0x12: case 0x03:
		cdb[4] = opcode < 0x10 && opcode > 0x03 ? 1 : 96;
		break;
	case 0x1a:
		cdb[2] = 0x3f;
		cdb[4] = 96;
		break;
	case 0x5a:
		cdb[2] = 0x3f;
		cdb[8] = 96;
		break;
	case 0x28: case 0x2a: case 0x2f:
		cdb[8] = 1;
		break;
	case 0x88: case 0x8a:
		cdb[13] = 1;
		break;
	case 0x9e:
		cdb[1] = 0x10;
		cdb[13] = 32;
		break;
	case 0xa0:
		cdb[9] = 96;
		break;
	}
}

HOST_TEST(every_scsi_opcode_is_done_or_refused)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		u8 cdb[16], status;

		fill_in(cdb, opcode);
		status = driver_command(host, 0, cdb, 16, 512);
		if (status != !does_command(opcode))
			fail_msg("SCSI opcode 0x%02x: status %u", opcode, status);
		if (!status)
			continue;
		assert_int_equal(driver_header(host, 0)->sense[2], TW_SENSE_ILLEGAL);
		assert_int_equal(driver_header(host, 0)->sense[12], TW_ASC_OPCODE);
		assert_int_equal(tw_get16(driver_header(host, 0)->error), TW_ERROR_CDB_FIELD);
	}
}

/* The same to a unit that does not exist, and to a LUN: only events can be requested. */
HOST_TEST(nothing_is_done_for_a_unit_that_is_not_there)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		u8 cdb[16];

		fill_in(cdb, opcode);
		assert_int_equal(driver_command(host, 9, cdb, 16, 512), opcode != 0x03);
	}
}

/* All 32 opcodes of a packet, in a packet that would do for each. */
HOST_TEST(every_packet_opcode_is_done_or_refused)
{
	u32 opcode;
	size_t i;

	for (opcode = 0; opcode < 32; opcode++) {
		bool done = false;
		u8 status;

		for (i = 0; i < RL_COUNT(packets); i++)
			done |= packets[i].opcode == opcode && packets[i].done;
		if (opcode == TW_OP_EXECUTE_SCSI) {
			status = driver_command(host, 0, (const u8[16]){ 0 }, 16, 0);
		} else if (opcode == TW_OP_INIT_CONNECTION) {
			driver_init(host, 0, TW_INIT_64BIT, 24);
			status = driver_finish(host, 0);
		} else {
			bool set = opcode == TW_OP_SET_PARAM;

			driver_param(host, 0, (u8)opcode, set ? TW_TABLE_TIMEKEEP : TW_TABLE_VERSION,
				     set ? 2 : TW_PARAM_FIRMWARE, set ? 4 : 16);
			status = driver_finish(host, 0);
		}
		if (status != !done)
			fail_msg("packet opcode 0x%02x: status %u", opcode, status);
		if (status)
			assert_int_equal(tw_get16(driver_header(host, 0)->error), TW_ERROR_OPCODE);
	}
}
