// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the keys that the models accept, one per line: driver, name, type, lowest, highest, preset; tab between. The
 * models' own tables are the only list of keys: profile.py checks profiles against this. The last line has the bytes of
 * one entry of the ground-truth log.
 *
 * With key=value,... as its argument: says whether the model takes that. Status 1 and "KEY: why" if it does not.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/kinds/kinds.h"

/* Return: the exit status. */
static int judge(const char *text)
{
	const struct rl_kind *kind = rl_kind_of(text);
	char error[RL_CONFIG_ERROR_BYTES] = "device: there is none of that name";
	struct rl_config *config = kind ? calloc(1, kind->keys->bytes) : NULL;

	if (config && rl_keys_parse(kind->keys, config, text, error))
		return 0;
	puts(error);
	return 1;
}

static void print_keys(const struct rl_keys *keys)
{
	static const char *const types[] = {
		[RL_KEY_U32] = "number", [RL_KEY_U64] = "number", [RL_KEY_TEXT] = "text", [RL_KEY_CHOICE] = "choice",
	};

	for (u32 i = 0; i < keys->nr; i++) {
		const struct rl_key *key = &keys->key[i];

		printf("%s\t%s\t%s\t%llu\t", keys->driver, key->name, types[key->type], (unsigned long long)key->low);
		if (key->type == RL_KEY_CHOICE)
			for (u32 choice = 0; key->choices[choice]; choice++)
				printf("%s%s", choice ? "," : "", key->choices[choice]);
		else
			printf("%llu", (unsigned long long)key->high);
		if (key->preset_text)
			printf("\t%s\n", key->preset_text);
		else if (key->type == RL_KEY_CHOICE)
			printf("\t%s\n", key->choices[key->preset]);
		else
			printf("\t%llu\n", (unsigned long long)key->preset);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return judge(argv[1]);
	for (u32 i = 0; rl_kinds[i]; i++)
		print_keys(rl_kinds[i]->keys);
	printf("log entry bytes\t%zu\n", sizeof(struct rl_log_entry));
	return 0;
}
