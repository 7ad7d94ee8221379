// SPDX-License-Identifier: GPL-2.0-or-later

/* The table meta, with what is computed when it is read. */

#include "export/meta.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/csv.h"
#include "format/json.h"
#include "store/load.h"

/**
 * struct meta_rows - what becomes of the rows of meta
 * @to: where
 * @any: there was one, in JSON
 * @invariants: whether the counters agree, as found now: what the recorder
 *	wrote is a word, which stays when a number is changed
 */
struct meta_rows {
	FILE *to;
	bool any;
	char *invariants;
};

static const char *meta_value(const struct meta_rows *rows,
			      const char *const *values)
{
	return values[0] && !strcmp(values[0], "invariants") ?
		       rows->invariants : values[1];
}

static int meta_row(void *data, int nr, const char *const *values)
{
	struct meta_rows *rows = data;

	(void)nr;
	csv_row(rows->to, 2, (const char *const[]){ values[0],
						    meta_value(rows, values) });
	return ferror(rows->to) ? -EIO : 0;
}

static int json_meta_row(void *data, int nr, const char *const *values)
{
	struct meta_rows *rows = data;
	struct json_object *object = json_new_object();

	(void)nr;
	json_member(object, "key", json_new_string(values[0] ? values[0] : ""));
	json_member(object, "value", json_new_string(meta_value(rows, values) ?: ""));
	if (rows->any)
		fputs(",", rows->to);
	fputs("\n      ", rows->to);
	json_put(rows->to, json_text(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	rows->any = true;
	return ferror(rows->to) ? -EIO : 0;
}

/* Every row of meta, with the invariants as they are found now. */
static int each_meta_row(struct store *store, FILE *to,
			 int (*row)(void *, int, const char *const *))
{
	struct meta_rows rows = { .to = to };
	struct recording recording;
	int err = recording_load(store, NULL, &recording);

	if (!err) {
		rows.invariants = strdup(recording_meta(&recording, "invariants"));
		err = rows.invariants ? 0 : -ENOMEM;
	}
	recording_free(&recording);
	if (!err)
		err = store_each_row(store, "SELECT key, value FROM meta ORDER BY key",
				     row, &rows);
	free(rows.invariants);
	return err;
}

int meta_csv(struct store *store, FILE *to)
{
	return each_meta_row(store, to, meta_row);
}

int meta_json(struct store *store, FILE *to)
{
	return each_meta_row(store, to, json_meta_row);
}
