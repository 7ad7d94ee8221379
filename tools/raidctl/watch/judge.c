// SPDX-License-Identifier: GPL-2.0-or-later

/* Disturbances between two looks; pure. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "watch/watch.h"

/* Two looks that are compared. */
struct judgement {
	const struct look *before;
	const struct look *after;
	struct changes *changes;
	double tick_ns;		/* of processor time */
	double seconds;		/* between them, at least 1: a tick in a short time is not a rate */
	int err;
};

/* Describe a value in ns or bytes as share of a processor or of the time ("35 %"), or as rate ("12 MiB/s"). */
void look_describe(struct disturbance *what)
{
	double seconds = (double)(what->end_ns - what->start_ns) / 1e9, percent;
	const char *kind = what->kind;
	char rate[UNITS_TEXT];

	if (seconds <= 0)
		seconds = 1;
	percent = (double)what->value / 1e7 / seconds;
	format_bytes(rate, (double)what->value / seconds);
#define TEXT(...) snprintf(what->text, sizeof(what->text), __VA_ARGS__)
	if (!strcmp(kind, "processor"))
		TEXT("%s used %.0f %% of a processor", what->subject, percent);
	else if (!strcmp(kind, "process-io"))
		TEXT("%s read and wrote %s/s", what->subject, rate);
	else if (!strcmp(kind, "disk"))
		TEXT("disk %s had %s/s of traffic", what->subject, rate);
	else if (!strcmp(kind, "interrupts") || !strcmp(kind, "network") || !strcmp(kind, "input"))
		TEXT("%s: %.0f interrupts/s on line %s", kind, (double)what->value / seconds, what->subject);
	else if (!strcmp(kind, "memory"))
		TEXT("tasks waited for memory %.0f %% of the time", percent);
	else if (!strcmp(kind, "swap"))
		TEXT("%" PRId64 " pages were swapped", what->value);
	else if (!strcmp(kind, "steal"))
		TEXT("the host of this virtual machine took %.1f %% of a processor", percent);
	else if (!strcmp(kind, "clock") && llabs(what->value) < WATCH_STEP_NS)
		TEXT("the clock was set, by %+.6f s in total", (double)what->value / 1e9);
	else if (!strcmp(kind, "clock"))
		TEXT("the clock was set by %+.3f s", (double)what->value / 1e9);
	else if (!strcmp(kind, "suspend"))
		TEXT("the machine slept for %.3f s", (double)what->value / 1e9);
	else if (!strcmp(kind, "thermal"))
		TEXT("processors were too hot and slowed down %" PRId64 " times", what->value);
	else
		TEXT("%s changed: %s", kind, what->subject);
#undef TEXT
}

bool disturbance_goes_on(const struct disturbance *known,
			 const struct disturbance *what)
{
	return known->end_ns == what->start_ns &&
	       !strcmp(known->kind, what->kind) &&
	       !strcmp(known->subject, what->subject) &&
	       (known->value < 0) == (what->value < 0);
}

static void add_disturbance(struct judgement *j, const char *kind, const char *unit,
			    double value, const char *subject)
{
	struct changes *c = j->changes;
	struct disturbance *more = reallocarray(c->disturbances, c->nr_disturbances + 1, sizeof(*more));
	struct disturbance *what;

	if (!more) {
		j->err = -ENOMEM;
		return;
	}
	c->disturbances = more;
	what = &more[c->nr_disturbances++];
	*what = (struct disturbance){
		.start_ns = j->before->time_ns, .end_ns = j->after->time_ns,
		.value = (int64_t)llround(value),
	};
	snprintf(what->kind, sizeof(what->kind), "%s", kind);
	snprintf(what->unit, sizeof(what->unit), "%s", unit);
	snprintf(what->subject, sizeof(what->subject), "%s", subject);
	look_describe(what);
}

static void add_row(struct judgement *j, const char *subject,
		    const char *name, const char *unit, double value)
{
	struct changes *c = j->changes;
	struct host_row *more, *row;

	if (value <= 0)
		return;
	more = reallocarray(c->rows, c->nr_rows + 1, sizeof(*more));
	if (!more) {
		j->err = -ENOMEM;
		return;
	}
	c->rows = more;
	row = &more[c->nr_rows++];
	*row = (struct host_row){
		.start_ns = j->before->time_ns, .end_ns = j->after->time_ns,
		.source = "process", .value = (int64_t)llround(value),
	};
	snprintf(row->subject, sizeof(row->subject), "%s", subject);
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
}

void changes_free(struct changes *changes)
{
	free(changes->rows);
	free(changes->disturbances);
	*changes = (struct changes){ 0 };
}

static double grown(uint64_t before, uint64_t after)
{
	return after > before ? (double)(after - before) : 0;
}

static const char *const roles[] = {
	[ROLE_OTHER] = "", [ROLE_COMMAND] = " of the command",
	[ROLE_RECORDER] = " (this recorder)", [ROLE_KERNEL] = " of the kernel",
};

/* Use of a process and of children that it waited for. */
struct account {
	uint64_t ticks;
	uint64_t read_bytes;
	uint64_t write_bytes;
};

static void judge_process(struct judgement *j, const struct account *then,
			  const struct look_process *now)
{
	char subject[HOST_SUBJECT];
	double cpu_ns = grown(then->ticks, now->process.ticks) * j->tick_ns;
	double read_bytes = 0, write_bytes = 0, bytes;

	if (now->io_known) {
		read_bytes = grown(then->read_bytes, now->io.read_bytes);
		write_bytes = grown(then->write_bytes, now->io.write_bytes);
	}
	bytes = read_bytes + write_bytes;
	if (cpu_ns <= 0 && bytes <= 0)
		return;
	snprintf(subject, sizeof(subject), "%d %.24s%s", now->process.pid,
		 now->process.name, roles[now->role]);
	add_row(j, subject, "cpu", "ns", cpu_ns);
	add_row(j, subject, "read_bytes", "bytes", read_bytes);
	add_row(j, subject, "write_bytes", "bytes", write_bytes);
	if (now->role != ROLE_OTHER)
		return;
	snprintf(subject, sizeof(subject), "process %d (%.24s)",
		 now->process.pid, now->process.name);
	if (cpu_ns / 1e7 / j->seconds >= WATCH_CPU_PERCENT)
		add_disturbance(j, "processor", "ns", cpu_ns, subject);
	if (bytes / j->seconds >= WATCH_BYTES_PER_S)
		add_disturbance(j, "process-io", "bytes", bytes, subject);
}

static const struct look_process *same(const struct look *look,
				       const struct look_process *process)
{
	const struct look_process *now =
		look_process_of(look, process->process.pid);

	return now && now->process.start == process->process.start ?
	       now : NULL;
}

static void add_account(struct account *account,
			const struct look_process *process)
{
	account->ticks += process->process.ticks;
	account->read_bytes += process->io.read_bytes;
	account->write_bytes += process->io.write_bytes;
}

/*
 * Add the use of an ended process to its next running ancestor, whose account now includes it. A part of it was
 * reported before.
 */
static void add_to_ancestor(const struct judgement *j,
			    const struct look_process *ended, struct account *accounts)
{
	const struct look_process *heir = ended, *there = NULL;

	for (int depth = 0; heir && !there && depth < 64; depth++) {
		heir = look_process_of(j->before, heir->process.parent);
		there = heir ? same(j->after, heir) : NULL;
	}
	if (there)
		add_account(&accounts[there - j->after->processes], ended);
}

static void judge_processes(struct judgement *j)
{
	size_t nr = j->after->nr_processes;
	struct account *accounts = calloc(nr + 1, sizeof(*accounts));

	for (size_t i = 0; accounts && i < j->before->nr_processes; i++) {
		const struct look_process *then = &j->before->processes[i];
		const struct look_process *now = same(j->after, then);

		if (now)
			add_account(&accounts[now - j->after->processes], then);
		else
			add_to_ancestor(j, then, accounts);
	}
	for (size_t i = 0; accounts && i < nr; i++)
		judge_process(j, &accounts[i], &j->after->processes[i]);
	free(accounts);
}

static void judge_disks(struct judgement *j)
{
	double own = grown(j->before->own_bytes, j->after->own_bytes);

	for (size_t i = 0; i < j->after->nr_disks; i++) {
		const struct look_disk *now = &j->after->disks[i];
		double bytes = (double)now->use.bytes, most = 0;

		if (now->left_out)
			continue;
		for (size_t k = 0; k < j->before->nr_disks; k++)
			if (!strcmp(j->before->disks[k].use.name,
				    now->use.name))
				bytes = grown(j->before->disks[k].use.bytes,
					      now->use.bytes);
		if (now->holds_recording)
			most = WATCH_OWN_TIMES * own;
		if ((bytes - most) / j->seconds >= WATCH_BYTES_PER_S)
			add_disturbance(j, "disk", "bytes", bytes, now->use.name);
	}
}

static void judge_line(struct judgement *j, const struct look_line *now,
		       double count)
{
	char subject[HOST_SUBJECT];
	bool input = strstr(now->devices, "i8042");
	double limit = now->network ? WATCH_NETWORK_PER_S : WATCH_DEVICE_PER_S;

	if (input ? count < 1 : count / j->seconds < limit)
		return;
	snprintf(subject, sizeof(subject), "%u (%.48s)", now->number,
		 now->devices);
	add_disturbance(j, input ? "input" : now->network ? "network" : "interrupts",
			"interrupts", count, subject);
}

static void judge_lines(struct judgement *j)
{
	for (size_t i = 0; i < j->after->nr_lines; i++) {
		const struct look_line *now = &j->after->lines[i];

		if (now->left_out)
			continue;
		for (size_t k = 0; k < j->before->nr_lines; k++)
			if (j->before->lines[k].number == now->number)
				judge_line(j, now,
					   grown(j->before->lines[k].count,
						 now->count));
	}
}

static bool both_known(int64_t before, int64_t after)
{
	return before >= 0 && after >= before;
}

static void judge_memory(struct judgement *j)
{
	const struct look *a = j->before, *b = j->after;
	double waited, pages, stolen;

	if (both_known(a->pressure_us, b->pressure_us)) {
		waited = (double)(b->pressure_us - a->pressure_us) * 1e3;
		if (waited / 1e7 / j->seconds >= WATCH_PRESSURE_PERCENT)
			add_disturbance(j, "memory", "ns", waited, "");
	}
	if (both_known(a->swapped_pages, b->swapped_pages)) {
		pages = (double)(b->swapped_pages - a->swapped_pages);
		if (pages / j->seconds >= WATCH_SWAP_PER_S)
			add_disturbance(j, "swap", "pages", pages, "");
	}
	if (both_known(a->steal_ticks, b->steal_ticks) && b->nr_processors) {
		stolen = (double)(b->steal_ticks - a->steal_ticks) * j->tick_ns;
		if (stolen / 1e7 / j->seconds / b->nr_processors >=
		    WATCH_STEAL_PERCENT)
			add_disturbance(j, "steal", "ns", stolen, "");
	}
}

static void judge_clocks(struct judgement *j)
{
	const struct look *a = j->before, *b = j->after;
	double slept = (double)(b->slept_ns - a->slept_ns);
	/* The wall clock also advances during sleep. */
	double step = (double)(b->wall_ns - a->wall_ns) - slept;
	double allowed = WATCH_STEP_NS + WATCH_SLEW_PPM * 1e3 * j->seconds;
	bool asleep = fabs(slept) >= WATCH_STEP_NS;

	if (asleep)
		add_disturbance(j, "suspend", "ns", slept, "");
	if (fabs(step) >= allowed || (b->clock_set && !asleep))
		add_disturbance(j, "clock", "ns", step, "");
	if (a->clocksource[0] && strcmp(a->clocksource, b->clocksource))
		add_disturbance(j, "clocksource", "", 1, b->clocksource);
	if (a->governor[0] && strcmp(a->governor, b->governor))
		add_disturbance(j, "governor", "", 1, b->governor);
	if (both_known(a->throttled, b->throttled) &&
	    b->throttled > a->throttled)
		add_disturbance(j, "thermal", "times",
				(double)(b->throttled - a->throttled), "");
}

int look_judge(const struct look *before, const struct look *after,
	       double ticks_per_second, struct changes *ret)
{
	struct judgement j = {
		.before = before, .after = after, .changes = ret,
		.tick_ns = 1e9 / ticks_per_second,
		.seconds = (double)(after->time_ns - before->time_ns) / 1e9,
	};

	if (j.seconds <= 0)
		return 0;
	if (j.seconds < 1)
		j.seconds = 1;
	judge_processes(&j);
	judge_disks(&j);
	judge_lines(&j);
	judge_memory(&j);
	judge_clocks(&j);
	return j.err;
}
