// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: bytes become register writes, packets, scatter-gather lists
 * and passing time. Nothing the driver side does may crash the model or make it
 * break its promises about requests, depth and responses. With FUZZ_REACHED set
 * it ends by saying which faults and events its inputs have led to.
 */
#include "3w-9xxx/controller/controller.h"
#include "reached.h"

#define FUZZ_DEVICE \
	struct tw_model model;
#include "fuzz-host.h"

static void check(void)
{
	u32 i, depth = 0, busy = 0, answered = 0;

	for (i = 0; i < TW_MAX_REQUESTS; i++) {
		answered += host.model.request[i].state == TW_REQUEST_ANSWERED;
		busy += host.model.request[i].state == TW_REQUEST_RUNNING ||
			host.model.request[i].state == TW_REQUEST_LOST;
	}
	for (i = 0; i < TW_MAX_UNITS; i++)
		depth += host.model.depth[i];
	if (answered != host.model.responses.count || depth > busy)
		abort();
	if (host.model.timing.dirty_sectors > 64 * 2048)
		abort();
	reached_look(&host.model);
}

static const char *const configs[] = {
	"store_mib=4,log_entries=50,array.drives=4,controller.cache_mib=1",
	"store_mib=4,log_entries=50,array.level=raid5,array.drives=5,fault.lose_command=3,"
	"controller.gather_rows=1,controller.gather_reads=1,controller.parity_waits=1",
	"store_mib=4,log_entries=50,array.level=raid10,array.drives=4,array.units=3,controller.cache_mib=0",
	"store_mib=8,log_entries=50,array.level=raid5,array.drives=4,drive.sectors=65536,fault.remove_member=2,"
	"fault.remove_command=4,fault.replace_ms=10,fault.full_command=6,fault.medium_lba=5,fault.reset_command=9,"
	"controller.gather_rows=2,controller.parity_waits=1",
	"store_mib=8,log_entries=50,array.level=raid10,array.drives=4,drive.sectors=65536,array.verify=1,"
	"fault.gone_command=7,fault.lose_lba=70,fault.slow_member=1,fault.slow_ms=5",
	"store_mib=12,log_entries=50,array.level=raid5,array.drives=3,drive.sectors=65536,controller.battery=0,"
	"fault.power_command=5,fault.remove_member=1,fault.remove_command=8,fault.replace_ms=5",
	"store_mib=8,log_entries=50,array.level=raid10,array.drives=6,drive.sectors=65536,fault.remove_member=2,"
	"fault.remove_command=3,fault.second_member=5,fault.second_command=5,fault.replace_ms=20,fault.power_command=9",
	"store_mib=8,log_entries=50,array.drives=2,drive.sectors=65536,controller.battery=0,fault.power_lba=64,"
	"controller.write_cache_reported=1,array.stripe_kib=16",
	"store_mib=4,log_entries=50,array.drives=4,controller.count=2,fault.controller=1,fault.lose_command=2,"
	"fault.full_command=4,fault.medium_command=3,fault.gone_command=8",
	"store_mib=8,log_entries=50,array.level=raid5,array.drives=4,drive.sectors=65536,fault.remove_member=2,"
	"fault.remove_command=2,fault.second_member=4,fault.second_command=4,fault.replace_ms=1",
	"store_mib=4,log_entries=50,array.level=single,array.drives=1,array.units=16,drive.segments=1,drive.cache_kib=64",
};

static void turn_on(u8 choice)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;

	host_begin(0);
	memset(reached.given, 0, sizeof(reached.given));
	if (!rl_keys_parse(&tw_keys, &config.base, configs[choice % RL_COUNT(configs)], error))
		abort();
	rl_keys_select(&tw_keys, &config.base, config.base.count - 1);
	if (!tw_model_create(&host.model, &config, &host_ops, &host, host_chunk))
		abort();
}

/* A packet of the input's bytes, patched so that it gets past the first checks. */
static size_t post(const uint8_t *data, size_t size)
{
	u32 place = 1024 + 1024 * (u32)(data[0] % 32), i, count;
	size_t used = size < 120 ? size : 120;
	u8 *packet = host.memory + place;

	memset(packet, 0, 888);
	memcpy(packet, data, used);
	count = packet[6] % 8;
	for (i = 0; i < count; i++) {
		struct tw_sg_entry *entry = (struct tw_sg_entry *)(packet + 24 + 12 * i);

		if (entry->address.byte[4] & 1) {
			memset(&entry->address.byte[3], 0, 5);
			entry->address.byte[4] = 1;
			entry->address.byte[2] &= 3;
		}
		if (entry->length.byte[3] & 1)
			memset(&entry->length.byte[2], 0, 2);
	}
	tw_model_write(&host.model, TW_REG_COMMAND_LOW, (u32)BASE + place);
	tw_model_write(&host.model, TW_REG_COMMAND_HIGH, (u32)(BASE >> 32));
	return used;
}

/* READ or WRITE that a driver could have sent, but for its length, place and list. */
static void transfer(const uint8_t *choice)
{
	static const u8 opcodes[] = { 0x08, 0x0a, 0x28, 0x2a, 0x88, 0x8a, 0x35, 0x12 };
	struct tw_execute_scsi *packet = (void *)(host.memory + 1024);
	u32 count = 1 + choice[2] % 6, i, sectors = choice[4], bytes = sectors * RL_SECTOR_BYTES / count / 4 * 4 + 4;

	memset(packet, 0, sizeof(*packet));
	packet->opcode = TW_OP_EXECUTE_SCSI;
	packet->unit = choice[1] & 0x0f;
	packet->request_id_lun = tw_put16(choice[0] & 0x3f);
	packet->sg_count_lun = tw_put16((u16)count);
	packet->cdb[0] = opcodes[choice[0] >> 5];
	/* Near the start, or near 2^40: five bytes of a long address. */
	packet->cdb[5] = choice[5] & 0x0f;
	packet->cdb[packet->cdb[0] < 0x80 ? 4 : 8] = choice[6] & 0x1f;
	packet->cdb[packet->cdb[0] < 0x80 ? 3 : 9] = choice[7];
	packet->cdb[packet->cdb[0] < 0x20 ? 4 : packet->cdb[0] < 0x80 ? 8 : 13] = (u8)sectors;
	for (i = 0; i < count; i++) {
		u64 address = BASE + (64U << 10) + (u64)(choice[3] % 32 + i) * 1024 * 4;

		memcpy(&packet->sg[i].address, &address, sizeof(address));
		packet->sg[i].length = tw_put32(bytes);
	}
	/* The written data: zeros, a pattern, or anything. */
	memset(host.memory + (64U << 10), choice[5] >> 6, 128U << 10);
	if (choice[5] & 0x20)
		for (i = 0; i < 128U << 10; i += 64)
			host.memory[(64U << 10) + i] = (u8)(i >> 6) ^ choice[7];
	tw_model_write(&host.model, TW_REG_COMMAND_LOW, (u32)BASE + 1024);
	tw_model_write(&host.model, TW_REG_COMMAND_HIGH, (u32)(BASE >> 32));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	u32 value;

	if (!size)
		return 0;
	turn_on(*data++);
	while (end - data >= 10) {
		memcpy(&value, data + 1, 4);
		switch (*data % 8) {
		case 0:
			tw_model_write(&host.model, data[5], value);
			break;
		case 1:
			tw_model_read(&host.model, data[5]);
			break;
		case 2:
			host.clock += value;
			break;
		case 3:
			if (host.wake != RL_NEVER && host.wake > host.clock)
				host.clock = host.wake;
			tw_model_tick(&host.model);
			break;
		case 4:
			tw_model_read(&host.model, TW_REG_RESPONSE);
			break;
		case 5:
			tw_model_event(&host.model, (u16)value, data[5]);
			reached.given[value & 0xff] = true;
			break;
		case 6:
			transfer(data + 1);
			data += 3;
			break;
		default:
			data += post(data + 1, (size_t)(end - data - 1)) + 1;
			check();
			continue;
		}
		data += 6;
		check();
	}
	return 0;
}
