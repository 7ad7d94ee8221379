// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what is written once or now and then. */

#include "numbers/groups.h"
#include "store/db.h"
#include "store/store.h"

static const char insert_meta[] =
	"INSERT OR REPLACE INTO meta VALUES(?,?)";
static const char insert_target[] =
	"INSERT INTO target(target,disk,driver,pci,hctl,unit_3ware,bio_based,"
	"rotational,capacity_sectors,max_sectors,max_hw_sectors,max_segments,"
	"nr_requests,nr_hw_queues,nr_tags,attached_ns,groups,streams,"
	"place_sectors) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
static const char insert_setting[] =
	"INSERT INTO setting VALUES(?,?,?,?)";
static const char insert_phase[] =
	"INSERT INTO phase VALUES(?,?,?,NULL)";
static const char finish_phase[] =
	"UPDATE phase SET end_ns=? WHERE phase=?";
static const char insert_output[] =
	"INSERT INTO output VALUES(?,?,?)";

int store_put_meta(struct store *store, const char *key, const char *value)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_meta);

	if (!stmt)
		return store_failed(store);
	store_bind_text(stmt, 1, key);
	store_bind_text(stmt, 2, value);
	return store_run(store, stmt);
}

/* The module gives 0 for none, and an old one says nothing. */
static void bind_or_null(sqlite3_stmt *stmt, int place, uint64_t value)
{
	if (value)
		sqlite3_bind_int64(stmt, place, (sqlite3_int64)value);
	else
		sqlite3_bind_null(stmt, place);
}

static void bind_or_null_text(sqlite3_stmt *stmt, int place, const char *text)
{
	if (text[0])
		store_bind_text(stmt, place, text);
	else
		sqlite3_bind_null(stmt, place);
}

int store_put_target(struct store *store, uint32_t number,
		     const struct rt_target *t)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_target);
	char groups[GROUPS_TEXT];

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, number);
	store_bind_text(stmt, 2, t->disk);
	store_bind_text(stmt, 3, t->driver);
	store_bind_text(stmt, 4, t->pci);
	store_bind_text(stmt, 5, t->hctl);
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
	if (t->name_only)
		bind_or_null(stmt, 9, t->capacity_sectors);
	bind_or_null_text(stmt, 17, groups_text(groups, t->groups));
	bind_or_null(stmt, 18, t->streams);
	bind_or_null(stmt, 19, t->place_sectors);
	return store_run(store, stmt);
}

int store_put_setting(struct store *store, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_setting);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)time_ns);
	sqlite3_bind_int64(stmt, 2, target);
	store_bind_text(stmt, 3, name);
	store_bind_text(stmt, 4, value);
	return store_run(store, stmt);
}

int store_begin_phase(struct store *store, uint32_t phase, const char *name,
		      uint64_t start_ns)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_phase);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, phase);
	store_bind_text(stmt, 2, name);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)start_ns);
	return store_run(store, stmt);
}

int store_end_phase(struct store *store, uint32_t phase, uint64_t end_ns)
{
	sqlite3_stmt *stmt = store_prepared(store, finish_phase);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)end_ns);
	sqlite3_bind_int64(stmt, 2, phase);
	return store_run(store, stmt);
}

int store_put_output(struct store *store, uint64_t time_ns, const char *stream,
		     const char *text, size_t len)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_output);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)time_ns);
	store_bind_text(stmt, 2, stream);
	sqlite3_bind_text(stmt, 3, text, (int)len, SQLITE_STATIC);
	return store_run(store, stmt);
}

/* Recordings: requests one by one. */

static const char insert_request[] =
	"INSERT INTO request(target,number,queued_ns,inserted_ns,issued_ns,completed_ns,sector,bytes,"
	"direction,class,depth,pid,comm,error,again) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

int store_put_request(struct store *store, uint32_t target, const struct rt_ended *ended)
{
	sqlite3_stmt *stmt = store_prepared(store, insert_request);
	int place = 0;

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, ++place, target);
	sqlite3_bind_int64(stmt, ++place, (sqlite3_int64)ended->number);
	store_bind_known(stmt, ++place, !ended->queued_ns, ended->queued_ns);
	store_bind_known(stmt, ++place, !ended->inserted_ns, ended->inserted_ns);
	sqlite3_bind_int64(stmt, ++place, (sqlite3_int64)ended->issued_ns);
	sqlite3_bind_int64(stmt, ++place, (sqlite3_int64)ended->completed_ns);
	sqlite3_bind_int64(stmt, ++place, (sqlite3_int64)ended->sector);
	sqlite3_bind_int64(stmt, ++place, ended->bytes);
	store_bind_text(stmt, ++place, rt_direction_name(ended->direction));
	store_bind_text(stmt, ++place, rt_class_name(ended->class_));
	sqlite3_bind_int64(stmt, ++place, ended->depth);
	store_bind_known(stmt, ++place, !ended->known, ended->pid);
	if (ended->known && ended->comm[0])
		store_bind_text(stmt, ++place, ended->comm);
	else
		sqlite3_bind_null(stmt, ++place);
	sqlite3_bind_int(stmt, ++place, ended->error);
	sqlite3_bind_int(stmt, ++place, ended->again);
	return store_run(store, stmt);
}
