// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl top of a recording: what was counted, an interval at a time. */

#include "cmd/top-recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
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

/* Milliseconds until what is played goes on, -1 for never. */
static int time_left(const struct player *player)
{
	uint64_t length = player->replay.to_ns - player->replay.from_ns;

	return player->keys.frozen ? -1 : top_events_left(player->shown_ns + length);
}

static void run_view(struct player *player, int signals)
{
	char when[160];
	struct top_picture picture = {
		.top = &player->top, .keys = &player->keys,
		.simulated = player->simulated, .when = when,
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
		switch (top_events_wait(signals, left)) {
		case TOP_EVENT_END:
			go_on = false;
			break;
		case TOP_EVENT_KEYS:
			go_on = take_keys(player);
			break;
		case TOP_EVENT_NONE:
			break;
		}
	}
}

static int watch(struct player *player)
{
	int signals = top_events_open(), status;

	if (signals < 0)
		return EXIT_FAILED;
	status = top_events_screen();
	if (!status)
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
