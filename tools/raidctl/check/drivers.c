// SPDX-License-Identifier: GPL-2.0-or-later

/* Modules that nothing uses and whose devices interrupt all the same. */

#include "check/activity.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Interrupts of one PCI device, by its address: its line, or its messages if it has some. */
static uint64_t device_interrupts(const char *device,
				  const struct activity *before,
				  const struct activity *after, bool *shared)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < after->interrupts.nr; i++) {
		unsigned int number = after->interrupts.lines[i].number;

		if (interrupts_of_pci(device, number))
			sum += activity_interrupts(before, after, number, shared);
	}
	return sum;
}

static bool drives(const char *driver, const struct disk *disks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(disks[i].above.driver, driver))
			return true;
	return false;
}

/* Fill @ret; false for a module that drives no device, or one of the disks. */
static bool module_devices(const char *module, const struct activity *before,
			   const struct activity *after,
			   const struct disk *disks, size_t nr_disks,
			   struct module_use *ret)
{
	char path[PATH_MAX];
	size_t devices = 0;
	glob_t found;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->name, sizeof(ret->name), "%s", module);
	snprintf(path, sizeof(path), "/sys/module/%s/drivers/pci:*/0*:*",
		 module);
	if (glob(path, 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char driver[PATH_MAX];

		snprintf(driver, sizeof(driver), "%s", found.gl_pathv[i]);
		if (drives(strchr(basename(dirname(driver)), ':') + 1, disks,
			   nr_disks)) {
			devices = 0;
			break;
		}
		devices++;
		ret->interrupts += device_interrupts(basename(found.gl_pathv[i]), before,
						     after, &ret->shared);
	}
	globfree(&found);
	return devices;
}

int drivers_read(const struct activity *before, const struct activity *after,
		 const struct disk *disks, size_t nr_disks,
		 struct facts *facts)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[1024], name[FACT_NAME];
	int users, err = 0;

	facts->modules_known = file && before->interrupts_known &&
			       after->interrupts_known;
	while (facts->modules_known && !err && fgets(line, sizeof(line), file)) {
		struct module_use *more, use;

		if (sscanf(line, "%63s %*u %d", name, &users) != 2 || users ||
		    !module_devices(name, before, after, disks, nr_disks, &use))
			continue;
		more = reallocarray(facts->modules, facts->nr_modules + 1,
				    sizeof(*more));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		facts->modules = more;
		more[facts->nr_modules++] = use;
	}
	if (file)
		fclose(file);
	return err;
}
