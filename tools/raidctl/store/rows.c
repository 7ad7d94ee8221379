// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: rows that are put once, or seldom. */

#include "store/db.h"

#include <inttypes.h>
#include <stdio.h>

/* NULL for 0 and "": the module uses these for none, and an older module lacks the value. */
#define OR_NULL(value)		KNOWN((value) != 0, value)
#define TEXT_OR_NULL(value)	TEXT((value)[0] ? (value) : NULL)
/* NULL if only the name of the disk is known. */
#define OF_DISK(value)		KNOWN(!t->name_only, value)
#define TEXT_OF_DISK(value)	TEXT(t->name_only ? NULL : (value))

int store_put_meta(struct rows *to, const char *key, const char *value)
{
	static const char sql[] = "INSERT OR REPLACE INTO meta VALUES(?,?)";

	return to->put(to, sql, ROW(TEXT(key), TEXT(value)));
}

int store_put_pairs(struct rows *to, const char *const (*pairs)[2])
{
	int err = 0;

	for (; (*pairs)[0] && !err; pairs++)
		if ((*pairs)[1])
			err = store_put_meta(to, (*pairs)[0], (*pairs)[1]);
	return err;
}

int store_put_meta_number(struct rows *to, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return store_put_meta(to, key, text);
}

char *groups_text(char *ret, uint32_t groups)
{
	size_t used = 0;

	ret[0] = '\0';
	for (unsigned int i = 0; rt_group_name(i); i++)
		if (groups & (1U << i))
			used += (size_t)snprintf(ret + used, GROUPS_TEXT - used,
						 "%s%s", used ? " " : "",
						 rt_group_name(i));
	return ret;
}

int store_put_target(struct rows *to, uint32_t number, const struct rt_target *t)
{
	static const char sql[] = "INSERT INTO target VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
	char text[GROUPS_TEXT];
	const char *groups = groups_text(text, t->groups);

	return to->put(to, sql,
		       ROW(NUMBER(number), TEXT(t->disk), TEXT_OF_DISK(t->above.driver), TEXT_OF_DISK(t->above.pci),
			   TEXT_OF_DISK(t->above.hctl), OF_DISK(t->above.unit_3ware), OF_DISK(t->bio_based),
			   OF_DISK(t->rotational),
			   KNOWN(!t->name_only || t->capacity_sectors, t->capacity_sectors),
			   OF_DISK(t->max_sectors), OF_DISK(t->max_hw_sectors), OF_DISK(t->max_segments),
			   OF_DISK(t->nr_requests), OF_DISK(t->nr_hw_queues), OF_DISK(t->nr_tags),
			   NUMBER(t->attached_ns), TEXT_OR_NULL(groups), OR_NULL(t->streams),
			   OR_NULL(t->place_sectors)));
}

int store_put_setting(struct rows *to, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value)
{
	static const char sql[] = "INSERT INTO setting VALUES(?,?,?,?)";

	return to->put(to, sql, ROW(NUMBER(time_ns), NUMBER(target), TEXT(name), TEXT(value)));
}

int store_begin_phase(struct rows *to, uint32_t phase, const char *name,
		      uint64_t start_ns)
{
	static const char sql[] = "INSERT INTO phase VALUES(?,?,?,NULL)";

	return to->put(to, sql, ROW(NUMBER(phase), TEXT(name), NUMBER(start_ns)));
}

int store_end_phase(struct rows *to, uint32_t phase, uint64_t end_ns)
{
	static const char sql[] = "UPDATE phase SET end_ns=? WHERE phase=?";

	return to->put(to, sql, ROW(NUMBER(end_ns), NUMBER(phase)));
}

int store_put_output(struct rows *to, uint64_t time_ns, const char *stream,
		     const char *text, size_t len)
{
	static const char sql[] = "INSERT INTO output VALUES(?,?,?)";

	return to->put(to, sql, ROW(NUMBER(time_ns), TEXT(stream), { .text = len ? text : "", .len = len }));
}

int store_put_request(struct rows *to, uint32_t target, const struct rt_ended *ended)
{
	static const char sql[] =
		"INSERT INTO request(target,number,queued_ns,inserted_ns,issued_ns,completed_ns,sector,bytes,"
		"direction,class,depth,pid,comm,error,again) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

	return to->put(to, sql,
		       ROW(NUMBER(target), NUMBER(ended->number), OR_NULL(ended->queued_ns),
			   OR_NULL(ended->inserted_ns), NUMBER(ended->issued_ns),
			   NUMBER(ended->completed_ns),
			   KNOWN(ended->sector != RT_NO_SECTOR, ended->sector), NUMBER(ended->bytes),
			   TEXT(rt_direction_name(ended->direction)), TEXT(rt_class_name(ended->class_)),
			   NUMBER(ended->depth), KNOWN(ended->known, ended->pid),
			   TEXT(ended->known && ended->comm[0] ? ended->comm : NULL),
			   NUMBER(ended->error), NUMBER(ended->again)));
}

int store_put_note(struct rows *to, uint64_t time_ns, const char *text)
{
	static const char sql[] = "INSERT INTO note VALUES(?,?)";

	return to->put(to, sql, ROW(NUMBER(time_ns), TEXT(text)));
}

int store_put_stacked(struct rows *to, uint32_t target, uint32_t parent)
{
	static const char sql[] = "INSERT OR IGNORE INTO stack VALUES(?,?)";

	return to->put(to, sql, ROW(NUMBER(target), NUMBER(parent)));
}

int store_put_host(struct rows *to, const struct host_row *row)
{
	static const char sql[] = "INSERT INTO host VALUES(?,?,?,?,?,?,?)";

	return to->put(to, sql,
		       ROW(NUMBER(row->start_ns), NUMBER(row->end_ns), TEXT(row->source),
			   TEXT(row->subject), TEXT(row->name), TEXT(row->unit), NUMBER(row->value)));
}

int store_put_disturbance(struct rows *to, const struct disturbance *row)
{
	static const char sql[] = "INSERT OR REPLACE INTO disturbance VALUES(?,?,?,?,?,?,?,?)";

	return to->put(to, sql,
		       ROW(NUMBER(row->number), TEXT(row->kind), TEXT(row->subject), NUMBER(row->start_ns),
			   NUMBER(row->end_ns), TEXT(row->unit), NUMBER(row->value), TEXT(row->text)));
}
