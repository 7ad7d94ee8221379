/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What verbs print, by back end: text for people, JSON for programs. */

#ifndef REPORT_PRINT_H
#define REPORT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "attach/claim.h"
#include "disk/disk.h"
#include "raidtrace.h"
#include "store/load.h"

/**
 * struct status - all that raidctl alone shows
 * @loaded: the module is there
 * @info: the module, if it is
 * @simulated: this machine is a guest of the lab
 * @profile: the lab's profile, "" when unknown
 * @nr_targets: length of @targets
 * @targets: what is attached
 * @nr_units: 3ware units of this machine
 * @nr_recordings: length of @recordings
 * @recordings: running
 * @signing: which modules the kernel takes
 * @module_file: the module that raidctl load would load, "" for none
 * @module_signer: its signer, "" for none
 * @module_enrolled: the kernel has a key of that signer; -1 when unknown
 */
struct status {
	bool loaded;
	struct rt_info info;
	bool simulated;
	char profile[DISK_NAME];
	size_t nr_targets;
	struct rt_target *targets;
	size_t nr_units;
	size_t nr_recordings;
	struct living *recordings;
	struct rt_signing signing;
	char module_file[256];
	char module_signer[128];
	int module_enrolled;
};

/**
 * struct print_ops - one back end
 * @disks: raidctl list
 * @status: raidctl alone
 * @counters: raidctl show; each span is one target since attach or reset
 */
struct print_ops {
	void (*disks)(FILE *to, const struct disk *disks, size_t nr);
	void (*status)(FILE *to, const struct status *status);
	void (*counters)(FILE *to, const struct rt_target *targets,
			 const struct span *spans, size_t nr);
};

extern const struct print_ops print_text;
extern const struct print_ops print_json;

/* print_ops_of - the back end for --json or its absence */
const struct print_ops *print_ops_of(bool json);

#endif
