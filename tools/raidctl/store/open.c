// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: opening, closing, transactions, statements and failures. */

#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* For failures before a struct store exists. */
static char open_error[256];

const char *store_error(const struct store *store)
{
	return store ? store->error : open_error;
}

/* Store the text of SQLite's failure, or a better one. */
int store_failed(struct store *store)
{
	int code = sqlite3_extended_errcode(store->db);
	int err = sqlite3_system_errno(store->db);
	const char *words = sqlite3_errmsg(store->db);

	switch (code & 0xff) {
	case SQLITE_FULL:
		err = ENOSPC;
		words = "no space left on its file system";
		break;
	case SQLITE_IOERR:
		words = err ? strerror(err) : words;
		err = err ? err : EIO;
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		err = EINVAL;
		words = "the file is damaged or cut short";
		break;
	case SQLITE_NOMEM:
		err = ENOMEM;
		break;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		err = EBUSY;
		words = "another process keeps it locked";
		break;
	case SQLITE_READONLY:
		err = EROFS;
		break;
	case SQLITE_CANTOPEN:
		words = err ? strerror(err) : words;
		err = err ? err : ENOENT;
		break;
	default:
		err = EIO;
	}
	snprintf(store->error, sizeof(store->error), "%s", words);
	return -err;
}

int store_execute(struct store *store, const char *sql)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return store_failed(store);
}

sqlite3_stmt *store_prepared(struct store *store, const char *sql)
{
	int i = 0;

	while (i < STORE_STATEMENTS - 1 && store->sql[i] &&
	       store->sql[i] != sql)
		i++;
	if (store->sql[i] == sql)
		return store->statements[i];
	/* If no slot is left, STORE_STATEMENTS must be raised. */
	sqlite3_finalize(store->statements[i]);
	store->sql[i] = NULL;
	if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &store->statements[i], NULL) != SQLITE_OK)
		return NULL;
	store->sql[i] = sql;
	return store->statements[i];
}

int store_run(struct store *store, sqlite3_stmt *stmt)
{
	int err = 0;

	if (sqlite3_step(stmt) != SQLITE_DONE)
		err = store_failed(store);
	sqlite3_reset(stmt);
	return err;
}

void store_bind_text(sqlite3_stmt *stmt, int place, const char *text)
{
	char *repaired = NULL;

	/* Not copied: if the copy failed, NULL would be stored. */
	if (text)
		text = foreign_utf8(text, &repaired);
	sqlite3_bind_text(stmt, place, text, -1,
			  repaired ? free : SQLITE_STATIC);
}

void store_bind_known(sqlite3_stmt *stmt, int place, uint64_t unknown,
		      uint64_t value)
{
	if (unknown)
		sqlite3_bind_null(stmt, place);
	else
		sqlite3_bind_int64(stmt, place, (sqlite3_int64)value);
}

int store_put_row(struct store *store, const char *sql, const struct cell *cells, int nr)
{
	sqlite3_stmt *stmt = store_prepared(store, sql);

	if (!stmt)
		return store_failed(store);
	for (int i = 0; i < nr; i++) {
		if (cells[i].len)
			sqlite3_bind_text(stmt, i + 1, cells[i].text, (int)cells[i].len, SQLITE_STATIC);
		else if (cells[i].text)
			store_bind_text(stmt, i + 1, cells[i].text);
		else
			store_bind_known(stmt, i + 1, !cells[i].known, (uint64_t)cells[i].number);
	}
	return store_run(store, stmt);
}

static int put_now(struct rows *to, const char *sql, const struct cell *cells, int nr)
{
	return store_put_row((struct store *)to, sql, cells, nr);
}

struct rows *store_rows(struct store *store)
{
	return &store->rows;
}

int store_connect(const char *path, struct store **ret)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	/* Without statistics, memory needs no lock. Only the first call has an effect. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	store->rows.put = put_now;
	store->lock = -1;
	if (sqlite3_open_v2(path, &store->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		int err = store_failed(store);

		snprintf(open_error, sizeof(open_error), "%s", store->error);
		store_close(store);
		return err;
	}
	sqlite3_busy_timeout(store->db, 10000);
	*ret = store;
	return 0;
}

/* The dictionary. A counter that is added to a macro appears in the exports of Python without another line. */
static const struct counter {
	const char *owner;
	const char *name;
	const char *unit;
	const char *meaning;
} dictionary[] = {
#define X(member, attribute, unit, meaning) { "sample", #member, unit, meaning },
	RT_DISK_COUNTERS(X)
#undef X
#define X(member, attribute, unit, meaning) { "flow", #member, unit, meaning },
	RT_FLOW_COUNTERS(X)
#undef X
#define X(member, attribute, unit, meaning) { "origin", #member, unit, meaning },
	RT_ORIGIN_COUNTERS(X)
#undef X
#define X(member, attribute, unit, meaning) { "submitter", #member, unit, meaning },
	RT_SUBMITTER_COUNTERS(X)
#undef X
#define X(member, attribute, unit, meaning) { "hwq", #member, unit, meaning },
	RT_HWQ_COUNTERS(X)
#undef X
};

static int put_dictionary(struct store *store)
{
	static const char insert[] = "INSERT INTO counter VALUES(?,?,?,?)";
	int err = 0;

	for (size_t i = 0; i < sizeof(dictionary) / sizeof(dictionary[0]) && !err; i++)
		err = store_put_row(store, insert,
				    ROW(TEXT(dictionary[i].owner), TEXT(dictionary[i].name),
					TEXT(dictionary[i].unit), TEXT(dictionary[i].meaning)));
	return err;
}

int store_create_in_memory(struct store **ret)
{
	int err = store_connect(":memory:", ret);
	char sql[96];

	if (err)
		return err;
	snprintf(sql, sizeof(sql),
		 "PRAGMA application_id=%d; PRAGMA user_version=%d;",
		 STORE_APPLICATION_ID, STORE_VERSION);
	err = store_execute(*ret, sql);
	if (!err)
		err = store_execute(*ret, store_schema);
	if (!err)
		err = put_dictionary(*ret);
	if (!err)
		return 0;
	snprintf(open_error, sizeof(open_error), "%s", (*ret)->error);
	store_close(*ret);
	*ret = NULL;
	return err;
}

unsigned char *store_bytes(struct store *store, size_t *size)
{
	sqlite3_int64 nr = 0;
	unsigned char *bytes = sqlite3_serialize(store->db, "main", &nr, 0);

	*size = (size_t)nr;
	return bytes;
}

void store_bytes_free(unsigned char *bytes)
{
	sqlite3_free(bytes);
}

int store_clear(struct store *store)
{
	return store_execute(store,
			     "DELETE FROM hwq; DELETE FROM submitter; DELETE FROM origin; DELETE FROM flow;"
			     "DELETE FROM sample; DELETE FROM phase; DELETE FROM setting; DELETE FROM target;"
			     "DELETE FROM meta");
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t len = pwrite(fd, data + done, size - done, (off_t)done);

		if (len < 0)
			return -errno;
		done += (size_t)len;
	}
	return fdatasync(fd) ? -errno : 0;
}

/* Open an unnamed file in the directory of @path. Return: a descriptor or -errno. */
static int open_nameless(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC,
			     0644) : -1;

	free(copy);
	return fd;
}

/*
 * A recorder locks the first byte of its file, which SQLite never locks. The lock belongs to the descriptor, so it ends
 * with the process, and locks of SQLite do not conflict with it. Return: 0; -EBUSY if another descriptor has the lock.
 * A file system without locks is no failure.
 */
static int lock_file(int fd)
{
	struct flock first = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_OFD_SETLK, &first) && (errno == EAGAIN || errno == EACCES) ? -EBUSY : 0;
}

/*
 * A process that is killed here leaves no file, or a complete recording. If the file system has no unnamed files, it
 * can leave an empty file. Return: a descriptor that keeps the file locked, or -errno.
 */
static int make_file(const char *path, const unsigned char *image, size_t size)
{
	int err, fd = open_nameless(path);
	bool nameless = fd >= 0;
	char link[64];

	if (!nameless)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = lock_file(fd);
	if (!err)
		err = write_all(fd, image, size);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!err && nameless &&
	    linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		err = -errno;
	if (err && !nameless)
		unlink(path);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static bool journal_of(const char *path, char *ret)
{
	return snprintf(ret, PATH_MAX, "%s-journal", path) < PATH_MAX;
}

/* SQLite would apply an old journal to the new recording. */
static int refuse_old_journal(const char *path)
{
	char journal[PATH_MAX];

	if (!journal_of(path, journal))
		return -ENAMETOOLONG;
	if (!access(path, F_OK) || access(journal, F_OK))
		return 0;
	snprintf(open_error, sizeof(open_error),
		 "the journal of an earlier recording exists: %.160s; remove it",
		 journal);
	return -ENOTUNIQ;
}

int store_create(const char *path, struct store **ret)
{
	int lock = -1, err = refuse_old_journal(path);
	unsigned char *image = NULL;
	struct store *empty;
	size_t size = 0;

	if (err == -ENOTUNIQ)
		return err;
	if (!err && !store_create_in_memory(&empty)) {
		image = store_bytes(empty, &size);
		store_close(empty);
	}
	if (!err)
		lock = image ? make_file(path, image, size) : -ENOMEM;
	if (!err && lock < 0)
		err = lock;
	store_bytes_free(image);
	if (err) {
		snprintf(open_error, sizeof(open_error), "%s", strerror(-err));
		return err;
	}
	err = store_connect(path, ret);
	if (err) {
		store_remove(path);
		close(lock);
		return err;
	}
	(*ret)->lock = lock;
	(*ret)->writing = true;
	err = store_execute(*ret, "PRAGMA journal_mode=TRUNCATE;"
				  "PRAGMA synchronous=NORMAL;");
	if (err) {
		snprintf(open_error, sizeof(open_error), "%s", (*ret)->error);
		store_close(*ret);
		store_remove(path);
	}
	return err;
}

void store_remove(const char *path)
{
	char journal[PATH_MAX];

	unlink(path);
	if (journal_of(path, journal))
		unlink(journal);
}

int store_replace(const char *path)
{
	int err, fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat of_fd, of_path;

	err = fd < 0 ? 0 : lock_file(fd);
	/* Another process may have replaced the file between open() and the lock. */
	if (fd >= 0 && !err && (fstat(fd, &of_fd) || lstat(path, &of_path) ||
				of_fd.st_dev != of_path.st_dev || of_fd.st_ino != of_path.st_ino))
		err = -EBUSY;
	if (!err)
		store_remove(path);
	if (fd >= 0)
		close(fd);
	return err;
}

bool store_is_recorded(const char *path)
{
	struct flock first = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &first) && first.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (int i = 0; i < STORE_STATEMENTS; i++)
		sqlite3_finalize(store->statements[i]);
	/* Otherwise an empty journal remains next to the file. */
	if (store->writing)
		sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL,
			     NULL, NULL);
	sqlite3_close(store->db);
	/* Not earlier: close() of any descriptor of a file ends the locks of SQLite on it. */
	if (store->lock >= 0)
		close(store->lock);
	packed_free(&store->packed);
	free(store);
}

bool store_is_there(struct store *store)
{
	int moved = 0;

	sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return !moved;
}

void store_stopped(struct store *store)
{
	store_rollback(store);
	/* The same length as the old value; a journal would need space. */
	sqlite3_exec(store->db,
		     "PRAGMA journal_mode=MEMORY;"
		     "UPDATE meta SET value='stopped'"
		     " WHERE key='end' AND value='running'", NULL, NULL, NULL);
}

int store_begin(struct store *store)
{
	return store_execute(store, "BEGIN IMMEDIATE");
}

int store_commit(struct store *store)
{
	int err = store_execute(store, "COMMIT");

	if (err)
		store_rollback(store);
	return err;
}

void store_rollback(struct store *store)
{
	/* SQLite may have rolled back already; keep the text of the failure. */
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}
