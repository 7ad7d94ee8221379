// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: a recording with bytes changed is opened, read, printed and
 * exported.
 *
 * The first byte of the input says what is made of it, each four bytes behind
 * put the last of them at the place in the file that the first three give.  The
 * recording has a row in each table.  It lies in memory, and SQLite is told that
 * there is one thread: what is left to pay for is reading.
 */

#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/openmetrics.h"
#include "report/print.h"
#include "store/load.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static unsigned char *image;
static size_t length;

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

static void write_changed(const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (write(fd, image, length) != (ssize_t)length)
		abort();
	for (; size >= 4; data += 4, size -= 4) {
		size_t at = (size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2];

		if (pwrite(fd, data + 3, 1, (off_t)(at % length)) != 1)
			abort();
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct recording recording;
	struct store *store;

	if (!image) {
		/* Most of what an input costs is memory that comes and goes. */
		static char pages[256][4096 + 512];

		sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
		sqlite3_config(SQLITE_CONFIG_PAGECACHE, pages, (int)sizeof(pages[0]), 256);
		sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
		make_image();
	}
	if (!size)
		return 0;
	if (!null)
		null = fopen("/dev/null", "w");
	write_changed(data + 1, size - 1);
	if (store_open(path, &store))
		return 0;
	recording.path = path;
	if (!recording_load(store, NULL, &recording)) {
		recording.path = path;
		print(null, &recording, data[0] & 3);
	}
	recording_free(&recording);
	store_close(store);
	return 0;
}
