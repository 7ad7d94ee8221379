// SPDX-License-Identifier: GPL-2.0-or-later

/* Numbers with units to text and back. */

#include "unit.h"

#include <errno.h>

#include "base/base.h"
#include "format/format.h"

TEST(bytes)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" }, { 512, "512 B" }, { 1023, "1023 B" },
		{ 1024, "1 KiB" }, { 131072, "128 KiB" }, { 1536, "1.50 KiB" },
		{ 129024, "126 KiB" }, { 1047552, "1023 KiB" },
		{ 1048064, "1.00 MiB" }, { 1048575, "1.00 MiB" },
		{ 1048576, "1 MiB" }, { 892269232128.0, "831 GiB" },
		{ 10.0 * 1024 * 1024 * 1024 + 1, "10.0 GiB" },
	};
	char text[UNITS_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(format_bytes(text, cases[i].bytes), cases[i].text);
}

TEST(nanoseconds)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 999.5, "1.00 us" }, { 1000, "1.00 us" },
		{ 999.6e3, "1.00 ms" }, { 1.25e6, "1.25 ms" },
		{ 12.34e6, "12.3 ms" }, { 123.4e6, "123 ms" },
		{ 999.6e6, "1.00 s" }, { 3600e9, "3600 s" },
	};
	char text[UNITS_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(format_ns(text, cases[i].ns), cases[i].text);
}

TEST(counts)
{
	char text[UNITS_TEXT];

	assert_string_equal(format_count(text, 0), "0");
	assert_string_equal(format_count(text, 999), "999");
	assert_string_equal(format_count(text, 1000), "1,000");
	assert_string_equal(format_count(text, 1234567), "1,234,567");
	assert_string_equal(format_count(text, UINT64_MAX),
			    "18,446,744,073,709,551,615");
}

/* All is 100 and nothing is 0; what lies between never looks like either. */
TEST(shares)
{
	char text[UNITS_TEXT];

	assert_string_equal(format_share(text, 0, 0), "n/a");
	assert_string_equal(format_share(text, 0, 10), "0.0 %");
	assert_string_equal(format_share(text, 10, 10), "100.0 %");
	assert_string_equal(format_share(text, 999999, 1000000), "99.9 %");
	assert_string_equal(format_share(text, 1, 1000000), "<0.1 %");
	assert_string_equal(format_share(text, 1, 3), "33.3 %");
}

TEST(clocks)
{
	char text[UNITS_TEXT];

	assert_string_equal(format_clock(text, 7 * NS_PER_S), "0:07");
	assert_string_equal(format_clock(text, 3599 * NS_PER_S), "59:59");
	assert_string_equal(format_clock(text, 3723 * NS_PER_S), "1:02:03");
}

TEST(durations)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "1", NS_PER_S }, { "100ms", 100000000 }, { "2s", 2 * NS_PER_S },
		{ "1.5m", 90 * NS_PER_S }, { "1h", 3600 * NS_PER_S },
		{ "10us", 10000 }, { "5ns", 5 }, { "0.25", 250000000 },
		{ "2min", 120 * NS_PER_S },
	};
	static const char *const bad[] = {
		"", "0", "-1", "+1", "s", "1x", "1 s", "nan", "inf", "0x10",
		"1ss", "0.1ns", "1e", "ms",
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(parse_duration(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ns = 42;
		assert_int_equal(parse_duration(bad[i], &ns), -EINVAL);
		assert_int_equal(ns, 42);
	}
	assert_int_equal(parse_duration("1e30h", &ns), -ERANGE);
	assert_int_equal(parse_latency("5", &ns), -EINVAL);
	assert_int_equal(parse_latency("0.5", &ns), -EINVAL);
	assert_int_equal(parse_latency("", &ns), -EINVAL);
	assert_int_equal(parse_latency("5ms", &ns), 0);
	assert_int_equal(ns, 5000000);
}

/* RFC 4180: what has to be quoted, and how a record ends. */

static void row(int nr, const char *const *fields, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	csv_row(to, nr, fields);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
}

TEST(quoting)
{
	row(3, (const char *const[]){ "a", "b c", "1" }, "a,b c,1\r\n");
	row(2, (const char *const[]){ "a,b", "say \"x\"" },
	    "\"a,b\",\"say \"\"x\"\"\"\r\n");
	row(2, (const char *const[]){ "two\nlines", "cr\r" },
	    "\"two\nlines\",\"cr\r\"\r\n");
	row(3, (const char *const[]){ NULL, "", NULL }, ",,\r\n");
	row(1, (const char *const[]){ "\"" }, "\"\"\"\"\r\n");
}
