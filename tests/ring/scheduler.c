// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scheduler that holds more requests than the engine has places for, since nr_requests was
 * raised: every issue and every completion counts all the same. Requests lie in memory as the
 * block layer allocates them: one behind the other in pieces of 64 KiB.
 */
#include "machine.h"

#include <stdio.h>

#include "account-events.h"

#define PIECE	65536

static struct raidtrace_engine engine;
static struct raidtrace_source source;
static uint64_t now = 1000000;
static int failed, passed;

void queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	(void)queue;
	(void)work;
}

void on_load(void)
{
}

static void say(bool ok, const char *what)
{
	printf("%sok - %s\n", ok ? "" : "not ", what);
	*(ok ? &passed : &failed) += 1;
}

static uint64_t address(unsigned int number, unsigned int size)
{
	unsigned int of_piece = PIECE / size, piece = number / of_piece;

	/* Pieces lie apart, in no order. */
	return 0xffff888100000000 + (uint64_t)(piece * 7919 % 8192) * PIECE + (uint64_t)(number % of_piece) * size;
}

static void take(enum raidtrace_event kind, u32 flags, u64 one, u64 two)
{
	const u64 record[RAIDTRACE_EVENT_WORDS] = {
		now++, raidtrace_event_head(kind, RAIDTRACE_DIRECTION_READ, 0, flags, 4096), one, two,
	};

	count_record(&engine, &source, record);
}

static void start(unsigned int bits)
{
	engine = (struct raidtrace_engine){
		.account = calloc(1, sizeof(*engine.account)),
		.bios = calloc(4UL << bits, sizeof(*engine.bios)),
		.bio_bits = bits + 2,
		.requests = calloc(1UL << bits, sizeof(*engine.requests)),
		.request_bits = bits,
	};
	raidtrace_place_set(&engine.place, 1ULL << 31);
	raidtrace_engine_start(&engine, 0xfff, RAIDTRACE_STREAMS_DEFAULT, now);
}

static void end(void)
{
	free(engine.account);
	free(engine.bios);
	free(engine.requests);
}

static uint64_t inserts_timed(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RAIDTRACE_D2C_BINS; i++)
		sum += engine.account->i2d[RAIDTRACE_DIRECTION_READ][i];
	return sum;
}

/*
 * @nr requests are on their way all the time, @depth of them with the driver. Returns whether
 * each issue and completion was counted; @timed: how many of the inserts were.
 */
static bool run(unsigned int bits, unsigned int nr, unsigned int depth, unsigned int size, double *timed)
{
	const struct raidtrace_flow *flow;
	uint64_t given = 0;
	bool exact;

	start(bits);
	for (unsigned int i = 0; i < nr; i++)
		take(RAIDTRACE_EVENT_INSERT, 0, address(i, size), 0);
	for (unsigned int round = 0; round < 20; round++)
		for (unsigned int i = 0; i < nr; i += depth) {
			unsigned int last = min(i + depth, nr);

			for (unsigned int j = i; j < last; j++, given++)
				take(RAIDTRACE_EVENT_ISSUE, 0, address(j, size), j * 8);
			for (unsigned int j = i; j < last; j++) {
				take(RAIDTRACE_EVENT_COMPLETE, RAIDTRACE_EVENT_STARTED, address(j, size), 0);
				take(RAIDTRACE_EVENT_INSERT, 0, address(j, size), 0);
			}
		}
	flow = &engine.account->flow[RAIDTRACE_DIRECTION_READ];
	exact = flow->issued == given && flow->completed == given && !flow->unmatched && !flow->abandoned;
	*timed = (double)inserts_timed() / (double)given;
	end();
	return exact;
}

/* Every nr_requests from 1 to 2,048, requests of usual sizes. */
static void every(unsigned int bits, bool want_all, const char *what)
{
	static const unsigned int sizes[] = { 256, 320, 384, 448, 576, 832, 1088 };
	double least = 1, timed;
	bool exact = true;

	for (unsigned int nr = 1; nr <= 2048; nr = nr < 16 ? nr + 1 : nr * 9 / 8)
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			exact &= run(bits, nr, 32, sizes[i], &timed);
			least = timed < least ? timed : least;
		}
	printf("# %u places: time of insert known of %.1f %% at least\n", 1 << bits, 100 * least);
	say(exact, what);
	if (want_all)
		say(least > 0.99, "and the time of nearly every insert is known");
}

/* As many in flight as there are places for twice over. */
static void all_in_flight(void)
{
	double timed;
	bool exact = true;

	for (unsigned int bits = 9; bits <= 16; bits++)
		for (unsigned int size = 256; size <= 1088; size += 64)
			exact &= run(bits, 1U << (bits - 1), 1U << (bits - 1), size, &timed);
	say(exact, "half as many requests as places, all of them in flight");
}

int main(void)
{
	every(12, true, "nr_requests from 1 to 2048: each issue and completion counts");
	every(9, false, "likewise with an eighth of the places: only times of inserts are missing");
	all_in_flight();
	return failed ? 1 : 0;
}
