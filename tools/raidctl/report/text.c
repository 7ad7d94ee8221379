// SPDX-License-Identifier: GPL-2.0-or-later

/* The text back end: for people, at most 100 columns. */

#include "report/print.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/terminal.h"
#include "format/wrap.h"
#include "report/check.h"
#include "report/compare-print.h"
#include "report/machine.h"
#include "report/md-dm.h"
#include "report/span.h"

/* What a line of the head is begins here. */
#define HEAD_WIDTH	11

const struct print_ops *print_ops_of(bool json)
{
	return json ? &print_json : &print_text;
}

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "-";
}

static void print_readahead(char *ret, size_t size, uint64_t sectors)
{
	char kib[UNITS_TEXT];

	snprintf(ret, size, "%s (%" PRIu64 " sectors)",
		 format_bytes(kib, (double)sectors * SECTOR_BYTES), sectors);
}

/* A number that may be missing. */
static const char *or_na(char *ret, int64_t value)
{
	if (value < 0)
		return "n/a";
	snprintf(ret, UNITS_TEXT, "%" PRId64, value);
	return ret;
}

static void disk_line(FILE *to, const struct disk *disk)
{
	char size[UNITS_TEXT], largest[UNITS_TEXT], readahead[UNITS_TEXT];
	char depth[UNITS_TEXT], requests[UNITS_TEXT], driver[DISK_NAME + 4];

	snprintf(driver, sizeof(driver), "%s%s", or_none(disk->driver),
		 disk->unit_3ware ? " *" : "");
	terminal_print(to, "%-10s %-13s %9s %9s %8" PRIu64 " %9s %6s %8s  %-11s",
		disk->name, driver,
		format_bytes(size, (double)disk->capacity_sectors *
					   SECTOR_BYTES),
		format_bytes(readahead, (double)disk->readahead_kib * 1024),
		disk->readahead_kib * 1024 / SECTOR_BYTES,
		format_bytes(largest, (double)disk->max_sectors_kb * 1024),
		or_na(depth, disk->queue_depth),
		or_na(requests, disk->nr_requests), or_none(disk->scheduler));
	fputc('\n', to);
	for (size_t i = 0; i < disk->nr_mounts; i++)
		terminal_print(to, "%-10s   %s on %s type %s\n", "",
			disk->mounts[i].device, disk->mounts[i].dir,
			disk->mounts[i].fstype);
}

static void text_disks(FILE *to, const struct disk *disks, size_t nr)
{
	bool marked = false;

	if (!nr) {
		fputs("No disks.\n", to);
		return;
	}
	terminal_print(to, "%s%-10s %-13s %9s %18s %9s %6s %8s  %-11s%s\n", bold(to),
		"DISK", "DRIVER", "SIZE", "READAHEAD", "LARGEST", "QUEUE",
		"NR", "SCHEDULER", plain(to));
	terminal_print(to, "%s%-10s %-13s %9s %9s %8s %9s %6s %8s  %-11s%s\n",
		bold(to), "  mounts", "", "", "", "sectors", "REQUEST", "DEPTH",
		"REQUESTS", "", plain(to));
	for (size_t i = 0; i < nr; i++) {
		disk_line(to, &disks[i]);
		marked |= disks[i].unit_3ware;
	}
	fputs(marked ? "* unit of a 3ware 9000 controller\n" :
		       "No unit of a 3ware 9000 controller.\n", to);
}

static void target_line(FILE *to, const struct rt_target *t)
{
	char size[UNITS_TEXT], readahead[64];

	print_readahead(readahead, sizeof(readahead), t->readahead_sectors);
	terminal_print(to, "  %-10s target %-3" PRIu32 " %-12s %9s  readahead %s%s%s\n",
		t->disk, t->id, or_none(t->driver),
		format_bytes(size, (double)t->capacity_sectors * SECTOR_BYTES),
		readahead, t->unit_3ware ? "  3ware unit" : "",
		t->gone ? "  GONE" : "");
}

static void text_status(FILE *to, const struct status *s)
{
	if (s->simulated)
		terminal_print(to, "simulated  this machine is a guest of the lab, profile %s\n",
			or_none(s->profile));
	if (!s->loaded) {
		fputs("raidtrace  not loaded; load it with: raidctl load (as root)\n", to);
	} else {
		terminal_print(to, "raidtrace  %s loaded, ABI %" PRIu32 "\n",
			s->info.version, s->info.abi);
		if (s->info.unavailable[0])
			terminal_print(to, "           this kernel lacks the tracepoints: %s\n",
				s->info.unavailable);
		terminal_print(to, "targets    %" PRIu32 " of at most %" PRIu32 "\n",
			s->info.nr_targets, s->info.max_targets);
	}
	for (size_t i = 0; i < s->nr_targets; i++)
		target_line(to, &s->targets[i]);
	for (size_t i = 0; i < s->nr_recordings; i++)
		terminal_print(to, "recording  %d to %s%s\n",
			(int)s->recordings[i].pid, s->recordings[i].file,
			s->recordings[i].detached ? ", detached; end it with: raidctl record --stop" : "");
	terminal_print(to, "3ware      %zu unit%s; see all disks: raidctl list\n",
		s->nr_units, s->nr_units == 1 ? "" : "s");
}

static void text_counters(FILE *to, const struct rt_target *targets,
			  const struct span *spans, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct rt_counters *c = &spans[i].counters;
		char readahead[64];

		print_readahead(readahead, sizeof(readahead),
				c->readahead_sectors);
		if (i)
			fputc('\n', to);
		terminal_print(to, "%s%s%s%s  %s, counted for %.3f s, readahead %s%s\n",
			bold(to), spans[i].disk, plain(to),
			c->gone ? " (GONE)" : "", or_none(targets[i].driver),
			(double)(c->now_ns - c->since_ns) / 1e9, readahead,
			targets[i].unit_3ware ? ", 3ware unit" : "");
		span_flows(to, c);
		span_details(to, c);
	}
}

/* Whole, however long it is. */
static void wrapped_line(FILE *to, const char *what, const char *text)
{
	terminal_print(to, "%-*s", HEAD_WIDTH, what);
	print_wrapped(to, text, HEAD_WIDTH);
}

/* Where an imported recording comes from, and what of it is missing. */
static void text_source(FILE *to, const struct recording *r)
{
	const char *cut = recording_meta(r, "trace_cut");
	const char *late = recording_meta(r, "trace_late");
	const char *missing = recording_meta(r, "trace_missing");
	const char *started = recording_meta(r, "started_utc");

	terminal_print(to, "imported   from %s, %s events; traced %s\n",
		recording_meta(r, "source"), recording_meta(r, "trace_events"),
		started[0] ? started : "at a time that it does not tell");
	if (missing[0] && strcmp(missing, "0"))
		terminal_print(to, "LOST       %s events that the kernel had no room for\n", missing);
	if (late[0] && strcmp(late, "0"))
		terminal_print(to, "LATE       %s events came too late to be put in order\n", late);
	if (cut[0])
		terminal_print(to, "CUT        %s\n", cut);
}

static void text_meta(FILE *to, const struct recording *r)
{
	const char *simulated = recording_meta(r, "simulated");
	const char *end = recording_meta(r, "end");
	const char *invariants = recording_meta(r, "invariants");

	terminal_print(to, "%srecording%s  %s\n", bold(to), plain(to), r->path);
	if (!recording_meta(r, "tool_version")[0]) {
		fputs("recorded   nothing: its recorder was killed before it stored anything\n", to);
		return;
	}
	if (recording_meta(r, "source")[0])
		text_source(to, r);
	else
		terminal_print(to, "recorded   %s on %s, Linux %s, raidtrace %s (ABI %s)\n",
			recording_meta(r, "started_utc"),
			recording_meta(r, "hostname"),
			recording_meta(r, "kernel"),
			recording_meta(r, "module_version"),
			recording_meta(r, "abi"));
	if (!strcmp(simulated, "yes"))
		terminal_print(to, "simulated  profile %s: the controller %s\n",
			or_none(recording_meta(r, "lab_profile")),
			strcmp(recording_meta(r, "lab_time"), "real") ?
			"and all times are of the lab's model" :
			"is the lab's model, times are real, of the machine it ran on");
	if (recording_meta(r, "lab_kernel")[0])
		terminal_print(to, "kernel     %s\n", recording_meta(r, "lab_kernel"));
	if (recording_meta(r, "command")[0])
		wrapped_line(to, "command", recording_meta(r, "command"));
	if (!strcmp(end, "stopped"))
		fputs("end        not there: nothing more could be stored, no space was left or its disk failed\n", to);
	else if (!strcmp(end, "running"))
		fputs("end        not there: it is still running, or its recorder was killed\n", to);
	else if (recording_meta(r, "exit_status")[0])
		terminal_print(to, "end        %s, exit status %s\n", end,
			recording_meta(r, "exit_status"));
	else
		terminal_print(to, "end        %s\n", end);
	if (invariants[0])
		wrapped_line(to, "invariants", invariants);
	else
		fputs("invariants not checked\n", to);
}

static const char *setting_or_na(const struct recording *r, uint32_t target,
				 const char *name, uint64_t time_ns)
{
	const char *value = recording_setting(r, target, name, time_ns);

	return value && value[0] ? value : "n/a";
}

static void text_mount(FILE *to, const struct recording *r,
		       const struct rt_target *t, uint64_t time_ns)
{
	const char *mount = recording_setting(r, t->id, "mount", time_ns);
	char text[2 * PATH_MAX];

	if (!mount || !mount[0])
		return;
	snprintf(text, sizeof(text), "mounted on %s as %s (%s)", mount,
		 setting_or_na(r, t->id, "fstype", time_ns),
		 setting_or_na(r, t->id, "mount_options", time_ns));
	wrapped_line(to, "", text);
}

/* What a disk is that has bios alone: of an NVMe device with several paths the head. */
static const char *stack_of(const struct rt_target *t)
{
	return strncmp(t->disk, "nvme", 4) ? "md or dm" : "NVMe multipath";
}

/* What drives a disk, and where it is. */
static void text_driver(FILE *to, const struct rt_target *t)
{
	terminal_print(to, "%s%s%s%s%s", t->driver[0] ? t->driver :
		t->bio_based ? stack_of(t) : "driver n/a",
		t->pci[0] ? " at " : "", t->pci, t->hctl[0] ? " " : "", t->hctl);
}

static void text_target(FILE *to, const struct recording *r,
			const struct rt_target *t, uint64_t time_ns)
{
	char size[UNITS_TEXT], largest[UNITS_TEXT];

	if (t->name_only) {
		terminal_print(to, "disk       %s%s%s  driver, size, limits and settings n/a: a trace does not tell\n",
			bold(to), t->disk, plain(to));
		return;
	}
	terminal_print(to, "disk       %s%s%s  ", bold(to), t->disk, plain(to));
	text_driver(to, t);
	terminal_print(to, ", %s, largest request %s (%" PRIu32 " sectors)\n",
		format_bytes(size, (double)t->capacity_sectors * SECTOR_BYTES),
		format_bytes(largest, (double)t->max_sectors * SECTOR_BYTES),
		t->max_sectors);
	terminal_print(to, "           scheduler %s, nr_requests %s, queue depth %s, tags ",
		setting_or_na(r, t->id, "scheduler", time_ns),
		setting_or_na(r, t->id, "nr_requests", time_ns),
		setting_or_na(r, t->id, "queue_depth", time_ns));
	if (t->nr_hw_queues)
		terminal_print(to, "%" PRIu32 " x %" PRIu32 "\n", t->nr_hw_queues,
			t->nr_tags);
	else
		fputs("n/a\n", to);
	text_mount(to, r, t, time_ns);
}

/* Readahead where the phase began, and what it became in its course. */
static void readahead_of(FILE *to, const struct recording *r,
			 const struct rt_counters *c)
{
	const char *at_start = recording_setting(r, c->id, "readahead_sectors",
						 c->since_ns);
	char text[64];

	if (!at_start) {
		fputs(", readahead n/a", to);
		return;
	}
	print_readahead(text, sizeof(text), strtoull(at_start, NULL, 10));
	terminal_print(to, ", readahead %s", text);
	for (size_t i = 0; i < r->nr_settings; i++) {
		const struct pair *setting = &r->settings[i];

		if (setting->target != c->id || setting->time_ns > c->now_ns ||
		    setting->time_ns <= c->since_ns ||
		    strcmp(setting->name, "readahead_sectors"))
			continue;
		print_readahead(text, sizeof(text),
				strtoull(setting->value, NULL, 10));
		terminal_print(to, ", then %s", text);
	}
}

static void text_span(FILE *to, const struct recording *r,
		      const struct span *span)
{
	const struct rt_counters *c = &span->counters;

	terminal_print(to, "\n%sphase %s%s  %s, %.3f s", bold(to), span->phase,
		plain(to), span->disk,
		(double)(c->now_ns - c->since_ns) / 1e9);
	readahead_of(to, r, c);
	fputc('\n', to);
	span_flows(to, c);
	/* Around the phases that a program names it is enough to know of it. */
	if (strcmp(span->phase, PHASE_OUTSIDE))
		span_details(to, c);
}

static void text_recording(FILE *to, const struct recording *r)
{
	uint64_t last_ns = UINT64_MAX;

	text_meta(to, r);
	besides_text(to, r);
	for (size_t i = 0; i < r->nr_targets; i++)
		text_target(to, r, &r->targets[i], last_ns);
	for (size_t i = 0; i < r->nr_spans; i++) {
		const struct span *span = &r->spans[i];

		if (!strcmp(span->phase, PHASE_OUTSIDE) &&
		    span_is_idle(&span->counters))
			continue;
		text_span(to, r, span);
		/* Of the machine and of stacks once, below the disks of the phase. */
		if (i + 1 < r->nr_spans && r->spans[i + 1].number == span->number)
			continue;
		if (strcmp(span->phase, PHASE_OUTSIDE))
			print_stack_text(to, r, span->number);
		besides_phase_text(to, r, span->number);
	}
	if (r->nr_spans)
		fputs("\nWhat a number is: raidctl report --explain NAME\n", to);
	else
		fputs("\nno samples\n", to);
}

const struct print_ops print_text = {
	.disks = text_disks,
	.status = text_status,
	.counters = text_counters,
	.check = text_check,
	.recording = text_recording,
	.comparison = text_comparison,
};
