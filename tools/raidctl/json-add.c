// SPDX-License-Identifier: GPL-2.0-or-later

/* Members of JSON objects; what is not known is null. */

#include "json-add.h"

void json_add_text(struct json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key,
			       text && text[0] ? json_object_new_string(text) :
						 NULL);
}

void json_add_count(struct json_object *to, const char *key, uint64_t count)
{
	json_object_object_add(to, key, json_object_new_uint64(count));
}

void json_add_known(struct json_object *to, const char *key, bool unknown,
		      uint64_t count)
{
	if (unknown)
		json_object_object_add(to, key, NULL);
	else
		json_add_count(to, key, count);
}

void json_add_number(struct json_object *to, const char *key, bool known,
		       double number)
{
	json_object_object_add(to, key,
			       known ? json_object_new_double(number) : NULL);
}

void json_add_bool(struct json_object *to, const char *key, bool value)
{
	json_object_object_add(to, key, json_object_new_boolean(value));
}

void json_add_range(struct json_object *to, const char *low_key,
		      const char *high_key, const struct range *range)
{
	json_object_object_add(to, low_key,
			       range->known ?
			       json_object_new_int64(range->low) : NULL);
	json_object_object_add(to, high_key,
			       range->known && range->high != INT64_MAX ?
			       json_object_new_int64(range->high) : NULL);
}

void json_finish(FILE *to, struct json_object *object)
{
	fputs(json_object_to_json_string_ext(object,
					     JSON_C_TO_STRING_PRETTY |
					     JSON_C_TO_STRING_NOSLASHESCAPE),
	      to);
	fputc('\n', to);
	json_object_put(object);
}

void json_add_or_null(struct json_object *to, const char *key, int64_t value)
{
	json_object_object_add(to, key,
			       value >= 0 ? json_object_new_int64(value) :
					    NULL);
}
