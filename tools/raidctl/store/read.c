// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: sums of what was written. */

#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* SQLite returns NULL if it lacks memory to convert a number: check the type first. */
static int texts_of(sqlite3_stmt *stmt, int columns, const char **values)
{
	for (int i = 0; i < columns; i++) {
		bool null = sqlite3_column_type(stmt, i) == SQLITE_NULL;

		values[i] = (const char *)sqlite3_column_text(stmt, i);
		if (!values[i] && !null)
			return -ENOMEM;
	}
	return 0;
}

int store_each_row(struct store *store, const char *sql,
		   int (*row)(void *, int, const char *const *), void *data)
{
	const char *values[STORE_COLUMNS];
	sqlite3_stmt *stmt;
	int columns, code, err = 0;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return store_failed(store);
	columns = sqlite3_column_count(stmt);
	if (columns > STORE_COLUMNS)
		columns = STORE_COLUMNS;
	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		err = texts_of(stmt, columns, values);
		if (!err && row)
			err = row(data, columns, values);
		if (err == -ENOMEM)
			snprintf(store->error, sizeof(store->error), "%s",
				 strerror(ENOMEM));
	}
	if (!err && code != SQLITE_DONE)
		err = store_failed(store);
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

#define WHERE_PART " WHERE phase=?1 AND target=?2"

/* Run a query with the parameters phase and target, row by row. */
static int each_of_part(struct store *store, const char *sql, uint32_t phase, uint32_t target,
			int (*row)(sqlite3_stmt *, struct rt_counters *),
			struct rt_counters *ret)
{
	sqlite3_stmt *stmt;
	int code, err = 0;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, phase);
	sqlite3_bind_int64(stmt, 2, target);
	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		err = row(stmt, ret);
	if (!err && code != SQLITE_DONE)
		err = store_failed(store);
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
	uint64_t unknown = 0;
	int column = 0;

	if (d < 0)
		return -EINVAL;
	flow = &ret->flow[d];
#define X(member, attribute, ...)					\
	flow->member = (uint64_t)sqlite3_column_int64(stmt, ++column);	\
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)		\
		unknown |= RT_COUNTER_BIT(attribute);
	RT_FLOW_COUNTERS(X)
#undef X
	if (d > RAIDTRACE_DIRECTION_WRITE)
		unknown &= ~RT_COUNTER_BIT(DEPTH_SUM_NS);
	if (d != RAIDTRACE_DIRECTION_ALL)
		ret->unknown |= unknown;
	flow->in_flight = (uint32_t)sqlite3_column_int64(stmt, ++column);
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		ret->unknown |= RT_COUNTER_BIT(IN_FLIGHT);
	flow->in_flight_max = (uint32_t)sqlite3_column_int64(stmt, ++column);
	return 0;
}

static int take_packed(sqlite3_stmt *stmt, struct rt_counters *ret)
{
	const char *text = (const char *)sqlite3_column_text(stmt, 0);

	return text ? packed_add(text, ret) : -ENOMEM;
}

#define FLOW_SUM(member, attribute, ...) ",sum(" #member ")"

int store_sum(struct store *store, uint32_t phase, uint32_t target,
	      struct rt_counters *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = each_of_part(store,
			   "SELECT min(start_ns), max(end_ns) FROM sample"
			   WHERE_PART, phase, target, take_bounds, ret);
	/* With max(sample) SQLite takes the bare columns from that row. */
	if (!err)
		err = each_of_part(store,
				   "SELECT direction" RT_FLOW_COUNTERS(FLOW_SUM)
				   ",in_flight,in_flight_max,max(sample)"
				   " FROM sample JOIN flow USING(sample)"
				   WHERE_PART " GROUP BY direction",
				   phase, target, take_flow, ret);
	if (!err)
		err = each_of_part(store,
				   "SELECT histograms FROM sample" WHERE_PART,
				   phase, target, take_packed, ret);
	ret->id = target;
	if (err)
		rt_counters_free(ret);
	return err;
}

#define SUM_OF(member, attribute, ...) ",sum(" #member ")"

/* SQLite itself refuses a sum that it cannot hold. */
int store_sums_fit(struct store *store)
{
	static const char *const queries[] = {
		"SELECT 0" RT_DISK_COUNTERS(SUM_OF) " FROM sample GROUP BY target, phase",
		"SELECT 0" RT_FLOW_COUNTERS(SUM_OF)
		" FROM flow JOIN sample USING(sample) GROUP BY target, phase, direction",
		"SELECT 0" RT_ORIGIN_COUNTERS(SUM_OF)
		" FROM origin JOIN sample USING(sample) GROUP BY target, phase, class",
		"SELECT 0" RT_SUBMITTER_COUNTERS(SUM_OF)
		" FROM submitter JOIN sample USING(sample) GROUP BY target, phase, submitter",
		"SELECT 0" RT_HWQ_COUNTERS(SUM_OF)
		" FROM hwq JOIN sample USING(sample) GROUP BY target, phase, hwq",
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]) && !err; i++)
		err = store_each_row(store, queries[i], NULL, NULL);
	return err;
}
