// SPDX-License-Identifier: GPL-2.0-or-later

/* Does this machine run on another one?  The processor and firmware tell. */

#include "check/virtual.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

void read_hypervisor(struct facts *facts)
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
