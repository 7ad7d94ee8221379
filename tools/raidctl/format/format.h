/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Output as JSON, CSV and lines of words. */

#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


/*
 * json.c: the functions of json-c with json_object_ instead of json_. Without memory, they print this and end the
 * program, because a part of an object must not be printed.
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

/* Add members. An empty text, a number that is not known, and a negative one in json_add_or_null() become null. */
void json_add_text(struct json_object *to, const char *key, const char *text);
void json_add_count(struct json_object *to, const char *key, uint64_t count);
void json_add_known(struct json_object *to, const char *key, bool unknown,
		    uint64_t count);
void json_add_bool(struct json_object *to, const char *key, bool value);
void json_add_or_null(struct json_object *to, const char *key, int64_t value);

/* Print an object and free it. Bytes that are not UTF-8 become U+FFFD, and control characters are escaped. */
void json_finish(FILE *to, struct json_object *object);

/*
 * Append a text to an array, which may be NULL, for a caller that must continue without memory. Return: 0 or -ENOMEM.
 */
int json_append(struct json_object *array, const char *text);

/* csv.c: one record as in RFC 4180. NULL is an empty field. Errors remain in ferror(). */
void csv_row(FILE *to, int nr, const char *const *fields);

/* wrap.c: paragraphs in lines of at most terminal_width() columns */

/*
 * Print a paragraph and the end of the line. @column characters of the line are already printed, and further lines
 * start there. A number and the next word stay together.
 */
void print_wrapped(FILE *to, const char *text, int column);

/* Column of the text after a label at the head of a report. */
#define LABEL_WIDTH	11

/* Print a label, and a paragraph that starts at a column. */
void __attribute__((format(printf, 4, 5)))
print_labelled(FILE *to, int column, const char *label, const char *format, ...);

#endif
