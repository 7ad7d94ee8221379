/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What raidctl explain says of a recording, as far as a report has it. */

#ifndef REPORT_EXPLAINED_H
#define REPORT_EXPLAINED_H

#include <json-c/json.h>

/**
 * struct explained - what a program said
 * @json: all of it, as Documentation/explain.rst describes; NULL when there is
 *	nothing
 * @why_not: why there is nothing, NULL when there is something; what the
 *	program itself complained of is somebody else's text
 * @complaint: its last line, where @why_not is that
 */
struct explained {
	struct json_object *json;
	const char *why_not;
	char complaint[512];
};

/**
 * explained_ask - run raidctl explain
 * @program: where it lies, NULL when it is not installed
 * @recording: the file
 * @phase: of phases of that name alone; NULL for all
 * @ret: to be given to explained_free(), whatever comes of it
 */
void explained_ask(const char *program, const char *recording,
		   const char *phase, struct explained *ret);

/* explained_of_text - what a program printed; NULL: nothing that can be read */
void explained_of_text(const char *text, struct explained *ret);
void explained_free(struct explained *explained);

/**
 * explained_tested - what an experiment found
 * @explained: may be without
 *
 * Return: a sentence of raidctl why, "" when there was no experiment.
 */
const char *explained_tested(const struct explained *explained);

/**
 * explained_sentence - one sentence on the phase with the largest effect
 * @explained: may be without
 * @index: what it comes to, then what to do, then what is to be kept in mind
 *
 * Return: NULL when there are no more.
 */
const char *explained_sentence(const struct explained *explained, size_t index);

/**
 * explained_opening - a row of the opening, of a recording with several phases
 * @explained: may be without
 * @index: of the row, in order of time
 * @name: gets the phase, with disk and direction where there are several
 *
 * Return: the first sentence on it; NULL when there are no more.
 */
const char *explained_opening(const struct explained *explained, size_t index,
			      const char **name);

/* explained_title - which phase the sentences are on; NULL: on none */
const char *explained_title(const struct explained *explained);

/* explained_chains - how many phases it says something of, directions apart */
size_t explained_chains(const struct explained *explained);

/**
 * explained_limit - what holds a phase down
 * @explained: may be without
 * @disk: its name
 * @phase: its name
 * @direction: "read" or "write"
 *
 * Return: the first limit that is inferred, in the words of explain; "not
 * shown" when none is; "-" when nothing is said, as it moved too little.
 */
const char *explained_limit(const struct explained *explained, const char *disk,
			    const char *phase, const char *direction);

#endif
