// SPDX-License-Identifier: GPL-2.0-or-later

/* The rules of raidctl check: each from just good to bad, and not known. */

#include "unit.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/activity.h"
#include "check/check.h"
#include "report/print.h"

#define MIB	(1024 * 1024)
#define GIB	((int64_t)1024 * MIB)

static struct facts facts;
static struct disk disk;
static struct finding *findings;

/* A machine on which every rule passes. */
static int quiet(void **state)
{
	static struct disk_use uses[] = { { "sda", 0, 0 }, { "sdb", 1, 4096 } };
	static struct process_use processes[] = {
		{ 1, "init", 0.0, 0 }, { 10, "editor", 1.0, 4096 },
		{ 11, "make", 2.0, 8192 }, { 12, "cron", 0.5, 0 },
	};
	static struct module_use modules[] = { { "e1000", 3, false } };
	static char config[] = "# CONFIG_KASAN is not set\nCONFIG_HZ=250\n";

	(void)state;
	uses[0] = (struct disk_use){ "sda", 0, 0 };
	uses[1] = (struct disk_use){ "sdb", 1, 4096 };
	processes[1].cpu_percent = 1.0;
	processes[1].io_bytes = 4096;
	modules[0].interrupts = 3;
	modules[0].shared = false;
	facts = (struct facts){
		.seconds = 1, .data_bytes = 20 * GIB, .ram_bytes = GIB / 2,
		.processes_known = true, .io_accounted = true,
		.nr_processes = 4, .processes = processes,
		.disk_uses_known = true, .nr_disk_uses = 2, .disk_uses = uses,
		.nr_governors = 4, .nr_performance = 4,
		.target = "multi-user.target",
		.modules_known = true, .nr_modules = 1, .modules = modules,
		.virtual_known = true, .config = config,
		.config_source = "/proc/config.gz",
	};
	disk = (struct disk){
		.name = "sda", .scheduler = "none", .readahead_kib = 8192,
	};
	return 0;
}

static int forget(void **state)
{
	(void)state;
	free(findings);
	findings = NULL;
	return 0;
}

/* Every finding that a test asked for, whole: golden/check.txt. */
static FILE *noted;
static char *noted_text;
static size_t noted_size;

static void note_finding(const struct finding *f)
{
	if (!noted)
		noted = open_memstream(&noted_text, &noted_size);
	fprintf(noted, "%s: %s", f->rule->name, verdict_name(f->verdict));
	if (f->measured)
		fprintf(noted, " (%.6g %s)", f->value, f->unit);
	fprintf(noted, ": %s\n", f->seen);
	if (f->remedy[0])
		fprintf(noted, "  %s\n", f->remedy);
}

static void each_is_as_before(void **state)
{
	(void)state;
	fclose(noted);
	golden("golden/check.txt", noted_text);
}

/* The finding of one rule on the machine as it is now. */
static const struct finding *judge(const char *name)
{
	size_t nr;

	free(findings);
	findings = check_judge(&facts, &disk, 1, &nr);
	assert_non_null(findings);
	assert_int_equal(nr, nr_check_rules);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(findings[i].rule->name, name)) {
			note_finding(&findings[i]);
			return &findings[i];
		}
	fail_msg("no rule %s", name);
	return NULL;
}

/* What is judged so has words, and bad things a remedy. */
static void expect(const char *rule, enum verdict verdict, const char *words)
{
	const struct finding *f = judge(rule);

	if (f->verdict != verdict)
		fail_msg("%s is %s, not %s: %s", rule, verdict_name(f->verdict),
			 verdict_name(verdict), f->seen);
	if (!strstr(f->seen, words))
		fail_msg("%s does not say \"%s\": %s", rule, words, f->seen);
	if (verdict == VERDICT_WARN || verdict == VERDICT_FAIL)
		assert_true(f->remedy[0]);
	if (verdict == VERDICT_UNKNOWN)
		assert_false(f->measured);
}

static void all_pass(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_check_rules; i++) {
		expect(check_rules[i].name, VERDICT_PASS, "");
		assert_true(!check_rules[i].machine != !check_rules[i].disk);
	}
}

static void data_set(void **state)
{
	(void)state;
	expect("data-set", VERDICT_PASS, "20 GiB is 40 times the memory of 512 MiB");
	facts.data_bytes -= 1;
	expect("data-set", VERDICT_WARN, "times the memory");
	facts.data_bytes = GIB + 1;
	expect("data-set", VERDICT_WARN, "");
	facts.data_bytes = GIB;
	expect("data-set", VERDICT_FAIL, "1 GiB is 2 times the memory of 512 MiB");
	assert_non_null(strstr(judge("data-set")->remedy, "20 GiB"));
	assert_true(judge("data-set")->value == 2);
	facts.data_bytes = 0;
	expect("data-set", VERDICT_UNKNOWN, "nobody said");
	assert_non_null(strstr(judge("data-set")->remedy, "--data-size"));
	facts.ram_bytes = FACT_UNKNOWN;
	expect("data-set", VERDICT_UNKNOWN, "meminfo");
}

static void unwritten(void **state)
{
	(void)state;
	facts.dirty_bytes = 3 * MIB;
	facts.writeback_bytes = MIB;
	expect("unwritten", VERDICT_PASS, "3 MiB dirty, 1 MiB in writeback");
	facts.writeback_bytes++;
	expect("unwritten", VERDICT_WARN, "");
	facts.dirty_bytes = 63 * MIB;
	expect("unwritten", VERDICT_FAIL, "");
	assert_true(judge("unwritten")->value == 64 * MIB + 1);
	facts.dirty_bytes = FACT_UNKNOWN;
	expect("unwritten", VERDICT_UNKNOWN, "");
}

static void processor(void **state)
{
	(void)state;
	expect("processor", VERDICT_PASS, "3.5 % of one processor");
	facts.processes[1].cpu_percent = 3;
	expect("processor", VERDICT_WARN,
	       "5.5 % of one processor in 1.0 s: editor (10) 3.0 %, make (11) 2.0 %, cron (12) 0.5 %");
	facts.processes[1].cpu_percent = 90;
	expect("processor", VERDICT_FAIL, "editor (10) 90.0 %");
	facts.cpu_is_free = true;
	expect("processor", VERDICT_UNKNOWN, "simulated");
	facts.cpu_is_free = false;
	facts.processes_known = false;
	expect("processor", VERDICT_UNKNOWN, "hidden");
}

static void process_io(void **state)
{
	(void)state;
	facts.seconds = 2;
	expect("process-io", VERDICT_PASS, "6 KiB/s read from and written to disks: make (11) 4 KiB/s, editor (10) 2 KiB/s");
	facts.nr_io_hidden = 3;
	expect("process-io", VERDICT_UNKNOWN, "only root may read the I/O of 3 of 4 processes");
	assert_non_null(strstr(judge("process-io")->remedy, "sudo"));
	/* Too much is too much, whatever cannot be seen. */
	facts.processes[1].io_bytes = 256 * 1024;
	expect("process-io", VERDICT_WARN, "editor (10) 128 KiB/s");
	facts.processes[1].io_bytes = 8 * MIB;
	expect("process-io", VERDICT_FAIL, "editor (10) 4 MiB/s");
	facts.io_accounted = false;
	expect("process-io", VERDICT_UNKNOWN, "does not account");
}

static void disks(void **state)
{
	(void)state;
	expect("disk-idle", VERDICT_PASS, "0 B/s in 0 requests");
	facts.disk_uses[0] = (struct disk_use){ "sda", 20, 128 * 1024 };
	expect("disk-idle", VERDICT_WARN, "128 KiB/s in 20 requests");
	facts.disk_uses[0].bytes = 2 * MIB;
	expect("disk-idle", VERDICT_FAIL, "2 MiB/s");
	assert_string_equal(judge("disk-idle")->disk, "sda");
	/* What the disk itself does is not another disk's. */
	expect("other-disks", VERDICT_PASS, "4 KiB/s on 1 other disk: sdb 4 KiB/s");
	facts.disk_uses[1].bytes = 128 * 1024;
	expect("other-disks", VERDICT_WARN, "sdb 128 KiB/s");
	facts.disk_uses[1].bytes = 2 * MIB;
	expect("other-disks", VERDICT_FAIL, "sdb 2 MiB/s");
	facts.nr_disk_uses = 0;
	expect("disk-idle", VERDICT_UNKNOWN, "");
	facts.disk_uses_known = false;
	expect("other-disks", VERDICT_UNKNOWN, "");
}

static void swap(void **state)
{
	(void)state;
	expect("swap", VERDICT_PASS, "there is no swap space");
	facts.swap_bytes = 2 * GIB;
	expect("swap", VERDICT_PASS, "0 B of 2 GiB in use");
	facts.swap_used_bytes = MIB;
	expect("swap", VERDICT_WARN, "1 MiB of 2 GiB in use");
	facts.swapped_pages = 1;
	expect("swap", VERDICT_FAIL, "1 page moved");
	facts.swap_bytes = FACT_UNKNOWN;
	expect("swap", VERDICT_UNKNOWN, "");
}

static void governor(void **state)
{
	(void)state;
	facts.nr_performance = 3;
	strcpy(facts.governor, "powersave");
	expect("governor", VERDICT_WARN, "powersave on 1 of 4 processors");
	facts.nr_governors = 0;
	expect("governor", VERDICT_UNKNOWN, "");
}

static void scheduler(void **state)
{
	(void)state;
	strcpy(disk.scheduler, "mq-deadline");
	expect("scheduler", VERDICT_PASS, "mq-deadline");
	strcpy(disk.scheduler, "bfq");
	expect("scheduler", VERDICT_WARN, "bfq");
	assert_non_null(strstr(judge("scheduler")->remedy, "/sys/block/sda/"));
	disk.scheduler[0] = '\0';
	expect("scheduler", VERDICT_UNKNOWN, "no queue of requests");
}

static void readahead(void **state)
{
	(void)state;
	expect("readahead", VERDICT_PASS, "8 MiB (16384 sectors)");
	assert_true(judge("readahead")->value == 16384);
	assert_string_equal(judge("readahead")->unit, "sectors");
	disk.readahead_kib = 128;
	expect("readahead", VERDICT_WARN, "128 KiB (256 sectors), the untuned default");
	disk.readahead_kib = 64;
	expect("readahead", VERDICT_WARN, "64 KiB (128 sectors)");
	assert_null(strstr(judge("readahead")->seen, "default"));
	disk.readahead_kib = 129;
	expect("readahead", VERDICT_PASS, "");
}

static void mounts(void **state)
{
	static const struct {
		const char *options;
		enum verdict verdict;
		const char *remedy;
	} cases[] = {
		{ "rw,noatime", VERDICT_PASS, "" },
		{ "ro,relatime", VERDICT_PASS, "" },
		{ "rw,relatime", VERDICT_WARN, "remount,noatime /b" },
		{ "rw", VERDICT_FAIL, "remount,noatime /b" },
		{ "rw,noatime,sync", VERDICT_FAIL, "remount,async /b" },
		{ "rw,dirsync,noatime", VERDICT_FAIL, "without dirsync" },
		{ "rw,noatime,discard", VERDICT_WARN, "remount,nodiscard /b" },
		{ "rw,noatime,discard=async", VERDICT_WARN, "remount,nodiscard /b" },
		{ "rw,noatime,nodiscard", VERDICT_PASS, "" },
		{ "rw,rootcontext=a,relatime", VERDICT_WARN, "remount,noatime /b" },
		{ "rw,noatime,async", VERDICT_PASS, "" },
	};
	struct mount two[2] = {
		{ "sda1", "/a", "xfs", (char *)"rw,noatime", 0 },
		{ "sda2", "/b", "ext4", NULL, 0 },
	};

	(void)state;
	expect("mounts", VERDICT_PASS, "no file system of it is mounted");
	disk.mounts = two;
	disk.nr_mounts = 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		two[1].options = (char *)cases[i].options;
		expect("mounts", cases[i].verdict, cases[i].options);
		assert_non_null(strstr(judge("mounts")->remedy, cases[i].remedy));
	}
}

static void machine(void **state)
{
	(void)state;
	strcpy(facts.target, "graphical.target");
	expect("target", VERDICT_WARN, "graphical.target");
	strcpy(facts.target, "runlevel 3");
	expect("target", VERDICT_PASS, "runlevel 3");
	facts.target[0] = '\0';
	expect("target", VERDICT_UNKNOWN, "");
	strcpy(facts.hypervisor, "KVMKVMKVM");
	expect("machine", VERDICT_WARN, "virtual machine: KVMKVMKVM");
	facts.virtual_known = false;
	expect("machine", VERDICT_UNKNOWN, "");
	facts.simulated = true;
	strcpy(facts.profile, "9500s-12-raid0");
	expect("machine", VERDICT_WARN, "simulated: a guest of the lab, profile 9500s-12-raid0");
}

static void drivers(void **state)
{
	(void)state;
	expect("drivers", VERDICT_PASS, "3.0 interrupts/s from devices of 1 module that nothing uses: e1000 3.0/s");
	facts.modules[0].interrupts = 11;
	facts.modules[0].shared = true;
	expect("drivers", VERDICT_WARN, "e1000 11.0/s (shared)");
	facts.modules_known = false;
	expect("drivers", VERDICT_UNKNOWN, "");
}

static void signing(void **state)
{
	(void)state;
	expect("signing", VERDICT_PASS, "takes modules that are not signed");
	facts.signing.lockdown = 1;
	expect("signing", VERDICT_WARN, "(lockdown integrity); raidtrace is not installed");
	strcpy(facts.module_file, "/lib/modules/x/raidtrace.ko");
	expect("signing", VERDICT_WARN, "raidtrace is not signed");
	strcpy(facts.module_signer, "K");
	expect("signing", VERDICT_WARN, "it has not a key of \"K\"");
	strcpy(facts.module_signer, "DKMS key");
	expect("signing", VERDICT_WARN, "it has not a key of \"DKMS key\"");
	assert_non_null(strstr(judge("signing")->remedy, "mokutil --import"));
	facts.module_enrolled = FACT_UNKNOWN;
	expect("signing", VERDICT_WARN, "does not tell whether it has");
	facts.module_enrolled = 1;
	expect("signing", VERDICT_PASS, "whose key the kernel has");
	facts.module_enrolled = 0;
	facts.module_loaded = true;
	expect("signing", VERDICT_PASS, "raidtrace is loaded");
}

static void kernel_debug(void **state)
{
	(void)state;
	expect("kernel-debug", VERDICT_PASS, "none that costs is set, says /proc/config.gz");
	facts.config = (char *)"CONFIG_A=y\nCONFIG_DEBUG_VM=y\n";
	expect("kernel-debug", VERDICT_WARN, "DEBUG_VM, says");
	facts.config = (char *)"CONFIG_KASAN=y\nCONFIG_DEBUG_VM=y";
	expect("kernel-debug", VERDICT_FAIL, "KASAN, DEBUG_VM");
	assert_true(judge("kernel-debug")->value == 2);
	/* Debian's 7.2, where distributions began with it. */
	facts.config = (char *)"CONFIG_UBSAN=y\nCONFIG_UBSAN_BOUNDS=y\nCONFIG_UBSAN_BOUNDS_STRICT=y\nCONFIG_UBSAN_SHIFT=y\n";
	expect("kernel-debug", VERDICT_PASS,
	       "none that costs is set, says /proc/config.gz; UBSAN_BOUNDS, UBSAN_SHIFT, as distributions build it");
	assert_true(judge("kernel-debug")->value == 0);
	assert_string_equal(judge("kernel-debug")->remedy, "");
	facts.config = (char *)"CONFIG_UBSAN=y\nCONFIG_UBSAN_SHIFT=y\nCONFIG_UBSAN_ALIGNMENT=y\n";
	expect("kernel-debug", VERDICT_WARN, "UBSAN_ALIGNMENT, says /proc/config.gz; UBSAN_SHIFT, as distributions build it");
	/* Only the option itself, and only when it is set. */
	facts.config = (char *)"CONFIG_KASAN_X=y\nMY_CONFIG_KASAN=y\nCONFIG_KASAN=n\n";
	expect("kernel-debug", VERDICT_PASS, "");
	facts.config = NULL;
	expect("kernel-debug", VERDICT_UNKNOWN, "");
}

static void no_disk(void **state)
{
	size_t nr, unknown = 0;

	(void)state;
	findings = check_judge(&facts, NULL, 0, &nr);
	assert_int_equal(nr, nr_check_rules);
	for (size_t i = 0; i < nr; i++)
		unknown += findings[i].verdict == VERDICT_UNKNOWN;
	assert_int_equal(unknown, 4);
}

static void two_disks(void **state)
{
	struct disk two[2] = { disk, disk };
	size_t nr;

	(void)state;
	strcpy(two[1].name, "sdb");
	findings = check_judge(&facts, two, 2, &nr);
	assert_int_equal(nr, nr_check_rules + 4);
}

static char *printed(bool json)
{
	char *text = NULL;
	size_t size, nr;
	FILE *to = open_memstream(&text, &size);

	free(findings);
	findings = check_judge(&facts, &disk, 1, &nr);
	print_ops_of(json)->check(to, &facts, findings, nr);
	fclose(to);
	return text;
}

/* Blanks and ends of lines as one blank: what is wrapped reads the same. */
static void unwrap(char *text)
{
	char *out = text;

	for (; *text; text++) {
		bool blank = *text == ' ' || *text == '\n';

		if (!blank)
			*out++ = *text;
		else if (out[-1] != ' ')
			*out++ = ' ';
	}
	*out = '\0';
}

static const char *member(struct json_object *of, const char *name)
{
	struct json_object *found;

	assert_true(json_object_object_get_ex(of, name, &found));
	return found ? json_object_get_string(found) : "";
}

/* Every word of the JSON is in the text, in the same order. */
static void json_is_text(void **state)
{
	struct json_object *all, *array;
	char *json, *text, *line, *rest, *copy;
	const char *at;

	(void)state;
	facts.nr_governors = 0;
	disk.readahead_kib = 128;
	facts.processes[1].cpu_percent = 90;
	facts.data_bytes = 0;
	json = printed(true);
	text = printed(false);
	copy = rest = strdup(text);
	while ((line = strsep(&rest, "\n")))
		assert_true(strlen(line) <= 80);
	unwrap(text);
	assert_non_null(strstr(text, "What a remedy gains only an experiment tells: raidctl why --disk"));
	all = json_tokener_parse(json);
	assert_non_null(all);
	assert_true(json_object_object_get_ex(all, "findings", &array));
	assert_int_equal(json_object_array_length(array), nr_check_rules);
	at = text;
	for (size_t i = 0; i < nr_check_rules; i++) {
		struct json_object *f = json_object_array_get_idx(array, i);
		static const char *const order[] = { "verdict", "rule", "disk", "seen", "remedy" };

		for (size_t m = 0; m < 5; m++) {
			at = strstr(at, member(f, order[m]));
			if (!at)
				fail_msg("not in the text: %s", member(f, order[m]));
		}
	}
	assert_string_equal(member(all, "fail"), "1");
	assert_string_equal(member(all, "warn"), "1");
	assert_string_equal(member(all, "not_available"), "2");
	assert_non_null(strstr(text, "12 pass, 1 warn, 1 fail, 2 not available"));
	json_object_put(all);
	free(json);
	free(text);
	free(copy);
}

/* A word longer than the column is cut, not lost. */
static void long_words(void **state)
{
	char options[200] = "rw,";
	struct mount mount = { "sda", "/mnt", "ext4", options, 0 };
	char *text, *rest, *line;

	(void)state;
	memset(options + 3, 'x', 190);
	disk.mounts = &mount;
	disk.nr_mounts = 1;
	text = rest = printed(false);
	while ((line = strsep(&rest, "\n")))
		assert_true(strlen(line) <= 100);
	free(text);
}

static void process_lines(void **state)
{
	struct process p;

	(void)state;
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

static void disk_lines(void **state)
{
	struct disk_use use;

	(void)state;
	assert_int_equal(parse_disk_use("   8       0 sda 10 1 80 5 20 2 160 6 0 7 11 3 0 24 1 4 2", &use), 0);
	assert_string_equal(use.name, "sda");
	assert_int_equal(use.requests, 10 + 20 + 3 + 4);
	assert_int_equal(use.bytes, (80 + 160 + 24) * 512);
	/* Before Linux 4.18. */
	assert_int_equal(parse_disk_use(" 8 0 sda 10 1 80 5 20 2 160 6 0 7 11", &use), 0);
	assert_int_equal(use.requests, 30);
	assert_int_not_equal(parse_disk_use(" 8 0 sda 10", &use), 0);
}

static void memory_lines(void **state)
{
	struct facts got = { 0 };

	(void)state;
	parse_memory("MemTotal:         524288 kB\n", &got);
	parse_memory("Dirty:                12 kB\n", &got);
	parse_memory("WritebackTmp:         99 kB\n", &got);
	parse_memory("Writeback:             3 kB\n", &got);
	assert_int_equal(got.ram_bytes, GIB / 2);
	assert_int_equal(got.dirty_bytes, 12 * 1024);
	assert_int_equal(got.writeback_bytes, 3 * 1024);
}

/*
 * A shell whose dd ends meanwhile has the dd's time: only what came after the
 * first look counts.  A new process counts in full, one that only got the
 * number of another is new, and the looker does not count.
 */
static void between(void **state)
{
	struct process first[] = {
		{ 1, 0, 1, "init", 500, 5000, true },
		{ 5, 1, 2, "sh", 10, 100, true },
		{ 6, 5, 3, "dd", 40, 1000, true },
		{ 7, 1, 4, "old", 70, 7000, true },
		{ 9, 1, 5, "raidctl", 1, 1, true },
		{ 10, 1, 6, "hidden", 1, 0, false },
		{ 11, 5, 7, "stays", 50, 900, true },
	};
	struct process second[] = {
		{ 1, 0, 1, "init", 500 + 70, 5000 + 7000, true },
		{ 5, 1, 2, "sh", 10 + 60, 100 + 1500, true },
		{ 7, 1, 90, "new", 3, 30, true },
		{ 9, 1, 5, "raidctl", 50, 5000, true },
		{ 10, 1, 6, "hidden", 1, 0, false },
		{ 11, 5, 7, "stays", 50, 900, true },
	};
	struct disk_use disk_first[] = { { "sda", 10, 1000 } };
	struct disk_use disk_second[] = { { "sda", 15, 1700 }, { "sdb", 2, 20 } };
	struct activity before = {
		.time_ns = NS_PER_S, .swapped_pages = 4,
		.processes_known = true, .io_accounted = true,
		.nr_processes = 7, .processes = first, .disks_known = true,
		.nr_disks = 1, .disks = disk_first,
	};
	struct activity after = {
		.time_ns = 3 * NS_PER_S, .swapped_pages = 9, .processes_known = true,
		.nr_processes = 6, .processes = second, .disks_known = true,
		.nr_disks = 2, .disks = disk_second,
	};
	struct facts got = { 0 };

	(void)state;
	assert_int_equal(activity_between(&before, &after, 9, 100, &got), 0);
	assert_true(got.seconds == 2);
	assert_int_equal(got.nr_processes, 5);
	assert_int_equal(got.nr_io_hidden, 1);
	assert_int_equal(got.swapped_pages, 5);
	assert_true(got.processes[0].cpu_percent == 0);
	assert_int_equal(got.processes[0].io_bytes, 0);
	/* 60 ticks more, 40 of them the dd's from before: 20 in 2 s. */
	assert_true(got.processes[1].cpu_percent == 10);
	assert_int_equal(got.processes[1].io_bytes, 500);
	assert_true(got.processes[2].cpu_percent == 1.5);
	assert_int_equal(got.processes[2].io_bytes, 30);
	assert_int_equal(got.nr_disk_uses, 2);
	assert_int_equal(got.disk_uses[0].requests, 5);
	assert_int_equal(got.disk_uses[0].bytes, 700);
	assert_int_equal(got.disk_uses[1].bytes, 20);
	facts_free(&got);
}

static void interrupts_between(void **state)
{
	struct activity before = { 0 }, after = { 0 };
	bool shared = false;

	(void)state;
	assert_int_equal(interrupts_parse("  CPU0 CPU1\n 24: 3 7 PCI-MSI 9-edge 3w-9xxx\n 25: 7 0 PCI 1-edge a\n"
					  "LOC: 1 2 Local timer interrupts\n", &before.interrupts), 0);
	assert_int_equal(interrupts_parse("  CPU0 CPU1\n 24: 23 9 PCI-MSI 9-edge 3w-9xxx\n 25: 7 0 PCI 1-edge a, b\n",
					  &after.interrupts), 0);
	assert_int_equal(before.interrupts.nr, 2);
	assert_int_equal(activity_interrupts(&before, &after, 24, &shared), 22);
	assert_false(shared);
	assert_int_equal(activity_interrupts(&before, &after, 25, &shared), 0);
	assert_true(shared);
	assert_int_equal(activity_interrupts(&before, &after, 99, &shared), 0);
	activity_free(&before);
	activity_free(&after);
}

/* What is said of a second was counted over the time that there was. */
static void over_seconds(void **state)
{
	(void)state;
	facts.seconds = 2.5;
	facts.disk_uses[0] = (struct disk_use){ "sda", 1, 500000 };
	facts.disk_uses[1] = (struct disk_use){ "sdb", 7, 700000 };
	facts.modules[0].interrupts = 999;
	facts.swap_bytes = GIB;
	facts.swap_used_bytes = MIB;
	facts.swapped_pages = 5;
	facts.processes[1].io_bytes = 300001;
	for (size_t i = 0; i < nr_check_rules; i++)
		judge(check_rules[i].name);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, quiet, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(all_pass), CASE(data_set), CASE(unwritten),
		CASE(processor), CASE(process_io), CASE(disks), CASE(swap),
		CASE(governor), CASE(scheduler), CASE(readahead), CASE(mounts),
		CASE(machine), CASE(drivers), CASE(kernel_debug), CASE(signing), CASE(no_disk),
		CASE(two_disks), CASE(json_is_text), CASE(long_words),
		CASE(process_lines), CASE(disk_lines),
		CASE(memory_lines), CASE(between), CASE(interrupts_between), CASE(over_seconds),
		cmocka_unit_test(each_is_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
