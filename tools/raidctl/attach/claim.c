// SPDX-License-Identifier: GPL-2.0-or-later

/* Files in which each recorder notes its targets. */

#include "attach/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define RUN_DIRECTORY	"/run/raidtrace"
#define PREFIX		"record-"
#define SOCKET_PREFIX	"mark-"
/* raidtrace.sweep.journal writes them. */
#define JOURNALS	"sweep"
#define JOURNAL_SUFFIX	".journal"

static const char *run_directory(void)
{
	const char *other = getenv("RAIDTRACE_RUN");

	return other ? other : RUN_DIRECTORY;
}

static void file_of(pid_t pid, char *ret, size_t size)
{
	snprintf(ret, size, "%s/" PREFIX "%d", run_directory(), (int)pid);
}

/* Start time of a process in clock ticks since boot; 0 if there is no such process. */
static uint64_t start_time(pid_t pid)
{
	char path[64], text[1024], *field;
	uint64_t ticks = 0;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	/* The name may contain blanks and parentheses, so count from the last one. */
	field = strrchr(text, ')');
	for (int i = 0; field && i < 20; i++)
		field = strchr(field + 1, ' ');
	if (field)
		ticks = strtoull(field, NULL, 10);
	return ticks;
}

int owner_begin(int *fd)
{
	char path[PATH_MAX];

	*fd = -1;
	if (mkdir(run_directory(), 0755) && errno != EEXIST)
		return -errno;
	file_of(getpid(), path, sizeof(path));
	/* A file with this name can only belong to a dead process. */
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
		   0644);
	if (*fd < 0)
		return -errno;
	if (dprintf(*fd, "owner %d %" PRIu64 "\n", (int)getpid(),
		    start_time(getpid())) < 0)
		return -errno;
	return 0;
}

int owner_adding(int fd, unsigned int major, unsigned int minor)
{
	if (dprintf(fd, "adding %u %u %" PRIu64 "\n", major, minor,
		    clock_ns(CLOCK_MONOTONIC)) < 0)
		return -errno;
	return 0;
}

int owner_added(int fd, const struct rt_target *target)
{
	if (dprintf(fd, "target %" PRIu32 " %" PRIu64 "\n", target->id,
		    target->attached_ns) < 0)
		return -errno;
	return 0;
}

int owner_describe(int fd, const char *file, bool detached)
{
	if (dprintf(fd, "file %s\n%s", file, detached ? "detached\n" : "") < 0)
		return -errno;
	return 0;
}

void owner_socket(pid_t pid, char *ret, size_t size)
{
	snprintf(ret, size, "%s/" SOCKET_PREFIX "%d", run_directory(),
		 (int)pid);
}

static void unlink_socket(pid_t pid)
{
	char path[PATH_MAX];

	owner_socket(pid, path, sizeof(path));
	unlink(path);
}

void owner_end(int fd)
{
	char path[PATH_MAX];

	if (fd < 0)
		return;
	unlink_socket(getpid());
	file_of(getpid(), path, sizeof(path));
	unlink(path);
	close(fd);
}

/* The file of one recorder. */
struct claim {
	pid_t pid;	/* of the recorder */
	uint64_t start;	/* start time of this process, in clock ticks since boot */
	bool target;	/* the given target is one of those it attached */
	bool detached;	/* it has no terminal */
	char file[OWNER_PATH];	/* of its recording */
};

static bool owner_is_alive(const struct claim *claim)
{
	return claim->start && start_time(claim->pid) == claim->start;
}

/* Ids start again when the module is loaded again, so the time must match, too. */
static void read_line(const char *line, const struct rt_target *target,
		      struct claim *claim)
{
	unsigned int major, minor;
	uint64_t a, b;
	int pid;

	if (sscanf(line, "owner %d %" SCNu64, &pid, &a) == 2) {
		claim->pid = pid;
		claim->start = a;
	} else if (sscanf(line, "target %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		claim->target |= target->id == a && target->attached_ns == b;
	} else if (sscanf(line, "adding %u %u %" SCNu64, &major, &minor,
			  &a) == 3) {
		claim->target |= target->major == major &&
				 target->minor == minor &&
				 target->attached_ns >= a;
	} else if (!strncmp(line, "file ", 5)) {
		snprintf(claim->file, sizeof(claim->file), "%.*s",
			 (int)strcspn(line + 5, "\n"), line + 5);
	} else if (!strcmp(line, "detached\n")) {
		claim->detached = true;
	}
}

static bool read_claim(const char *path, const struct rt_target *target,
		       struct claim *claim)
{
	FILE *file = fopen(path, "re");
	char line[OWNER_PATH + 16];

	memset(claim, 0, sizeof(*claim));
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		read_line(line, target, claim);
	fclose(file);
	return true;
}

/* Call @take with each recorder's claim to @target until it returns true. */
static void each_claim(const struct rt_target *target,
		       bool (*take)(const struct claim *, const char *path,
				    void *),
		       void *data)
{
	DIR *dir = opendir(run_directory());
	struct dirent *entry;
	struct claim claim;
	bool end = false;

	while (dir && !end && (entry = readdir(dir))) {
		char path[PATH_MAX];

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", run_directory(),
			 entry->d_name);
		if (read_claim(path, target, &claim))
			end = take(&claim, path, data);
	}
	if (dir)
		closedir(dir);
}

static bool take_living(const struct claim *claim, const char *path,
			void *data)
{
	(void)path;
	if (!claim->target || !owner_is_alive(claim))
		return false;
	*(pid_t *)data = claim->pid;
	return true;
}

pid_t owner_of(const struct rt_target *target)
{
	pid_t pid = 0;

	each_claim(target, take_living, &pid);
	return pid;
}

static bool take_dead(const struct claim *claim, const char *path, void *data)
{
	(void)path;
	if (!claim->target || owner_is_alive(claim))
		return false;
	*(pid_t *)data = claim->pid;
	return true;
}

static bool forget_dead(const struct claim *claim, const char *path,
			void *data)
{
	(void)data;
	if (owner_is_alive(claim))
		return false;
	unlink_socket(claim->pid);
	unlink(path);
	return false;
}

void owner_sweep(struct rt_client *client)
{
	static const struct rt_target none;
	struct rt_target *targets;
	bool left = false;
	size_t nr;

	if (rt_target_list(client, &nr, &targets))
		return;
	for (size_t i = 0; i < nr; i++) {
		pid_t pid = 0;

		each_claim(&targets[i], take_dead, &pid);
		if (!pid || owner_of(&targets[i]))
			continue;
		if (rt_target_del(client, targets[i].id)) {
			left = true;
			continue;
		}
		note("%s: detached; process %d, which attached it, has ended",
		     targets[i].disk, (int)pid);
	}
	free(targets);
	if (!left)
		each_claim(&none, forget_dead, NULL);
}

/* The recorders found so far. */
struct gathering {
	size_t nr;
	struct living *all;
	int err;
};

static bool add_living(const struct claim *claim, const char *path, void *data)
{
	struct gathering *all = data;
	struct living *more;

	(void)path;
	/* raidctl top attaches disks, too, but has no recording. */
	if (!claim->file[0] || !owner_is_alive(claim))
		return false;
	more = reallocarray(all->all, all->nr + 1, sizeof(*more));
	if (!more) {
		all->err = -ENOMEM;
		return true;
	}
	all->all = more;
	more[all->nr] = (struct living){
		.pid = claim->pid, .detached = claim->detached,
	};
	memcpy(more[all->nr++].file, claim->file, sizeof(claim->file));
	return false;
}

static int by_pid(const void *a, const void *b)
{
	const struct living *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int owner_living(size_t *nr, struct living **ret)
{
	static const struct rt_target none;
	struct gathering all = { 0 };

	each_claim(&none, add_living, &all);
	if (all.err) {
		free(all.all);
		return all.err;
	}
	if (all.nr)
		qsort(all.all, all.nr, sizeof(*all.all), by_pid);
	*nr = all.nr;
	*ret = all.all;
	return 0;
}

/* Taking the lock to test it would mislead raidctl why restore: it would assume a running sweep. */
static bool is_locked(const struct stat *st)
{
	FILE *file = fopen("/proc/locks", "re");
	unsigned int major, minor;
	bool locked = false;
	unsigned long inode;
	char line[256];

	while (file && !locked && fgets(line, sizeof(line), file))
		locked = sscanf(line, "%*d: FLOCK %*s %*s %*d %x:%x:%lu", &major, &minor, &inode) == 3 &&
			 major == major(st->st_dev) && minor == minor(st->st_dev) && inode == st->st_ino;
	if (file)
		fclose(file);
	return locked;
}

int settings_left(void)
{
	char path[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	int left = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" JOURNALS, run_directory());
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -1;
	while ((entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (end && !strcmp(end, JOURNAL_SUFFIX) &&
		    !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			left += !is_locked(&st);
	}
	closedir(dir);
	return left;
}

#define TRIES	100
#define PAUSE_NS	(10 * 1000 * 1000)

int counters_advance_again(struct rt_client *client, uint32_t id,
			   struct rt_counters *last, struct rt_counters *span)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int err = rt_counters_advance(client, id, last, span);

	for (int tries = 1; err == -ENOMEM && tries < TRIES; tries++) {
		nanosleep(&pause, NULL);
		err = rt_counters_advance(client, id, last, span);
	}
	return err;
}
