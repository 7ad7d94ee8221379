// SPDX-License-Identifier: GPL-2.0-or-later

/* /proc/interrupts: the number of interrupts of each line on each processor. */

#include "machine/machine.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parse_head(const char *text, struct interrupt_table *ret)
{
	const char *end = strchr(text, '\n');
	size_t nr = 0;

	for (const char *at = text; end && (at = strstr(at, "CPU")) && at < end;
	     at++)
		nr++;
	if (!nr)
		return -EINVAL;
	ret->processors = calloc(nr, sizeof(*ret->processors));
	if (!ret->processors)
		return -ENOMEM;
	for (const char *at = text; ret->nr_processors < nr; at++) {
		at = strstr(at, "CPU");
		ret->processors[ret->nr_processors++] =
			(unsigned int)atoi(at + 3);
	}
	return 0;
}

static const char *next_word(const char *at, const char *end)
{
	while (at < end && !isspace((unsigned char)*at))
		at++;
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

/* "IO-APIC 16-fasteoi twa0, ehci": the devices follow after two words, or one. */
static void take_devices(const char *text, const char *end, char *ret)
{
	const char *second, *third;

	while (text < end && isspace((unsigned char)*text))
		text++;
	second = next_word(text, end);
	third = next_word(second, end);
	if (second < end)
		text = third < end ? third : second;
	snprintf(ret, LINE_DEVICES, "%.*s", (int)(end - text), text);
}

static int add_line(const char *text, const char *end,
		    struct interrupt_table *ret)
{
	size_t per = ret->nr_processors;
	struct interrupt_line *lines;
	uint64_t *counts;
	char *at;
	unsigned long number = strtoul(text, &at, 10);

	if (*at++ != ':')
		return 0;
	lines = reallocarray(ret->lines, ret->nr + 1, sizeof(*lines));
	if (lines)
		ret->lines = lines;
	counts = reallocarray(ret->counts, (ret->nr + 1) * per,
			      sizeof(*counts));
	if (counts)
		ret->counts = counts;
	if (!lines || !counts)
		return -ENOMEM;
	lines += ret->nr;
	lines->number = (unsigned int)number;
	lines->first = ret->nr * per;
	for (size_t i = 0; i < per; i++) {
		char *after;

		counts[lines->first + i] = strtoull(at, &after, 10);
		if (after == at || after > end)
			return 0;
		at = after;
	}
	take_devices(at, end, lines->devices);
	ret->nr++;
	return 0;
}

int interrupts_parse(const char *text, struct interrupt_table *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = parse_head(text, ret);
	while (!err && (text = strchr(text, '\n'))) {
		const char *end;

		text++;
		end = strchrnul(text, '\n');
		while (*text == ' ')
			text++;
		if (isdigit((unsigned char)*text))
			err = add_line(text, end, ret);
	}
	if (err)
		interrupts_free(ret);
	return err;
}

void interrupts_free(struct interrupt_table *table)
{
	free(table->processors);
	free(table->lines);
	free(table->counts);
	memset(table, 0, sizeof(*table));
}

const uint64_t *interrupts_of(const struct interrupt_table *table,
			      unsigned int number)
{
	for (size_t i = 0; i < table->nr; i++)
		if (table->lines[i].number == number)
			return &table->counts[table->lines[i].first];
	return NULL;
}

uint64_t interrupts_sum(const struct interrupt_table *table, size_t index)
{
	uint64_t sum = 0;

	for (size_t cpu = 0; cpu < table->nr_processors; cpu++)
		sum += table->counts[table->lines[index].first + cpu];
	return sum;
}

bool interrupts_of_device(const char *directory, unsigned int number)
{
	char path[PATH_MAX];
	unsigned int line;
	bool is = false;
	glob_t messages;
	FILE *file;

	/* The directory exists without messages, too. */
	snprintf(path, sizeof(path), "%s/msi_irqs/*", directory);
	if (!glob(path, GLOB_NOSORT, NULL, &messages)) {
		globfree(&messages);
		snprintf(path, sizeof(path), "%s/msi_irqs/%u", directory,
			 number);
		return !access(path, F_OK);
	}
	snprintf(path, sizeof(path), "%s/irq", directory);
	file = fopen(path, "re");
	if (file) {
		is = fscanf(file, "%u", &line) == 1 && line && line == number;
		fclose(file);
	}
	return is;
}

bool interrupts_of_pci(const char *device, unsigned int number)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", device);
	return device[0] && interrupts_of_device(path, number);
}

bool interrupts_of_network(unsigned int number)
{
	bool is = false;
	glob_t devices;

	if (glob("/sys/class/net/*/device", 0, NULL, &devices))
		return false;
	for (size_t i = 0; i < devices.gl_pathc && !is; i++) {
		char *device = realpath(devices.gl_pathv[i], NULL);
		char *name = device ? strrchr(device, '/') : NULL;

		/* A virtio device has the interrupts of the device above it. */
		if (name && !strncmp(name, "/virtio", 7))
			*name = '\0';
		is = device && interrupts_of_device(device, number);
		free(device);
	}
	globfree(&devices);
	return is;
}
