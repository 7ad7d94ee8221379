// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * What raidctl explain says of a recording.
 *
 * It is a program of its own; here it is asked and its JSON looked into.  What
 * it says holds names out of a recording: it is somebody else's text.
 */

#include "report/explained.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES	(16 << 20)	/* of a recording with very many phases */
#define NO_PYTHON	126	/* exit status of a child */

static struct json_object *member(struct json_object *of, const char *key)
{
	struct json_object *found = NULL;

	return json_object_object_get_ex(of, key, &found) ? found : NULL;
}

static struct json_object *array(struct json_object *of, const char *key)
{
	struct json_object *found = member(of, key);

	return json_object_is_type(found, json_type_array) ? found : NULL;
}

static size_t length(struct json_object *of)
{
	return of ? json_object_array_length(of) : 0;
}

static const char *text(struct json_object *of, const char *key)
{
	struct json_object *found = member(of, key);

	return json_object_is_type(found, json_type_string) ?
		       json_object_get_string(found) : NULL;
}

void explained_of_text(const char *said, struct explained *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->json = json_tokener_parse(said);
	if (json_object_is_type(ret->json, json_type_object))
		return;
	json_object_put(ret->json);
	ret->json = NULL;
	ret->why_not = "raidctl explain said nothing that can be read";
}

/* All that a program prints, and zeros behind it; NULL when that is too much. */
static char *read_all(int fd)
{
	char *said = calloc(1, MOST_BYTES);
	size_t size = 0;
	ssize_t got = 0;

	while (said && size < MOST_BYTES - 1 &&
	       (got = read(fd, said + size, MOST_BYTES - 1 - size)) > 0)
		size += (size_t)got;
	if (said && (got || !size)) {
		free(said);
		return NULL;
	}
	return said;
}

/* In the child: its complaints are told in the report. */
static void become(const char *program, const char *recording,
		   const char *phase, int out, int complaints)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 ||
	    (!getenv("RAIDCTL_DEBUG") &&
	     dup2(complaints < 0 ? null : complaints, STDERR_FILENO) < 0))
		_exit(127);
	if (phase)
		execl(program, program, "--json", "--phase", phase, "--",
		      recording, NULL);
	else
		execl(program, program, "--json", "--", recording, NULL);
	/* The file is there, so the program that its first line names is not. */
	_exit(errno == ENOENT && !access(program, F_OK) ? NO_PYTHON : 127);
}

/* The last line, where a program says why it ended, as of "raidctl explain: FILE: why". */
static void take_complaint(int complaints, struct explained *ret)
{
	static const char name[] = "raidctl explain: ";
	char text[4096], *line;
	off_t end = lseek(complaints, 0, SEEK_END);
	off_t begin = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	ssize_t size = pread(complaints, text, sizeof(text) - 1, begin);

	if (size <= 0)
		return;
	text[size] = '\0';
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (!strncmp(line, name, strlen(name)))
		line += strlen(name);
	snprintf(ret->complaint, sizeof(ret->complaint), "%.*s",
		 (int)sizeof(ret->complaint) - 1, line);
	if (ret->complaint[0])
		ret->why_not = ret->complaint;
}

void explained_ask(const char *program, const char *recording,
		   const char *phase, struct explained *ret)
{
	int ends[2], status = -1, complaints;
	char *said;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	if (!program) {
		ret->why_not = "raidctl-explain is not installed";
		return;
	}
	ret->why_not = "raidctl explain cannot be started";
	if (pipe2(ends, O_CLOEXEC))
		return;
	complaints = memfd_create("complaints", MFD_CLOEXEC);
	pid = fork();
	if (!pid)
		become(program, recording, phase, ends[1], complaints);
	close(ends[1]);
	said = pid > 0 ? read_all(ends[0]) : NULL;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	ret->why_not = "raidctl explain failed";
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_PYTHON)
		ret->why_not = "raidctl explain needs Python: apt-get install python3";
	if (said && WIFEXITED(status) && !WEXITSTATUS(status))
		explained_of_text(said, ret);
	else if (complaints >= 0)
		take_complaint(complaints, ret);
	if (complaints >= 0)
		close(complaints);
	free(said);
}

void explained_free(struct explained *explained)
{
	json_object_put(explained->json);
	explained->json = NULL;
}

const char *explained_tested(const struct explained *explained)
{
	const char *found = text(explained->json, "tested");

	return found ? found : "";
}

size_t explained_chains(const struct explained *explained)
{
	return length(array(explained->json, "chains"));
}

/* That with the largest effect comes first. */
static struct json_object *first_chain(const struct explained *explained)
{
	return explained_chains(explained) ?
		       json_object_array_get_idx(array(explained->json, "chains"), 0) :
		       NULL;
}

const char *explained_title(const struct explained *explained)
{
	return text(first_chain(explained), "title");
}

const char *explained_sentence(const struct explained *explained, size_t index)
{
	struct json_object *of = explained_chains(explained) ? first_chain(explained) :
							   explained->json;
	struct json_object *summary = array(of, "summary");

	return index < length(summary) ?
		       json_object_get_string(json_object_array_get_idx(summary, index)) :
		       NULL;
}

const char *explained_opening(const struct explained *explained, size_t index,
			      const char **name)
{
	struct json_object *opening = array(explained->json, "opening");
	struct json_object *row = index < length(opening) ?
		json_object_array_get_idx(opening, index) : NULL;

	if (!json_object_is_type(row, json_type_array) || length(row) != 2)
		return NULL;
	*name = json_object_get_string(json_object_array_get_idx(row, 0));
	return json_object_get_string(json_object_array_get_idx(row, 1));
}

static bool is_of(struct json_object *of, const char *key, const char *value)
{
	const char *found = text(of, key);

	return found && !strcmp(found, value);
}

const char *explained_limit(const struct explained *explained, const char *disk,
			    const char *phase, const char *direction)
{
	struct json_object *chains = array(explained->json, "chains");

	for (size_t i = 0; i < length(chains); i++) {
		struct json_object *chain = json_object_array_get_idx(chains, i);
		struct json_object *limits = array(chain, "limits");

		if (!is_of(chain, "disk", disk) || !is_of(chain, "phase", phase) ||
		    !is_of(chain, "direction", direction))
			continue;
		/* Those that are inferred come first, what matters most at their head. */
		if (length(limits) &&
		    is_of(json_object_array_get_idx(limits, 0), "verdict", "inferred"))
			return text(json_object_array_get_idx(limits, 0), "title") ?: "?";
		return "not shown";
	}
	return "-";
}
