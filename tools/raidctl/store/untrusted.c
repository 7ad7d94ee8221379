// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings: opened to be read, whoever made them.
 *
 * The one door: what a file says may be wrong, but it runs nothing.  It has
 * tables, indices of columns and the view that raidctl makes, or it is refused
 * before a row is read.
 */

#include "store/db.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/image.h"

/* No text of a recording and no statement about it is as long. */
#define MOST_BYTES	(64 << 20)
#define MOST_SQL	(1 << 20)

static int first_is_ok(void *data, int columns, const char *const *values)
{
	(void)columns;
	*(bool *)data = values[0] && !strcmp(values[0], "ok");
	return 1;
}

static int damaged(struct store *store)
{
	snprintf(store->error, sizeof(store->error),
		 "the recording is damaged or cut short: copy it again from where it was made, or record again");
	return -EINVAL;
}

/* Reading needs every page anyway; a wrong number must not come out of it. */
static int check_pages(struct store *store)
{
	bool ok = false;
	int err = store_each_row(store, "PRAGMA quick_check(1)", first_is_ok,
				 &ok);

	if (err < 0 && err != -EINVAL)
		return err;
	return ok ? 0 : damaged(store);
}

static bool is_word(const char *word, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && !strncasecmp(word, *words, len))
			return true;
	return false;
}

/*
 * Names, types and keys of columns: nothing that is computed.  Expressions
 * need one of these words, or in an index a parenthesis within one.
 */
static bool is_plain(const char *sql, int deepest)
{
	static const char *const refused[] = {
		"as", "check", "collate", "default", "generated", "select",
		"using", "virtual", "where", NULL,
	};
	int depth = 0;

	while (*sql) {
		size_t len = 0;

		while (isalnum((unsigned char)sql[len]) || sql[len] == '_')
			len++;
		if (len && is_word(sql, len, refused))
			return false;
		if (!len && !strchr(" \t\n\r,()", *sql))
			return false;
		depth += *sql == '(' ? 1 : *sql == ')' ? -1 : 0;
		if (depth > deepest)
			return false;
		sql += len ? len : 1;
	}
	return true;
}

/* The statement of schema.sql that makes it, white space apart. */
static bool is_ours(const char *sql)
{
	const char *ours = strstr(store_schema, "CREATE VIEW bin");

	while (*sql && *ours) {
		if (isspace((unsigned char)*sql) && isspace((unsigned char)*ours)) {
			sql += strspn(sql, " \t\n\r");
			ours += strspn(ours, " \t\n\r");
		} else if (*sql++ != *ours++) {
			return false;
		}
	}
	return !*sql && *ours == ';';
}

/* A row of sqlite_schema: type, name, sql. */
static int check_object(void *data, int columns, const char *const *values)
{
	const char *type = values[0], *name = values[1], *sql = values[2];
	struct store *store = data;

	(void)columns;
	/* sqlite_stat1 and the like steer how queries are run. */
	if (type && name && sql && sqlite3_strnicmp(name, "sqlite_", 7) &&
	    ((!strcmp(type, "table") && is_plain(sql, 2)) ||
	     (!strcmp(type, "index") && is_plain(sql, 1)) ||
	     (!strcmp(type, "view") && is_ours(sql))))
		return 0;
	/* What SQLite makes of a key has no statement. */
	if (type && !sql && !strcmp(type, "index"))
		return 0;
	snprintf(store->error, sizeof(store->error),
		 "it holds more than what raidctl makes, a view or a trigger perhaps, and is not read; see what: sqlite3 FILE .schema");
	return -EPERM;
}

static int defend(struct store *store)
{
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, MOST_BYTES);
	sqlite3_limit(store->db, SQLITE_LIMIT_SQL_LENGTH, MOST_SQL);
	sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
	return store_execute(store, "PRAGMA temp_store=MEMORY;"
				    "PRAGMA cell_size_check=ON");
}

int store_show(struct store *store, const char *schema, unsigned char *bytes,
	       size_t size, unsigned int flags)
{
	int code = sqlite3_deserialize(store->db, schema, bytes,
				       (sqlite3_int64)size, (sqlite3_int64)size,
				       flags | SQLITE_DESERIALIZE_READONLY);

	if (code == SQLITE_OK)
		return 0;
	/* Without memory it leaves the connection's error as it was. */
	if (code != SQLITE_NOMEM)
		return store_failed(store);
	snprintf(store->error, sizeof(store->error), "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static int open_image(struct store_image *image, bool whole,
		      struct store *store)
{
	int err = store_show(store, "main", image->bytes, image->size,
			     SQLITE_DESERIALIZE_FREEONCLOSE);

	if (!err)
		err = defend(store);
	if (!err)
		err = store_each_row(store, "SELECT type, name, sql FROM sqlite_schema",
				     check_object, store);
	if (!err && whole)
		err = check_pages(store);
	if (!err)
		err = store_complete(store, image->bytes, image->size);
	return err == -EINVAL ? damaged(store) : err;
}

static int open_checked(const char *path, bool whole, struct store **ret)
{
	struct store_image image;
	int err = store_image_read(path, &image);

	if (err)
		return store_refused(err, image.error);
	err = store_connect(":memory:", SQLITE_OPEN_READWRITE, ret);
	if (err) {
		sqlite3_free(image.bytes);
		return err;
	}
	err = open_image(&image, whole, *ret);
	if (err) {
		store_refused(err, (*ret)->error);
		store_close(*ret);
	}
	return err;
}

int store_open(const char *path, struct store **ret)
{
	return open_checked(path, true, ret);
}

int store_open_part(const char *path, struct store **ret)
{
	return open_checked(path, false, ret);
}
