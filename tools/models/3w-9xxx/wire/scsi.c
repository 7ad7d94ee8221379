// SPDX-License-Identifier: GPL-2.0-or-later
/* The SCSI command set of a 3ware unit. */
#include "wire.h"

enum tw_scsi_opcode {
	TW_TEST_UNIT_READY	= 0x00,
	TW_REQUEST_SENSE	= 0x03,
	TW_READ_6		= 0x08,
	TW_WRITE_6		= 0x0a,
	TW_INQUIRY		= 0x12,
	TW_MODE_SENSE_6		= 0x1a,
	TW_START_STOP		= 0x1b,
	TW_PREVENT_REMOVAL	= 0x1e,
	TW_READ_CAPACITY_10	= 0x25,
	TW_READ_10		= 0x28,
	TW_WRITE_10		= 0x2a,
	TW_VERIFY_10		= 0x2f,
	TW_SYNCHRONIZE_10	= 0x35,
	TW_MODE_SENSE_10	= 0x5a,
	TW_READ_16		= 0x88,
	TW_WRITE_16		= 0x8a,
	TW_SYNCHRONIZE_16	= 0x91,
	TW_SERVICE_ACTION_16	= 0x9e,
	TW_REPORT_LUNS		= 0xa0,
};

#define TW_ACTION_READ_CAPACITY_16	0x10
#define TW_CDB_FUA			0x08	/* not offered: no DPOFUA in MODE SENSE */
#define TW_CDB_PROTECT			0xe0

static const struct {
	u8 opcode;
	const char *name;
} tw_names[] = {
	{ TW_TEST_UNIT_READY, "TEST_UNIT_READY" },
	{ TW_REQUEST_SENSE, "REQUEST_SENSE" },
	{ TW_READ_6, "READ" },
	{ TW_WRITE_6, "WRITE" },
	{ TW_INQUIRY, "INQUIRY" },
	{ TW_MODE_SENSE_6, "MODE_SENSE" },
	{ TW_START_STOP, "START_STOP" },
	{ TW_PREVENT_REMOVAL, "PREVENT_ALLOW_REMOVAL" },
	{ TW_READ_CAPACITY_10, "READ_CAPACITY" },
	{ TW_READ_10, "READ" },
	{ TW_WRITE_10, "WRITE" },
	{ TW_VERIFY_10, "VERIFY" },
	{ TW_SYNCHRONIZE_10, "SYNCHRONIZE_CACHE" },
	{ TW_MODE_SENSE_10, "MODE_SENSE" },
	{ TW_READ_16, "READ" },
	{ TW_WRITE_16, "WRITE" },
	{ TW_SYNCHRONIZE_16, "SYNCHRONIZE_CACHE" },
	{ TW_SERVICE_ACTION_16, "READ_CAPACITY" },
	{ TW_REPORT_LUNS, "REPORT_LUNS" },
};

const char *tw_scsi_name(u8 opcode)
{
	size_t i;

	for (i = 0; i < RL_COUNT(tw_names); i++)
		if (tw_names[i].opcode == opcode)
			return tw_names[i].name;
	return "OTHER";
}

static u32 tw_big(const u8 *at, u32 bytes)
{
	u32 value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static void tw_put_big(u8 *at, u64 value, u32 bytes)
{
	while (bytes--) {
		at[bytes] = (u8)value;
		value >>= 8;
	}
}

static void tw_put_text(u8 *at, const char *text, u32 width)
{
	u32 i = 0;

	for (; i < width && text[i]; i++)
		at[i] = (u8)text[i];
	for (; i < width; i++)
		at[i] = ' ';
}

static void tw_refuse_cdb(struct tw_scsi_result *result, u16 error, u8 asc)
{
	result->error = error;
	result->key = TW_SENSE_ILLEGAL;
	result->asc = asc;
}

/* The host gets at most the allocation length of its command. */
static void tw_answer(struct tw_scsi_result *result, u32 length, u32 allocated)
{
	result->action = TW_SCSI_DATA;
	result->length = (u32)rl_min(length, allocated);
}

static void tw_range(const struct tw_scsi_unit *unit, struct tw_scsi_result *result,
		     enum tw_scsi_action action, u64 lba, u32 sectors)
{
	if (lba > unit->sectors || sectors > unit->sectors - lba) {
		tw_refuse_cdb(result, TW_ERROR_LBA_RANGE, TW_ASC_LBA);
		return;
	}
	result->action = action;
	result->lba = lba;
	result->sectors = sectors;
}

static void tw_inquiry_page(const struct tw_scsi_unit *unit, const u8 *cdb,
			    struct tw_scsi_result *result)
{
	static const u8 pages[] = { 0x00, 0x80, 0x83 };
	u8 *data = result->data;

	data[1] = cdb[2];
	switch (cdb[2]) {
	case 0x00:
		data[3] = sizeof(pages);
		rl_copy(data + 4, pages, sizeof(pages));
		break;
	case 0x80:
		data[3] = 16;
		tw_put_text(data + 4, "SIMULATED", 12);
		tw_put_text(data + 16, "", 4);
		data[19] = (u8)('A' + unit->number);
		break;
	case 0x83:
		/* One vendor-chosen NAA 3 designator: locally assigned. */
		data[3] = 12;
		data[4] = 1;
		data[5] = 3;
		data[7] = 8;
		tw_put_big(data + 8, 0x3000003ca9500000ULL + unit->number, 8);
		break;
	default:
		tw_refuse_cdb(result, TW_ERROR_CDB_FIELD, TW_ASC_FIELD);
		return;
	}
	tw_answer(result, data[3] + 4U, tw_big(cdb + 3, 2));
}

static void tw_inquiry(const struct tw_scsi_unit *unit, const u8 *cdb,
		       struct tw_scsi_result *result)
{
	const struct tw_controller_config *controller = &unit->config->controller;

	if (cdb[1] & 1) {
		tw_inquiry_page(unit, cdb, result);
		return;
	}
	if (cdb[2]) {
		tw_refuse_cdb(result, TW_ERROR_CDB_FIELD, TW_ASC_FIELD);
		return;
	}
	result->data[2] = 3;	/* SPC: so Linux asks for no vital product data */
	result->data[3] = 2;
	result->data[4] = 31;
	result->data[7] = 2;	/* command queuing */
	tw_put_text(result->data + 8, controller->vendor, 8);
	tw_put_text(result->data + 16, controller->product, 16);
	tw_put_text(result->data + 32, controller->revision, 4);
	tw_answer(result, 36, tw_big(cdb + 3, 2));
}

/* Pages: caching (8) or all (0x3f, which is caching as well). @header: 4 or 8 bytes. */
static void tw_mode_sense(const struct tw_scsi_unit *unit, const u8 *cdb, u32 header,
			  u32 allocated, struct tw_scsi_result *result)
{
	u8 page = cdb[2] & 0x3f, *caching = result->data + header;

	if ((page != 0x08 && page != 0x3f) || cdb[3]) {
		tw_refuse_cdb(result, TW_ERROR_CDB_FIELD, TW_ASC_FIELD);
		return;
	}
	caching[0] = 0x08;
	caching[1] = 18;
	/* Changeable values (page control 1) are none. */
	if (cdb[2] >> 6 != 1 && unit->config->controller.write_cache_reported)
		caching[2] = 4;
	if (header == 4)
		result->data[0] = (u8)(header + 20 - 1);
	else
		tw_put_big(result->data, header + 20 - 2, 2);
	tw_answer(result, header + 20, allocated);
}

static void tw_read_capacity(const struct tw_scsi_unit *unit, const u8 *cdb,
			     struct tw_scsi_result *result)
{
	u64 last = unit->sectors - 1;

	if (cdb[0] == TW_READ_CAPACITY_10) {
		tw_put_big(result->data, rl_min(last, 0xffffffffULL), 4);
		tw_put_big(result->data + 4, RL_SECTOR_BYTES, 4);
		tw_answer(result, 8, 8);
		return;
	}
	if ((cdb[1] & 0x1f) != TW_ACTION_READ_CAPACITY_16) {
		tw_refuse_cdb(result, TW_ERROR_CDB_FIELD, TW_ASC_FIELD);
		return;
	}
	tw_put_big(result->data, last, 8);
	tw_put_big(result->data + 8, RL_SECTOR_BYTES, 4);
	tw_answer(result, 32, tw_big(cdb + 10, 4));
}

static void tw_transfer(const struct tw_scsi_unit *unit, const u8 *cdb,
			struct tw_scsi_result *result)
{
	u8 kind = cdb[0] & 0x1f;	/* 8 and 10 in all three lengths */
	enum tw_scsi_action action = kind == TW_READ_6 ? TW_SCSI_READ : TW_SCSI_WRITE;

	if (cdb[0] == TW_READ_6 || cdb[0] == TW_WRITE_6) {
		tw_range(unit, result, action, tw_big(cdb + 1, 3) & 0x1fffff,
			 cdb[4] ? cdb[4] : 256);
		return;
	}
	if (cdb[1] & (TW_CDB_PROTECT | TW_CDB_FUA)) {
		tw_refuse_cdb(result, TW_ERROR_CDB_FIELD, TW_ASC_FIELD);
		return;
	}
	if (cdb[0] == TW_READ_10 || cdb[0] == TW_WRITE_10)
		tw_range(unit, result, action, tw_big(cdb + 2, 4), tw_big(cdb + 7, 2));
	else
		tw_range(unit, result, action, (u64)tw_big(cdb + 2, 4) << 32 | tw_big(cdb + 6, 4),
			 tw_big(cdb + 10, 4));
}

static void tw_decode_unit(const struct tw_scsi_unit *unit, const u8 *cdb,
			   struct tw_scsi_result *result)
{
	switch (cdb[0]) {
	case TW_TEST_UNIT_READY:
	case TW_START_STOP:
	case TW_PREVENT_REMOVAL:
		break;
	case TW_VERIFY_10:
		tw_range(unit, result, TW_SCSI_DONE, tw_big(cdb + 2, 4), tw_big(cdb + 7, 2));
		break;
	case TW_SYNCHRONIZE_10:
	case TW_SYNCHRONIZE_16:
		result->action = TW_SCSI_FLUSH;
		break;
	case TW_INQUIRY:
		tw_inquiry(unit, cdb, result);
		break;
	case TW_MODE_SENSE_6:
		tw_mode_sense(unit, cdb, 4, cdb[4], result);
		break;
	case TW_MODE_SENSE_10:
		tw_mode_sense(unit, cdb, 8, tw_big(cdb + 7, 2), result);
		break;
	case TW_READ_CAPACITY_10:
	case TW_SERVICE_ACTION_16:
		tw_read_capacity(unit, cdb, result);
		break;
	case TW_REPORT_LUNS:
		tw_put_big(result->data, 8, 4);
		tw_answer(result, 16, tw_big(cdb + 6, 4));
		break;
	case TW_READ_6:
	case TW_WRITE_6:
	case TW_READ_10:
	case TW_WRITE_10:
	case TW_READ_16:
	case TW_WRITE_16:
		tw_transfer(unit, cdb, result);
		break;
	default:
		tw_refuse_cdb(result, TW_ERROR_CDB_FIELD, TW_ASC_OPCODE);
	}
}

void tw_scsi_decode(const struct tw_scsi_unit *unit, u32 lun, const u8 cdb[16],
		    struct tw_scsi_result *result)
{
	rl_fill(result, 0, sizeof(*result));
	result->action = TW_SCSI_DONE;
	if (cdb[0] == TW_REQUEST_SENSE)
		result->action = TW_SCSI_EVENT;
	else if (!unit || lun)
		tw_refuse_cdb(result, TW_ERROR_UNIT, TW_ASC_LUN);
	else
		tw_decode_unit(unit, cdb, result);
}
