/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For the tests of the store: a file and its rows. */

#ifndef STORE_FILE_H
#define STORE_FILE_H

#include "unit.h"

#include "store/db.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define SIZE	RAIDTRACE_HISTOGRAM_KIND_SIZE

static char directory[] = "/tmp/raidtrace-store-XXXXXX";
static char path[64], journal[80];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a.rtdb", directory);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static inline int remove_file(void **state)
{
	(void)state;
	unlink(path);
	unlink(journal);
	return 0;
}

static inline void fill(struct rt_counters *c, uint64_t n)
{
	memset(c, 0, sizeof(*c));
	c->since_ns = n * 100;
	c->now_ns = n * 100 + 100;
	c->flow[READ].issued = n;
	c->flow[READ].d2c_sum_ns = UINT64_C(1) << 55;
	c->flow[READ].in_flight = (uint32_t)n;
	rt_histogram_count(&c->histogram[READ][SIZE], 256, n);
	rt_histogram_count(&c->histogram[READ][SIZE], 8, 1);
}

/* One transaction with a target, a phase and a sample. */
static inline int put_sample(struct store *store, uint32_t n)
{
	struct rt_counters c;
	int err;

	fill(&c, n);
	err = store_begin(store) ?: store_put_sample(store, 1, 0, &c) ?:
	      store_put_output(store_rows(store), n, "stdout", "some text", 9);
	rt_counters_free(&c);
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

static inline int put_start(struct store *store)
{
	static const struct rt_target target = { .disk = "sda", .max_sectors = 256 };
	int err = store_begin(store) ?: store_put_target(store_rows(store), 1, &target) ?:
		  store_put_setting(store_rows(store), 5, 1, "scheduler", "none") ?:
		  store_put_meta(store_rows(store), "end", "running") ?: store_begin_phase(store_rows(store), 0, "run", 0);

	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

/* The file after a crash: SQLite plays back its journal. */
static inline struct store *open_again(void)
{
	struct store *store;

	assert_int_equal(store_connect(path, &store), 0);
	return store;
}

/* The first value of a query, -1 for none and for NULL. */
static inline long number(struct store *store, const char *sql)
{
	sqlite3_stmt *stmt;
	long value = -1;

	assert_int_equal(sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		value = (long)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

#endif
