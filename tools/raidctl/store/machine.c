// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what is known of the machine beside its disks. */

#include "store/machine.h"

#include "store/db.h"

static const char insert_host[] =
	"INSERT INTO host VALUES(?,?,?,?,?,?,?)";
static const char replace_disturbance[] =
	"INSERT OR REPLACE INTO disturbance VALUES(?,?,?,?,?,?,?,?)";
static const char insert_stacked[] =
	"INSERT OR IGNORE INTO stack VALUES(?,?)";
static const char insert_note[] =
	"INSERT INTO note VALUES(?,?)";

int store_put_host(struct store *store, const void *data)
{
	const struct host_row *row = data;
	sqlite3_stmt *stmt = store_prepared(store, insert_host);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->start_ns);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)row->end_ns);
	store_bind_text(stmt, 3, row->source);
	store_bind_text(stmt, 4, row->subject);
	store_bind_text(stmt, 5, row->name);
	store_bind_text(stmt, 6, row->unit);
	sqlite3_bind_int64(stmt, 7, row->value);
	return store_run(store, stmt);
}

int store_put_disturbance(struct store *store, const void *data)
{
	const struct disturbance *row = data;
	sqlite3_stmt *stmt = store_prepared(store, replace_disturbance);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, row->number);
	store_bind_text(stmt, 2, row->kind);
	store_bind_text(stmt, 3, row->subject);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)row->start_ns);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)row->end_ns);
	store_bind_text(stmt, 6, row->unit);
	sqlite3_bind_int64(stmt, 7, row->value);
	store_bind_text(stmt, 8, row->text);
	return store_run(store, stmt);
}

int store_put_stacked(struct store *store, const void *data)
{
	const struct stacked *row = data;
	sqlite3_stmt *stmt = store_prepared(store, insert_stacked);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, row->target);
	sqlite3_bind_int64(stmt, 2, row->parent);
	return store_run(store, stmt);
}

int store_put_note(struct store *store, const void *data)
{
	const struct note_row *row = data;
	sqlite3_stmt *stmt = store_prepared(store, insert_note);

	if (!stmt)
		return store_failed(store);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->time_ns);
	store_bind_text(stmt, 2, row->text);
	return store_run(store, stmt);
}
