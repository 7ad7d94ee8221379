// SPDX-License-Identifier: GPL-2.0-or-later

/* What this process may do. */

#include "machine/admin.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

int is_admin(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return !geteuid();
	return !!(data[0].effective & (1U << CAP_SYS_ADMIN));
}
