// SPDX-License-Identifier: GPL-2.0-or-later

/* The machine on which raidctl runs: signals, privilege, and whether it is a guest of the lab. */

#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

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

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return !geteuid();
	return !!(data[number / 32].effective & (1U << number % 32));
}

bool is_admin(void)
{
	return has_capability(CAP_SYS_ADMIN);
}

bool may_observe(void)
{
	return has_capability(CAP_PERFMON) || is_admin();
}

/* In a virtual machine, the device is a process on the host, which is not in /proc. */
static const char *const status[] = { "/proc/raidlab/status", "/run/lab/raidlab-status" };

bool lab_profile(char *ret, size_t size)
{
	FILE *file = fopen(status[0], "re");
	char line[256];

	ret[0] = '\0';
	if (!file)
		file = fopen(status[1], "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "profile: ", 9))
			snprintf(ret, size, "%s", line + 9);
	}
	fclose(file);
	return true;
}

bool lab_has_devices(void)
{
	char profile[256];

	return lab_profile(profile, sizeof(profile));
}

bool lab_has_all_pci(void)
{
	return !access(status[0], F_OK);
}

/* With an option of its command line, UML has simulated time; otherwise it has the host's time. */
static bool has_simulated_time(void)
{
	FILE *file = fopen("/proc/cmdline", "re");
	char line[4096] = "";
	bool option;

	if (!file)
		return false;
	option = fgets(line, sizeof(line), file) && strstr(line, "time-travel");
	fclose(file);
	return option;
}

const char *lab_time(void)
{
	return access(status[0], F_OK) || !has_simulated_time() ? "real" :
							      "simulated";
}

static bool first_line(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "re");
	bool whole = false;

	ret[0] = '\0';
	if (!file)
		return false;
	if (fgets(ret, size, file)) {
		whole = strchr(ret, '\n') || strlen(ret) < size - 1;
		ret[strcspn(ret, "\n")] = '\0';
	}
	fclose(file);
	return whole && ret[0];
}

bool lab_config(char *ret, size_t size)
{
	return first_line("/sys/module/raidlab/parameters/config", ret, size);
}

bool lab_kernel(char *ret, size_t size)
{
	return first_line("/run/lab/control/kernel", ret, size);
}
