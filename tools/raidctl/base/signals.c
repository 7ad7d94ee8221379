// SPDX-License-Identifier: GPL-2.0-or-later

/* Signals as events of a descriptor. */

#include "base/signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

int signals_open(const int *numbers)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; numbers[i]; i++)
		sigaddset(&set, numbers[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
