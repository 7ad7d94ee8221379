/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The verbs of raidctl.
 *
 * To add one: write a struct verb in this room, in VERB.c or next to a verb
 * that shares its options or its object; declare it here;
 * give it a row in raidctl.c; write Documentation/man/raidctl-VERB.8; add its
 * words to tools/completion/.
 */

#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "raidtrace.h"

/* The dispatcher checks these before a verb runs. */
#define NEED_MODULE	(1 << 0)	/* connected to a module with the same ABI */
#define NEED_ADMIN	(1 << 1)	/* may change the attached targets */
#define NEED_OBSERVE	(1 << 2)	/* may read all counters and the last requests */

#define KEY_JSON	'j'
#define OPTION_JSON { "json", KEY_JSON, NULL, 0, "Print JSON instead of text", 0 }

/* Connection and paths for all verbs. */
struct context {
	struct rt_client *client;	/* source of counters; NULL without NEED_MODULE or connect_source() */
	struct rt_info info;	/* the source; all zero without NEED_MODULE or connect_source() */
	const char *directory;	/* directory of the executable */
};

/* The parser and the function of a verb. */
struct verb {
	struct argp argp;	/* its options; the input of its parser is @options_size bytes of zeroed memory */
	size_t options_size;	/* size of the options of @run */
	int (*run)(struct context *context, void *options);	/* returns the exit status */
};

extern const struct verb verb_attach;
extern const struct verb verb_detach;
extern const struct verb verb_import;
extern const struct verb verb_list;
extern const struct verb verb_load;
extern const struct verb verb_look;
extern const struct verb verb_mark;
extern const struct verb verb_record;
extern const struct verb verb_reset;
extern const struct verb verb_rows;
extern const struct verb verb_status;
extern const struct verb verb_tail;
extern const struct verb verb_unload;

/*
 * Open the connection and compare ABIs. @context gets client and info. Return: 0 or an exit status; the failure is
 * printed.
 */
int connect_module(struct context *context);

/*
 * Open a source of counters: @source "module" or "bpf", NULL for the module if it is loaded, otherwise BPF programs. As
 * connect_module().
 */
int connect_source(struct context *context, const char *source);

#endif
