/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What every printed number is.  The words are those of
 * Documentation/counters.rst, taken out of it when raidctl is built.
 */

#ifndef REPORT_DEFINITIONS_H
#define REPORT_DEFINITIONS_H

#include <stddef.h>
#include <stdio.h>

/**
 * struct definition - one number
 * @name: as in counters.rst, words joined by dashes
 * @other: further names, separated by ", ", "" when there is none: the letter
 *	of blktrace, the heading in a text
 * @unit: of it
 * @text: what it is
 */
struct definition {
	const char *name;
	const char *other;
	const char *unit;
	const char *text;
};

extern const struct definition definitions[];
extern const size_t nr_definitions;

/**
 * explain_find - the next definition of a name
 * @name: with dashes, underscores or blanks, in any case; _low and _high of
 *	the members of JSON may follow it
 * @after: what was found before, NULL to begin
 *
 * A name may stand for several numbers: of a snapshot and of a report.
 *
 * Return: NULL when there is no further one.
 */
const struct definition *explain_find(const char *name,
				      const struct definition *after);

/* explain_print - one definition, at most 100 columns */
void explain_print(FILE *to, const struct definition *definition);

#endif
