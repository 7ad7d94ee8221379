/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the rules of rules.c are made of; all of it is pure. */

#ifndef CHECK_JUDGE_H
#define CHECK_JUDGE_H

#include "check/check.h"

/* Rates above which something disturbs one disk of some 50 MB/s. */
#define IO_WARN_BYTES_PER_S	(64.0 * 1024)
#define IO_FAIL_BYTES_PER_S	(1024.0 * 1024)

/*
 * finding_is	   a judgement of a number with a unit
 * finding_above   the same, judged by two limits that it should not exceed
 * finding_unknown it cannot be judged; the words say why
 * finding_seen	   what was seen, in words
 * finding_more	   words to be added to it
 * finding_remedy  what to do
 */
void finding_is(struct finding *finding, enum verdict verdict, double value,
		const char *unit);
void finding_above(struct finding *finding, double value, double warn,
		   double fail, const char *unit);
void finding_unknown(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_seen(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_more(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_remedy(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Rules about the machine, as struct rule has them. */
#define JUDGE_MACHINE(name)						\
	void judge_##name(const struct facts *facts,			\
			  const struct disk *disks, size_t nr_disks,	\
			  struct finding *ret)
JUDGE_MACHINE(data_set);
JUDGE_MACHINE(unwritten);
JUDGE_MACHINE(processor);
JUDGE_MACHINE(process_io);
JUDGE_MACHINE(other_disks);
JUDGE_MACHINE(swap);
JUDGE_MACHINE(governor);
JUDGE_MACHINE(target);
JUDGE_MACHINE(drivers);
JUDGE_MACHINE(machine);
JUDGE_MACHINE(kernel_debug);
JUDGE_MACHINE(signing);

/* Rules about one disk. */
#define JUDGE_DISK(name)						\
	void judge_##name(const struct facts *facts,			\
			  const struct disk *disk, struct finding *ret)
JUDGE_DISK(disk_idle);
JUDGE_DISK(scheduler);
JUDGE_DISK(readahead);
JUDGE_DISK(mounts);

#endif
