/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Settings that decide what a queue looks like, and their changes. */

#ifndef DISK_SETTINGS_H
#define DISK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct setting - one name and its value
 * @name: as in the table setting
 * @value: allocated
 */
struct setting {
	const char *name;
	char *value;
};

/**
 * struct settings - what is known of one disk
 * @disk: its name
 * @hctl: its SCSI address, "" when it has none
 * @nr: how many
 * @known: the last value of each
 */
struct settings {
	const char *disk;
	const char *hctl;
	size_t nr;
	struct setting *known;
};

/* settings_changed - receives a setting that is new or changed; 0 or -errno */
typedef int settings_changed(void *data, const char *name, const char *value);

/**
 * settings_set - take note of a value
 * @settings: of the disk
 * @name: a string that lives as long as @settings
 * @value: the value now
 * @changed: called if it is new or another than before
 * @data: for @changed
 *
 * Return: 0; what @changed returned; -ENOMEM.
 */
int settings_set(struct settings *settings, const char *name,
		 const char *value, settings_changed *changed, void *data);

/* settings_queue - read those of sysfs that can change at any time; cheap */
int settings_queue(struct settings *settings, settings_changed *changed,
		   void *data);

/* settings_mounts - read the mount table */
int settings_mounts(struct settings *settings, settings_changed *changed,
		    void *data);

/* settings_device - model, firmware and the driver's statistics */
int settings_device(struct settings *settings, settings_changed *changed,
		    void *data);
void settings_free(struct settings *settings);

#endif
