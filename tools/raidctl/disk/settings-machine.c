// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings of the machine and of the bridges to a disk's controller. */

#include "disk/settings-machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* struct place - name of the setting, and its file */
struct place {
	const char *name;
	const char *path;
};

static const struct place machine_places[] = {
	{ "vm.dirty_ratio", "/proc/sys/vm/dirty_ratio" },
	{ "vm.dirty_bytes", "/proc/sys/vm/dirty_bytes" },
	{ "vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio" },
	{ "vm.dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes" },
	{ "vm.dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs" },
	{ "vm.dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs" },
	{ "vm.swappiness", "/proc/sys/vm/swappiness" },
	{ "vm.vfs_cache_pressure", "/proc/sys/vm/vfs_cache_pressure" },
	{ "vm.laptop_mode", "/proc/sys/vm/laptop_mode" },
	{ "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "cpus_online", "/sys/devices/system/cpu/online" },
	{ "governor_cpu0", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
};

/* Below the PCI device of the controller. */
static const struct place pci_places[] = {
	{ "pci_link_speed", "current_link_speed" },
	{ "pci_link_width", "current_link_width" },
	{ "pci_link_speed_max", "max_link_speed" },
	{ "pci_link_width_max", "max_link_width" },
	{ "pci_vendor_id", "vendor" },
	{ "pci_device_id", "device" },
	{ "pci_revision", "revision" },
	{ "pci_numa_node", "numa_node" },
	{ "driver_version", "driver/module/version" },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int take_file(struct settings *settings, const char *name,
		     const char *path, settings_changed *changed, void *data)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	while (len > 0 && text[len - 1] == '\n')
		len--;
	if (len <= 0)
		return 0;
	text[len] = '\0';
	return settings_set(settings, name, text, changed, data);
}

int settings_machine(struct settings *settings, settings_changed *changed,
		     void *data)
{
	int err = 0;

	for (size_t i = 0; i < LENGTH(machine_places) && !err; i++)
		err = take_file(settings, machine_places[i].name,
				machine_places[i].path, changed, data);
	return err;
}

bool find_firmware(const char *log, unsigned int host, char *firmware,
		   char *bios, char *ports)
{
	const char *at = strstr(log, "3w-9xxx: scsi");
	unsigned int found;

	return at && sscanf(at, "3w-9xxx: scsi%u: Firmware %63[^,], BIOS %63[^,], Ports: %63[0-9]",
			    &found, firmware, bios, ports) == 4 &&
	       found == host;
}

/* The last word on it counts: the controller may have been reset. */
static int take_firmware(struct settings *settings, settings_changed *changed,
			 void *data)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[8192], text[3][DISK_NAME], last[3][DISK_NAME] = { "" };
	unsigned int host;
	ssize_t len;
	int err = 0;

	if (fd < 0)
		return 0;
	/* Each read is one message; one that was overwritten is an error. */
	while (sscanf(settings->hctl, "%u:", &host) == 1 &&
	       ((len = read(fd, line, sizeof(line) - 1)) > 0 || errno == EPIPE)) {
		line[len > 0 ? len : 0] = '\0';
		if (find_firmware(line, host, text[0], text[1], text[2]))
			memcpy(last, text, sizeof(last));
	}
	close(fd);
	if (!last[0][0])
		return 0;
	err = settings_set(settings, "controller_firmware", last[0], changed,
			   data);
	if (!err)
		err = settings_set(settings, "controller_bios", last[1],
				   changed, data);
	if (!err)
		err = settings_set(settings, "controller_ports", last[2],
				   changed, data);
	return err;
}

/* "pci0000:00/0000:00:1c.0/0000:02:00.0": the bridges to the device. */
static int take_path(struct settings *settings, const char *device,
		     settings_changed *changed, void *data)
{
	char *real = realpath(device, NULL);
	const char *path = real ? strstr(real, "/pci") : NULL;
	int err = path ? settings_set(settings, "pci_path", path + 1, changed,
				      data) : 0;

	free(real);
	return err;
}

int settings_controller(struct settings *settings, const char *pci,
			bool unit_3ware, settings_changed *changed, void *data)
{
	char device[PATH_MAX / 2], path[PATH_MAX];
	int err;

	if (!pci[0])
		return 0;
	snprintf(device, sizeof(device), "/sys/bus/pci/devices/%s", pci);
	err = take_path(settings, device, changed, data);
	for (size_t i = 0; i < LENGTH(pci_places) && !err; i++) {
		snprintf(path, sizeof(path), "%s/%s", device,
			 pci_places[i].path);
		err = take_file(settings, pci_places[i].name, path, changed,
				data);
	}
	if (!err && unit_3ware)
		err = take_firmware(settings, changed, data);
	return err;
}
