/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two recordings side by side, as text for people and as JSON. */

#ifndef REPORT_COMPARE_PRINT_H
#define REPORT_COMPARE_PRINT_H

#include <stdio.h>

struct comparison;

void text_comparison(FILE *to, const struct comparison *comparison);
void json_comparison(FILE *to, const struct comparison *comparison);

#endif
