// SPDX-License-Identifier: GPL-2.0-or-later

/* Names of any bytes are printed to a terminal, JSON and CSV in a form that each accepts; plain names do not change. */

#include "unit.h"

#include <inttypes.h>

#include "format/format.h"
#include "base/base.h"

#define ROUNDS	20000

static char *text;
static size_t size;

static FILE *begin(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &size);
}

static void is(FILE *to, const char *expected)
{
	fclose(to);
	assert_string_equal(text, expected);
}

static void expect_visible(const char *from, const char *expected, size_t columns)
{
	size_t wide;
	char *got = foreign_visible(from, SIZE_MAX, &wide);

	assert_string_equal(got, expected);
	assert_int_equal(wide, columns);
	free(got);
}

TEST(visible_texts)
{
	expect_visible("", "", 0);
	expect_visible("bonnie++ \\ \"x\"", "bonnie++ \\ \"x\"", 14);
	expect_visible("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 3);
	expect_visible("a\033]0;x\a", "a\\x1b]0;x\\x07", 13);
	expect_visible("two\nlines\tand\r\x7f", "two\\nlines\\tand\\r\\x7f", 21);
	/* Cut inside a character, as the kernel cuts names. */
	expect_visible("caf\xc3", "caf\\xc3", 7);
	expect_visible("\xe2\x82", "\\xe2\\x82", 8);
	/* A control in UTF-8, one by its byte, one that turns the direction. */
	expect_visible("\xc2\x80", "\\u0080", 6);
	expect_visible("\xc2\x9b" "31m\x9b", "\\u009b31m\\x9b", 13);
	expect_visible("\xe2\x80\xae", "\\u202e", 6);
	expect_visible("\xf3\xa0\x81\x81", "\\U000e0041", 10);
	/* Longer than need be, a surrogate, beyond Unicode. */
	expect_visible("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80", 36);
}

/* Every character there is, and which of them are hidden. */
TEST(every_character)
{
	char hidden[512] = "";
	size_t used = 0;

	for (uint32_t code = 0; code < 0x200000; code++) {
		bool is = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
		size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		char raw[4] = { (char)code };
		uint32_t got = 7;

		for (size_t i = bytes; i-- > 1;)
			raw[i] = (char)(0x80 | (code >> 6 * (bytes - 1 - i) & 0x3f));
		if (bytes > 1)
			raw[0] = (char)(0xf0 << (4 - bytes) | code >> 6 * (bytes - 1));
		if (foreign_next(raw, bytes, &got) != (is ? bytes : 1) || got != (is ? code : FOREIGN_INVALID))
			fail_msg("%x is taken for %x", code, got);
		/* Cut short it is none, and a byte that is left is no begin. */
		if (bytes > 1 && (foreign_next(raw, bytes - 1, &got) != 1 || got != FOREIGN_INVALID ||
				  foreign_next(raw + 1, bytes - 1, &got) != 1 || got != FOREIGN_INVALID))
			fail_msg("a part of %x is taken for %x", code, got);
		if (code && foreign_is_hidden(code) != foreign_is_hidden(code - 1))
			used += (size_t)snprintf(hidden + used, sizeof(hidden) - used, " %x", code);
	}
	assert_true(foreign_is_hidden(0));
	assert_string_equal(hidden, " 20 7f a0 ad ae 61c 61d 200b 2010 2028 202f 2060 2070 feff ff00 fff9 fffc e0000 e1000");
	for (unsigned int pair = 0; pair < 0x10000; pair++) { /* longer than need be, and what follows no begin */
		char raw[4] = { (char)(pair >> 8), (char)pair, '\x80', '\x80' };
		unsigned int first = pair >> 8, next = pair & 0xff;
		bool follows = next >= 0x80 && next < 0xc0;
		size_t bytes = first < 0x80 ? 1 : !follows || first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 :
			       first < 0xf0 ? first == 0xe0 && next < 0xa0 ? 0 : first == 0xed && next > 0x9f ? 0 : 3 :
			       (first == 0xf0 && next < 0x90) || (first == 0xf4 && next > 0x8f) ? 0 : 4;
		uint32_t got;

		if (foreign_next(raw, 4, &got) != (bytes ? bytes : 1) || (got == FOREIGN_INVALID) != !bytes)
			fail_msg("%04x is taken for %x", pair, got);
	}
	/* Without an end, and with one before its length. */
	assert_int_equal(foreign_cut("a\xc3\xa4\xff" "b", 3), 4);
	assert_int_equal(foreign_cut("a\xc3\xa4\xff" "b", 9), 5);
	assert_int_equal(foreign_cut("", 1), 0);
}

TEST(formats)
{
	FILE *to = begin();

	terminal_print(to, "%s|%5s|%-5s|%.2s|%*s|%-*s|%%|%c|", "a", "b", "c", "defg", 3, "h", -4, "i", 'j');
	terminal_print(to, "%d %5d %-5d| %05d %+d %u %x %ld %lld %zu %" PRIu64 " %" PRIu32 " %hhd|",
		       -1, 2, 3, 4, 5, 6U, 255, -7L, -8LL, (size_t)9, UINT64_MAX, UINT32_MAX, 10);
	terminal_print(to, "%f %.3f %8.1f %+11.1f %e %g", 1.5, 2.25, 3.06, -4.04, 5.0, 6.5);
	is(to, "a|    b|c    |de|  h|i   |%|j|"
	   "-1     2 3    | 00004 +5 6 ff -7 -8 9 18446744073709551615 4294967295 10|"
	   "1.500000 2.250      3.1        -4.0 5.000000e+00 6.5");
	to = begin();
	terminal_print(to, "%ld %lld %jd %zu %td %hd %hhd", LONG_MIN, LLONG_MAX, INTMAX_MIN, SIZE_MAX, PTRDIFF_MIN, (short)70000, 300);
	is(to, "-9223372036854775808 9223372036854775807 -9223372036854775808 18446744073709551615 -9223372036854775808 4464 44");
	/* Columns count visible characters. */
	to = begin();
	terminal_print(to, "%-6s|%6s|\n", "\xc3\xa4\033", "\xe2\x82\xac");
	is(to, "\xc3\xa4\\x1b |     \xe2\x82\xac|\n");
	to = begin();
	/* The bytes of an attribute make none. */
	terminal_print(to, "%s", "\033[1m");
	is(to, "\\x1b[1m");
	to = begin();
	print_wrapped(to, "one\ntwo \033[2J", 2);
	is(to, "one\\ntwo \\x1b[2J\n");
}

TEST(json)
{
	struct json_object *object = json_new_object();
	FILE *to = begin();

	json_add_text(object, "caf\xc3", "\xc3\xa4\033\xff\xc2\x9b\x7f");
	json_finish(to, object);
	is(to, "{\n  \"caf\\ufffd\":\"\xc3\xa4\\u001b\\ufffd\\u009b\\u007f\"\n}\n");
}

static const char *cell(const char *field)
{
	FILE *to = begin();

	csv_row(to, 1, &field);
	fclose(to);
	text[strcspn(text, "\r")] = '\0';
	return text;
}

TEST(formulas)
{
	static const char *const unchanged[] = { "-1", "+2", "-1.5e-3", "0", "+.5", "a=b", "a-b", "'", " =1" };

	for (size_t i = 0; i < sizeof(unchanged) / sizeof(unchanged[0]); i++)
		assert_string_equal(cell(unchanged[i]), unchanged[i]);
	assert_string_equal(cell("=1+1"), "'=1+1");
	assert_string_equal(cell("@x"), "'@x");
	assert_string_equal(cell("\t=1"), "'\t=1");
	assert_string_equal(cell("-"), "'-");
	assert_string_equal(cell("-1+cmd"), "'-1+cmd");
	assert_string_equal(cell("+1-1"), "'+1-1");
	assert_string_equal(cell("-0x10"), "'-0x10");
	assert_string_equal(cell("-inf"), "'-inf");
	assert_string_equal(cell("=\"a\",1"), "\"'=\"\"a\"\",1\"");
	assert_string_equal(cell("caf\xc3"), "caf\xef\xbf\xbd");
}

static void one_harmless_line(const char *line, size_t len)
{
	while (len) {
		uint32_t code;
		size_t bytes = foreign_next(line, len, &code);

		assert_int_not_equal(code, FOREIGN_INVALID);
		assert_false(foreign_is_hidden(code));
		line += bytes;
		len -= bytes;
	}
}

/* Bytes that parsers and terminals care for, more often than by chance. */
static void random_name(char *name, size_t most)
{
	static const char some[] = "\033[]=+-@\"\\,\n\r\t \xc3\xa4\xc2\x9b\xe2\x80\xae\xf0\x9f\xff'{}:0a";
	size_t len = (size_t)random() % most;

	for (size_t i = 0; i < len; i++)
		name[i] = random() % 3 ? some[(size_t)random() % (sizeof(some) - 1)] :
					 (char)(1 + random() % 255);
	name[len] = '\0';
}

TEST(random_names)
{
	char name[24];

	srandom(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct json_object *object = json_new_object(), *back, *value;
		FILE *to = begin();
		char *made;
		const char *repaired;

		random_name(name, sizeof(name));
		terminal_print(to, "%s%4s%-9.5s", name, name, name);
		fclose(to);
		one_harmless_line(text, size);

		to = begin();
		json_member(object, "name", json_new_string(name));
		json_finish(to, object);
		fclose(to);
		back = json_tokener_parse(text);
		assert_true(json_object_object_get_ex(back, "name", &value));
		repaired = foreign_utf8(name, &made);
		assert_string_equal(json_object_get_string(value), repaired);
		json_object_put(back);
		free(made);

		cell(name);
		assert_null(strchr("=@\t\r", text[text[0] == '"'] ? text[text[0] == '"'] : 'x'));
	}
}

static int free_text(void **state)
{
	(void)state;
	free(text);
	return 0;
}

GROUP_FIXTURE(NULL, free_text)
