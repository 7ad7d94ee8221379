/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two recordings side by side: which spans belong together, what differs. */

#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "store/load.h"

/**
 * struct paired - the spans of one phase and disk in both recordings
 * @a: index of the span in A, -1 when only B has it
 * @b: index of the span in B, -1 when only A has it
 */
struct paired {
	long a;
	long b;
};

/**
 * struct difference - something that is not the same in both
 * @what: a key of meta, a property of the disk, a setting
 * @disk: whose, "" for the whole recording
 * @a: value in A, "n/a" when it is not known
 * @b: value in B, likewise
 * @why: what of the numbers below it makes incomparable, NULL when it does not
 * @lacks: "A" or "B" where that is an imported trace and does not hold it: no
 *	difference that is known; else NULL
 */
struct difference {
	const char *what;
	const char *disk;
	char *a;
	char *b;
	const char *why;
	const char *lacks;
};

/**
 * struct comparison - two recordings
 * @a: the first, which is what the other is measured by
 * @b: the second
 * @nr_pairs: length of @pairs
 * @pairs: in the order of A, then what only B has
 * @nr_differences: length of @differences
 * @differences: of the recordings, then of disks and their settings
 * @other_times: times and rates of one cannot be held against the other's
 */
struct comparison {
	const struct recording *a;
	const struct recording *b;
	size_t nr_pairs;
	struct paired *pairs;
	size_t nr_differences;
	struct difference *differences;
	bool other_times;
};

/**
 * compare - find what belongs together and what differs
 * @a: loaded
 * @b: loaded
 * @ret: to be given to compare_free(); points into @a and @b
 *
 * Spans belong together when phase and disk have the same names, the n-th of A
 * with the n-th of B; names of disks do not matter when both have one.
 *
 * Return: 0 or -ENOMEM.
 */
int compare(const struct recording *a, const struct recording *b,
	    struct comparison *ret);
void compare_free(struct comparison *comparison);

#endif
