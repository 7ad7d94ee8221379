// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings of a controller's slot, and that each value is reported once. */

#include "unit.h"

#include <sys/stat.h>

#include "disk/disk.h"
#include "record/record.h"

/* All reported settings, "name=value;" each. */
static char reported[1024];

static int keep_setting(void *data, const char *name, const char *value)
{
	size_t used = strlen(reported);

	(void)data;
	snprintf(reported + used, sizeof(reported) - used, "%s=%s;", name, value);
	return 0;
}

/* A directory takes the place of the one that sysfs has for a PCI Express device. */
TEST(link_of_slot)
{
	char directory[] = "/tmp/raidtrace-pci-XXXXXX", pci[64], command[64];
	struct settings settings = { .hctl = "", .changed = keep_setting };

	assert_non_null(mkdtemp(directory));
	unit_write(directory, "current_link_speed", "2.5 GT/s PCIe\n");
	unit_write(directory, "current_link_width", "4\n");
	unit_write(directory, "max_link_speed", "5.0 GT/s PCIe\n");
	unit_write(directory, "max_link_width", "8\n");
	unit_write(directory, "vendor", "0x13c1\n");
	/* From /sys/bus/pci/devices. */
	snprintf(pci, sizeof(pci), "../../../..%s", directory);
	reported[0] = '\0';
	assert_int_equal(settings_controller(&settings, pci, false), 0);
	assert_string_equal(reported, "pci_link_speed=2.5 GT/s PCIe;pci_link_width=4;"
			    "pci_link_speed_max=5.0 GT/s PCIe;pci_link_width_max=8;"
			    "pci_vendor_id=0x13c1;");
	/* A link that was trained anew is a change, the rest is known. */
	unit_write(directory, "current_link_width", "1\n");
	reported[0] = '\0';
	assert_int_equal(settings_controller(&settings, pci, false), 0);
	assert_string_equal(reported, "pci_link_width=1;");
	settings_free(&settings);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

/* A directory takes the place of a disk. The settings of a scheduler that is replaced become empty. */
TEST(settings_of_scheduler)
{
	char directory[] = "/tmp/raidtrace-disk-XXXXXX", disk[64], command[256];
	struct settings settings = { .disk = disk, .hctl = "", .changed = keep_setting };

	assert_non_null(mkdtemp(directory));
	snprintf(disk, sizeof(disk), "../..%s", directory);
	snprintf(command, sizeof(command), "mkdir -p %s/queue/iosched && echo 48 >%s/queue/iosched/async_depth && "
		 "echo 65536 >%s/queue/discard_max_bytes", directory, directory, directory);
	assert_int_equal(system(command), 0);
	reported[0] = '\0';
	assert_int_equal(settings_device(&settings), 0);
	assert_string_equal(reported, "discard_max_bytes=65536;iosched.async_depth=48;");
	snprintf(command, sizeof(command), "cd %s/queue/iosched && mv async_depth slice_idle", directory);
	assert_int_equal(system(command), 0);
	reported[0] = '\0';
	assert_int_equal(settings_device(&settings), 0);
	assert_string_equal(reported, "iosched.async_depth=;iosched.slice_idle=48;");
	settings_free(&settings);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

/* A file that is read often stays open, and a missing one is searched again when the disk is described. */
TEST(settings_read_often)
{
	char directory[] = "/tmp/raidtrace-disk-XXXXXX", disk[64], command[256];
	struct settings settings = { .disk = disk, .hctl = "", .changed = keep_setting };

	assert_non_null(mkdtemp(directory));
	snprintf(disk, sizeof(disk), "../..%s", directory);
	snprintf(command, sizeof(command), "mkdir -p %s/queue %s/md && echo 'none [bfq] kyber' >%s/queue/scheduler && "
		 "echo 64 >%s/queue/nr_requests", directory, directory, directory, directory);
	assert_int_equal(system(command), 0);
	reported[0] = '\0';
	assert_int_equal(settings_queue(&settings), 0);
	assert_string_equal(reported, "scheduler=bfq;nr_requests=64;");
	snprintf(command, sizeof(command), "cd %s && echo '[none] bfq kyber' >queue/scheduler && "
		 "echo 32 >queue/nr_requests && echo resync >md/sync_action", directory);
	assert_int_equal(system(command), 0);
	reported[0] = '\0';
	assert_int_equal(settings_queue(&settings), 0);
	assert_string_equal(reported, "scheduler=none;nr_requests=32;");
	assert_int_equal(settings_device(&settings), 0);
	assert_int_equal(settings_queue(&settings), 0);
	assert_string_equal(reported, "scheduler=none;nr_requests=32;md_sync_action=resync;");
	settings_free(&settings);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

/* A slot that is not PCI Express has no link: nothing is reported. */
TEST(no_link)
{
	struct settings settings = { .hctl = "", .changed = keep_setting };

	reported[0] = '\0';
	assert_int_equal(settings_controller(&settings, "no-such-device", false), 0);
	assert_int_equal(settings_controller(&settings, "", false), 0);
	assert_string_equal(reported, "");
	settings_free(&settings);
}

/* Events of a controller, as its driver writes them to the kernel's log. */

#define LINE "4,310,500000,-;3w-9xxx: scsi1: AEN: ERROR (0x04:0x0002): Degraded unit detected:unit=0\n"

TEST(event_counts)
{
	assert_int_equal(events_count("SCSI Host Resets:  0\nAEN's:   2\n"), 2);
	assert_int_equal(events_count("AEN's:                        0\n"), 0);
	assert_int_equal(events_count("Host Resets: 3\n"), -1);
	assert_int_equal(events_count("AEN's: many\n"), -1);
	assert_int_equal(events_count("AEN's:"), -1);
	assert_int_equal(events_count("AEN's: -1\n"), -1);
}

TEST(event_lines)
{
	char text[256];

	assert_true(events_find(LINE, 1, text, sizeof(text)));
	assert_string_equal(text, "ERROR (0x04:0x0002): Degraded unit detected:unit=0");
	assert_false(events_find(LINE, 0, text, sizeof(text)));
	assert_false(events_find(LINE, 11, text, sizeof(text)));
	assert_false(events_find("6,1,2,-;3w-9xxx: scsi1: Firmware FE9X 2.02.00.009, BIOS BE9X, Ports: 12.\n", 1, text, sizeof(text)));
	assert_false(events_find("3w-9xxx: scsi1: AEN: \n", 1, text, sizeof(text)));
	assert_false(events_find("", 1, text, sizeof(text)));
}

TEST(event_text_is_cut)
{
	char text[8];

	assert_true(events_find(LINE, 1, text, sizeof(text)));
	assert_string_equal(text, "ERROR (");
}

TEST(oldest_events_are_dropped)
{
	char lines[EVENTS_TEXT] = "", line[64], too_long[EVENTS_TEXT + 1];

	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "event %03d, which takes its room", i);
		events_append(lines, line);
		assert_true(strlen(lines) < EVENTS_TEXT);
	}
	assert_null(strstr(lines, "event 000"));
	assert_non_null(strstr(lines, "\nevent 099, which takes its room"));
	assert_memory_equal(lines, "event 0", 7);
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	events_append(lines, too_long);
	assert_non_null(strstr(lines, "event 099"));
	/* A line that fits only by itself removes all others. */
	too_long[EVENTS_TEXT - 1] = '\0';
	events_append(lines, too_long);
	assert_string_equal(lines, too_long);
}

/* Two fit if there is room for both, the line end between them and the NUL. */
TEST(events_fill_their_room)
{
	char *lines = malloc(EVENTS_TEXT), line[EVENTS_TEXT];

	for (size_t more = EVENTS_TEXT - 104; more <= EVENTS_TEXT - 100; more++) {
		memset(lines, 'a', 100);
		lines[100] = '\0';
		memset(line, 'b', more);
		line[more] = '\0';
		events_append(lines, line);
		assert_int_equal(strlen(lines), more + (100 + 1 + more < EVENTS_TEXT ? 101 : 0));
	}
	free(lines);
}

/* When a disk counts as idle: never when something may have happened. */

#define OTHER "   8       1 sda1 5 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"

TEST(idle)
{
	static const char before[] = OTHER
		"   8       0 sda 10 0 80 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
	static const char after[] = OTHER
		"   8       0 sda 11 0 88 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
	static const char busy[] = OTHER
		"   8       0 sda 11 0 88 1 0 0 0 0 1 1 1 0 0 0 0 0 0\n";
	struct idle_line last = { "" };

	/* The first look knows nothing. */
	assert_false(idle_since(before, 8, 0, &last));
	assert_true(idle_since(before, 8, 0, &last));
	assert_true(idle_since(before, 8, 0, &last));
	/* Another count; then again the same. */
	assert_false(idle_since(after, 8, 0, &last));
	assert_true(idle_since(after, 8, 0, &last));
	/* A request in flight is never idle, however long it takes. */
	assert_false(idle_since(busy, 8, 0, &last));
	assert_false(idle_since(busy, 8, 0, &last));
	assert_false(idle_since(busy, 8, 0, &last));
	/* Gone, or not to be read. */
	assert_false(idle_since(OTHER, 8, 0, &last));
	assert_false(idle_since(OTHER, 8, 0, &last));
	assert_false(idle_since(NULL, 8, 0, &last));
	/* Changes of another disk or partition do not count. */
	assert_false(idle_since(before, 8, 0, &last));
	assert_true(idle_since("   8       0 sda 10 0 80 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n", 8, 0, &last));
	assert_true(idle_since(before, 8, 0, &last));
	/* Another disk's line with the same counts at the offset of the last one. */
	assert_false(idle_since(OTHER "   8      16 sdb 10 0 80 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n", 8, 0, &last));
	assert_false(idle_since(before, 8, 0, &last));
	/* A line without requests in flight is cut short, so they are not known. */
	assert_false(idle_since(OTHER "   8       0 sda 10 0 80 1\n", 8, 0, &last));
	assert_false(idle_since(OTHER "   8       0 sda 10 0 80 1\n", 8, 0, &last));
}
