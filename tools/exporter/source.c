// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * What the exporter shows. Each scrape requests the counters again: it can be
 * unloaded, loaded again and replaced meanwhile. Asking needs no privilege.
 */

#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cgroups.h"
#include "export/openmetrics-text.h"
#include "export/openmetrics.h"
#include "raidtrace.h"
#include "store/load.h"
#include "version.h"

static void write_loaded(FILE *to, int loaded)
{
	metric_head(to, "module_loaded", "gauge", NULL,
		    "0: the module is not loaded, and nothing is counted");
	fprintf(to, "raidtrace_module_loaded %d\n", loaded);
}

/* Every disk that is attached as a span; one that is detached meanwhile is left out. */
static int read_spans(struct rt_client *client, struct rt_target *targets,
		      size_t nr, bool cgroups, struct recording *ret)
{
	ret->spans = calloc(nr + 1, sizeof(*ret->spans));
	if (!ret->spans)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct span *span = &ret->spans[ret->nr_spans];
		int err = rt_counters_get(client, targets[i].id,
					  &span->counters);

		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		span->disk = targets[i].disk;
		ret->nr_spans++;
		if (cgroups && cgroups_follow(&span->counters))
			return -ENOMEM;
	}
	cgroups_scraped();
	return 0;
}

static int write_live(struct rt_client *client, const struct rt_info *info,
		      bool cgroups, FILE *to)
{
	struct utsname machine = { 0 };
	struct pair meta[] = {
		{ .name = (char *)"hostname", .value = machine.nodename },
		{ .name = (char *)"kernel", .value = machine.release },
		{ .name = (char *)"tool_version", .value = (char *)RAIDTRACE_VERSION },
		{ .name = (char *)"module_version", .value = (char *)info->version },
		{ .name = (char *)"end", .value = (char *)"counting" },
	};
	struct recording now = {
		.meta = meta, .nr_meta = sizeof(meta) / sizeof(meta[0]),
	};
	struct rt_target *targets = NULL;
	size_t nr;
	int err;

	uname(&machine);
	err = rt_target_list(client, &nr, &targets);
	if (!err)
		err = read_spans(client, targets, nr, cgroups, &now);
	if (!err) {
		write_loaded(to, 1);
		err = openmetrics_write(to, &now);
	}
	for (size_t i = 0; i < now.nr_spans; i++)
		rt_counters_free(&now.spans[i].counters);
	free(now.spans);
	free(targets);
	return err;
}

static int ask_module(FILE *to, bool cgroups, char *why, size_t size)
{
	struct rt_client *client;
	struct rt_info info;
	int err = rt_open(&client);

	if (err == -ENOENT) {
		cgroups_scraped();
		write_loaded(to, 0);
		fputs("# EOF\n", to);
		return 0;
	}
	if (err) {
		snprintf(why, size, "netlink: %s", strerror(-err));
		return err;
	}
	err = rt_info_get(client, &info);
	if (!err && info.abi != RAIDTRACE_ABI) {
		err = -EPROTO;
		snprintf(why, size, "the loaded module has ABI %u, this raidctl has ABI %u; load the module that belongs to it",
			 info.abi, RAIDTRACE_ABI);
	} else if (!err) {
		err = write_live(client, &info, cgroups, to);
	}
	if (err && !why[0])
		snprintf(why, size, "the module: %s", rt_error(client)[0] ?
			 rt_error(client) : strerror(-err));
	rt_close(client);
	return err;
}

char *source_text(bool cgroups, size_t *size,
		  char *why, size_t why_size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);
	int err;

	why[0] = '\0';
	if (!to) {
		snprintf(why, why_size, "%s", strerror(errno));
		return NULL;
	}
	err = ask_module(to, cgroups, why, why_size);
	if (fclose(to) && !err)
		err = -errno;
	if (!err)
		return text;
	if (!why[0])
		snprintf(why, why_size, "%s", strerror(-err));
	free(text);
	return NULL;
}
