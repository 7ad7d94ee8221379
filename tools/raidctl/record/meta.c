// SPDX-License-Identifier: GPL-2.0-or-later

/* What a recording says of itself. */

#include "record/run.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/base.h"
#include "format/format.h"
#include "store/machine.h"

/* The command as a JSON array: words may hold blanks and quotes. */
static int put_command(struct store *store, char **command)
{
	struct json_object *array = json_object_new_array();
	const char *text = NULL;
	int err = 0;

	for (; *command && !err; command++)
		err = json_append(array, *command);
	if (!err)
		text = json_object_to_json_string_ext(array, JSON_C_TO_STRING_NOSLASHESCAPE);
	err = text ? store_put_meta(store, "command", text) : -ENOMEM;
	json_object_put(array);
	return err;
}

static int put_number(struct store *store, const char *key, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return store_put_meta(store, key, text);
}

static int put_machine(struct store *store)
{
	char profile[DISK_NAME], started[64], kernel[PATH_MAX], config[PATH_MAX];
	time_t now = time(NULL);
	struct utsname uts;
	struct tm utc;
	int err;

	uname(&uts);
	gmtime_r(&now, &utc);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	err = store_put_meta(store, "kernel", uts.release);
	if (!err)
		err = store_put_meta(store, "machine", uts.machine);
	if (!err)
		err = store_put_meta(store, "hostname", uts.nodename);
	if (!err)
		err = store_put_meta(store, "started_utc", started);
	if (!err)
		err = store_put_meta(store, "simulated",
				     lab_profile(profile, sizeof(profile)) ?
				     "yes" : "no");
	if (!err && profile[0])
		err = store_put_meta(store, "lab_profile", profile);
	if (!err && profile[0] && lab_config(config, sizeof(config)))
		err = store_put_meta(store, "lab_config", config);
	if (!err && profile[0])
		err = store_put_meta(store, "lab_time", lab_time());
	if (!err && lab_kernel(kernel, sizeof(kernel)))
		err = store_put_meta(store, "lab_kernel", kernel);
	return err;
}

static int put_notes(struct store *store, const struct record_facts *facts)
{
	struct note_row row = { .time_ns = facts->start_ns };
	int err = 0;

	for (size_t i = 0; i < facts->notes->nr && !err; i++) {
		snprintf(row.text, sizeof(row.text), "%s",
			 facts->notes->word[i]);
		err = store_put_note(store, &row);
	}
	return err;
}

static int put_module(struct store *store, const struct record_facts *facts)
{
	int err = store_put_meta(store, "tool_version", facts->tool_version);

	if (!err)
		err = store_put_meta(store, "module_version",
				     facts->info->version);
	if (!err)
		err = store_put_meta(store, "unavailable",
				     facts->info->unavailable);
	return err ? err : put_number(store, "abi", facts->info->abi);
}

int record_meta_put(struct store *store, const struct record_facts *facts)
{
	int err = store_begin(store);

	if (!err)
		err = put_module(store, facts);
	if (!err)
		err = put_number(store, "interval_ns", facts->interval_ns);
	if (!err)
		err = store_put_meta(store, "interval",
				     facts->steady ? "steady" : "doubling");
	if (!err)
		err = put_number(store, "start_ns", facts->start_ns);
	if (!err)
		err = store_put_meta(store, "end", "running");
	if (!err)
		err = put_machine(store);
	if (!err && facts->command)
		err = put_command(store, facts->command);
	if (!err)
		err = put_notes(store, facts);
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}
