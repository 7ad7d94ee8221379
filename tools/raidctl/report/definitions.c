// SPDX-License-Identifier: GPL-2.0-or-later

/* What every printed number is: finding and printing definitions. */

#include "report/definitions.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/terminal.h"
#include "format/wrap.h"

static char folded(char c)
{
	return c == '_' || c == ' ' ? '-' : (char)tolower((unsigned char)c);
}

/* Is the name the first @len characters of @text? */
static bool is_name(const char *name, const char *text, size_t len)
{
	static const char *const tails[] = { "", "-low", "-high" };
	size_t i = 0;

	while (i < len && name[i] && folded(name[i]) == folded(text[i]))
		i++;
	if (i < len)
		return false;
	for (size_t t = 0; t < sizeof(tails) / sizeof(tails[0]); t++) {
		size_t k = 0;

		while (tails[t][k] && folded(name[i + k]) == tails[t][k])
			k++;
		if (!tails[t][k] && !name[i + k])
			return true;
	}
	return false;
}

static bool has_name(const struct definition *definition, const char *name)
{
	const char *other = definition->other;

	if (is_name(name, definition->name, strlen(definition->name)))
		return true;
	while (*other) {
		size_t len = strcspn(other, ",");

		if (is_name(name, other, len))
			return true;
		other += len;
		other += strspn(other, ", ");
	}
	return false;
}

const struct definition *explain_find(const char *name,
				      const struct definition *after)
{
	size_t i = after ? (size_t)(after - definitions) + 1 : 0;

	for (; i < nr_definitions; i++)
		if (has_name(&definitions[i], name))
			return &definitions[i];
	return NULL;
}

void explain_print(FILE *to, const struct definition *d)
{
	terminal_print(to, "%s%s%s%s, %s\n    ", d->name, d->other[0] ? " (" : "",
		       d->other, d->other[0] ? ")" : "",
		d->unit[0] ? d->unit : "no unit");
	print_wrapped(to, d->text, 4);
}
