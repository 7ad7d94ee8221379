// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * First and only service of a lab guest: prepare it, run one command, hand back what came of it, power off.
 *
 * Everything is read from and written to the control directory of the host, whose path is the last kernel argument:
 *   request   NUL-terminated "key value" strings (guest.py writes them): out, modroot, insmod, disks, console, cwd, env, arg
 *   stdout, stderr   what the command writes, as it writes it
 *   status    "exit N" or "failed WHY", then "simulated_ns N"
 *   tw9000-status    copy of /proc/tw9000/status
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CONTROL		"/run/lab/control"
#define OUT		"/run/lab/out"
#define MODROOT		"/run/lab/modroot"
#define LIMIT		512	/* strings of one kind in a request */
#define DISK_WAIT_MS	60000	/* simulated; the driver's own reset takes 30 s at worst */
#define DISK_QUIET	3	/* equal looks at the disks, 20 ms apart, that count as settled */

static struct {
	char *text;			/* the whole request; the pointers below point into it */
	const char *out, *modroot, *cwd, *console;
	char *insmod[LIMIT], *env[LIMIT], *arg[LIMIT];
	int insmods, envs, args;
	bool disks;
} request;

static pid_t command;			/* 0 until started */
static struct timespec command_start;

static void power_off(void)
{
	sync();
	umount2(OUT, 0);
	umount2(CONTROL, 0);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static long long since_start_ns(void)
{
	struct timespec now;

	if (!command)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - command_start.tv_sec) * 1000000000LL + now.tv_nsec - command_start.tv_nsec;
}

static void write_status(const char *text, long long simulated_ns)
{
	FILE *file = fopen(CONTROL "/status", "we");

	if (!file)
		return;
	fprintf(file, "%s\nsimulated_ns %lld\n", text, simulated_ns);
	fclose(file);
}

/* The lab itself cannot go on: say why and end the guest. */
__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *format, ...)
{
	char why[512], line[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "failed %s", why);
	write_status(line, 0);
	power_off();
	_exit(1);
}

static char *read_file(const char *path, size_t *length)
{
	size_t size = 0, room = 4096;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = malloc(room);
	ssize_t n = 1;

	if (fd < 0 || !text)
		goto out;
	while ((n = read(fd, text + size, room - size - 1)) > 0) {
		size += n;
		if (room - size == 1) {
			char *larger = realloc(text, room *= 2);

			if (!larger)
				break;
			text = larger;
		}
	}
out:
	if (fd >= 0)
		close(fd);
	if (fd < 0 || n) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	if (length)
		*length = size;
	return text;
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			length -= n;
		}
	}
	return 0;
}

/* Returns 0 also when there is nothing to copy: a guest without the model has no /proc/tw9000. */
static int copy_file(const char *from, const char *to)
{
	static char buffer[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC), out, error = 0;
	ssize_t n;

	if (in < 0)
		return 0;
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out < 0) {
		error = -errno;
		close(in);
		return error;
	}
	while (!error && (n = read(in, buffer, sizeof(buffer))))
		error = n < 0 ? -errno : write_all(out, buffer, n);
	close(in);
	if (close(out) && !error)
		error = -errno;
	return error;
}

static void mount_at(const char *source, const char *target, const char *type, unsigned long flags, const char *data)
{
	mkdir(target, 0755);
	if (mount(source, target, type, flags, data))
		fail("mount %s on %s: %s", type, target, strerror(errno));
}

/* Trees that not every kernel has. */
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
	mount_at("control", CONTROL, "hostfs", 0, control);
}

static void mount_rest(void)
{
	mount_at("sysfs", "/sys", "sysfs", 0, NULL);
	mount_at("devpts", "/dev/pts", "devpts", 0, "gid=5,mode=620,ptmxmode=666");
	mount_at("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
	mount_if_there("/sys/kernel/debug", "debugfs");
	mount_if_there("/sys/kernel/tracing", "tracefs");
	mkdir("/run/lab/tmp", 0777);
	chmod("/run/lab/tmp", 01777);
	mkdir("/run/lab/mnt", 0755);
	mount_at("out", OUT, "hostfs", 0, request.out);
	if (request.modroot)
		mount_at("modroot", MODROOT, "hostfs", MS_RDONLY, request.modroot);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

static void append(char **list, int *count, char *value)
{
	if (*count == LIMIT - 1)
		fail("more than %d values of one kind in the request", LIMIT - 1);
	list[(*count)++] = value;
	list[*count] = NULL;
}

static void read_request(void)
{
	size_t length;
	char *at, *end;

	request.text = read_file(CONTROL "/request", &length);
	if (!request.text)
		fail("cannot read the request");
	for (at = request.text, end = at + length; at < end; at += strlen(at) + 1) {
		char *key = at, *value = strchr(at, ' ');

		if (!value)
			fail("the request has a line without a value: %s", key);
		at = value + 1;
		*value++ = '\0';
		if (!strcmp(key, "out"))
			request.out = value;
		else if (!strcmp(key, "modroot"))
			request.modroot = value;
		else if (!strcmp(key, "cwd"))
			request.cwd = value;
		else if (!strcmp(key, "console"))
			request.console = value;
		else if (!strcmp(key, "disks"))
			request.disks = !strcmp(value, "wait");
		else if (!strcmp(key, "insmod"))
			append(request.insmod, &request.insmods, value);
		else if (!strcmp(key, "env"))
			append(request.env, &request.envs, value);
		else if (!strcmp(key, "arg"))
			append(request.arg, &request.args, value);
		else
			fail("the request has an unknown key: %s", key);
	}
	if (!request.out || !request.cwd || !request.args)
		fail("the request lacks out, cwd or arg");
}

/* The same numbers in every run: with the host's entropy kept out (hostcalls.c) even /dev/urandom repeats itself. */
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

/* Lets the kernel and programs find modules: there is no place for this kernel's below the host's /lib/modules. */
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
	write_all(fd, self, strlen(self));
	close(fd);
}

/* One line of text that changes while any SCSI disk is being scanned; returns the number of disks. */
static int look_at_disks(char *look, size_t room)
{
	DIR *blocks = opendir("/sys/block");
	struct dirent *entry;
	int disks = 0;
	size_t used = 0;

	look[0] = '\0';
	while (blocks && (entry = readdir(blocks))) {
		char path[300], *text;

		if (strncmp(entry->d_name, "sd", 2))
			continue;
		disks++;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		text = access(path, F_OK) ? NULL : (snprintf(path, sizeof(path), "/sys/block/%s/stat", entry->d_name),
						    read_file(path, NULL));
		if (used < room)
			used += snprintf(look + used, room - used, "%s %s", entry->d_name, text ? text : "no node");
		free(text);
	}
	if (blocks)
		closedir(blocks);
	return disks;
}

/* The driver returns before the last disk's partitions have been read; what reads them must not overlap the command. */
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
	     now[0] ? now : "/sys/block has no sd*");
}

/* The terminal of an interactive guest; its size travels in the request as "ROWSxCOLUMNS". */
static void take_terminal(void)
{
	struct winsize size = { 0 };
	int fd = open("/dev/tty0", O_RDWR);

	if (fd < 0 || ioctl(fd, TIOCSCTTY, 1))
		_exit(127);
	if (sscanf(request.console, "%hux%hu", &size.ws_row, &size.ws_col) == 2)
		ioctl(fd, TIOCSWINSZ, &size);
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);
}

__attribute__((noreturn))
static void become_command(int out, int err)
{
	sigset_t none;
	int null;

	setsid();
	if (request.console) {
		take_terminal();
	} else {
		null = open("/dev/null", O_RDONLY);
		dup2(null, 0);
		dup2(out, 1);
		dup2(err, 2);
		if (null > 2)
			close(null);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	clearenv();
	for (int i = 0; i < request.envs; i++)
		putenv(request.env[i]);
	if (chdir(request.cwd)) {
		fprintf(stderr, "raidctl lab: %s: %s\n", request.cwd, strerror(errno));
		_exit(127);
	}
	execvp(request.arg[0], request.arg);
	fprintf(stderr, "raidctl lab: %s: %s\n", request.arg[0], strerror(errno));
	_exit(127);
}

struct stream {
	int from, to;		/* pipe from the command, file on the host; from is -1 at its end */
};

/* Moves what is there now. */
static void drain(struct stream *stream)
{
	static char buffer[1 << 16];
	ssize_t n;

	while (stream->from >= 0 && (n = read(stream->from, buffer, sizeof(buffer))) != -1) {
		if (!n) {
			close(stream->from);
			stream->from = -1;
		} else if (write_all(stream->to, buffer, n)) {
			fail("the host's directory for the command's output is full or gone");
		}
	}
}

static struct stream open_stream(const char *path, int *write_end)
{
	struct stream stream;
	int ends[2];

	stream.to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (stream.to < 0 || pipe2(ends, O_CLOEXEC))
		fail("%s: %s", path, strerror(errno));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	stream.from = ends[0];
	*write_end = ends[1];
	return stream;
}

/* Reaps every child; returns the command's wait status once it is among them, else -1. */
static int reap(void)
{
	int status, found = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == command)
			found = status;
	return found;
}

static int run_command(long long *simulated_ns)
{
	struct stream streams[2];
	struct pollfd fds[3];
	int out, err, status = -1;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	streams[0] = open_stream(CONTROL "/stdout", &out);
	streams[1] = open_stream(CONTROL "/stderr", &err);
	fds[2] = (struct pollfd){ .fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN };

	clock_gettime(CLOCK_MONOTONIC, &command_start);
	command = fork();
	if (command < 0)
		fail("fork: %s", strerror(errno));
	if (!command)
		become_command(out, err);
	close(out);
	close(err);

	while (status < 0) {
		struct signalfd_siginfo info;

		fds[0] = (struct pollfd){ .fd = streams[0].from, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = streams[1].from, .events = POLLIN };
		poll(fds, 3, -1);
		drain(&streams[0]);
		drain(&streams[1]);
		while (read(fds[2].fd, &info, sizeof(info)) > 0)
			;
		status = reap();
	}
	*simulated_ns = since_start_ns();

	/* What the command left running must neither hold the pipes nor touch the disks any more. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	drain(&streams[0]);
	drain(&streams[1]);
	close(streams[0].to);
	close(streams[1].to);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	long long simulated_ns;
	char line[32];
	int error, code, fd;

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

	read_request();
	mount_rest();
	seed_random();
	if (request.modroot)
		point_modprobe_here();
	for (int i = 0; i < request.insmods; i++)
		insert_module(request.insmod[i]);
	if (request.disks)
		wait_for_disks();

	code = run_command(&simulated_ns);
	error = copy_file("/proc/tw9000/log", OUT "/ground-truth.csv");
	if (error)
		fail("ground-truth.csv: %s", strerror(-error));
	copy_file("/proc/tw9000/status", CONTROL "/tw9000-status");
	snprintf(line, sizeof(line), "exit %d", code);
	write_status(line, simulated_ns);
	power_off();
}
