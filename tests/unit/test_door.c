// SPDX-License-Identifier: GPL-2.0-or-later

/* The size of the rings of BPF programs. */

#include "unit.h"

#include "../../tools/libraidtrace/door.c"

static unsigned int size_of(const char *given, unsigned int nr, char *text, size_t size)
{
	text[0] = '\0';
	if (given)
		setenv("RAIDTRACE_RING_BYTES", given, 1);
	else
		unsetenv("RAIDTRACE_RING_BYTES");
	return ring_bytes(nr, text, size);
}

TEST(ring_of_the_environment)
{
	static const char *const wrong[] = {
		"", "0", "1", "2048", "4095", "4097", "6144", "4194304", "4k", "-4096", "4096 ", "x",
		"4294971392", "99999999999999999999999",
	};
	char text[256];

	assert_int_equal(size_of("4096", 1, text, sizeof(text)), 4096);
	assert_int_equal(size_of("0x10000", 1, text, sizeof(text)), 65536);
	assert_int_equal(size_of("2097152", 64, text, sizeof(text)), 2097152);
	assert_string_equal(text, "");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (size_of(wrong[i], 1, text, sizeof(text)) ||
		    !strstr(text, "a power of two from 4096 to 2097152"))
			fail_msg("%s: %s", wrong[i], text);
	size_of("4k", 1, text, sizeof(text));
	assert_string_equal(text, "RAIDTRACE_RING_BYTES is \"4k\", but must be a power of two from 4096 to 2097152; "
			    "correct it, or unset it");
}

TEST(ring_by_processors)
{
	char text[256];

	assert_int_equal(size_of(NULL, 1, text, sizeof(text)), 2 << 20);
	assert_int_equal(size_of(NULL, 64, text, sizeof(text)), 1 << 20);
	assert_int_equal(size_of(NULL, 4096, text, sizeof(text)), 256 << 10);
}
