// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: counters of a sample that have no direction. */

#include "store/db.h"

#include "arithmetic.h"
#include "numbers/numbers.h"

#define NAME(member, attribute, ...)		"," #member
#define PLACE(member, attribute, ...)	",?"

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

int store_bind_disk(sqlite3_stmt *stmt, int place, const struct rt_counters *span)
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
			 origin_unknown(span->unknown, offsetof(struct rt_origin, member)), \
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

int store_put_groups(struct store *store, int64_t sample,
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
