// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload. Loading attaches to nothing; the first target does. */
#include <linux/module.h>

#include "netlink.h"
#include "target.h"
#include "version.h"

static int __init raidtrace_init(void)
{
	int err = raidtrace_targets_init();

	if (err)
		return err;
	err = raidtrace_netlink_init();
	if (err)
		raidtrace_targets_exit();
	return err;
}

static void __exit raidtrace_exit(void)
{
	raidtrace_netlink_exit();
	raidtrace_targets_exit();
}

module_init(raidtrace_init);
module_exit(raidtrace_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Exact counters of disks' request queues");
MODULE_VERSION(RAIDTRACE_VERSION);
