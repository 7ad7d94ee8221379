// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: a recording with bytes changed is opened, read, printed and
 * exported.
 *
 * The first byte of the input says what is made of it, each four bytes behind
 * put the last of them at the place in the file that the first three give.  The
 * recording has a row in each table.  It lies in memory, SQLite is told that
 * there is one thread and allocates from a block of ours: what is left to pay
 * for is reading.  tests/unit/test_foreign.c has how the bytes of a file come
 * into memory.
 */

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/openmetrics.h"
#include "report/print.h"
#include "store/image.h"
#include "store/load.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_store_image_read(const char *path, struct store_image *ret);

static char path[64];
static unsigned char *image;
static size_t length;
/* What the file is read as from now on. */
static const uint8_t *changes;
static size_t nr_changes;

/*
 * SQLite's memory: lists of free pieces, one for each power of two.  With the
 * sanitizer's allocator a quarter of the time goes there, and SQLite, which is
 * not built for it, has nothing of it.
 */
#define BLOCK_BYTES	(256 << 20)
#define SIZES		29

struct piece {
	size_t bits;
	struct piece *next;
};

static _Alignas(16) unsigned char block[BLOCK_BYTES];
static size_t taken;
static struct piece *free_pieces[SIZES];

static int round_up(int size)
{
	int rounded = 16;

	while (rounded < size)
		rounded *= 2;
	return rounded;
}

static void *allocate(int size)
{
	size_t bits = (size_t)__builtin_ctz((unsigned int)round_up(size));
	struct piece *piece = bits < SIZES ? free_pieces[bits] : NULL;

	if (bits >= SIZES)
		return NULL;
	if (piece) {
		free_pieces[bits] = piece->next;
		return piece + 1;
	}
	if (sizeof(block) - taken < sizeof(*piece) + ((size_t)1 << bits))
		return NULL;
	piece = (struct piece *)(block + taken);
	taken += sizeof(*piece) + ((size_t)1 << bits);
	piece->bits = bits;
	return piece + 1;
}

static int size_of(void *memory)
{
	return memory ? 1 << ((struct piece *)memory - 1)->bits : 0;
}

static void release(void *memory)
{
	struct piece *piece = (struct piece *)memory - 1;

	if (!memory)
		return;
	piece->next = free_pieces[piece->bits];
	free_pieces[piece->bits] = piece;
}

static void *reallocate(void *memory, int size)
{
	void *again;

	if (memory && size <= size_of(memory))
		return memory;
	again = allocate(size);
	if (again && memory)
		memcpy(again, memory, (size_t)size_of(memory));
	if (again)
		release(memory);
	return again;
}

static int begin(void *data)
{
	(void)data;
	return SQLITE_OK;
}

static void end(void *data)
{
	(void)data;
}

static const sqlite3_mem_methods from_block = {
	allocate, release, reallocate, size_of, round_up, begin, end, NULL,
};

static void remove_files(void)
{
	store_remove(path);
}

/* One sample of a disk with all that a sample can have. */
static void fill(struct store *store)
{
	static const struct rt_target target = {
		.disk = "sda", .driver = "3w-9xxx", .groups = ~0U,
		.capacity_sectors = 1000000,
	};
	struct rt_submitter submitter = { .pid = 3, .comm = "dd", .queued = 9 };
	struct rt_counters c = {
		.since_ns = 1, .now_ns = 1000, .groups = ~0U,
		.nr_submitters = 1, .submitters = &submitter,
	};

	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		c.flow[d].issued = c.flow[d].queued = 100 + d;
		for (unsigned int k = 0; k < RT_KINDS; k++)
			rt_histogram_count(&c.histogram[d][k], 3 + d, 100 + k);
	}
	c.origin[0].queued = 100;
	store_begin(store);
	store_put_meta(store, "tool_version", "0");
	store_put_meta(store, "end", "complete");
	store_put_target(store, 1, &target);
	store_put_setting(store, 1, 1, "readahead_sectors", "256");
	store_begin_phase(store, 1, "run", 1);
	store_put_sample(store, 1, 1, &c);
	store_put_output(store, 1, "stdout", "text", 4);
	store_commit(store);
	c.nr_submitters = 0;
	c.submitters = NULL;
	rt_counters_free(&c);
}

static void make_image(void)
{
	struct store *store;
	FILE *file;

	snprintf(path, sizeof(path), "/dev/shm/fuzz-%d.rtdb", (int)getpid());
	remove_files();
	atexit(remove_files);
	if (store_create(path, &store))
		abort();
	fill(store);
	store_close(store);
	file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END))
		abort();
	length = (size_t)ftell(file);
	image = malloc(length);
	rewind(file);
	if (!image || fread(image, 1, length, file) != length)
		abort();
	fclose(file);
}

/* One of the ways to print it, or all of them: each takes as long as reading. */
static void print(FILE *to, const struct recording *recording, uint8_t how)
{
	if (how == 0 || how == 3)
		print_text.recording(to, recording, &(struct reading){ .verbose = true });
	if (how == 1 || how == 3)
		print_json.recording(to, recording, &(struct reading){ 0 });
	if (how == 2 || how == 3)
		openmetrics_write(to, recording, true);
}

/* The linker puts this in the place of that without __wrap_: no file, no locks. */
int __wrap_store_image_read(const char *name, struct store_image *ret)
{
	(void)name;
	memset(ret, 0, sizeof(*ret));
	ret->bytes = sqlite3_malloc64(length);
	ret->size = length;
	if (!ret->bytes)
		abort();
	memcpy(ret->bytes, image, length);
	for (size_t i = 0; i < nr_changes; i++) {
		const uint8_t *change = changes + 4 * i;
		size_t at = (size_t)change[0] << 16 | (size_t)change[1] << 8 | change[2];

		ret->bytes[at % length] = change[3];
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct recording recording;
	struct store *store;

	if (!image) {
		sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
		sqlite3_config(SQLITE_CONFIG_MALLOC, &from_block);
		sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
		make_image();
		null = fopen("/dev/null", "w");
	}
	if (!size)
		return 0;
	changes = data + 1;
	nr_changes = (size - 1) / 4;
	if (store_open(path, &store))
		return 0;
	if (!recording_load(store, NULL, &recording)) {
		recording.path = path;
		print(null, &recording, data[0] & 3);
	}
	recording_free(&recording);
	store_close(store);
	return 0;
}
