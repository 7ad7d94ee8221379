// SPDX-License-Identifier: GPL-2.0-or-later

/* How a rule says what it found. */

#include "check/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[NR_VERDICTS] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_WARN] = "warn",
		[VERDICT_FAIL] = "fail",
		[VERDICT_UNKNOWN] = "not available",
	};

	return names[verdict];
}

void finding_is(struct finding *finding, enum verdict verdict, double value,
		const char *unit)
{
	finding->verdict = verdict;
	finding->measured = true;
	finding->value = value;
	finding->unit = unit;
}

void finding_above(struct finding *finding, double value, double warn,
		   double fail, const char *unit)
{
	finding_is(finding, value > fail ? VERDICT_FAIL :
		   value > warn ? VERDICT_WARN : VERDICT_PASS, value, unit);
}

void finding_unknown(struct finding *finding, const char *format, ...)
{
	va_list args;

	finding->verdict = VERDICT_UNKNOWN;
	finding->measured = false;
	finding->unit = "";
	va_start(args, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, args);
	va_end(args);
}

void finding_seen(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, args);
	va_end(args);
}

void finding_more(struct finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->seen);
	va_list args;

	va_start(args, format);
	vsnprintf(finding->seen + used, sizeof(finding->seen) - used, format,
		  args);
	va_end(args);
}

void finding_remedy(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->remedy, sizeof(finding->remedy), format, args);
	va_end(args);
}
