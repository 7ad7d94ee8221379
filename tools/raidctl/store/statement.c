// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: statements, which are compiled once. */

#include "store/db.h"

#include <stdlib.h>

#include "base/base.h"

sqlite3_stmt *store_prepared(struct store *store, const char *sql)
{
	int i = 0;

	while (i < STORE_STATEMENTS - 1 && store->sql[i] &&
	       store->sql[i] != sql)
		i++;
	if (store->sql[i] == sql)
		return store->statements[i];
	/* No slot is left only when STORE_STATEMENTS was not raised. */
	sqlite3_finalize(store->statements[i]);
	store->sql[i] = NULL;
	if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &store->statements[i], NULL) != SQLITE_OK)
		return NULL;
	store->sql[i] = sql;
	return store->statements[i];
}

int store_run(struct store *store, sqlite3_stmt *stmt)
{
	int err = 0;

	if (sqlite3_step(stmt) != SQLITE_DONE)
		err = store_failed(store);
	sqlite3_reset(stmt);
	return err;
}

void store_bind_text(sqlite3_stmt *stmt, int place, const char *text)
{
	char *repaired = NULL;

	/* A copy could fail unseen, and NULL would be stored. */
	if (text)
		text = foreign_utf8(text, &repaired);
	sqlite3_bind_text(stmt, place, text, -1,
			  repaired ? free : SQLITE_STATIC);
}

void store_bind_known(sqlite3_stmt *stmt, int place, uint64_t unknown,
		      uint64_t value)
{
	if (unknown)
		sqlite3_bind_null(stmt, place);
	else
		sqlite3_bind_int64(stmt, place, (sqlite3_int64)value);
}

int store_put_row(struct store *store, const char *sql, const struct cell *cells, int nr)
{
	sqlite3_stmt *stmt = store_prepared(store, sql);

	if (!stmt)
		return store_failed(store);
	for (int i = 0; i < nr; i++) {
		if (cells[i].text)
			store_bind_text(stmt, i + 1, cells[i].text);
		else
			store_bind_known(stmt, i + 1, !cells[i].known, (uint64_t)cells[i].number);
	}
	return store_run(store, stmt);
}
