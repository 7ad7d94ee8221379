// SPDX-License-Identifier: GPL-2.0-or-later

/* Numbers with units to text and back. */

#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three significant digits, or all before the point when there are more. */
static char *three_digits(char *ret, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(ret, UNITS_TEXT, "%.*f %s", decimals, value, unit);
	return ret;
}

char *format_bytes(char *ret, double bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB",
	};
	size_t unit = 0;

	/* 1023.5 KiB would be rounded to four digits, so it is 1.00 MiB. */
	while (bytes >= 1023.5 && unit < sizeof(units) / sizeof(*units) - 1) {
		bytes /= 1024;
		unit++;
	}
	/* Most sizes are whole numbers: "128 KiB", not "128.0". */
	if (bytes == (double)(uint64_t)bytes) {
		snprintf(ret, UNITS_TEXT, "%.0f %s", bytes, units[unit]);
		return ret;
	}
	return three_digits(ret, bytes, units[unit]);
}

char *format_ns(char *ret, double ns)
{
	if (ns < 999.5) {
		snprintf(ret, UNITS_TEXT, "%.0f ns", ns);
		return ret;
	}
	if (ns < 999.5e3)
		return three_digits(ret, ns / 1e3, "us");
	if (ns < 999.5e6)
		return three_digits(ret, ns / 1e6, "ms");
	return three_digits(ret, ns / 1e9, "s");
}

char *format_count(char *ret, uint64_t count)
{
	char digits[UNITS_TEXT];
	size_t len = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *out = ret;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return ret;
}

char *format_sectors(char *ret, uint64_t sectors)
{
	char bytes[UNITS_TEXT];

	snprintf(ret, SECTORS_TEXT, "%s (%" PRIu64 " sectors)",
		 format_bytes(bytes, (double)sectors * SECTOR_BYTES), sectors);
	return ret;
}

char *format_share(char *ret, double part, double whole)
{
	double percent;

	if (whole <= 0) {
		strcpy(ret, "n/a");
		return ret;
	}
	percent = 100 * part / whole;
	/* "100.0 %" must mean everything, and "0.0 %" nothing. */
	if (part < whole && percent >= 99.95)
		percent = 99.9;
	if (part > 0 && percent < 0.05)
		snprintf(ret, UNITS_TEXT, "<0.1 %%");
	else
		snprintf(ret, UNITS_TEXT, "%.1f %%", percent);
	return ret;
}

char *format_clock(char *ret, uint64_t ns)
{
	uint64_t seconds = ns / NS_PER_S;

	if (seconds < 3600)
		snprintf(ret, UNITS_TEXT, "%" PRIu64 ":%02" PRIu64,
			 seconds / 60, seconds % 60);
	else
		snprintf(ret, UNITS_TEXT, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
			 seconds / 3600, seconds / 60 % 60, seconds % 60);
	return ret;
}

int parse_duration(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "", 1e9 },  { "ns", 1 },  { "us", 1e3 },  { "ms", 1e6 },
		{ "s", 1e9 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
	};
	double value;
	char *end;

	/* strtod() also accepts "nan", "inf", signs and hexadecimal. */
	if (!isdigit((unsigned char)*text) || strpbrk(text, "xX"))
		return -EINVAL;
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		value *= units[i].ns;
		if (value > 100 * 365 * 86400e9)
			return -ERANGE;
		if (value < 1)
			return -EINVAL;
		*ret = (uint64_t)(value + 0.5);
		return 0;
	}
	return -EINVAL;
}

int parse_latency(const char *text, uint64_t *ret)
{
	return text[strspn(text, "0123456789.")] ? parse_duration(text, ret) : -EINVAL;
}
