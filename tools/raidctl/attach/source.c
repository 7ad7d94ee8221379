// SPDX-License-Identifier: GPL-2.0-or-later

/* Choose and open a source of counters. */

#include "attach/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/claim.h"
#include "base/base.h"

const char *source_parse(const char *arg, const struct argp_state *state)
{
	if (strcmp(arg, SOURCE_MODULE) && strcmp(arg, SOURCE_BPF))
		argp_error(state, "source: %s: give module or bpf", arg);
	return arg;
}

const char *source_chosen(const char *source)
{
	return source ? source : rt_module_loaded() > 0 ? SOURCE_MODULE : SOURCE_BPF;
}

bool source_is_own(const struct rt_client *client)
{
	return !strcmp(rt_source_name(client), SOURCE_BPF);
}

static int open_module(struct rt_client **ret, struct rt_info *info)
{
	int err = rt_open(ret);

	/* libnl reports the same error for a missing family and for a lack of memory. */
	if (err == -ENOENT && !access("/sys/module/raidtrace", F_OK))
		return fail("raidtrace is loaded, but not reachable over netlink: leave this network namespace if it is not that of the host; otherwise try again, because the module is being loaded or unloaded, or memory is short");
	if (err == -ENOENT)
		return fail("raidtrace is not loaded; load it with: raidctl load (as root), or count by BPF programs: --source bpf");
	if (err)
		return fail("netlink: %s", strerror(-err));
	err = rt_info_get(*ret, info);
	if (err)
		return fail("raidtrace: no answer: %s %s", strerror(-err), rt_error(*ret));
	if (info->abi != RAIDTRACE_ABI)
		return fail("raidtrace: the loaded module has ABI %u, this raidctl has ABI %u; load the module of the same version: raidctl unload, then raidctl load FILE",
			    info->abi, RAIDTRACE_ABI);
	if (is_admin())
		owner_sweep(*ret);
	return 0;
}

/* The reason why the kernel does not permit BPF programs, and what to do. */
static const char *why_refused(void)
{
	struct rt_signing signing;

	if (!is_admin())
		return "not permitted; run it as root, with sudo";
	rt_signing_read("", &signing);
	return signing.lockdown > 1 ?
		"the kernel is locked down (confidentiality), which forbids them; load a signed module: raidctl load" :
		"not permitted, although this is root; " NEEDED_IN_CONTAINER;
}

int source_open(const char *source, struct rt_client **ret, struct rt_info *info)
{
	char text[512];
	int err;

	if (!strcmp(source_chosen(source), SOURCE_MODULE))
		return open_module(ret, info);
	err = rt_open_bpf(ret, text, sizeof(text));
	if (!err)
		err = rt_info_get(*ret, info);
	if (!err) {
		/* Nobody can have attached a disk; the files of processes that were killed may remain. */
		if (!rt_module_loaded())
			owner_sweep(*ret);
		return 0;
	}
	if (err == -EPERM || err == -EACCES)
		snprintf(text, sizeof(text), "%s", why_refused());
	if (!source)
		fail("raidtrace is not loaded; load it with: raidctl load (as root)");
	return fail("%s by BPF programs: %s", source ? "counting is not possible" : "nor can it count", text);
}

int source_attach(struct rt_client *client, const struct disk *disk, const struct rt_options *options,
		  struct rt_target *ret, char *text, size_t size)
{
	int err = rt_target_add_number(client, disk->major, disk->minor, options, ret), fd;

	if (err == -EOPNOTSUPP) {
		fd = disk_open(disk);
		if (fd < 0) {
			snprintf(text, size, "cannot be opened: %s", fd == -ENODEV ?
				 "there is no such node in /dev" : strerror(-fd));
			return fd;
		}
		err = rt_target_add(client, fd, options, ret);
		close(fd);
	}
	snprintf(text, size, "cannot be attached: %s", rt_reason(client, err));
	return err;
}
