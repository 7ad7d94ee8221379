// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * ddt: write a file with the fsync inside the timing, pause, read it, as the
 * paper "SR Performance Analysis" (Coraid, 2007) describes its program of this name.
 *
 *   ddt [-c COUNT] [-b BYTES] [-w SECONDS] [-d random|zeros] DIRECTORY
 *
 * Processor use is that of all processors in the time of the test:
 *
 *   n = what all fields of /proc/stat's "cpu" line grew by
 *   m = what idle and iowait grew by
 *   cpu % = (n - m) * 100 / n
 *
 * guest and guest_nice are left out: they are part of user and nice already.
 */

#include "stage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum field { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NR_FIELDS };

static const char *const field_names[NR_FIELDS] = {
	"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
};

/* Options. */
struct options {
	uint64_t count;	/* blocks */
	uint64_t block;	/* bytes of a block, a multiple of 8 */
	uint64_t pause;	/* seconds between writing and reading */
	enum fill fill;	/* what is written */
	const char *directory;
};

/* When a test began or ended. */
struct moment {
	double seconds;
	int64_t ticks[NR_FIELDS];	/* fields of /proc/stat, clock ticks */
};

static void read_moment(struct moment *ret)
{
	FILE *stat = fopen("/proc/stat", "re");
	int i;

	memset(ret->ticks, 0, sizeof(ret->ticks));
	if (!stat)
		stage_die("/proc/stat");
	if (fscanf(stat, "cpu %" SCNd64, &ret->ticks[0]) != 1) {
		errno = EPROTO;
		stage_die("/proc/stat");
	}
	/* kernels before 2.6.11 have fewer fields */
	for (i = 1; i < NR_FIELDS && fscanf(stat, " %" SCNd64, &ret->ticks[i]) == 1; i++)
		;
	fclose(stat);
	ret->seconds = stage_seconds();
}

static void print_test(const char *name, const struct options *options, const struct moment *begin,
		       const struct moment *end)
{
	double seconds = end->seconds - begin->seconds;
	double kib = (double)options->count * options->block / 1024;
	int64_t grown, idle = 0, all = 0;
	int i;

	for (i = 0; i < NR_FIELDS; i++) {
		grown = end->ticks[i] - begin->ticks[i];
		all += grown;
		if (i == IDLE || i == IOWAIT)
			idle += grown;
	}
	if (seconds > 0)
		printf("%s: %.1f KiB/s, ", name, kib / seconds);
	else
		printf("%s: n/a KiB/s, ", name);
	if (all > 0)
		printf("cpu %.2f %%, real %.6f s\n", (all - idle) * 100.0 / all, seconds);
	else
		printf("cpu n/a %%, real %.6f s\n", seconds);
	printf("%s-stat:", name);
	for (i = 0; i < NR_FIELDS; i++)
		printf(" %s %" PRId64, field_names[i], end->ticks[i] - begin->ticks[i]);
	putchar('\n');
}

static void write_file(int fd, const struct options *options, char *block)
{
	uint64_t state = 0x7261696474726163, i, done;
	ssize_t size;

	for (i = 0; i < options->count; i++) {
		stage_data(options->fill, &state, block, options->block);
		for (done = 0; done < options->block; done += size) {
			size = write(fd, block + done, options->block - done);
			if (size < 0)
				stage_die("write");
		}
	}
}

static void read_file(int fd, const struct options *options, char *block)
{
	uint64_t left = options->count * options->block;
	ssize_t size;

	if (lseek(fd, 0, SEEK_SET))
		stage_die("lseek");
	for (; left; left -= size) {
		size = read(fd, block, options->block);
		if (size <= 0) {
			if (!size)
				errno = ENODATA;
			stage_die("read");
		}
	}
}

static void run(const struct options *options)
{
	char *block = aligned_alloc(4096, (options->block + 4095) & ~UINT64_C(4095));
	int fd = stage_file(options->directory);
	struct moment begin, end;

	if (!block)
		stage_die("out of memory");
	printf("# ddt: %" PRIu64 " x %" PRIu64 " bytes of %s, fsync inside the write, pause %" PRIu64 " s\n",
	       options->count, options->block,
	       options->fill == FILL_RANDOM ? "pseudo-random data" : "zeros", options->pause);
	stage_begin("Writing");
	read_moment(&begin);
	write_file(fd, options, block);
	if (fsync(fd))
		stage_die("fsync");
	read_moment(&end);
	stage_end();
	print_test("write", options, &begin, &end);
	stage_begin("Pausing");
	fflush(stdout);
	sleep(options->pause);
	stage_end();
	stage_begin("Reading");
	read_moment(&begin);
	read_file(fd, options, block);
	read_moment(&end);
	stage_end();
	print_test("read", options, &begin, &end);
	free(block);
}

static int usage(void)
{
	fputs("Usage: ddt [-c COUNT] [-b BYTES] [-w SECONDS] [-d random|zeros] DIRECTORY\n"
	      "Write COUNT (4096) blocks of BYTES (1M), pause SECONDS (10), read them.\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct options options = { .count = 4096, .block = 1 << 20, .pause = 10, .fill = FILL_RANDOM };
	int option;

	while ((option = getopt(argc, argv, "c:b:w:d:")) != -1) {
		switch (option) {
		case 'c':
			options.count = stage_number(optarg);
			break;
		case 'b':
			options.block = stage_number(optarg);
			break;
		case 'w':
			options.pause = strcmp(optarg, "0") ? stage_number(optarg) : 0;
			if (!options.pause && strcmp(optarg, "0"))
				return usage();
			break;
		case 'd':
			if (stage_fill(optarg, &options.fill))
				return usage();
			break;
		default:
			return usage();
		}
	}
	if (optind + 1 != argc || !options.count || !options.block || options.block % 8 || options.block > 1 << 30 ||
	    options.count > UINT64_MAX / 4 / options.block)
		return usage();
	options.directory = argv[optind];
	run(&options);
	if (fflush(stdout))
		stage_die("standard output");
	return 0;
}
