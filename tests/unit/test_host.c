// SPDX-License-Identifier: GPL-2.0-or-later

/* Readings of the machine during a recording. */

#include "unit.h"

#include <glob.h>

#include "machine/machine.h"
#include "store/store.h"

static unsigned int nr_globs;

/* Instead of libc's: the search of a device's interrupts begins with it. */
int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *ret)
{
	(void)pattern;
	(void)flags;
	(void)failed;
	(void)ret;
	nr_globs++;
	return GLOB_NOMATCH;
}

static int put_nothing(struct rows *to, const char *sql, const struct cell *cells, int nr)
{
	(void)to;
	(void)sql;
	(void)cells;
	(void)nr;
	return 0;
}

/* Interrupts that did not occur have no row, so no device is searched for them. */
TEST(search_of_changed_interrupts)
{
	static struct disk disk = { .above.pci = "0000:ff:1f.7" };
	struct rows rows = { .put = put_nothing };
	struct interrupt_table before = { 0 };
	unsigned int changed = 0;
	struct host host;
	const char *text;

	assert_int_equal(host_begin(&host, &disk, 1, 1), 0);
	text = proc_read(&host.interrupts);
	if (!text || !host.lines.nr) {
		host_end(&host);
		skip();
	}
	/* host_look() compares with the reading of host_begin(). */
	interrupts_free(&host.lines);
	assert_int_equal(interrupts_parse(text, &host.lines), 0);
	assert_int_equal(interrupts_parse(text, &before), 0);
	nr_globs = 0;
	assert_int_equal(host_look(&host, 2, &rows), 0);
	for (size_t i = 0; i < host.lines.nr; i++) {
		const uint64_t *then = interrupts_of(&before, host.lines.lines[i].number);

		changed += then && memcmp(then, &host.lines.counts[host.lines.lines[i].first],
					  host.lines.nr_processors * sizeof(*then));
	}
	assert_int_equal(nr_globs, changed);
	interrupts_free(&before);
	host_end(&host);
}
