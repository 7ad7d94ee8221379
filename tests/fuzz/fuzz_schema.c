// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: bytes become a statement in the schema of a recording.
 *
 * The first byte says what the schema calls it; a file can say so of anything.
 * What untrusted.c lets pass SQLite is asked to make, and to read: SQLite must
 * find no view, trigger, function or table of a module in it.
 */

#include <stdlib.h>

#include "../../tools/raidctl/store/untrusted.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST	4096

static sqlite3 *db;

static int on_action(void *data, int action, const char *a, const char *b,
		     const char *c, const char *d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	switch (action) {
	case SQLITE_FUNCTION:
		/* How SQLite itself makes the names of automatic indices, of statistics and of a dropped table. */
		if (b && (!strcmp(b, "like") || !strcmp(b, "sqlite_rename_table")))
			return SQLITE_OK;
		/* fall through */
	case SQLITE_CREATE_VIEW:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_CREATE_TRIGGER:
	case SQLITE_CREATE_TEMP_TRIGGER:
	case SQLITE_CREATE_VTABLE:
	case SQLITE_ATTACH:
	case SQLITE_PRAGMA:
	case SQLITE_RECURSIVE:
		fprintf(stderr, "does not hold: action %d is never asked for\n", action);
		abort();
	default:
		return SQLITE_OK;
	}
}

static void run(const char *sql)
{
	sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Read all that the statement has made. */
static int read_table(void *data, int columns, char **values, char **names)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", values[0]);

	(void)data, (void)columns, (void)names;
	run(sql);
	sqlite3_free(sql);
	return 0;
}

static void make(const char *sql)
{
	if (!db) {
		sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
		if (sqlite3_open(":memory:", &db))
			abort();
		sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 1, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 1, NULL);
	}
	run("BEGIN; CREATE TABLE flow (sample, direction, queued)");
	sqlite3_set_authorizer(db, on_action, NULL);
	run(sql);
	sqlite3_exec(db, "SELECT name FROM sqlite_schema WHERE type = 'table'",
		     read_table, NULL, NULL);
	sqlite3_set_authorizer(db, NULL, NULL);
	run("ROLLBACK");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = { "table", "index", "trigger", "view" };
	static char sql[MOST + 1];
	struct store store = { 0 };
	const char *values[] = { types[0], "name", sql };

	if (!size || size > MOST)
		return 0;
	values[0] = types[data[0] & 3];
	memcpy(sql, data + 1, size - 1);
	sql[size - 1] = '\0';
	/* Ours is known, and calls functions. */
	if (check_object(&store, 3, values) || is_ours(sql))
		return 0;
	/* SQLite takes a statement that makes something else than the row says for damage. */
	if (sqlite3_strglob(values[0] == types[0] ? "CREATE TABLE *" : "CREATE *INDEX *", sql))
		return 0;
	make(sql);
	return 0;
}
