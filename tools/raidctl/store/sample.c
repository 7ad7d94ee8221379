// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: samples, and removing counters that turn out not to be known. */

#include "store/db.h"

#include <stdio.h>

#define NAME(member, attribute, ...) "," #member
#define PLACE(member, attribute, ...) ",?"

static const char insert_sample[] =
	"INSERT INTO sample(target,phase,start_ns,end_ns,histograms"
	",streams_alive,streams_alive_queued" RT_DISK_COUNTERS(NAME)
	") VALUES(?,?,?,?,?,?,?" RT_DISK_COUNTERS(PLACE) ")";
static const char insert_flow[] =
	"INSERT INTO flow(sample,direction" RT_FLOW_COUNTERS(NAME)
	",in_flight,in_flight_max) VALUES(?,?" RT_FLOW_COUNTERS(PLACE)
	",?,?)";
static const char insert_origin[] =
	"INSERT INTO origin(sample,class" RT_ORIGIN_COUNTERS(NAME)
	") VALUES(?,?" RT_ORIGIN_COUNTERS(PLACE) ")";
static const char insert_submitter[] =
	"INSERT INTO submitter(sample,submitter,pid,comm,cgroup"
	RT_SUBMITTER_COUNTERS(NAME) ") VALUES(?,?,?,?,?"
	RT_SUBMITTER_COUNTERS(PLACE) ")";
static const char insert_hwq[] =
	"INSERT INTO hwq(sample,hwq" RT_HWQ_COUNTERS(NAME)
	",in_flight,in_flight_max) VALUES(?,?" RT_HWQ_COUNTERS(PLACE) ",?,?)";

static int bind_disk(sqlite3_stmt *stmt, int place, const struct rt_counters *span)
{
	static const uint32_t any = RAIDTRACE_GROUP_STREAM |
				    RAIDTRACE_GROUP_PLUG |
				    RAIDTRACE_GROUP_READAHEAD;
	const struct rt_disk *disk = &span->disk;
	uint32_t unknown = span->groups & any ? disk->unknown : ~(uint32_t)0;

#define X(member, attribute, ...)					\
	store_bind_known(stmt, ++place, unknown & RT_DISK_BIT(attribute), \
			 disk->member);
	X(streams_alive, STREAMS_ALIVE)
	X(streams_alive_queued, STREAMS_ALIVE_QUEUED)
	RT_DISK_COUNTERS(X)
#undef X
	return place;
}

static int put_origin(struct store *store, sqlite3_int64 sample,
		      unsigned int class_, const struct rt_counters *span)
{
	/* A disk without requests has only counters of bios. */
	bool bios_alone = span->unknown & RT_COUNTER_BIT(ISSUED);
	const struct rt_origin *origin = &span->origin[class_];
	sqlite3_stmt *stmt;
	uint64_t any = 0;
	int place = 0;

#define X(member, attribute, ...) any |= origin->member;
	RT_ORIGIN_COUNTERS(X)
#undef X
	if (!any)
		return 0;
	stmt = store_prepared(store, insert_origin);
	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, ++place, sample);
	store_bind_text(stmt, ++place, rt_class_name(class_));
#define X(member, attribute, ...)					\
	store_bind_known(stmt, ++place,					\
			 bios_alone && offsetof(struct rt_origin, member) >= offsetof(struct rt_origin, issued), \
			 origin->member);
	RT_ORIGIN_COUNTERS(X)
#undef X
	return store_run(store, stmt);
}

static int put_submitter(struct store *store, sqlite3_int64 sample,
			 const struct rt_submitter *submitter)
{
	sqlite3_stmt *stmt;
	uint64_t any = 0;
	int place = 0;

#define X(member, attribute, ...) any |= submitter->member;
	RT_SUBMITTER_COUNTERS(X)
#undef X
	if (!any)
		return 0;
	stmt = store_prepared(store, insert_submitter);
	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, ++place, sample);
	sqlite3_bind_int64(stmt, ++place, submitter->index);
	store_bind_known(stmt, ++place, submitter->rest, submitter->pid);
	if (submitter->rest)
		sqlite3_bind_null(stmt, ++place);
	else
		store_bind_text(stmt, ++place, submitter->comm);
	if (*submitter->path)
		store_bind_text(stmt, ++place, submitter->path);
	else
		sqlite3_bind_null(stmt, ++place);
#define X(member, attribute, ...)					\
	sqlite3_bind_int64(stmt, ++place, (sqlite3_int64)submitter->member);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return store_run(store, stmt);
}

static int put_hwq(struct store *store, sqlite3_int64 sample,
		   unsigned int index, const struct rt_hwq *hwq)
{
	sqlite3_stmt *stmt;
	uint64_t any = 0;
	int place = 0;

#define X(member, attribute, ...) any |= hwq->member;
	RT_HWQ_COUNTERS(X)
#undef X
	if (!any)
		return 0;
	stmt = store_prepared(store, insert_hwq);
	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, ++place, sample);
	sqlite3_bind_int64(stmt, ++place, index);
#define X(member, attribute, ...)					\
	sqlite3_bind_int64(stmt, ++place, (sqlite3_int64)hwq->member);
	RT_HWQ_COUNTERS(X)
	X(in_flight, IN_FLIGHT)
	X(in_flight_max, IN_FLIGHT_MAX)
#undef X
	return store_run(store, stmt);
}

static int put_groups(struct store *store, int64_t sample,
		      const struct rt_counters *span)
{
	int err = 0;

	if (span->groups & RAIDTRACE_GROUP_ORIGIN)
		for (unsigned int i = 0; i < RT_CLASSES && !err; i++)
			err = put_origin(store, sample, i, span);
	for (size_t i = 0; i < span->nr_submitters && !err; i++)
		err = put_submitter(store, sample, &span->submitters[i]);
	for (unsigned int i = 0; i < span->nr_hwqs && !err; i++)
		err = put_hwq(store, sample, i, &span->hwq[i]);
	return err;
}

/* Is every counter of a direction 0? */
static bool is_idle(const struct rt_flow *flow)
{
	uint64_t any = flow->in_flight;

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

	if (is_idle(flow) && !flow->in_flight_max)
		return 0;
	/* All directions together have only requests in flight; some directions have no time in flight. */
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
	bind_disk(stmt, 5, span);
	err = store_run(store, stmt);
	sample = sqlite3_last_insert_rowid(store->db);
	/*
	 * Put rows in the order of their keys. SQLite then inserts each after the previous one, which takes a third of
	 * the time of a search, and fills its pages.
	 */
	for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
		err = put_flow(store, sample, packed_directions[d],
			       &span->flow[packed_directions[d]], span->unknown);
	return err ? err : put_groups(store, sample, span);
}

/* A kind of histogram. */
struct kind {
	uint64_t needs;	/* RT_COUNTER_BIT() of the counter of its events */
	uint32_t disk;	/* RT_DISK_BIT() of this counter */
};

#define KIND(name)	RAIDTRACE_HISTOGRAM_KIND_##name
#define BIT(name)	RT_COUNTER_BIT(name)

static const struct kind kinds[RT_KINDS] = {
	[KIND(SIZE)] = { BIT(ISSUED), 0 },
	[KIND(SEEK)] = { BIT(ISSUED), 0 },
	[KIND(DEPTH_TIME)] = { BIT(IN_FLIGHT), 0 },
	[KIND(DEPTH_ISSUE)] = { BIT(IN_FLIGHT), 0 },
	[KIND(D2C)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SEEK_QUEUED)] = { BIT(SEQUENTIAL_QUEUED), 0 },
	[KIND(I2D)] = { BIT(I2D_SUM_NS), 0 },
	[KIND(Q2C)] = { BIT(Q2C_SUM_NS), 0 },
	[KIND(DEPTH_D2C)] = { BIT(D2C_SUM_NS) | BIT(IN_FLIGHT), 0 },
	[KIND(DEPTH_D2C_NS)] = { BIT(D2C_SUM_NS) | BIT(IN_FLIGHT), 0 },
	[KIND(SIZE_D2C)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SIZE_D2C_NS)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SEEK_D2C)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SEEK_D2C_NS)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(PLACE)] = { BIT(ISSUED), 0 },
	[KIND(UNPLUG)] = { 0, RT_DISK_BIT(UNPLUGS_EXPLICIT) },
	[KIND(BLAME)] = { BIT(ISSUED), 0 },
	[KIND(BLAME_DISTANCE)] = { BIT(ISSUED), 0 },
	[KIND(RA_SYNC)] = { 0, RT_DISK_BIT(RA_SYNC_SECTORS) },
	[KIND(RA_ASYNC)] = { 0, RT_DISK_BIT(RA_ASYNC_SECTORS) },
};

/* Drop bins of a kind if their counter is not known. */
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

/* Make a column of the rows of a target NULL. */
static int forget_column(struct store *store, const char *table, const char *column,
			 uint32_t target)
{
	char sql[192];

	snprintf(sql, sizeof(sql),
		 "UPDATE %s SET %s=NULL WHERE sample IN (SELECT sample FROM sample WHERE target=%u)",
		 table, column, target);
	return store_execute(store, sql);
}

int store_forget(struct store *store, uint32_t target, uint64_t unknown,
		 uint32_t disk)
{
	int err = 0;

#define X(member, attribute, ...)					\
	if (!err && (unknown & RT_COUNTER_BIT(attribute)))		\
		err = forget_column(store, "flow", #member, target);
	RT_FLOW_COUNTERS(X)
#undef X
	if (!err && (unknown & RT_COUNTER_BIT(IN_FLIGHT)))
		err = forget_column(store, "flow", "in_flight=NULL, in_flight_max", target);
#define X(member, attribute, ...)					\
	if (!err && (disk & RT_DISK_BIT(attribute)))			\
		err = forget_column(store, "sample", #member, target);
	RT_DISK_COUNTERS(X)
#undef X
	for (unsigned int k = 0; k < RT_KINDS && !err; k++)
		if (unknown & kinds[k].needs || disk & kinds[k].disk)
			err = forget_bins(store, target, k);
	return err;
}

#define SUM_OF(member, attribute, ...) ",sum(" #member ")"

/* SQLite itself reports a sum that it cannot hold. */
int store_sums_fit(struct store *store)
{
	return store_execute(store,
			     "SELECT 0" RT_DISK_COUNTERS(SUM_OF) " FROM sample GROUP BY target, phase;"
			     "SELECT 0" RT_FLOW_COUNTERS(SUM_OF)
			     " FROM flow JOIN sample USING(sample) GROUP BY target, phase, direction;"
			     "SELECT 0" RT_ORIGIN_COUNTERS(SUM_OF)
			     " FROM origin JOIN sample USING(sample) GROUP BY target, phase, class;"
			     "SELECT 0" RT_SUBMITTER_COUNTERS(SUM_OF)
			     " FROM submitter JOIN sample USING(sample) GROUP BY target, phase, submitter;"
			     "SELECT 0" RT_HWQ_COUNTERS(SUM_OF)
			     " FROM hwq JOIN sample USING(sample) GROUP BY target, phase, hwq");
}
