// SPDX-License-Identifier: GPL-2.0-or-later

/* Rules about one disk. */

#include "check/judge.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

/* What the kernel gives a disk that nobody has tuned, and the white paper's. */
#define READAHEAD_UNTUNED_SECTORS	256
#define READAHEAD_TUNED_SECTORS		16384

JUDGE_DISK(disk_idle)
{
	char text[UNITS_TEXT];

	for (size_t i = 0; i < facts->nr_disk_uses; i++) {
		const struct disk_use *use = &facts->disk_uses[i];
		double rate;

		if (strcmp(use->name, disk->name) || facts->seconds <= 0)
			continue;
		rate = (double)use->bytes / facts->seconds;
		finding_above(ret, rate, IO_WARN_BYTES_PER_S,
			      IO_FAIL_BYTES_PER_S, "bytes/s");
		finding_seen(ret, "%s/s in %" PRIu64 " request%s of others",
			     format_bytes(text, rate), use->requests,
			     use->requests == 1 ? "" : "s");
		if (ret->verdict != VERDICT_PASS)
			finding_remedy(ret, "end what uses it; see who: raidctl check as root, rule process-io");
		return;
	}
	finding_unknown(ret, "/proc/diskstats does not have it");
}

JUDGE_DISK(scheduler)
{
	const char *name = disk->scheduler;

	(void)facts;
	if (!name[0]) {
		finding_unknown(ret, "it has no queue of requests, and so no scheduler; look at its members");
		return;
	}
	ret->verdict = strcmp(name, "none") && strcmp(name, "mq-deadline") ?
		       VERDICT_WARN : VERDICT_PASS;
	finding_seen(ret, "%s", name);
	if (ret->verdict == VERDICT_WARN)
		finding_remedy(ret, "echo none >/sys/block/%s/queue/scheduler",
			       disk->name);
}

JUDGE_DISK(readahead)
{
	uint64_t sectors = disk->readahead_kib * 1024 / SECTOR_BYTES;
	char kib[UNITS_TEXT];

	(void)facts;
	finding_is(ret, sectors <= READAHEAD_UNTUNED_SECTORS ? VERDICT_WARN :
		   VERDICT_PASS, (double)sectors, "sectors");
	finding_seen(ret, "%s (%" PRIu64 " sectors)",
		     format_bytes(kib, (double)disk->readahead_kib * 1024),
		     sectors);
	if (sectors == READAHEAD_UNTUNED_SECTORS)
		finding_more(ret, ", the untuned default");
	if (ret->verdict == VERDICT_WARN)
		finding_remedy(ret, "blockdev --setra %d /dev/%s (8 MiB), unless little readahead is what you measure",
			       READAHEAD_TUNED_SECTORS, disk->name);
}

/* Is @word one of the options, perhaps with a value: discard=async? */
static bool has_option(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = options; at; at = strchr(at, ',')) {
		if (*at == ',')
			at++;
		if (!strncmp(at, word, len) && (at[len] == ',' || at[len] == '=' || !at[len]))
			return true;
	}
	return false;
}

/* struct option_rule - a mount option that changes what is measured */
struct option_rule {
	const char *option;
	enum verdict verdict;
	const char *why;
	const char *remedy;	/* for mount -o remount,; NULL when it has none */
};

static const struct option_rule option_rules[] = {
	{ "sync", VERDICT_FAIL, "each write waits for the disk", "async" },
	{ "dirsync", VERDICT_FAIL, "each change of a directory waits for the disk", NULL },
	{ "ro", VERDICT_PASS, "", NULL },
	{ "discard", VERDICT_WARN, "discards go between the requests", "nodiscard" },
	{ "noatime", VERDICT_PASS, "", NULL },
	{ "relatime", VERDICT_WARN, "a read may write the time of access, once a day", "noatime" },
};

/* The first that a mount has; none is what mount(8) calls strictatime. */
static const struct option_rule *option_rule(const char *options)
{
	static const struct option_rule strict = {
		"", VERDICT_FAIL, "each read writes the time of access",
		"noatime",
	};

	for (size_t i = 0; i < sizeof(option_rules) / sizeof(option_rules[0]);
	     i++)
		if (has_option(options, option_rules[i].option))
			return &option_rules[i];
	return &strict;
}

JUDGE_DISK(mounts)
{
	(void)facts;
	ret->verdict = VERDICT_PASS;
	if (!disk->nr_mounts)
		finding_seen(ret, "no file system of it is mounted");
	for (size_t i = 0; i < disk->nr_mounts; i++) {
		const struct mount *mount = &disk->mounts[i];
		const struct option_rule *rule = option_rule(mount->options);

		finding_more(ret, "%s%s %s %s%s%s", i ? "; " : "", mount->dir,
			     mount->fstype, mount->options,
			     rule->why[0] ? ": " : "", rule->why);
		if (rule->verdict <= ret->verdict)
			continue;
		ret->verdict = rule->verdict;
		if (rule->remedy)
			finding_remedy(ret, "mount -o remount,%s %s",
				       rule->remedy, mount->dir);
		else
			finding_remedy(ret, "unmount %s and mount it without %s",
				       mount->dir, rule->option);
	}
}
