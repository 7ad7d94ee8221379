/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Settings of the machine and of the bridges to a disk's controller. */

#ifndef DISK_SETTINGS_MACHINE_H
#define DISK_SETTINGS_MACHINE_H

#include "disk/disk.h"
#include "disk/settings.h"

/* settings_machine - of virtual memory, clock and processors; cheap */
int settings_machine(struct settings *settings, settings_changed *changed,
		     void *data);

/**
 * settings_controller - PCI path, link, driver and firmware of a controller
 * @settings: of the disk
 * @pci: address of the controller, "" for a disk that is not on PCI, which has
 *	none of these
 * @unit_3ware: it is one of 3w-9xxx's
 * @changed: called for each that is known
 * @data: for @changed
 *
 * The firmware of 3ware controllers is what the driver printed in the kernel's log
 * when it was loaded; where the log is no longer that long it is not known.
 */
int settings_controller(struct settings *settings, const char *pci,
			bool unit_3ware, settings_changed *changed, void *data);

/**
 * find_firmware - the line of 3w-9xxx about a controller; pure
 * @log: a line of the kernel's log
 * @host: number of the SCSI host
 * @firmware: of DISK_NAME bytes each
 * @bios: as firmware
 * @ports: as firmware
 *
 * Return: whether this line says it.
 */
bool find_firmware(const char *log, unsigned int host, char *firmware,
		   char *bios, char *ports);

#endif
