// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: reading them back. */

#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *store_get_meta(struct store *store, const char *key)
{
	sqlite3_stmt *stmt;
	char *value = NULL;

	if (sqlite3_prepare_v2(store->db, "SELECT value FROM meta WHERE key=?",
			       -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	store_bind_text(stmt, 1, key);
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
		value = strdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return value;
}

/* A number that cannot be made a text for want of memory becomes NULL: it is asked before whether it was. */
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
		if (!err)
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

int store_each_of_part(struct store *store, const char *sql,
		       const struct store_part *part,
		       int (*row)(sqlite3_stmt *, struct rt_counters *),
		       struct rt_counters *ret)
{
	sqlite3_stmt *stmt;
	int code, err = 0;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, part->phase);
	sqlite3_bind_int64(stmt, 2, part->target);
	sqlite3_bind_int64(stmt, 3, part->first);
	sqlite3_bind_int64(stmt, 4, part->last);
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

static int take_packed(sqlite3_stmt *stmt, struct rt_counters *ret)
{
	const char *text = (const char *)sqlite3_column_text(stmt, 0);

	return text ? packed_add(text, ret) : -ENOMEM;
}

#define FLOW_SUM(member, attribute, ...) ",sum(" #member ")"

int store_sum(struct store *store, uint32_t phase, uint32_t target,
	      struct rt_counters *ret)
{
	return store_sum_part(store, &(struct store_part){ phase, target, 0, INT64_MAX },
			      ret);
}

int store_sum_part(struct store *store, const struct store_part *part,
		   struct rt_counters *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = store_each_of_part(store,
				 "SELECT min(start_ns), max(end_ns) FROM sample"
				 STORE_WHERE_PART, part, take_bounds, ret);
	/* With max(sample) SQLite takes the bare columns from that row. */
	if (!err)
		err = store_each_of_part(store,
					 "SELECT direction" RT_FLOW_COUNTERS(FLOW_SUM)
					 ",in_flight,in_flight_max,max(sample)"
					 " FROM sample JOIN flow USING(sample)"
					 STORE_WHERE_PART " GROUP BY direction",
					 part, take_flow, ret);
	if (!err)
		err = store_each_of_part(store,
					 "SELECT histograms FROM sample" STORE_WHERE_PART
					 " AND histograms IS NOT NULL",
					 part, take_packed, ret);
	/* Before there was that column they were rows of a table. */
	if (!err)
		err = store_each_of_part(store,
					 "SELECT direction,kind,bin,sum(count)"
					 " FROM sample JOIN bin USING(sample)"
					 STORE_WHERE_PART " AND histograms IS NULL"
					 " GROUP BY direction,kind,bin",
					 part, take_bin, ret);
	if (!err)
		err = store_sum_groups(store, part, ret);
	if (err == -EINVAL)
		snprintf(store->error, sizeof(store->error),
			 "the file is damaged or cut short");
	if (err)
		rt_counters_free(ret);
	return err;
}
