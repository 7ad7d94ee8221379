// SPDX-License-Identifier: GPL-2.0-or-later
/* The NVMe drive's time equals arithmetic to the nanosecond. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvme-driver.h"

/* Constants of the drive below, in nanoseconds. */
#define COMMAND		1500ULL
#define LATENCY		7000ULL
#define READ_NS		80000ULL
#define PROGRAM		300000ULL
#define LINK		3000000000ULL	/* bytes a second */
#define CHANNELS	8U
#define PAGE_SECTORS	32U
#define DRIVE QUICK_DRIVE ",nvme.command_ns=1500,link.latency_ns=7000,link.bytes_s=3000000000,flash.channels=8," \
	"flash.read_ns=80000,flash.program_ns=300000"
/* A drive whose limits alone cost time. */
#define FREE QUICK_DRIVE ",nvme.command_ns=0,link.latency_ns=0,link.bytes_s=1099511627776,flash.read_ns=0,flash.program_ns=0"
#define FREE_LINK_4K	4ULL	/* 4096 bytes at 2^40 bytes a second, rounded up */

static u64 ceil_div(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

/* Keep @depth READs or WRITEs of 4 KiB in flight until all are done, page after page. Return: time of each completion, from 0 on. */
static u64 *keep_in_flight(struct drive *drive, bool write, u32 depth, u32 count, u32 sectors, u32 step)
{
	u64 *done = calloc(count, sizeof(*done)), begun = drive->host->clock;
	u32 put = 0, i;

	for (i = 0; i < count; i++) {
		struct completion completion;

		for (; put < count && put - i < depth; put++) {
			struct command command = transfer(drive, write, (u64)put * step % 1000000, sectors, 0);

			drive_put(drive, 1, &command);
			drive_ring(drive, 1);
		}
		completion = drive_wait(drive, 1);
		assert_int_equal(completion.status, NV_GOOD);
		done[i] = drive->host->clock - begun;
	}
	return done;
}

TEST(one_at_a_time_is_the_sum)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	u64 each = COMMAND + ceil_div(4096 * 1000000000ULL, LINK) + READ_NS + LATENCY, *done;
	u32 i;

	done = keep_in_flight(drive, false, 1, 1000, 8, PAGE_SECTORS);
	for (i = 0; i < 1000; i++)
		assert_true(done[i] == (i + 1) * each);
	free(done);
}

/* A channel that is free reads at once; eight channels of 80 us are 100,000 pages a second. */
TEST(thirty_two_in_flight_are_as_fast_as_the_channels)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	u64 *done = keep_in_flight(drive, false, 32, 8000, 8, PAGE_SECTORS), ready;
	u32 i;

	for (i = 0; i < 8000; i++) {
		/* When the first page of this channel was ready to be read. */
		ready = (i % CHANNELS + 1) * COMMAND + ceil_div(4096 * 1000000000ULL, LINK);
		assert_true(done[i] == ready + (i / CHANNELS + 1) * READ_NS + LATENCY);
	}
	assert_true(8000 * 1000000000ULL / (done[7999] - done[7]) == 100100);	/* 7992 intervals */
	free(done);
}

/* All pages of one channel: an eighth of it. */
TEST(collisions_are_by_address)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	u64 *done = keep_in_flight(drive, false, 32, 100, 8, PAGE_SECTORS * CHANNELS);
	u32 i;

	for (i = 1; i < 100; i++)
		assert_true(done[i] - done[i - 1] == READ_NS);
	free(done);
}

/* Eight blocks of each of two pages: they are read at once, the second page behind another command's. */
TEST(a_read_of_two_pages_needs_both_channels)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	struct command first = transfer(drive, false, PAGE_SECTORS, 8, 0), both = transfer(drive, false, PAGE_SECTORS - 8, 16, 0);
	u64 begun = drive->host->clock, sent = COMMAND + ceil_div(4096 * 1000000000ULL, LINK);

	assert_int_equal(drive_run(drive, 1, both, NULL), NV_GOOD);
	assert_true(drive->host->clock - begun == COMMAND + ceil_div(8192 * 1000000000ULL, LINK) + READ_NS + LATENCY);
	begun = drive->host->clock;
	drive_submit(drive, 1, &first);
	drive_submit(drive, 1, &both);
	drive_wait(drive, 1);
	assert_true(drive->host->clock - begun == sent + READ_NS + LATENCY);
	drive_wait(drive, 1);
	assert_true(drive->host->clock - begun == sent + 2 * READ_NS + LATENCY);
}

/* 1 MiB is 64 pages, 8 of each channel: they come when the link passes them. */
TEST(large_reads_are_as_fast_as_link_and_channels)
{
	struct drive *drive = drive_ready(QUICK_DRIVE ",nvme.command_ns=0,link.latency_ns=0,link.bytes_s=1000000000,"
					  "flash.channels=64,flash.read_ns=50000,nvme.max_transfer_kib=0", 64);
	u64 *done = keep_in_flight(drive, false, 8, 50, 2048, 2048);
	u32 i;

	for (i = 0; i < 50; i++)
		assert_true(done[i] == (i + 1) * 1048576ULL + 50000);
	free(done);
}

/* The fraction of a nanosecond is kept: after 7,000 commands a rate of 3000 a second has not drifted. */
TEST(a_limit_of_commands_is_exact)
{
	static const u64 rates[] = { 3000, 7, 999999, 12345 };
	size_t i;

	for (i = 0; i < RL_COUNT(rates); i++) {
		char text[300];
		struct drive *drive;
		u64 *done;
		u32 k;

		snprintf(text, sizeof(text), FREE ",limit.iops=%llu", rates[i]);
		drive = drive_ready(text, 64);
		done = keep_in_flight(drive, false, 32, 7000, 8, PAGE_SECTORS);
		for (k = 0; k < 7000 && rates[i] < 100000; k++)
			if (done[k] != ceil_div(k * 1000000000ULL, rates[i]) + FREE_LINK_4K)
				fail_msg("%llu: %u: %llu", rates[i], k, done[k]);
		assert_true(done[6999] - done[3] - (6996 * 1000000000ULL / rates[i]) <= FREE_LINK_4K);
		free(done);
		host_destroy(drive->host);
	}
}

TEST(a_limit_of_bytes_is_exact)
{
	struct drive *drive = drive_ready(FREE ",limit.bytes_s=460000000", 64);
	u64 *done = keep_in_flight(drive, false, 16, 3000, 256, 256);
	u32 k;

	for (k = 0; k < 3000; k++)
		if (done[k] != ceil_div(k * 131072ULL * 1000000000, 460000000) + ceil_div(131072 * 1000000000ULL, RL_MAX_RATE))
			fail_msg("%u: %llu", k, done[k]);
	free(done);
}

/* Both limits: the lower one counts, of each command. */
TEST(the_lower_limit_counts)
{
	struct drive *drive = drive_ready(FREE ",limit.bytes_s=100000000,limit.iops=1000", 64);
	u64 *done = keep_in_flight(drive, true, 16, 500, 8, PAGE_SECTORS);
	u32 k;

	for (k = 0; k < 500; k++)
		assert_true(done[k] == k * 1000000 + FREE_LINK_4K);
	free(done);
	done = keep_in_flight(drive, true, 16, 500, 512, 512);
	for (k = 10; k < 500; k++)
		assert_true(done[k] - done[k - 1] == 2621440);
	free(done);
}

TEST(a_burst_comes_at_once_after_a_pause)
{
	struct drive *drive = drive_ready(FREE ",limit.iops=3000,limit.burst_ios=100", 256);
	u32 round, k;

	for (round = 0; round < 3; round++) {
		u64 *done = keep_in_flight(drive, false, 200, 300, 8, PAGE_SECTORS);

		for (k = 0; k < 300; k++)
			if (done[k] < (k > 100 ? ceil_div((k - 100) * 1000000000ULL, 3000) : 0) + FREE_LINK_4K ||
			    done[k] > (k > 100 ? ceil_div((k - 100) * 1000000000ULL, 3000) : 0) + 102 * FREE_LINK_4K)
				fail_msg("%u: %u: %llu", round, k, done[k]);
		for (k = 200; k < 300; k++)
			assert_true(done[k] == ceil_div((k - 100) * 1000000000ULL, 3000) + FREE_LINK_4K);
		free(done);
		/* The bucket is empty after 120 ms. */
		drive_pass(drive, 120000000);
	}
}

/* Flushes and refused commands do not count. */
TEST(only_transfers_are_limited)
{
	struct drive *drive = drive_ready(FREE ",limit.iops=1", 64);
	u64 begun = drive->host->clock;
	u32 i;

	for (i = 0; i < 10; i++) {
		assert_int_equal(drive_run(drive, 1, io_command(NV_FLUSH, 0, 0), NULL), NV_GOOD);
		assert_int_equal(drive_run(drive, 1, io_command(NV_WRITE_ZEROES, 0, 8), NULL), NV_GOOD);
		assert_int_equal(drive_run(drive, 1, io_command(NV_READ, 1048576, 8), NULL), NV_BAD_LBA);
	}
	assert_true(drive->host->clock == begun);
}

/* Single writes to pages of random channels, compared with a simulation that looks at every earlier page. */
TEST(a_full_cache_is_a_cliff)
{
	enum { PAGES = 64, WRITES = 2000 };
	struct drive *drive = drive_ready(DRIVE ",cache.kib=1024", 64);
	u64 programmed[WRITES], channel[CHANNELS] = { 0 }, at = 0, begun = drive->host->clock, seed = 4, room = 0, ready, first = 0;
	u32 i, j, dirty, last[CHANNELS] = { 0 };

	for (i = 0; i < WRITES; i++) {
		u32 page = random_number(&seed) % 8000 / 2 * 2 + i % 2;

		/* Never the page that waits: that would be joined. */
		page += page == last[page % CHANNELS] ? CHANNELS : 0;
		last[page % CHANNELS] = page;
		ready = at + COMMAND + ceil_div(4096 * 1000000000ULL, LINK);
		ready = ready > room ? ready : room;
		/* The earliest time from then on at which fewer pages than the cache has are not programmed. */
		for (;;) {
			u64 next = RL_NEVER;

			for (j = 0, dirty = 0; j < i; j++)
				if (programmed[j] > ready) {
					dirty++;
					next = programmed[j] < next ? programmed[j] : next;
				}
			if (dirty < PAGES)
				break;
			ready = next;
		}
		room = ready;
		channel[page % CHANNELS] = (channel[page % CHANNELS] > ready ? channel[page % CHANNELS] : ready) + PROGRAM;
		programmed[i] = channel[page % CHANNELS];
		at = ready + LATENCY;
		assert_int_equal(drive_transfer(drive, true, page * PAGE_SECTORS, 8, 0), NV_GOOD);
		if (drive->host->clock - begun != at)
			fail_msg("write %u: %llu, not %llu", i, drive->host->clock - begun, at);
		if (i == PAGES - 1)
			first = at;
	}
	/* The cliff: 64 writes at the speed of the link, the others at that of programming. */
	assert_true(first == PAGES * (COMMAND + ceil_div(4096 * 1000000000ULL, LINK) + LATENCY));
	assert_true(at / WRITES > PROGRAM / CHANNELS);
}

/* Return: how long this command takes. */
static u64 takes(struct drive *drive, struct command command)
{
	u64 begun = drive->host->clock;

	assert_int_equal(drive_run(drive, 1, command, NULL), NV_GOOD);
	return drive->host->clock - begun;
}

static struct command with_fua(struct command command)
{
	rl_put(command.byte + NV_CDW12, rl_get32(command.byte + NV_CDW12) | NV_RW_FUA, 4);
	return command;
}

TEST(flush_and_fua_wait_for_a_volatile_cache)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	struct command flush = io_command(NV_FLUSH, 0, 0);
	u64 sent = COMMAND + ceil_div(4096 * 1000000000ULL, LINK), begun;

	assert_true(takes(drive, flush) == COMMAND + LATENCY);
	begun = drive->host->clock;
	assert_true(takes(drive, transfer(drive, true, 0, 8, 0)) == sent + LATENCY);
	assert_true(takes(drive, transfer(drive, true, PAGE_SECTORS * 8, 8, 0)) == sent + LATENCY);
	takes(drive, flush);
	/* Two pages of one channel. */
	assert_true(drive->host->clock - begun == sent + 2 * PROGRAM + LATENCY);
	assert_true(takes(drive, flush) == COMMAND + LATENCY);
	assert_true(takes(drive, with_fua(transfer(drive, true, 0, 8, 0))) == sent + PROGRAM + LATENCY);
	/* The driver turns the cache off. */
	assert_int_equal(drive_run(drive, 0, admin_command(NV_SET_FEATURES, 0, 6, 0), NULL), NV_GOOD);
	assert_true(takes(drive, transfer(drive, true, 0, 8, 0)) == sent + PROGRAM + LATENCY);
}

TEST(a_cache_that_keeps_its_data_need_not_be_flushed)
{
	struct drive *drive = drive_ready(DRIVE ",nvme.write_cache=0", 64);
	u64 sent = COMMAND + ceil_div(4096 * 1000000000ULL, LINK);

	assert_true(takes(drive, with_fua(transfer(drive, true, 0, 8, 0))) == sent + LATENCY);
	assert_true(takes(drive, io_command(NV_FLUSH, 0, 0)) == COMMAND + LATENCY);
	drive = drive_ready(DRIVE ",cache.kib=0", 64);
	assert_true(takes(drive, transfer(drive, true, 0, 8, 0)) == sent + PROGRAM + LATENCY);
}

/* Parts of a page that waits for its channel are programmed at once. */
TEST(writes_join_a_page_that_waits)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	u64 sent = COMMAND + ceil_div(4096 * 1000000000ULL, LINK), begun = drive->host->clock;
	u32 i;

	/* The first is being programmed when the second comes; the third and fourth join the second. */
	for (i = 0; i < 4; i++)
		assert_true(takes(drive, transfer(drive, true, i * 8, 8, 0)) == sent + LATENCY);
	assert_int_equal(rl_flash_cached(&drive->host->nvme.timing.flash, drive->host->clock), 2);
	takes(drive, io_command(NV_FLUSH, 0, 0));
	assert_true(drive->host->clock - begun == sent + 2 * PROGRAM + LATENCY);
}

/* A cache of two pages that are being programmed: a third page waits for room, and so does a write that joins it. */
TEST(writes_come_into_the_cache_in_their_order)
{
	struct drive *drive = drive_ready(DRIVE ",flash.channels=1,cache.kib=32", 64);
	u64 sent = COMMAND + ceil_div(4096 * 1000000000ULL, LINK), begun = drive->host->clock;
	u32 i;

	for (i = 0; i < 4; i++) {
		struct command write = transfer(drive, true, i < 3 ? i * PAGE_SECTORS : 2 * PAGE_SECTORS + 8, 8, 0);

		drive_submit(drive, 1, &write);
	}
	drive_wait(drive, 1);
	drive_wait(drive, 1);
	assert_true(drive->host->clock - begun < PROGRAM);
	for (i = 0; i < 2; i++) {
		drive_wait(drive, 1);
		assert_true(drive->host->clock - begun == sent + PROGRAM + LATENCY);
	}
}

/* A read does not wait for pages of the cache on its channel; their programming ends later instead. */
TEST(a_read_interrupts_programming)
{
	struct drive *drive = drive_ready(DRIVE, 64);
	u64 sent = COMMAND + ceil_div(4096 * 1000000000ULL, LINK), begun = drive->host->clock;

	takes(drive, transfer(drive, true, 0, 8, 0));
	takes(drive, transfer(drive, true, PAGE_SECTORS * 8, 8, 0));
	assert_true(takes(drive, transfer(drive, false, PAGE_SECTORS * 16, 8, 0)) == sent + READ_NS + LATENCY);
	takes(drive, io_command(NV_FLUSH, 0, 0));
	assert_true(drive->host->clock - begun == sent + 2 * PROGRAM + READ_NS + LATENCY);
}

/* A bucket against sums that have room for every fraction: random costs and pauses. */
TEST(a_bucket_does_not_drift)
{
	static const struct { u64 rate, burst; } kinds[] = { { 1, 0 }, { 3, 2 }, { 999999937, 0 }, { 460000000, 1 << 20 }, { RL_MAX_RATE, 7 } };
	size_t i;

	for (i = 0; i < RL_COUNT(kinds); i++) {
		unsigned __int128 empty = 0;	/* times the rate */
		struct rl_bucket bucket;
		u64 now = 5, seed = i, rate = kinds[i].rate;
		u32 k;

		rl_bucket_create(&bucket, rate, kinds[i].burst);
		for (k = 0; k < 5000; k++) {
			u64 units = random_number(&seed) % (rate > 1000 ? 1 << 20 : 3), start, open;
			unsigned __int128 burst = (unsigned __int128)kinds[i].burst * 1000000000;

			now += random_number(&seed) % 3 ? 0 : units * 1000000000 / rate * (random_number(&seed) % 3);
			/* The first time at which not more than the burst is in it. */
			start = empty <= burst ? now : (u64)((empty - burst + rate - 1) / rate);
			start = start > now ? start : now;
			open = rl_bucket_open_ns(&bucket, now);
			assert_true(open == start);
			/* Less than a nanosecond is no pause. */
			empty = empty > (unsigned __int128)(start - 1) * rate ? empty : (unsigned __int128)start * rate;
			empty += (unsigned __int128)units * 1000000000;
			assert_true(rl_bucket_pour(&bucket, start, units) == (u64)((empty + rate - 1) / rate));
		}
	}
}

TEST(a_heap_gives_the_earliest)
{
	struct rl_moment moment[200];
	struct rl_heap heap = { moment, 0 };
	u64 seed = 9, in = 0, out = 0, added = 0, taken = 0;
	u32 i;

	assert_true(rl_heap_first_ns(&heap) == RL_NEVER);
	for (i = 0; i < 20000; i++) {
		if (heap.count < 200 && (!heap.count || random_number(&seed) % 2)) {
			u64 ns = random_number(&seed) % 50;

			rl_heap_add(&heap, ns, added++);
			in += ns;
		} else {
			struct rl_moment first = rl_heap_take(&heap);
			u32 j;

			for (j = 0; j < heap.count; j++)
				assert_true(moment[j].ns > first.ns || (moment[j].ns == first.ns && moment[j].order > first.order));
			out += first.ns;
			taken++;
		}
	}
	while (heap.count) {
		out += rl_heap_take(&heap).ns;
		taken++;
	}
	assert_true(in == out && added == taken);
}
