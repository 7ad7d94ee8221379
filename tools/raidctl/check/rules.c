// SPDX-License-Identifier: GPL-2.0-or-later

/* The table of rules of raidctl check, and who applies it. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/judge.h"

/* How a rule says what it found. */

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[NR_VERDICTS] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_WARN] = "warn",
		[VERDICT_FAIL] = "fail",
		[VERDICT_UNKNOWN] = "not available",
	};

	return names[verdict];
}

void finding_is(struct finding *finding, enum verdict verdict, double value,
		const char *unit)
{
	finding->verdict = verdict;
	finding->measured = true;
	finding->value = value;
	finding->unit = unit;
}

void finding_above(struct finding *finding, double value, double warn,
		   double fail, const char *unit)
{
	finding_is(finding, value > fail ? VERDICT_FAIL :
		   value > warn ? VERDICT_WARN : VERDICT_PASS, value, unit);
}

void finding_unknown(struct finding *finding, const char *format, ...)
{
	va_list args;

	finding->verdict = VERDICT_UNKNOWN;
	finding->measured = false;
	finding->unit = "";
	va_start(args, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, args);
	va_end(args);
}

void finding_seen(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, args);
	va_end(args);
}

void finding_more(struct finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->seen);
	va_list args;

	va_start(args, format);
	vsnprintf(finding->seen + used, sizeof(finding->seen) - used, format,
		  args);
	va_end(args);
}

void finding_remedy(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->remedy, sizeof(finding->remedy), format, args);
	va_end(args);
}

const struct rule check_rules[] = {
	{ "data-set", "a data set that fits in memory measures memory",
	  judge_data_set, NULL },
	{ "unwritten", "pages of earlier work are written during the run",
	  judge_unwritten, NULL },
	{ "processor", "other processes take the processor from the benchmark",
	  judge_processor, NULL },
	{ "process-io", "other processes use disks during the run",
	  judge_process_io, NULL },
	{ "disk-idle", "what others ask of the disk is measured too",
	  NULL, judge_disk_idle },
	{ "other-disks", "other disks share bus, interrupts and processors",
	  judge_other_disks, NULL },
	{ "swap", "swapping adds requests and takes memory away",
	  judge_swap, NULL },
	{ "governor", "a processor that changes its frequency changes the result",
	  judge_governor, NULL },
	{ "scheduler", "a scheduler that holds requests back changes what the controller sees",
	  NULL, judge_scheduler },
	{ "readahead", "too little readahead leaves most drives of an array idle",
	  NULL, judge_readahead },
	{ "mounts", "some mount options add writes or make them synchronous",
	  NULL, judge_mounts },
	{ "target", "a desktop draws, types and writes during the run",
	  judge_target, NULL },
	{ "drivers", "devices that nobody needs interrupt the run",
	  judge_drivers, NULL },
	{ "machine", "a virtual machine measures its host too",
	  judge_machine, NULL },
	{ "kernel-debug", "debugging in the kernel slows down each request",
	  judge_kernel_debug, NULL },
	{ "signing", "a kernel that takes signed modules only may refuse raidtrace",
	  judge_signing, NULL },
};

const size_t nr_check_rules = sizeof(check_rules) / sizeof(check_rules[0]);

struct finding *check_judge(const struct facts *facts,
			    const struct disk *disks, size_t nr_disks,
			    size_t *nr)
{
	struct finding *all = calloc(nr_check_rules * (nr_disks + 1),
				     sizeof(*all));

	*nr = 0;
	for (size_t i = 0; all && i < nr_check_rules; i++) {
		const struct rule *rule = &check_rules[i];
		size_t times = rule->machine || !nr_disks ? 1 : nr_disks;

		for (size_t d = 0; d < times; d++) {
			struct finding *ret = &all[(*nr)++];

			ret->rule = rule;
			ret->disk = "";
			ret->unit = "";
			if (rule->machine) {
				rule->machine(facts, disks, nr_disks, ret);
			} else if (nr_disks) {
				ret->disk = disks[d].name;
				rule->disk(facts, &disks[d], ret);
			} else {
				finding_unknown(ret, "there is no 3ware unit here");
				finding_remedy(ret, "name a disk: raidctl check DISK");
			}
		}
	}
	return all;
}
