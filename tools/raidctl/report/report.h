/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Output of verbs: text for users, JSON for programs. Errors remain in ferror(). */

#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "attach/claim.h"
#include "disk/disk.h"
#include "numbers/numbers.h"
#include "raidtrace.h"
#include "report/losses.h"

/* The module, the attached disks and the running recordings. */
struct status {
	bool loaded;
	struct rt_info info;		/* only if it is loaded */
	bool simulated;			/* this machine is a guest of the lab */
	char profile[DISK_NAME];	/* of the lab, "" if not known */
	size_t nr_targets;
	struct rt_target *targets;
	size_t nr_units;		/* 3ware units of this machine */
	size_t nr_recordings;
	struct living *recordings;
	int settings_left;		/* killed experiments whose settings are not restored; -1: not known */
	struct rt_signing signing;	/* the kernel's requirements for modules; for JSON, like the members below */
	char module_file[256];		/* the module that raidctl load would load, "" for none */
	char module_signer[128];	/* "" for none */
	int module_enrolled;		/* the kernel has the key of this signer; -1: not known */
};

/* The counters of a disk for raidctl show. */
struct counted {
	const struct rt_target *target;
	const char *source;	/* name of the source of counters */
	struct losses losses;	/* since attach */
	struct span span;
};

/* raidctl list, raidctl status, and raidctl show. */
void text_disks(FILE *to, const struct disk *disks, size_t nr);
void json_disks(FILE *to, const struct disk *disks, size_t nr);
void text_status(FILE *to, const struct status *status);
void json_status(FILE *to, const struct status *status);
void text_counters(FILE *to, const struct counted *counted, size_t nr);
void json_counters(FILE *to, const struct counted *counted, size_t nr);

/* Print the summary of raidctl record: a row for each phase, disk and direction that moved data. */
void glance_table(FILE *to, const struct span *spans, size_t nr);

/* Write the rate in MiB/s, or n/a, to @ret, which has UNITS_TEXT bytes. */
void text_rate(char *ret, const struct direction_stats *stats);

/* Sections of text_counters(): a line for each direction; latency, merges and histograms; groups of counters. */
void span_flows(FILE *to, const struct span *span);
void span_details(FILE *to, const struct rt_counters *counters);
void span_groups(FILE *to, const struct rt_counters *counters);

/* Column of the values of a direction or a group, after its name. */
#define DETAIL_WIDTH	15

/* raidctl tail: requests of a disk in order of completion */
struct requests {
	bool has_awaited;		/* the last one is the expected one */
	bool classes;		/* classes were counted */
	const char *source;	/* name of the source of counters */
	struct losses losses;	/* since the disk was attached */
	size_t nr;
	struct rt_ended *ended;	/* free with free() */
};

/* Append copies of requests. Return: 0 or -ENOMEM. */
int requests_add(struct requests *requests, const struct rt_ended *ended, size_t nr);

/* Print the requests from index @first on. CSV has every column; times are CLOCK_MONOTONIC in ns. */
void requests_text(FILE *to, const struct requests *requests, size_t first, const char *disk);
void requests_json(FILE *to, const struct requests *requests, size_t first, const char *disk);
void requests_csv_names(FILE *to);
void requests_csv(FILE *to, const struct requests *requests, size_t first);

#endif
