/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Findings of raidctl check, for the back ends of print.h. */

#ifndef REPORT_CHECK_H
#define REPORT_CHECK_H

#include <stdio.h>

#include "check/check.h"

/* Members of print_text and print_json. */
void text_check(FILE *to, const struct facts *facts,
		const struct finding *findings, size_t nr);
void json_check(FILE *to, const struct facts *facts,
		const struct finding *findings, size_t nr);

#endif
