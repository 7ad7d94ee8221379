// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: samples, and taking back what turns out not to be known. */

#include "store-db.h"

#include <stdio.h>

#include "groups.h"

#define FLOW_NAME(member, attribute) "," #member
#define FLOW_PLACE(member, attribute) ",?"

static const char insert_sample[] =
	"INSERT INTO sample(target,phase,start_ns,end_ns" STORE_DISK_NAMES
	") VALUES(?,?,?,?" STORE_DISK_PLACES ")";
static const char insert_flow[] =
	"INSERT INTO flow(sample,direction" RT_FLOW_COUNTERS(FLOW_NAME)
	",in_flight,in_flight_max) VALUES(?,?" RT_FLOW_COUNTERS(FLOW_PLACE)
	",?,?)";
/* Bins are stored several at once: most of what a statement costs is not for its rows. */
#define ONE_BIN		"(?1,?,?,?,?)"
#define FOUR_BINS	ONE_BIN "," ONE_BIN "," ONE_BIN "," ONE_BIN
#define BINS_AT_ONCE	16
static const char insert_bin[] = "INSERT INTO bin VALUES" ONE_BIN;
static const char insert_bins[] =
	"INSERT INTO bin VALUES" FOUR_BINS "," FOUR_BINS "," FOUR_BINS ","
	FOUR_BINS;

/*
 * Rows in the order of their keys: SQLite then finds each place behind the one
 * before, which takes a third of what a search does, and fills its pages.
 */
static const uint8_t directions[RT_DIRECTIONS] = {
	RAIDTRACE_DIRECTION_ALL,
	RAIDTRACE_DIRECTION_DISCARD,
	RAIDTRACE_DIRECTION_FLUSH,
	RAIDTRACE_DIRECTION_OTHER,
	RAIDTRACE_DIRECTION_PASSTHROUGH,
	RAIDTRACE_DIRECTION_READ,
	RAIDTRACE_DIRECTION_WRITE,
};

static const uint8_t kinds[RT_KINDS] = {
	RAIDTRACE_HISTOGRAM_KIND_BLAME,
	RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE,
	RAIDTRACE_HISTOGRAM_KIND_D2C,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME,
	RAIDTRACE_HISTOGRAM_KIND_I2D,
	RAIDTRACE_HISTOGRAM_KIND_PLACE,
	RAIDTRACE_HISTOGRAM_KIND_Q2C,
	RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC,
	RAIDTRACE_HISTOGRAM_KIND_RA_SYNC,
	RAIDTRACE_HISTOGRAM_KIND_SEEK,
	RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED,
	RAIDTRACE_HISTOGRAM_KIND_SIZE,
	RAIDTRACE_HISTOGRAM_KIND_UNPLUG,
};

static bool flow_is_zero(const struct rt_flow *flow)
{
	uint64_t any = flow->in_flight | flow->in_flight_max;

#define X(member, attribute) any |= flow->member;
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
	/* Of all directions together nothing but in-flight is counted. */
	if (direction == RAIDTRACE_DIRECTION_ALL)
		unknown = ~(uint64_t)0;
	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, ++place, sample);
	store_bind_text(stmt, ++place, rt_direction_name(direction));
#define X(member, attribute)						\
	store_bind_known(stmt, ++place, unknown & RT_COUNTER_BIT(attribute),	\
		   flow->member);
	RT_FLOW_COUNTERS(X)
#undef X
	store_bind_known(stmt, ++place, no_depth, flow->in_flight);
	store_bind_known(stmt, ++place, no_depth, flow->in_flight_max);
	return store_run(store, stmt);
}

/* struct bins - of one sample, what waits to be stored */
struct bins {
	struct store *store;
	sqlite3_int64 sample;
	size_t nr;
	struct {
		const char *direction;
		const char *kind;
		unsigned int bin;
		uint64_t count;
	} waiting[BINS_AT_ONCE];
};

static int store_bins(struct bins *bins, const char *sql, size_t from, size_t nr)
{
	sqlite3_stmt *stmt = store_prepared(bins->store, sql);
	int place = 1;

	if (!stmt)
		return store_failed(bins->store);
	sqlite3_bind_int64(stmt, 1, bins->sample);
	for (size_t i = from; i < from + nr; i++) {
		store_bind_text(stmt, ++place, bins->waiting[i].direction);
		store_bind_text(stmt, ++place, bins->waiting[i].kind);
		sqlite3_bind_int64(stmt, ++place, bins->waiting[i].bin);
		sqlite3_bind_int64(stmt, ++place,
				   (sqlite3_int64)bins->waiting[i].count);
	}
	return store_run(bins->store, stmt);
}

static int put_histogram(struct bins *bins, unsigned int direction,
			 unsigned int kind, const struct rt_histogram *h)
{
	int err = 0;

	for (unsigned int i = 0; i < h->nr_bins && !err; i++) {
		if (!h->counts[i])
			continue;
		bins->waiting[bins->nr].direction = rt_direction_name(direction);
		bins->waiting[bins->nr].kind = rt_kind_name(kind);
		bins->waiting[bins->nr].bin = h->first_bin + i;
		bins->waiting[bins->nr++].count = h->counts[i];
		if (bins->nr < BINS_AT_ONCE)
			continue;
		bins->nr = 0;
		err = store_bins(bins, insert_bins, 0, BINS_AT_ONCE);
	}
	return err;
}

static int put_histograms(struct store *store, sqlite3_int64 sample,
			  const struct rt_counters *span)
{
	struct bins bins = { .store = store, .sample = sample };
	int err = 0;

	for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
		for (unsigned int k = 0; k < RT_KINDS && !err; k++)
			err = put_histogram(&bins, directions[d], kinds[k],
					    &span->histogram[directions[d]][kinds[k]]);
	for (size_t i = 0; i < bins.nr && !err; i++)
		err = store_bins(&bins, insert_bin, i, 1);
	return err;
}

int store_put_sample(struct store *store, uint32_t target, uint32_t phase,
		     const struct rt_counters *span)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_sample);
	sqlite3_int64 sample;
	int err;

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, target);
	sqlite3_bind_int64(stmt, 2, phase);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)span->since_ns);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)span->now_ns);
	store_bind_disk(stmt, 4, span);
	err = store_run(store, stmt);
	sample = sqlite3_last_insert_rowid(store->db);
	for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
		err = put_flow(store, sample, directions[d],
			       &span->flow[directions[d]], span->unknown);
	if (!err)
		err = put_histograms(store, sample, span);
	return err ? err : store_put_groups(store, sample, span);
}

#define OF_TARGET " WHERE sample IN (SELECT sample FROM sample WHERE target=%u)"

/* Drop bins of a kind when the counter that they belong to is unknown. */
static int forget_bins(struct store *store, uint32_t target, unsigned int kind)
{
	char sql[192];

	snprintf(sql, sizeof(sql), "DELETE FROM bin" OF_TARGET
		 " AND kind='%s'", target, rt_kind_name(kind));
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

#define X(member, attribute)						\
	if (!err && (unknown & RT_COUNTER_BIT(attribute)))		\
		err = forget_column(store, target, #member);
	RT_FLOW_COUNTERS(X)
#undef X
	if (!err && (unknown & RT_COUNTER_BIT(IN_FLIGHT)))
		err = forget_column(store, target,
				    "in_flight=NULL, in_flight_max");
#define X(member, attribute)						\
	if (!err && (disk & RT_DISK_BIT(attribute)))			\
		err = forget_of_sample(store, target, #member);
	RT_DISK_COUNTERS(X)
#undef X
	for (unsigned int k = 0; k < RT_KINDS && !err; k++)
		if (unknown & kind_needs(k) || disk & kind_needs_disk(k))
			err = forget_bins(store, target, k);
	return err;
}
