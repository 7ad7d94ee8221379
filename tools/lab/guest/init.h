/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The init of a lab guest: what its parts share. */
#ifndef LAB_INIT_H
#define LAB_INIT_H

#include <stdbool.h>
#include <stddef.h>

#define CONTROL		"/run/lab/control"
#define OUT		"/run/lab/out"
#define MODROOT		"/run/lab/modroot"
#define REQUEST_LIMIT	512	/* strings of one kind */

/**
 * struct request - what the runner asks for, read from CONTROL/request
 * @out: directory of the host that becomes OUT
 * @modroot: directory of the host with lib/modules, NULL for none
 * @cwd: the command's working directory
 * @console: "ROWSxCOLUMNS" of the terminal for an interactive command, else NULL
 * @insmod: "PATH PARAMETERS" of modules, in order
 * @env: "NAME=VALUE", the command's whole environment
 * @arg: the command, NULL-terminated
 * @show: "HOSTPATH PATH" of directories of the host that a guest with a root of its own sees, read-only
 * @insmods: how many
 * @envs: how many
 * @args: how many
 * @shows: how many
 * @disks: whether to wait for SCSI disks
 */
struct request {
	const char *out;
	const char *modroot;
	const char *cwd;
	const char *console;
	char *insmod[REQUEST_LIMIT];
	char *env[REQUEST_LIMIT];
	char *arg[REQUEST_LIMIT];
	char *show[REQUEST_LIMIT];
	int insmods;
	int envs;
	int args;
	int shows;
	bool disks;
};

/* Fill @request, which refers to memory that is never freed. End the guest if it cannot be read. */
void request_read(struct request *request);

/* Report to the runner how the command ended; @text is "exit N" or "failed WHY". */
void status_write(const char *text, long long simulated_ns);

/* The lab itself cannot continue: print the reason and end the guest. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

__attribute__((noreturn)) void power_off(void);

/* The whole file with a NUL behind it, to be freed; NULL on error. @length may be NULL. */
char *file_read(const char *path, size_t *length);

/* Return: 0 or -errno. */
int file_write_all(int fd, const char *data, size_t length);

/* Return: 0, also when @from is not there: a guest without the model has no /proc/raidlab; or -errno. */
int file_copy(const char *from, const char *to);

/*
 * Run the command to its end, and end all processes that it left. Return: exit status, 128 + N for
 * signal N.
 */
int command_run(const struct request *request, long long *simulated_ns);

#endif
