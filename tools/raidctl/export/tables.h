/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Every table of a recording, row by row: as CSV files, and as JSON on standard
 * output.  Failures are printed; the functions return an exit status.
 */

#ifndef EXPORT_TABLES_H
#define EXPORT_TABLES_H

#include "store/store.h"

/* @path: of the recording, for messages; @directory: is made if need be */
int export_csv(struct store *store, const char *path, const char *directory);
int export_json(struct store *store, const char *path);

#endif
