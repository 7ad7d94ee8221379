/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Members of JSON objects; what is not known is null. */

#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "numbers/stats.h"

/*
 * As the functions of json-c whose names have json_object_ for json_, but when
 * there is no memory they say so and end the program: half an object is worse
 * than none.
 */
struct json_object *json_new_object(void);
struct json_object *json_new_array(void);
struct json_object *json_new_string(const char *text);
struct json_object *json_new_uint64(uint64_t value);
struct json_object *json_new_int64(int64_t value);
struct json_object *json_new_double(double value);
struct json_object *json_new_boolean(bool value);
void json_member(struct json_object *to, const char *key,
		 struct json_object *value);
void json_element(struct json_object *to, struct json_object *value);
const char *json_text(struct json_object *object, int flags);

/**
 * json_append - a text behind the others of an array, for who has more to end than the program
 * @array: as json_object_new_array() gave it, NULL too
 * @text: copied
 *
 * Return: 0 or -ENOMEM.
 */
int json_append(struct json_object *array, const char *text);

/* An empty text is null. */
void json_add_text(struct json_object *to, const char *key, const char *text);
void json_add_count(struct json_object *to, const char *key, uint64_t count);
void json_add_known(struct json_object *to, const char *key, bool unknown,
		    uint64_t count);
void json_add_number(struct json_object *to, const char *key, bool known,
		     double number);
void json_add_bool(struct json_object *to, const char *key, bool value);

/* Both bounds of a bin; an open end is null. */
void json_add_range(struct json_object *to, const char *low_key,
		    const char *high_key, const struct range *range);

/* Below 0 is null. */
void json_add_or_null(struct json_object *to, const char *key, int64_t value);

/*
 * json_put - the door of JSON: text as json-c or SQLite made it
 *
 * What is not UTF-8 is written as U+FFFD, what a terminal would obey escaped.
 */
void json_put(FILE *to, const char *text);

/* Write an object and free it. */
void json_finish(FILE *to, struct json_object *object);

#endif
