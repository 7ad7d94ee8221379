// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Machines that are drawn: what raidctl check finds of one, and what two looks
 * at one tell, at each limit and beside it.  golden/drawn-machine.txt.
 */

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/activity.h"
#include "check/check.h"
#include "drawn.h"
#include "report/print.h"
#include "watch/look.h"

#define NS_PER_S	1000000000ULL
#define LIMITS		16

/* One of the limits of a rule, one less or one more; or nothing. */
static uint64_t limit(uint64_t *state)
{
	static const uint64_t limits[LIMITS] = {
		0, 1, 2, 5, 10, 25, 40, 100, 1000, 64 << 10, 1 << 20, 4 << 20, 64 << 20, 100000, 2500000, 1 << 30,
	};
	uint64_t n = full_next(state), of = limits[n % LIMITS];

	return of + (n >> 8) % 3 - (of > 0);
}

static const char *name_of(uint64_t *state)
{
	static const char *const names[] = { "sda", "sdb", "sdc", "dd", "e1000", "" };

	return names[drawn(state, 6)];
}

static int64_t maybe(uint64_t *state)
{
	return drawn(state, 6) ? (int64_t)limit(state) : FACT_UNKNOWN;
}

static void draw_facts(struct facts *f, uint64_t *state)
{
	static const double seconds[] = { 0, 1, 1, 1, 0.5, 2 };

	f->seconds = seconds[drawn(state, 6)];
	f->data_bytes = drawn(state, 5) ? limit(state) * 2 : 0;
	f->ram_bytes = maybe(state);
	f->dirty_bytes = maybe(state);
	f->writeback_bytes = maybe(state);
	f->swap_bytes = maybe(state);
	f->swap_used_bytes = maybe(state);
	f->swapped_pages = (int64_t)drawn(state, 3);
	f->processes_known = drawn(state, 6);
	f->cpu_is_free = !drawn(state, 6);
	f->io_accounted = drawn(state, 6);
	f->nr_io_hidden = drawn(state, 3);
	f->disk_uses_known = drawn(state, 6);
	f->modules_known = drawn(state, 6);
	f->nr_processes = drawn(state, 6);
	f->nr_disk_uses = drawn(state, 9);
	f->nr_modules = drawn(state, 9);
	f->nr_governors = drawn(state, 4);
	f->nr_performance = drawn(state, 4);
	snprintf(f->governor, sizeof(f->governor), "%s", drawn(state, 2) ? "powersave" : "");
	snprintf(f->target, sizeof(f->target), "%s", drawn(state, 2) ? "graphical.target" : name_of(state));
	f->virtual_known = drawn(state, 4);
	snprintf(f->hypervisor, sizeof(f->hypervisor), "%s", drawn(state, 2) ? "kvm" : "");
	f->module_loaded = drawn(state, 2);
	f->simulated = !drawn(state, 3);
	snprintf(f->profile, sizeof(f->profile), "%s", drawn(state, 2) ? "jbod" : "");
	f->signing = (struct rt_signing){ .enforced = (int)drawn(state, 3) - 1 };
	f->signing.lockdown = (int)drawn(state, 4) - 1;
	f->signing.secure_boot = (int)drawn(state, 3) - 1;
	snprintf(f->module_file, sizeof(f->module_file), "%s", drawn(state, 2) ? "/raidtrace.ko" : "");
	snprintf(f->module_signer, sizeof(f->module_signer), "%s", drawn(state, 2) ? "me" : "");
	f->module_enrolled = (int)drawn(state, 3) - 1;
}

static void check(FILE *to, uint64_t *state)
{
	static const char *const options[] = { "rw,relatime", "rw,sync", "noatime", "ro", "discard=async", "rw", "dirsync,noatime" };
	static const char *const schedulers[] = { "none", "mq-deadline", "bfq", "" };
	static char config[] = "CONFIG_KASAN=y\nCONFIG_HZ=250\n# CONFIG_LOCKDEP is not set\n";
	struct process_use processes[6] = { 0 };
	struct module_use modules[9] = { 0 };
	struct disk_use uses[9] = { 0 };
	struct facts facts = { .processes = processes, .modules = modules, .disk_uses = uses };
	struct mount mounts[3] = { 0 };
	struct disk disks[2] = { 0 };
	struct finding *findings;
	size_t nr, nr_disks;

	draw_facts(&facts, state);
	nr_disks = drawn(state, 3);
	facts.config = drawn(state, 2) ? config : NULL;
	for (size_t i = 0; i < 6; i++) {
		snprintf(processes[i].name, sizeof(processes[i].name), "%s", name_of(state));
		processes[i].pid = (int)i + 1;
		processes[i].cpu_percent = (double)(limit(state) % 100) / (1 + i % 3);
		processes[i].io_bytes = limit(state);
	}
	for (size_t i = 0; i < 9; i++) {
		snprintf(uses[i].name, sizeof(uses[i].name), "%s", name_of(state));
		uses[i].requests = drawn(state, 3);
		uses[i].bytes = limit(state);
		snprintf(modules[i].name, sizeof(modules[i].name), "%s", name_of(state));
		modules[i].interrupts = drawn(state, 13);
		modules[i].shared = drawn(state, 2);
	}
	for (size_t i = 0; i < 3; i++) {
		mounts[i].dir = "/mnt";
		mounts[i].fstype = "xfs";
		mounts[i].options = (char *)options[drawn(state, 7)];
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(disks[i].name, sizeof(disks[i].name), "sd%c", 'a' + (int)i);
		snprintf(disks[i].scheduler, sizeof(disks[i].scheduler), "%s", schedulers[drawn(state, 4)]);
		disks[i].readahead_kib = 127 + drawn(state, 4);
		disks[i].nr_mounts = drawn(state, 4);
		disks[i].mounts = mounts;
	}
	findings = check_judge(&facts, disks, nr_disks, &nr);
	assert_non_null(findings);
	for (size_t i = 0; i < nr; i++)
		fprintf(to, "%s %s %s %d %.9g %s: %s\n  %s\n", findings[i].rule->name, findings[i].disk ? findings[i].disk : "-",
			verdict_name(findings[i].verdict), findings[i].measured, findings[i].value,
			findings[i].unit ? findings[i].unit : "-", findings[i].seen, findings[i].remedy);
	print_text.check(to, &facts, findings, nr);
	print_json.check(to, &facts, findings, nr);
	free(findings);
}

struct seen {
	struct look look;
	struct look_process processes[6];
	struct look_disk disks[4];
	struct look_line lines[5];
};

/* The same processes, disks and lines, some of them gone, more of everything. */
static void draw_look(struct seen *s, const struct seen *before, uint64_t *state)
{
	*s = *before;
	s->look.processes = s->processes;
	s->look.disks = s->disks;
	s->look.lines = s->lines;
	s->look.time_ns += drawn(state, 5) * NS_PER_S / 2;
	s->look.wall_ns += (int64_t)drawn(state, 3) * 2500000 - 2500000;
	s->look.wall_ns += (int64_t)drawn(state, 3) - 1;
	if (!drawn(state, 4))
		s->look.slept_ns += 1999999 + (int64_t)drawn(state, 3);
	s->look.clock_set = !drawn(state, 6);
	s->look.throttled += (int64_t)drawn(state, 3) - 1;
	s->look.pressure_us += 99999;
	s->look.pressure_us += (int64_t)drawn(state, 3);
	s->look.swapped_pages += (int64_t)drawn(state, 4) - 1;
	s->look.steal_ticks += (int64_t)drawn(state, 5) - 1;
	s->look.nr_processors = (unsigned int)drawn(state, 3);
	s->look.own_bytes += drawn(state, 3) * 16384;
	snprintf(s->look.governor, sizeof(s->look.governor), "%s", drawn(state, 4) ? "performance" : "");
	snprintf(s->look.clocksource, sizeof(s->look.clocksource), "%s", drawn(state, 4) ? "tsc" : "");
	s->look.nr_processes = 0;
	for (int i = 0; i < 6; i++) {
		struct look_process p = before->processes[0].process.pid ? before->processes[0] : (struct look_process){ 0 };

		if (!drawn(state, 5))
			continue;
		for (size_t k = 0; k < before->look.nr_processes; k++)
			if (before->processes[k].process.pid == i + 1)
				p = before->processes[k];
		p.process.pid = i + 1;
		p.process.parent = (int)drawn(state, (uint64_t)i + 1);
		p.process.start = drawn(state, 8) ? 7 : 8;
		snprintf(p.process.name, sizeof(p.process.name), "program%d", i);
		p.process.ticks += drawn(state, 8) - (p.process.ticks > 4);
		p.io.read_bytes += drawn(state, 2) * 65535;
		p.io.read_bytes += drawn(state, 3);
		p.io.write_bytes += drawn(state, 3) * 32768;
		p.io_known = drawn(state, 5);
		p.role = (enum look_process_role)(drawn(state, 2) ? drawn(state, 4) : ROLE_OTHER);
		s->processes[s->look.nr_processes++] = p;
	}
	s->look.nr_disks = drawn(state, 5);
	s->look.nr_lines = drawn(state, 6);
	for (size_t i = 0; i < 4; i++) {
		snprintf(s->disks[i].use.name, sizeof(s->disks[i].use.name), "sd%c", 'a' + (int)((i + drawn(state, 2)) % 4));
		s->disks[i].use.bytes += drawn(state, 3) * 65535;
		s->disks[i].use.bytes += drawn(state, 3);
		s->disks[i].left_out = !drawn(state, 5);
		s->disks[i].holds_recording = !drawn(state, 3);
	}
	for (size_t i = 0; i < 5; i++) {
		static const char *const devices[] = { "i8042", "eth0", "ahci" };

		s->lines[i].number = (unsigned int)i + 1 + (unsigned int)drawn(state, 2);
		snprintf(s->lines[i].devices, sizeof(s->lines[i].devices), "%s", devices[i % 3]);
		s->lines[i].count += i % 2 ? 9 : 99;
		s->lines[i].count += drawn(state, 3);
		s->lines[i].left_out = !drawn(state, 6);
		s->lines[i].network = i % 3 == 1;
	}
}

/* Two looks of raidctl check, between which processes end and begin. */
static void between(FILE *to, uint64_t *state)
{
	struct process processes[2][6] = { 0 };
	struct disk_use uses[2][5] = { 0 };
	struct activity looks[2] = { 0 };
	struct facts facts = { 0 };

	for (int k = 0; k < 2; k++) {
		struct activity *a = &looks[k];

		a->time_ns = (1 + (uint64_t)k * 2) * NS_PER_S;
		a->swapped_pages = (int64_t)drawn(state, 4) - 1;
		a->processes_known = drawn(state, 6);
		a->io_accounted = drawn(state, 6);
		a->disks_known = drawn(state, 6);
		a->processes = processes[k];
		a->disks = uses[k];
		a->nr_disks = drawn(state, 6);
		for (int i = 0; i < 6; i++) {
			struct process *p = &processes[k][a->nr_processes];

			if (!drawn(state, 4))
				continue;
			a->nr_processes++;
			p->pid = i + 1;
			p->parent = (int)drawn(state, (uint64_t)i + 1);
			p->start = !drawn(state, 8);
			p->ticks = drawn(state, 20);
			p->io_bytes = limit(state);
			p->io_known = drawn(state, 5);
			snprintf(p->name, sizeof(p->name), "program%d", i);
		}
		for (int i = 0; i < 5; i++) {
			snprintf(uses[k][i].name, sizeof(uses[k][i].name), "sd%c", 'a' + (i + (int)drawn(state, 2)) % 5);
			uses[k][i].requests = drawn(state, 3);
			uses[k][i].bytes = drawn(state, 3) * 4096;
		}
	}
	fprintf(to, "%d: ", activity_between(&looks[0], &looks[1], 3, 100, &facts));
	fprintf(to, "%.3f s %d %d %d %" PRId64 ", %zu hidden\n", facts.seconds, facts.processes_known, facts.io_accounted,
		facts.disk_uses_known, facts.swapped_pages, facts.nr_io_hidden);
	for (size_t i = 0; i < facts.nr_processes; i++)
		fprintf(to, "%d %s %.3f %" PRIu64 "\n", facts.processes[i].pid, facts.processes[i].name, facts.processes[i].cpu_percent,
			facts.processes[i].io_bytes);
	for (size_t i = 0; i < facts.nr_disk_uses; i++)
		fprintf(to, "%s %" PRIu64 " %" PRIu64 "\n", facts.disk_uses[i].name, facts.disk_uses[i].requests, facts.disk_uses[i].bytes);
	free(facts.processes);
	free(facts.disk_uses);
}

static int disturbed(void *data, const struct disturbance *what)
{
	static struct disturbance last;
	int goes_on = disturbance_goes_on(&last, what);

	fprintf(data, "%s %s %s %" PRId64 " %" PRIu64 " to %" PRIu64 " goes on %d: %s\n", what->kind, what->subject, what->unit, what->value,
		what->start_ns, what->end_ns, goes_on, what->text);
	last = *what;
	return 0;
}

static int row(void *data, const struct host_row *what)
{
	fprintf(data, "%s %s %s %s %" PRId64 " %" PRIu64 " to %" PRIu64 "\n", what->source, what->subject, what->name, what->unit, what->value,
		what->start_ns, what->end_ns);
	return 0;
}

static void watch(FILE *to, uint64_t *state)
{
	const struct look_told hands = { disturbed, row, to };
	struct seen none = { .look = { .time_ns = NS_PER_S, .nr_processors = 1 } }, seen[2];

	disturbed(to, &(struct disturbance){ .kind = "none" });
	draw_look(&seen[0], &none, state);
	for (int i = 1; i < 12; i++) {
		draw_look(&seen[i % 2], &seen[!(i % 2)], state);
		fprintf(to, "look %d: %d\n", i, look_judge(&seen[!(i % 2)].look, &seen[i % 2].look, 100, &hands));
	}
}

static void machines(void **unused)
{
	uint64_t state = 40;
	char *all, *text, name[32];
	size_t size;
	FILE *to = open_memstream(&all, &size);

	(void)unused;
	for (int i = 0; i < 120; i++) {
		FILE *one = open_memstream(&text, &size);

		(i % 2 ? watch : check)(one, &state);
		between(one, &state);
		fclose(one);
		snprintf(name, sizeof(name), "%s-%d", i % 2 ? "watch" : "check", i);
		digest(to, name, text);
	}
	fclose(to);
	golden("golden/drawn-machine.txt", all);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(machines) };

	return cmocka_run_group_tests_name("drawn-machine", tests, NULL, NULL);
}
