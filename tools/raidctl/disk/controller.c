// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings of a disk's controller: the bridges to it, its driver, and messages of 3w-9xxx in the kernel's log. */

#include "disk/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Below the PCI device of the controller. */
static const struct {
	const char *name;
	const char *path;
} pci_places[] = {
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

/* Call a function with each message that is left in the kernel's log. */
static void each_message(void (*take)(void *data, const char *message), void *data)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char message[8192];
	ssize_t len;

	if (fd < 0)
		return;
	/* Each read returns one message; an overwritten message is an error. */
	while ((len = read(fd, message, sizeof(message) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		message[len > 0 ? len : 0] = '\0';
		take(data, message);
	}
	close(fd);
}

/* Does a line of the kernel's log name the firmware of a SCSI host? The texts have DISK_NAME bytes. */
static bool find_firmware(const char *line, unsigned int host, char *firmware,
			  char *bios, char *ports)
{
	const char *at = strstr(line, "3w-9xxx: scsi");
	unsigned int number;

	return at && sscanf(at, "3w-9xxx: scsi%u: Firmware %63[^,], BIOS %63[^,], Ports: %63[0-9]",
			    &number, firmware, bios, ports) == 4 &&
	       number == host;
}

/* The texts of the last message about the firmware, because the controller may have been reset. */
struct firmware {
	unsigned int host;
	char text[3][DISK_NAME];
};

static void take_firmware(void *data, const char *message)
{
	struct firmware *firmware = data;
	char text[3][DISK_NAME];

	if (find_firmware(message, firmware->host, text[0], text[1], text[2]))
		memcpy(firmware->text, text, sizeof(text));
}

static int set_firmware(struct settings *settings)
{
	static const char *const names[] = { "controller_firmware", "controller_bios", "controller_ports" };
	struct firmware firmware = { 0 };
	int err = 0;

	if (sscanf(settings->hctl, "%u:", &firmware.host) != 1)
		return 0;
	each_message(take_firmware, &firmware);
	for (int i = 0; i < 3 && firmware.text[0][0] && !err; i++)
		err = settings_set(settings, names[i], firmware.text[i]);
	return err;
}

long events_count(const char *stats)
{
	static const char name[] = "AEN's:";
	const char *at = strstr(stats, name);
	char *end;
	long count;

	if (!at)
		return -1;
	at += sizeof(name) - 1;
	count = strtol(at, &end, 10);
	return end == at || count < 0 ? -1 : count;
}

bool events_find(const char *line, unsigned int host, char *text, size_t size)
{
	static const char name[] = ": AEN: ";
	const char *at = strstr(line, "3w-9xxx: scsi"), *words;
	unsigned int number;

	if (!at || sscanf(at, "3w-9xxx: scsi%u", &number) != 1 || number != host)
		return false;
	words = strstr(at, name);
	if (!words)
		return false;
	words += sizeof(name) - 1;
	snprintf(text, size, "%.*s", (int)strcspn(words, "\n"), words);
	return text[0];
}

void events_append(char *lines, const char *line)
{
	size_t len = strlen(lines), more = strlen(line);
	char *rest;

	if (more >= EVENTS_TEXT)
		return;
	while (len + (len > 0) + more >= EVENTS_TEXT) {
		rest = strchr(lines, '\n');
		rest = rest ? rest + 1 : lines + len;
		len = strlen(rest);
		memmove(lines, rest, len + 1);
	}
	if (len)
		lines[len++] = '\n';
	memcpy(lines + len, line, more + 1);
}

/* The last events of a host, a line for each. */
struct events {
	unsigned int host;
	char lines[EVENTS_TEXT];
};

static void take_event(void *data, const char *message)
{
	struct events *events = data;
	char text[256];

	if (events_find(message, events->host, text, sizeof(text)))
		events_append(events->lines, text);
}

/*
 * An array that lost a drive is slower, and only the controller reports it. If the driver counts events that the log
 * has lost, the setting is not "none".
 */
static int set_events(struct settings *settings, unsigned int host,
		      const char *stats)
{
	long count = events_count(stats);
	struct events events = { .host = host };

	if (count > 0)
		each_message(take_event, &events);
	if (count < 0 || (count > 0 && !events.lines[0]))
		return 0;
	return settings_set(settings, "controller_events", events.lines);
}

/* The driver's own counters, a file of the SCSI host of 3w-9xxx. */
int settings_driver(struct settings *settings)
{
	char attribute[64], text[1024];
	unsigned int host;
	int err;

	if (sscanf(settings->hctl, "%u:", &host) != 1)
		return 0;
	snprintf(attribute, sizeof(attribute),
		 "device/../../scsi_host/host%u/stats", host);
	if (disk_attribute(settings->disk, attribute, text, sizeof(text)) <= 0)
		return 0;
	err = settings_set(settings, "driver_stats", text);
	return err ? err : set_events(settings, host, text);
}

/* "pci0000:00/0000:00:1c.0/0000:02:00.0": the bridges to the device. */
static int take_path(struct settings *settings, const char *device)
{
	char *real = realpath(device, NULL);
	const char *path = real ? strstr(real, "/pci") : NULL;
	int err = path ? settings_set(settings, "pci_path", path + 1) : 0;

	free(real);
	return err;
}

int settings_controller(struct settings *settings, const char *pci,
			bool unit_3ware)
{
	char device[PATH_MAX / 2], path[PATH_MAX];
	int err;

	if (!pci[0])
		return 0;
	snprintf(device, sizeof(device), "/sys/bus/pci/devices/%s", pci);
	err = take_path(settings, device);
	for (size_t i = 0; i < sizeof(pci_places) / sizeof(pci_places[0]) && !err; i++) {
		snprintf(path, sizeof(path), "%s/%s", device,
			 pci_places[i].path);
		err = settings_file(settings, pci_places[i].name, path);
	}
	if (!err && unit_3ware)
		err = set_firmware(settings);
	return err;
}
