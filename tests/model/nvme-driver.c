// SPDX-License-Identifier: GPL-2.0-or-later
/* The moves of a driver of an NVMe drive. */
#include "nvme-driver.h"

#include <stdlib.h>
#include <string.h>

#define LISTS	(HOST_DATA + (2U << 20))

struct drive *drive_create(const char *text)
{
	struct host *host = host_empty(HOST_CHUNKS);
	struct drive *drive = host_keep(host, sizeof(*drive));
	char error[RL_CONFIG_ERROR_BYTES];
	struct nv_config config;

	if (!rl_keys_parse(&nv_keys, &config.base, text, error))
		fail_msg("config: %s", error);
	drive->host = host;
	memset(&host->nvme, 0xa5, sizeof(host->nvme));
	assert_true(nv_kind.create(&host->nvme.device, &config.base, &host_ops, host, host_chunk));
	return drive;
}

struct drive *drive_enabled(const char *config)
{
	struct drive *drive = drive_create(config);

	drive_enable(drive);
	assert_int_equal(drive_read(drive, NV_REG_CSTS), NV_CSTS_READY);
	return drive;
}

struct drive *drive_ready(const char *config, u32 entries)
{
	struct drive *drive = drive_enabled(config);

	assert_int_equal(drive_pair(drive, 1, entries), NV_GOOD);
	return drive;
}

u32 drive_read(struct drive *drive, u32 offset)
{
	return (u32)nv_kind.read(&drive->host->nvme.device, offset, 4);
}

void drive_write(struct drive *drive, u32 offset, u32 value)
{
	nv_kind.write(&drive->host->nvme.device, offset, 4, value);
}

u64 sq_address(u32 queue)
{
	return queue ? HOST_BASE + 0x50000 + (queue - 1) * 0x8000 : HOST_BASE;
}

u64 cq_address(u32 queue)
{
	return queue ? HOST_BASE + 0x4000 * queue : HOST_BASE + 0x2000;
}

static void begin_pair(struct drive *drive, u32 queue, u32 entries)
{
	drive->pair[queue] = (struct pair){ .entries = entries, .phase = 1 };
	memset(host_at(drive->host, cq_address(queue)), 0, entries * NV_COMPLETION_BYTES);
}

void drive_enable(struct drive *drive)
{
	struct rl_device *device = &drive->host->nvme.device;

	begin_pair(drive, 0, ADMIN_ENTRIES);
	drive_write(drive, NV_REG_AQA, (ADMIN_ENTRIES - 1) << 16 | (ADMIN_ENTRIES - 1));
	nv_kind.write(device, NV_REG_ASQ, 8, sq_address(0));
	nv_kind.write(device, NV_REG_ACQ, 8, cq_address(0));
	drive_write(drive, NV_REG_CC, 6 << 16 | 4 << 20 | NV_CC_ENABLE);
}

void drive_disable(struct drive *drive)
{
	drive_write(drive, NV_REG_CC, 6 << 16 | 4 << 20);
}

struct command admin_command(u8 opcode, u32 nsid, u32 dword10, u32 dword11)
{
	struct command command = { { opcode } };

	rl_put(command.byte + NV_COMMAND_NSID, nsid, 4);
	rl_put(command.byte + NV_PRP1, HOST_DATA, 8);
	rl_put(command.byte + NV_CDW10, dword10, 4);
	rl_put(command.byte + NV_CDW11, dword11, 4);
	return command;
}

struct command io_command(u8 opcode, u64 block, u32 blocks)
{
	struct command command = { { opcode } };

	rl_put(command.byte + NV_COMMAND_NSID, NV_NSID, 4);
	rl_put(command.byte + NV_CDW10, block, 8);
	rl_put(command.byte + NV_CDW12, blocks ? blocks - 1 : 0, 2);
	return command;
}

void command_data(struct drive *drive, struct command *command, u32 offset, u32 bytes)
{
	u64 address = HOST_DATA + offset, page = address - address % PAGE + PAGE, list = LISTS;
	u32 pages = (u32)((address % PAGE + bytes + PAGE - 1) / PAGE), i;

	rl_put(command->byte + NV_PRP1, address, 8);
	rl_put(command->byte + NV_PRP2, pages == 2 ? page : pages > 2 ? list : 0, 8);
	for (i = 1; pages > 2 && i < pages; i++, page += PAGE, list += 8) {
		if (list % PAGE == PAGE - 8 && i + 1 < pages) {
			rl_put(host_at(drive->host, list), list + 8, 8);
			list += 8;
		}
		rl_put(host_at(drive->host, list), page, 8);
	}
}

struct command transfer(struct drive *drive, bool write, u64 block, u32 blocks, u32 offset)
{
	struct command command = io_command(write ? NV_WRITE : NV_READ, block, blocks);

	command_data(drive, &command, offset, blocks * drive->host->nvme.config.controller.lba_bytes);
	return command;
}

struct command create_cq(u32 queue, u32 entries, u32 vector)
{
	struct command command = admin_command(NV_CREATE_CQ, 0, (entries - 1) << 16 | queue, vector << 16 | 3);

	rl_put(command.byte + NV_PRP1, cq_address(queue), 8);
	return command;
}

struct command create_sq(u32 queue, u32 entries, u32 cq)
{
	struct command command = admin_command(NV_CREATE_SQ, 0, (entries - 1) << 16 | queue, cq << 16 | 1);

	rl_put(command.byte + NV_PRP1, sq_address(queue), 8);
	return command;
}

u16 drive_pair(struct drive *drive, u32 queue, u32 entries)
{
	u16 status = drive_run(drive, 0, create_cq(queue, entries, queue), NULL);

	begin_pair(drive, queue, entries);
	return status ? status : drive_run(drive, 0, create_sq(queue, entries, queue), NULL);
}

u16 drive_put(struct drive *drive, u32 queue, const struct command *command)
{
	struct pair *pair = &drive->pair[queue];
	u8 *to = host_at(drive->host, sq_address(queue) + pair->tail * NV_COMMAND_BYTES);
	u16 id = drive->next_id++;

	memcpy(to, command->byte, NV_COMMAND_BYTES);
	rl_put(to + NV_COMMAND_ID, id, 2);
	pair->tail = (pair->tail + 1) % pair->entries;
	return id;
}

void drive_ring(struct drive *drive, u32 queue)
{
	drive_write(drive, NV_REG_DOORBELL + 8 * queue, drive->pair[queue].tail);
}

u16 drive_submit(struct drive *drive, u32 queue, const struct command *command)
{
	u16 id = drive_put(drive, queue, command);

	drive_ring(drive, queue);
	return id;
}

bool drive_poll(struct drive *drive, u32 queue, struct completion *completion)
{
	struct pair *pair = &drive->pair[queue];
	const u8 *from = host_at(drive->host, cq_address(queue) + pair->head * NV_COMPLETION_BYTES);

	if ((from[14] & 1) != pair->phase)
		return false;
	completion->result = rl_get32(from);
	completion->sq_head = rl_get16(from + 8);
	completion->queue = rl_get16(from + 10);
	completion->id = rl_get16(from + 12);
	completion->status = rl_get16(from + 14) >> 1;
	assert_int_equal(completion->queue, queue);
	if (++pair->head == pair->entries) {
		pair->head = 0;
		pair->phase ^= 1;
	}
	drive_write(drive, NV_REG_DOORBELL + 8 * queue + 4, pair->head);
	return true;
}

/* To the time at which the drive wants to be woken. */
static void step(struct drive *drive)
{
	struct host *host = drive->host;

	host->clock = host->wake > host->clock ? host->wake : host->clock;
	host->wake = RL_NEVER;
	nv_kind.tick(&host->nvme.device);
}

struct completion drive_wait(struct drive *drive, u32 queue)
{
	struct completion completion;

	while (!drive_poll(drive, queue, &completion)) {
		if (drive->host->wake == RL_NEVER)
			fail_msg("no completion, and none to come");
		step(drive);
	}
	return completion;
}

u16 drive_run(struct drive *drive, u32 queue, struct command command, u32 *result)
{
	u16 id = drive_submit(drive, queue, &command);
	struct completion completion = drive_wait(drive, queue);

	assert_int_equal(completion.id, id);
	if (result)
		*result = completion.result;
	return completion.status;
}

void drive_pass(struct drive *drive, u64 ns)
{
	u64 end = drive->host->clock + ns;

	while (drive->host->wake <= end)
		step(drive);
	drive->host->clock = end;
}

u16 drive_transfer(struct drive *drive, bool write, u64 block, u32 blocks, u32 offset)
{
	return drive_run(drive, 1, transfer(drive, write, block, blocks, offset), NULL);
}

const struct rl_log_entry *drive_last(struct drive *drive)
{
	return rl_log_at(&drive->host->nvme.device.log, drive->host->nvme.device.log.count - 1);
}
