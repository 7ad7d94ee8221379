// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: bytes become register writes, memory, commands and passing time
 * for the AHCI controller and the virtio block device. Nothing the driver side does
 * may crash a model, or leave it with commands that nothing will answer. With
 * FUZZ_REACHED set it ends with a list of the states that its inputs reached.
 */
#include "ahci/ahci.h"
#include "virtio-blk/virtio.h"

#define FUZZ_DEVICE \
	const struct rl_kind *kind; \
	union { \
		struct rl_device device; \
		struct ah_model ahci; \
		struct vb_model virtio; \
	};
#include "fuzz-host.h"

#define LIST	BASE			/* of the port: commands, frames, tables */
#define FRAMES	(BASE + 0x800)
#define TABLES	(BASE + 0x1000)
#define TABLE_BYTES	0x400U
#define DESC	(BASE + 0x10000)	/* of the queue */
#define DRIVER	(BASE + 0x11000)
#define DEVICE	(BASE + 0x12000)
#define DATA	(BASE + 0x20000)

enum { LOST, FAILED, RESET, BUS, DIRTY, FLUSHING, CLIFF, GONE, BROKEN, ANSWERED, DISCARDED, TRIMMED, REACHED };
static const char *const words[REACHED] = {
	"lost", "failed", "reset", "bus", "dirty", "flushing", "cliff", "gone", "broken", "answered", "discarded", "trimmed",
};
#include "fuzz-words.h"

static void put(u32 offset, u32 size, u64 value)
{
	host.kind->write(&host.device, offset, size, value);
}

static void put_memory(u64 address, u64 value, u32 bytes)
{
	rl_put(host.memory + (address - BASE), value, bytes);
}

/* A command that runs has a time; what waits has a reason, and will be looked at again. */
static void check_ahci(const struct ah_model *model)
{
	bool waits = false;
	u32 dirty = 0, i;

	for (i = 0; i < AH_SLOTS; i++) {
		const struct ah_command *command = &model->command[i];

		waits |= command->state != AH_FREE && command->state != AH_LOST;
		reached[LOST] |= command->state == AH_LOST;
		reached[CLIFF] |= command->state == AH_CACHING;
		reached[FLUSHING] |= command->state == AH_FLUSHING;
		if (command->state == AH_RUNNING && command->due_ns == RL_NEVER)
			abort();
	}
	if (waits && host.wake == RL_NEVER)
		abort();
	for (i = 0; i < model->disk.nr_dirty; i++)
		dirty += model->disk.dirty[i].sectors;
	if (dirty + model->disk.landing_sectors != model->disk.dirty_sectors || model->disk.nr_dirty > AH_DIRTY)
		abort();
	reached[DIRTY] |= dirty > 0;
	reached[GONE] |= model->gone;
	reached[FAILED] |= model->failed;
	reached[BUS] |= model->port_is & AH_IS_BUS_FATAL;
	reached[ANSWERED] |= model->port_is & AH_IS_SDB;
}

static void check_virtio(const struct vb_model *model)
{
	u32 running = 0, i;
	bool due = false;

	for (i = 0; i < VB_MAX_QUEUE; i++) {
		running += model->request[i].state != VB_FREE;
		due |= model->request[i].state == VB_RUNNING;
		reached[LOST] |= model->request[i].state == VB_LOST;
	}
	if (running != model->running || running > model->config.queue_size)
		abort();
	reached[BROKEN] |= model->status & VB_STATUS_NEEDS_RESET;
	if (due && !(model->status & VB_STATUS_NEEDS_RESET) && host.wake == RL_NEVER)
		abort();
	if (host.irq != !!model->isr)
		abort();
}

static void check(void)
{
	u32 i;

	if (host.kind == &ah_kind)
		check_ahci(&host.ahci);
	else
		check_virtio(&host.virtio);
	if (host.device.log.count > host.device.log.capacity)
		abort();
	for (i = 0; i < host.device.log.count; i++) {
		const struct rl_log_entry *entry = rl_log_at(&host.device.log, i);

		reached[RESET] |= entry->status == RL_LOG_RESET;
		reached[DISCARDED] |= host.kind == &vb_kind && entry->opcode == VB_T_DISCARD && entry->status == RL_LOG_GOOD;
		reached[TRIMMED] |= host.kind == &ah_kind && entry->opcode == AH_OP_DATASET && entry->status == RL_LOG_GOOD;
		if (entry->status == RL_LOG_GOOD && entry->completion_ns < entry->arrival_ns)
			abort();
	}
}

static const char *const configs[] = {
	"store_mib=4,log_entries=50,drive.sectors=65536,ata.write_cache_kib=64",
	"store_mib=4,log_entries=50,drive.sectors=65536,ata.write_cache_kib=0,fault.lose_command=2,fault.medium_lba=9",
	"store_mib=4,log_entries=50,drive.sectors=65536,fault.reset_command=3,fault.slow_command=2,ata.queue_depth=4",
	"store_mib=4,log_entries=50,drive.sectors=65536,fault.gone_command=3,fault.reset_ms=1,ata.queue_depth=1",
	"store_mib=4,log_entries=50,drive.sectors=65536,queue.size=8",
	"store_mib=4,log_entries=50,drive.sectors=65536,queue.size=4,limit.iops=1000,fault.lose_command=2,fault.slow_ms=1",
	"store_mib=4,log_entries=50,drive.sectors=65536,queue.size=8,limit.bytes_s=1048576,fault.medium_lba=9,volume.discard=0",
	"store_mib=4,log_entries=50,drive.sectors=65536,ata.media=flash,flash.channels=2,ata.write_cache_kib=32,fault.medium_lba=9",
};

/* Flash came last: what the committed inputs choose stays. */
static u32 config_of(u8 choice)
{
	return choice % 16 == 15 ? RL_COUNT(configs) - 1 : choice % (RL_COUNT(configs) - 1);
}

/* As a driver brings the device up. */
static void start(void)
{
	u32 i;

	if (host.kind == &ah_kind) {
		put(AH_REG_GHC, 4, AH_GHC_AHCI | AH_GHC_RESET);
		put(AH_PORT + AH_PORT_CLB, 4, (u32)LIST);
		put(AH_PORT + AH_PORT_CLBU, 4, LIST >> 32);
		put(AH_PORT + AH_PORT_FB, 4, (u32)FRAMES);
		put(AH_PORT + AH_PORT_FBU, 4, FRAMES >> 32);
		put(AH_PORT + AH_PORT_IE, 4, ~0U);
		put(AH_REG_GHC, 4, AH_GHC_AHCI | AH_GHC_INTERRUPTS);
		put(AH_PORT + AH_PORT_CMD, 4, AH_CMD_FIS | AH_CMD_START);
		return;
	}
	put(VB_STATUS, 1, 0);
	for (i = 0; i < 2; i++) {
		put(VB_DEVICE_FEATURE_SELECT, 4, i);
		put(VB_DRIVER_FEATURE_SELECT, 4, i);
		put(VB_DRIVER_FEATURE, 4, host.kind->read(&host.device, VB_DEVICE_FEATURE, 4));
	}
	put(VB_STATUS, 1, 3 | VB_STATUS_FEATURES_OK);
	put(VB_QUEUE_DESC, 8, DESC);
	put(VB_QUEUE_DRIVER, 8, DRIVER);
	put(VB_QUEUE_DEVICE, 8, DEVICE);
	put(VB_QUEUE_ENABLE, 2, 1);
	put(VB_STATUS, 1, 3 | VB_STATUS_FEATURES_OK | VB_STATUS_DRIVER_OK);
	memset(host.memory + (DRIVER - BASE), 0, 64);
}

/* A command that a driver could have sent, but for its length, place and pieces. */
static void command_ahci(const uint8_t *choice)
{
	static const u8 opcodes[] = {
		AH_OP_READ_QUEUED, AH_OP_WRITE_QUEUED, AH_OP_READ_QUEUED, AH_OP_WRITE_QUEUED, AH_OP_READ_DMA_EXT, AH_OP_WRITE_FUA_EXT,
		AH_OP_FLUSH_EXT, AH_OP_IDENTIFY, AH_OP_READ_LOG, AH_OP_SET_FEATURES, AH_OP_WRITE_DMA, AH_OP_READ_PIO_EXT, 0x92,
	};
	u32 slot = choice[0] % AH_SLOTS, count = choice[2] % 40, pieces = choice[3] % 6, i;
	u64 table = TABLES + slot * TABLE_BYTES, lba = choice[4] % 64 * 8;
	u8 opcode = opcodes[choice[1] % RL_COUNT(opcodes)];
	bool queued, trim = host.ahci.flash && choice[1] >= 200;

	if (trim) {
		opcode = AH_OP_DATASET;
		memset(host.memory + (DATA - BASE), 0, 8192);
		put_memory(DATA, lba | (u64)choice[0] << 48, AH_RANGE_BYTES);
	}
	queued = opcode == AH_OP_READ_QUEUED || opcode == AH_OP_WRITE_QUEUED;
	put_memory(LIST + slot * AH_HEADER_BYTES, 5 | pieces << AH_HEADER_PRDS_SHIFT, 8);
	put_memory(LIST + slot * AH_HEADER_BYTES + 8, table, 8);
	put_memory(table, AH_FIS_H2D | (u32)(choice[3] & 0x80 ? 0 : AH_FIS_COMMAND) << 8 | (u32)opcode << 16 |
		   (u32)(queued ? count : choice[5]) << 24, 4);
	put_memory(table + 4, lba | (u64)(choice[5] & 0x80) << 24, 8);
	put_memory(table + 12, queued ? slot << 3 : count, 4);
	for (i = 0; i < pieces; i++) {
		put_memory(table + AH_TABLE_PRDS + i * AH_PRD_BYTES, DATA + i * 8192, 8);
		put_memory(table + AH_TABLE_PRDS + i * AH_PRD_BYTES + 12, count * 512 / pieces - 1, 4);
	}
	if (queued)
		put(AH_PORT + AH_PORT_SACT, 4, 1U << slot);
	put(AH_PORT + AH_PORT_CI, 4, 1U << slot);
}

static void command_virtio(const uint8_t *choice)
{
	static const u8 types[] = { VB_T_IN, VB_T_OUT, VB_T_IN, VB_T_OUT, VB_T_FLUSH, VB_T_DISCARD, VB_T_GET_ID, 99 };
	u32 type = types[choice[1] % RL_COUNT(types)], pieces = 1 + choice[3] % 3, i, head = choice[0] % 4;
	u64 header = DATA + 0x10000 + head * 64, avail = host.virtio.queue.avail;
	u32 bytes = type == VB_T_DISCARD ? VB_RANGE_BYTES : choice[2] % 8 * 512U + (choice[2] == 255);
	u32 flags = type == VB_T_IN || type == VB_T_GET_ID ? VB_DESC_WRITE : 0;

	put_memory(header, type, 8);
	put_memory(header + 8, choice[4] % 64 * 8, 8);
	put_memory(DATA, choice[4] % 64, 8);
	put_memory(DATA + 8, choice[2], 8);
	for (i = 0; i < pieces + 2; i++) {
		u64 desc = DESC + ((head + i) % 8) * VB_DESC_BYTES;

		put_memory(desc, !i ? header : i == pieces + 1 ? header + 32 : DATA + (i - 1) * 4096, 8);
		put_memory(desc + 8, !i ? VB_REQUEST_BYTES : i == pieces + 1 ? 1 : bytes, 4);
		put_memory(desc + 12, (i == pieces + 1 ? VB_DESC_WRITE : VB_DESC_NEXT | (i ? flags : 0)) |
			   (u64)((head + i + 1 + (choice[5] == 7)) % 8) << 16, 4);
	}
	put_memory(DRIVER + 4 + 2 * (avail % host.virtio.queue.size), head, 2);
	put_memory(DRIVER + 2, avail + 1, 2);
	put(VB_NOTIFY, 2, 0);
}

static void turn_on(u8 choice)
{
	char error[RL_CONFIG_ERROR_BYTES];
	u32 number = config_of(choice);
	static union {
		struct rl_config base;
		struct ah_config ahci;
		struct vb_config virtio;
	} config;

	reached_begin();
	host.kind = number < 4 || number == 7 ? &ah_kind : &vb_kind;
	host_begin(choice);
	if (!rl_keys_parse(host.kind->keys, &config.base, configs[number], error) ||
	    !host.kind->create(&host.device, &config.base, &host_ops, &host, host_chunk))
		abort();
	if (!(choice & 0x80))
		start();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	u32 value;

	if (!size)
		return 0;
	turn_on(*data++);
	for (; end - data >= 7; data += 7) {
		memcpy(&value, data + 1, 4);
		switch (*data % 12) {
		case 0:
			put((u32)data[5] << 2 | data[6] % 4, 1U << (data[6] >> 4) % 4, value);
			break;
		case 1:
			host.kind->read(&host.device, (u32)data[5] << 2 | data[6] % 4, 1U << (data[6] >> 4) % 4);
			break;
		case 2:
			host.clock += value;
			break;
		case 3:
		case 4:
			if (host.wake != RL_NEVER && host.wake > host.clock)
				host.clock = host.wake;
			host.kind->tick(&host.device);
			break;
		case 5:
			memcpy(host.memory + value % (BYTES - 4), data + 3, 4);
			break;
		case 6:
			/* The driver acknowledges, or restarts the port. */
			if (host.kind == &vb_kind) {
				host.kind->read(&host.device, VB_ISR, 1);
			} else {
				put(AH_PORT + AH_PORT_IS, 4, ~0U);
				put(AH_REG_IS, 4, ~0U);
				put(AH_PORT + AH_PORT_CMD, 4, AH_CMD_FIS);
				put(AH_PORT + AH_PORT_CMD, 4, AH_CMD_FIS | AH_CMD_START);
			}
			break;
		case 7:
			if (data[1] % 4)
				start();
			else
				host.kind->reset(&host.device);
			break;
		default:
			if (host.kind == &ah_kind)
				command_ahci(data + 1);
			else
				command_virtio(data + 1);
		}
		check();
	}
	return 0;
}
