/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Code that ddt and ioperf share: stages announced on standard error, arguments, the scratch file. */

#ifndef STAGE_H
#define STAGE_H

#include <stdint.h>

enum fill { FILL_RANDOM, FILL_ZEROS };

/*
 * Say that a stage begins: "Writing..." in one write(2). @what: how the line begins; raidctl record cuts
 * phases there. Standard error is not buffered, so that whoever follows it knows in time.
 */
void stage_begin(const char *what);
void stage_end(void);

/* CLOCK_MONOTONIC in seconds. */
double stage_seconds(void);

/* Print "PROGRAM: WHAT: why" and exit with status 1. */
void stage_die(const char *what) __attribute__((noreturn));

/*
 * A whole number of at least 1, with K, M or G for powers of 1024. @text: the number.
 * Return: the number; 0 when it is none or too large.
 */
uint64_t stage_number(const char *text);

/* Return: 0, or -1 when the word is neither "random" nor "zeros". */
int stage_fill(const char *word, enum fill *ret);

/*
 * Create a file in a directory and unlink it at once. It has no name, so that nothing is left whatever
 * kills the program.
 * Return: its descriptor, open for reading and writing. Dies when it cannot be made.
 */
int stage_file(const char *directory);

/* The next 64 bits of a fixed sequence (xorshift64*). @state: any value but 0. */
uint64_t stage_random(uint64_t *state);

/* Fill @bytes, a multiple of 8, of @block. */
void stage_data(enum fill fill, uint64_t *state, void *block, uint64_t bytes);

#endif
