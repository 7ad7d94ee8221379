/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The files of a blktrace trace: finding, opening and reading them. */

#ifndef IMPORT_FILES_H
#define IMPORT_FILES_H

#include "disk/args.h"
#include "import/blktrace.h"

/**
 * struct blktrace_source - a file of a trace
 * @path: its name, belongs to the source
 * @fd: open
 * @read: bytes read of it
 */
struct blktrace_source {
	char *path;
	int fd;
	uint64_t read;
};

/**
 * struct blktrace_files - all files of a trace
 * @sources: files, index is that of the reader
 * @readers: of the sources
 * @nr: how many
 * @bytes: of all regular files together
 * @stream: the trace is one stream, CPUs mixed
 */
struct blktrace_files {
	struct blktrace_source *sources;
	struct blktrace_reader *readers;
	size_t nr;
	uint64_t bytes;
	bool stream;
};

/**
 * blktrace_files_open - open what was named
 * @files: all zero; to be given to blktrace_files_close(), also after a failure
 * @traces: names: "sda" or one of its files for sda.blktrace.0 and so on, a
 *	file of a stream, "-" for standard input
 *
 * Return: 0 or an exit status; the failure has been printed.
 */
int blktrace_files_open(struct blktrace_files *files,
			const struct words *traces);
void blktrace_files_close(struct blktrace_files *files);

/* blktrace_files_read - bytes read of all of them */
uint64_t blktrace_files_read(const struct blktrace_files *files);

#endif
