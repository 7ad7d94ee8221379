// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Seeks as bonnie++ 1.02c made them with -b, for a kernel of today. bonnie++ 2.00a has another seek test.
 *
 *	bonnie-seeks write DIR MIB		make its files
 *	bonnie-seeks read DIR MIB		read them in order, as its test before the seeks did
 *	bonnie-seeks seek DIR MIB [SEED]	8000 seeks; says in how many seconds
 *
 * What the 1.0 series did, and 2.00a does not: files are of 1 GiB at most, so 20 GiB are 20 of them, and each process has all
 * of them open. A process draws its places itself, and changes the block of its every tenth. It syncs what it changed (-b),
 * and each file before it closes it, which is inside of the time. It removes nothing: the files go when the parent ends, so
 * their removal is outside. A SEED stands for the time of day and the process ID that 1.02c seeded each process with.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEEKS		8000
#define SEEKERS		3
#define UPDATE		10	/* every tenth is changed */
#define BLOCK		8192
#define FILE_MIB	1024
#define BLOCKS_OF_FILE	((FILE_MIB << 20) / BLOCK)
#define MAX_FILES	64
#define PIECE		(1 << 20)
#define START_S		5	/* until all processes wait for the first ticket */

static const char *directory;
static long mib;
static int files;
static int descriptors[MAX_FILES];
static char buffer[PIECE];

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void open_files(int flags)
{
	char name[4096];

	for (int i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "%s/Bonnie.%03d", directory, i);
		descriptors[i] = open(name, O_RDWR | flags, 0600);
		if (descriptors[i] < 0)
			err(1, "%s", name);
	}
}

static void close_files(void)
{
	for (int i = 0; i < files; i++)
		if (fsync(descriptors[i]) || close(descriptors[i]))
			err(1, "closing file %d", i);
}

static void whole(ssize_t (*move)(int, void *, size_t))
{
	for (long at = 0; at < mib; at++)
		if (move(descriptors[at / FILE_MIB], buffer, PIECE) != PIECE)
			err(1, "MiB %ld", at);
	close_files();
}

static ssize_t write_piece(int file, void *from, size_t bytes)
{
	return write(file, from, bytes);
}

static void seek_once(bool update)
{
	long block = rand() % (mib * (PIECE / BLOCK));
	int file = descriptors[block / BLOCKS_OF_FILE];
	off_t at = (off_t)(block % BLOCKS_OF_FILE) * BLOCK;

	if (lseek(file, at, SEEK_SET) != at || read(file, buffer, BLOCK) != BLOCK)
		err(1, "block %ld", block);
	if (!update)
		return;
	buffer[rand() % BLOCK]--;
	if (lseek(file, at, SEEK_SET) != at || write(file, buffer, BLOCK) != BLOCK || fsync(file))
		err(1, "changed block %ld", block);
}

static void seeker(int tickets, int reports, unsigned int seed)
{
	double span[2];
	char ticket;
	long done;

	srand(seed);
	open_files(0);
	for (done = 0; read(tickets, &ticket, 1) == 1 && ticket; done++) {
		if (!done)
			span[0] = seconds();
		seek_once(done % UPDATE == 0);
	}
	if (!done)
		span[0] = seconds();
	close_files();
	span[1] = seconds();
	if (write(reports, span, sizeof(span)) != sizeof(span))
		err(1, "report");
}

static double seek_test(unsigned int seed)
{
	static char ticket[SEEKS + SEEKERS];	/* 0 ends a process */
	int tickets[2], reports[2], status;
	double first = 0, last = 0, span[2];

	if (pipe(tickets) || pipe(reports))
		err(1, "pipe");
	for (int i = 0; i < SEEKERS; i++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		if (!child) {
			seeker(tickets[0], reports[1], seed * SEEKERS + (unsigned int)i);
			exit(0);
		}
	}
	sleep(START_S);
	memset(ticket, 1, SEEKS);
	if (write(tickets[1], ticket, sizeof(ticket)) != sizeof(ticket))
		err(1, "tickets");
	for (int i = 0; i < SEEKERS; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a seeker failed");
	for (int i = 0; i < SEEKERS; i++) {
		if (read(reports[0], span, sizeof(span)) != sizeof(span))
			err(1, "report");
		first = i && first < span[0] ? first : span[0];
		last = last > span[1] ? last : span[1];
	}
	return last - first;
}

int main(int count, char **words)
{
	if (count < 4)
		errx(2, "usage: bonnie-seeks write|read|seek DIR MIB [SEED]");
	directory = words[2];
	mib = atol(words[3]);
	files = (int)((mib + FILE_MIB - 1) / FILE_MIB);
	if (mib < 1 || files > MAX_FILES)
		errx(2, "MIB is 1 to %d, not %s", MAX_FILES * FILE_MIB, words[3]);
	if (!strcmp(words[1], "write")) {
		open_files(O_CREAT | O_EXCL);
		whole(write_piece);
	} else if (!strcmp(words[1], "read")) {
		open_files(0);
		whole(read);
	} else if (!strcmp(words[1], "seek")) {
		printf("%d seeks in %.6f s\n", SEEKS, seek_test(count > 4 ? (unsigned int)atol(words[4]) : 1));
	} else {
		errx(2, "write, read or seek, not %s", words[1]);
	}
	return 0;
}
