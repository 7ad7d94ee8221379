// SPDX-License-Identifier: GPL-2.0-or-later

/* The files of a blktrace trace: find, open and read them. */

#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* Size of all readers' buffers together, and the largest size of one. */
#define BUFFERS_BYTES	((size_t)8 << 20)
#define BUFFER_MAX	((size_t)256 << 10)
/* One file is open for each CPU and disk. */
#define FILES_MAX	1024

static ssize_t read_source(void *data, void *to, size_t room)
{
	struct blktrace_source *source = data;
	ssize_t got = read(source->fd, to, room);

	if (got < 0)
		return -errno;
	source->read += (uint64_t)got;
	return got;
}

static int add_source(struct blktrace_files *in, const char *path, int fd)
{
	struct blktrace_source *more = reallocarray(in->sources, in->nr + 1,
					   sizeof(*more));
	char *copy = strdup(path);

	if (more)
		in->sources = more;
	if (!more || !copy) {
		free(copy);
		close(fd);
		return fail("%s", strerror(ENOMEM));
	}
	more[in->nr++] = (struct blktrace_source){ .path = copy, .fd = fd };
	return 0;
}

static int open_source(struct blktrace_files *in, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return fail("%s: %s; name a file that blktrace wrote", path,
			    strerror(errno));
	if (fstat(fd, &st) || S_ISDIR(st.st_mode)) {
		close(fd);
		return fail("%s: is a directory; name the trace in it, such as %s/sda",
			    path, path);
	}
	if (S_ISREG(st.st_mode))
		in->bytes += (uint64_t)st.st_size;
	return add_source(in, path, fd);
}

/* "sda" of "sda.blktrace.12", which a shell completes. */
static char *base_of(const char *name)
{
	const char *tail = strstr(name, ".blktrace.");

	for (const char *more = tail; more;
	     more = strstr(more + 1, ".blktrace."))
		tail = more;
	if (tail && tail[10] && strspn(tail + 10, "0123456789") ==
	    strlen(tail + 10))
		return strndup(name, (size_t)(tail - name));
	return strdup(name);
}

/* Characters with a meaning for glob(3) are escaped. */
static char *pattern_of(const char *base)
{
	static const char tail[] = ".blktrace.[0-9]*";
	char *pattern = malloc(2 * strlen(base) + sizeof(tail)), *to = pattern;

	if (!pattern)
		return NULL;
	for (; *base; base++) {
		if (strchr("\\*?[", *base))
			*to++ = '\\';
		*to++ = *base;
	}
	strcpy(to, tail);
	return pattern;
}

static int too_many(size_t nr)
{
	return fail("%zu files are too many, at most %d can be read at once; import fewer disks at a time",
		    nr, FILES_MAX);
}

/* Find all files of a base name. If there are none, ret.gl_pathc is 0. */
static int find_files(const char *base, glob_t *ret)
{
	char *pattern = pattern_of(base);
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!pattern)
		return fail("%s", strerror(ENOMEM));
	err = glob(pattern, 0, NULL, ret);
	free(pattern);
	if (!err || err == GLOB_NOMATCH)
		return 0;
	return fail("%s: its files cannot be listed: %s", base,
		    strerror(err == GLOB_NOSPACE ? ENOMEM : EACCES));
}

static int open_trace(struct blktrace_files *in, const char *name)
{
	char *base = base_of(name);
	glob_t files;
	int status;

	if (!base)
		return fail("%s", strerror(ENOMEM));
	status = find_files(base, &files);
	if (!status && in->nr + files.gl_pathc > FILES_MAX)
		status = too_many(in->nr + files.gl_pathc);
	for (size_t i = 0; i < files.gl_pathc && !status; i++)
		status = open_source(in, files.gl_pathv[i]);
	if (!status && !files.gl_pathc) {
		in->stream = true;
		if (access(name, F_OK))
			status = fail("%s: no such trace; there is neither %s.blktrace.0 nor %s",
				      name, name, name);
		else
			status = open_source(in, name);
	}
	globfree(&files);
	free(base);
	return status;
}

static int open_readers(struct blktrace_files *in)
{
	size_t size = BUFFERS_BYTES / in->nr;

	if (size > BUFFER_MAX)
		size = BUFFER_MAX;
	if (size < BLKTRACE_BUFFER_MIN)
		size = BLKTRACE_BUFFER_MIN;
	in->readers = calloc(in->nr, sizeof(*in->readers));
	if (!in->readers)
		return fail("%s", strerror(ENOMEM));
	for (size_t i = 0; i < in->nr; i++) {
		struct blktrace_input input = { read_source, &in->sources[i] };

		if (blktrace_open(&in->readers[i], input, size))
			return fail("%s", strerror(ENOMEM));
	}
	return 0;
}

int blktrace_files_open(struct blktrace_files *in, const struct words *traces)
{
	int status = 0;

	for (size_t i = 0; i < traces->nr && !status; i++) {
		if (!strcmp(traces->word[i], "-")) {
			in->stream = true;
			status = add_source(in, "standard input", STDIN_FILENO);
		} else {
			status = open_trace(in, traces->word[i]);
		}
	}
	if (!status && in->stream && in->nr > 1)
		status = usage_error("import: a stream cannot be sorted together with other files; import it alone");
	return status ? status : open_readers(in);
}

void blktrace_files_close(struct blktrace_files *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		if (files->readers)
			blktrace_close(&files->readers[i]);
		close(files->sources[i].fd);
		free(files->sources[i].path);
	}
	free(files->readers);
	free(files->sources);
}

uint64_t blktrace_files_read(const struct blktrace_files *files)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < files->nr; i++)
		bytes += files->sources[i].read;
	return bytes;
}
