// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded by raidctl why: sees what a program does that changes how it
 * uses a disk, and leaves one of these out.
 *   RAIDTRACE_WHY_SEEN=FILE   a line for each kind of call that was observed
 *   RAIDTRACE_WHY_OMIT=KIND   direct, sync, sleep, fadvise, or mapping: the
 *                             readahead of mapped files
 * A program that is linked statically, or set-user-ID, is not observed at all.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
#include <poll.h>

#define LARGE_MAPPING (1 << 20) /* bytes; smaller ones are of libraries and tables */

enum kind { DIRECT, SYNC, SLEEP, FADVISE, MAPPING, NR_KINDS };

static const char *const names[NR_KINDS] = { "direct", "sync", "sleep", "fadvise", "mapping" };
static bool recorded[NR_KINDS];

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Notes the kind; true if it is to be left out. Keeps errno. */
static bool omitted(enum kind kind)
{
	const char *path = getenv("RAIDTRACE_WHY_SEEN");
	const char *omit = getenv("RAIDTRACE_WHY_OMIT");

	if (path && !recorded[kind]) {
		int saved = errno;
		int file = NEXT(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		recorded[kind] = true;
		if (file >= 0) {
			char line[16];
			size_t length = strlen(names[kind]);

			memcpy(line, names[kind], length);
			line[length] = '\n';
			if (write(file, line, length + 1) < 0)
				recorded[kind] = false;
			close(file);
		}
		errno = saved;
	}
	return omit && !strcmp(omit, names[kind]);
}

static int remove_flags(int flags)
{
	if (flags & O_DIRECT && omitted(DIRECT))
		flags &= ~O_DIRECT;
	/* O_SYNC holds O_DSYNC's bit */
	if (flags & (O_SYNC | O_DSYNC) && omitted(SYNC))
		flags &= ~(O_SYNC | O_DSYNC);
	return flags;
}

#define MODE(flags, last) ({					\
	int mode_ = 0;						\
	if ((flags) & (O_CREAT | __O_TMPFILE)) {		\
		va_list list_;					\
		va_start(list_, last);				\
		mode_ = va_arg(list_, int);			\
		va_end(list_);					\
	}							\
	mode_; })

int open(const char *path, int flags, ...)
{
	return NEXT(open)(path, remove_flags(flags), MODE(flags, flags));
}

int open64(const char *path, int flags, ...)
{
	return NEXT(open64)(path, remove_flags(flags), MODE(flags, flags));
}

int openat(int directory, const char *path, int flags, ...)
{
	return NEXT(openat)(directory, path, remove_flags(flags), MODE(flags, flags));
}

int openat64(int directory, const char *path, int flags, ...)
{
	return NEXT(openat64)(directory, path, remove_flags(flags), MODE(flags, flags));
}

/* Functions that programs built with _FORTIFY_SOURCE call. */
int __open_2(const char *path, int flags)
{
	return NEXT(open)(path, remove_flags(flags));
}

int __open64_2(const char *path, int flags)
{
	return NEXT(open64)(path, remove_flags(flags));
}

int __openat_2(int directory, const char *path, int flags)
{
	return NEXT(openat)(directory, path, remove_flags(flags));
}

int __openat64_2(int directory, const char *path, int flags)
{
	return NEXT(openat64)(directory, path, remove_flags(flags));
}

/* dd sets and takes away O_DIRECT so. */
#define FCNTL(name)						\
int name(int file, int command, ...)				\
{								\
	va_list list;						\
	long value;						\
								\
	va_start(list, command);				\
	value = va_arg(list, long);				\
	va_end(list);						\
	if (command == F_SETFL)					\
		value = remove_flags((int)value);			\
	return NEXT(name)(file, command, value);		\
}
FCNTL(fcntl)
FCNTL(fcntl64)

int fsync(int file)
{
	return omitted(SYNC) ? 0 : NEXT(fsync)(file);
}

int fdatasync(int file)
{
	return omitted(SYNC) ? 0 : NEXT(fdatasync)(file);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	return omitted(SLEEP) ? 0 : NEXT(nanosleep)(time, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	return omitted(SLEEP) ? 0 : NEXT(clock_nanosleep)(clock, flags, time, left);
}

unsigned int sleep(unsigned int seconds)
{
	return omitted(SLEEP) ? 0 : NEXT(sleep)(seconds);
}

int usleep(useconds_t time)
{
	return omitted(SLEEP) ? 0 : NEXT(usleep)(time);
}

/* select and poll without a file are sleeps too. */
int select(int count, fd_set *read, fd_set *write, fd_set *other, struct timeval *time)
{
	if (!count && time && omitted(SLEEP))
		return 0;
	return NEXT(select)(count, read, write, other, time);
}

int poll(struct pollfd *files, nfds_t count, int time)
{
	if (!count && time > 0 && omitted(SLEEP))
		return 0;
	return NEXT(poll)(files, count, time);
}

int posix_fadvise(int file, off_t at, off_t length, int advice)
{
	return omitted(FADVISE) ? 0 : NEXT(posix_fadvise)(file, at, length, advice);
}

int posix_fadvise64(int file, off64_t at, off64_t length, int advice)
{
	return omitted(FADVISE) ? 0 : NEXT(posix_fadvise64)(file, at, length, advice);
}

#define MMAP(name, offset)						\
void *name(void *at, size_t length, int protection, int flags, int file, offset from)	\
{									\
	void *mapping = NEXT(name)(at, length, protection, flags, file, from);	\
									\
	if (mapping != MAP_FAILED && file >= 0 && length >= LARGE_MAPPING &&	\
	    !(flags & MAP_ANONYMOUS) && !(protection & PROT_EXEC) &&	\
	    omitted(MAPPING)) {						\
		int saved = errno;					\
									\
		NEXT(madvise)(mapping, length, MADV_RANDOM);		\
		errno = saved;						\
	}								\
	return mapping;							\
}
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/* Calls that would turn on the readahead of a mapping again. */
int madvise(void *at, size_t length, int advice)
{
	bool ahead = advice == MADV_NORMAL || advice == MADV_SEQUENTIAL || advice == MADV_WILLNEED;

	return ahead && length >= LARGE_MAPPING && omitted(MAPPING) ? 0 : NEXT(madvise)(at, length, advice);
}
