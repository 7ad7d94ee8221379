/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel says of a target's disk. */
#ifndef RAIDTRACE_TARGET_DISK_H
#define RAIDTRACE_TARGET_DISK_H

struct block_device;
struct device;
struct file;
struct netlink_ext_ack;
struct raidtrace_target;

struct block_device *raidtrace_disk_of_file(struct file *file, struct netlink_ext_ack *extack);
void raidtrace_disk_describe(struct raidtrace_target *target, struct device *disk);

#endif /* RAIDTRACE_TARGET_DISK_H */
