/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Output of verbs: text for users, JSON for programs. Errors remain in ferror(). */

#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "attach/claim.h"
#include "disk/disk.h"
#include "format/format.h"
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

/* raidctl list, and raidctl status. */
void text_disks(FILE *to, const struct disk *disks, size_t nr);
struct json_object *json_disks(const struct disk *disks, size_t nr);
void text_status(FILE *to, const struct status *status);
void json_status(FILE *to, const struct status *status);

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
