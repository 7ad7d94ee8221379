/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two recordings side by side, as text for people and as JSON. */

#ifndef PRINT_COMPARE_H
#define PRINT_COMPARE_H

#include <stdio.h>

struct comparison;

void text_comparison(FILE *to, const struct comparison *comparison);
void json_comparison(FILE *to, const struct comparison *comparison);

#endif
