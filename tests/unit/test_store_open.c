// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: reading one runs nothing that is in it and changes nothing that lies beside it. */

#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define BEFORE	20

static char victim[96], wal[80], temporary[80];

static void make(void)
{
	struct store *store;

	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	for (uint32_t n = 1; n <= BEFORE; n++)
		assert_int_equal(put_sample(store, n), 0);
	store_close(store);
}

/* A recorder that dies when a part of a transaction is in the file already. */
static void make_killed(void)
{
	struct store *store;
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct rt_counters c;

		if (store_create(path, &store) || put_start(store))
			_exit(1);
		for (uint32_t n = 1; n <= BEFORE; n++)
			if (put_sample(store, n))
				_exit(2);
		store_each_row(store, "PRAGMA cache_size=2", NULL, NULL);
		if (store_begin(store))
			_exit(3);
		for (uint32_t n = 1; n <= 500; n++) {
			fill(&c, n);
			if (store_put_sample(store, 1, 0, &c))
				_exit(4);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static char *bytes_of(const char *name, size_t *size)
{
	FILE *file = fopen(name, "re");
	char *bytes = malloc(1 << 22);

	if (!file)
		fail_msg("%s is not there", name);
	*size = fread(bytes, 1, 1 << 22, file);
	fclose(file);
	return bytes;
}

static void append(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* How many samples there are to be read; nothing of the files is changed. */
static long samples_unchanged(void)
{
	size_t sizes[4];
	char *before = bytes_of(path, &sizes[0]);
	char *beside = bytes_of(journal, &sizes[1]);
	char *after, *beside_after;
	struct store *store;
	long found = -1;
	int err = store_open(path, &store);

	if (!err) {
		found = number(store, "SELECT count(*) FROM sample");
		store_close(store);
	}
	after = bytes_of(path, &sizes[2]);
	beside_after = bytes_of(journal, &sizes[3]);
	assert_int_equal(sizes[0], sizes[2]);
	assert_int_equal(sizes[1], sizes[3]);
	assert_memory_equal(before, after, sizes[0]);
	assert_memory_equal(beside, beside_after, sizes[1]);
	free(before);
	free(beside);
	free(after);
	free(beside_after);
	/* Nor is a copy left. */
	assert_int_equal(rmdir(temporary), 0);
	assert_int_equal(mkdir(temporary, 0700), 0);
	return found;
}

static void killed_is_read(void **state)
{
	size_t size;
	char *bytes;

	(void)state;
	make_killed();
	bytes = bytes_of(journal, &size);
	free(bytes);
	/* There is something to be played back, and without that it is another recording. */
	assert_true(size > 1024);
	assert_int_equal(samples_unchanged(), BEFORE);
	/* Again, and when the file can be read and not written. */
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(journal, 0444), 0);
	assert_int_equal(samples_unchanged(), BEFORE);
}

static void put_big_endian(unsigned char *to, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(n >> (24 - 8 * i));
}

/* SQLite deletes the file that the last bytes of a journal name. */
static void names_another_file(void **state)
{
	static const unsigned char magic[] = {
		0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7,
	};
	unsigned char tail[256];
	size_t len = strlen(victim);
	uint32_t sum = 0;

	(void)state;
	make_killed();
	append(victim, "mine", 4);
	put_big_endian(tail, 0x40000000 / 4096 + 1);
	memcpy(tail + 4, victim, len);
	for (size_t i = 0; i < len; i++)
		sum += (unsigned char)victim[i];
	put_big_endian(tail + 4 + len, (uint32_t)len);
	put_big_endian(tail + 8 + len, sum);
	memcpy(tail + 12 + len, magic, sizeof(magic));
	append(journal, tail, 12 + len + sizeof(magic));
	assert_int_equal(samples_unchanged(), -1);
	assert_non_null(strstr(store_error(NULL), "names another file"));
	assert_int_equal(access(victim, F_OK), 0);
}

static void journal_is_a_link(void **state)
{
	(void)state;
	make_killed();
	assert_int_equal(rename(journal, victim), 0);
	assert_int_equal(symlink(victim, journal), 0);
	assert_int_equal(samples_unchanged(), -1);
	assert_non_null(strstr(store_error(NULL), "cannot be read"));
}

/* A journal whose header wants a file of 256 TiB. */
static void journal_wants_a_long_file(void **state)
{
	unsigned char pages[4] = { 0xff, 0xff, 0xff, 0xf0 };
	int fd;

	(void)state;
	make_killed();
	fd = open(journal, O_WRONLY);
	assert_int_equal(pwrite(fd, pages, 4, 16), 4);
	close(fd);
	assert_int_equal(samples_unchanged(), -1);
	assert_non_null(strstr(store_error(NULL), "damaged"));
}

/* A killed recorder's journal is something else: what is said, and what is read all the same. */
static void other_journals(void **state)
{
	static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
	static const struct {
		const char *bytes;	/* NULL for a directory */
		size_t size;
		const char *temporary;	/* NULL for the one of all tests */
		int err;
		const char *words;
	} cases[] = {
		{ magic, 7, NULL, 0, NULL }, { "\0\0\0\0\0\0\0\0\0\0", 10, NULL, 0, NULL }, { "", 0, NULL, 0, NULL },
		{ magic, 8, NULL, 0, NULL }, { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 30, NULL, 0, NULL },
		{ NULL, 0, NULL, -EINVAL, "its recorder was killed, and the journal beside it cannot be read: Invalid argument" },
		{ magic, 8, "/nowhere", -ENOENT, "undone on a copy in /nowhere/raidctl-" }, { magic, 8, "", 0, NULL },
	};
	char long_name[PATH_MAX - sizeof("/raidctl-XXXXXX") + 2] = "";
	char *bytes, *after;
	size_t size, after_size;

	(void)state;
	memset(long_name, '/', sizeof(long_name) - 1); /* one too long */
	make();
	bytes = bytes_of(path, &size);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct store *store = NULL;
		int err;

		if (cases[i].bytes)
			append(journal, cases[i].bytes, cases[i].size);
		else
			assert_int_equal(mkdir(journal, 0700), 0);
		setenv("TMPDIR", cases[i].temporary ? cases[i].temporary : temporary, 1);
		err = store_open(path, &store);
		if (err != cases[i].err || (err && !strstr(store_error(NULL), cases[i].words)))
			fail_msg("case %zu: %d %s", i, err, store_error(NULL));
		if (!err)
			assert_int_equal(number(store, "SELECT count(*) FROM sample"), BEFORE);
		store_close(store);
		after = bytes_of(path, &after_size);
		assert_int_equal(after_size, size);
		assert_memory_equal(after, bytes, size);
		free(after);
		remove(journal);
	}
	append(journal, magic, 8);
	setenv("TMPDIR", long_name, 1);
	assert_int_equal(store_open(path, NULL), -ENAMETOOLONG);
	assert_string_equal(store_error(NULL), "TMPDIR: File name too long");
	setenv("TMPDIR", temporary, 1);
	free(bytes);
}

/* Refused; the file gets descriptor 0, and does not keep it. */
static int refused_and_closed(struct store **ret)
{
	int err;

	close(STDIN_FILENO); /* SQLite fills it now and then */
	err = store_open(path, ret);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	return err;
}

/* Each byte of the header that is asked for, and a file cut at each place of it. */
static void other_headers(void **state)
{
	static const struct {
		off_t at;
		const char *bytes;
		int err;
		const char *words;
	} cases[] = {
		{ 0, "x", -EINVAL, "not a recording; name a file" }, { 15, "x", -EINVAL, "not a recording" },
		{ 68, "X", -EINVAL, "not a recording" }, { 71, "X", -EINVAL, "not a recording" },
		{ 60, "\1", -EPROTO, "a recording of version 16777218, this" }, { 18, "\2", -EINVAL, "a WAL; turn it back" },
		{ 19, "\2", -EINVAL, "a WAL; turn it back" }, { 63, "\3", -EPROTO, "a recording of version 3, this" },
	};
	static const struct {
		off_t size;
		const char *words;
	} cuts[] = { { 0, "an empty file" }, { 1, "not a recording" }, { 99, "not a recording" }, { 100, "damaged or cut short" },
		     { 511, "damaged or cut short" }, { 4096, "damaged or cut short" } };
	struct store *store;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd, err;

		make();
		fd = open(path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(pwrite(fd, cases[i].bytes, 1, cases[i].at), 1);
		close(fd);
		err = refused_and_closed(&store);
		if (err != cases[i].err || !strstr(store_error(NULL), cases[i].words))
			fail_msg("header %zu: %d %s", i, err, store_error(NULL));
		unlink(path);
	}
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		int err;

		make();
		assert_int_equal(truncate(path, cuts[i].size), 0);
		err = cuts[i].size < 100 ? refused_and_closed(&store) : store_open(path, &store);
		if (err != -EINVAL || !strstr(store_error(NULL), cuts[i].words))
			fail_msg("cut at %d: %d %s", (int)cuts[i].size, err, store_error(NULL));
		unlink(path);
	}
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(store_open(path, &store), -ELOOP);
	assert_string_equal(store_error(NULL), "Too many levels of symbolic links; name a file that raidctl record made");
}

static void being_written(void **state)
{
	struct store *writer, *store;

	(void)state;
	assert_int_equal(store_create(path, &writer), 0);
	assert_int_equal(put_start(writer), 0);
	assert_int_equal(put_sample(writer, 1), 0);
	assert_int_equal(store_begin(writer), 0);
	assert_int_equal(store_put_meta(writer, "a", "b"), 0);
	assert_int_equal(store_open(path, &store), 0);
	/* What is read stays, and the writer does not wait for it. */
	assert_int_equal(store_commit(writer), 0);
	assert_int_equal(put_sample(writer, 2), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='a'"), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 1);
	store_close(store);
	assert_int_equal(store_open(path, &store), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 2);
	store_close(store);
	store_close(writer);
}

/* Another process that has a lock of SQLite on the file for a fifth of a second; the descriptor is readable when it has. */
static pid_t locked_by_another(const char *sql, int *ready)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		sqlite3 *db;

		if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, NULL) || write(ends[1], "r", 1) != 1)
			_exit(1);
		usleep(200000);
		_exit(0);
	}
	close(ends[1]);
	*ready = ends[0];
	assert_int_equal(read(*ready, &byte, 1), 1);
	return pid;
}

/* Who stores a sample waits until others have read, and who opens a recording until others have written. */
static void waits_for_others(void **state)
{
	struct store *writer, *store;
	int ready, status;
	pid_t pid;

	(void)state;
	assert_int_equal(store_create(path, &writer), 0);
	assert_int_equal(put_start(writer), 0);
	for (int i = 0; i < 2; i++) {
		pid = locked_by_another(i ? "BEGIN EXCLUSIVE" : "BEGIN; SELECT count(*) FROM meta", &ready);
		if (i) {
			assert_int_equal(store_open(path, &store), 0);
			assert_int_equal(number(store, "SELECT count(*) FROM sample"), 1);
			store_close(store);
		} else {
			assert_int_equal(put_sample(writer, 1), 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		close(ready);
	}
	store_close(writer);
}

static bool hurried;

/* What waits for a lock does so in no time when that is asked for. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	return hurried ? 0 : clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

/* Who opens a recording does not wait for ever. */
static void stays_locked(void **state)
{
	struct store *store;
	sqlite3 *db;

	(void)state;
	make();
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	hurried = true;
	assert_int_equal(store_open(path, &store), -EBUSY);
	hurried = false;
	assert_string_equal(store_error(NULL), "another process keeps it locked");
	sqlite3_close(db);
}

static void sql_on_file(const char *sql)
{
	char *error = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_close(db);
}

static void refused_schema(void **state)
{
	static const char *const hostile[] = {
		"DROP TABLE host; CREATE VIEW host AS WITH RECURSIVE r(start_ns) AS"
		" (SELECT 1 UNION ALL SELECT start_ns + 1 FROM r) SELECT * FROM r",
		"DROP VIEW bin; CREATE VIEW bin AS SELECT 1 AS sample, 2 AS direction",
		"CREATE VIEW more AS SELECT 1",
		"CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM sample; END",
		"CREATE TABLE t (a, b AS (hex(zeroblob(1000000000))))",
		"CREATE TABLE t (a, b INTEGER GENERATED ALWAYS AS (a + 1) STORED)",
		"CREATE TABLE t (a CHECK (a != hex(zeroblob(100))))",
		"CREATE TABLE t (a DEFAULT (random()))",
		"CREATE TABLE t (a DEFAULT 5)",
		"CREATE TABLE t (a TEXT COLLATE NOCASE)",
		"CREATE INDEX i ON note (text COLLATE NOCASE)",
		"CREATE INDEX i ON note (abs(time_ns))",
		"CREATE INDEX i ON note (time_ns) WHERE time_ns > 5",
		"CREATE VIRTUAL TABLE t USING fts5(a)",
		"ANALYZE",
	};
	static const char *const taken[] = {
		"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, UNIQUE (a, b))",
		"ALTER TABLE note ADD COLUMN more INTEGER",
		"CREATE INDEX i ON note (time_ns, text)",
	};
	struct store *store;

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		make();
		sql_on_file(hostile[i]);
		if (store_open(path, &store) != -EPERM)
			fail_msg("taken: %s", hostile[i]);
		assert_non_null(strstr(store_error(NULL), "than what raidctl makes"));
		unlink(path);
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		make();
		sql_on_file(taken[i]);
		if (store_open(path, &store))
			fail_msg("refused: %s", taken[i]);
		store_close(store);
		unlink(path);
	}
}

/* A log that somebody put there is not read, nor is one made. */
static void write_ahead_log(void **state)
{
	struct store *store;

	(void)state;
	make();
	append(wal, "junk", 4);
	assert_int_equal(store_open(path, &store), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), BEFORE);
	store_close(store);
	unlink(wal);
	sql_on_file("PRAGMA journal_mode=WAL");
	assert_int_equal(store_open(path, &store), -EINVAL);
	assert_non_null(strstr(store_error(NULL), "WAL"));
	assert_int_equal(access(wal, F_OK), -1);
}

static int make_places(void **state)
{
	int err = make_directory(state);

	snprintf(victim, sizeof(victim), "%s/victim", directory);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	snprintf(temporary, sizeof(temporary), "%s/tmp", directory);
	setenv("TMPDIR", temporary, 1);
	return err ? err : mkdir(temporary, 0700);
}

static int remove_places(void **state)
{
	rmdir(temporary);
	return remove_directory(state);
}

static int remove_files(void **state)
{
	unlink(victim);
	unlink(wal);
	return remove_file(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(killed_is_read, remove_files),
		cmocka_unit_test_teardown(names_another_file, remove_files),
		cmocka_unit_test_teardown(journal_is_a_link, remove_files),
		cmocka_unit_test_teardown(journal_wants_a_long_file, remove_files),
		cmocka_unit_test_teardown(other_journals, remove_files),
		cmocka_unit_test_teardown(other_headers, remove_files),
		cmocka_unit_test_teardown(being_written, remove_files),
		cmocka_unit_test_teardown(waits_for_others, remove_files),
		cmocka_unit_test_teardown(stays_locked, remove_files),
		cmocka_unit_test_teardown(refused_schema, remove_files),
		cmocka_unit_test_teardown(write_ahead_log, remove_files),
	};

	return cmocka_run_group_tests_name("store_open", tests, make_places,
					   remove_places);
}
