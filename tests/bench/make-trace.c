// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Write a synthetic blktrace trace: make-trace EVENTS CPUS BASE
 *
 * BASE.blktrace.0 and so on hold what Linux records of a disk that is read and
 * written by four processes, half of the requests in order and half not, 32 in
 * flight: Q G P I U D C of each request; of every eighth bio a merge instead of
 * a request of its own; every sixteenth is split.  The same words give the same
 * bytes.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Headers of Linux 7.2 cast to this type, which user space does not have. */
typedef uint64_t u64;
#include <linux/blktrace_api.h>

#define DEVICE		(8U << 20)
#define DEPTH		32
#define START_NS	1000000000ULL

struct request {
	uint64_t sector;
	uint32_t bytes;
	uint32_t cpu;
	uint32_t write;
};

static FILE *files[64];
static uint32_t sequences[64];
static unsigned long long events, cpus;
static uint64_t now_ns = START_NS;
static uint64_t seed = 1;

static uint32_t random32(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33);
}

static void put(uint32_t cpu, uint64_t sector, uint32_t bytes, uint32_t action,
		const void *data, uint16_t length)
{
	struct blk_io_trace record = {
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.time = now_ns,
		.sector = sector,
		.bytes = bytes,
		.action = action,
		.pid = 1000 + cpu,
		.device = DEVICE,
		.cpu = cpu,
		.pdu_len = length,
	};

	if (!(action & BLK_TC_ACT(BLK_TC_NOTIFY)))
		record.sequence = ++sequences[cpu];
	fwrite(&record, sizeof(record), 1, files[cpu]);
	if (length)
		fwrite(data, length, 1, files[cpu]);
	now_ns += 1000 + random32() % 9000;
	events++;
}

static void begin(void)
{
	uint32_t wall[2] = { 1700000000, 0 };

	put(0, 0, 0, BLK_TN_TIMESTAMP, wall, sizeof(wall));
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		char name[16] = "";

		snprintf(name, sizeof(name), "worker%u", cpu);
		put(cpu, 0, 0, BLK_TN_PROCESS, name, sizeof(name));
	}
}

static struct request next_request(void)
{
	static uint64_t place[64];
	struct request r = { .cpu = random32() % cpus, .bytes = 128 << 10 };

	r.write = r.cpu & 1;
	if (random32() & 1) {
		r.sector = place[r.cpu];
		place[r.cpu] += 256;
	} else {
		r.sector = (uint64_t)(random32() % 1000000) * 8;
		r.bytes = 4096;
	}
	return r;
}

static void submit(const struct request *r, unsigned long long i)
{
	uint32_t rw = BLK_TC_ACT(r->write ? BLK_TC_WRITE : BLK_TC_READ);
	uint32_t fs = rw | BLK_TC_ACT(BLK_TC_FS);
	unsigned char depth[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };

	if (i % 16 == 15)
		put(r->cpu, r->sector, 2 * r->bytes, BLK_TA_SPLIT | rw, depth, 8);
	put(r->cpu, r->sector, r->bytes, BLK_TA_QUEUE | rw, NULL, 0);
	if (i % 8 == 7)
		put(r->cpu, r->sector + r->bytes / 512, 4096,
		    BLK_TA_BACKMERGE | rw, NULL, 0);
	put(r->cpu, r->sector, r->bytes, BLK_TA_GETRQ | rw, NULL, 0);
	put(r->cpu, 0, 0, BLK_TA_PLUG, NULL, 0);
	put(r->cpu, r->sector, r->bytes, BLK_TA_INSERT | fs, NULL, 0);
	put(r->cpu, 0, 0, BLK_TA_UNPLUG_IO, depth, 8);
	put(r->cpu, r->sector, r->bytes, BLK_TA_ISSUE | fs, NULL, 0);
}

static void complete(const struct request *r)
{
	uint32_t rw = BLK_TC_ACT(r->write ? BLK_TC_WRITE : BLK_TC_READ);

	put(random32() % cpus, r->sector, r->bytes,
	    BLK_TA_COMPLETE | rw | BLK_TC_ACT(BLK_TC_FS), NULL, 0);
}

int main(int argc, char **argv)
{
	struct request flying[DEPTH];
	unsigned long long requested, i;
	char path[4096];

	if (argc != 4 || !(requested = strtoull(argv[1], NULL, 10)) ||
	    !(cpus = strtoull(argv[2], NULL, 10)) || cpus > 64) {
		fputs("Usage: make-trace EVENTS CPUS BASE\n", stderr);
		return 2;
	}
	for (i = 0; i < cpus; i++) {
		snprintf(path, sizeof(path), "%s.blktrace.%llu", argv[3], i);
		files[i] = fopen(path, "w");
		if (!files[i]) {
			perror(path);
			return 1;
		}
	}
	begin();
	for (i = 0; events < requested; i++) {
		if (i >= DEPTH)
			complete(&flying[i % DEPTH]);
		flying[i % DEPTH] = next_request();
		submit(&flying[i % DEPTH], i);
	}
	for (i = 0; i < cpus; i++) {
		if (fclose(files[i])) {
			perror(argv[3]);
			return 1;
		}
	}
	return 0;
}
