// SPDX-License-Identifier: GPL-2.0-or-later

/* What two looks tell, and the texts that looks are made of. */

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "watch/look.h"
#include "watch/parts.h"

#define SECOND	1000000000ULL

/* struct told - kinds and values, in order */
static char told[1024];

static int disturbed(void *data, const struct disturbance *what)
{
	size_t used = strlen(told);

	(void)data;
	snprintf(told + used, sizeof(told) - used, "%s %s %lld;", what->kind,
		 what->subject, (long long)what->value);
	return 0;
}

static int row(void *data, const struct host_row *what)
{
	(void)data;
	(void)what;
	return 0;
}

static const struct look_told hands = { disturbed, row, NULL };

static const char *judge(const struct look *before, const struct look *after)
{
	told[0] = '\0';
	assert_int_equal(look_judge(before, after, 100, &hands), 0);
	return told;
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

static void nothing(void **state)
{
	struct look before = quiet(1), after = quiet(2);

	(void)state;
	assert_string_equal(judge(&before, &after), "");
}

static void each_limit(void **state)
{
	struct look before = quiet(1), after = quiet(2);

	(void)state;
	after.pressure_us = 99999;
	after.swapped_pages = 0;
	after.steal_ticks = 1;
	after.wall_ns = 2400000;
	assert_string_equal(judge(&before, &after), "");
	after.pressure_us = 100000;
	after.swapped_pages = 1;
	after.steal_ticks = 2;
	after.wall_ns = -2600000;
	assert_string_equal(judge(&before, &after),
			    "memory  100000000;swap  1;steal  20000000;clock  -2600000;");
	/* Set and set back: nothing of it is left in the time. */
	after = quiet(2);
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
	/* What cannot be known disturbs nobody. */
	after = quiet(2);
	before.pressure_us = FACT_UNKNOWN;
	after.pressure_us = 5000000;
	assert_string_equal(judge(&before, &after), "");
}

static struct look_process process(int pid, int parent, uint64_t ticks,
				   uint64_t bytes, enum look_process_role role)
{
	struct look_process ret = {
		.process = { .pid = pid, .parent = parent, .start = 1,
			     .name = "x", .ticks = ticks },
		.io = { .read_bytes = bytes }, .io_known = true, .role = role,
	};

	return ret;
}

static void processes(void **state)
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

	(void)state;
	before.processes = then;
	before.nr_processes = 4;
	after.processes = now;
	after.nr_processes = 4;
	assert_string_equal(judge(&before, &after),
			    "processor process 11 (x) 60000000;process-io process 11 (x) 65536;");
	/* 11 ends and 10 waits for it: only what was not told before counts. */
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

static void devices(void **state)
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

	(void)state;
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

static void texts(void **state)
{
	struct look look = { 0 };
	struct interrupt_table table;

	(void)state;
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
	assert_int_not_equal(interrupts_parse("no such file\n", &table), 0);
}

/* What lasts is one, a clock that is set forth and back is two. */
static void goes_on(void **state)
{
	static const struct disturbance known = {
		.kind = "clock", .start_ns = 1, .end_ns = 2, .value = 5,
	};
	struct disturbance what = { .kind = "clock", .start_ns = 2, .value = 5 };

	(void)state;
	assert_true(disturbance_goes_on(&known, &what));
	what.value = -5;
	assert_false(disturbance_goes_on(&known, &what));
	what.value = 5;
	what.start_ns = 3;
	assert_false(disturbance_goes_on(&known, &what));
	what.start_ns = 2;
	strcpy(what.subject, "other");
	assert_false(disturbance_goes_on(&known, &what));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(each_limit),
		cmocka_unit_test(processes),
		cmocka_unit_test(devices),
		cmocka_unit_test(texts),
		cmocka_unit_test(goes_on),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
