/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Output as JSON, CSV and lines of words. */

#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "numbers/numbers.h"

/*
 * json.c: as the functions of json-c whose names have json_object_ for json_, but without memory they print so
 * and end the program: half an object is worse than none.
 */
struct json_object *json_new_object(void);
struct json_object *json_new_array(void);
struct json_object *json_new_string(const char *text);
struct json_object *json_new_uint64(uint64_t value);
struct json_object *json_new_int64(int64_t value);
struct json_object *json_new_boolean(bool value);
void json_member(struct json_object *to, const char *key,
		 struct json_object *value);
void json_element(struct json_object *to, struct json_object *value);

/* Members; an empty text, a number that is not known and one below 0 in json_add_or_null() are null. */
void json_add_text(struct json_object *to, const char *key, const char *text);
void json_add_count(struct json_object *to, const char *key, uint64_t count);
void json_add_known(struct json_object *to, const char *key, bool unknown,
		    uint64_t count);
void json_add_number(struct json_object *to, const char *key, bool known,
		     double number);
void json_add_bool(struct json_object *to, const char *key, bool value);
void json_add_or_null(struct json_object *to, const char *key, int64_t value);

/* Both bounds of a bin; an open end is null. */
void json_add_range(struct json_object *to, const char *low_key,
		    const char *high_key, const struct range *range);

/* Print an object and free it. Bytes that are not UTF-8 become U+FFFD, and what a terminal would obey is escaped. */
void json_finish(FILE *to, struct json_object *object);

/* Append a text to an array that may be NULL, for a caller that must go on without memory. Return: 0 or -ENOMEM. */
int json_append(struct json_object *array, const char *text);

/* csv.c: one record as in RFC 4180; NULL is an empty field. Errors stay in ferror(). */
void csv_row(FILE *to, int nr, const char *const *fields);

/* wrap.c: words in lines of at most terminal_width() */

/*
 * Print words and the end of the line. @column characters of the line are printed already, and the next lines begin
 * there. A number and the word after it stay together.
 */
void print_wrapped(FILE *to, const char *text, int column);

/* Column of the words behind a label in the head of a text. */
#define LABEL_WIDTH	11

/* Print a label, and words from a column on. */
void __attribute__((format(printf, 4, 5)))
print_labelled(FILE *to, int column, const char *label, const char *format, ...);

#endif
