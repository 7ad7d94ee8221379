/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Numbers with units to text and back; pure. */

#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define SECTOR_BYTES	512
#define NS_PER_S	((uint64_t)1000000000)

/* Room for any text that a format_* function makes; sectors are two numbers. */
#define UNITS_TEXT	32
#define SECTORS_TEXT	(2 * UNITS_TEXT)

/*
 * Each writes to @ret, which has room for UNITS_TEXT bytes, or SECTORS_TEXT, and
 * returns it.
 *
 * format_bytes	 three digits and a binary unit: "128 KiB", "1.50 GiB"
 * format_ns	 three digits and a unit of time: "1.25 ms"
 * format_count	 digits in groups of three: "1,234,567"
 * format_sectors  bytes and how many: "128 KiB (256 sectors)"
 * format_share	 @part of @whole in per cent: "99.9 %", "n/a" when @whole is 0
 * format_clock	 hours, minutes and seconds: "1:02:03", "0:07"
 */
char *format_bytes(char *ret, double bytes);
char *format_ns(char *ret, double ns);
char *format_count(char *ret, uint64_t count);
char *format_sectors(char *ret, uint64_t sectors);
char *format_share(char *ret, double part, double whole);
char *format_clock(char *ret, uint64_t ns);

/**
 * parse_duration - "100ms", "2s", "1.5m", "1h"; a bare number is seconds
 * @text: what to parse, no blanks
 * @ret: nanoseconds, above 0
 *
 * Return: 0; -EINVAL when it is no duration; -ERANGE beyond 100 years.
 */
int parse_duration(const char *text, uint64_t *ret);

/* parse_latency - the same of a duration that needs a unit: of 5 nobody knows whether it is seconds or milliseconds */
int parse_latency(const char *text, uint64_t *ret);

#endif
