// SPDX-License-Identifier: GPL-2.0-or-later
/* The virtio block device, driven as virtio_pci and virtio_blk do. */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "virtio-blk/virtio.h"

#define SIZE	8U		/* entries of the queue */
#define DESC	(HOST_BASE + 0x1000)
#define DRIVER	(HOST_BASE + 0x2000)
#define DEVICE	(HOST_BASE + 0x3000)
#define HEADER(id)	(HOST_BASE + 0x4000 + (id) * 64ULL)
#define STATUS(id)	(HEADER(id) + 32)
#define LISTS	(HOST_BASE + 0x8000)
#define PLAIN	"store_mib=16,log_entries=9999,drive.sectors=200000,queue.size=8"

struct blk {
	struct host *host;
	struct vb_model *model;
	u16 avail;
	u16 used;
	u32 free;		/* next descriptor */
};

static u64 get(struct blk *blk, u32 offset, u32 size)
{
	return vb_kind.read(&blk->model->device, offset, size);
}

static void put(struct blk *blk, u32 offset, u32 size, u64 value)
{
	vb_kind.write(&blk->model->device, offset, size, value);
}

/* As the driver begins: accept features, give the queue memory, go. */
static void start(struct blk *blk, u64 without)
{
	u64 offered = 0;
	u32 i;

	put(blk, VB_STATUS, 1, 0);
	put(blk, VB_STATUS, 1, 3);
	for (i = 0; i < 2; i++) {
		put(blk, VB_DEVICE_FEATURE_SELECT, 4, i);
		offered |= get(blk, VB_DEVICE_FEATURE, 4) << 32 * i;
	}
	for (i = 0; i < 2; i++) {
		put(blk, VB_DRIVER_FEATURE_SELECT, 4, i);
		put(blk, VB_DRIVER_FEATURE, 4, (u32)((offered & ~without) >> 32 * i));
	}
	put(blk, VB_STATUS, 1, 3 | VB_STATUS_FEATURES_OK);
	put(blk, VB_QUEUE_SELECT, 2, 0);
	put(blk, VB_QUEUE_DESC, 8, DESC);
	put(blk, VB_QUEUE_DRIVER, 8, DRIVER);
	put(blk, VB_QUEUE_DEVICE, 8, DEVICE);
	put(blk, VB_QUEUE_ENABLE, 2, 1);
	put(blk, VB_STATUS, 1, 3 | VB_STATUS_FEATURES_OK | VB_STATUS_DRIVER_OK);
	memset(host_at(blk->host, DRIVER), 0, 64);
	memset(host_at(blk->host, DEVICE), 0, 128);
	blk->avail = 0;
	blk->used = 0;
	blk->free = 0;
}

static struct blk *blk_create(const char *text)
{
	struct host *host = host_empty(HOST_CHUNKS);
	struct blk *blk = host_keep(host, sizeof(*blk));
	char error[RL_CONFIG_ERROR_BYTES];
	struct vb_config config;

	blk->host = host;
	blk->model = host_keep(host, sizeof(*blk->model));
	assert_true(rl_keys_parse(&vb_keys, &config.base, text, error));
	assert_true(vb_kind.create(&blk->model->device, &config.base, &host_ops, host, host_chunk));
	start(blk, 0);
	return blk;
}

static void descriptor(struct blk *blk, u64 table, u32 at, u64 address, u32 bytes, u32 flags, u32 next)
{
	u8 *desc = host_at(blk->host, table + at * VB_DESC_BYTES);

	rl_put32(desc, (u32)address);
	rl_put32(desc + 4, (u32)(address >> 32));
	rl_put32(desc + 8, bytes);
	rl_put16(desc + 12, flags);
	rl_put16(desc + 14, next);
}

/*
 * Put a request into the ring: header, @parts pieces of data at HOST_DATA + @offset, status. The
 * descriptors are in a table of their own.
 */
static void submit(struct blk *blk, u32 id, u32 type, u64 sector, u32 offset, u32 bytes, u32 parts)
{
	u64 table = LISTS + id * 0x400ULL;
	u8 *header = host_at(blk->host, HEADER(id)), *ring = host_at(blk->host, DRIVER);
	u32 at = 0, i, flags = type == VB_T_IN || type == VB_T_GET_ID ? VB_DESC_WRITE : 0;

	memset(header, 0, VB_REQUEST_BYTES);
	rl_put32(header, type);
	rl_put32(header + 8, (u32)sector);
	rl_put32(header + 12, (u32)(sector >> 32));
	*(u8 *)host_at(blk->host, STATUS(id)) = 0x55;
	parts = bytes ? parts : 0;
	descriptor(blk, table, 0, HEADER(id), VB_REQUEST_BYTES, VB_DESC_NEXT, 1);
	for (i = 0; i < parts; i++) {
		u32 part = i == parts - 1 ? bytes - at : bytes / parts / 512 * 512;

		descriptor(blk, table, i + 1, HOST_DATA + offset + at, part, flags | VB_DESC_NEXT, i + 2);
		at += part;
	}
	descriptor(blk, table, parts + 1, STATUS(id), 1, VB_DESC_WRITE, 0);
	descriptor(blk, DESC, id, table, (parts + 2) * VB_DESC_BYTES, VB_DESC_INDIRECT, 0);
	rl_put16(ring + 4 + 2 * (blk->avail % SIZE), id);
	rl_put16(ring + 2, ++blk->avail);
}

static void notify(struct blk *blk)
{
	put(blk, VB_NOTIFY, 2, 0);
}

static bool pass(struct blk *blk)
{
	if (blk->host->wake == RL_NEVER)
		return false;
	blk->host->clock = rl_max(blk->host->clock, blk->host->wake);
	blk->host->wake = RL_NEVER;
	vb_kind.tick(&blk->model->device);
	return true;
}

/* Wait for an answer. Return: the id of the request. */
static u32 answer(struct blk *blk)
{
	const u8 *ring = host_at(blk->host, DEVICE);

	while (rl_get16(ring + 2) == blk->used)
		if (!pass(blk))
			fail_msg("no answer comes");
	assert_true(blk->host->irq);
	assert_int_equal(get(blk, VB_ISR, 1), VB_ISR_QUEUE);
	return rl_get32(ring + 4 + 8 * (blk->used++ % SIZE));
}

/* Carry out one request. Return: its status. */
static u8 carry_out(struct blk *blk, u32 type, u64 sector, u32 offset, u32 bytes, u32 parts)
{
	submit(blk, 3, type, sector, offset, bytes, parts);
	notify(blk);
	assert_int_equal(answer(blk), 3);
	return *(u8 *)host_at(blk->host, STATUS(3));
}

TEST(says_what_it_is)
{
	struct blk *blk = blk_create(PLAIN ",queue.io_opt_kib=1024,queue.segments=100,name=a_volume_with_a_name");

	assert_int_equal(get(blk, VB_DEVICE, 8), 200000);
	assert_int_equal(get(blk, VB_DEVICE + 12, 4), 100);
	assert_int_equal(get(blk, VB_DEVICE + 28, 4), 2048);
	assert_int_equal(get(blk, VB_QUEUE_SIZE, 2), SIZE);
	assert_int_equal(get(blk, VB_NUM_QUEUES, 2), 1);
	assert_true(blk->model->features & VB_F_TOPOLOGY);
	assert_int_equal(carry_out(blk, VB_T_GET_ID, 0, 0, VB_ID_BYTES, 1), VB_S_OK);
	assert_memory_equal(host_at(blk->host, HOST_DATA), "a volume with a name", VB_ID_BYTES);
	put(blk, VB_QUEUE_SELECT, 2, 1);
	assert_int_equal(get(blk, VB_QUEUE_SIZE, 2), 0);
}

/* Features that are not offered, or the old interface, are not accepted. */
TEST(accepts_what_it_offers)
{
	struct blk *blk = blk_create(PLAIN ",volume.discard=0,volume.write_cache=0");

	assert_int_equal(blk->model->features & (VB_F_DISCARD | VB_F_FLUSH | VB_F_TOPOLOGY), 0);
	assert_true(get(blk, VB_STATUS, 1) & VB_STATUS_FEATURES_OK);
	start(blk, VB_F_VERSION_1);
	assert_false(get(blk, VB_STATUS, 1) & VB_STATUS_FEATURES_OK);
	put(blk, VB_STATUS, 1, 0);
	put(blk, VB_DRIVER_FEATURE_SELECT, 4, 0);
	put(blk, VB_DRIVER_FEATURE, 4, VB_F_DISCARD);
	put(blk, VB_DRIVER_FEATURE_SELECT, 4, 1);
	put(blk, VB_DRIVER_FEATURE, 4, (u32)(VB_F_VERSION_1 >> 32));
	put(blk, VB_STATUS, 1, 3 | VB_STATUS_FEATURES_OK);
	assert_false(get(blk, VB_STATUS, 1) & VB_STATUS_FEATURES_OK);
}

TEST(keeps_what_is_written)
{
	struct blk *blk = blk_create(PLAIN);
	u8 *disk = calloc(1, 1 << 20), *data = host_at(blk->host, HOST_DATA + 512);
	u64 seed = 4;
	u32 round;

	for (round = 0; round < 500; round++) {
		u32 lba = random_number(&seed) % 1900, count = 1 + random_number(&seed) % 60;
		u32 parts = 1 + random_number(&seed) % (count < 8 ? count : 8), type = random_number(&seed) % 3;

		random_fill(&seed, data, count * 512);
		if (type == 2) {
			memset(data, 0, VB_RANGE_BYTES);
			rl_put32(data, lba);
			rl_put32(data + 8, count);
			memset(disk + lba * 512, 0, count * 512);
			assert_int_equal(carry_out(blk, VB_T_DISCARD, 0, 512, VB_RANGE_BYTES, 1), VB_S_OK);
			continue;
		}
		if (type == VB_T_OUT)
			memcpy(disk + lba * 512, data, count * 512);
		assert_int_equal(carry_out(blk, type, lba, 512, count * 512, parts), VB_S_OK);
		assert_memory_equal(data, disk + lba * 512, count * 512);
	}
	free(disk);
}

/* Latency overlaps, limits do not: 100 requests at 1,000 a second end 1 ms apart to the nanosecond. */
TEST(keeps_its_limits)
{
	struct blk *blk = blk_create(PLAIN ",limit.iops=1000,link.latency_ns=700000");
	u64 begin = blk->host->clock, before = 0;
	u32 i, sent = 0;

	for (i = 0; i < 100; i++) {
		while (sent < 100 && sent < i + SIZE) {
			submit(blk, sent % SIZE, VB_T_IN, sent * 8ULL, 0, 4096, 1);
			sent++;
		}
		notify(blk);
		answer(blk);
		if (i)
			assert_int_equal(blk->host->clock - before, 1000000);
		else
			assert_true(blk->host->clock - begin < 702000);
		before = blk->host->clock;
	}
}

TEST(keeps_its_rate)
{
	struct blk *blk = blk_create(PLAIN ",limit.bytes_s=3000000,link.latency_ns=0");
	u64 begin = blk->host->clock;
	u32 i;

	for (i = 0; i < 301; i++)
		assert_int_equal(carry_out(blk, VB_T_OUT, 0, 0, 30000 / 512 * 512, 1), VB_S_OK);
	/* The first may start at once. */
	assert_true(blk->host->clock - begin >= 300ULL * 29696 * 1000 / 3);
	assert_true(blk->host->clock - begin < 300ULL * 29696 * 1000 / 3 + 4000);
}

static u8 last_log(const struct blk *blk)
{
	return rl_log_at(&blk->model->device.log, blk->model->device.log.count - 1)->status;
}

TEST(has_faults)
{
	struct blk *blk = blk_create(PLAIN ",fault.medium_lba=100,fault.lose_command=3,fault.slow_command=5,link.latency_ns=1000");
	u64 begin;

	assert_int_equal(carry_out(blk, VB_T_IN, 96, 0, 4096, 1), VB_S_ERROR);
	assert_int_equal(last_log(blk), RL_LOG_FAILED);
	assert_int_equal(carry_out(blk, VB_T_OUT, 96, 0, 4096, 1), VB_S_OK);
	submit(blk, 3, VB_T_IN, 96, 0, 4096, 1);
	notify(blk);
	assert_int_equal(blk->host->wake, RL_NEVER);
	assert_int_equal(last_log(blk), RL_LOG_LOST);
	start(blk, 0);
	begin = blk->host->clock;
	assert_int_equal(carry_out(blk, VB_T_IN, 96, 0, 4096, 1), VB_S_OK);
	begin = blk->host->clock - begin;
	blk->host->clock += 1000000;
	blk->model->iops.empty_ns = 0;
	assert_true(begin >= 1000 && begin < 2000);
	begin = blk->host->clock;
	assert_int_equal(carry_out(blk, VB_T_IN, 96, 0, 4096, 1), VB_S_OK);
	assert_true(blk->host->clock - begin >= 10000);
}

/* Beyond the end, odd sizes, unknown types: an answer. Broken rings: the device wants a reset. */
TEST(refuses)
{
	struct blk *blk = blk_create(PLAIN ",volume.discard=0");

	assert_int_equal(carry_out(blk, VB_T_IN, 199996, 0, 4096, 1), VB_S_ERROR);
	assert_int_equal(carry_out(blk, VB_T_IN, ~0ULL, 0, 4096, 1), VB_S_ERROR);
	assert_int_equal(carry_out(blk, VB_T_OUT, 0, 0, 1000, 1), VB_S_ERROR);
	assert_int_equal(carry_out(blk, VB_T_DISCARD, 0, 0, VB_RANGE_BYTES, 1), VB_S_UNSUPPORTED);
	assert_int_equal(carry_out(blk, 77, 0, 0, 0, 0), VB_S_UNSUPPORTED);
	submit(blk, 3, VB_T_IN, 0, 0, 4096, 1);
	descriptor(blk, LISTS + 3 * 0x400, 1, 64, 4096, VB_DESC_WRITE | VB_DESC_NEXT, 2);	/* no memory there */
	notify(blk);
	assert_true(get(blk, VB_STATUS, 1) & VB_STATUS_NEEDS_RESET);
	assert_int_equal(get(blk, VB_ISR, 1), VB_ISR_CONFIG);
	assert_int_equal(blk->model->device.nr_refused, 1);
	start(blk, 0);
	submit(blk, 3, VB_T_IN, 0, 0, 4096, 1);
	descriptor(blk, LISTS + 3 * 0x400, 1, HOST_DATA, 4096, VB_DESC_WRITE | VB_DESC_NEXT, 0);	/* a circle */
	notify(blk);
	assert_true(get(blk, VB_STATUS, 1) & VB_STATUS_NEEDS_RESET);
	start(blk, 0);
	assert_int_equal(carry_out(blk, VB_T_IN, 0, 0, 4096, 1), VB_S_OK);
}
