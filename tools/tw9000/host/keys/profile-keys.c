// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the keys that the model accepts, one per line: name, type, lowest, highest, preset; tab between. The model's
 * own table is the only list of them: profile.py checks profiles against this. A last line says what one entry of the
 * ground-truth log takes.
 *
 * With key=value,... as its argument: says whether the model takes that. Status 1 and "KEY: why" if it does not.
 */
#include <stdio.h>

#include "wire/config-keys.c"
#include "wire/config.c"
#include "controller/log.h"

/* Return: the exit status. */
static int judge(const char *text)
{
	char error[TW_CONFIG_ERROR_BYTES];
	struct tw_config config;

	if (tw_config_parse(&config, text, error))
		return 0;
	puts(error);
	return 1;
}

static void print_keys(void)
{
	static const char *const types[] = {
		[TW_KEY_U32] = "number", [TW_KEY_U64] = "number", [TW_KEY_TEXT] = "text", [TW_KEY_LEVEL] = "level",
	};

	for (u32 i = 0; i < tw_nr_keys; i++) {
		const struct tw_key *key = &tw_keys[i];

		printf("%s\t%s\t%llu\t", key->name, types[key->type], (unsigned long long)key->low);
		if (key->type == TW_KEY_LEVEL)
			for (size_t level = 0; level < TW_COUNT(tw_levels); level++)
				printf("%s%s", level ? "," : "", tw_levels[level]);
		else
			printf("%llu", (unsigned long long)key->high);
		if (key->preset_text)
			printf("\t%s\n", key->preset_text);
		else if (key->type == TW_KEY_LEVEL)
			printf("\t%s\n", tw_levels[key->preset]);
		else
			printf("\t%llu\n", (unsigned long long)key->preset);
	}
	printf("log entry bytes\t%zu\n", sizeof(struct tw_log_entry));
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return judge(argv[1]);
	print_keys();
	return 0;
}
