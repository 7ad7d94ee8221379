// SPDX-License-Identifier: GPL-2.0-or-later
/* The AHCI controller and its SATA disk, driven as libahci and libata do. */
#include <stdlib.h>
#include <string.h>

#include "ahci/ahci.h"
#include "host.h"

#define LIST	(HOST_BASE + 0x1000)
#define FRAMES	(HOST_BASE + 0x2000)
#define TABLE(slot)	(HOST_BASE + 0x10000 + (slot) * 0x1000ULL)
#define PORT(reg)	(AH_PORT + (reg))
#define SMALL	"store_mib=16,log_entries=9999,drive.sectors=4000000"
#define PARTS	8U

struct sata {
	struct host *host;
	struct ah_model *model;
};

static u32 get(struct sata *sata, u32 offset)
{
	return (u32)ah_kind.read(&sata->model->device, offset, 4);
}

static void put(struct sata *sata, u32 offset, u32 value)
{
	ah_kind.write(&sata->model->device, offset, 4, value);
}

/* As the driver brings up a port: reset the controller, give it memory, enable interrupts, start. */
static void start(struct sata *sata)
{
	put(sata, AH_REG_GHC, AH_GHC_AHCI | AH_GHC_RESET);
	assert_false(get(sata, AH_REG_GHC) & AH_GHC_RESET);
	put(sata, PORT(AH_PORT_CLB), (u32)LIST);
	put(sata, PORT(AH_PORT_CLBU), (u32)(LIST >> 32));
	put(sata, PORT(AH_PORT_FB), (u32)FRAMES);
	put(sata, PORT(AH_PORT_FBU), (u32)(FRAMES >> 32));
	put(sata, PORT(AH_PORT_SERR), ~0U);
	put(sata, PORT(AH_PORT_IS), ~0U);
	put(sata, AH_REG_IS, ~0U);
	put(sata, PORT(AH_PORT_IE), ~0U);
	put(sata, AH_REG_GHC, AH_GHC_AHCI | AH_GHC_INTERRUPTS);
	put(sata, PORT(AH_PORT_CMD), AH_CMD_SPIN_UP | AH_CMD_POWER | AH_CMD_FIS | AH_CMD_START);
}

static struct sata *sata_create(const char *text)
{
	struct host *host = host_empty(HOST_CHUNKS);
	struct sata *sata = host_keep(host, sizeof(*sata));
	char error[RL_CONFIG_ERROR_BYTES];
	struct ah_config config;

	sata->host = host;
	sata->model = host_keep(host, sizeof(*sata->model));
	assert_true(rl_keys_parse(&ah_keys, &config.base, text, error));
	assert_true(ah_kind.create(&sata->model->device, &config.base, &host_ops, host, host_chunk));
	start(sata);
	return sata;
}

/* Fill the command in @slot; its data is at HOST_DATA + @offset, in @parts pieces that are not in order. */
static u8 *command(struct sata *sata, u32 slot, u8 opcode, u64 lba, u32 count, u32 offset, u32 bytes, u32 parts)
{
	u8 *header = host_at(sata->host, LIST + slot * AH_HEADER_BYTES);
	u8 *table = host_at(sata->host, TABLE(slot));
	u32 at = 0, i;

	memset(header, 0, AH_HEADER_BYTES);
	memset(table, 0, 0x1000);
	parts = bytes ? parts : 0;
	rl_put32(header, 5 | parts << AH_HEADER_PRDS_SHIFT);
	rl_put32(header + 8, (u32)TABLE(slot));
	rl_put32(header + 12, (u32)(TABLE(slot) >> 32));
	table[0] = AH_FIS_H2D;
	table[1] = AH_FIS_COMMAND;
	table[2] = opcode;
	for (i = 0; i < 3; i++) {
		table[4 + i] = (u8)(lba >> 8 * i);
		table[8 + i] = (u8)(lba >> (24 + 8 * i));
	}
	table[7] = 0x40;
	if (opcode == AH_OP_READ_QUEUED || opcode == AH_OP_WRITE_QUEUED) {
		table[3] = (u8)count;
		table[11] = (u8)(count >> 8);
		table[12] = (u8)(slot << 3);
	} else {
		table[12] = (u8)count;
		table[13] = (u8)(count >> 8);
	}
	for (i = 0; i < parts; i++) {
		u8 *prd = table + AH_TABLE_PRDS + i * AH_PRD_BYTES;
		u32 part = i == parts - 1 ? bytes - at : bytes / parts & ~1U;
		u64 address = HOST_DATA + offset + at;

		rl_put32(prd, (u32)address);
		rl_put32(prd + 4, (u32)(address >> 32));
		rl_put32(prd + 12, part - 1);
		at += part;
	}
	return table;
}

static void issue(struct sata *sata, u32 slots, bool queued)
{
	if (queued)
		put(sata, PORT(AH_PORT_SACT), slots);
	put(sata, PORT(AH_PORT_CI), slots);
}

/* Let time pass until something is due. Return: false when nothing will be. */
static bool pass(struct sata *sata)
{
	if (sata->host->wake == RL_NEVER)
		return false;
	sata->host->clock = rl_max(sata->host->clock, sata->host->wake);
	sata->host->wake = RL_NEVER;
	ah_kind.tick(&sata->model->device);
	return true;
}

/* Wait for the interrupt, and acknowledge it as the driver does. Return: the port's status. */
static u32 interrupt(struct sata *sata)
{
	u32 status;

	while (!sata->host->irq)
		if (!pass(sata))
			fail_msg("no interrupt comes");
	assert_int_equal(get(sata, AH_REG_IS), 1);
	status = get(sata, PORT(AH_PORT_IS));
	put(sata, PORT(AH_PORT_IS), status);
	put(sata, AH_REG_IS, 1);
	return status;
}

/* Carry out one command that is not queued. Return: the port's status. */
static u32 alone(struct sata *sata, u8 opcode, u64 lba, u32 count, u32 offset, u32 bytes)
{
	u32 status;

	command(sata, 0, opcode, lba, count, offset, bytes, 1);
	issue(sata, 1, false);
	status = interrupt(sata);
	if (!(status & AH_IS_TASK_FILE))
		assert_int_equal(get(sata, PORT(AH_PORT_CI)), 0);
	return status;
}

/* Carry out queued commands. Return: how many interrupts that took. */
static u32 queued(struct sata *sata, u32 slots)
{
	u32 count = 0;

	issue(sata, slots, true);
	while (get(sata, PORT(AH_PORT_SACT))) {
		assert_int_equal(interrupt(sata) & AH_IS_TASK_FILE, 0);
		count++;
	}
	return count;
}

TEST(says_what_it_is)
{
	struct sata *sata = sata_create(SMALL ",ata.queue_depth=16,drive.rpm=5400");
	const u8 *page = host_at(sata->host, HOST_DATA);

	assert_int_equal(get(sata, AH_REG_PI), 1);
	assert_int_equal(get(sata, AH_REG_VS), AH_VERSION);
	assert_true(get(sata, AH_REG_CAP) & AH_CAP_NCQ);
	assert_int_equal(get(sata, PORT(AH_PORT_SSTS)), AH_SSTS_UP);
	assert_int_equal(get(sata, PORT(AH_PORT_SIG)), AH_SIGNATURE_DISK);
	assert_int_equal(alone(sata, AH_OP_IDENTIFY, 0, 0, 0, 512), AH_IS_PIO);
	assert_int_equal(rl_get32(page + 200), 4000000);
	assert_int_equal(page[150], 15);
	assert_true(page[153] & 1);
	assert_int_equal(page[434] | page[435] << 8, 5400);
	assert_memory_equal(page + 54, "ardirtca eisumalet d", 20);
}

TEST(keeps_what_is_written)
{
	struct sata *sata = sata_create(SMALL);
	u8 *disk = calloc(1, 1 << 20), *data;
	u64 seed = 9;
	u32 round;

	for (round = 0; round < 300; round++) {
		u32 lba = random_number(&seed) % 2000, count = 1 + random_number(&seed) % 40;
		bool write = random_number(&seed) % 2;
		u8 opcode = random_number(&seed) % 2 ? (write ? AH_OP_WRITE_QUEUED : AH_OP_READ_QUEUED) :
						       (write ? AH_OP_WRITE_DMA_EXT : AH_OP_READ_DMA_EXT);
		u32 slot = opcode < AH_OP_READ_QUEUED ? 0 : random_number(&seed) % 32;

		data = host_at(sata->host, HOST_DATA + 4096);
		random_fill(&seed, data, count * 512);
		if (write)
			memcpy(disk + lba * 512, data, count * 512);
		command(sata, slot, opcode, lba, count, 4096, count * 512, 1 + random_number(&seed) % PARTS);
		if (opcode == AH_OP_READ_QUEUED || opcode == AH_OP_WRITE_QUEUED) {
			assert_int_equal(queued(sata, 1U << slot), 1);
		} else {
			issue(sata, 1U << slot, false);
			assert_int_equal(interrupt(sata), AH_IS_D2H);
		}
		assert_memory_equal(data, disk + lba * 512, count * 512);
	}
	free(disk);
}

/* A read elsewhere takes seek and rotation; the next sectors come from the drive's cache. */
TEST(takes_its_time)
{
	struct sata *sata = sata_create(SMALL ",drive.command_us=100");
	struct rl_drive trial = sata->model->disk.drive;
	u64 begin = sata->host->clock, expected = rl_drive_read(&trial, 3000000, 8, begin);

	command(sata, 3, AH_OP_READ_QUEUED, 3000000, 8, 0, 4096, 1);
	queued(sata, 8);
	assert_true(sata->host->clock == expected);
	assert_true(expected - begin > 2 * MS && expected - begin < 40 * MS);
	begin = sata->host->clock;
	command(sata, 3, AH_OP_READ_QUEUED, 3000008, 8, 0, 4096, 1);
	queued(sata, 8);
	assert_true(sata->host->clock - begin < MS);
}

/* The disk first serves the command that it can finish first; the log has the order of arrival. */
TEST(takes_the_shortest_way)
{
	struct sata *sata = sata_create("store_mib=16,log_entries=9999,drive.sectors=1000000000");
	const struct rl_log *log = &sata->model->device.log;
	u64 span, last = 0;
	u32 slot, i;

	for (i = 0; i < 2; i++) {
		u64 begin = sata->host->clock;

		for (slot = 0; slot < 16; slot++) {
			command(sata, slot, AH_OP_READ_QUEUED, (slot * 7 % 16) * 60000000ULL + i * 1000, 8, 0, 4096, 1);
			if (!i)
				queued(sata, 1U << slot);
		}
		if (i)
			queued(sata, 0xffff);
		span = sata->host->clock - begin;
		if (i)
			assert_true(span < last * 2 / 3);
		last = span;
	}
	for (i = 1; i < log->count; i++)
		assert_true(rl_log_at(log, i)->arrival_ns >= rl_log_at(log, i - 1)->arrival_ns);
	assert_int_equal(rl_log_at(log, log->count - 1)->depth, 15);
}

/* A reader whose next request is always queued does not keep the head: later commands wait for the next round. */
TEST(takes_turns)
{
	struct sata *sata = sata_create("store_mib=16,log_entries=9999,drive.sectors=1000000000");
	const struct rl_log *log = &sata->model->device.log;
	u32 slot;

	command(sata, 0, AH_OP_READ_QUEUED, 1000, 128, 0, 128 * 512, 1);
	command(sata, 1, AH_OP_READ_QUEUED, 1128, 128, 0, 128 * 512, 1);
	command(sata, 2, AH_OP_READ_QUEUED, 900000000, 8, 0, 4096, 1);
	for (slot = 3; slot < 9; slot++)
		command(sata, slot, AH_OP_READ_QUEUED, 1000 + (slot - 1) * 128, 128, 0, 128 * 512, 1);
	issue(sata, 0x7, true);
	interrupt(sata);
	assert_int_equal(get(sata, PORT(AH_PORT_SACT)), 0x6);
	queued(sata, 0x1f8);
	assert_int_equal(log->count, 9);
	assert_int_equal(rl_log_at(log, 2)->lba, 900000000);
	assert_true(rl_log_at(log, 1)->completion_ns < rl_log_at(log, 2)->completion_ns);
	assert_true(rl_log_at(log, 2)->completion_ns < rl_log_at(log, 3)->completion_ns);
}

/* Nor do writers that find the cache full: a read elsewhere waits for the pieces that were there when its round began. */
TEST(reads_with_a_full_cache)
{
	struct sata *sata = sata_create("store_mib=16,log_entries=9999,drive.sectors=1000000000,ata.write_cache_kib=64");
	u32 missing = 0xffffe, slot, writes = 0;
	bool read_queued = false;

	command(sata, 0, AH_OP_READ_QUEUED, 900000000, 8, 0, 4096, 1);
	do {
		for (slot = 1; slot < 20; slot++)
			if (missing & 1U << slot)
				command(sata, slot, AH_OP_WRITE_QUEUED, 1000 + (writes++ * 5 & 0x3ff) * 16, 8, 0, 4096, 1);
		issue(sata, missing, true);
		if (!read_queued && writes >= 100) {
			issue(sata, 1, true);
			read_queued = true;
		}
		interrupt(sata);
		missing = ~get(sata, PORT(AH_PORT_SACT)) & 0xffffe;
		assert_true(writes < 400);
	} while (!read_queued || get(sata, PORT(AH_PORT_SACT)) & 1);
	queued(sata, 0);
}

/* Queued reads that follow on each other lose no turn, even if each fills a segment of the drive's cache. */
TEST(reads_on_through_the_queue)
{
	struct sata *sata = sata_create(SMALL ",drive.cache_kib=1024,drive.segments=16");
	const struct rl_geometry *geometry = &sata->model->disk.geometry;
	const struct rl_log *log = &sata->model->device.log;
	u64 media = rl_media_ns(geometry, 1000 + 8 * 128) - rl_media_ns(geometry, 1000 + 128), span;
	u32 slot;

	for (slot = 0; slot < 8; slot++)
		command(sata, slot, AH_OP_READ_QUEUED, 1000 + slot * 128, 128, slot << 16, 128 * 512, 1);
	queued(sata, 0xff);
	span = rl_log_at(log, log->count - 1)->completion_ns - rl_log_at(log, log->count - 8)->completion_ns;
	assert_true(span >= media && span < media + geometry->rotation_ns / 2);
}

/* With a cache a write is done when the link is; a flush waits for the platter; without one each write does. */
TEST(caches_writes)
{
	static const char *const configs[] = { SMALL, SMALL ",ata.write_cache_kib=0" };
	u64 written[2], flushed[2];
	u32 i, j;

	for (i = 0; i < 2; i++) {
		struct sata *sata = sata_create(configs[i]);
		u64 begin = sata->host->clock;

		for (j = 0; j < 8; j++) {
			command(sata, 0, AH_OP_WRITE_QUEUED, j * 400000ULL, 8, 0, 4096, 1);
			queued(sata, 1);
		}
		written[i] = sata->host->clock - begin;
		assert_int_equal(alone(sata, AH_OP_FLUSH_EXT, 0, 0, 0, 0), AH_IS_D2H);
		flushed[i] = sata->host->clock - begin;
		assert_int_equal(sata->model->disk.dirty_sectors, 0);
		host_destroy(sata->host);
	}
	assert_true(written[0] < 2 * MS && written[1] > 8 * MS);
	assert_true(flushed[0] > 8 * MS && flushed[1] - written[1] < MS);
}

/* A write cache that is full makes writes wait: the cliff. */
TEST(has_a_cliff)
{
	struct sata *sata = sata_create(SMALL ",ata.write_cache_kib=64");
	u64 first = 0, last = 0;
	u32 i;

	for (i = 0; i < 40; i++) {
		u64 begin = sata->host->clock;

		command(sata, 0, AH_OP_WRITE_QUEUED, i * 90000ULL, 16, 0, 8192, 1);
		queued(sata, 1);
		last = sata->host->clock - begin;
		first = i ? first : last;
	}
	assert_true(first < MS && last > 3 * MS);
}

/* A queued command that fails ends the others; its tag is in the log; then the driver starts the port again. */
TEST(fails_a_bad_sector)
{
	struct sata *sata = sata_create(SMALL ",fault.medium_lba=5004,fault.medium_sectors=2");
	const u8 *page = host_at(sata->host, HOST_DATA);
	u32 status;

	command(sata, 4, AH_OP_READ_QUEUED, 5000, 8, 0, 4096, 1);
	command(sata, 9, AH_OP_READ_QUEUED, 3900000, 8, 0, 4096, 1);
	issue(sata, 1U << 4 | 1U << 9, true);
	status = interrupt(sata);
	assert_true(status & AH_IS_TASK_FILE);
	assert_int_equal(get(sata, PORT(AH_PORT_SACT)), 1U << 4 | 1U << 9);
	/* Nothing begins until the driver has stopped the port. */
	command(sata, 12, AH_OP_READ_QUEUED, 0, 8, 0, 4096, 1);
	issue(sata, 1U << 12, true);
	assert_int_equal(sata->model->command[12].state, AH_FREE);
	put(sata, PORT(AH_PORT_SACT), 0);
	assert_int_equal(get(sata, PORT(AH_PORT_TFD)) & 0xffff, AH_ATA_UNCORRECTABLE << 8 | AH_ATA_IDLE | AH_ATA_ERROR);
	put(sata, PORT(AH_PORT_CMD), AH_CMD_SPIN_UP | AH_CMD_POWER | AH_CMD_FIS);
	assert_int_equal(get(sata, PORT(AH_PORT_SACT)) | get(sata, PORT(AH_PORT_CI)), 0);
	put(sata, PORT(AH_PORT_CMD), AH_CMD_SPIN_UP | AH_CMD_POWER | AH_CMD_FIS | AH_CMD_START);
	/* Until the log has been read the disk refuses. */
	assert_true(alone(sata, AH_OP_READ_DMA_EXT, 0, 8, 0, 4096) & AH_IS_TASK_FILE);
	start(sata);
	command(sata, 4, AH_OP_READ_QUEUED, 5000, 8, 0, 4096, 1);
	issue(sata, 1U << 4, true);
	assert_true(interrupt(sata) & AH_IS_TASK_FILE);
	put(sata, PORT(AH_PORT_CMD), AH_CMD_SPIN_UP | AH_CMD_POWER | AH_CMD_FIS);
	put(sata, PORT(AH_PORT_CMD), AH_CMD_SPIN_UP | AH_CMD_POWER | AH_CMD_FIS | AH_CMD_START);
	assert_int_equal(alone(sata, AH_OP_READ_LOG, AH_LOG_NCQ_ERROR, 1, 0, 512), AH_IS_PIO);
	assert_int_equal(page[0], 4);
	assert_int_equal(page[3], AH_ATA_UNCORRECTABLE);
	assert_int_equal(page[4] | page[5] << 8, 5004);
	/* A write makes the sectors good. */
	assert_int_equal(alone(sata, AH_OP_WRITE_DMA_EXT, 5000, 8, 0, 4096), AH_IS_D2H);
	assert_int_equal(alone(sata, AH_OP_READ_DMA_EXT, 5000, 8, 0, 4096), AH_IS_D2H);
}

static u8 last_status(const struct sata *sata)
{
	return rl_log_at(&sata->model->device.log, sata->model->device.log.count - 1)->status;
}

TEST(loses_and_forgets)
{
	struct sata *sata = sata_create(SMALL ",fault.lose_command=1,fault.reset_command=3,fault.gone_command=4");

	command(sata, 0, AH_OP_READ_QUEUED, 0, 8, 0, 4096, 1);
	issue(sata, 1, true);
	assert_int_equal(sata->host->wake, RL_NEVER);
	assert_int_equal(last_status(sata), RL_LOG_LOST);
	start(sata);
	command(sata, 0, AH_OP_READ_QUEUED, 8, 8, 0, 4096, 1);
	queued(sata, 1);
	command(sata, 0, AH_OP_READ_QUEUED, 16, 8, 0, 4096, 1);
	issue(sata, 1, true);
	assert_true(interrupt(sata) & (AH_IS_PHY | AH_IS_CONNECT));
	assert_int_equal(last_status(sata), RL_LOG_RESET);
	start(sata);
	command(sata, 0, AH_OP_READ_QUEUED, 24, 8, 0, 4096, 1);
	issue(sata, 1, true);
	assert_true(interrupt(sata) & AH_IS_PHY);
	put(sata, PORT(AH_PORT_SCTL), 0x301);
	put(sata, PORT(AH_PORT_SCTL), 0x300);
	assert_int_equal(get(sata, PORT(AH_PORT_SSTS)), 0);
}

/* Beyond the end, without memory, with a queue that is not there, unknown. */
TEST(refuses)
{
	struct sata *sata = sata_create(SMALL ",ata.queue_depth=1");
	u8 *table;

	assert_false(get(sata, AH_REG_CAP) & AH_CAP_NCQ);
	assert_true(alone(sata, AH_OP_READ_DMA_EXT, 3999999, 2, 0, 1024) & AH_IS_TASK_FILE);
	assert_int_equal(get(sata, PORT(AH_PORT_TFD)) >> 8, AH_ATA_NO_ID);
	start(sata);
	assert_true(alone(sata, 0x92, 0, 0, 0, 0) & AH_IS_TASK_FILE);
	assert_int_equal(get(sata, PORT(AH_PORT_TFD)) >> 8, AH_ATA_ABORTED);
	start(sata);
	command(sata, 0, AH_OP_READ_QUEUED, 0, 8, 0, 4096, 1);
	issue(sata, 1, true);
	assert_true(interrupt(sata) & AH_IS_TASK_FILE);
	start(sata);
	table = command(sata, 0, AH_OP_READ_DMA_EXT, 0, 16, 0, 4096, 1);	/* half of the memory that it needs */
	issue(sata, 1, false);
	assert_true(interrupt(sata) & AH_IS_BUS_FATAL);
	start(sata);
	table = command(sata, 0, AH_OP_READ_DMA_EXT, 0, 8, 0, 4096, 1);
	rl_put32(table + AH_TABLE_PRDS + 4, 0);
	issue(sata, 1, false);
	assert_true(interrupt(sata) & AH_IS_BUS_FATAL);
	assert_int_equal(sata->model->device.nr_refused, 2);
}

#define FLASH	SMALL ",ata.media=flash,drive.command_us=10,drive.interface_kib_s=500000,flash.channels=4," \
		"flash.page_kib=4,flash.read_ns=75000,flash.program_ns=250000,link.latency_ns=7000"

/* The disk reports its rotation, and whether it supports TRIM. */
TEST(reports_its_rotation)
{
	static const struct { const char *text; u32 rotation, trim; } disks[] = {
		{ SMALL, 7200, 0 }, { SMALL ",queue.rotational=0", 1, 0 }, { FLASH, 0, 1 }, { FLASH ",queue.rotational=0", 1, 1 },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(disks); i++) {
		struct sata *sata = sata_create(disks[i].text);
		const u8 *page = host_at(sata->host, HOST_DATA);

		assert_int_equal(alone(sata, AH_OP_IDENTIFY, 0, 0, 0, 512), AH_IS_PIO);
		assert_int_equal(rl_get16(page + 217 * 2), disks[i].rotation);
		assert_int_equal(rl_get16(page + 169 * 2), disks[i].trim);
		host_destroy(sata->host);
	}
}

/* Return: how long one queued command takes. */
static u64 takes(struct sata *sata, u8 opcode, u64 lba, u32 count)
{
	u64 begin = sata->host->clock;

	command(sata, 0, opcode, lba, count, 0, count * 512, 1);
	queued(sata, 1);
	return sata->host->clock - begin;
}

/* A sector takes 1 us on the link. With one command in flight the times of drive, link, flash and latency add up, to the nanosecond. */
TEST(flash_takes_the_sum)
{
	struct sata *sata = sata_create(FLASH), *through = sata_create(FLASH ",ata.write_cache_kib=0");
	u64 begin;

	assert_int_equal(takes(sata, AH_OP_READ_QUEUED, 3000000, 8), 10000 + 8000 + 75000 + 7000);
	/* Half a page takes as long; four pages are on four channels. */
	assert_int_equal(takes(sata, AH_OP_READ_QUEUED, 8, 4), 10000 + 4000 + 75000 + 7000);
	assert_int_equal(takes(sata, AH_OP_READ_QUEUED, 64, 32), 10000 + 32000 + 75000 + 7000);
	/* The first and the fifth page are on one channel: the fifth comes to it when the first is done. */
	assert_int_equal(takes(sata, AH_OP_READ_QUEUED, 64, 40), 10000 + 8000 + 75000 + 75000 + 7000);
	assert_int_equal(takes(sata, AH_OP_WRITE_QUEUED, 64, 8), 10000 + 8000 + 7000);
	begin = sata->host->clock;
	assert_int_equal(alone(sata, AH_OP_FLUSH_EXT, 0, 0, 0, 0), AH_IS_D2H);
	assert_int_equal(sata->host->clock - begin, 250000 - 7000);
	assert_int_equal(takes(through, AH_OP_WRITE_QUEUED, 64, 8), 10000 + 8000 + 250000 + 7000);
	/* The driver turns the cache off. */
	command(sata, 0, AH_OP_SET_FEATURES, 0, 0, 0, 0, 0)[3] = AH_FEATURE_CACHE_OFF;
	issue(sata, 1, false);
	assert_int_equal(interrupt(sata), AH_IS_D2H);
	assert_int_equal(takes(sata, AH_OP_WRITE_QUEUED, 64, 8), 10000 + 8000 + 250000 + 7000);
}

/* Return: queued reads or writes a second, each of @count sectors, the next behind it; 32 are always in flight. */
static u64 rate(const char *text, u8 opcode, u32 count)
{
	struct sata *sata = sata_create(text);
	const struct rl_log *log = &sata->model->device.log;
	u32 sent = 0, slot;
	u64 span;

	while (sent < 3200) {
		u32 idle = ~get(sata, PORT(AH_PORT_SACT));

		for (slot = 0; slot < 32; slot++)
			if (idle & 1U << slot) {
				command(sata, slot, opcode, sent++ * (u64)count, count, 0, count * 512, 1);
				issue(sata, 1U << slot, true);
			}
		interrupt(sata);
	}
	span = rl_log_at(log, 3000)->completion_ns - rl_log_at(log, 1000)->completion_ns;
	host_destroy(sata->host);
	return 2000 * RL_NS_PER_SECOND / span;
}

/* With many in flight the slowest part sets the rate: the link, the drive's own time, the flash. */
TEST(flash_is_as_fast_as_its_slowest_part)
{
	static const struct { const char *text; u8 opcode; u32 count; u64 expected; } loads[] = {
		{ FLASH ",flash.channels=64", AH_OP_READ_QUEUED, 64, 1000000 / 64 },
		{ FLASH ",flash.channels=64,drive.interface_kib_s=10000000", AH_OP_READ_QUEUED, 8, 100000 },
		{ FLASH, AH_OP_READ_QUEUED, 8, 4 * 1000000 / 75 },
		{ FLASH ",ata.write_cache_kib=64", AH_OP_WRITE_QUEUED, 8, 4 * 1000000 / 250 },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(loads); i++) {
		u64 measured = rate(loads[i].text, loads[i].opcode, loads[i].count);

		if (measured > loads[i].expected * 101 / 100 || measured < loads[i].expected * 99 / 100)
			fail_msg("%s: %llu a second, not %llu", loads[i].text, (unsigned long long)measured,
				 (unsigned long long)loads[i].expected);
	}
}

/* Put a range of a TRIM into the data at HOST_DATA. */
static void range(struct sata *sata, u32 at, u64 lba, u32 sectors)
{
	rl_put(host_at(sata->host, HOST_DATA + at * AH_RANGE_BYTES), lba | (u64)sectors << 48, 8);
}

static u32 trim(struct sata *sata, u32 pages, u8 feature)
{
	u8 *table = command(sata, 0, AH_OP_DATASET, 0, pages, 0, pages * 512, 1);
	u32 status;

	table[3] = feature;
	issue(sata, 1, false);
	status = interrupt(sata);
	if (status & AH_IS_TASK_FILE)
		start(sata);
	return status;
}

TEST(trims)
{
	struct sata *sata = sata_create(FLASH ",fault.medium_lba=2000,fault.medium_sectors=4"), *other = sata_create(SMALL);
	u8 *data = host_at(sata->host, HOST_DATA);
	const struct rl_log_entry *entry;
	u32 i;

	memset(data, 0xa5, 4096);
	assert_int_equal(alone(sata, AH_OP_WRITE_DMA_EXT, 1000, 8, 0, 4096), AH_IS_D2H);
	memset(data, 0, 4096);
	range(sata, 0, 1002, 2);
	range(sata, 64, 2000, 100);
	/* One range is beyond the end: nothing changes. */
	range(sata, 127, 3999999, 2);
	assert_true(trim(sata, 2, AH_DATASET_TRIM) & AH_IS_TASK_FILE);
	assert_int_equal(sata->model->bad.sectors, 4);
	range(sata, 127, 3999999, 1);
	assert_true(trim(sata, 2, 0) & AH_IS_TASK_FILE);
	assert_true(trim(sata, 0, AH_DATASET_TRIM) & AH_IS_TASK_FILE);
	assert_true(trim(sata, 9, AH_DATASET_TRIM) & AH_IS_TASK_FILE);
	assert_true(trim(other, 1, AH_DATASET_TRIM) & AH_IS_TASK_FILE);
	assert_int_equal(trim(sata, 2, AH_DATASET_TRIM), AH_IS_D2H);
	entry = rl_log_at(&sata->model->device.log, sata->model->device.log.count - 1);
	assert_string_equal(ah_command_name(entry), "TRIM");
	assert_int_equal(entry->lba, 1002);
	assert_int_equal(entry->sectors, 103);
	assert_int_equal(sata->model->bad.sectors, 0);
	assert_int_equal(alone(sata, AH_OP_READ_DMA_EXT, 1000, 8, 0, 4096), AH_IS_D2H);
	for (i = 0; i < 4096; i++)
		assert_int_equal(data[i], i / 512 == 2 || i / 512 == 3 ? 0 : 0xa5);
}

TEST(flash_slows_down)
{
	struct sata *sata = sata_create(FLASH ",fault.slow_command=2,fault.slow_factor=3");

	assert_int_equal(takes(sata, AH_OP_READ_QUEUED, 0, 8), 10000 + 8000 + 75000 + 7000);
	assert_int_equal(takes(sata, AH_OP_READ_QUEUED, 0, 8), 30000 + 8000 + 225000 + 7000);
}
