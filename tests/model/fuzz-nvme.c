// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: bytes become register writes, doorbells, commands, memory and
 * passing time. Nothing the driver side does may crash the NVMe drive or make it
 * break its promises about slots, depth, queues and the interrupt line. With
 * FUZZ_REACHED set it ends with a list of the states that its inputs reached.
 */
#include "nvme/model.h"

#define FUZZ_DEVICE \
	u32 tail[NV_QUEUES]; \
	struct nv_model model;
#define FUZZ_VECTORS	(host.model.config.controller.queues + 1)
#include "fuzz-host.h"

#define QUEUE(n)	(BASE + (n) * 8192ULL)	/* submission queue; the completion queue is half a page behind */
#define DATA	(BASE + (128U << 10))

enum { LOST, MEDIUM, SLOW, FAILED, GONE, BLOCKED, HELD, DELETED, UNREADABLE, CACHE_FULL, REACHED };
static const char *const words[REACHED] = {
	"lost", "medium", "slow", "failed", "gone", "blocked", "held", "deleted", "unreadable", "cache-full",
};
#include "fuzz-words.h"

static void look(const struct nv_model *model)
{
	u32 i;

	for (i = 0; i < NV_SLOTS; i++) {
		reached[LOST] |= model->slot[i].state == NV_SLOT_LOST;
		reached[BLOCKED] |= model->slot[i].state == NV_SLOT_BLOCKED;
		reached[HELD] |= model->slot[i].state == NV_SLOT_EVENT;
		reached[DELETED] |= model->slot[i].state == NV_SLOT_RUNNING && model->slot[i].status == NV_QUEUE_DELETED;
	}
	reached[MEDIUM] |= model->fault.bad.sectors > 0;
	reached[SLOW] |= model->timing.flash.slow > 1;
	reached[FAILED] |= model->csts & NV_CSTS_FATAL && !model->fault.gone;
	reached[GONE] |= model->fault.gone;
	reached[UNREADABLE] |= model->health.media_errors > 0;
	reached[CACHE_FULL] |= model->timing.flash.cache_pages && model->timing.flash.cached.count == model->timing.flash.cache_pages;
}

/* Invariants between any two steps. */
static void check(void)
{
	u32 states[NV_SLOT_LOST + 1] = { 0 }, depth = 0, free = 0, blocked = 0, i;
	const struct nv_model *model = &host.model;
	u16 at;

	for (i = 0; i < NV_SLOTS; i++) {
		states[model->slot[i].state]++;
		depth += model->slot[i].state != NV_SLOT_FREE && model->slot[i].queue;
	}
	for (at = model->free_slot; at != NV_NO_SLOT && free <= NV_SLOTS; at = model->slot[at].next)
		free++;
	for (i = 0; i < NV_QUEUES; i++)
		for (at = model->cq[i].first_blocked; at != NV_NO_SLOT && blocked <= NV_SLOTS; at = model->slot[at].next)
			blocked++;
	if (depth != model->depth || free != states[NV_SLOT_FREE] || blocked != states[NV_SLOT_BLOCKED] ||
	    model->due.count != states[NV_SLOT_RUNNING] || model->nr_event_requests != states[NV_SLOT_EVENT])
		abort();
	for (i = 0; i < NV_QUEUES; i++)
		if (model->sq[i].entries && (model->sq[i].head >= model->sq[i].entries || !model->cq[model->sq[i].cq].entries))
			abort();
	if (host.irq != nv_queue_irq(model) || model->timing.flash.cached.count > model->timing.flash.cache_pages)
		abort();
	look(model);
}

static const char *const configs[] = {
	"store_mib=4,log_entries=50,drive.sectors=65536,nvme.queues=2,cache.kib=64,flash.channels=2",
	"store_mib=4,log_entries=50,drive.sectors=65536,nvme.lba_bytes=4096,nvme.max_transfer_kib=0,fault.lose_command=2,limit.iops=1000",
	"store_mib=4,log_entries=50,drive.sectors=65536,cache.kib=0,flash.channels=1,fault.medium_command=1,limit.bytes_s=1048576",
	"store_mib=4,log_entries=50,drive.sectors=65536,fault.reset_command=3,fault.slow_command=2,nvme.write_cache=0",
	"store_mib=4,log_entries=50,drive.sectors=65536,fault.gone_command=3,fault.lose_lba=9,fault.medium_lba=5,fault.slow_ms=3",
};

static void put_register(u32 offset, u32 size, u64 value)
{
	nv_kind.write(&host.model.device, offset, size, value);
}

static void enable(void)
{
	memset(host.tail, 0, sizeof(host.tail));
	put_register(NV_REG_AQA, 4, 0x00070007);
	put_register(NV_REG_ASQ, 8, QUEUE(0));
	put_register(NV_REG_ACQ, 8, QUEUE(0) + 4096);
	put_register(NV_REG_CC, 4, NV_CC_ENABLE | 6 << 16 | 4 << 20);
}

/* A command into queue @queue as if it had 8 entries, at the place behind the last one; then the doorbell. */
static void submit(u32 queue, const u8 *command)
{
	u8 *to = host.memory + (QUEUE(queue % 4) - BASE) + host.tail[queue] * NV_COMMAND_BYTES;

	memcpy(to, command, NV_COMMAND_BYTES);
	host.tail[queue] = (host.tail[queue] + 1) % 8;
	put_register(NV_REG_DOORBELL + 8 * queue, 4, host.tail[queue]);
}

static void tick(void)
{
	if (host.wake != RL_NEVER && host.wake > host.clock)
		host.clock = host.wake;
	nv_kind.tick(&host.model.device);
}

/* A command that creates, deletes, identifies, ... with a queue that a driver could have chosen. */
static void admin(const uint8_t *choice)
{
	static const u8 opcodes[] = {
		NV_CREATE_CQ, NV_CREATE_SQ, NV_CREATE_CQ, NV_CREATE_SQ, NV_DELETE_SQ, NV_DELETE_CQ, NV_IDENTIFY, NV_GET_LOG,
		NV_SET_FEATURES, NV_GET_FEATURES, NV_ABORT, NV_ASYNC_EVENT, NV_ASYNC_EVENT,
	};
	u8 command[NV_COMMAND_BYTES] = { opcodes[choice[0] % RL_COUNT(opcodes)] };
	u32 queue = choice[1] % 4;
	bool creates = command[0] == NV_CREATE_CQ || command[0] == NV_CREATE_SQ;

	rl_put(command + NV_COMMAND_NSID, choice[2] & 1, 4);
	rl_put(command + NV_PRP1, creates ? QUEUE(queue) + (command[0] == NV_CREATE_CQ) * 4096 : DATA, 8);
	rl_put(command + NV_CDW10, creates ? (choice[3] & 0x10 ? 2U : 7U) << 16 | queue : choice[3] % 16, 4);
	rl_put(command + NV_CDW11, creates ? (u32)(choice[4] % 4) << 16 | 3 : choice[4], 4);
	submit(0, command);
}

static void turn_on(u8 choice)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct nv_config config;
	u32 i;

	reached_begin();
	host_begin(choice);
	if (!rl_keys_parse(&nv_keys, &config.base, configs[choice % RL_COUNT(configs)], error) ||
	    !nv_kind.create(&host.model.device, &config.base, &host_ops, &host, host_chunk))
		abort();
	if (choice & 0x80)
		return;
	enable();
	/* Create pairs 1 and 2, and take the completions. */
	for (i = 0; i < 4 && choice & 0x40; i++) {
		admin((const u8[]){ (u8)(i % 2), (u8)(1 + i / 2), 0, 0, (u8)(1 + i / 2) });
		tick();
		put_register(NV_REG_DOORBELL + 4, 4, host.model.cq[0].tail);
	}
}

/* READ, WRITE, ... that a driver could have sent, but for its length, place and list. */
static void io(const uint8_t *choice)
{
	static const u8 opcodes[] = { NV_READ, NV_WRITE, NV_READ, NV_WRITE, NV_FLUSH, NV_WRITE_ZEROES, NV_DATASET, 0x05 };
	u8 command[NV_COMMAND_BYTES] = { opcodes[choice[0] % 8] };
	u32 queue = 1 + (choice[0] >> 3) % 3, i;

	rl_put(command + NV_COMMAND_NSID, 1, 4);
	rl_put(command + NV_PRP1, DATA + (choice[1] & 0xfc) * 16, 8);
	rl_put(command + NV_PRP2, DATA + (choice[2] & 0xf0) * 256 + (choice[2] & 8 ? 4096 - 8 * (choice[2] & 7) - 8 : 0), 8);
	rl_put(command + NV_CDW10, choice[3] & 0x1f, 8);
	rl_put(command + NV_CDW11, command[0] == NV_DATASET ? 4 : 0, 4);
	rl_put(command + NV_CDW12, choice[4] | (u32)(choice[3] >> 7) << 30, 4);
	/* The data of a write, and a list of pages in order, sometimes with an invalid entry. */
	for (i = 0; i < 1024 && choice[5] & 1; i++)
		rl_put(host.memory + (DATA - BASE) + 65536 + i * 8, DATA + (i % 24) * 4096 + (i == choice[5] ? 4 : 0), 8);
	if (choice[5] & 2)
		memset(host.memory + (DATA - BASE), choice[5], 4096);
	submit(queue, command);
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
			put_register(data[5] & 0x3c, data[5] & 1 ? 8 : 4, value);
			break;
		case 1:
			nv_kind.read(&host.model.device, (u32)data[5] << 6 | data[6], data[1] & 1 ? 8 : 4);
			break;
		case 2:
			host.clock += value;
			break;
		case 3:
		case 4:
			tick();
			break;
		case 5:
			put_register(NV_REG_DOORBELL + 4 * (data[5] % 48), 4, data[6]);
			break;
		case 6:
			nv_kind.event(&host.model.device, (u16)value);
			break;
		case 7:
		case 8:
			admin(data + 1);
			break;
		case 9:
			io(data + 1);
			break;
		case 10:
			/* The driver takes all completions of a queue. */
			put_register(NV_REG_DOORBELL + 8 * (data[1] % 4) + 4, 4, host.model.cq[data[1] % 4].tail);
			break;
		default:
			if (data[1] == 1) {
				put_register(NV_REG_CC, 4, 0);
				enable();
			} else if (data[1] == 2) {
				nv_kind.reset(&host.model.device);
			} else {
				/* Bytes of the host's memory: commands, lists, ranges. */
				memcpy(host.memory + (value >> 8) % (BYTES - 4), data + 3, 4);
			}
		}
		if (data[0] & 0x10)
			check();
	}
	check();
	return 0;
}
