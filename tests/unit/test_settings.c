// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings: what is kept of a controller's slot, and that a value is told once. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/settings-machine.h"

/* All that was told, "name=value;" each. */
static char told[1024];

static int tell(void *data, const char *name, const char *value)
{
	size_t used = strlen(told);

	(void)data;
	snprintf(told + used, sizeof(told) - used, "%s=%s;", name, value);
	return 0;
}

static void put(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

/* A directory takes the place of the one that sysfs has for a PCI Express device. */
static void link_of_slot(void **state)
{
	char directory[] = "/tmp/raidtrace-pci-XXXXXX", pci[64], command[64];
	struct settings settings = { .hctl = "" };

	(void)state;
	assert_non_null(mkdtemp(directory));
	put(directory, "current_link_speed", "2.5 GT/s PCIe");
	put(directory, "current_link_width", "4");
	put(directory, "max_link_speed", "5.0 GT/s PCIe");
	put(directory, "max_link_width", "8");
	put(directory, "vendor", "0x13c1");
	/* From /sys/bus/pci/devices. */
	snprintf(pci, sizeof(pci), "../../../..%s", directory);
	told[0] = '\0';
	assert_int_equal(settings_controller(&settings, pci, false, tell, NULL), 0);
	assert_string_equal(told, "pci_link_speed=2.5 GT/s PCIe;pci_link_width=4;"
			    "pci_link_speed_max=5.0 GT/s PCIe;pci_link_width_max=8;"
			    "pci_vendor_id=0x13c1;");
	/* A link that was trained anew is a change, the rest is known. */
	put(directory, "current_link_width", "1");
	told[0] = '\0';
	assert_int_equal(settings_controller(&settings, pci, false, tell, NULL), 0);
	assert_string_equal(told, "pci_link_width=1;");
	settings_free(&settings);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

/* A slot that is not PCI Express has no link: nothing is told, and nothing made up. */
static void no_link(void **state)
{
	struct settings settings = { .hctl = "" };

	(void)state;
	told[0] = '\0';
	assert_int_equal(settings_controller(&settings, "no-such-device", false, tell, NULL), 0);
	assert_int_equal(settings_controller(&settings, "", false, tell, NULL), 0);
	assert_string_equal(told, "");
	settings_free(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_of_slot),
		cmocka_unit_test(no_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
