// SPDX-License-Identifier: GPL-2.0-or-later
/* What tests of faults and rebuilds do with a controller. */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

const struct redundant_level levels[REDUNDANT_LEVELS] = {
	{ SMALL "array.level=raid1,array.drives=2,", 2 },
	{ SMALL "array.level=raid5,array.drives=3,", 3 },
	{ SMALL "array.level=raid5,array.drives=5,", 5 },
	{ SMALL "array.level=raid10,array.drives=6,", 6 },
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
	static const u8 sense[6] = { 0x03, 0, 0, 0, 128 };

	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_ATTENTION);
	assert_int_equal(driver_command(host, 0, sense, 6, 512), 0);
	return tw_get16(((struct tw_header *)host_at(host, HOST_DATA))->error);
}

void expect_events(struct host *host, const u16 *codes)
{
	while (*codes)
		assert_int_equal(fetch_event(host), *codes++);
	assert_int_equal(fetch_event(host), TW_AEN_EMPTY);
}

void pass(struct host *host, u64 ns)
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
