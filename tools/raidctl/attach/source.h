/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The choice of a source of counters: the module, or BPF programs of this process. */

#ifndef ATTACH_SOURCE_H
#define ATTACH_SOURCE_H

#include <argp.h>
#include <stdbool.h>

#include "disk/disk.h"
#include "raidtrace.h"

#define SOURCE_MODULE	"module"
#define SOURCE_BPF	"bpf"

#define KEY_SOURCE	512
#define OPTION_SOURCE { "source", KEY_SOURCE, "SOURCE", 0, \
	"Count by the module or by BPF programs of this process: module or bpf " \
	"(default: the module if it is loaded, otherwise bpf)", 0 }

/* Return: the value of --source; a wrong one ends the program. */
const char *source_parse(const char *arg, const struct argp_state *state);

/* Return: the name of the source that --source chooses; @source: its value, NULL if it was not given. */
const char *source_chosen(const char *source);

/* Does the source count only while this process runs? It then counts only the disks that this process attaches. */
bool source_is_own(const struct rt_client *client);

/*
 * Open the source that --source chooses. @ret: to be given to rt_close(), also after a failure. @info: about the
 * source. Return: 0 or an exit status; the failure is printed.
 */
int source_open(const char *source, struct rt_client **ret, struct rt_info *info);

/*
 * Start counting a disk, which only the module needs open. Return: 0; -EEXIST if it is counted already; another -errno;
 * then @text gets the reason.
 */
int source_attach(struct rt_client *client, const struct disk *disk, const struct rt_options *options,
		  struct rt_target *ret, char *text, size_t size);

#endif
