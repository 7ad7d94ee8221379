// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: their bytes, and what a killed recorder left undone. */

#include "store/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"

#define HEADER_BYTES	100

/* Where SQLite's locks lie, whatever is at that place of the file. */
#define PENDING_BYTE	0x40000000
#define RESERVED_BYTE	(PENDING_BYTE + 1)
#define SHARED_FIRST	(PENDING_BYTE + 2)
#define SHARED_BYTES	510

#define LOCK_TRIES	1000
#define LOCK_PAUSE_NS	10000000

static const unsigned char journal_magic[8] = {
	0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7,
};

static int __attribute__((format(printf, 3, 4)))
refuse(struct store_image *image, int err, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vsnprintf(image->error, sizeof(image->error), format, words);
	va_end(words);
	return err;
}

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

/*
 * Is it ours and of our version?  Asked of the file's header, which SQLite
 * keeps at fixed places: SQLite itself could not tell a damaged recording
 * from something else.
 */
static int check_header(struct store_image *image, const unsigned char *header)
{
	static const char magic[] = "SQLite format 3";
	uint32_t version = big_endian(header + 60);

	if (memcmp(header, magic, sizeof(magic)) ||
	    big_endian(header + 68) != STORE_APPLICATION_ID)
		return refuse(image, -EINVAL,
			      "not a recording; name a file that raidctl record made");
	if (version < STORE_OLDEST || version > STORE_VERSION)
		return refuse(image, -EPROTO,
			      "a recording of version %" PRIu32
			      ", this raidctl reads versions %d to %d; use the raidctl that made it",
			      version, STORE_OLDEST, STORE_VERSION);
	if (header[18] == 2 || header[19] == 2)
		return refuse(image, -EINVAL,
			      "another program made its journal a WAL; turn it back: sqlite3 FILE 'PRAGMA journal_mode=DELETE'");
	return 0;
}

static int read_all(int fd, unsigned char *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t len = pread(fd, to + done, size - done, (off_t)done);

		if (len < 0 && errno != EINTR)
			return -errno;
		if (!len)
			return -EINVAL;
		if (len > 0)
			done += (size_t)len;
	}
	return 0;
}

/* The file, of which nothing is known but that it begins as a recording. */
static int open_file(const char *path, struct store_image *image)
{
	unsigned char header[HEADER_BYTES];
	int err, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err = refuse(image, -errno,
			     "%s; name a file that raidctl record made",
			     strerror(errno));
		goto out;
	}
	if (S_ISREG(st.st_mode) && !st.st_size) {
		err = refuse(image, -EINVAL,
			     "an empty file; if it is to be a recording, its recorder was killed before anything was recorded: remove it");
		goto out;
	}
	if (!S_ISREG(st.st_mode) || read_all(fd, header, sizeof(header)))
		memset(header, 0, sizeof(header));
	err = check_header(image, header);
out:
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int lock(int fd, short type, off_t start, off_t len)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = start,
		.l_len = len,
	};

	return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

/* As readers of SQLite do: no commit begins until the file is closed. */
static int lock_shared(int fd, struct store_image *image)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int err = -EAGAIN;

	for (int i = 0; i < LOCK_TRIES && err == -EAGAIN; i++) {
		if (i)
			nanosleep(&pause, NULL);
		/* Held by a writer that waits for its readers to end. */
		err = lock(fd, F_RDLCK, PENDING_BYTE, 1);
		if (!err)
			err = lock(fd, F_RDLCK, SHARED_FIRST, SHARED_BYTES);
		lock(fd, F_UNLCK, PENDING_BYTE, 1);
	}
	if (err == -EAGAIN)
		return refuse(image, -EBUSY, "another process keeps it locked");
	return err ? refuse(image, err, "it cannot be locked: %s",
			    strerror(-err)) : 0;
}

/* While somebody writes, the journal is of what is not in the file yet. */
static bool is_written(int fd)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = RESERVED_BYTE, .l_len = 1,
	};

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Allocate and read a whole file; nothing is allocated on failure. */
static int read_file(int fd, size_t most, unsigned char **bytes, size_t *size)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < 0 || (uint64_t)st.st_size > most)
		return -EFBIG;
	*size = (size_t)st.st_size;
	*bytes = sqlite3_malloc64(*size ? *size : 1);
	if (!*bytes)
		return -ENOMEM;
	err = read_all(fd, *bytes, *size);
	if (err) {
		sqlite3_free(*bytes);
		*bytes = NULL;
	}
	return err;
}

/* What SQLite allocates at once. */
#define MOST_OF_SQLITE	((size_t)0x7fffff00)

static size_t most_to_read(void)
{
	size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 *
		      (size_t)sysconf(_SC_PAGESIZE);

	return half < MOST_OF_SQLITE ? half : MOST_OF_SQLITE;
}

/* The journal beside, if it has what is to be played back; or NULL. */
static int read_journal(const char *path, struct store_image *image,
			unsigned char **bytes, size_t *size)
{
	char name[PATH_MAX];
	struct stat st;
	int fd, err;

	*bytes = NULL;
	if (snprintf(name, sizeof(name), "%s-journal", path) >= PATH_MAX)
		return refuse(image, -ENAMETOOLONG, "%s",
			      strerror(ENAMETOOLONG));
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
		  O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		err = fd < 0 ? errno : EINVAL;
		if (fd >= 0)
			close(fd);
		return refuse(image, -err,
			      "its recorder was killed, and the journal beside it cannot be read: %s",
			      strerror(err));
	}
	err = read_file(fd, most_to_read(), bytes, size);
	close(fd);
	if (err)
		return refuse(image, err, "its journal: %s", strerror(-err));
	/* SQLite clears the first byte, or all, of one that is done with. */
	if (*size < sizeof(journal_magic) || !(*bytes)[0]) {
		sqlite3_free(*bytes);
		*bytes = NULL;
		return 0;
	}
	/* Its last bytes would be the name of a file that SQLite deletes. */
	if (*size > 2 * sizeof(journal_magic) &&
	    !memcmp(*bytes + *size - sizeof(journal_magic), journal_magic,
		    sizeof(journal_magic))) {
		sqlite3_free(*bytes);
		*bytes = NULL;
		return refuse(image, -EINVAL,
			      "the journal beside it names another file, as no journal of raidctl does: it was not made for this recording; remove %.120s",
			      name);
	}
	return 0;
}

static int write_file(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wxe");
	int err = 0;

	if (!file)
		return -errno;
	if (fwrite(bytes, 1, size, file) != size)
		err = -errno;
	return fclose(file) && !err ? -errno : err;
}

/* SQLite plays a journal back when it reads first. */
static int let_sqlite_play(const char *path)
{
	sqlite3 *db = NULL;
	int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE |
				   SQLITE_OPEN_NOMUTEX, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "SELECT 1 FROM sqlite_schema", NULL,
				    NULL, NULL);
	sqlite3_close(db);
	switch (code & 0xff) {
	case SQLITE_OK:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_IOERR:
		return -EIO;
	default:
		return -EINVAL;
	}
}

/* In a directory that is ours alone; @image is that before, then that after. */
static int play_in(const char *directory, struct store_image *image,
		   const unsigned char *journal, size_t size)
{
	char path[PATH_MAX + 16], beside[PATH_MAX + 32];
	unsigned char *bytes = NULL;
	size_t most = image->size + size;
	int fd, err;

	snprintf(path, sizeof(path), "%s/copy", directory);
	snprintf(beside, sizeof(beside), "%s-journal", path);
	err = write_file(path, image->bytes, image->size);
	if (!err)
		err = write_file(beside, journal, size);
	if (!err)
		err = let_sqlite_play(path);
	fd = err ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!err && fd < 0)
		err = -errno;
	/* A journal that makes the file longer than both is none. */
	if (!err)
		err = read_file(fd, most, &bytes, &image->size);
	if (fd >= 0)
		close(fd);
	if (!err) {
		sqlite3_free(image->bytes);
		image->bytes = bytes;
	}
	unlink(path);
	unlink(beside);
	return err;
}

static int play_back(struct store_image *image, const unsigned char *journal,
		     size_t size)
{
	const char *parent = getenv("TMPDIR");
	char directory[PATH_MAX];
	int err;

	if (snprintf(directory, sizeof(directory), "%s/raidctl-XXXXXX",
		     parent && *parent ? parent : "/tmp") >= PATH_MAX)
		return refuse(image, -ENAMETOOLONG, "TMPDIR: %s",
			      strerror(ENAMETOOLONG));
	err = mkdtemp(directory) ? 0 : -errno;
	if (!err) {
		err = play_in(directory, image, journal, size);
		rmdir(directory);
	}
	if (err == -EINVAL || err == -EFBIG)
		return refuse(image, -EINVAL,
			      "its recorder was killed, and the journal beside it is damaged");
	return err ? refuse(image, err,
			    "its recorder was killed; what it left undone is undone on a copy in %.100s: %s; name another directory by TMPDIR",
			    directory, strerror(-err)) : 0;
}

int store_image_read(const char *path, struct store_image *image)
{
	unsigned char *journal = NULL;
	size_t size = 0;
	int err, fd;

	memset(image, 0, sizeof(*image));
	fd = open_file(path, image);
	if (fd < 0)
		return fd;
	err = lock_shared(fd, image);
	if (!err && !is_written(fd))
		err = read_journal(path, image, &journal, &size);
	if (!err) {
		err = read_file(fd, most_to_read(), &image->bytes,
				&image->size);
		if (err == -EFBIG)
			refuse(image, err, "larger than 2 GiB, or half of this machine's memory, which is the most that is read");
		else if (err)
			refuse(image, err, "%s", strerror(-err));
	}
	close(fd);
	if (!err && journal)
		err = play_back(image, journal, size);
	if (!err)
		err = image->size < HEADER_BYTES ?
			refuse(image, -EINVAL, "the file is damaged or cut short") :
			check_header(image, image->bytes);
	sqlite3_free(journal);
	if (err) {
		sqlite3_free(image->bytes);
		image->bytes = NULL;
	}
	return err;
}
