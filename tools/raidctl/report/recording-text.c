// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording as text: the answer first, details if they are asked for. */

#include "report/sections.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attach/claim.h"
#include "base/terminal.h"
#include "base/units.h"
#include "format/wrap.h"

static const char *or_na(const char *text)
{
	return text && text[0] ? text : "n/a";
}

/* What of an imported recording is missing. */
static void text_missing(FILE *to, const struct recording *r)
{
	const char *cut = recording_meta(r, "trace_cut");
	const char *late = recording_meta(r, "trace_late");
	const char *missing = recording_meta(r, "trace_missing");

	if (missing[0] && strcmp(missing, "0"))
		print_labelled(to, LABEL_WIDTH, "LOST", "%s events that the kernel had no room for", missing);
	if (late[0] && strcmp(late, "0"))
		print_labelled(to, LABEL_WIDTH, "LATE", "%s events came too late to be put in order", late);
	if (cut[0])
		print_labelled(to, LABEL_WIDTH, "CUT", "%s", cut);
}

static void text_origin(FILE *to, const struct recording *r)
{
	if (recording_meta(r, "source")[0])
		print_labelled(to, LABEL_WIDTH, "imported", "from %s, %s events; traced %s",
			       recording_meta(r, "source"),
		     recording_meta(r, "trace_events"),
		     recording_meta(r, "started_utc")[0] ?
			     recording_meta(r, "started_utc") :
			     "at a time that it does not tell");
	else
		print_labelled(to, LABEL_WIDTH, "recorded", "%s on %s, Linux %s, raidtrace %s (ABI %s)",
			       recording_meta(r, "started_utc"),
		     recording_meta(r, "hostname"), recording_meta(r, "kernel"),
		     recording_meta(r, "module_version"),
		     recording_meta(r, "abi"));
}

/* Process of the recorder that writes to it, 0 when none of this machine does. */
static pid_t recorder_of(const struct recording *r)
{
	char path[PATH_MAX];
	struct living *living;
	pid_t found = 0;
	size_t nr;

	if (!realpath(r->path, path) || owner_living(&nr, &living))
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(living[i].file, path))
			found = living[i].pid;
	free(living);
	return found;
}

/* What a disk is that has bios alone: of an NVMe device with several paths the head. */
static const char *stack_of(const struct rt_target *t)
{
	return strncmp(t->disk, "nvme", 4) ? "md or dm" : "NVMe multipath";
}

/* Without an end: when the last sample did end. */
static void text_no_end(FILE *to, const struct recording *r, const char *why)
{
	uint64_t begin = strtoull(recording_meta(r, "start_ns"), NULL, 10);
	uint64_t last = begin;

	for (size_t i = 0; i < r->nr_spans; i++)
		if (r->spans[i].counters.now_ns > last)
			last = r->spans[i].counters.now_ns;
	print_labelled(to, LABEL_WIDTH, "end", "not there: %s; the last sample ends after %.3f s", why,
		       (double)(last - begin) / 1e9);
}

static void text_end(FILE *to, const struct recording *r, bool verbose)
{
	const char *end = recording_meta(r, "end");
	const char *status = recording_meta(r, "exit_status");
	pid_t pid;

	if (!strcmp(end, "stopped")) {
		text_no_end(to, r, "nothing more could be stored, no space was left or its disk failed");
	} else if (!strcmp(end, "running")) {
		char why[128];

		pid = recorder_of(r);
		if (pid)
			snprintf(why, sizeof(why), "process %d is still recording", (int)pid);
		text_no_end(to, r, pid ? why :
			    "no process of this machine records to it; its recorder was killed, could not write any more, or runs elsewhere");
	} else if (verbose || strcmp(end, "complete") ||
		   (status[0] && strcmp(status, "0"))) {
		print_labelled(to, LABEL_WIDTH, "end", "%s%s%s", end, status[0] ? ", exit status " : "",
			       status);
	}
}

static void text_invariants(FILE *to, const struct recording *r, bool verbose)
{
	const char *found = recording_meta(r, "invariants");

	if (verbose || strcmp(found, "hold"))
		print_labelled(to, LABEL_WIDTH, "invariants", "%s", found[0] ? found : "not checked");
}

/* Requests that were kept one by one: whether that is all of them. */
static void text_events(FILE *to, const struct recording *r, bool verbose)
{
	const char *lost = recording_meta(r, "requests_lost");

	if (lost[0] && (verbose || strcmp(lost, "0")))
		print_labelled(to, LABEL_WIDTH, "requests", "kept one by one, %s lost", lost);
}

static void text_meta(FILE *to, const struct recording *r, bool verbose)
{
	terminal_print(to, "%srecording%s  %s\n", bold(to), plain(to), r->path);
	if (!recording_meta(r, "tool_version")[0]) {
		fputs("recorded   nothing: its recorder was killed before it stored anything\n", to);
		return;
	}
	if (verbose || recording_meta(r, "source")[0])
		text_origin(to, r);
	text_missing(to, r);
	if (!strcmp(recording_meta(r, "simulated"), "yes"))
		print_labelled(to, LABEL_WIDTH, "simulated", "profile %s: %s",
			       or_na(recording_meta(r, "lab_profile")),
		     strcmp(recording_meta(r, "lab_time"), "real") ?
			     "controller and all times are of the lab's model" :
			     "controller of the lab's model, in real time");
	if (verbose && recording_meta(r, "lab_kernel")[0])
		print_labelled(to, LABEL_WIDTH, "kernel", "%s", recording_meta(r, "lab_kernel"));
	if (recording_meta(r, "command")[0])
		print_labelled(to, LABEL_WIDTH, "command", "%s", recording_meta(r, "command"));
	text_end(to, r, verbose);
	text_invariants(to, r, verbose);
	text_events(to, r, verbose);
}

static const char *setting_or_na(const struct recording *r, uint32_t target,
				 const char *name, uint64_t time_ns)
{
	return or_na(recording_setting(r, target, name, time_ns));
}

/* Sectors as a setting has them. */
static const char *setting_sectors(char *ret, const char *setting)
{
	return setting ? format_sectors(ret, strtoull(setting, NULL, 10)) : "n/a";
}

/* What cgroups may have of the disk, a line each, or how many may not have all. */
static void text_limits(FILE *to, const char *limits, bool verbose)
{
	size_t nr = 0;
	int len;

	for (; limits && *limits; limits += len, limits += *limits == '\n', nr++) {
		len = (int)strcspn(limits, "\n");
		if (verbose)
			print_labelled(to, LABEL_WIDTH, "", "io.max of %.*s", len, limits);
	}
	if (nr && !verbose)
		print_labelled(to, LABEL_WIDTH, "", "io.max limits %zu cgroup%s, report -v says which",
			       nr, nr > 1 ? "s" : "");
}

static void text_target(FILE *to, const struct recording *r,
			const struct rt_target *t, bool verbose)
{
	const char *mount = recording_setting(r, t->id, "mount", UINT64_MAX);
	const char *ahead = recording_setting(r, t->id, "readahead_sectors",
					      UINT64_MAX);
	char size[UNITS_TEXT], largest[SECTORS_TEXT], window[SECTORS_TEXT];
	char tags[UNITS_TEXT] = "n/a";

	if (t->name_only) {
		print_labelled(to, LABEL_WIDTH, "disk", "%s  driver, size, limits and settings n/a: a trace does not tell",
			       t->disk);
		return;
	}
	if (t->nr_hw_queues)
		snprintf(tags, sizeof(tags), "%" PRIu32 " x %" PRIu32,
			 t->nr_hw_queues, t->nr_tags);
	print_labelled(to, LABEL_WIDTH, "disk", "%s  %s%s%s%s%s, %s, largest request %s, readahead %s, scheduler %s, nr_requests %s, queue depth %s, tags %s",
		       t->disk, t->driver[0] ? t->driver :
	     t->bio_based ? stack_of(t) : "driver n/a",
	     verbose && t->pci[0] ? " at " : "", verbose ? t->pci : "",
	     verbose && t->hctl[0] ? " " : "", verbose ? t->hctl : "",
	     format_bytes(size, (double)t->capacity_sectors * SECTOR_BYTES),
	     format_sectors(largest, t->max_sectors), setting_sectors(window, ahead),
	     setting_or_na(r, t->id, "scheduler", UINT64_MAX),
	     setting_or_na(r, t->id, "nr_requests", UINT64_MAX),
	     setting_or_na(r, t->id, "queue_depth", UINT64_MAX), tags);
	if (verbose && mount && mount[0])
		print_labelled(to, LABEL_WIDTH, "", "mounted on %s as %s (%s)", mount,
			       setting_or_na(r, t->id, "fstype", UINT64_MAX),
		     setting_or_na(r, t->id, "mount_options", UINT64_MAX));
	text_limits(to, recording_setting(r, t->id, "io.max", UINT64_MAX), verbose);
}

/* Readahead where the phase began, and what it became in its course. */
static void readahead_of(FILE *to, const struct recording *r,
			 const struct rt_counters *c)
{
	const char *at_start = recording_setting(r, c->id, "readahead_sectors",
						 c->since_ns);
	char text[SECTORS_TEXT];

	terminal_print(to, ", readahead %s", setting_sectors(text, at_start));
	for (size_t i = 0; at_start && i < r->nr_settings; i++) {
		const struct pair *setting = &r->settings[i];

		if (setting->target != c->id || setting->time_ns > c->now_ns ||
		    setting->time_ns <= c->since_ns ||
		    strcmp(setting->name, "readahead_sectors"))
			continue;
		terminal_print(to, "\n  then readahead %s", setting_sectors(text, setting->value));
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

static void text_details(FILE *to, const struct recording *r)
{
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
}

void text_recording(FILE *to, const struct recording *r,
		    const struct reading *reading)
{
	glance_verdict(to, reading->explained);
	glance_table(to, r, reading->explained);
	fputc('\n', to);
	text_meta(to, r, reading->verbose);
	besides_text(to, r, reading->verbose);
	for (size_t i = 0; i < r->nr_targets; i++)
		text_target(to, r, &r->targets[i], reading->verbose);
	if (reading->verbose)
		text_details(to, r);
	fputc('\n', to);
	print_wrapped(to, reading->verbose ? "What a number is: raidctl report --explain NAME" :
		      "All that was counted: raidctl report -v; what a number is: raidctl report --explain NAME", 0);
}
