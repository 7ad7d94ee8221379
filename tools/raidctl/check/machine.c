// SPDX-License-Identifier: GPL-2.0-or-later

/* Rules about the machine and its kernel. */

#include "check/judge.h"

#include <stdio.h>
#include <string.h>

JUDGE_MACHINE(governor)
{
	(void)disks;
	(void)nr_disks;
	if (!facts->nr_governors) {
		finding_unknown(ret, "this kernel does not govern the frequency of the processors");
		return;
	}
	finding_is(ret, facts->nr_performance == facts->nr_governors ?
		   VERDICT_PASS : VERDICT_WARN, (double)facts->nr_performance,
		   "processors with performance");
	if (ret->verdict == VERDICT_PASS) {
		finding_seen(ret, "performance on all %zu processors",
			     facts->nr_governors);
		return;
	}
	finding_seen(ret, "%s on %zu of %zu processors", facts->governor,
		     facts->nr_governors - facts->nr_performance,
		     facts->nr_governors);
	finding_remedy(ret, "cpupower frequency-set -g performance");
}

JUDGE_MACHINE(target)
{
	bool graphical = !strcmp(facts->target, "graphical.target") ||
			 !strcmp(facts->target, "runlevel 5");

	(void)disks;
	(void)nr_disks;
	if (!facts->target[0]) {
		finding_unknown(ret, "neither systemd nor utmp tells a target or runlevel");
		return;
	}
	ret->verdict = graphical ? VERDICT_WARN : VERDICT_PASS;
	finding_seen(ret, "%s", facts->target);
	if (graphical)
		finding_remedy(ret, "end the desktop for the time of the run: systemctl isolate multi-user.target");
}

JUDGE_MACHINE(machine)
{
	(void)disks;
	(void)nr_disks;
	if (facts->simulated) {
		ret->verdict = VERDICT_WARN;
		finding_seen(ret, "simulated: a guest of the lab%s%s",
			     facts->profile[0] ? ", profile " : "", facts->profile);
		finding_remedy(ret, "call every figure simulated");
	} else if (!facts->virtual_known) {
		finding_unknown(ret, "neither processor nor firmware tells whether this machine is virtual");
	} else if (facts->hypervisor[0]) {
		ret->verdict = VERDICT_WARN;
		finding_seen(ret, "a virtual machine: %s", facts->hypervisor);
		finding_remedy(ret, "measure on the machine that has the controller, or pass the controller through and say so");
	} else {
		ret->verdict = VERDICT_PASS;
		finding_seen(ret, "no hypervisor is seen");
	}
}

/* struct debug_option - what it does to a benchmark: all of it, some, or nothing that is seen */
struct debug_option {
	const char *name;
	enum verdict verdict;
};

static const struct debug_option debug_options[] = {
	{ "KASAN", VERDICT_FAIL },
	{ "KMSAN", VERDICT_FAIL },
	{ "KCSAN", VERDICT_FAIL },
	{ "PROVE_LOCKING", VERDICT_FAIL },
	{ "PROVE_RCU", VERDICT_WARN },
	{ "LOCK_STAT", VERDICT_FAIL },
	{ "DEBUG_LOCK_ALLOC", VERDICT_WARN },
	{ "DEBUG_SPINLOCK", VERDICT_WARN },
	{ "DEBUG_ATOMIC_SLEEP", VERDICT_WARN },
	{ "DEBUG_PAGEALLOC_ENABLE_DEFAULT", VERDICT_FAIL },
	{ "SLUB_DEBUG_ON", VERDICT_FAIL },
	{ "DEBUG_KMEMLEAK", VERDICT_WARN },
	{ "DEBUG_OBJECTS", VERDICT_WARN },
	{ "DEBUG_VM", VERDICT_WARN },
	{ "DEBUG_SG", VERDICT_WARN },
	{ "DMA_API_DEBUG", VERDICT_WARN },
	/* A compare at an index or a shift by a variable: distributions build their kernels with it. */
	{ "UBSAN_BOUNDS", VERDICT_PASS },
	{ "UBSAN_SHIFT", VERDICT_PASS },
	/* One at each access, sum or truth value. */
	{ "UBSAN_ALIGNMENT", VERDICT_WARN },
	{ "UBSAN_INTEGER_WRAP", VERDICT_WARN },
	{ "UBSAN_SIGNED_WRAP", VERDICT_WARN },
	{ "UBSAN_BOOL", VERDICT_WARN },
	{ "UBSAN_ENUM", VERDICT_WARN },
	{ "KCOV", VERDICT_WARN },
	{ "GCOV_KERNEL", VERDICT_WARN },
	{ "FAULT_INJECTION", VERDICT_WARN },
};

static bool is_set(const char *config, const char *name)
{
	char line[FACT_NAME];
	size_t len = (size_t)snprintf(line, sizeof(line), "CONFIG_%s=y", name);

	for (const char *at = config; (at = strstr(at, line)); at += len)
		if ((at == config || at[-1] == '\n') &&
		    (at[len] == '\n' || !at[len]))
			return true;
	return false;
}

/* Name those that are set and cost, or those that are set and do not; how many. */
static size_t name_options(const struct facts *facts, bool cost,
			   struct finding *ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(debug_options) / sizeof(debug_options[0]);
	     i++) {
		const struct debug_option *option = &debug_options[i];
		bool costs = option->verdict != VERDICT_PASS;

		if (costs != cost || !is_set(facts->config, option->name))
			continue;
		finding_more(ret, "%s%s", nr++ ? ", " : cost ? "" : "; ",
			     option->name);
		if (option->verdict > ret->verdict)
			ret->verdict = option->verdict;
	}
	return nr;
}

JUDGE_MACHINE(kernel_debug)
{
	size_t nr;

	(void)disks;
	(void)nr_disks;
	if (!facts->config) {
		finding_unknown(ret, "neither /proc/config.gz nor the kernel's /boot/config-* can be read");
		return;
	}
	ret->verdict = VERDICT_PASS;
	nr = name_options(facts, true, ret);
	ret->measured = true;
	ret->value = (double)nr;
	ret->unit = "options";
	if (nr)
		finding_remedy(ret, "boot a kernel without them, as distributions build it");
	finding_more(ret, nr ? ", says %s" : "none that costs is set, says %s",
		     facts->config_source);
	if (name_options(facts, false, ret))
		finding_more(ret, ", as distributions build it");
}

/* What is refused is said before somebody tries: the commands take a reboot. */
JUDGE_MACHINE(signing)
{
	const struct rt_signing *signing = &facts->signing;
	const char *signer = facts->module_signer;
	char why[96];

	(void)disks;
	(void)nr_disks;
	rt_signing_why(signing, why, sizeof(why));
	ret->verdict = VERDICT_PASS;
	if (facts->module_loaded) {
		finding_seen(ret, "raidtrace is loaded");
	} else if (!rt_signing_needed(signing)) {
		finding_seen(ret, "this kernel takes modules that are not signed");
	} else if (signer[0] && facts->module_enrolled == 1) {
		finding_seen(ret, "signed modules only (%s); raidtrace is signed by \"%s\", whose key the kernel has",
			     why, signer);
	} else {
		ret->verdict = VERDICT_WARN;
		finding_seen(ret, "signed modules only (%s); ", why);
		if (!facts->module_file[0])
			finding_more(ret, "raidtrace is not installed");
		else if (!signer[0])
			finding_more(ret, "raidtrace is not signed");
		else
			finding_more(ret, "%s a key of \"%s\", who signed raidtrace",
				     facts->module_enrolled ? "it does not tell whether it has" :
				     "it has not", signer);
		rt_signing_advice(signing, facts->module_file[0] ?
				  facts->module_file : NULL, signer,
				  ret->remedy, sizeof(ret->remedy));
	}
}
