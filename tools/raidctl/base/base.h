/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Text, units, messages, clocks and signals, for all rooms. */

#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* units.c: numbers with units as text, and back */

#define SECTOR_BYTES	512
#define NS_PER_S	((uint64_t)1000000000)

/* Bytes for any text of a format_* function; a text of sectors has two numbers. */
#define UNITS_TEXT	32
#define SECTORS_TEXT	(2 * UNITS_TEXT)

/*
 * Each writes to @ret, which has room for UNITS_TEXT bytes, or SECTORS_TEXT, and
 * returns it.
 *
 * format_bytes	 three digits and a binary unit: "128 KiB", "1.50 GiB"
 * format_ns	 three digits and a unit of time: "1.25 ms"
 * format_count	 digits in groups of three: "1,234,567"
 * format_sectors  bytes and number of sectors: "128 KiB (256 sectors)"
 * format_share	 @part of @whole in per cent: "99.9 %", "n/a" when @whole is 0
 * format_clock	 hours, minutes and seconds: "1:02:03", "0:07"
 */
char *format_bytes(char *ret, double bytes);
char *format_ns(char *ret, double ns);
char *format_count(char *ret, uint64_t count);
char *format_sectors(char *ret, uint64_t sectors);
char *format_share(char *ret, double part, double whole);
char *format_clock(char *ret, uint64_t ns);

/*
 * Parse "100ms", "2s", "1.5m" or "1h" to nanoseconds above 0; a number without a unit is seconds.
 * Return: 0; -EINVAL when @text is no duration; -ERANGE beyond 100 years.
 */
int parse_duration(const char *text, uint64_t *ret);

/* Like parse_duration(), but a number without a unit is -EINVAL, because it could be in milliseconds. */
int parse_latency(const char *text, uint64_t *ret);

/*
 * foreign.c: text of any bytes that other programs chose, such as names of processes, mounts and files.
 * terminal_print(), print_wrapped(), json_finish() and csv_row() use these definitions; nothing else may print.
 */

/* Result of foreign_next() for a byte that is not UTF-8. */
#define FOREIGN_INVALID	UINT32_MAX

/* Decode the first character of @len bytes, at least one. Return: its number of bytes; 1 if it is not UTF-8. */
size_t foreign_next(const char *text, size_t len, uint32_t *code);

/* Is it a control character, invisible, or does it change the order of the text? */
bool foreign_is_hidden(uint32_t code);

/*
 * At most @len bytes of @text as one line that is safe on a terminal. Bytes that are not UTF-8 and hidden
 * characters become \n, \t, \r, \x1b or \u202e. @wide gets the number of characters; it may be NULL.
 * Return: text to free(), NULL without memory.
 */
char *foreign_visible(const char *text, size_t len, size_t *wide);

/*
 * @text as valid UTF-8, with U+FFFD for each invalid byte. Without memory, the result is only U+FFFD. @made gets the
 * memory to free(), or NULL.
 */
const char *foreign_utf8(const char *text, char **made);

/* Return: the number of bytes of the first @nr characters. */
size_t foreign_cut(const char *text, size_t nr);

/*
 * terminal.c: everything that raidctl prints as text. Formats are trusted; each text of %s passes through
 * foreign_visible(), except those of bold() and plain(). So no name can move the cursor, begin a line or hide.
 * tests/lint/doors checks that nothing prints in another way.
 */

/* Control sequences of bold and plain text; "" if @to is not a terminal, or with NO_COLOR. */
const char *bold(FILE *to);
const char *plain(FILE *to);

#define TERMINAL_WIDTH	80	/* columns if the output is not a terminal */

/* Return: the columns of the terminal of stdout, 20 to 100; TERMINAL_WIDTH for other files. */
int terminal_width(FILE *to);

/*
 * fprintf() for the conversions of C11 without %n, %C, %S and long double. A width counts characters; a precision of %s
 * is the maximum number of bytes.
 */
void terminal_print(FILE *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void terminal_vprint(FILE *to, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* message.c: messages on standard error */

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* Print "raidctl: <what>: <why>; <what to do>" and a newline. Return: EXIT_FAILED. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like fail(), for a wrong command line. Return: EXIT_USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like fail(), for a message that is not a failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * One line of progress on a terminal. It is written after the current line of the recorded command, and the cursor
 * moves back, so the command's own output does not change.
 */

/* Is standard error a terminal? */
bool progress_is_shown(void);

/* Replace the line of progress. Does nothing if standard error is not a terminal. */
void progress_show(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Remove the line before something else is printed. */
void progress_clear(void);

/* Report text that another program printed to the terminal. */
void progress_passed(const char *text, size_t len);

/* system.c: the machine on which raidctl runs */

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/*
 * Block the signals in @numbers, which ends with 0, also in threads that start later, and read them from a descriptor.
 * Return: a non-blocking descriptor of struct signalfd_siginfo, or -errno.
 */
int signals_open(const int *numbers);

/* Does this process have CAP_SYS_ADMIN? */
bool is_admin(void);

/* The advice to root of a container that lacks capabilities. */
#define NEEDED_IN_CONTAINER "a container needs --privileged, or the capabilities BPF, PERFMON and SYS_ADMIN outside of a user namespace"

/* May this process read all counters and the last requests: does it have CAP_PERFMON or CAP_SYS_ADMIN? */
bool may_observe(void);

/* Is this a guest of the lab? @ret gets the profiles of its simulated devices, separated by ", ", or "". */
bool lab_profile(char *ret, size_t size);

/* Are there simulated devices? */
bool lab_has_devices(void);

/* Is this a guest with only simulated PCI devices? */
bool lab_has_all_pci(void);

/*
 * Configuration of the first simulated device, as "name=...,array.level=raid0,...": its profile and the changes of
 * --set. Return: false if it is not known or longer than @size. A device that a process of the host simulates has none.
 */
bool lab_config(char *ret, size_t size);

/* Return: "simulated", or "real" if only the devices are simulated, but not the clock and the processors. */
const char *lab_time(void);

/* The source of this guest's kernel, such as "linux-source 6.1.192-2". Return: false if the lab does not name it. */
bool lab_kernel(char *ret, size_t size);

#endif
