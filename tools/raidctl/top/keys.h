/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the keys of raidctl top do: a state machine; pure. */

#ifndef TOP_KEYS_H
#define TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/model.h"

/* Keys that are no character. */
#define TOP_KEY_UP		0x110000
#define TOP_KEY_DOWN		0x110001
#define TOP_KEY_ENTER		0x110002
#define TOP_KEY_BACKSPACE	0x110003
#define TOP_KEY_ESCAPE		0x110004

/* Limits of the interval. */
#define TOP_SHORTEST_NS		((uint64_t)50000000)
#define TOP_LONGEST_NS		((uint64_t)60000000000)

/**
 * enum top_mode - what the next key means
 * @TOP_WATCH: a command
 * @TOP_HELP: the end of the help
 * @TOP_VALUE: part of the new readahead
 * @TOP_CONFIRM: whether it shall be written
 */
enum top_mode {
	TOP_WATCH,
	TOP_HELP,
	TOP_VALUE,
	TOP_CONFIRM,
};

/**
 * enum top_action - what is left to the caller after a key
 * @TOP_NOTHING: to draw
 * @TOP_QUIT: to end
 * @TOP_MAY_WRITE: to see whether readahead may be changed, top_keys_ask()
 *	if so
 * @TOP_WRITE: to write keys->kib
 */
enum top_action {
	TOP_NOTHING,
	TOP_QUIT,
	TOP_MAY_WRITE,
	TOP_WRITE,
};

/**
 * struct top_keys - where the dialogue stands
 * @mode: what the next key means
 * @frozen: the picture stands still
 * @interval_ns: between snapshots
 * @digits: of the value as typed
 * @disk: the disk of the new readahead; it stays while another is selected
 * @kib: the value, in TOP_CONFIRM and with TOP_WRITE
 * @message: the last line of the screen, "" for none
 */
struct top_keys {
	enum top_mode mode;
	bool frozen;
	uint64_t interval_ns;
	char digits[10];
	struct rt_target disk;
	uint64_t kib;
	char message[160];
};

/**
 * top_key - a key was pressed
 * @keys: where the dialogue stands
 * @top: the rows
 * @key: a character or TOP_KEY_*
 */
enum top_action top_key(struct top_keys *keys, struct top *top, int key);

/* top_keys_ask - begin to ask for the readahead of a row */
void top_keys_ask(struct top_keys *keys, const struct top_row *row);

/* top_keys_say - set the message */
void top_keys_say(struct top_keys *keys, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* top_keys_prompt - the last line of the screen, "" for none */
void top_keys_prompt(const struct top_keys *keys, char *ret, size_t size);

/* top_readahead_text - "128 KiB (256 sectors)" */
char *top_readahead_text(char *ret, size_t size, uint64_t kib);

#endif
