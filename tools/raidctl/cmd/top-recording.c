// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl top of a recording: what was counted, an interval at a time. */

#include "cmd/top-recording.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/signals.h"
#include "base/units.h"
#include "disk/disk.h"
#include "store/store.h"
#include "top/replay.h"
#include "top/view.h"

/**
 * struct player - a run of raidctl top on a recording
 * @replay: the recording, and where in it
 * @top: what is shown
 * @keys: where the dialogue stands
 * @simulated: profile of the simulated controller
 * @shown_ns: when the interval was first on the screen
 * @err: -errno of what cannot be read, 0 while all can
 */
struct player {
	struct replay replay;
	struct top top;
	struct top_keys keys;
	char simulated[DISK_NAME];
	uint64_t shown_ns;
	int err;
};

bool is_recording(const char *word)
{
	char path[512];
	struct stat file;

	/* What is called as a disk is one. */
	if (snprintf(path, sizeof(path), "/sys/class/block/%s", word) >= (int)sizeof(path) ||
	    (!strchr(word, '/') && !access(path, F_OK)))
		return false;
	return !stat(word, &file) && S_ISREG(file.st_mode);
}

static void go(struct player *player, enum top_action where)
{
	player->err = replay_go(&player->replay, &player->top, where,
				player->keys.interval_ns);
	player->shown_ns = clock_ns(CLOCK_MONOTONIC);
}

/* Returns whether to go on. */
static bool take_keys(struct player *player)
{
	int key;

	while (!player->err && (key = top_view_key())) {
		uint64_t interval_ns = player->keys.interval_ns;
		enum top_action action = top_key(&player->keys, &player->top, key);

		if (action == TOP_QUIT)
			return false;
		if (action != TOP_NOTHING || interval_ns != player->keys.interval_ns)
			go(player, action);
	}
	return true;
}

static bool take_signal(int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo != SIGWINCH)
		return false;
	top_view_resize();
	return true;
}

/* Milliseconds until what is played goes on, -1 for never. */
static int time_left(const struct player *player)
{
	uint64_t length = player->replay.to_ns - player->replay.from_ns;
	uint64_t end = player->shown_ns + length;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (player->keys.frozen)
		return -1;
	return now >= end ? 0 : (int)((end - now + 999999) / 1000000);
}

static void run_view(struct player *player, int signals)
{
	char when[160];
	struct top_picture picture = {
		.top = &player->top, .keys = &player->keys,
		.simulated = player->simulated, .when = when,
	};
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	bool go_on = true;

	while (go_on && !player->err) {
		int left = time_left(player);

		if (!left) {
			player->keys.frozen = replay_at_end(&player->replay);
			go(player, player->keys.frozen ? TOP_NOTHING : TOP_ON);
			continue;
		}
		replay_when(&player->replay, when, sizeof(when));
		top_view_draw(&picture);
		poll(fds, 2, left);
		if (fds[1].revents & POLLIN)
			go_on = take_signal(signals);
		/* Keys that came before the terminal went are not wanted. */
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			go_on = false;
		else if (go_on && (fds[0].revents & POLLIN))
			go_on = take_keys(player);
		fds[0].revents = 0;
		fds[1].revents = 0;
	}
}

static int watch(struct player *player)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGWINCH, 0 };
	int signals = signals_open(numbers), status = 0;

	if (signals < 0)
		return fail("top: %s", strerror(-signals));
	if (top_view_begin())
		status = fail("top: nothing is known of a terminal TERM=%s; set TERM to what it is, for example xterm or vt100",
			      getenv("TERM") ? getenv("TERM") : "");
	else
		run_view(player, signals);
	top_view_end();
	close(signals);
	return status;
}

int top_recording(const char *path, uint64_t interval_ns)
{
	struct player player = {
		.keys = { .interval_ns = interval_ns, .frozen = true, .replay = true },
	};
	struct store *store;
	int status = 0;

	if (store_open(path, &store))
		return fail("%s: %s", path, store_error(NULL));
	player.err = replay_begin(store, path, &player.top, interval_ns,
				  &player.replay);
	if (player.err == -ENODATA) {
		status = fail("%s: holds no sample", path);
	} else if (!player.err) {
		if (!strcmp(recording_meta(&player.replay.recording, "simulated"), "yes"))
			snprintf(player.simulated, sizeof(player.simulated), "%.*s",
				 DISK_NAME - 1,
				 recording_meta(&player.replay.recording, "lab_profile"));
		status = watch(&player);
	}
	if (player.err && player.err != -ENODATA)
		status = fail("%s: cannot be read: %s", path, store_error(store));
	top_free(&player.top);
	replay_end(&player.replay);
	store_close(store);
	return status;
}
