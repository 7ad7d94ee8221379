// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * ioperf: C library I/O on one file, as BNL STAR's "IO performance page"
 * (2001-2005) describes its program of this name.
 *
 *   ioperf [-s BYTES] [-n SEEKS] [-c BYTES] [-k] [-d random|zeros] DIRECTORY
 *
 * fwrite and fread in blocks, putc and getc a character at a time, random
 * seeks over the whole file with one block read at each. What is written is
 * flushed to the disk before the clock stops. Real time, processor time of
 * this process (user and system) and the second in per cent of the first.
 */

#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK	8192

/* Options. */
struct job {
	uint64_t bytes;	/* size of the file, a multiple of BLOCK */
	uint64_t char_bytes;	/* how much of it putc and getc go over */
	uint64_t seeks;	/* random seeks */
	int keep;	/* leave the file in the page cache before it is read */
	enum fill fill;
	FILE *file;
	double began, cpu_began;
};

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The file from its begin; before a test that reads, without its pages in memory. */
static void begin(struct job *job, const char *stage, int reads)
{
	if (fflush(job->file) || fseeko(job->file, 0, SEEK_SET))
		stage_die("seek");
	if (reads && !job->keep) {
		errno = posix_fadvise(fileno(job->file), 0, 0, POSIX_FADV_DONTNEED);
		if (errno)
			stage_die("posix_fadvise");
	}
	stage_begin(stage);
	job->cpu_began = cpu_seconds();
	job->began = stage_seconds();
}

static void end(struct job *job, const char *name, double amount, const char *unit, int writes)
{
	double real, cpu;

	if (writes && (fflush(job->file) || fsync(fileno(job->file))))
		stage_die("flush");
	real = stage_seconds() - job->began;
	cpu = cpu_seconds() - job->cpu_began;
	stage_end();
	if (real > 0)
		printf("%s: %.1f %s, real %.6f s, cpu %.6f s, efficiency %.2f %%\n", name, amount / real, unit,
		       real, cpu, 100 * cpu / real);
	else
		printf("%s: n/a %s, real %.6f s, cpu %.6f s, efficiency n/a %%\n", name, unit, real, cpu);
	fflush(stdout);
}

static void test_fwrite(struct job *job)
{
	static uint64_t block[BLOCK / sizeof(uint64_t)];
	uint64_t state = 0x7261696474726163, done;

	begin(job, "Writing with fwrite", 0);
	for (done = 0; done < job->bytes; done += BLOCK) {
		stage_data(job->fill, &state, block, BLOCK);
		if (fwrite(block, BLOCK, 1, job->file) != 1)
			stage_die("fwrite");
	}
	end(job, "fwrite", job->bytes / 1024.0, "KiB/s", 1);
}

static void test_fread(struct job *job)
{
	static char block[BLOCK];
	uint64_t done;

	begin(job, "Reading with fread", 1);
	for (done = 0; done < job->bytes; done += BLOCK)
		if (fread(block, BLOCK, 1, job->file) != 1)
			stage_die("fread");
	end(job, "fread", job->bytes / 1024.0, "KiB/s", 0);
}

static void test_putc(struct job *job)
{
	uint64_t state = 0x7261696474726163, done;
	int character = 0;

	begin(job, "Writing with putc", 0);
	for (done = 0; done < job->char_bytes; done++) {
		if (job->fill == FILL_RANDOM && !(done % 8))
			character = stage_random(&state) & 0xff;
		if (putc(character, job->file) == EOF)
			stage_die("putc");
	}
	end(job, "putc", job->char_bytes / 1024.0, "KiB/s", 1);
}

static void test_getc(struct job *job)
{
	uint64_t done;

	begin(job, "Reading with getc", 1);
	for (done = 0; done < job->char_bytes; done++)
		if (getc(job->file) == EOF)
			stage_die("getc");
	end(job, "getc", job->char_bytes / 1024.0, "KiB/s", 0);
}

static void test_seeks(struct job *job)
{
	static char block[BLOCK];
	uint64_t state = 0x7365656b73, done;

	begin(job, "Seeking", 1);
	for (done = 0; done < job->seeks; done++) {
		if (fseeko(job->file, stage_random(&state) % (job->bytes / BLOCK) * BLOCK, SEEK_SET))
			stage_die("fseek");
		if (fread(block, BLOCK, 1, job->file) != 1)
			stage_die("fread");
	}
	end(job, "seeks", job->seeks, "1/s", 0);
}

static int usage(void)
{
	fputs("Usage: ioperf [-s BYTES] [-n SEEKS] [-c BYTES] [-k] [-d random|zeros] DIRECTORY\n"
	      "  -s  size of the file (400000K)         -c  part of it for putc and getc (all)\n"
	      "  -n  random seeks (4000)                -k  keep it in the page cache before it is read\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct job job = { .bytes = UINT64_C(400000) << 10, .seeks = 4000, .fill = FILL_RANDOM };
	int option;

	while ((option = getopt(argc, argv, "s:n:c:kd:")) != -1) {
		switch (option) {
		case 's':
			job.bytes = stage_number(optarg);
			break;
		case 'n':
			job.seeks = stage_number(optarg);
			break;
		case 'c':
			job.char_bytes = stage_number(optarg);
			if (!job.char_bytes)
				return usage();
			break;
		case 'k':
			job.keep = 1;
			break;
		case 'd':
			if (stage_fill(optarg, &job.fill))
				return usage();
			break;
		default:
			return usage();
		}
	}
	if (!job.char_bytes)
		job.char_bytes = job.bytes;
	if (optind + 1 != argc || !job.seeks || job.bytes < BLOCK || job.bytes % BLOCK || job.char_bytes > job.bytes)
		return usage();
	job.file = fdopen(stage_file(argv[optind]), "w+");
	if (!job.file)
		stage_die("fdopen");
	printf("# ioperf: %" PRIu64 " KiB of %s, putc and getc over %" PRIu64 " KiB, page cache %s before reading\n",
	       job.bytes / 1024, job.fill == FILL_RANDOM ? "pseudo-random data" : "zeros", job.char_bytes / 1024,
	       job.keep ? "kept" : "dropped");
	test_fwrite(&job);
	test_fread(&job);
	test_putc(&job);
	test_getc(&job);
	test_seeks(&job);
	if (fclose(job.file) || fflush(stdout))
		stage_die("standard output");
	return 0;
}
