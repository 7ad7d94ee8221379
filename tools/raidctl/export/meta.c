// SPDX-License-Identifier: GPL-2.0-or-later

/* The table meta, with what is computed when it is read. */

#include "export/meta.h"

#include <errno.h>

#include "format/csv.h"
#include "format/json.h"
#include "store/load.h"

static void json_pair(FILE *to, const struct pair *pair)
{
	struct json_object *object = json_new_object();

	json_member(object, "key", json_new_string(pair->name));
	json_member(object, "value", json_new_string(pair->value));
	fputs("\n      ", to);
	json_put(to, json_text(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

/* A recording is loaded with the invariants as they are found, not as its recorder wrote them. */
int meta_csv(struct store *store, FILE *to)
{
	struct recording recording;
	int err = recording_load(store, NULL, &recording);

	for (size_t i = 0; i < recording.nr_meta && !err; i++) {
		csv_row(to, 2, (const char *const[]){ recording.meta[i].name,
			recording.meta[i].value });
		err = ferror(to) ? -EIO : 0;
	}
	recording_free(&recording);
	return err;
}

int meta_json(struct store *store, FILE *to)
{
	struct recording recording;
	int err = recording_load(store, NULL, &recording);

	for (size_t i = 0; i < recording.nr_meta && !err; i++) {
		if (i)
			fputc(',', to);
		json_pair(to, &recording.meta[i]);
		err = ferror(to) ? -EIO : 0;
	}
	recording_free(&recording);
	return err;
}
