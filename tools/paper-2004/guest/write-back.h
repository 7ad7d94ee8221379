/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write-back as 2.6.5 had it, for what is preloaded into benchmarks in the lab. There a process that had dirtied 1025 pages
 * (4 MiB, and one: the count was compared before it was raised) looked how much was dirty; above 10 % of the memory pdflush
 * was woken, which sent the 1024 pages that had been dirty longest, and again until less was dirty than that. So data is
 * sent in lumps of 4 MiB, in step with the writer. Today's flusher sends an eighth of what may be dirty at once.
 * And every 5 s kjournald sent all data of ext3's transaction, written anew or over, beside pdflush.
 *
 * WRITE_BACK_MIB: how much is dirty before pdflush is woken; without it nothing is done.
 * COMMIT_S: seconds between commits; without it there are none.
 */
#ifndef RAIDTRACE_WRITE_BACK_H
#define RAIDTRACE_WRITE_BACK_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

#define WRITE_BACK_PAGE		4096
#define WRITE_BACK_LOOK		(1025 * WRITE_BACK_PAGE)
#define WRITE_BACK_LUMP		(1024 * WRITE_BACK_PAGE)
#define WRITE_BACK_RECORD	(64 << 10)	/* written at a time, so that time passes between a lump and a lookup */

/* Of one file that is written from its beginning on, by one thread. Bytes. */
static struct {
	off_t sent;		/* by pdflush: what is before it is not dirty */
	size_t dirtied;		/* since the last look */
	time_t commit;		/* s: when the last one began */
	atomic_bool committing;
	int fd;
	off_t commit_from, commit_to;
} write_back_state;

static inline long write_back_setting(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

/* How much of that to write at a time: up to the next look. */
static inline size_t write_back_part(size_t bytes)
{
	size_t room = WRITE_BACK_LOOK - write_back_state.dirtied;

	if (!write_back_setting("WRITE_BACK_MIB"))
		return bytes;
	if (bytes > WRITE_BACK_RECORD)
		bytes = WRITE_BACK_RECORD;
	return bytes < room ? bytes : room;
}

static void *write_back_send(void *unused)
{
	off_t bytes = write_back_state.commit_to - write_back_state.commit_from;

	if (bytes > 0)
		sync_file_range(write_back_state.fd, write_back_state.commit_from, bytes, SYNC_FILE_RANGE_WRITE);
	write_back_state.committing = false;
	return unused;
}

/* A thread, since the writer went on beside kjournald. Without one there is no commit this time. */
static inline void write_back_commit(int fd, off_t end, long seconds)
{
	struct timespec now;
	pthread_t thread;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!write_back_state.commit)
		write_back_state.commit = now.tv_sec;
	if (write_back_state.committing || now.tv_sec - write_back_state.commit < seconds)
		return;
	write_back_state.commit = now.tv_sec;
	write_back_state.committing = true;
	write_back_state.fd = fd;
	write_back_state.commit_from = write_back_state.sent;
	write_back_state.commit_to = end;
	if (pthread_create(&thread, NULL, write_back_send, NULL))
		write_back_state.committing = false;
	else
		pthread_detach(thread);
}

/* bytes were written, up to end. */
static inline void write_back(int fd, off_t end, size_t bytes)
{
	off_t begin = (off_t)write_back_setting("WRITE_BACK_MIB") << 20;
	long seconds = write_back_setting("COMMIT_S");

	if (!begin)
		return;
	if (end < write_back_state.sent)
		write_back_state.sent = 0; /* once more from the beginning */
	if (seconds)
		write_back_commit(fd, end, seconds);
	write_back_state.dirtied += bytes;
	if (write_back_state.dirtied < WRITE_BACK_LOOK)
		return;
	write_back_state.dirtied = 0;
	while (end - write_back_state.sent > begin) {
		sync_file_range(fd, write_back_state.sent, WRITE_BACK_LUMP, SYNC_FILE_RANGE_WRITE);
		write_back_state.sent += WRITE_BACK_LUMP;
	}
}

#endif
