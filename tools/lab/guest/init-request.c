// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's half of the conversation with the runner: files of the control directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "init.h"

void power_off(void)
{
	sync();
	umount2(OUT, 0);
	umount2(CONTROL, 0);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

void status_write(const char *text, long long simulated_ns)
{
	FILE *file = fopen(CONTROL "/status", "we");

	if (!file)
		return;
	fprintf(file, "%s\nsimulated_ns %lld\n", text, simulated_ns);
	fclose(file);
}

void fail(const char *format, ...)
{
	char why[512], line[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "failed %s", why);
	status_write(line, 0);
	power_off();
	_exit(1);
}

char *file_read(const char *path, size_t *length)
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

int file_write_all(int fd, const char *data, size_t length)
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

int file_copy(const char *from, const char *to)
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
		error = n < 0 ? -errno : file_write_all(out, buffer, n);
	close(in);
	if (close(out) && !error)
		error = -errno;
	return error;
}

static void append(char **list, int *count, char *value)
{
	if (*count == REQUEST_LIMIT - 1)
		fail("more than %d values of one kind in the request", REQUEST_LIMIT - 1);
	list[(*count)++] = value;
	list[*count] = NULL;
}

void request_read(struct request *request)
{
	size_t length;
	char *text, *at, *end;

	text = file_read(CONTROL "/request", &length);
	if (!text)
		fail("cannot read the request");
	for (at = text, end = at + length; at < end; at += strlen(at) + 1) {
		char *key = at, *value = strchr(at, ' ');

		if (!value)
			fail("the request has a line without a value: %s", key);
		at = value + 1;
		*value++ = '\0';
		if (!strcmp(key, "out"))
			request->out = value;
		else if (!strcmp(key, "modroot"))
			request->modroot = value;
		else if (!strcmp(key, "cwd"))
			request->cwd = value;
		else if (!strcmp(key, "console"))
			request->console = value;
		else if (!strcmp(key, "disks"))
			request->disks = !strcmp(value, "wait");
		else if (!strcmp(key, "insmod"))
			append(request->insmod, &request->insmods, value);
		else if (!strcmp(key, "show"))
			append(request->show, &request->shows, value);
		else if (!strcmp(key, "env"))
			append(request->env, &request->envs, value);
		else if (!strcmp(key, "arg"))
			append(request->arg, &request->args, value);
		else
			fail("the request has an unknown key: %s", key);
	}
	if (!request->out || !request->cwd || !request->args)
		fail("the request lacks out, cwd or arg");
}
