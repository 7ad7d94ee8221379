// SPDX-License-Identifier: GPL-2.0-or-later
/* A host for a model with no kernel. */
#include "host.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES 1024U
#define MAX_TESTS 512

static bool reachable(u64 address, u32 bytes)
{
	return address >= HOST_BASE && address - HOST_BASE <= HOST_BYTES && bytes <= HOST_BYTES - (address - HOST_BASE);
}

void *host_at(struct host *host, u64 address)
{
	assert_true(reachable(address, 1));
	return host->memory + (address - HOST_BASE);
}

static bool host_read(void *context, u64 address, void *to, u32 bytes)
{
	struct host *host = context;

	if (!reachable(address, bytes))
		return false;
	memcpy(to, host->memory + (address - HOST_BASE), bytes);
	return true;
}

static bool host_write(void *context, u64 address, const void *from, u32 bytes)
{
	struct host *host = context;

	if (!reachable(address, bytes))
		return false;
	memcpy(host->memory + (address - HOST_BASE), from, bytes);
	return true;
}

static bool host_zero(void *context, u64 address, u32 bytes)
{
	struct host *host = context;

	if (!reachable(address, bytes))
		return false;
	memset(host->memory + (address - HOST_BASE), 0, bytes);
	return true;
}

static u64 host_now(void *context)
{
	return ((struct host *)context)->clock;
}

static void host_wake(void *context, u64 ns)
{
	((struct host *)context)->wake = ns;
}

static void host_irq(void *context, bool level)
{
	struct host *host = context;

	assert_true(level != host->irq);
	host->irqs += level;
	host->irq = level;
}

static void host_raise(void *context, u32 vector)
{
	assert_true(vector < HOST_VECTORS);
	((struct host *)context)->raised[vector]++;
}

static void host_report(void *context, const char *text)
{
	assert_true(strlen(text) > 0);
	((struct host *)context)->reports++;
}

const struct rl_host_ops host_ops = {
	.dma_read = host_read, .dma_write = host_write, .dma_zero = host_zero, .now_ns = host_now,
	.wake_at = host_wake, .set_irq = host_irq, .raise = host_raise, .report = host_report,
};

/*
 * Memory of destroyed hosts is used again: the kernel takes longer to give new pages than a test takes. Meanwhile it is
 * poisoned for the sanitizer.
 */
static void *spare[HOST_CHUNKS];
static u32 spares;

_Static_assert(HOST_BYTES == RL_CHUNK_BYTES, "a host's memory and a chunk are taken from the same");

static void *taken(void)
{
	void *chunk;

	if (!spares)
		return aligned_alloc(4096, RL_CHUNK_BYTES);
	chunk = spare[--spares];
	ASAN_UNPOISON_MEMORY_REGION(chunk, RL_CHUNK_BYTES);
	return chunk;
}

static void given_back(void *chunk)
{
	if (spares == HOST_CHUNKS) {
		free(chunk);
		return;
	}
	ASAN_POISON_MEMORY_REGION(chunk, RL_CHUNK_BYTES);
	spare[spares++] = chunk;
}

/* Filled with rubbish: the model may not count on zeros. */
void *host_chunk(void *context)
{
	struct host *host = context;
	void *chunk;

	if (host->chunks == host->chunk_limit)
		return NULL;
	chunk = taken();
	memset(chunk, 0xa5, RL_CHUNK_BYTES);
	host->chunk[host->chunks++] = chunk;
	return chunk;
}

void host_config(struct tw_config *config, const char *text)
{
	char error[RL_CONFIG_ERROR_BYTES];

	if (!rl_keys_parse(&tw_keys, &config->base, text, error))
		fail_msg("config: %s", error);
}

static struct host *alive;

struct host *host_empty(u32 chunks)
{
	struct host *host = calloc(1, sizeof(*host));

	host->next = alive;
	alive = host;
	host->memory = taken();
	memset(host->memory, 0x5a, HOST_BYTES);
	host->clock = 1000000;
	host->wake = RL_NEVER;
	host->chunk_limit = chunks;
	return host;
}

void *host_keep(struct host *host, size_t bytes)
{
	void **place = &host->kept[host->kept[0] != NULL];

	assert_null(*place);
	return *place = calloc(1, bytes);
}

struct host *host_create_short(const char *text, u32 chunks)
{
	struct host *host = host_empty(chunks);
	struct tw_config config;

	host_config(&config, text);
	memset(&host->model, 0xa5, sizeof(host->model));
	if (!tw_model_create(&host->model, &config, &host_ops, host, host_chunk)) {
		host_destroy(host);
		return NULL;
	}
	return host;
}

struct host *host_create(const char *text)
{
	struct host *host = host_create_short(text, HOST_CHUNKS);

	assert_non_null(host);
	return host;
}

void host_destroy(struct host *host)
{
	struct host **at = &alive;

	while (*at != host)
		at = &(*at)->next;
	*at = host->next;
	while (host->chunks)
		given_back(host->chunk[--host->chunks]);
	given_back(host->memory);
	free(host->kept[0]);
	free(host->kept[1]);
	free(host);
}

int host_setup(void **state)
{
	*state = host_create("store_mib=8,log_entries=4096,array.drives=4,drive.sectors=4000000");
	driver_probe(*state);
	return 0;
}

int host_teardown(void **state)
{
	(void)state;
	while (alive)
		host_destroy(alive);
	return 0;
}

static u64 packet_address(u32 id)
{
	return HOST_BASE + id * PACKET_BYTES + sizeof(struct tw_header);
}

void *driver_packet(struct host *host, u32 id)
{
	return host_at(host, packet_address(id));
}

const struct tw_header *driver_header(struct host *host, u32 id)
{
	return host_at(host, packet_address(id) - sizeof(struct tw_header));
}

void driver_post(struct host *host, u32 id)
{
	tw_model_write(&host->model, TW_REG_COMMAND_LOW, (u32)packet_address(id));
	tw_model_write(&host->model, TW_REG_COMMAND_HIGH, (u32)(packet_address(id) >> 32));
}

static void *clean_packet(struct host *host, u32 id)
{
	memset(host_at(host, HOST_BASE + id * PACKET_BYTES), 0, PACKET_BYTES);
	return driver_packet(host, id);
}

void driver_init(struct host *host, u32 id, u32 features, u16 srl)
{
	struct tw_init_connection *init = clean_packet(host, id);

	init->opcode = TW_OP_INIT_CONNECTION;
	init->request_id = (u8)id;
	init->credits = tw_put16(256);
	init->features = tw_put32(features);
	init->srl = tw_put16(srl);
	init->arch = tw_put16(TW_ARCH_9000);
	driver_post(host, id);
}

static struct tw_le64 put64(u64 value)
{
	struct tw_le64 v;

	memcpy(&v, &value, sizeof(v));
	return v;
}

/* The parameter block lies at HOST_DATA. */
void driver_param(struct host *host, u32 id, u8 opcode, u16 table, u16 index, u16 bytes)
{
	struct tw_param_command *command = clean_packet(host, id);
	struct tw_param *param = host_at(host, HOST_DATA);

	memset(param, 0, RL_SECTOR_BYTES);
	param->table = tw_put16(table | 0x8000);
	param->index = tw_put16(index);
	param->size_bytes = tw_put16(bytes);
	command->opcode = (u8)(2 << 5 | opcode);
	command->request_id = (u8)id;
	command->sg.address = put64(HOST_DATA);
	command->sg.length = tw_put32(RL_SECTOR_BYTES);
	driver_post(host, id);
}

void driver_scsi(struct host *host, u32 id, u8 unit, const u8 cdb[16], const struct segment *list, u32 count)
{
	struct tw_execute_scsi *command = clean_packet(host, id);
	u32 i;

	command->opcode = TW_OP_EXECUTE_SCSI;
	command->unit = unit;
	command->request_id_lun = tw_put16((u16)id);
	command->sg_offset = 16;
	command->sg_count_lun = tw_put16((u16)count);
	memcpy(command->cdb, cdb, 16);
	for (i = 0; i < count && i < TW_SG_MAX; i++) {
		command->sg[i].address = put64(list[i].address);
		command->sg[i].length = tw_put32(list[i].bytes);
	}
	driver_post(host, id);
}

void driver_transfer(struct host *host, u32 id, bool write, u64 lba, u32 sectors, u32 offset)
{
	struct segment segment = { HOST_DATA + offset, sectors * RL_SECTOR_BYTES };
	u8 cdb[16] = { write ? 0x8a : 0x88 };
	u32 i;

	for (i = 0; i < 8; i++)
		cdb[2 + i] = (u8)(lba >> (56 - 8 * i));
	for (i = 0; i < 4; i++)
		cdb[10 + i] = (u8)(sectors >> (24 - 8 * i));
	driver_scsi(host, id, 0, cdb, &segment, 1);
}

u32 driver_response(struct host *host)
{
	while (tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_RESPONSE_EMPTY) {
		if (host->wake == RL_NEVER)
			fail_msg("no response, and none to come");
		if (host->wake > host->clock)
			host->clock = host->wake;
		host->wake = RL_NEVER;
		tw_model_tick(&host->model);
	}
	return tw_model_read(&host->model, TW_REG_RESPONSE) >> 4;
}

u8 driver_finish(struct host *host, u32 id)
{
	assert_int_equal(driver_response(host), id);
	return ((u8 *)driver_packet(host, id))[4];
}

u8 driver_command(struct host *host, u8 unit, const u8 *cdb, u32 length, u32 bytes)
{
	struct segment segment = { HOST_DATA, bytes };
	u8 whole[16] = { 0 };

	memcpy(whole, cdb, length);
	driver_scsi(host, 0, unit, whole, &segment, bytes ? 1 : 0);
	return driver_finish(host, 0);
}

u16 driver_event(struct host *host)
{
	static const u8 sense[6] = { 0x03, 0, 0, 0, 128 };

	assert_int_equal(driver_command(host, 0, sense, 6, RL_SECTOR_BYTES), 0);
	return tw_get16(((struct tw_header *)host_at(host, HOST_DATA))->error);
}

void driver_probe(struct host *host)
{
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_DISABLE_INTERRUPTS);
	assert_true(tw_model_read(&host->model, TW_REG_STATUS) & TW_STATUS_READY);
	driver_init(host, 0, TW_INIT_64BIT | TW_INIT_EXTENDED, 35);
	assert_int_equal(driver_finish(host, 0), 0);
	while (driver_event(host) != TW_AEN_EMPTY)
		;
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_ATTENTION |
		       TW_CONTROL_UNMASK_RESPONSE | TW_CONTROL_ENABLE_INTERRUPTS);
}

u32 random_number(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(*seed >> 33);
}

void random_fill(u64 *seed, void *to, size_t bytes)
{
	u8 *at = to;

	while (bytes--)
		*at++ = (u8)random_number(seed);
}

const struct redundant_level redundant_levels[REDUNDANT_LEVELS] = {
	{ SMALL_ARRAY "array.level=raid1,array.drives=2,", 2 },
	{ SMALL_ARRAY "array.level=raid5,array.drives=3,", 3 },
	{ SMALL_ARRAY "array.level=raid5,array.drives=5,", 5 },
	{ SMALL_ARRAY "array.level=raid10,array.drives=6,", 6 },
};

struct host *probed(const char *shape, const char *faults)
{
	char text[600];
	struct host *host;

	assert_true(strlen(shape) + strlen(faults) < sizeof(text));
	host = host_create(strcat(strcpy(text, shape), faults));
	driver_probe(host);
	return host;
}

u16 fetch_event(struct host *host)
{
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_ATTENTION);
	return driver_event(host);
}

void expect_events(struct host *host, const u16 *codes)
{
	while (*codes)
		assert_int_equal(fetch_event(host), *codes++);
	assert_int_equal(fetch_event(host), TW_AEN_EMPTY);
}

void host_pass(struct host *host, u64 ns)
{
	u64 end = host->clock + ns;

	while (host->wake <= end) {
		host->clock = host->wake > host->clock ? host->wake : host->clock;
		host->wake = RL_NEVER;
		tw_model_tick(&host->model);
	}
	host->clock = end;
}

u8 read_at(struct host *host, u64 lba, u32 sectors)
{
	driver_transfer(host, 1, false, lba, sectors, 0);
	return driver_finish(host, 1);
}

u8 write_at(struct host *host, u64 lba, u32 sectors, int byte)
{
	memset(host_at(host, HOST_DATA), byte, sectors * 512);
	driver_transfer(host, 1, true, lba, sectors, 0);
	return driver_finish(host, 1);
}

void random_command(struct host *host, u8 *truth, u64 *seed, u32 capacity)
{
	u32 sectors = 1 + random_number(seed) % 150, lba = random_number(seed) % (capacity - sectors);
	u8 *data = host_at(host, HOST_DATA);

	if (random_number(seed) % 2) {
		if (random_number(seed) % 4)
			random_fill(seed, data, sectors * 512);
		else
			memset(data, (int)(random_number(seed) % 3), sectors * 512);
		memcpy(truth + lba * 512, data, sectors * 512);
		driver_transfer(host, 1, true, lba, sectors, 0);
		assert_int_equal(driver_finish(host, 1), 0);
		return;
	}
	memset(data, 0xee, sectors * 512);
	assert_int_equal(read_at(host, lba, sectors), 0);
	assert_memory_equal(data, truth + lba * 512, sectors * 512);
}

void everything_reads_back(struct host *host, const u8 *truth, u32 capacity)
{
	u32 lba;

	for (lba = 0; lba < capacity; lba += 128) {
		assert_int_equal(read_at(host, lba, 128), 0);
		assert_memory_equal(host_at(host, HOST_DATA), truth + lba * 512, 128 * 512);
	}
}

static struct CMUnitTest all_tests[MAX_TESTS];
static u32 nr_tests;

void test_add(const struct CMUnitTest *test)
{
	if (nr_tests == MAX_TESTS)
		abort();
	all_tests[nr_tests++] = *test;
}

int main(void)
{
	struct CMUnitTest tests[nr_tests];

	memcpy(tests, all_tests, sizeof(tests));
	return cmocka_run_group_tests_name("model", tests, NULL, NULL) ? 1 : 0;
}
