// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: samples, and taking back what turns out not to be known. */

#include "store/db.h"

#include <stdio.h>

#include "numbers/numbers.h"

#define FLOW_NAME(member, attribute, ...) "," #member
#define FLOW_PLACE(member, attribute, ...) ",?"

static const char insert_sample[] =
	"INSERT INTO sample(target,phase,start_ns,end_ns,histograms"
	STORE_DISK_NAMES ") VALUES(?,?,?,?,?" STORE_DISK_PLACES ")";
static const char insert_flow[] =
	"INSERT INTO flow(sample,direction" RT_FLOW_COUNTERS(FLOW_NAME)
	",in_flight,in_flight_max) VALUES(?,?" RT_FLOW_COUNTERS(FLOW_PLACE)
	",?,?)";
static bool flow_is_zero(const struct rt_flow *flow)
{
	uint64_t any = flow->in_flight | flow->in_flight_max;

#define X(member, attribute, ...) any |= flow->member;
	RT_FLOW_COUNTERS(X)
#undef X
	return !any;
}

static int put_flow(struct store *store, sqlite3_int64 sample,
		    unsigned int direction, const struct rt_flow *flow,
		    uint64_t unknown)
{
	uint64_t no_depth = unknown & RT_COUNTER_BIT(IN_FLIGHT);
	sqlite3_stmt *stmt = store_prepared(store, insert_flow);
	int place = 0;

	if (flow_is_zero(flow))
		return 0;
	/* Of all directions together nothing but in-flight is counted; of some it is not followed over time. */
	if (direction == RAIDTRACE_DIRECTION_ALL)
		unknown |= ~RT_COUNTER_BIT(DEPTH_SUM_NS);
	else if (direction > RAIDTRACE_DIRECTION_WRITE)
		unknown |= RT_COUNTER_BIT(DEPTH_SUM_NS);
	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, ++place, sample);
	store_bind_text(stmt, ++place, rt_direction_name(direction));
#define X(member, attribute, ...)					\
	store_bind_known(stmt, ++place, unknown & RT_COUNTER_BIT(attribute),	\
		   flow->member);
	RT_FLOW_COUNTERS(X)
#undef X
	store_bind_known(stmt, ++place, no_depth, flow->in_flight);
	store_bind_known(stmt, ++place, no_depth, flow->in_flight_max);
	return store_run(store, stmt);
}

int store_put_sample(struct store *store, uint32_t target, uint32_t phase,
		     const struct rt_counters *span)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_sample);
	sqlite3_int64 sample;
	int err = packed_put(&store->packed, span);

	if (err)
		return err;
	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, target);
	sqlite3_bind_int64(stmt, 2, phase);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)span->since_ns);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)span->now_ns);
	sqlite3_bind_text(stmt, 5, store->packed.text, (int)store->packed.len,
			  SQLITE_STATIC);
	store_bind_disk(stmt, 5, span);
	err = store_run(store, stmt);
	sample = sqlite3_last_insert_rowid(store->db);
	/*
	 * Rows in the order of their keys: SQLite then finds each place behind the one
	 * before, which takes a third of what a search does, and fills its pages.
	 */
	for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
		err = put_flow(store, sample, packed_directions[d],
			       &span->flow[packed_directions[d]], span->unknown);
	return err ? err : store_put_groups(store, sample, span);
}

#define OF_TARGET " WHERE sample IN (SELECT sample FROM sample WHERE target=%u)"

/* Drop bins of a kind when the counter that they belong to is unknown. */
static int forget_bins(struct store *store, uint32_t target, unsigned int kind)
{
	char sql[64 * (RT_DIRECTIONS + 2)];
	int used = snprintf(sql, sizeof(sql),
			    "UPDATE sample SET histograms=json_remove(histograms");

	for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used,
				 ",'$.%s.%s'", rt_direction_name(d),
				 rt_kind_name(kind));
	snprintf(sql + used, sizeof(sql) - (size_t)used, ") WHERE target=%u",
		 target);
	return store_execute(store, sql);
}

static int forget_column(struct store *store, uint32_t target,
			 const char *column)
{
	char sql[192];

	snprintf(sql, sizeof(sql), "UPDATE flow SET %s=NULL" OF_TARGET, column,
		 target);
	return store_execute(store, sql);
}

static int forget_of_sample(struct store *store, uint32_t target,
			    const char *column)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "UPDATE sample SET %s=NULL WHERE target=%u",
		 column, target);
	return store_execute(store, sql);
}

int store_forget(struct store *store, uint32_t target, uint64_t unknown,
		 uint32_t disk)
{
	int err = 0;

#define X(member, attribute, ...)					\
	if (!err && (unknown & RT_COUNTER_BIT(attribute)))		\
		err = forget_column(store, target, #member);
	RT_FLOW_COUNTERS(X)
#undef X
	if (!err && (unknown & RT_COUNTER_BIT(IN_FLIGHT)))
		err = forget_column(store, target,
				    "in_flight=NULL, in_flight_max");
#define X(member, attribute, ...)					\
	if (!err && (disk & RT_DISK_BIT(attribute)))			\
		err = forget_of_sample(store, target, #member);
	RT_DISK_COUNTERS(X)
#undef X
	for (unsigned int k = 0; k < RT_KINDS && !err; k++)
		if (kind_is_unknown(k, unknown, disk))
			err = forget_bins(store, target, k);
	return err;
}
