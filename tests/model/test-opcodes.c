// SPDX-License-Identifier: GPL-2.0-or-later
/* Every opcode there can be: those that the model does succeed, all others are refused with the right sense data. */
#include <string.h>

#include "host.h"
#include "3w-9xxx/wire/scsi.h"

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

/* One sector, or room for any answer; the fields that an opcode needs besides. */
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
	struct host *host = *state;
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

/* The same to a unit that does not exist, and to a LUN: nothing but the events can be asked for. */
HOST_TEST(nothing_is_done_for_a_unit_that_is_not_there)
{
	struct host *host = *state;
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
	struct host *host = *state;
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
