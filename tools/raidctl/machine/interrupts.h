/* SPDX-License-Identifier: GPL-2.0-or-later */

/* /proc/interrupts: how often each line was raised, on which processor. */

#ifndef MACHINE_INTERRUPTS_H
#define MACHINE_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_DEVICES	64

/**
 * struct interrupt_line - one line that devices raise
 * @number: of the line
 * @devices: names of the drivers; after chip, kind and type
 * @first: index of its counts among those of the table
 */
struct interrupt_line {
	unsigned int number;
	char devices[LINE_DEVICES];
	size_t first;
};

/**
 * struct interrupt_table - all lines
 * @nr_processors: counts per line
 * @processors: number of each
 * @nr: lines
 * @lines: the lines
 * @counts: of all lines, by processor
 */
struct interrupt_table {
	size_t nr_processors;
	unsigned int *processors;
	size_t nr;
	struct interrupt_line *lines;
	uint64_t *counts;
};

/**
 * interrupts_parse - take the text of the file
 * @text: terminated
 * @ret: to be given to interrupts_free()
 *
 * Lines of processors (LOC, NMI ...) are left out.
 *
 * Return: 0; -EINVAL when it is no such text; -ENOMEM.
 */
int interrupts_parse(const char *text, struct interrupt_table *ret);
void interrupts_free(struct interrupt_table *table);

/* interrupts_of - counts of a line by processor, NULL when there is none */
const uint64_t *interrupts_of(const struct interrupt_table *table,
			      unsigned int number);

/* interrupts_sum - of one line, by its index in the table: how often it was raised on all processors */
uint64_t interrupts_sum(const struct interrupt_table *table, size_t index);

/**
 * interrupts_of_device - is a line one of a device's?
 * @directory: of a PCI device in /sys. Without messages it has one line.
 * @number: of the line
 */
bool interrupts_of_device(const char *directory, unsigned int number);

/**
 * interrupts_of_pci - is a line one of a PCI device's?
 * @device: its address
 * @number: of the line
 */
bool interrupts_of_pci(const char *device, unsigned int number);

/* interrupts_of_network - is a line one of a network card's? */
bool interrupts_of_network(unsigned int number);

#endif
