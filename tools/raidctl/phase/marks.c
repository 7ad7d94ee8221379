// SPDX-License-Identifier: GPL-2.0-or-later

/* Phases that a script names during the recording. */

#include "phase/phase.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* A recorder answers within microseconds, unless its processor is busy. */
#define ANSWER_SECONDS	10

static int address_of(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	strcpy(ret->sun_path, path);
	return 0;
}

int marks_open(const char *path)
{
	struct sockaddr_un address;
	int err = address_of(path, &address);
	mode_t before;
	int fd;

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	/* Only the user of the recorder may change its phases. */
	before = umask(0177);
	err = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno :
								       0;
	umask(before);
	if (!err)
		return fd;
	close(fd);
	return err;
}

bool marks_take(int fd, struct mark *ret)
{
	ssize_t len;

	ret->from_len = sizeof(ret->from);
	len = recvfrom(fd, ret->text, sizeof(ret->text) - 1, 0,
		       (struct sockaddr *)&ret->from, &ret->from_len);
	if (len < 0)
		return false;
	ret->text[len] = '\0';
	return true;
}

/* The sender may have ended meanwhile. */
void marks_answer(int fd, const struct mark *mark, const char *text)
{
	sendto(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
	       (const struct sockaddr *)&mark->from, mark->from_len);
}

static int exchange(int fd, const struct sockaddr_un *to, const char *text,
		    char *answer, size_t size)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	ssize_t len;

	/* The kernel chooses a name for an address without a name. */
	if (bind(fd, (struct sockaddr *)&own, sizeof(own.sun_family)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
	    connect(fd, (const struct sockaddr *)to, sizeof(*to)) ||
	    send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	len = recv(fd, answer, size - 1, 0);
	if (len < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	answer[len] = '\0';
	return 0;
}

int marks_send(const char *path, const char *text, char *answer, size_t size)
{
	struct sockaddr_un to;
	int err = address_of(path, &to);
	int fd;

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = exchange(fd, &to, text, answer, size);
	close(fd);
	return err;
}

bool mark_name_valid(const char *name)
{
	size_t len = strlen(name);

	for (const char *at = name; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	return len && len < PHASE_NAME;
}
