/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Output of verbs: text for people, JSON for programs. Errors stay in ferror(). */

#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "attach/claim.h"
#include "disk/disk.h"
#include "numbers/numbers.h"
#include "raidtrace.h"

/* The module, the attached disks and the running recordings. */
struct status {
	bool loaded;
	struct rt_info info;		/* when it is loaded */
	bool simulated;			/* this machine is a guest of the lab */
	char profile[DISK_NAME];	/* the lab's, "" when not known */
	size_t nr_targets;
	struct rt_target *targets;
	size_t nr_units;		/* 3ware units of this machine */
	size_t nr_recordings;
	struct living *recordings;
	struct rt_signing signing;	/* which modules the kernel accepts; for JSON, as the members below */
	char module_file[256];		/* the module that raidctl load would load, "" for none */
	char module_signer[128];	/* "" for none */
	int module_enrolled;		/* the kernel has a key of that signer; -1 when not known */
};

/* raidctl list, raidctl status, and raidctl show: a span for each target since attach or reset. */
void text_disks(FILE *to, const struct disk *disks, size_t nr);
void json_disks(FILE *to, const struct disk *disks, size_t nr);
void text_status(FILE *to, const struct status *status);
void json_status(FILE *to, const struct status *status);
void text_counters(FILE *to, const struct rt_target *targets,
		   const struct span *spans, size_t nr);
void json_counters(FILE *to, const struct rt_target *targets,
		   const struct span *spans, size_t nr);

/* The end of raidctl record: a row for each phase, disk and direction that moved data. */
void glance_table(FILE *to, const struct span *spans, size_t nr);

/* The rate in MiB/s, or n/a. @ret has room for UNITS_TEXT bytes. */
void text_rate(char *ret, const struct direction_stats *stats);

/* Sections of text_counters(): a line per direction; latency, merges and histograms; groups of counters. */
void span_flows(FILE *to, const struct span *span);
void span_details(FILE *to, const struct rt_counters *counters);
void span_groups(FILE *to, const struct rt_counters *counters);

/* Column of the values of a direction or a group, after its name. */
#define DETAIL_WIDTH	15

/* raidctl tail: requests of a disk in the order of their ends */
struct requests {
	bool has_awaited;		/* the last one is the awaited one */
	bool classes;		/* classes were counted */
	size_t nr;
	struct rt_ended *ended;	/* to free() */
};

/* Append copies of requests. Return: 0 or -ENOMEM. */
int requests_add(struct requests *requests, const struct rt_ended *ended, size_t nr);

/* Print the requests from index @first on. CSV has every column, times in ns of CLOCK_MONOTONIC. */
void requests_text(FILE *to, const struct requests *requests, size_t first, const char *disk);
void requests_json(FILE *to, const struct requests *requests, size_t first, const char *disk);
void requests_csv_names(FILE *to);
void requests_csv(FILE *to, const struct requests *requests, size_t first);

#endif
