/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Is this machine a guest of the lab, with simulated devices? */

#ifndef BASE_LAB_H
#define BASE_LAB_H

#include <stdbool.h>
#include <stddef.h>

/**
 * lab_profile - profile of the simulated devices
 * @ret: its name, ", " between several, "" when there is none
 * @size: of @ret
 *
 * Return: whether there are simulated devices.
 */
bool lab_profile(char *ret, size_t size);

/* Return: whether there are simulated devices. */
bool lab_has_devices(void);

/* Return: whether this is a guest with only simulated PCI devices. */
bool lab_has_all_pci(void);

/**
 * lab_config - configuration of the first simulated device
 * @ret: "name=...,array.level=raid0,...": its profile with all that --set changed of it
 * @size: of @ret
 *
 * Return: whether that is known, and whole; of a device outside of the guest it is not.
 */
bool lab_config(char *ret, size_t size);

/**
 * lab_time - what kind of time the guest lives in
 *
 * Return: "simulated", or "real" in a virtual machine and in a guest that was
 * asked for it: the devices are simulated, clock and processors are not.
 */
const char *lab_time(void);

/**
 * lab_kernel - where the lab has this guest's kernel from
 * @ret: as in "linux-source 6.1.192-2", or a source tree and what git calls it
 * @size: of @ret
 *
 * Return: whether the lab says so.
 */
bool lab_kernel(char *ret, size_t size);

#endif
