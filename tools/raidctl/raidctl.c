// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl: its verbs, and their requirements. */

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/source.h"
#include "base/base.h"
#include "cmd/command.h"
#include "machine/machine.h"
#include "version.h"

/* A row of the table for dispatch and usage. */
struct command {
	const char *name;	/* the verb */
	const struct verb *verb;	/* its implementation, NULL for a program in the directory of the executable */
	int flags;	/* NEED_* */
	const char *summary;	/* one line; NULL: a part of other verbs, which the usage leaves out */
};

static const struct command commands[] = {
	{ "list", &verb_list, 0, "list the disks and their settings" },
	{ "check", NULL, 0, "check whether this machine is ready for a benchmark" },
	{ "load", &verb_load, 0, "load the kernel module" },
	{ "unload", &verb_unload, 0, "unload the kernel module" },
	{ "attach", &verb_attach, NEED_ADMIN | NEED_MODULE,
	  "begin to count the requests of disks" },
	{ "detach", &verb_detach, NEED_ADMIN | NEED_MODULE,
	  "stop counting disks and drop their counters" },
	{ "show", NULL, 0, "print the current counters of disks" },
	{ "tail", &verb_tail, NEED_OBSERVE,
	  "show the last requests of a disk, one by one" },
	{ "reset", &verb_reset, NEED_ADMIN | NEED_MODULE,
	  "set the counters of disks to zero" },
	{ "look", &verb_look, 0, NULL },
	{ "rows", &verb_rows, 0, NULL },
	{ "record", &verb_record, NEED_ADMIN,
	  "record disks, until Ctrl-C or while a command runs" },
	{ "mark", &verb_mark, 0,
	  "begin a phase of a running recording" },
	{ "top", NULL, 0, "watch disks live" },
	{ "report", NULL, 0, "print what limits the disks of a recording" },
	{ "export", NULL, 0, "convert a recording to CSV, JSON or a Perfetto trace" },
	{ "exporter", NULL, 0, "serve the counters to Prometheus over HTTP" },
	{ "import", &verb_import, 0,
	  "convert a trace of blktrace to a recording" },
	{ "status", &verb_status, 0,
	  "show module, attached disks and recordings (default)" },
	{ "lab", NULL, 0, "run commands on simulated disks" },
	{ "demo", NULL, 0, "repeat a published readahead benchmark on a simulated array" },
	{ "workload", NULL, 0, "run a known benchmark, or parse its output" },
	{ "sweep", NULL, 0, "run a plan of benchmarks, in the lab or on disks" },
	{ "explain", NULL, 0, "explain the throughput of a recording, step by step" },
	{ "why", NULL, 0, "find a cause by experiment, in the lab or on a disk" },
	{ "compare", NULL, 0, "compare recordings, sweeps or published figures" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* argp prints these. */
const char *argp_program_version = "raidctl " RAIDTRACE_VERSION;
error_t argp_err_exit_status = EXIT_USAGE;

static char directory[PATH_MAX];

static void find_directory(void)
{
	ssize_t len = readlink("/proc/self/exe", directory,
			       sizeof(directory) - 1);

	if (len < 0)
		len = 0;
	directory[len] = '\0';
	dirname(directory);
}

/* Find the program of a verb that is not part of the executable. Return: false if there is none that can be run. */
static bool find_program(const char *verb, char *ret, size_t size)
{
	if (strchr(verb, '/'))
		return false;
	snprintf(ret, size, "%s/raidctl-%s", directory, verb);
	return !access(ret, X_OK);
}

static int no_program(const char *path, int err)
{
	/* The file exists, so the interpreter in its first line does not. */
	if (err == ENOENT && !access(path, F_OK))
		return fail("this verb needs Python, which is not installed; install it: apt-get install python3");
	return fail("%s: %s", path, strerror(err));
}

static void usage(FILE *to)
{
	char path[PATH_MAX + 64];

	fputs("Usage: raidctl [--debug] [VERB [OPTION...] [ARG...]]\n"
	      "Find out why a disk is fast or slow.\n\n",
	      to);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].summary &&
		    (commands[i].verb || find_program(commands[i].name, path, sizeof(path))))
			terminal_print(to, "  %-8s %s\n", commands[i].name,
				       commands[i].summary);
	fputs("\nOptions of a verb: raidctl VERB --help. Manual: man raidctl-VERB.\n"
	      "--debug: if a verb in Python ends with an error, print the traceback.\n"
	      "Exit status: 0 success, 1 failure, 2 wrong command line; record and lab run\n"
	      "pass on the exit status of their command.\n",
	      to);
}

int connect_source(struct context *context, const char *source)
{
	return source_open(source, &context->client, &context->info);
}

int connect_module(struct context *context)
{
	return connect_source(context, SOURCE_MODULE);
}

static int set_up(const struct command *command, struct context *context)
{
	if ((command->flags & NEED_ADMIN && !is_admin()) ||
	    (command->flags & NEED_OBSERVE && !may_observe()))
		return fail(geteuid() ? "%s: not permitted; run it as root: sudo raidctl %s" :
				"%s: not permitted, although this is root: " NEEDED_IN_CONTAINER,
			    command->name, command->name);
	if (!(command->flags & NEED_MODULE))
		return 0;
	if (!rt_module_loaded())
		return fail("%s: only the module counts after a command has ended, and raidtrace is not loaded; load it with: raidctl load (as root), or use a verb that counts while it runs: record, top, show DISK, tail DISK",
			    command->name);
	return connect_module(context);
}

static int run(const struct command *command, int argc, char **argv)
{
	const struct verb *verb = command->verb;
	struct context context = { .directory = directory };
	/* Freed with the process: it owns words that only a verb that ran frees. */
	static void *options;
	char name[64];
	int status;

	options = calloc(1, verb->options_size + 1);
	if (!options)
		return fail("%s", strerror(ENOMEM));
	snprintf(name, sizeof(name), "raidctl %s", command->name);
	argv[0] = name;
	/* In order, so that options after a command's name belong to the command. */
	status = argp_parse(&verb->argp, argc, argv, ARGP_IN_ORDER, NULL,
			    options);
	if (status)
		return status == ENOMEM ? fail("%s", strerror(ENOMEM)) :
					  EXIT_USAGE;
	status = set_up(command, &context);
	if (!status)
		status = verb->run(&context, options);
	rt_close(context.client);
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: %s", strerror(errno));
	return status;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int dispatch(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	char path[PATH_MAX + 64];

	if (command && command->verb)
		return run(command, argc, argv);
	if (find_program(argv[0], path, sizeof(path))) {
		execv(path, argv);
		return no_program(path, errno);
	}
	if (command)
		return fail("%s: its program raidctl-%s is not installed in the directory of %s/raidctl; build it with: make tools",
			    command->name, command->name, directory);
	return usage_error("%s: no such verb; see: raidctl --help", argv[0]);
}

/* raidctl help, raidctl help VERB: like --help. */
static int help(int argc, char **argv)
{
	char option[] = "--help";
	char *rest[3] = { NULL, option, NULL };

	if (argc < 2) {
		usage(stdout);
		return EXIT_DONE;
	}
	rest[0] = argv[1];
	return dispatch(2, rest);
}

int main(int argc, char **argv)
{
	char status[] = "status";
	char *no_verb[2] = { status, NULL };

	/* Report a file that may not grow as an error. Without this, SIGXFSZ ends the process. */
	signal(SIGXFSZ, SIG_IGN);
	find_directory();
	if (argc > 1 && !strcmp(argv[1], "--debug")) {
		setenv("RAIDCTL_DEBUG", "1", 1);
		argv++;
		argc--;
	}
	if (argc < 2)
		return dispatch(1, no_verb);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") ||
	    !strcmp(argv[1], "-h")) {
		usage(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		terminal_print(stdout, "%s\n", argp_program_version);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return usage_error("%s: no such option; see: raidctl --help",
				   argv[1]);
	return dispatch(argc - 1, argv + 1);
}
