// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what is written once or now and then. */

#include "numbers/numbers.h"
#include "store/db.h"
#include "store/store.h"

static const char insert_meta[] =
	"INSERT OR REPLACE INTO meta VALUES(?,?)";
static const char insert_target[] =
	"INSERT INTO target VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
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
	return store_put_row(store, insert_meta, ROW(TEXT(key), TEXT(value)));
}

/* NULL for 0 and "": the module gives these for none, and an old one says nothing. */
#define OR_NULL(value)		KNOWN((value) != 0, value)
#define TEXT_OR_NULL(value)	TEXT((value)[0] ? (value) : NULL)
/* Of a disk of which only the name is known: nothing else. */
#define FOUND(value)		KNOWN(!t->name_only, value)
#define FOUND_TEXT(value)	TEXT(t->name_only ? NULL : (value))

int store_put_target(struct store *store, uint32_t number,
		     const struct rt_target *t)
{
	char text[GROUPS_TEXT];
	const char *groups = groups_text(text, t->groups);

	return store_put_row(store, insert_target,
			     ROW(NUMBER(number), TEXT(t->disk), FOUND_TEXT(t->above.driver), FOUND_TEXT(t->above.pci),
				 FOUND_TEXT(t->above.hctl), FOUND(t->above.unit_3ware), FOUND(t->bio_based),
				 FOUND(t->rotational),
				 KNOWN(!t->name_only || t->capacity_sectors, t->capacity_sectors),
				 FOUND(t->max_sectors), FOUND(t->max_hw_sectors), FOUND(t->max_segments),
				 FOUND(t->nr_requests), FOUND(t->nr_hw_queues), FOUND(t->nr_tags),
				 NUMBER(t->attached_ns), TEXT_OR_NULL(groups), OR_NULL(t->streams),
				 OR_NULL(t->place_sectors)));
}

int store_put_setting(struct store *store, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value)
{
	return store_put_row(store, insert_setting,
			     ROW(NUMBER(time_ns), NUMBER(target), TEXT(name), TEXT(value)));
}

int store_begin_phase(struct store *store, uint32_t phase, const char *name,
		      uint64_t start_ns)
{
	return store_put_row(store, insert_phase, ROW(NUMBER(phase), TEXT(name), NUMBER(start_ns)));
}

int store_end_phase(struct store *store, uint32_t phase, uint64_t end_ns)
{
	return store_put_row(store, finish_phase, ROW(NUMBER(end_ns), NUMBER(phase)));
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
	return store_put_row(store, insert_request,
			     ROW(NUMBER(target), NUMBER(ended->number), OR_NULL(ended->queued_ns),
				 OR_NULL(ended->inserted_ns), NUMBER(ended->issued_ns),
				 NUMBER(ended->completed_ns), NUMBER(ended->sector), NUMBER(ended->bytes),
				 TEXT(rt_direction_name(ended->direction)), TEXT(rt_class_name(ended->class_)),
				 NUMBER(ended->depth), KNOWN(ended->known, ended->pid),
				 TEXT(ended->known && ended->comm[0] ? ended->comm : NULL),
				 NUMBER(ended->error), NUMBER(ended->again)));
}
