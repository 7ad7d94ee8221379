// SPDX-License-Identifier: GPL-2.0-or-later

/* Readings of the machine during a recording. */

#include "unit.h"

#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Two children that compute on one processor: each waits while the other runs. */
TEST(time_without_a_processor)
{
	const struct tree_use ended = { 0 };
	struct tree_use use = { 0 };
	pid_t children[2];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i]) {
			sched_setaffinity(0, sizeof(one), &one);
			for (;;)
				;
		}
	}
	for (int i = 0; i < 100 && use.waited_ns < 20000000; i++) {
		usleep(100000);
		tree_read(getpid(), &ended, &use);
		if (!use.waited_known)
			break;
	}
	for (int i = 0; i < 2; i++)
		kill(children[i], SIGKILL);
	for (int i = 0; i < 2; i++)
		waitpid(children[i], NULL, 0);
	assert_true(!use.waited_known || use.waited_ns >= 20000000);
}
