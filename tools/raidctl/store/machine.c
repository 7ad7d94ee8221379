// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what is known of the machine beside its disks. */

#include "store/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What a recording holds beside the disks, as read back. */

static int64_t number(const char *text)
{
	return text ? strtoll(text, NULL, 10) : 0;
}

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* Room for one more at the end of an array, to be filled whole. */
static void *append(void **array, size_t *nr, size_t size)
{
	char *more = reallocarray(*array, *nr + 1, size);

	if (!more)
		return NULL;
	*array = more;
	return more + (*nr)++ * size;
}

static int take_disturbance(void *data, int columns, const char *const *v)
{
	struct besides *b = data;
	struct disturbance *row = append((void **)&b->disturbances,
					 &b->nr_disturbances, sizeof(*row));

	(void)columns;
	if (!row)
		return -ENOMEM;
	row->number = (uint32_t)number(v[0]);
	copy(row->kind, sizeof(row->kind), v[1]);
	copy(row->subject, sizeof(row->subject), v[2]);
	row->start_ns = (uint64_t)number(v[3]);
	row->end_ns = (uint64_t)number(v[4]);
	copy(row->unit, sizeof(row->unit), v[5]);
	row->value = number(v[6]);
	copy(row->text, sizeof(row->text), v[7]);
	return 0;
}

static int take_stacked(void *data, int columns, const char *const *v)
{
	struct besides *b = data;
	struct stacked *row = append((void **)&b->stacked, &b->nr_stacked,
				     sizeof(*row));

	(void)columns;
	if (!row)
		return -ENOMEM;
	row->target = (uint32_t)number(v[0]);
	row->parent = (uint32_t)number(v[1]);
	return 0;
}

static int take_note(void *data, int columns, const char *const *v)
{
	struct besides *b = data;
	struct note_row *row = append((void **)&b->notes, &b->nr_notes,
				      sizeof(*row));

	(void)columns;
	if (!row)
		return -ENOMEM;
	row->time_ns = (uint64_t)number(v[0]);
	copy(row->text, sizeof(row->text), v[1]);
	return 0;
}

static int take_sum(void *data, int columns, const char *const *v)
{
	struct besides *b = data;
	struct host_sum *row = append((void **)&b->sums, &b->nr_sums,
				      sizeof(*row));

	(void)columns;
	if (!row)
		return -ENOMEM;
	row->phase = (uint32_t)number(v[0]);
	copy(row->source, sizeof(row->source), v[1]);
	copy(row->name, sizeof(row->name), v[2]);
	row->value = number(v[3]);
	return 0;
}

int besides_load(struct store *store, struct besides *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = store_each_row(store,
			     "SELECT disturbance, kind, subject, start_ns, end_ns, unit, value, text"
			     " FROM disturbance ORDER BY start_ns, disturbance",
			     take_disturbance, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT target, parent FROM stack ORDER BY parent, target",
				     take_stacked, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT time_ns, text FROM note ORDER BY time_ns, rowid",
				     take_note, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT phase, source, host.name, sum(value)"
				     " FROM host JOIN phase ON host.start_ns >= phase.start_ns"
				     " AND (phase.end_ns IS NULL OR host.end_ns <= phase.end_ns)"
				     " WHERE source IN ('cpu', 'command')"
				     " GROUP BY phase, source, host.name",
				     take_sum, ret);
	return err;
}

void besides_free(struct besides *besides)
{
	free(besides->disturbances);
	free(besides->stacked);
	free(besides->notes);
	free(besides->sums);
	memset(besides, 0, sizeof(*besides));
}

int64_t besides_sum(const struct besides *besides, uint32_t phase,
		    const char *source, const char *name)
{
	for (size_t i = 0; i < besides->nr_sums; i++) {
		const struct host_sum *sum = &besides->sums[i];

		if (sum->phase == phase && !strcmp(sum->source, source) &&
		    !strcmp(sum->name, name))
			return sum->value;
	}
	return 0;
}
