// SPDX-License-Identifier: GPL-2.0-or-later

/* The exporter's counters per cgroup, while the module gives rows to others. */

#include "unit.h"

#include "export/openmetrics.h"
#include "machine/machine.h"

/* Stands in for the machine's hierarchy: cgroups from 90 on were removed. */
static void name_them(struct rt_counters *counters)
{
	for (size_t i = 0; i < counters->nr_submitters; i++) {
		struct rt_submitter *one = &counters->submitters[i];

		snprintf(one->path, sizeof(one->path), one->cgroup >= 90 ? "removed (%u)" : "/%u", (unsigned int)one->cgroup);
	}
}

#define cgroups_name name_them
#include "../../tools/exporter/cgroups.c"

#define ROW(row, process, of, nr) { .index = row, .pid = process, .comm = "dd", .cgroup = of, .queued = nr, .bytes_queued = 8 * (nr) }

/* One scrape of a disk with these rows; how many bios of the cgroup are shown, -1 for none. */
static long long shown_of(uint32_t id, uint64_t since_ns, const struct rt_submitter *rows, size_t nr, const char *path)
{
	struct rt_counters now = { .id = id, .since_ns = since_ns };
	long long queued_bios = -1;

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(rt_submitters_append(&now, &rows[i]), 0);
	assert_int_equal(cgroups_follow(&now), 0);
	cgroups_scraped();
	for (size_t i = 0; i < now.nr_submitters; i++) {
		assert_int_equal(now.submitters[i].bytes_queued, 8 * now.submitters[i].queued);
		if (!strcmp(now.submitters[i].path, path))
			queued_bios = (long long)now.submitters[i].queued;
	}
	rt_counters_free(&now);
	return queued_bios;
}

#define shown(id, since_ns, path, ...)							\
	shown_of(id, since_ns, (const struct rt_submitter[]){ __VA_ARGS__ },		\
		 sizeof((const struct rt_submitter[]){ __VA_ARGS__ }) / sizeof(struct rt_submitter), path)

static int begin(void **state)
{
	(void)state;
	cgroups_scraped();
	cgroups_scraped();
	scrape = 0;
	return 0;
}

/* Bios before the exporter began are not counted: after its restart none may be counted twice. */
FIXTURE_TEST(begins_at_nothing, begin, NULL)
{
	assert_int_equal(shown(1, 5, "/7", ROW(0, 10, 7, 100), ROW(1, 11, 7, 50)), 0);
	assert_int_equal(shown(1, 5, "/7", ROW(0, 10, 7, 104), ROW(1, 11, 7, 53)), 7);
}

/* The row goes to another process, of another cgroup or of the same; the counter stands or grows. */
FIXTURE_TEST(never_shrinks, begin, NULL)
{
	cgroups_scraped();
	/* Attached later than the first scrape: all of it counts. */
	assert_int_equal(shown(1, 5, "/7", ROW(0, 10, 7, 100)), 100);
	assert_int_equal(shown(1, 5, "/7", ROW(0, 12, 8, 300)), 100);
	assert_int_equal(shown(1, 5, "/8", ROW(0, 12, 8, 300)), 300);
	assert_int_equal(shown(1, 5, "/9", ROW(0, 12, 9, 310)), 310);
	assert_int_equal(shown(1, 5, "/7", ROW(0, 10, 7, 4)), 104);
	assert_int_equal(shown(1, 5, "/7", ROW(0, 10, 7, 3)), 107);
	assert_int_equal(shown(1, 5, "/7", ROW(0, 13, 7, 9)), 116);
}

/* After a reset, or with another module, the same number of a target is another beginning. */
FIXTURE_TEST(begins_anew, begin, NULL)
{
	cgroups_scraped();
	assert_int_equal(shown(1, 5, "/7", ROW(0, 10, 7, 100)), 100);
	assert_int_equal(shown(1, 6, "/7", ROW(0, 10, 7, 30)), 30);
	cgroups_scraped();
	assert_int_equal(shown(1, 6, "/7", ROW(0, 10, 7, 31)), 31);
}

FIXTURE_TEST(rest_is_left_out, begin, NULL)
{
	const struct rt_submitter rest = { .index = 64, .rest = true, .queued = 9, .bytes_queued = 72 };

	assert_int_equal(shown_of(1, 5, &rest, 1, "/0"), -1);
}

/* A removed cgroup is shown as long as it has a row, which may be after its end. */
FIXTURE_TEST(removed_goes, begin, NULL)
{
	cgroups_scraped();
	assert_int_equal(shown(1, 5, "removed (91)", ROW(0, 10, 91, 2)), 2);
	assert_int_equal(shown(1, 5, "removed (91)", ROW(0, 10, 91, 2)), 2);
	assert_int_equal(shown(1, 5, "removed (91)", ROW(0, 12, 7, 1)), -1);
}

/* The number of cgroups that are kept is bounded; idle ones are dropped first. */
FIXTURE_TEST(bounded, begin, NULL)
{
	cgroups_scraped();
	for (unsigned int i = 0; i < 4 * CGROUPS; i++)
		assert_int_equal(shown(1, 5, "/80", ROW(0, 10, 1000 + i, 1), ROW(1, 5, 80, i + 1)), i + 1);
	assert_int_equal(disks[0].sums.nr_submitters, 2);
	for (unsigned int i = 0; i < 4 * CGROUPS; i++)
		assert_int_equal(rt_submitters_append(&disks[0].sums, &(struct rt_submitter){ .cgroup = i % 80 }), 0);
	assert_int_equal(shown(1, 5, "/80", ROW(1, 5, 80, 4 * CGROUPS + 7)), 4 * CGROUPS + 7);
	assert_int_equal(disks[0].sums.nr_submitters, CGROUPS);
}

GROUP_FIXTURE(begin, begin)
