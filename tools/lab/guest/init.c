// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * First and only service of a lab guest: prepare it, run one command, hand back what came of it, power off.
 *
 * Everything is read from and written to the control directory of the host, whose path is the last kernel argument:
 *   request   NUL-terminated "key value" strings (guest.py writes them): out, modroot, show, insmod, disks, console,
 *             cwd, env, arg
 *   stdout, stderr   what the command writes, as it writes it
 *   status    "exit N" or "failed WHY", then "simulated_ns N"
 *   raidlab-status    copy of /proc/raidlab/status
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define DISK_WAIT_MS	60000	/* simulated; the driver's own reset takes 30 s at worst */
#define DISK_QUIET	3	/* equal looks at the disks, 20 ms apart, that count as settled */

static void mount_at(const char *source, const char *target, const char *type, unsigned long flags, const char *data)
{
	mkdir(target, 0755);
	if (mount(source, target, type, flags, data))
		fail("mount %s on %s: %s", type, target, strerror(errno));
}

/* Mount a tree that not every kernel has. */
static void mount_if_there(const char *target, const char *type)
{
	mkdir(target, 0755);
	mount(type, target, type, 0, NULL);
}

static void mount_first(const char *control)
{
	mount_at("proc", "/proc", "proc", 0, NULL);
	mount_at("devtmpfs", "/dev", "devtmpfs", 0, "mode=0755");
	mount_at("tmpfs", "/run", "tmpfs", 0, "mode=0755");
	mkdir("/run/lab", 0755);
	mkdir("/run/lock", 0777);
	sethostname("lab", 3);
	mount_at("control", CONTROL, "hostfs", 0, control);
}

static void mount_rest(const struct request *request)
{
	mount_at("sysfs", "/sys", "sysfs", 0, NULL);
	mount_at("devpts", "/dev/pts", "devpts", 0, "gid=5,mode=620,ptmxmode=666");
	mount_at("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
	mount_if_there("/sys/kernel/debug", "debugfs");
	mount_if_there("/sys/kernel/tracing", "tracefs");
	mkdir("/run/lab/tmp", 0777);
	chmod("/run/lab/tmp", 01777);
	mkdir("/run/lab/mnt", 0755);
	mount_at("out", OUT, "hostfs", 0, request->out);
	if (request->modroot)
		mount_at("modroot", MODROOT, "hostfs", MS_RDONLY, request->modroot);
	for (int i = 0; i < request->shows; i++) {
		char *at = strchr(request->show[i], ' ');

		if (!at)
			fail("the request shows a directory nowhere: %s", request->show[i]);
		*at++ = '\0';
		mount_at("host", at, "hostfs", MS_RDONLY, request->show[i]);
	}
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

/*
 * Use the same numbers in every run: without the host's entropy (hostcalls.c), even /dev/urandom
 * repeats.
 */
static void seed_random(void)
{
	struct {
		struct rand_pool_info info;
		unsigned char bytes[64];
	} seed = { .info = { .entropy_count = 512, .buf_size = 64 } };
	int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	memset(seed.bytes, 0x9d, sizeof(seed.bytes));
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &seed))
		fail("seeding /dev/urandom: %s", strerror(errno));
	close(fd);
}

/* spec: path, then after a space the module's parameters. */
static void insert_module(char *spec)
{
	char *parameters = strchr(spec, ' ');
	int fd;

	if (parameters)
		*parameters++ = '\0';
	fd = open(spec, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("open %s: %s", spec, strerror(errno));
	if (syscall(SYS_finit_module, fd, parameters ? parameters : "", 0))
		fail("insmod %s %s: %s (kernel.log says more)", spec, parameters ? parameters : "", strerror(errno));
	close(fd);
}

/*
 * Make modules available to the kernel and to programs: the host's /lib/modules has no directory
 * for this kernel.
 */
static void point_modprobe_here(void)
{
	int fd = open("/proc/sys/kernel/modprobe", O_WRONLY | O_CLOEXEC);
	char self[] = "/run/lab/modprobe";
	FILE *script = fopen(self, "we");

	if (!script || fd < 0)
		fail("setting up modprobe: %s", strerror(errno));
	fprintf(script, "#!/bin/sh\nexec modprobe -d %s \"$@\"\n", MODROOT);
	fchmod(fileno(script), 0755);
	fclose(script);
	file_write_all(fd, self, strlen(self));
	close(fd);
}

/* A line of text that changes while any disk is being scanned. Return: the number of disks. */
static int look_at_disks(char *look, size_t room)
{
	DIR *blocks = opendir("/sys/block");
	struct dirent *entry;
	int disks = 0;
	size_t used = 0;

	look[0] = '\0';
	while (blocks && (entry = readdir(blocks))) {
		char node[300], path[300], *text = NULL;

		if (strncmp(entry->d_name, "sd", 2) && strncmp(entry->d_name, "nvme", 4) &&
		    strncmp(entry->d_name, "vd", 2))
			continue;
		disks++;
		snprintf(node, sizeof(node), "/dev/%s", entry->d_name);
		snprintf(path, sizeof(path), "/sys/block/%s/stat", entry->d_name);
		if (!access(node, F_OK))
			text = file_read(path, NULL);
		if (used < room)
			used += snprintf(look + used, room - used, "%s %s", entry->d_name, text ? text : "no node");
		free(text);
	}
	if (blocks)
		closedir(blocks);
	return disks;
}

/*
 * The driver returns before the partitions of the last disk have been read. This reading must not
 * overlap with the command.
 */
static void wait_for_disks(void)
{
	const struct timespec pause_time = { .tv_nsec = 20 * 1000 * 1000 };
	char now[8192], before[8192] = "";
	int quiet = 0, waited;

	for (waited = 0; waited < DISK_WAIT_MS; waited += 20) {
		int disks = look_at_disks(now, sizeof(now));

		quiet = disks && !strcmp(now, before) && !strstr(now, "no node") ? quiet + 1 : 0;
		if (quiet == DISK_QUIET)
			return;
		strcpy(before, now);
		nanosleep(&pause_time, NULL);
	}
	fail("no disk appeared, or one did not settle, within %d simulated seconds: %s", DISK_WAIT_MS / 1000,
	     now[0] ? now : "/sys/block has none");
}

/* Ground truth of the first controller keeps the plain name, the others' have their number. */
static void copy_ground_truth(void)
{
	char from[32] = "/proc/raidlab/log", to[64] = OUT "/ground-truth.csv";

	for (int number = 1; !access(from, F_OK); number++) {
		int error = file_copy(from, to);

		if (error)
			fail("%s: %s", to, strerror(-error));
		snprintf(from, sizeof(from), "/proc/raidlab/log-%d", number);
		snprintf(to, sizeof(to), OUT "/ground-truth-%d.csv", number);
	}
}

int main(int argc, char **argv)
{
	static struct request request;
	long long simulated_ns;
	char line[32];
	int code, fd;

	if (argc < 2 || getpid() != 1) {
		fprintf(stderr, "This is the init of raidtrace's lab; raidctl lab run starts it.\n");
		return 2;
	}
	mount_first(argv[argc - 1]);
	fd = open("/dev/null", O_RDWR);
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);

	request_read(&request);
	mount_rest(&request);
	seed_random();
	if (request.modroot)
		point_modprobe_here();
	for (int i = 0; i < request.insmods; i++)
		insert_module(request.insmod[i]);
	if (request.disks)
		wait_for_disks();

	code = command_run(&request, &simulated_ns);
	copy_ground_truth();
	file_copy("/proc/raidlab/status", CONTROL "/raidlab-status");
	snprintf(line, sizeof(line), "exit %d", code);
	status_write(line, simulated_ns);
	power_off();
}
