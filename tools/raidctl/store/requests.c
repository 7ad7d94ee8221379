// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: requests one by one. */

#include "store/db.h"

#include "store/store.h"

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
