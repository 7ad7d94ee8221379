// SPDX-License-Identifier: GPL-2.0-or-later

/* Disturbances between two looks, and the texts that looks are made of. */

#include "unit.h"

#include <sys/stat.h>

#include "machine/machine.h"
#include "watch/watch.h"

#define SECOND	1000000000ULL

/* Kinds and values of disturbances in order; in full with unit, time and text, behind the rows. */
static char printed[8192];
static bool in_full;

static void __attribute__((format(printf, 1, 2))) print(const char *format, ...)
{
	size_t used = strlen(printed);
	va_list args;

	va_start(args, format);
	vsnprintf(printed + used, sizeof(printed) - used, format, args);
	va_end(args);
}

static const char *judge(const struct look *before, const struct look *after)
{
	struct changes changes = { 0 };

	printed[0] = '\0';
	assert_int_equal(look_judge(before, after, 100, &changes), 0);
	for (size_t i = 0; i < changes.nr_rows && in_full; i++) {
		const struct host_row *row = &changes.rows[i];

		print("%s: %s: %s %lld %s, %.1f to %.1f s\n", row->source, row->subject, row->name,
		      (long long)row->value, row->unit, (double)row->start_ns / SECOND, (double)row->end_ns / SECOND);
	}
	for (size_t i = 0; i < changes.nr_disturbances; i++) {
		const struct disturbance *what = &changes.disturbances[i];

		print("%s %s %lld", what->kind, what->subject, (long long)what->value);
		if (in_full)
			print(" %s, %.1f to %.1f s: %s\n", what->unit, (double)what->start_ns / SECOND,
			      (double)what->end_ns / SECOND, what->text);
		else
			print(";");
	}
	changes_free(&changes);
	return printed;
}

/* A look at @seconds at which nothing has happened. */
static struct look quiet(unsigned int seconds)
{
	return (struct look){
		.time_ns = seconds * SECOND, .pressure_us = 0, .throttled = 0,
		.swapped_pages = 0, .steal_ticks = 0, .nr_processors = 2,
		.clocksource = "tsc", .governor = "performance",
	};
}

TEST(each_limit)
{
	struct look before = quiet(1), after = quiet(2);

	/* Set and set back: nothing of it is left in the time. */
	after.clock_set = true;
	assert_string_equal(judge(&before, &after), "clock  0;");
	/* A clock that is set while the machine sleeps. */
	after.slept_ns = 5 * (int64_t)SECOND;
	after.wall_ns = after.slept_ns + 2400000;
	assert_string_equal(judge(&before, &after), "suspend  5000000000;");
	after.wall_ns = 0;
	assert_string_equal(judge(&before, &after),
			    "suspend  5000000000;clock  -5000000000;");
	after = quiet(2);
	after.slept_ns = after.wall_ns = 5 * (int64_t)SECOND;
	strcpy(after.clocksource, "hpet");
	strcpy(after.governor, "powersave");
	after.throttled = 3;
	assert_string_equal(judge(&before, &after),
			    "suspend  5000000000;clocksource hpet 1;governor powersave 1;thermal  3;");
	/* An unknown value is no disturbance. */
	after = quiet(2);
	before.pressure_us = FACT_UNKNOWN;
	after.pressure_us = 5000000;
	assert_string_equal(judge(&before, &after), "");
}

static struct look_process process(int pid, int parent, uint64_t ticks, uint64_t bytes, enum look_process_role role)
{
	struct look_process ret = {
		.process = { .pid = pid, .parent = parent, .start = 1,
			     .name = "x", .ticks = ticks },
		.io = { .read_bytes = bytes }, .io_known = true, .role = role,
	};

	return ret;
}

TEST(processes)
{
	struct look before = quiet(1), after = quiet(2);
	struct look_process then[] = {
		process(10, 1, 100, 0, ROLE_OTHER),
		process(11, 10, 50, 1 << 20, ROLE_OTHER),
		process(12, 1, 0, 0, ROLE_COMMAND),
		process(13, 2, 0, 0, ROLE_KERNEL),
	};
	struct look_process now[] = {
		process(10, 1, 104, 0, ROLE_OTHER),
		process(11, 10, 56, (1 << 20) + (64 << 10), ROLE_OTHER),
		process(12, 1, 99, 1 << 30, ROLE_COMMAND),
		process(13, 2, 99, 0, ROLE_KERNEL),
	};

	before.processes = then;
	before.nr_processes = 4;
	after.processes = now;
	after.nr_processes = 4;
	assert_string_equal(judge(&before, &after),
			    "processor process 11 (x) 60000000;process-io process 11 (x) 65536;");
	/* 11 ends and 10 waits for it: only the use since the last look counts. */
	now[0] = process(10, 1, 100 + 56, (1 << 20) + (64 << 10), ROLE_OTHER);
	now[1] = now[2];
	now[2] = now[3];
	after.nr_processes = 3;
	assert_string_equal(judge(&before, &after),
			    "processor process 10 (x) 60000000;process-io process 10 (x) 65536;");
	/* Another process of that number. */
	now[0] = process(10, 1, 7, 0, ROLE_OTHER);
	now[0].process.start = 2;
	after.nr_processes = 1;
	assert_string_equal(judge(&before, &after), "processor process 10 (x) 70000000;");
}

TEST(devices)
{
	struct look before = quiet(1), after = quiet(2);
	struct look_disk disks[2][3] = {
		{ { .use = { "sdb", 1, 0 } }, { .use = { "sdc", 1, 0 }, .left_out = true },
		  { .use = { "sdd", 1, 0 }, .holds_recording = true } },
		{ { .use = { "sdb", 2, 65536 } }, { .use = { "sdc", 2, 1 << 30 }, .left_out = true },
		  { .use = { "sdd", 2, 165535 }, .holds_recording = true } },
	};
	struct look_line lines[2][4] = {
		{ { 1, "i8042", 0, false, false }, { 9, "acpi", 0, false, false },
		  { 24, "eth0", 0, false, true }, { 25, "3w-9xxx", 0, true, false } },
		{ { 1, "i8042", 1, false, false }, { 9, "acpi", 9, false, false },
		  { 24, "eth0", 99, false, true }, { 25, "3w-9xxx", 9999, true, false } },
	};

	before.disks = disks[0];
	after.disks = disks[1];
	before.nr_disks = after.nr_disks = 3;
	before.lines = lines[0];
	after.lines = lines[1];
	before.nr_lines = after.nr_lines = 4;
	after.own_bytes = 25000;
	assert_string_equal(judge(&before, &after), "disk sdb 65536;input 1 (i8042) 1;");
	disks[1][2].use.bytes++;
	lines[1][1].count++;
	lines[1][2].count++;
	assert_string_equal(judge(&before, &after),
			    "disk sdb 65536;disk sdd 165536;input 1 (i8042) 1;interrupts 9 (acpi) 10;network 24 (eth0) 100;");
}

/* All at once over two and a half seconds: each limit is one of a second, and each value that of the whole time. */
TEST(everything)
{
	struct look before = quiet(1), after = quiet(1);
	struct look_process then[] = {
		process(7, 1, 100, 1000, ROLE_OTHER), process(8, 7, 10, 500, ROLE_OTHER), process(9, 8, 20, 700, ROLE_OTHER),
		process(10, 1, 5, 5, ROLE_COMMAND), process(11, 1, 5, 5, ROLE_RECORDER), process(12, 1, 5, 5, ROLE_OTHER),
	};
	struct look_process now[] = {
		process(7, 1, 200, 400000, ROLE_OTHER), process(10, 1, 6, 7, ROLE_COMMAND),
		process(11, 1, 7, 8, ROLE_RECORDER), process(12, 1, 5, 5, ROLE_OTHER), process(13, 1, 1, 163839, ROLE_OTHER),
		process(14, 1, 12, 163840, ROLE_OTHER), process(15, 1, 13, 0, ROLE_OTHER), process(16, 1, 0, 999999, ROLE_OTHER),
	};
	struct look_disk disks[2][2] = {
		{ { .use = { "sdx", 1, 7 } }, { .use = { "sdb", 1, 100 } } },
		{ { .use = { "sdb", 1, 163940 } }, { .use = { "sdn", 1, 163840 } } },
	};
	struct look_line lines[2][3] = {
		{ { 1, "i8042", 5, false, false }, { 9, "acpi", 100, false, false }, { 24, "eth0", 1000, false, true } },
		{ { 24, "eth0", 1250, false, true }, { 9, "acpi", 125, false, false }, { 1, "i8042", 6, false, false } },
	};

	after.time_ns += 5 * SECOND / 2;
	now[4].io.write_bytes = 0;
	now[5].io.write_bytes = 1;
	now[7].io_known = false; /* what it read is not known, and it used no processor */
	before.processes = then;
	before.nr_processes = sizeof(then) / sizeof(then[0]);
	after.processes = now;
	after.nr_processes = sizeof(now) / sizeof(now[0]);
	before.disks = disks[0];
	after.disks = disks[1];
	before.nr_disks = after.nr_disks = 2;
	before.lines = lines[0];
	after.lines = lines[1];
	before.nr_lines = after.nr_lines = 3;
	before.pressure_us = 1000000;
	after.pressure_us = 1250000;
	before.swapped_pages = 10;
	after.swapped_pages = 15;
	before.steal_ticks = 50;
	after.steal_ticks = 55;
	before.wall_ns = 3000000000;
	after.wall_ns = 2000000000;
	before.slept_ns = 1000000000;
	after.slept_ns = 4000000000;
	strcpy(after.clocksource, "hpet");
	strcpy(after.governor, "powersave");
	before.throttled = 2;
	after.throttled = 5;
	in_full = true;
	judge(&before, &after);
	in_full = false;
	/* A little less of each is nothing. */
	{
		struct look less = quiet(1);
		struct look_process quiet_one = process(7, 1, 112, 164839, ROLE_OTHER);
		struct look_line few[] = { { 9, "acpi", 124, false, false }, { 24, "eth0", 1249, false, true } };
		struct look_disk idle = { .use = { "sdb", 1, 163939 } };
		char all[sizeof(printed)];

		memcpy(all, printed, sizeof(printed));
		less.time_ns = after.time_ns;
		less.pressure_us = 1249999;
		less.swapped_pages = 12;
		less.steal_ticks = 54;
		less.wall_ns = before.wall_ns + 3249999;
		less.slept_ns = before.slept_ns;
		less.throttled = before.throttled;
		less.processes = &quiet_one;
		less.lines = few;
		less.disks = &idle;
		less.nr_processes = less.nr_disks = 1;
		less.nr_lines = 2;
		before.nr_processes = 1;
		assert_string_equal(judge(&before, &less), "");
		less.wall_ns++;
		assert_string_equal(judge(&before, &less), "clock  3250000;");
		before.nr_processes = sizeof(then) / sizeof(then[0]);
		memcpy(printed, all, sizeof(printed));
	}
	assert_string_equal(printed,
			    "process: 7 x: cpu 700000000 ns, 1.0 to 3.5 s\n"
			    "process: 7 x: read_bytes 397800 bytes, 1.0 to 3.5 s\n"
			    "process: 10 x of the command: cpu 10000000 ns, 1.0 to 3.5 s\n"
			    "process: 10 x of the command: read_bytes 2 bytes, 1.0 to 3.5 s\n"
			    "process: 11 x (this recorder): cpu 20000000 ns, 1.0 to 3.5 s\n"
			    "process: 11 x (this recorder): read_bytes 3 bytes, 1.0 to 3.5 s\n"
			    "process: 13 x: cpu 10000000 ns, 1.0 to 3.5 s\n"
			    "process: 13 x: read_bytes 163839 bytes, 1.0 to 3.5 s\n"
			    "process: 14 x: cpu 120000000 ns, 1.0 to 3.5 s\n"
			    "process: 14 x: read_bytes 163840 bytes, 1.0 to 3.5 s\n"
			    "process: 14 x: write_bytes 1 bytes, 1.0 to 3.5 s\n"
			    "process: 15 x: cpu 130000000 ns, 1.0 to 3.5 s\n"
			    "processor process 7 (x) 700000000 ns, 1.0 to 3.5 s: process 7 (x) used 28 % of a processor\n"
			    "process-io process 7 (x) 397800 bytes, 1.0 to 3.5 s: process 7 (x) read and wrote 155 KiB/s\n"
			    "process-io process 14 (x) 163841 bytes, 1.0 to 3.5 s: process 14 (x) read and wrote 64.0 KiB/s\n"
			    "processor process 15 (x) 130000000 ns, 1.0 to 3.5 s: process 15 (x) used 5 % of a processor\n"
			    "disk sdb 163840 bytes, 1.0 to 3.5 s: disk sdb had 64 KiB/s of traffic\n"
			    "disk sdn 163840 bytes, 1.0 to 3.5 s: disk sdn had 64 KiB/s of traffic\n"
			    "network 24 (eth0) 250 interrupts, 1.0 to 3.5 s: network: 100 interrupts/s on line 24 (eth0)\n"
			    "interrupts 9 (acpi) 25 interrupts, 1.0 to 3.5 s: interrupts: 10 interrupts/s on line 9 (acpi)\n"
			    "input 1 (i8042) 1 interrupts, 1.0 to 3.5 s: input: 0 interrupts/s on line 1 (i8042)\n"
			    "memory  250000000 ns, 1.0 to 3.5 s: tasks waited for memory 10 % of the time\n"
			    "swap  5 pages, 1.0 to 3.5 s: 5 pages were swapped\n"
			    "steal  50000000 ns, 1.0 to 3.5 s: the host of this virtual machine took 2.0 % of a processor\n"
			    "suspend  3000000000 ns, 1.0 to 3.5 s: the machine slept for 3.000 s\n"
			    "clock  -4000000000 ns, 1.0 to 3.5 s: the clock was set by -4.000 s\n"
			    "clocksource hpet 1 , 1.0 to 3.5 s: clocksource changed: hpet\n"
			    "governor powersave 1 , 1.0 to 3.5 s: governor changed: powersave\n"
			    "thermal  3 times, 1.0 to 3.5 s: processors were too hot and slowed down 3 times\n");
}

/* Texts of disturbances that last; a moment is taken for a second. */
TEST(descriptions)
{
	static const char *const kinds[] = {
		"processor", "process-io", "disk", "interrupts", "network", "input", "memory", "swap", "steal", "clock", "suspend",
		"thermal", "governor",
	};
	char all[4096] = "";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct disturbance what = { .subject = "x", .start_ns = 7, .end_ns = 7, .value = 50000000 };

		snprintf(what.kind, sizeof(what.kind), "%s", kinds[i]);
		look_describe(&what);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s\n", what.text);
	}
	assert_string_equal(all, "x used 5 % of a processor\n"
			    "x read and wrote 47.7 MiB/s\n"
			    "disk x had 47.7 MiB/s of traffic\n"
			    "interrupts: 50000000 interrupts/s on line x\n"
			    "network: 50000000 interrupts/s on line x\n"
			    "input: 50000000 interrupts/s on line x\n"
			    "tasks waited for memory 5 % of the time\n"
			    "50000000 pages were swapped\n"
			    "the host of this virtual machine took 5.0 % of a processor\n"
			    "the clock was set by +0.050 s\n"
			    "the machine slept for 0.050 s\n"
			    "processors were too hot and slowed down 50000000 times\n"
			    "governor changed: x\n");
}

TEST(files_are_parsed)
{
	struct look look = { 0 };
	struct interrupt_table table;

	assert_int_equal(look_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=5\n"), 1234);
	assert_int_equal(look_pressure(NULL), FACT_UNKNOWN);
	assert_int_equal(proc_swapped("pgpgin 1\npswpin 3\npswpout 4\npgfree 9\n"), 7);
	assert_int_equal(proc_swapped("pgpgin 1\n"), FACT_UNKNOWN);
	look_steal("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2\ncpu1 1 2\nintr 5\n", &look);
	assert_int_equal(look.steal_ticks, 8);
	assert_int_equal(look.nr_processors, 2);
	assert_int_equal(interrupts_parse("           CPU0       CPU2\n"
					  "  0:         12          3   IO-APIC   2-edge      timer\n"
					  " 25:    1000000          7   PCI-MSI 524288-edge      twa0, ehci_hcd\n"
					  " 64:          5          6   dummy      3w-9xxx\n"
					  "NMI:          0          0   Non-maskable interrupts\n", &table), 0);
	assert_int_equal(table.nr, 3);
	assert_int_equal(table.processors[1], 2);
	assert_string_equal(table.lines[0].devices, "timer");
	assert_string_equal(table.lines[1].devices, "twa0, ehci_hcd");
	assert_string_equal(table.lines[2].devices, "3w-9xxx");
	assert_int_equal(interrupts_of(&table, 25)[0], 1000000);
	assert_int_equal(interrupts_of(&table, 64)[1], 6);
	assert_null(interrupts_of(&table, 1));
	interrupts_free(&table);
	/* Only what begins with a number and a colon is an interrupt. */
	assert_int_equal(interrupts_parse("  CPU0\n: 1 a b\n 7 1 a b\n 8: 1 a b\n", &table), 0);
	assert_int_equal(table.nr, 1);
	assert_int_equal(table.lines[0].number, 8);
	interrupts_free(&table);
	assert_int_not_equal(interrupts_parse("no such file\n", &table), 0);
}

/* A device without messages may have their directory all the same, as virtio with a line has. */
TEST(device_lines)
{
	char directory[] = "/tmp/interrupts-XXXXXX", path[PATH_MAX];

	assert_non_null(mkdtemp(directory));
	assert_false(interrupts_of_device(directory, 64));
	unit_write(directory, "irq", "64\n");
	assert_true(interrupts_of_device(directory, 64));
	assert_false(interrupts_of_device(directory, 65));
	snprintf(path, sizeof(path), "%s/msi_irqs", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(interrupts_of_device(directory, 64));
	unit_write(directory, "msi_irqs/65", "msix\n");
	assert_true(interrupts_of_device(directory, 65));
	assert_false(interrupts_of_device(directory, 64));
	snprintf(path, sizeof(path), "rm -r %s", directory);
	assert_int_equal(system(path), 0);
}

/* A lasting disturbance is one, a clock that is set forth and back is two. */
TEST(disturbance_continues)
{
	static const struct {
		int64_t known;
		uint64_t start_ns;
		int64_t value;
		const char *subject;
		bool expected;
	} table[] = {
		{ 5, 2, 5, "", true }, { 5, 2, -5, "", false }, { 5, 3, 5, "", false }, { 5, 2, 0, "", true },
		{ 0, 2, 0, "", true }, { 0, 2, 5, "", true }, { 0, 2, 5, "other", false },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct disturbance known = { .kind = "clock", .start_ns = 1, .end_ns = 2, .value = table[i].known };
		struct disturbance what = { .kind = "clock", .start_ns = table[i].start_ns, .value = table[i].value };

		strcpy(what.subject, table[i].subject);
		if (disturbance_goes_on(&known, &what) != table[i].expected)
			fail_msg("case %zu", i);
	}
}

TEST(process_lines)
{
	struct process p;

	assert_int_equal(parse_process("42 (a) (b c) S 7 42 42 0 -1 4194560 1 2 3 4 10 20 300 4000 20 0 1 0 555 0 0", &p), 0);
	assert_int_equal(p.pid, 42);
	assert_string_equal(p.name, "a) (b c");
	assert_int_equal(p.parent, 7);
	assert_int_equal(p.ticks, 4330);
	assert_int_equal(p.major_faults, 7);
	assert_int_equal(p.start, 555);
	assert_int_not_equal(parse_process("42 (a S 7", &p), 0);
	assert_int_not_equal(parse_process("42 (a) S 7 1 1", &p), 0);
	assert_int_not_equal(parse_process("", &p), 0);
}

/* Names of threads in Linux 4.9 to 7.3; workers have their last workqueue in the name. */
TEST(kernel_works)
{
	static const char *const names[NR_KERNEL_WORKS + 1][7] = {
		[WORK_CRYPT] = { "kworker/0:1-kcryptd/253:0", "kworker/u8:2+kcryptd_io/253:0", "dmcrypt_write/253:0", "kcryptd/253:0" },
		[WORK_MD] = { "md0_raid5", "md127_raid10", "md_d0_resync", "md0_reshape", "kworker/u9:0-raid5wq" },
		[NR_KERNEL_WORKS] = { "md_misc", "md_bitmap", "kworker/0:1-events", "mdadm", "kswapd0", "" },
	};

	for (int work = 0; work <= NR_KERNEL_WORKS; work++)
		for (int i = 0; names[work][i]; i++)
			assert_int_equal(kernel_work_of(names[work][i]), work);
}

TEST(disk_lines)
{
	struct disk_use use;

	assert_int_equal(parse_disk_use("   8       0 sda 10 1 80 5 20 2 160 6 0 7 11 3 0 24 1 4 2", &use), 0);
	assert_string_equal(use.name, "sda");
	assert_int_equal(use.requests, 10 + 20 + 3 + 4);
	assert_int_equal(use.bytes, (80 + 160 + 24) * 512);
	/* Before Linux 4.18. */
	assert_int_equal(parse_disk_use(" 8 0 sda 10 1 80 5 20 2 160 6 0 7 11", &use), 0);
	assert_int_equal(use.requests, 30);
	assert_int_not_equal(parse_disk_use(" 8 0 sda 10", &use), 0);
	/* The name of its directory in /sys/block. */
	assert_int_equal(parse_disk_use("104 0 cciss/c0d0 1 0 8 0 0 0 0 0 0 0 0", &use), 0);
	assert_string_equal(use.name, "cciss!c0d0");
}
