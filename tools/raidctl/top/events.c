// SPDX-License-Identifier: GPL-2.0-or-later

/* What raidctl top waits for: keys, signals, time. */


#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/base.h"
#include "top/view.h"

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

int top_events_screen(void)
{
	if (!top_view_begin())
		return EXIT_DONE;
	return fail("top: the terminal type TERM=%s is unknown; set TERM to the type of this terminal, such as xterm or vt100",
		    getenv("TERM") ? getenv("TERM") : "");
}

/* Whether it ends the program. */
static bool take_signal(int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo != SIGWINCH)
		return true;
	top_view_resize();
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
