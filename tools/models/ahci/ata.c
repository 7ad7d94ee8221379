// SPDX-License-Identifier: GPL-2.0-or-later
/* ATA commands: what the disk says of itself, and data between the store and the host's memory. */
#include "ahci.h"

#define AH_WORDS	256U
#define AH_PAGE_BYTES	(AH_WORDS * 2)
#define AH_TRIM_PAGES	AH_BOUNCE_SECTORS	/* of ranges, of one command */

/* A command as its frame and its header give it. */
struct ah_request {
	u32 slot;
	u32 header;
	u64 table;
	u8 fis[AH_FIS_BYTES];
	u64 lba;
	u32 sectors;
};

/* Text in an identify page: bytes of a word are exchanged. */
static void ah_text(u8 *page, u32 word, u32 bytes, const char *text)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		page[word * 2 + (i ^ 1)] = *text ? (u8)*text++ : ' ';
}

static void ah_word(u8 *page, u32 word, u32 value)
{
	rl_put16(page + word * 2, value);
}

/* Return: word 217. 1 says that nothing rotates, 0 says nothing: Linux takes such a disk for one that rotates. */
static u32 ah_rotation(const struct ah_config *config)
{
	if (!config->rotational)
		return 1;
	return config->media == AH_PLATTERS ? config->drive.rpm : 0;
}

static void ah_identify(const struct ah_model *model, u8 *page)
{
	const struct ah_config *config = &model->config;
	u64 sectors = config->drive.sectors;
	bool cache = config->write_cache_kib;
	char serial[] = "SIMULATED-0";

	serial[sizeof(serial) - 2] = (char)('0' + config->base.number % 10);
	ah_word(page, 0, 0x0040);
	ah_text(page, 10, 20, serial);
	ah_text(page, 23, 8, "1.0");
	ah_text(page, 27, 40, config->model);
	ah_word(page, 47, 0x8001);
	ah_word(page, 49, 0x0f00);	/* LBA, DMA, IORDY */
	ah_word(page, 50, 0x4000);
	ah_word(page, 53, 0x0006);
	rl_put32(page + 60 * 2, (u32)rl_min(sectors, 0x0fffffff));
	ah_word(page, 63, 0x0007);
	ah_word(page, 64, 0x0003);
	ah_word(page, 65, 120);
	ah_word(page, 66, 120);
	ah_word(page, 67, 120);
	ah_word(page, 68, 120);
	ah_word(page, 75, config->queue_depth - 1);
	ah_word(page, 76, config->queue_depth > 1 ? 0x010e : 0x000e);	/* three speeds; NCQ */
	ah_word(page, 80, 0x01f0);	/* ATA-4 to ATA8-ACS */
	ah_word(page, 82, cache ? 0x0060 : 0x0040);	/* look-ahead; write cache */
	ah_word(page, 83, 0x7400);	/* 48-bit addresses, FLUSH CACHE and its EXT */
	ah_word(page, 84, 0x4040);	/* WRITE DMA FUA EXT */
	ah_word(page, 85, cache && model->write_cache ? 0x0060 : 0x0040);
	ah_word(page, 86, 0x7400);
	ah_word(page, 87, 0x4040);
	ah_word(page, 88, 0x407f);
	rl_put32(page + 100 * 2, (u32)sectors);
	rl_put32(page + 102 * 2, (u32)(sectors >> 32));
	if (config->physical_bytes == 4096)
		ah_word(page, 106, 0x6003);
	if (config->media == AH_FLASH) {
		ah_word(page, 69, 0x4020);	/* trimmed sectors read as zeros */
		ah_word(page, 105, AH_TRIM_PAGES);
		ah_word(page, 169, 0x0001);	/* TRIM */
	}
	ah_word(page, 217, ah_rotation(config));
	ah_word(page, 222, 0x107f);
}

/* Log 10h: which queued command failed, and how. Reading it lets the disk take commands again. */
static void ah_error_log(struct ah_model *model, u8 *page)
{
	u8 sum = 0;
	u32 i;

	page[0] = model->failed_tag;
	page[2] = AH_ATA_READY | AH_ATA_ERROR;
	page[3] = model->failed_error;
	for (i = 0; i < 3; i++) {
		page[4 + i] = (u8)(model->failed_lba >> 8 * i);
		page[8 + i] = (u8)(model->failed_lba >> (8 * i + 24));
	}
	page[7] = AH_ATA_READY;
	for (i = 0; i < AH_PAGE_BYTES - 1; i++)
		sum += page[i];
	page[AH_PAGE_BYTES - 1] = (u8)-sum;
	model->failed = false;
}

/* Where the next bytes of a command's data lie in the host's memory. */
struct ah_cursor {
	u64 prds;
	u32 nr;
	u32 at;
	u64 address;
	u32 left;
};

static void ah_cursor_init(struct ah_cursor *cursor, const struct ah_request *request)
{
	cursor->prds = request->table + AH_TABLE_PRDS;
	cursor->nr = request->header >> AH_HEADER_PRDS_SHIFT;
	cursor->at = 0;
	cursor->left = 0;
}

/* Move @bytes; @data NULL: zeros to the host. Return: false when the list or the memory ends before. */
static bool ah_move_data(struct ah_model *model, struct ah_cursor *cursor, u8 *data, u32 bytes,
			 bool write)
{
	while (bytes) {
		u32 part = (u32)rl_min(bytes, cursor->left);
		u8 prd[AH_PRD_BYTES];
		bool good;

		if (!part) {
			if (cursor->at == cursor->nr ||
			    !rl_dma_read(&model->device, cursor->prds + cursor->at++ * AH_PRD_BYTES,
					 prd, sizeof(prd)))
				return false;
			cursor->address = rl_get32(prd) | (u64)rl_get32(prd + 4) << 32;
			cursor->left = (rl_get32(prd + 12) & AH_PRD_COUNT_MASK) + 1;
			continue;
		}
		if (write)
			good = rl_dma_read(&model->device, cursor->address, data, part);
		else if (data)
			good = rl_dma_write(&model->device, cursor->address, data, part);
		else
			good = rl_dma_zero(&model->device, cursor->address, part);
		if (!good)
			return false;
		cursor->address += part;
		cursor->left -= part;
		bytes -= part;
		if (data)
			data += part;
	}
	return true;
}

/* Return: false when the host's memory is not there. */
static bool ah_read(struct ah_model *model, const struct ah_request *request)
{
	struct ah_cursor cursor;
	u64 lba = request->lba, end = lba + request->sectors;

	ah_cursor_init(&cursor, request);
	while (lba < end) {
		u32 part = rl_store_zero_run(&model->store, lba,
					     (u32)rl_min(end - lba, AH_PRD_COUNT_MASK / RL_SECTOR_BYTES));
		u8 *data = NULL;

		if (!part) {
			part = (u32)rl_min(end - lba, AH_BOUNCE_SECTORS);
			data = (u8 *)model->bounce;
			rl_store_read(&model->store, lba, part, data);
		}
		if (!ah_move_data(model, &cursor, data, part * RL_SECTOR_BYTES, false))
			return false;
		lba += part;
	}
	return true;
}

/* As above; false as well when the store is exhausted. */
static bool ah_write(struct ah_model *model, const struct ah_request *request)
{
	struct ah_cursor cursor;
	u64 lba = request->lba, end = lba + request->sectors;

	ah_cursor_init(&cursor, request);
	while (lba < end) {
		u32 part = (u32)rl_min(end - lba, AH_BOUNCE_SECTORS);

		if (!ah_move_data(model, &cursor, (u8 *)model->bounce, part * RL_SECTOR_BYTES, true) ||
		    !rl_store_write(&model->store, lba, part, model->bounce))
			return false;
		lba += part;
	}
	rl_bad_mend(&model->bad, request->lba, request->sectors);
	return true;
}

static void ah_end(struct ah_model *model, u32 slot, u8 error, u64 now)
{
	struct ah_command *command = &model->command[slot];

	command->error = error;
	if (model->flash) {
		ah_flash_run(model, command, false, now);
		return;
	}
	command->state = AH_RUNNING;
	command->due_ns = now + model->disk.geometry.command_ns;
}

/* The memory of a command is not there: the controller stops, nothing answers the command. */
static void ah_unreachable(struct ah_model *model, u32 slot)
{
	model->command[slot].state = AH_LOST;
	ah_bus_failed(model);
}

/* A page of 512 bytes to the host, by PIO or DMA. */
static void ah_page(struct ah_model *model, const struct ah_request *request, u8 *page, bool pio,
		    u64 now)
{
	struct ah_cursor cursor;

	ah_cursor_init(&cursor, request);
	if (!ah_move_data(model, &cursor, page, AH_PAGE_BYTES, false)) {
		ah_unreachable(model, request->slot);
		return;
	}
	if (pio)
		model->command[request->slot].answer = AH_ANSWER_PIO;
	ah_end(model, request->slot, 0, now);
}

static void ah_read_log(struct ah_model *model, const struct ah_request *request, bool pio, u64 now)
{
	u8 page[AH_PAGE_BYTES];

	rl_fill(page, 0, sizeof(page));
	switch (request->fis[4]) {
	case AH_LOG_DIRECTORY:
		ah_word(page, 0, 1);
		ah_word(page, AH_LOG_NCQ_ERROR, 1);
		break;
	case AH_LOG_NCQ_ERROR:
		ah_error_log(model, page);
		break;
	default:
		ah_end(model, request->slot, AH_ATA_ABORTED, now);
		return;
	}
	ah_page(model, request, page, pio, now);
}

static void ah_set_features(struct ah_model *model, const struct ah_request *request, u64 now)
{
	u8 error = 0;

	switch (request->fis[3]) {
	case AH_FEATURE_CACHE_ON:
	case AH_FEATURE_CACHE_OFF:
		if (model->config.write_cache_kib)
			model->write_cache = request->fis[3] == AH_FEATURE_CACHE_ON;
		else
			error = AH_ATA_ABORTED;
		break;
	case AH_FEATURE_AHEAD_ON:
	case AH_FEATURE_AHEAD_OFF:
		model->disk.geometry.read_ahead = request->fis[3] == AH_FEATURE_AHEAD_ON;
		break;
	case AH_FEATURE_TRANSFER:
		break;
	default:
		error = AH_ATA_ABORTED;
	}
	ah_end(model, request->slot, error, now);
}

static void ah_flush(struct ah_model *model, const struct ah_request *request, u64 now)
{
	if (model->flash) {
		ah_flash_run(model, &model->command[request->slot], true, now);
		return;
	}
	model->command[request->slot].state = AH_FLUSHING;
	ah_disk_advance(model, now);
}

/* Log a command; a read or write with its place. */
static void ah_note(struct ah_model *model, const struct ah_request *request, bool transfer, u64 now)
{
	struct ah_command *command = &model->command[request->slot];
	struct rl_log_entry entry = {
		.arrival_ns = now, .request_id = (u16)request->slot, .opcode = request->fis[2],
		.unit = RL_LOG_ADMIN, .status = RL_LOG_RUNNING,
	};
	u32 i;

	if (transfer) {
		entry.lba = request->lba;
		entry.sectors = request->sectors;
	}
	if (transfer || request->fis[2] == AH_OP_FLUSH || request->fis[2] == AH_OP_FLUSH_EXT)
		entry.unit = 0;
	for (i = 0; i < AH_SLOTS; i++)
		if (i != request->slot && model->command[i].state != AH_FREE)
			entry.depth++;
	command->log = rl_log_add(&model->device.log, &entry);
}

static void ah_transfer(struct ah_model *model, const struct ah_request *request, bool write,
			bool through, bool data, u64 now)
{
	struct ah_command *command = &model->command[request->slot];

	command->lba = request->lba;
	command->sectors = request->sectors;
	command->write = write;
	if (request->lba >= model->config.drive.sectors ||
	    request->sectors > model->config.drive.sectors - request->lba) {
		ah_end(model, request->slot, AH_ATA_NO_ID, now);
		return;
	}
	ah_fault_transfer(model, request->lba, request->sectors, now);
	if (command->state == AH_FREE)
		return;		/* the fault took it */
	if (model->lose_next) {
		model->lose_next = false;
		command->state = AH_LOST;
		rl_log_finish(&model->device.log, command->log, RL_LOG_LOST, now);
		return;
	}
	if (!write && rl_bad_meets(&model->bad, request->lba, request->sectors)) {
		model->failed_lba = rl_max(request->lba, model->bad.lba);
		command->error = AH_ATA_UNCORRECTABLE;
	} else if (data && !(write ? ah_write(model, request) : ah_read(model, request))) {
		if (!model->store.exhausted) {
			ah_unreachable(model, request->slot);
			return;
		}
		model->device.ops->report(model->device.host,
					  "store exhausted: raise store_mib of the profile");
		command->error = AH_ATA_ABORTED;
	}
	if (model->flash)
		ah_flash_add(model, command, through, now);
	else
		ah_disk_add(model, command, through, now);
}

/* Range @i of a TRIM, which is in model->bounce. Return: how many sectors it has. */
static u32 ah_range(const struct ah_model *model, u32 i, u64 *lba)
{
	const u8 *range = (const u8 *)model->bounce + (size_t)i * AH_RANGE_BYTES;

	*lba = rl_get64(range) & 0xffffffffffffULL;
	return rl_get16(range + 6);
}

/* Get the ranges of a TRIM into model->bounce; the request has the start of the first and the sectors of all. */
static bool ah_ranges(struct ah_model *model, struct ah_request *request, u32 bytes)
{
	struct ah_cursor cursor;
	u32 i;
	u64 lba;

	ah_cursor_init(&cursor, request);
	if (!ah_move_data(model, &cursor, (u8 *)model->bounce, bytes, true))
		return false;
	request->sectors = 0;
	for (i = 0; i < bytes / AH_RANGE_BYTES; i++)
		request->sectors += ah_range(model, i, &lba);
	ah_range(model, 0, &request->lba);
	return true;
}

/* Ranges that a TRIM lists read as zeros afterwards. If one of them is beyond the end, nothing changes. */
static void ah_trim(struct ah_model *model, struct ah_request *request, u64 now)
{
	u32 pages = request->fis[12] | (u32)request->fis[13] << 8, ranges, sectors, i;
	u64 lba, capacity = model->config.drive.sectors;

	if (!model->flash || request->fis[3] != AH_DATASET_TRIM || !pages || pages > AH_TRIM_PAGES) {
		ah_note(model, request, false, now);
		ah_end(model, request->slot, AH_ATA_ABORTED, now);
		return;
	}
	if (!ah_ranges(model, request, pages * AH_PAGE_BYTES)) {
		ah_note(model, request, false, now);
		ah_unreachable(model, request->slot);
		return;
	}
	ah_note(model, request, true, now);
	ranges = pages * AH_PAGE_BYTES / AH_RANGE_BYTES;
	for (i = 0; i < ranges; i++) {
		sectors = ah_range(model, i, &lba);
		if (sectors && (lba > capacity || sectors > capacity - lba)) {
			ah_end(model, request->slot, AH_ATA_NO_ID, now);
			return;
		}
	}
	for (i = 0; i < ranges; i++) {
		sectors = ah_range(model, i, &lba);
		rl_store_zero(&model->store, lba, sectors);
		rl_bad_mend(&model->bad, lba, sectors);
	}
	ah_end(model, request->slot, 0, now);
}

/* Sectors of a command with 48-bit addresses, or of 28 bits. */
static void ah_place(struct ah_request *request, bool wide)
{
	const u8 *fis = request->fis;

	request->lba = fis[4] | (u64)fis[5] << 8 | (u64)fis[6] << 16;
	if (wide) {
		request->lba |= (u64)fis[8] << 24 | (u64)fis[9] << 32 | (u64)fis[10] << 40;
		request->sectors = fis[12] | (u32)fis[13] << 8;
		request->sectors = request->sectors ? request->sectors : 65536;
	} else {
		request->lba |= (u64)(fis[7] & 0xf) << 24;
		request->sectors = fis[12] ? fis[12] : 256;
	}
}

/* Commands that are not reads and writes. */
static void ah_other(struct ah_model *model, const struct ah_request *request, u64 now)
{
	u8 page[AH_PAGE_BYTES];

	switch (request->fis[2]) {
	case AH_OP_IDENTIFY:
		rl_fill(page, 0, sizeof(page));
		ah_identify(model, page);
		ah_page(model, request, page, true, now);
		break;
	case AH_OP_READ_LOG:
	case AH_OP_READ_LOG_DMA:
		ah_read_log(model, request, request->fis[2] == AH_OP_READ_LOG, now);
		break;
	case AH_OP_SET_FEATURES:
		ah_set_features(model, request, now);
		break;
	case AH_OP_FLUSH:
	case AH_OP_FLUSH_EXT:
	case AH_OP_STANDBY:
		ah_flush(model, request, now);
		break;
	case AH_OP_IDLE:
	case AH_OP_CHECK_POWER:
		ah_end(model, request->slot, 0, now);
		break;
	default:
		ah_end(model, request->slot, AH_ATA_ABORTED, now);
	}
}

static void ah_queued(struct ah_model *model, struct ah_request *request, u64 now)
{
	struct ah_command *command = &model->command[request->slot];
	const u8 *fis = request->fis;
	bool write = fis[2] == AH_OP_WRITE_QUEUED;

	ah_place(request, true);
	request->sectors = fis[3] | (u32)fis[11] << 8;
	request->sectors = request->sectors ? request->sectors : 65536;
	command->answer = AH_ANSWER_SDB;
	ah_note(model, request, true, now);
	if (model->config.queue_depth == 1 || fis[12] >> 3 != request->slot ||
	    request->slot >= model->config.queue_depth) {
		ah_end(model, request->slot, AH_ATA_ABORTED, now);
		return;
	}
	model->ci &= ~(1U << request->slot);	/* the disk has accepted it */
	ah_transfer(model, request, write, write && fis[7] & AH_ATA_FUA, true, now);
}

static void ah_dispatch(struct ah_model *model, struct ah_request *request, u64 now)
{
	u8 opcode = request->fis[2];
	bool write = opcode == AH_OP_WRITE_DMA || opcode == AH_OP_WRITE_DMA_EXT ||
		     opcode == AH_OP_WRITE_FUA_EXT || opcode == AH_OP_WRITE_PIO_EXT;

	switch (opcode) {
	case AH_OP_READ_QUEUED:
	case AH_OP_WRITE_QUEUED:
		ah_queued(model, request, now);
		break;
	case AH_OP_READ_PIO_EXT:
	case AH_OP_READ_DMA_EXT:
	case AH_OP_WRITE_DMA_EXT:
	case AH_OP_WRITE_FUA_EXT:
	case AH_OP_WRITE_PIO_EXT:
	case AH_OP_VERIFY_EXT:
		if (opcode == AH_OP_READ_PIO_EXT)
			model->command[request->slot].answer = AH_ANSWER_PIO;
		ah_place(request, true);
		ah_note(model, request, true, now);
		ah_transfer(model, request, write, opcode == AH_OP_WRITE_FUA_EXT,
			    opcode != AH_OP_VERIFY_EXT, now);
		break;
	case AH_OP_READ_DMA:
	case AH_OP_WRITE_DMA:
		ah_place(request, false);
		ah_note(model, request, true, now);
		ah_transfer(model, request, write, false, true, now);
		break;
	case AH_OP_DATASET:
		ah_trim(model, request, now);
		break;
	default:
		ah_note(model, request, false, now);
		ah_other(model, request, now);
	}
}

void ah_begin(struct ah_model *model, u32 slot, u64 now)
{
	struct ah_command *command = &model->command[slot];
	struct ah_request request = { .slot = slot };
	u8 header[16];

	if (!rl_dma_read(&model->device, model->list + slot * AH_HEADER_BYTES, header, sizeof(header))) {
		ah_bus_failed(model);
		return;
	}
	request.header = rl_get32(header);
	request.table = rl_get32(header + 8) | (u64)rl_get32(header + 12) << 32;
	if (!rl_dma_read(&model->device, request.table, request.fis, sizeof(request.fis))) {
		ah_bus_failed(model);
		return;
	}
	model->device.nr_commands++;
	rl_fill(command, 0, sizeof(*command));
	command->log = RL_LOG_NONE;
	command->arrival_ns = now;
	command->state = AH_RUNNING;
	command->due_ns = RL_NEVER;
	if (request.fis[0] != AH_FIS_H2D || !(request.fis[1] & AH_FIS_COMMAND)) {
		/* A soft reset: the disk answers when the bit is taken away again. */
		if (request.fis[15] & AH_CONTROL_RESET) {
			model->ci &= ~(1U << slot);
			command->state = AH_FREE;
			model->failed = false;
		} else {
			ah_end(model, slot, 0, now);
		}
		return;
	}
	/* After an error only reading its log or a reset lets the disk go on. */
	if (model->failed && request.fis[2] != AH_OP_READ_LOG && request.fis[2] != AH_OP_READ_LOG_DMA)
		ah_end(model, slot, AH_ATA_ABORTED, now);
	else
		ah_dispatch(model, &request, now);
}

const char *ah_command_name(const struct rl_log_entry *entry)
{
	static const struct { u8 opcode; const char *name; } names[] = {
		{ AH_OP_READ_QUEUED, "READ" }, { AH_OP_WRITE_QUEUED, "WRITE" },
		{ AH_OP_READ_DMA, "READ" }, { AH_OP_WRITE_DMA, "WRITE" },
		{ AH_OP_READ_DMA_EXT, "READ" }, { AH_OP_WRITE_DMA_EXT, "WRITE" },
		{ AH_OP_READ_PIO_EXT, "READ" }, { AH_OP_WRITE_PIO_EXT, "WRITE" },
		{ AH_OP_WRITE_FUA_EXT, "WRITE" }, { AH_OP_VERIFY_EXT, "VERIFY" },
		{ AH_OP_DATASET, "TRIM" }, { AH_OP_FLUSH, "FLUSH" }, { AH_OP_FLUSH_EXT, "FLUSH" },
		{ AH_OP_IDENTIFY, "IDENTIFY" }, { AH_OP_SET_FEATURES, "SET_FEATURES" },
		{ AH_OP_READ_LOG, "READ_LOG" }, { AH_OP_READ_LOG_DMA, "READ_LOG" },
		{ AH_OP_STANDBY, "STANDBY" }, { AH_OP_IDLE, "IDLE" },
		{ AH_OP_CHECK_POWER, "CHECK_POWER" },
	};
	u32 i;

	for (i = 0; i < RL_COUNT(names); i++)
		if (names[i].opcode == entry->opcode)
			return names[i].name;
	return "OTHER";
}
