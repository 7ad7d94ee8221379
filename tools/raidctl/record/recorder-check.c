// SPDX-License-Identifier: GPL-2.0-or-later

/* Do the sums of all samples agree with each other? */

#include <stdio.h>

#include "record/recorder.h"

void recorder_check(const struct recorder *recorder, char *text, size_t size)
{
	char what[192];

	snprintf(text, size, "hold");
	for (size_t i = 0; i < recorder->nr; i++) {
		const struct recorded *disk = &recorder->disks[i];

		if (disk->was_reset) {
			snprintf(text, size, "%s: not known, its counters were reset meanwhile",
				 disk->target.disk);
			return;
		}
		if (!rt_counters_check(&disk->total, disk->before, what,
				       sizeof(what))) {
			snprintf(text, size, "%s: %s", disk->target.disk, what);
			return;
		}
	}
}
