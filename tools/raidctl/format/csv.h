/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Comma separated values as RFC 4180 has them. */

#ifndef FORMAT_CSV_H
#define FORMAT_CSV_H

#include <stdio.h>

/**
 * csv_row - write one record
 * @to: where; errors stay in ferror()
 * @nr: how many fields
 * @fields: their text, NULL for an empty one
 */
void csv_row(FILE *to, int nr, const char *const *fields);

#endif
