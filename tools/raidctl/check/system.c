// SPDX-License-Identifier: GPL-2.0-or-later

/* What the rules of raidctl check look at, from /proc, /sys and systemd. */


#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>
#include <zlib.h>

#include "base/lab.h"
#include "check/activity.h"
#include "check/check.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#define CPUID_HYPERVISOR	(1U << 31)	/* leaf 1, ECX */
#define CPUID_HYPERVISOR_LEAF	0x40000000U

static bool processor_tells(struct facts *facts)
{
	unsigned int eax, ebx, ecx, edx, name[3];

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return false;
	facts->virtual_known = true;
	if (!(ecx & CPUID_HYPERVISOR))
		return false;
	__cpuid(CPUID_HYPERVISOR_LEAF, eax, name[0], name[1], name[2]);
	snprintf(facts->hypervisor, sizeof(facts->hypervisor), "%.12s",
		 (const char *)name);
	for (char *at = facts->hypervisor; *at; at++)
		if (!isprint((unsigned char)*at))
			*at = '?';
	if (!facts->hypervisor[0])
		strcpy(facts->hypervisor, "the processor's hypervisor flag is set");
	return true;
}
#else
static bool processor_tells(struct facts *facts)
{
	(void)facts;
	return false;
}
#endif

/* What firmware of virtual machines calls its maker or its product. */
static const char *const makers[] = {
	"QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs",
	"Parallels", "Virtual Machine", "Amazon EC2", "Google Compute Engine",
	"OpenStack", "BHYVE",
};

static void firmware_tells(struct facts *facts)
{
	static const char *const files[] = {
		"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
		"/sys/hypervisor/type",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *file = fopen(files[i], "re");
		char text[FACT_NAME] = "";

		if (!file)
			continue;
		if (fgets(text, sizeof(text), file))
			facts->virtual_known = true;
		fclose(file);
		text[strcspn(text, "\n")] = '\0';
		for (size_t m = 0; m < sizeof(makers) / sizeof(makers[0]); m++)
			if (strcasestr(text, makers[m]))
				memcpy(facts->hypervisor, text, sizeof(text));
	}
}

/* read_hypervisor - set @facts->hypervisor and virtual_known */
static void read_hypervisor(struct facts *facts)
{
	/* User Mode Linux sees the processor of its host. */
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[FACT_NAME];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "vendor_id", 9) &&
		    strstr(line, "User Mode Linux")) {
			facts->virtual_known = true;
			strcpy(facts->hypervisor, "User Mode Linux");
			break;
		}
	}
	if (file)
		fclose(file);
	if (!facts->hypervisor[0] && !processor_tells(facts))
		firmware_tells(facts);
}

/* How long activity is measured: CPU time comes in ticks of 10 ms. */
#define LOOK_SECONDS	1

/* More than any kernel's configuration has. */
#define CONFIG_BYTES	(4 * 1024 * 1024)

void parse_memory(const char *line, struct facts *facts)
{
	const struct {
		const char *key;
		int64_t *value;
	} wanted[] = {
		{ "MemTotal:", &facts->ram_bytes },
		{ "Dirty:", &facts->dirty_bytes },
		{ "Writeback:", &facts->writeback_bytes },
		{ "SwapTotal:", &facts->swap_bytes },
		{ "SwapFree:", &facts->swap_used_bytes },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		size_t len = strlen(wanted[i].key);

		/* The file says kB and means KiB. */
		if (!strncmp(line, wanted[i].key, len))
			*wanted[i].value = strtoll(line + len, NULL, 10) * 1024;
	}
}

static void read_memory(struct facts *ret)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[256];

	ret->ram_bytes = FACT_UNKNOWN;
	ret->dirty_bytes = FACT_UNKNOWN;
	ret->writeback_bytes = FACT_UNKNOWN;
	ret->swap_bytes = FACT_UNKNOWN;
	ret->swap_used_bytes = FACT_UNKNOWN;
	while (file && fgets(line, sizeof(line), file))
		parse_memory(line, ret);
	if (file)
		fclose(file);
	if (ret->swap_bytes >= 0 && ret->swap_used_bytes >= 0)
		ret->swap_used_bytes = ret->swap_bytes - ret->swap_used_bytes;
}

static bool first_word(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "re");
	bool good = file && fgets(ret, (int)size, file);

	if (file)
		fclose(file);
	if (good)
		ret[strcspn(ret, "\n ")] = '\0';
	else
		ret[0] = '\0';
	return good && ret[0];
}

static void read_governors(struct facts *ret)
{
	glob_t found;

	if (glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
		 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char name[FACT_NAME];

		/* A processor that is switched off has none. */
		if (!first_word(found.gl_pathv[i], name, sizeof(name)))
			continue;
		ret->nr_governors++;
		if (!strcmp(name, "performance"))
			ret->nr_performance++;
		else
			memcpy(ret->governor, name, sizeof(name));
	}
	globfree(&found);
}

/* Highest of systemd's targets that is active. */
static void ask_systemd(struct facts *ret)
{
	static const char *const targets[] = {
		"graphical.target", "multi-user.target", "rescue.target",
		"emergency.target",
	};
	FILE *answer = popen("systemctl is-active graphical.target multi-user.target rescue.target emergency.target 2>/dev/null",
			     "re");
	char line[FACT_NAME];

	for (size_t i = 0; answer && i < sizeof(targets) / sizeof(targets[0]) &&
	     fgets(line, sizeof(line), answer); i++)
		if (!strcmp(line, "active\n") && !ret->target[0])
			snprintf(ret->target, sizeof(ret->target), "%s",
				 targets[i]);
	if (answer)
		pclose(answer);
}

static void read_target(struct facts *ret)
{
	struct utmpx wanted = { .ut_type = RUN_LVL };
	const struct utmpx *found;

	if (!access("/run/systemd/system", F_OK))
		ask_systemd(ret);
	if (ret->target[0])
		return;
	setutxent();
	found = getutxid(&wanted);
	/* The level is a character in the low byte. */
	if (found && (found->ut_pid & 0xff) > ' ')
		snprintf(ret->target, sizeof(ret->target), "runlevel %c",
			 found->ut_pid & 0xff);
	endutxent();
}

/* gzopen() reads files that are not compressed too. */
static bool read_config(const char *path, struct facts *ret)
{
	gzFile file = gzopen(path, "re");
	char *text;
	int len;

	if (!file)
		return false;
	text = malloc(CONFIG_BYTES);
	len = text ? gzread(file, text, CONFIG_BYTES - 1) : -1;
	gzclose(file);
	if (len <= 0) {
		free(text);
		return false;
	}
	text[len] = '\0';
	ret->config = text;
	snprintf(ret->config_source, sizeof(ret->config_source), "%s", path);
	return true;
}

static void find_config(struct facts *ret)
{
	struct utsname kernel;
	char path[sizeof(kernel.release) + 64];

	if (read_config("/proc/config.gz", ret) || uname(&kernel))
		return;
	snprintf(path, sizeof(path), "/boot/config-%s", kernel.release);
	if (read_config(path, ret))
		return;
	snprintf(path, sizeof(path), "/lib/modules/%s/config", kernel.release);
	read_config(path, ret);
}

/* UML's simulated time in which computing takes none. */
static bool time_travels(void)
{
	FILE *file = fopen("/proc/cmdline", "re");
	char line[4096];
	bool found = file && fgets(line, sizeof(line), file) &&
		     strstr(line, "time-travel=inf-cpu");

	if (file)
		fclose(file);
	return found;
}

static int look_twice(const struct disk *disks, size_t nr_disks,
		      struct facts *ret)
{
	struct timespec pause = { .tv_sec = LOOK_SECONDS };
	struct activity before, after = { 0 };
	int err = activity_read(&before);

	if (!err) {
		while (nanosleep(&pause, &pause) && errno == EINTR)
			continue;
		err = activity_read(&after);
	}
	if (!err)
		err = activity_between(&before, &after, getpid(),
				       (double)sysconf(_SC_CLK_TCK), ret);
	if (!err)
		err = drivers_read(&before, &after, disks, nr_disks, ret);
	activity_free(&before);
	activity_free(&after);
	return err;
}

static void read_signing(struct facts *ret)
{
	ret->module_loaded = rt_module_loaded() > 0;
	rt_signing_read("", &ret->signing);
	rt_module_find(NULL, ret->module_file, sizeof(ret->module_file),
		       ret->module_signer, sizeof(ret->module_signer));
	ret->module_enrolled = ret->module_signer[0] ?
		rt_signing_enrolled("", ret->module_signer) : FACT_UNKNOWN;
}

int facts_read(const struct disk *disks, size_t nr_disks, struct facts *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	/* First what is measured: reading the rest is activity too. */
	err = look_twice(disks, nr_disks, ret);
	if (err)
		return err;
	read_memory(ret);
	read_governors(ret);
	read_target(ret);
	find_config(ret);
	ret->simulated = lab_profile(ret->profile, sizeof(ret->profile));
	ret->cpu_is_free = time_travels();
	read_hypervisor(ret);
	read_signing(ret);
	return 0;
}

void facts_free(struct facts *facts)
{
	free(facts->processes);
	free(facts->disk_uses);
	free(facts->modules);
	free(facts->config);
	memset(facts, 0, sizeof(*facts));
}
