// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: facts about the machine, except its disks. */

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

	return store_put_row(store, insert_host,
			     ROW(NUMBER(row->start_ns), NUMBER(row->end_ns), TEXT(row->source),
				 TEXT(row->subject), TEXT(row->name), TEXT(row->unit), NUMBER(row->value)));
}

int store_put_disturbance(struct store *store, const void *data)
{
	const struct disturbance *row = data;

	return store_put_row(store, replace_disturbance,
			     ROW(NUMBER(row->number), TEXT(row->kind), TEXT(row->subject), NUMBER(row->start_ns),
				 NUMBER(row->end_ns), TEXT(row->unit), NUMBER(row->value), TEXT(row->text)));
}

int store_put_stacked(struct store *store, const void *data)
{
	const struct stacked *row = data;

	return store_put_row(store, insert_stacked, ROW(NUMBER(row->target), NUMBER(row->parent)));
}

int store_put_note(struct store *store, const void *data)
{
	const struct note_row *row = data;

	return store_put_row(store, insert_note, ROW(NUMBER(row->time_ns), TEXT(row->text)));
}
