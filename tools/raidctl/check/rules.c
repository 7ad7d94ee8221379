// SPDX-License-Identifier: GPL-2.0-or-later

/* The table of rules of raidctl check, and who applies it. */

#include "check/check.h"

#include <stdlib.h>

#include "check/judge.h"

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
