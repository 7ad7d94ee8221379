// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Each allocation of what raidctl does with numbers fails, one at a time: that
 * is what is answered, and all that was allocated until then is freed.
 *
 * SQLite has memory of its own here, which fails in a second round: a statement
 * that it could not make, or a row that it could not read.  The address sanitizer has an allocator of
 * its own, so with it nothing is run; tests/unit/memory does it to whole verbs.
 */

#include "unit.h"

#include <errno.h>
#include <malloc.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "disk/disk.h"
#include "full.h"
#include "machine/machine.h"
#include "report/report.h"
#include "store/store.h"
#include "store/db.h"
#include "trace.h"

#ifndef __SANITIZE_ADDRESS__

static char directory[] = "/tmp/raidtrace-memory-XXXXXX";
static char new_path[64], cgroups[64];

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);

static long left;	/* allocations until one fails; not counted at 0 */
static long alive;	/* that were not freed */
static bool counts, failed;
static enum { OURS, SQLITES } owner;

static bool fails(int of)
{
	if (!counts || of != (int)owner || !left || --left)
		return false;
	failed = true;
	return true;
}

static void *allocated(void *memory)
{
	alive += counts && memory;
	return memory;
}

void *malloc(size_t size)
{
	return fails(OURS) ? NULL : allocated(__libc_malloc(size));
}

void *calloc(size_t nr, size_t size)
{
	return fails(OURS) ? NULL : allocated(__libc_calloc(nr, size));
}

void *realloc(void *old, size_t size)
{
	/* Without more the C library goes on with what it has. */
	bool grows = !old || size > malloc_usable_size(old);
	void *memory = grows && fails(OURS) ? NULL : __libc_realloc(old, size);

	return old ? memory : allocated(memory);
}

void free(void *memory)
{
	alive -= counts && memory;
	__libc_free(memory);
}

/* A file of the libc has a buffer that comes and goes with it, and is none of raidctl's. */
static int size_of(void *memory)
{
	return memory ? (int)malloc_usable_size(memory) : 0;
}

static void *for_sqlite(int size)
{
	return fails(SQLITES) ? NULL : __libc_malloc((size_t)size);
}

static void *again_for_sqlite(void *old, int size)
{
	return fails(SQLITES) ? NULL : __libc_realloc(old, (size_t)size);
}

static int round_up(int size)
{
	return (size + 15) & ~15;
}

static int begin(void *data)
{
	(void)data;
	return SQLITE_OK;
}

static void end(void *data)
{
	(void)data;
}

static const sqlite3_mem_methods own_memory = {
	for_sqlite, __libc_free, again_for_sqlite, size_of, round_up, begin, end, NULL,
};

static int take_number(void *data, int nr, char **values, char **names)
{
	(void)nr;
	(void)names;
	*(long *)data = atol(values[0]);
	return 0;
}

static int make_recording(void)
{
	static struct rt_submitter submitters[FULL_SUBMITTERS];
	static const struct rt_target target = { .id = 1, .disk = "sda", .groups = 0xfff };
	static struct rt_counters c;
	struct store *store;
	int err;

	if (!c.now_ns) { /* once: it is not what is tried */
		bool was = counts;

		counts = false;
		c = (struct rt_counters){ .since_ns = 1, .now_ns = 2, .groups = 0xfff };
		full_counters(&c, submitters);
		counts = was;
	}
	err = store_create(new_path, &store);
	if (err)
		return err;
	err = store_begin(store) ?: store_put_target(store_rows(store), 1, &target) ?: store_begin_phase(store_rows(store), 1, "x", 1) ?:
	      store_put_setting(store_rows(store), 1, 1, "a", "b") ?: store_put_sample(store, 1, 1, &c) ?:
	      store_end_phase(store_rows(store), 1, 2) ?: store_put_output(store_rows(store), 1, "stdout", "x", 1) ?:
	      store_put_note(store_rows(store), 1, "a") ?: store_commit(store);
	store_close(store);
	if (!err && failed && owner == SQLITES) { /* success means that the rows are stored */
		long was = left, stored = -1;

		left = 0;
		counts = false;
		assert_int_equal(store_connect(new_path, &store), 0);
		assert_int_equal(sqlite3_exec(store->db, "SELECT sum(queued) FROM flow WHERE direction='read'",
					      take_number, &stored, NULL), SQLITE_OK);
		store_close(store);
		assert_int_equal(stored, c.flow[0].queued);
		counts = true;
		left = was;
	}
	store_remove(new_path);
	return err;
}

/* Rows for the thread that stores: no row is stored in part. */
static int hand_over(struct writer *writer)
{
	static const struct rt_target target = { .id = 1, .disk = "sda" };
	struct rt_counters c = { .since_ns = 1, .now_ns = 2 };

	return rt_histogram_count(&c.histogram[0][0], 3, 4) ?: writer_put_sample(writer, 1, 1, &c) ?:
	       store_put_target(writer_rows(writer), 1, &target) ?: store_begin_phase(writer_rows(writer), 1, "x", 1) ?: store_put_setting(writer_rows(writer), 1, 1, "a", "b") ?:
	       store_put_meta(writer_rows(writer), "a", "b") ?: store_put_output(writer_rows(writer), 1, "stdout", "x", 1) ?:
	       store_end_phase(writer_rows(writer), 1, 2);
}

static int write_thread(void)
{
	static struct store *store;
	struct writer *writer;
	bool was = counts;
	int err;

	counts = false; /* it is used by a thread, later */
	err = store_create(new_path, &store);
	counts = was;
	err = err ?: writer_start(store, &writer);
	if (!err) {
		err = hand_over(writer);
		writer_drop(writer);
		writer_stop(writer);
	}
	counts = false;
	store_close(store);
	store_remove(new_path);
	counts = was;
	return err;
}

static int ignore_sample(void *data, const struct blktrace_device *device, const struct rt_counters *span)
{
	(void)data;
	(void)device;
	(void)span;
	return 0;
}

/* A trace of two disks: a read with all of its events, and a write that is merged. */
static int import(void)
{
	static struct trace trace;
	struct blktrace_reader reader = { 0 };
	struct blktrace_merge merge = { .nr = 1, .readers = &reader };
	struct blktrace_import import = { .merge = &merge, .interval_ns = 1000, .sample = ignore_sample };
	struct blktrace_input input = { trace_read, &trace };
	int err;

	trace_begin(&trace, 2, false);
	for (uint64_t n = 1; n < 40; n++) {
		trace.device = n % 2 ? SDA : SDB;
		trace_put(&trace, 100 * n, Q | R, 800 * n, 4096);
		trace_put(&trace, 100 * n + 1, G | R, 800 * n, 4096);
		trace_put(&trace, 100 * n + 2, M | W, 800 * n + 8, 4096);
		trace_put(&trace, 100 * n + 3, I | R, 800 * n, 8192);
		trace_put(&trace, 100 * n + 4, D | R, 800 * n, 8192);
		trace_put(&trace, 100 * n + 5, n % 3 ? C | R : REQUEUE | R, 800 * n, 8192);
	}
	err = blktrace_open(&reader, input, 4096) ?: blktrace_merge_open(&merge, 4) ?: blktrace_import_run(&import);
	blktrace_import_free(&import);
	blktrace_merge_close(&merge);
	blktrace_close(&reader);
	return err;
}

static int interrupts(void)
{
	struct interrupt_table table;
	int err = interrupts_parse("  CPU0 CPU1\n 24: 3 7 PCI-MSI 9-edge 3w-9xxx\n 25: 7 0 PCI 1-edge a\n", &table);

	if (!err)
		interrupts_free(&table);
	return err;
}

static int ignore_setting(void *data, const char *name, const char *value)
{
	(void)data;
	(void)name;
	(void)value;
	return 0;
}

static int settings(void)
{
	struct settings settings = { .changed = ignore_setting };
	int err = settings_set(&settings, "a", "1") ?: settings_set(&settings, "b", "2") ?: settings_set(&settings, "a", "3");

	settings_free(&settings);
	return err;
}

/* A directory takes the place of a hierarchy of cgroups. */
static int limits(void)
{
	struct cgroup_limits read;
	int err = cgroup_limits_read(cgroups, 2, &read);
	char *text = err ? NULL : cgroup_limits_of(&read, 0, "8:0");

	cgroup_limits_free(&read);
	free(text);
	return err ? err : text ? 0 : -ENOMEM;
}

static int requests(void)
{
	static const struct rt_ended ended[3];
	struct requests requests = { 0 };
	int err = requests_add(&requests, ended, 3) ?: requests_add(&requests, ended, 3);

	free(requests.ended);
	return err;
}

TEST(each_allocation_fails)
{
	static const struct {
		const char *name;
		int (*run)(void);
		int least;	/* allocations */
		int tolerated;	/* of them: the run has an alternative, as to sort */
	} cases[] = {
		{ "make", make_recording, 5, 1 },
		{ "interrupts", interrupts, 2, 0 }, { "settings", settings, 4, 0 },
		{ "limits", limits, 8, 3 /* asprintf */ }, { "requests", requests, 2, 0 },
		{ "write", write_thread, 10, 0 },
		{ "import", import, 12, 0 },
	};

	owner = OURS;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = 0, err, tolerated = 0;

		assert_int_equal(cases[i].run(), 0); /* what is made once */
		do {
			failed = false;
			alive = 0;
			left = ++n;
			counts = true;
			err = cases[i].run();
			counts = false;
			if (alive)
				fail_msg("%s: allocation %d fails: %ld are not freed", cases[i].name, n, alive);
			tolerated += failed && !err;
			if ((err && (err != -ENOMEM || !failed)) || tolerated > cases[i].tolerated)
				fail_msg("%s: allocation %d fails: %d", cases[i].name, n, err);
		} while (failed);
		if (n < cases[i].least)
			fail_msg("%s: %d allocations", cases[i].name, n);
	}
}

/* SQLite can often continue without memory, but success always means that all is stored. */
TEST(each_of_sqlite_fails)
{
	int n = 0, err, refused = 0;

	owner = SQLITES;
	do {
		failed = false;
		alive = 0;
		left = n += n < 200 ? 1 : 7;
		counts = true;
		err = make_recording();
		counts = false;
		refused += err != 0;
		if (alive || (err && err != -ENOMEM) || (err && !failed))
			fail_msg("allocation %d of SQLite fails: %d, %ld are not freed", n, err, alive);
	} while (failed);
	assert_true(refused > 20);
}

static int set_up(void **state)
{
	char command[256];

	(void)state;
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &own_memory) != SQLITE_OK || !mkdtemp(directory))
		return -1;
	snprintf(new_path, sizeof(new_path), "%s/new.rtdb", directory);
	snprintf(cgroups, sizeof(cgroups), "%s/cgroups", directory);
	snprintf(command, sizeof(command), "mkdir -p %s/a && echo 8:0 rbps=1 wbps=max riops=max wiops=max >%s/a/io.max", cgroups, cgroups);
	return system(command);
}

static int clean_up(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

GROUP_FIXTURE(set_up, clean_up)

#else

TEST(nothing_is_run_with_the_address_sanitizer)
{
}

#endif
