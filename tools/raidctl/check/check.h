/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What has to hold before a benchmark means anything: the rules of
 * raidctl check.  Judging is pure; reading is in system.h.
 */

#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"
#include "machine/process.h"
#include "raidtrace.h"

/**
 * struct process_use - what a process did while activity was measured
 * @pid: its number
 * @name: as the kernel has it
 * @cpu_percent: of one processor, with children that ended meanwhile
 * @io_bytes: read from and written to disks
 */
struct process_use {
	int pid;
	char name[FACT_NAME];
	double cpu_percent;
	uint64_t io_bytes;
};

/**
 * struct module_use - a module that nothing uses, and its devices
 * @name: of the module
 * @interrupts: of its devices meanwhile
 * @shared: other devices use one of these interrupt lines too
 */
struct module_use {
	char name[FACT_NAME];
	uint64_t interrupts;
	bool shared;
};

/**
 * struct facts - all that the rules look at
 * @seconds: how long activity was measured
 * @data_bytes: size of the data set, 0 when nobody said it
 * @ram_bytes: memory that the kernel manages
 * @dirty_bytes: pages that wait to be written
 * @writeback_bytes: pages that are being written
 * @swap_bytes: size of all swap space
 * @swap_used_bytes: of it in use
 * @swapped_pages: moved to or from swap meanwhile
 * @processes_known: @processes could be read
 * @cpu_is_free: simulated time, where processors take none
 * @nr_processes: length of @processes
 * @processes: all but this one
 * @io_accounted: the kernel has process_use.io_bytes at all
 * @nr_io_hidden: processes whose I/O may not be read
 * @disk_uses_known: @disk_uses could be read
 * @nr_disk_uses: length of @disk_uses
 * @disk_uses: every whole disk
 * @nr_governors: processors with a frequency governor
 * @nr_performance: of them those whose governor is performance
 * @governor: of another one, "" when there is none
 * @target: systemd target or runlevel, "" when unknown
 * @modules_known: @modules could be read
 * @nr_modules: length of @modules
 * @modules: those with use count 0 that drive devices other than the disks'
 * @simulated: a guest of the lab
 * @profile: the lab's profile
 * @virtual_known: @hypervisor could be found out
 * @hypervisor: what this machine runs on, "" for none
 * @module_loaded: raidtrace is
 * @signing: which modules the kernel takes
 * @module_file: the one that would be loaded, "" for none
 * @module_signer: who signed it, "" for nobody
 * @module_enrolled: the kernel has a key of that signer, FACT_UNKNOWN: it does not tell
 * @config_source: where @config is from
 * @config: the kernel's configuration, NULL when unknown
 *
 * Numbers of signed type are FACT_UNKNOWN when they cannot be read.
 */
struct facts {
	double seconds;
	uint64_t data_bytes;
	int64_t ram_bytes;
	int64_t dirty_bytes;
	int64_t writeback_bytes;
	int64_t swap_bytes;
	int64_t swap_used_bytes;
	int64_t swapped_pages;
	bool processes_known;
	bool cpu_is_free;
	size_t nr_processes;
	struct process_use *processes;
	bool io_accounted;
	size_t nr_io_hidden;
	bool disk_uses_known;
	size_t nr_disk_uses;
	struct disk_use *disk_uses;
	size_t nr_governors;
	size_t nr_performance;
	char governor[FACT_NAME];
	char target[FACT_NAME];
	bool modules_known;
	size_t nr_modules;
	struct module_use *modules;
	bool simulated;
	char profile[FACT_NAME];
	bool virtual_known;
	char hypervisor[2 * FACT_NAME];
	bool module_loaded;
	struct rt_signing signing;
	char module_file[256];
	char module_signer[128];
	int module_enrolled;
	char config_source[2 * FACT_NAME];
	char *config;
};

enum verdict {
	VERDICT_PASS,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_UNKNOWN,
	NR_VERDICTS,
};

/* verdict_name - "pass", "warn", "fail" or "not available" */
const char *verdict_name(enum verdict verdict);

struct rule;

/**
 * struct finding - one rule applied to the machine or to one disk
 * @rule: which
 * @disk: its name, "" for the machine
 * @verdict: the judgement
 * @measured: @value is known
 * @value: what was judged
 * @unit: of @value, "" for a plain number and for none
 * @seen: what was found, in words; or why it is not available
 * @remedy: what to do, "" when there is nothing to be done
 */
struct finding {
	const struct rule *rule;
	const char *disk;
	enum verdict verdict;
	bool measured;
	double value;
	const char *unit;
	char seen[384];
	char remedy[384];
};

/**
 * struct rule - one thing that has to hold
 * @name: one word
 * @why: what goes wrong when it does not
 * @machine: judges the machine, or NULL
 * @disk: judges one disk, or NULL; @disks are all that are looked at
 */
struct rule {
	const char *name;
	const char *why;
	void (*machine)(const struct facts *facts, const struct disk *disks,
			size_t nr_disks, struct finding *ret);
	void (*disk)(const struct facts *facts, const struct disk *disk,
		     struct finding *ret);
};

extern const struct rule check_rules[];
extern const size_t nr_check_rules;

/**
 * check_judge - apply every rule
 * @facts: of this machine
 * @disks: with their mounts; may be none
 * @nr_disks: how many
 * @nr: how many findings
 *
 * Without a disk, rules about disks are not available.
 *
 * Return: findings in order of the rules, to be given to free(); they point
 * into @disks.  NULL without memory.
 */
struct finding *check_judge(const struct facts *facts,
			    const struct disk *disks, size_t nr_disks,
			    size_t *nr);

/* Reading what the rules of raidctl check look at; changes nothing. */

/**
 * facts_read - look at this machine for a second
 * @disks: whose drivers are needed
 * @nr_disks: how many
 * @ret: all but data_bytes, to be given to facts_free(), also after a failure
 *
 * Needs no privilege; without it the I/O of other users' processes is not
 * known.  What cannot be read is marked as not known.
 *
 * Return: 0 or -errno.
 */
int facts_read(const struct disk *disks, size_t nr_disks, struct facts *ret);
void facts_free(struct facts *facts);

/* parse_memory - a line of /proc/meminfo into @facts; pure */
void parse_memory(const char *line, struct facts *facts);

#endif
