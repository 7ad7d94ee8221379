/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The table meta, with what is computed when it is read. */

#ifndef EXPORT_META_H
#define EXPORT_META_H

#include <stdio.h>

#include "store/store.h"

/**
 * meta_csv - every row, as CSV without a header
 * @store: open
 * @to: where; errors stay in ferror()
 *
 * Whether the invariants hold is said as it is found now.
 *
 * Return: 0 or -errno.
 */
int meta_csv(struct store *store, FILE *to);

/* meta_json - likewise as elements of a JSON array */
int meta_json(struct store *store, FILE *to);

#endif
