// SPDX-License-Identifier: GPL-2.0-or-later

/* Is this machine a guest of the lab, with a simulated controller? */

#include "lab.h"

#include <stdio.h>
#include <string.h>

bool lab_profile(char *ret, size_t size)
{
	FILE *file = fopen("/proc/tw9000/status", "re");
	char line[256];

	ret[0] = '\0';
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "profile: ", 9))
			snprintf(ret, size, "%s", line + 9);
	}
	fclose(file);
	return true;
}
