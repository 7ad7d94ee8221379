// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings; the only file that knows SQLite. */

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* schema.sql as a string, made by the Makefile. */
extern const char store_schema[];

enum statement {
	PUT_META,
	PUT_TARGET,
	PUT_SETTING,
	BEGIN_PHASE,
	END_PHASE,
	PUT_SAMPLE,
	PUT_FLOW,
	PUT_BIN,
	PUT_OUTPUT,
	NR_STATEMENTS
};

#define FLOW_PLACE(member, attribute) ",?"

static const char *const statement_sql[NR_STATEMENTS] = {
	[PUT_META] = "INSERT OR REPLACE INTO meta VALUES(?,?)",
	[PUT_TARGET] = "INSERT INTO target VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[PUT_SETTING] = "INSERT INTO setting VALUES(?,?,?,?)",
	[BEGIN_PHASE] = "INSERT INTO phase VALUES(?,?,?,NULL)",
	[END_PHASE] = "UPDATE phase SET end_ns=? WHERE phase=?",
	[PUT_SAMPLE] = "INSERT INTO sample VALUES(NULL,?,?,?,?)",
	[PUT_FLOW] = "INSERT INTO flow VALUES(?,?"
		     RT_FLOW_COUNTERS(FLOW_PLACE) ",?,?)",
	[PUT_BIN] = "INSERT INTO bin VALUES(?,?,?,?,?)",
	[PUT_OUTPUT] = "INSERT INTO output VALUES(?,?,?)",
};

/**
 * struct store - one open recording
 * @db: SQLite's handle
 * @statements: prepared on first use
 * @writing: made by store_create()
 * @error: words of the last failure
 */
struct store {
	sqlite3 *db;
	sqlite3_stmt *statements[NR_STATEMENTS];
	bool writing;
	char error[256];
};

/* For failures before there is a struct store. */
static char open_error[256];

const char *store_error(const struct store *store)
{
	return store ? store->error : open_error;
}

/* What SQLite says, in this project's words where they help. */
static int failed(struct store *store)
{
	int code = sqlite3_extended_errcode(store->db);
	int err = sqlite3_system_errno(store->db);
	const char *words = sqlite3_errmsg(store->db);

	switch (code & 0xff) {
	case SQLITE_FULL:
		err = ENOSPC;
		words = "no space left where it is written";
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

static int execute(struct store *store, const char *sql)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return failed(store);
}

static int open_db(const char *path, int flags, struct store **ret)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK) {
		int err = failed(store);

		snprintf(open_error, sizeof(open_error), "%s", store->error);
		store_close(store);
		return err;
	}
	sqlite3_busy_timeout(store->db, 10000);
	*ret = store;
	return 0;
}

int store_create(const char *path, struct store **ret)
{
	int err, fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	char sql[96];

	if (fd < 0) {
		snprintf(open_error, sizeof(open_error), "%s",
			 strerror(errno));
		return -errno;
	}
	close(fd);
	err = open_db(path, SQLITE_OPEN_READWRITE, ret);
	if (err)
		goto unlink;
	snprintf(sql, sizeof(sql),
		 "PRAGMA application_id=%d; PRAGMA user_version=%d;",
		 STORE_APPLICATION_ID, STORE_VERSION);
	err = execute(*ret, "PRAGMA journal_mode=TRUNCATE;"
			    "PRAGMA synchronous=NORMAL; BEGIN;");
	if (!err)
		err = execute(*ret, sql);
	if (!err)
		err = execute(*ret, store_schema);
	if (!err)
		err = execute(*ret, "COMMIT");
	if (!err) {
		(*ret)->writing = true;
		return 0;
	}
	snprintf(open_error, sizeof(open_error), "%s", (*ret)->error);
	store_close(*ret);
unlink:
	unlink(path);
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
static int check_header(const char *path)
{
	static const char magic[] = "SQLite format 3";
	unsigned char header[100] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint32_t version;
	struct stat st;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st)) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		snprintf(open_error, sizeof(open_error), "%s; name a file that raidctl record made",
			 strerror(err));
		return -err;
	}
	len = S_ISREG(st.st_mode) ? read(fd, header, sizeof(header)) : 0;
	close(fd);
	if (len != sizeof(header) || memcmp(header, magic, sizeof(magic)) ||
	    big_endian(header + 68) != STORE_APPLICATION_ID) {
		snprintf(open_error, sizeof(open_error),
			 "not a recording; name a file that raidctl record made");
		return -EINVAL;
	}
	version = big_endian(header + 60);
	if (version == STORE_VERSION)
		return 0;
	snprintf(open_error, sizeof(open_error),
		 "a recording of version %" PRIu32
		 ", this raidctl reads version %d; use the raidctl that made it",
		 version, STORE_VERSION);
	return -EPROTO;
}

static int first_is_ok(void *data, int columns, const char *const *values)
{
	(void)columns;
	*(bool *)data = values[0] && !strcmp(values[0], "ok");
	return 1;
}

/* Reading needs every page anyway; a wrong number must not come out of it. */
static int check_pages(struct store *store)
{
	bool ok = false;
	int err = store_each_row(store, "PRAGMA quick_check(1)", first_is_ok,
				 &ok);

	if (err < 0 && err != -EINVAL)
		return err;
	if (ok)
		return 0;
	snprintf(store->error, sizeof(store->error),
		 "the recording is damaged or cut short; what is left of it: sqlite3 FILE .recover");
	return -EINVAL;
}

int store_open(const char *path, struct store **ret)
{
	int err = check_header(path);

	if (err)
		return err;
	/*
	 * Read-write where it is allowed: a tool that was killed while it
	 * wrote leaves a journal, which the next to open it has to play back.
	 */
	err = open_db(path, SQLITE_OPEN_READWRITE, ret);
	if (err)
		return err;
	err = check_pages(*ret);
	if (err) {
		snprintf(open_error, sizeof(open_error), "%s", (*ret)->error);
		store_close(*ret);
	}
	return err;
}

int store_close(struct store *store)
{
	if (!store)
		return 0;
	for (int i = 0; i < NR_STATEMENTS; i++)
		sqlite3_finalize(store->statements[i]);
	/* An empty journal would stay beside the file. */
	if (store->writing)
		sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL,
			     NULL, NULL);
	sqlite3_close(store->db);
	free(store);
	return 0;
}

int store_begin(struct store *store)
{
	return execute(store, "BEGIN IMMEDIATE");
}

int store_commit(struct store *store)
{
	int err = execute(store, "COMMIT");

	if (err)
		store_rollback(store);
	return err;
}

void store_rollback(struct store *store)
{
	/* SQLite may have rolled back already; the words are those before. */
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

static sqlite3_stmt *prepared(struct store *store, enum statement which)
{
	sqlite3_stmt **stmt = &store->statements[which];

	if (!*stmt &&
	    sqlite3_prepare_v3(store->db, statement_sql[which], -1,
			       SQLITE_PREPARE_PERSISTENT, stmt,
			       NULL) != SQLITE_OK)
		return NULL;
	return *stmt;
}

static int run(struct store *store, sqlite3_stmt *stmt)
{
	int err = 0;

	if (sqlite3_step(stmt) != SQLITE_DONE)
		err = failed(store);
	sqlite3_reset(stmt);
	return err;
}

static void bind_text(sqlite3_stmt *stmt, int place, const char *text)
{
	sqlite3_bind_text(stmt, place, text, -1, SQLITE_TRANSIENT);
}

int store_put_meta(struct store *store, const char *key, const char *value)
{
	sqlite3_stmt *stmt = prepared(store, PUT_META);

	if (!stmt)
		return failed(store);
	bind_text(stmt, 1, key);
	bind_text(stmt, 2, value);
	return run(store, stmt);
}

int store_put_target(struct store *store, uint32_t number,
		     const struct rt_target *t)
{
	sqlite3_stmt *stmt = prepared(store, PUT_TARGET);

	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, number);
	bind_text(stmt, 2, t->disk);
	bind_text(stmt, 3, t->driver);
	bind_text(stmt, 4, t->pci);
	bind_text(stmt, 5, t->hctl);
	sqlite3_bind_int(stmt, 6, t->unit_3ware);
	sqlite3_bind_int(stmt, 7, t->bio_based);
	sqlite3_bind_int(stmt, 8, t->rotational);
	sqlite3_bind_int64(stmt, 9, (sqlite3_int64)t->capacity_sectors);
	sqlite3_bind_int64(stmt, 10, t->max_sectors);
	sqlite3_bind_int64(stmt, 11, t->max_hw_sectors);
	sqlite3_bind_int64(stmt, 12, t->max_segments);
	sqlite3_bind_int64(stmt, 13, t->nr_requests);
	sqlite3_bind_int64(stmt, 14, t->nr_hw_queues);
	sqlite3_bind_int64(stmt, 15, t->nr_tags);
	sqlite3_bind_int64(stmt, 16, (sqlite3_int64)t->attached_ns);
	for (int place = 3; t->name_only && place < 16; place++)
		sqlite3_bind_null(stmt, place);
	return run(store, stmt);
}

int store_put_setting(struct store *store, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value)
{
	sqlite3_stmt *stmt = prepared(store, PUT_SETTING);

	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)time_ns);
	sqlite3_bind_int64(stmt, 2, target);
	bind_text(stmt, 3, name);
	bind_text(stmt, 4, value);
	return run(store, stmt);
}

int store_begin_phase(struct store *store, uint32_t phase, const char *name,
		      uint64_t start_ns)
{
	sqlite3_stmt *stmt = prepared(store, BEGIN_PHASE);

	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, phase);
	bind_text(stmt, 2, name);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)start_ns);
	return run(store, stmt);
}

int store_end_phase(struct store *store, uint32_t phase, uint64_t end_ns)
{
	sqlite3_stmt *stmt = prepared(store, END_PHASE);

	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)end_ns);
	sqlite3_bind_int64(stmt, 2, phase);
	return run(store, stmt);
}

static bool flow_is_zero(const struct rt_flow *flow)
{
	uint64_t any = flow->in_flight | flow->in_flight_max;

#define X(member, attribute) any |= flow->member;
	RT_FLOW_COUNTERS(X)
#undef X
	return !any;
}

static void bind_known(sqlite3_stmt *stmt, int place, uint64_t unknown,
		       uint64_t value)
{
	if (unknown)
		sqlite3_bind_null(stmt, place);
	else
		sqlite3_bind_int64(stmt, place, (sqlite3_int64)value);
}

static int put_flow(struct store *store, sqlite3_int64 sample,
		    unsigned int direction, const struct rt_flow *flow,
		    uint64_t unknown)
{
	uint64_t no_depth = unknown & RT_COUNTER_BIT(IN_FLIGHT);
	sqlite3_stmt *stmt = prepared(store, PUT_FLOW);
	int place = 0;

	if (flow_is_zero(flow))
		return 0;
	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, ++place, sample);
	bind_text(stmt, ++place, rt_direction_name(direction));
#define X(member, attribute)						\
	bind_known(stmt, ++place, unknown & RT_COUNTER_BIT(attribute),	\
		   flow->member);
	RT_FLOW_COUNTERS(X)
#undef X
	bind_known(stmt, ++place, no_depth, flow->in_flight);
	bind_known(stmt, ++place, no_depth, flow->in_flight_max);
	return run(store, stmt);
}

static int put_bins(struct store *store, sqlite3_int64 sample,
		    unsigned int direction, unsigned int kind,
		    const struct rt_histogram *histogram)
{
	sqlite3_stmt *stmt = prepared(store, PUT_BIN);
	int err = 0;

	if (!stmt)
		return failed(store);
	for (unsigned int i = 0; i < histogram->nr_bins && !err; i++) {
		if (!histogram->counts[i])
			continue;
		sqlite3_bind_int64(stmt, 1, sample);
		bind_text(stmt, 2, rt_direction_name(direction));
		bind_text(stmt, 3, rt_kind_name(kind));
		sqlite3_bind_int64(stmt, 4, histogram->first_bin + i);
		sqlite3_bind_int64(stmt, 5,
				   (sqlite3_int64)histogram->counts[i]);
		err = run(store, stmt);
	}
	return err;
}

int store_put_sample(struct store *store, uint32_t target, uint32_t phase,
		     const struct rt_counters *span)
{
	sqlite3_stmt *stmt = prepared(store, PUT_SAMPLE);
	sqlite3_int64 sample;
	int err;

	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, target);
	sqlite3_bind_int64(stmt, 2, phase);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)span->since_ns);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)span->now_ns);
	err = run(store, stmt);
	sample = sqlite3_last_insert_rowid(store->db);
	for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++) {
		err = put_flow(store, sample, d, &span->flow[d],
			       span->unknown);
		for (unsigned int k = 0; k < RT_KINDS && !err; k++)
			err = put_bins(store, sample, d, k,
				       &span->histogram[d][k]);
	}
	return err;
}

#define OF_TARGET " WHERE sample IN (SELECT sample FROM sample WHERE target=%u)"

/* Drop bins of two kinds when a counter that they belong to is unknown. */
static int forget_bins(struct store *store, uint32_t target, unsigned int kind,
		       unsigned int other)
{
	char sql[192];

	snprintf(sql, sizeof(sql), "DELETE FROM bin" OF_TARGET
		 " AND kind IN ('%s','%s')", target, rt_kind_name(kind),
		 rt_kind_name(other));
	return execute(store, sql);
}

static int forget_column(struct store *store, uint32_t target,
			 const char *column)
{
	char sql[192];

	snprintf(sql, sizeof(sql), "UPDATE flow SET %s=NULL" OF_TARGET, column,
		 target);
	return execute(store, sql);
}

int store_forget(struct store *store, uint32_t target, uint64_t unknown)
{
	int err = 0;

#define X(member, attribute)						\
	if (!err && (unknown & RT_COUNTER_BIT(attribute)))		\
		err = forget_column(store, target, #member);
	RT_FLOW_COUNTERS(X)
#undef X
	if (!err && (unknown & RT_COUNTER_BIT(IN_FLIGHT)))
		err = forget_column(store, target,
				    "in_flight=NULL, in_flight_max");
	if (!err && (unknown & RT_COUNTER_BIT(IN_FLIGHT)))
		err = forget_bins(store, target,
				  RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME,
				  RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE);
	if (!err && (unknown & RT_COUNTER_BIT(ISSUED)))
		err = forget_bins(store, target, RAIDTRACE_HISTOGRAM_KIND_SIZE,
				  RAIDTRACE_HISTOGRAM_KIND_SEEK);
	if (!err && (unknown & RT_COUNTER_BIT(D2C_SUM_NS)))
		err = forget_bins(store, target, RAIDTRACE_HISTOGRAM_KIND_D2C,
				  RAIDTRACE_HISTOGRAM_KIND_D2C);
	return err;
}

int store_put_output(struct store *store, uint64_t time_ns, const char *stream,
		     const char *text, size_t len)
{
	sqlite3_stmt *stmt = prepared(store, PUT_OUTPUT);

	if (!stmt)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)time_ns);
	bind_text(stmt, 2, stream);
	sqlite3_bind_text(stmt, 3, text, (int)len, SQLITE_TRANSIENT);
	return run(store, stmt);
}

char *store_get_meta(struct store *store, const char *key)
{
	sqlite3_stmt *stmt;
	char *value = NULL;

	if (sqlite3_prepare_v2(store->db, "SELECT value FROM meta WHERE key=?",
			       -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	bind_text(stmt, 1, key);
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
		value = strdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return value;
}

int store_each_row(struct store *store, const char *sql,
		   int (*row)(void *, int, const char *const *), void *data)
{
	const char *values[64];
	sqlite3_stmt *stmt;
	int columns, code, err = 0;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return failed(store);
	columns = sqlite3_column_count(stmt);
	if (columns > 64)
		columns = 64;
	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++)
			values[i] = (const char *)sqlite3_column_text(stmt, i);
		err = row(data, columns, values);
	}
	if (!err && code != SQLITE_DONE)
		err = failed(store);
	sqlite3_finalize(stmt);
	return err;
}

static int name_index(const char *text, const char *(*name)(unsigned int))
{
	for (int i = 0; text && name((unsigned int)i); i++)
		if (!strcmp(text, name((unsigned int)i)))
			return i;
	return -1;
}

/* Run a query whose parameters are a phase and a target, row by row. */
static int each_of_span(struct store *store, const char *sql, uint32_t phase,
			uint32_t target,
			int (*row)(sqlite3_stmt *, struct rt_counters *),
			struct rt_counters *ret)
{
	sqlite3_stmt *stmt;
	int code, err = 0;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return failed(store);
	sqlite3_bind_int64(stmt, 1, phase);
	sqlite3_bind_int64(stmt, 2, target);
	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		err = row(stmt, ret);
	if (!err && code != SQLITE_DONE)
		err = failed(store);
	sqlite3_finalize(stmt);
	return err;
}

static int take_bounds(sqlite3_stmt *stmt, struct rt_counters *ret)
{
	ret->since_ns = (uint64_t)sqlite3_column_int64(stmt, 0);
	ret->now_ns = (uint64_t)sqlite3_column_int64(stmt, 1);
	return 0;
}

static int take_flow(sqlite3_stmt *stmt, struct rt_counters *ret)
{
	int d = name_index((const char *)sqlite3_column_text(stmt, 0),
			   rt_direction_name);
	struct rt_flow *flow;
	int column = 0;

	if (d < 0)
		return -EINVAL;
	flow = &ret->flow[d];
#define X(member, attribute)						\
	flow->member = (uint64_t)sqlite3_column_int64(stmt, ++column);	\
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)		\
		ret->unknown |= RT_COUNTER_BIT(attribute);
	RT_FLOW_COUNTERS(X)
#undef X
	flow->in_flight = (uint32_t)sqlite3_column_int64(stmt, ++column);
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		ret->unknown |= RT_COUNTER_BIT(IN_FLIGHT);
	flow->in_flight_max = (uint32_t)sqlite3_column_int64(stmt, ++column);
	return 0;
}

static int take_bin(sqlite3_stmt *stmt, struct rt_counters *ret)
{
	int d = name_index((const char *)sqlite3_column_text(stmt, 0),
			   rt_direction_name);
	int k = name_index((const char *)sqlite3_column_text(stmt, 1),
			   rt_kind_name);
	int64_t bin = sqlite3_column_int64(stmt, 2);

	/* A bin number from a damaged file must not become an allocation. */
	if (d < 0 || k < 0 || bin < 0 || bin > 65535)
		return -EINVAL;
	return rt_histogram_count(&ret->histogram[d][k], (unsigned int)bin,
				  (uint64_t)sqlite3_column_int64(stmt, 3));
}

#define WHERE_SPAN " WHERE phase=? AND target=?"
#define FLOW_SUM(member, attribute) ",sum(" #member ")"

int store_sum(struct store *store, uint32_t phase, uint32_t target,
	      struct rt_counters *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = each_of_span(store,
			   "SELECT min(start_ns), max(end_ns) FROM sample"
			   WHERE_SPAN, phase, target, take_bounds, ret);
	/* With max(sample) SQLite takes the bare columns from that row. */
	if (!err)
		err = each_of_span(store,
				   "SELECT direction" RT_FLOW_COUNTERS(FLOW_SUM)
				   ",in_flight,in_flight_max,max(sample)"
				   " FROM sample JOIN flow USING(sample)"
				   WHERE_SPAN " GROUP BY direction",
				   phase, target, take_flow, ret);
	if (!err)
		err = each_of_span(store,
				   "SELECT direction,kind,bin,sum(count)"
				   " FROM sample JOIN bin USING(sample)"
				   WHERE_SPAN " GROUP BY direction,kind,bin",
				   phase, target, take_bin, ret);
	if (err == -EINVAL)
		snprintf(store->error, sizeof(store->error),
			 "the file is damaged or cut short");
	if (err)
		rt_counters_free(ret);
	return err;
}
