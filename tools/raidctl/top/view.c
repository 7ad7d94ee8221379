// SPDX-License-Identifier: GPL-2.0-or-later

/* The screen of raidctl top. The only file that uses ncurses. */

#include "top/top.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "base/base.h"

#define BAR_LEAST	4
#define BAR_MOST	40
/* A blank before the bar; a blank and five characters after it. */
#define BAR_CELL(bar)	((bar) + 7)
#define NAME_WIDTH	9
#define HEAD_LINES	3
#define DETAIL_LINES	14
#define STATES_BAR	10
/* A row, losses and the prompt. */
#define LEAST_LINES	(HEAD_LINES + 3)
#define LEAST_WIDTH	40
#define TEXT_MAX	256

enum { PAIR_READ = 1, PAIR_WRITE, PAIR_ALARM };

/* A column of the screen. A narrow screen drops the last ones first. */
struct cell {
	enum top_column column;
	int width;
	const char *above;
	const char *head;
};

static const struct cell cells[] = {
	{ TOP_BUSY, STATES_BAR + 2, "", "time" },
	{ TOP_READ_RATE, 8, "MiB/s", "read" },
	{ TOP_WRITE_RATE, 8, "MiB/s", "write" },
	{ TOP_READ_DEPTH, 0, "in flight:", "reads" },
	{ TOP_WRITE_DEPTH, 0, "in flight:", "writes" },
	{ TOP_SIZE, 9, "request", "size" },
	{ TOP_SEQUENTIAL, 6, "seq.", "%" },
	{ TOP_SEEKS, 8, "", "seeks/s" },
	{ TOP_LATENCY, 10, "D2C", "p99" },
	{ TOP_MERGES, 10, "", "merges/s" },
	{ TOP_SPLITS, 10, "", "splits/s" },
	{ TOP_READAHEAD, 11, "readahead", "KiB" },
};

#define NR_CELLS	(sizeof(cells) / sizeof(cells[0]))

static SCREEN *screen;
static bool styled;

/* Checked before newterm(), which leaks memory when it fails. */
static bool is_known_terminal(void)
{
	int result;

	if (setupterm(NULL, STDOUT_FILENO, &result) != OK)
		return false;
	del_curterm(cur_term);
	return true;
}

int top_view_begin(void)
{
	const char *no_color = getenv("NO_COLOR");

	if (is_known_terminal()) {
		setlocale(LC_ALL, "");
		set_escdelay(50);
		screen = newterm(NULL, stdout, stdin);
	}
	if (!screen)
		return fail("top: the terminal type TERM=%s is unknown; set TERM to the type of this terminal, such as xterm or vt100",
			    getenv("TERM") ? getenv("TERM") : "");
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	styled = !no_color || !no_color[0];
	if (styled && has_colors()) {
		start_color();
		use_default_colors();
		init_pair(PAIR_READ, COLOR_GREEN, -1);
		init_pair(PAIR_WRITE, COLOR_YELLOW, -1);
		init_pair(PAIR_ALARM, COLOR_RED, -1);
	}
	return EXIT_DONE;
}

void top_view_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

static void resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

int top_view_key(void)
{
	static const int moves[][2] = {
		{ KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN },
	};
	int key = getch();

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i][0] == key)
			return moves[i][1];
	switch (key) {
	case ERR:
	case KEY_RESIZE:
		return 0;
	case KEY_ENTER:
	case '\n':
	case '\r':
		return TOP_KEY_ENTER;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		return TOP_KEY_BACKSPACE;
	case 27:
		return TOP_KEY_ESCAPE;
	}
	return key;
}

/* Print text up to the edge of the screen. */
static void put(int y, int x, int attributes, const char *text)
{
	char *shown = y < LINES && x < COLS ? foreign_visible(text, SIZE_MAX, NULL) : NULL;

	if (!shown)
		return;
	if (styled)
		attron(attributes);
	mvaddnstr(y, x, shown, (int)foreign_cut(shown, (size_t)(COLS - x)));
	if (styled)
		attroff(attributes);
	free(shown);
}

static void draw_depth(int y, int x, int bar, const struct top_row *row,
		       bool reads, uint64_t full)
{
	const struct direction_stats *stats =
		reads ? &row->read.stats : &row->write.stats;
	double mean = top_value(row, reads ? TOP_READ_DEPTH : TOP_WRITE_DEPTH);
	char number[TOP_TEXT], text[TEXT_MAX];

	top_bar_text(text, bar, mean, stats->depth_max, full);
	put(y, x + 1, COLOR_PAIR(reads ? PAIR_READ : PAIR_WRITE), text);
	top_depth_text(number, stats, mean);
	snprintf(text, sizeof(text), "%5s", number);
	put(y, x + bar + 2, 0, text);
}

/* The columns that fit. */
struct layout {
	size_t nr;	/* number of cells[] */
	int bar;	/* width of a bar */
};

static struct layout lay_out(int width)
{
	struct layout layout = { 0, BAR_LEAST };
	int used = NAME_WIDTH;

	while (layout.nr < NR_CELLS) {
		/* If the disk and its bars fit, bars are at least 6 wide. */
		int least = layout.nr < 6 ? BAR_LEAST : 6;
		int bars = layout.nr < 5 ? 0 : 2 * (least - BAR_LEAST);
		int cell = cells[layout.nr].width;

		if (!cell)
			cell = BAR_CELL(BAR_LEAST);
		if (used + cell + bars > width)
			break;
		used += cell;
		layout.nr++;
	}
	layout.bar += (width - used) / 2;
	if (layout.bar > BAR_MOST)
		layout.bar = BAR_MOST;
	return layout;
}

static int cell_width(const struct layout *layout, size_t i)
{
	return cells[i].width ? cells[i].width : BAR_CELL(layout->bar);
}

static void draw_head(const struct layout *layout, enum top_column sort)
{
	char text[TEXT_MAX];
	int x = NAME_WIDTH;

	put(2, 1, sort == TOP_DISK ? A_BOLD | A_UNDERLINE : A_BOLD, "disk");
	for (size_t i = 0; i < layout->nr; i++) {
		bool sorted = cells[i].column == sort;
		int width = cell_width(layout, i);

		snprintf(text, sizeof(text), "%*s", width, cells[i].above);
		put(1, x, A_BOLD, text);
		snprintf(text, sizeof(text), "%s%s", sorted ? "*" : "",
			 cells[i].head);
		put(2, x + width - (int)strlen(text),
		    sorted ? A_BOLD | A_UNDERLINE : A_BOLD, text);
		x += width;
	}
}

static void draw_row(int y, const struct layout *layout,
		     const struct top_row *row, bool picked, uint64_t full)
{
	const char *state = top_state_text(row);
	char text[TEXT_MAX], value[TOP_TEXT];
	int x = NAME_WIDTH;

	snprintf(text, sizeof(text), "%c%-*.*s", picked ? '>' : ' ',
		 NAME_WIDTH - 1, NAME_WIDTH - 1, row->target.disk);
	put(y, 0, picked ? A_BOLD | A_REVERSE : A_NORMAL, text);
	if (state) {
		put(y, x + 1, row->state == TOP_FRESH ? A_NORMAL :
						       COLOR_PAIR(PAIR_ALARM),
		    state);
		return;
	}
	for (size_t i = 0; i < layout->nr; i++) {
		int width = cell_width(layout, i);

		if (cells[i].column == TOP_BUSY) {
			top_states_bar(text, STATES_BAR, &row->states);
			put(y, x + 2, COLOR_PAIR(PAIR_READ), text);
		} else if (!cells[i].width) {
			draw_depth(y, x, layout->bar, row,
				   cells[i].column == TOP_READ_DEPTH, full);
		} else {
			top_cell_text(value, row, cells[i].column);
			snprintf(text, sizeof(text), "%*s", width, value);
			put(y, x, 0, text);
		}
		x += width;
	}
}

static void draw_detail(int y, const struct top_row *row)
{
	int middle = 20 + (COLS - 20) / 2;
	char text[TEXT_MAX], readahead[64], value[TEXT_MAX - 32];

	top_readahead_text(readahead, sizeof(readahead),
			   row->readahead_sectors * SECTOR_BYTES / 1024);
	snprintf(text, sizeof(text), "%.31s  %.31s %.31s  readahead %s",
		 row->target.disk, row->target.above.driver, row->target.above.hctl,
		 row->state == TOP_GONE ? "n/a" : readahead);
	put(y, 1, A_BOLD, text);
	if (row->state != TOP_COUNTED) {
		put(y + 2, 1, 0, top_state_text(row));
		return;
	}
	top_states_text(value, sizeof(value), &row->states);
	put(++y, 1, 0, value);
	snprintf(text, sizeof(text), "over %.2f s", row->seconds);
	put(y + 1, 1, 0, text);
	put(y + 1, 20, A_BOLD, "read");
	put(y + 1, middle, A_BOLD, "write");
	for (int i = 0; i < TOP_DETAILS; i++) {
		put(y + 2 + i, 1, 0, top_detail_label(i));
		top_detail_text(text, sizeof(text), row, true, i);
		put(y + 2 + i, 20, 0, text);
		top_detail_text(text, sizeof(text), row, false, i);
		put(y + 2 + i, middle, 0, text);
	}
	top_classes_text(value, sizeof(value), row);
	if (value[0]) {
		snprintf(text, sizeof(text), "seeks/s by class%s", value);
		put(y + 2 + TOP_DETAILS, 1, 0, text);
	}
	if (row->errors) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " requests FAILED since counting began",
			 row->errors);
		put(y + 3 + TOP_DETAILS, 1, A_BOLD | COLOR_PAIR(PAIR_ALARM), text);
	}
}

static void draw_title(const struct top_picture *picture)
{
	const struct top_keys *keys = picture->keys;
	time_t now = time(NULL);
	char text[TEXT_MAX], clock[16];
	struct tm local;

	localtime_r(&now, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	snprintf(text, sizeof(text),
		 "raidctl top (%s%s)  every %g s%s  sorted by %s  full bar = %" PRIu64,
		 picture->source, picture->simulated[0] ? ", simulated" : "",
		 (double)keys->interval_ns / (double)NS_PER_S,
		 keys->frozen ? "  FROZEN" : "",
		 top_column_name(picture->top->sort),
		 top_full_depth(picture->top));
	put(0, 0, A_BOLD, text);
	if (COLS > (int)(strlen(text) + strlen(clock)))
		put(0, COLS - (int)strlen(clock), 0, clock);
}

static void draw_prompt(const struct top_keys *keys)
{
	char text[TEXT_MAX];

	top_keys_prompt(keys, text, sizeof(text));
	if (text[0])
		put(LINES - 1, 0, A_BOLD, text);
	else
		put(LINES - 1, 0, 0,
		    "arrows pick  s sort  f freeze  + - interval  r readahead  ? help  q quit");
	curs_set(keys->mode == TOP_VALUE);
}

static void draw_help(void)
{
	const char *line;

	for (int i = 0; (line = top_help_line(i)); i++)
		put(i, 1, i ? A_NORMAL : A_BOLD, line);
}

static void draw_list(const struct top *top)
{
	const struct top_row *picked = top_picked(top);
	char losses[TEXT_MAX];
	bool detail = LINES >= LEAST_LINES + DETAIL_LINES;
	int room = LINES - HEAD_LINES - 2 - (detail ? DETAIL_LINES : 0);
	int at = picked ? (int)(picked - top->rows) : 0;
	int first = at >= room ? at - room + 1 : 0;
	struct layout layout = lay_out(COLS);
	uint64_t full = top_full_depth(top);
	int y = HEAD_LINES;

	top_losses_text(losses, sizeof(losses), top);
	put(LINES - 2, 0, A_BOLD | COLOR_PAIR(PAIR_ALARM), losses);
	draw_head(&layout, top->sort);
	for (int i = first; i < (int)top->nr && i < first + room; i++, y++)
		draw_row(y, &layout, &top->rows[i], i == at, full);
	if (!top->nr)
		put(y, 1, 0, "no disk is attached any more");
	if (picked && detail)
		draw_detail(y + 1, picked);
}

void top_view_draw(const struct top_picture *picture)
{
	erase();
	if (LINES < LEAST_LINES || COLS < LEAST_WIDTH) {
		put(0, 0, 0, "the terminal is too small");
	} else if (picture->keys->mode == TOP_HELP) {
		draw_help();
	} else {
		draw_title(picture);
		draw_list(picture->top);
		draw_prompt(picture->keys);
	}
	refresh();
}

int top_events_open(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGWINCH, 0 };
	int signals = signals_open(numbers);

	if (signals >= 0)
		return signals;
	fail("top: %s", strerror(-signals));
	return -1;
}

/* Return: does the signal end the program? */
static bool take_signal(int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo != SIGWINCH)
		return true;
	resize();
	return false;
}

enum top_event top_events_wait(int signals, int left_ms)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};

	poll(fds, 2, left_ms);
	if (fds[1].revents & POLLIN && take_signal(signals))
		return TOP_EVENT_END;
	/* Ignore keys that were typed before the terminal closed. */
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		return TOP_EVENT_END;
	return fds[0].revents & POLLIN ? TOP_EVENT_KEYS : TOP_EVENT_NONE;
}

int top_events_left(uint64_t end_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now >= end_ns ? 0 : (int)((end_ns - now + 999999) / 1000000);
}
