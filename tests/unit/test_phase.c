// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Phases cut from what bonnie++ 2.00a, iozone and fio print, and our ddt, in awkward pieces. iozone's output is that of
 * real runs (CORPUS names their sources), fio's was captured from fio 3.33 with --eta=always; that of fio 2 is written
 * after its source.
 */

#include "unit.h"

#include "phase/phase.h"

#define CORPUS "../python/benchmark/corpus/printed.txt"

/* The phases of a text that comes in pieces of one size. */
static void feed(struct phase_cutter *cutter, enum stream stream,
		 const char *text, size_t piece, char *phases, size_t size)
{
	size_t len = strlen(text), used = 0;

	phases[0] = '\0';
	for (size_t at = 0; at < len; at += piece)
		if (phase_feed(cutter, stream, text + at, len - at < piece ? len - at : piece))
			used += (size_t)snprintf(phases + used, size - used, "%s%s", used ? " " : "",
						 cutter->now ? cutter->now : "-");
}

/* The phases of a whole text, of a program that is known by its words. */
static void expect_phases(char **argv, enum stream stream, const char *text, size_t piece, const char *expected)
{
	struct phase_cutter cutter;
	char phases[512];

	assert_true(phase_cutter_init(&cutter, NULL, argv));
	assert_non_null(cutter.program);
	feed(&cutter, stream, text, piece, phases, sizeof(phases));
	assert_string_equal(phases, expected);
}

/* Read the text behind the line of a name. */
static void read_corpus(const char *line, char *ret, size_t size)
{
	FILE *file = fopen(CORPUS, "r");
	char *begin, *end;
	size_t len;

	assert_non_null(file);
	len = fread(ret, 1, size - 1, file);
	assert_true(feof(file));
	ret[len] = '\0';
	fclose(file);
	begin = strstr(ret, line);
	assert_non_null(begin);
	begin += strlen(line);
	end = strstr(begin, "==> ");
	if (end)
		*end = '\0';
	memmove(ret, begin, strlen(begin) + 1);
}

/* Standard error of bonnie++ with -f -b -n 1, byte by byte as it was captured. */
static const char captured[] =
	"Using uid:0, gid:0.\n"
	"Writing intelligently...done\n"
	"Rewriting...done\n"
	"Reading intelligently...done\n"
	"start 'em...done...done...done...done...done...\n"
	"Create files in sequential order...done.\n"
	"Stat files in sequential order...done.\n"
	"Delete files in sequential order...done.\n"
	"Create files in random order...done.\n"
	"Stat files in random order...done.\n"
	"Delete files in random order...done.\n";

static const char *const phases_of_bonnie =
	"write - rewrite - read - seeks - create-seq - stat-seq - delete-seq -"
	" create-random - stat-random - delete-random -";

static char bonnie[] = "bonnie++", directory[] = "-d", place[] = "/mnt";
static char *argv_bonnie[] = { bonnie, directory, place, NULL };

/* No open phase is lost or invented at any size of the pieces. */
TEST(any_pieces)
{
	struct phase_cutter cutter;

	expect_phases(argv_bonnie, STREAM_STDERR, captured, 1, phases_of_bonnie);
	for (size_t piece = 1; piece < sizeof(captured); piece++) {
		unsigned int opened = 0;

		phase_cutter_init(&cutter, NULL, argv_bonnie);
		for (size_t at = 0; at < sizeof(captured) - 1; at += piece) {
			size_t left = sizeof(captured) - 1 - at;

			phase_feed(&cutter, STREAM_STDERR, captured + at, left < piece ? left : piece);
			opened += cutter.opened;
		}
		assert_int_equal(opened, 10);
		assert_null(cutter.now);
		/* Byte by byte no phase is missed. */
		assert_true(piece > 1 || !cutter.missed);
	}
}

/* The text of a phase ends exactly with its last byte. */
TEST(not_too_early)
{
	struct phase_cutter cutter;

	phase_cutter_init(&cutter, NULL, argv_bonnie);
	assert_false(phase_feed(&cutter, STREAM_STDERR, "Rewriting..", 11));
	assert_true(phase_feed(&cutter, STREAM_STDERR, ".", 1));
	assert_string_equal(cutter.now, "rewrite");
	assert_false(phase_feed(&cutter, STREAM_STDERR, "done", 4));
	assert_true(phase_feed(&cutter, STREAM_STDERR, "\n", 1));
	assert_null(cutter.now);
}

TEST(two_at_once)
{
	struct phase_cutter cutter;

	phase_cutter_init(&cutter, NULL, argv_bonnie);
	assert_true(phase_feed(&cutter, STREAM_STDERR,
			       "Writing intelligently...done\nRewriting...", 41));
	assert_string_equal(cutter.now, "rewrite");
	assert_int_equal(cutter.missed, 1);
	/* From one to the next without a pause is one cut. */
	assert_true(phase_feed(&cutter, STREAM_STDERR,
			       "done\nReading intelligently...", 29));
	assert_string_equal(cutter.now, "read");
	assert_int_equal(cutter.missed, 1);
}

TEST(other_output)
{
	struct phase_cutter cutter;
	char line[300];

	phase_cutter_init(&cutter, NULL, argv_bonnie);
	/* On the wrong stream, in mid-line, or beyond what a line can hold. */
	assert_false(phase_feed(&cutter, STREAM_STDOUT, "Rewriting...", 12));
	assert_false(phase_feed(&cutter, STREAM_STDERR, "so Rewriting...\n", 16));
	memset(line, 'x', sizeof(line));
	assert_false(phase_feed(&cutter, STREAM_STDERR, line, sizeof(line)));
	assert_false(phase_feed(&cutter, STREAM_STDERR, "\n", 1));
	assert_true(phase_feed(&cutter, STREAM_STDERR, "Rewriting...", 12));
	/* A newline on the other stream ends nothing. */
	assert_false(phase_feed(&cutter, STREAM_STDOUT, "\n", 1));
	assert_string_equal(cutter.now, "rewrite");
}

TEST(iozone_throughput)
{
	static char iozone[] = "iozone", t[] = "-t1", i0[] = "-i0", i1[] = "-i1",
		    i[] = "-i", two[] = "2";
	char *argv[] = { iozone, t, i0, i1, NULL };
	char *other[] = { iozone, t, i0, i, two, NULL };
	char shell[] = "sh", c[] = "-c", words[] = "cd /mnt; /opt/iozone -i 1 -t 2";
	char *wrapped[] = { shell, c, words, NULL };
	char text[16384];

	read_corpus("==> iozone-t-3.203 <==\n", text, sizeof(text));
	for (size_t piece = 1; piece < 64; piece += 7)
		expect_phases(argv, STREAM_STDOUT, text, piece, "write rewrite read");
	/* A test that no option selects is not the next phase. */
	expect_phases(other, STREAM_STDOUT, text, 1, "write rewrite random-read");
	expect_phases(wrapped, STREAM_STDOUT, "\tEach process writes a 4 kByte file in 4 kByte records\n"
		      "\tChildren see throughput for  2 readers \t\t=  1.0 kB/sec\n"
		      "\tChildren see throughput for 2 re-readers \t= 1.0 kB/sec\n", 1, "read reread -");
}

TEST(iozone_table)
{
	static char iozone[] = "iozone", a[] = "-a", i0[] = "-i", zero[] = "0",
		    one[] = "1";
	char *all[] = { iozone, a, NULL };
	char *some[] = { iozone, i0, zero, i0, one, NULL };
	struct phase_cutter cutter;
	char text[16384];

	read_corpus("==> iozone-a-3.506 <==\n", text, sizeof(text));
	expect_phases(all, STREAM_STDOUT, text, 1, "write+rewrite read+reread random-read+write backward-read record-rewrite "
		      "stride-read fwrite+refwrite fread+refread -");
	/* The program writes one piece for the begin of a line, and one for each test. */
	phase_cutter_init(&cutter, NULL, some);
	phase_feed(&cutter, STREAM_STDOUT, "   kB  reclen    write\n", 23);
	assert_true(phase_feed(&cutter, STREAM_STDOUT, "      20480      64", 19));
	assert_string_equal(cutter.now, "write+rewrite");
	assert_true(phase_feed(&cutter, STREAM_STDOUT, "   88100   90000", 16));
	assert_string_equal(cutter.now, "read+reread");
	assert_true(phase_feed(&cutter, STREAM_STDOUT, "  410000  411000", 16));
	assert_null(cutter.now);
	assert_int_equal(cutter.missed, 0);
}

/* Captured: a job, then two of one name after a stonewall. */
static const char fio3[] =
	"a: (g=0): rw=write, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=psync, iodepth=1\n"
	"b: (g=1): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n"
	"...\n"
	"fio-3.33\n"
	"Starting 3 processes\n"
	"Jobs: 1 (f=1), 0B/s-2048KiB/s: [W(1),P(2)][0.0%][w=1806KiB/s][w=28 IOPS][eta 49710d:06h:28m:14s]\r"
	"Jobs: 1 (f=1), 0B/s-2048KiB/s: [W(1),P(2)][42.9%][w=2031KiB/s][w=31 IOPS][eta 00m:04s]          \r"
	"\nJobs: 2 (f=2), 0B/s-2048KiB/s: [_(1),r(2)][80.0%][r=1530KiB/s,w=126KiB/s][r=382,w=1 IOPS][eta 00m:01s]\r"
	"\nJobs: 2 (f=2), 0B/s-2048KiB/s: [_(1),r(2)][100.0%][r=2050KiB/s][r=512 IOPS][eta 00m:00s]\r"
	"\na: (groupid=0, jobs=1): err= 0: pid=7663: Fri Nov 20 09:24:53 2026\n"
	"  write: IOPS=32, BW=2080KiB/s (2130kB/s)(4096KiB/1969msec); 0 zone resets\n";

TEST(fio)
{
	static const struct {
		const char *jobs;
		const char *eta;
		unsigned int left_s;
	} times[] = {
		{ "1", "49710d:06h:28m:14s", 0 }, { "1", "30d:00h:00m:00s", 0 },
		/* More jobs than there is room for their letters. */
		{ "99999", "10s", 10 }, { "1", "01h:02m:03s", 3723 },
	};
	static char name[] = "fio", job[] = "job.fio";
	char *argv[] = { name, job, NULL };
	struct phase_cutter cutter;
	char phases[512], line[128];

	for (size_t piece = 1; piece < 200; piece += 13)
		expect_phases(argv, STREAM_STDOUT, fio3, piece, "a b -");
	/* Time left, as long as it makes sense. A job without a name is named by its pattern. */
	phase_cutter_init(&cutter, NULL, argv);
	assert_false(phase_named(&cutter));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(line, sizeof(line), "Jobs: 1 (f=1): [W(%s)][0.0%%][w=1KiB/s][eta %s]\r", times[i].jobs, times[i].eta);
		feed(&cutter, STREAM_STDOUT, line, 1, phases, sizeof(phases));
		assert_int_equal(cutter.left_s, times[i].left_s);
		assert_string_equal(phases, i ? "" : "write");
	}
}

/* Letters of jobs. */
TEST(fio_letters)
{
	static const char *const cases[][2] = {
		/* One by one; jobs at the same time; all set up and none running. */
		{ "one: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\n"
		  "two: (g=0): rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\n"
		  "three: (g=1): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\n"
		  "fio-2.16\n"
		  "Jobs: 2 (f=2): [RwP] [40.0% done] [1024KB/1024KB/0KB /s] [256/256/0 iops] [eta 00m:03s]\r"
		  "Jobs: 1 (f=1): [R_P] [60.0% done] [1024KB/0KB/0KB /s] [256/0/0 iops] [eta 00m:02s]\r"
		  "Jobs: 0 (f=0): [__I] [70.0% done] [0KB/0KB/0KB /s] [0/0/0 iops] [eta 00m:02s]\r"
		  "Jobs: 1 (f=1): [__R] [90.0% done] [1024KB/0KB/0KB /s] [256/0/0 iops] [eta 00m:01s]\r",
		  "one+two one - three" },
		/* A job without a name is none. */
		{ "one: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K\n"
		  ": (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K\n"
		  "two: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K\n"
		  "Jobs: 2 (f=2): [RR] [40.0% done]\r", "one+two" },
		/* More jobs than were named: then by what each does. */
		{ "one: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K\nJobs: 2 (f=2): [RW] [40.0% done]\r", "read+write" },
	};
	static char name[] = "fio";
	char *argv[] = { name, NULL };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_phases(argv, STREAM_STDOUT, cases[i][0], 1, cases[i][1]);
}

TEST(own_programs)
{
	static char ddt[] = "tools/bin/ddt";
	char *argv[] = { ddt, place, NULL };
	struct phase_cutter cutter;

	assert_true(phase_cutter_init(&cutter, NULL, argv));
	assert_true(phase_named(&cutter));
	expect_phases(argv, STREAM_STDERR, "Writing...done\nPausing...done\nReading...done\n", 1, "write - pause - read -");
}

/* A name is a word: a file called fio.dat is no fio. */
TEST(which_program)
{
	static char dd[] = "dd", of[] = "of=/mnt/fio.dat", path[] = "/usr/bin/fio", timeout[] = "timeout", nine[] = "9",
		    shell[] = "sh", c[] = "-c", text[] = "ulimit -n 9; bonnie++ -f";
	char *programs[][4] = { { dd, of }, { timeout, nine, path }, { shell, c, text } };
	struct phase_cutter cutter;

	for (size_t i = 0; i < 3; i++) {
		assert_true(phase_cutter_init(&cutter, NULL, programs[i]));
		assert_int_equal(!!cutter.program, i > 0);
		if (!i)
			assert_false(phase_feed(&cutter, STREAM_STDERR, captured, sizeof(captured) - 1));
	}
	assert_true(phase_cutter_init(&cutter, "bonnie++", programs[0]));
	assert_non_null(cutter.program);
	assert_false(phase_cutter_init(&cutter, "bonnie", programs[0]));
}
