// SPDX-License-Identifier: GPL-2.0-or-later

/* Members of JSON objects. null: not known. */

#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static void no_memory(void)
{
	exit(fail("%s", strerror(ENOMEM)));
}

static struct json_object *made_or_exit(struct json_object *object)
{
	if (!object)
		no_memory();
	return object;
}

struct json_object *json_new_object(void)
{
	return made_or_exit(json_object_new_object());
}

struct json_object *json_new_array(void)
{
	return made_or_exit(json_object_new_array());
}

struct json_object *json_new_string(const char *text)
{
	return made_or_exit(json_object_new_string(text));
}

struct json_object *json_new_uint64(uint64_t value)
{
	return made_or_exit(json_object_new_uint64(value));
}

struct json_object *json_new_int64(int64_t value)
{
	return made_or_exit(json_object_new_int64(value));
}

struct json_object *json_new_boolean(bool value)
{
	return made_or_exit(json_object_new_boolean(value));
}

void json_member(struct json_object *to, const char *key,
		 struct json_object *value)
{
	if (json_object_object_add(to, key, value))
		no_memory();
}

void json_element(struct json_object *to, struct json_object *value)
{
	if (json_object_array_add(to, value))
		no_memory();
}

int json_append(struct json_object *array, const char *text)
{
	struct json_object *value = array ? json_object_new_string(text) : NULL;

	if (!value)
		return -ENOMEM;
	if (!json_object_array_add(array, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

void json_add_text(struct json_object *to, const char *key, const char *text)
{
	json_member(to, key,
		    text && text[0] ? json_new_string(text) :
				      NULL);
}

void json_add_count(struct json_object *to, const char *key, uint64_t count)
{
	json_member(to, key, json_new_uint64(count));
}

void json_add_known(struct json_object *to, const char *key, bool unknown,
		    uint64_t count)
{
	if (unknown)
		json_member(to, key, NULL);
	else
		json_add_count(to, key, count);
}

void json_add_bool(struct json_object *to, const char *key, bool value)
{
	json_member(to, key, json_new_boolean(value));
}

static void json_put(FILE *to, const char *text)
{
	size_t len = strlen(text), bytes;
	uint32_t code;

	for (; len; text += bytes, len -= bytes) {
		bytes = foreign_next(text, len, &code);
		if (code == FOREIGN_INVALID)
			fputs("\\ufffd", to);
		else if (code >= 0x7f && code < 0x10000 && foreign_is_hidden(code))
			fprintf(to, "\\u%04" PRIx32, code);
		else
			fwrite(text, 1, bytes, to);
	}
}

void json_finish(FILE *to, struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text)
		no_memory();
	json_put(to, text);
	fputc('\n', to);
	json_object_put(object);
}

void json_add_or_null(struct json_object *to, const char *key, int64_t value)
{
	json_member(to, key,
		    value >= 0 ? json_new_int64(value) :
				 NULL);
}
