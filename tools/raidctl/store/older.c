// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings: those that an older raidctl made.
 *
 * Since version 1 tables and columns were added, and nothing else changed.  So
 * a recording that lacks some is not converted: it is read through temporary
 * views that have them, columns NULL and tables without a row.  The file stays
 * what it was.
 */

#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * In a database in memory that has today's tables, with the recording
 * attached: a row for each table that the recording does not have as it is
 * today.  What a view of it selects, and whether there is a table at all.
 */
static const char differences[] =
	"SELECT name, group_concat(expression), max(has) FROM ("
	" SELECT m.name AS name, old.name IS NOT NULL AS has,"
	"  CASE WHEN old.name IS NULL THEN 'NULL AS ' ELSE '' END"
	"   || '\"' || new.name || '\"' AS expression"
	" FROM main.sqlite_master AS m"
	" JOIN pragma_table_info(m.name, 'main') AS new"
	" LEFT JOIN pragma_table_info(m.name, 'recording') AS old"
	"  ON old.name = new.name"
	" WHERE m.type = 'table' ORDER BY m.name, new.cid)"
	" GROUP BY name HAVING min(has) = 0";

static int make_view(struct store *store, sqlite3_stmt *row)
{
	const char *table = (const char *)sqlite3_column_text(row, 0);
	const char *list = (const char *)sqlite3_column_text(row, 1);
	char *sql;
	int err;

	if (!table || !list)
		return -ENOMEM;
	sql = sqlite3_column_int(row, 2) ?
		sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS SELECT %s FROM main.\"%w\"",
				table, list, table) :
		sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS SELECT %s WHERE 0",
				table, list);
	err = sql ? store_execute(store, sql) : -ENOMEM;
	sqlite3_free(sql);
	return err;
}

static int make_views(struct store *store, struct store *today)
{
	sqlite3_stmt *stmt;
	int code, err = 0;

	if (sqlite3_prepare_v2(today->db, differences, -1, &stmt, NULL) !=
	    SQLITE_OK)
		return store_failed(today);
	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		err = make_view(store, stmt);
	if (!err && code != SQLITE_DONE)
		err = store_failed(today);
	sqlite3_finalize(stmt);
	return err;
}

/* Counts the tables that are made by a statement of today's schema. */
static int count_todays(void *data, int columns, const char *const *values)
{
	const char *sql = values[0];
	const char *found = sql ? strstr(store_schema, sql) : NULL;

	(void)columns;
	*(unsigned int *)data += found && found[strlen(sql)] == ';';
	return 0;
}

/* Then there is nothing to compare, which takes longer than all else of opening. */
static bool is_todays(struct store *store)
{
	const char *table = store_schema;
	unsigned int tables = 0, todays = 0;

	while ((table = strstr(table, "\nCREATE TABLE "))) {
		table++;
		tables++;
	}
	return store_each_row(store, "SELECT sql FROM sqlite_schema WHERE type='table'",
			      count_todays, &todays) >= 0 && todays == tables;
}

int store_complete(struct store *store, unsigned char *bytes, size_t size)
{
	struct store *today;
	int err;

	if (is_todays(store))
		return 0;
	err = store_connect(":memory:", SQLITE_OPEN_READWRITE, &today);
	if (err)
		return err;
	err = store_execute(today, store_schema);
	if (!err)
		err = store_execute(today, "ATTACH ':memory:' AS recording");
	if (!err)
		err = store_show(today, "recording", bytes, size, 0);
	if (!err)
		err = make_views(store, today);
	if (err && !store->error[0])
		snprintf(store->error, sizeof(store->error), "%s",
			 today->error[0] ? today->error : strerror(-err));
	store_close(today);
	return err;
}
