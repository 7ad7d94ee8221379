// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfio-user: a simulated device for one virtual machine.
 *
 *   vfio-user --config KEY=VALUE,... --log FILE --status FILE [--number NUMBER] <LISTENING-SOCKET
 *
 * If a profile has several devices, NUMBER selects one, from 0.
 *
 * The program serves one client, in real time, until it disconnects. Then it writes the ground truth.
 * Exit status: 0 done, 1 failed, 2 usage, 3 the store is full: whoever writes on would fail one command after the
 * other.
 */
#include "server.h"
#include "media/media.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { VU_DONE, VU_FAILED, VU_USAGE, VU_STORE_FULL };

struct options {
	const char *config;
	const char *log;
	const char *status;
	u32 number;
};

static void write_log(FILE *file, const struct rl_device *device)
{
	struct rl_text text;
	char line[160];

	rl_text_init(&text, line, sizeof(line));
	rl_device_log_header(&text);
	fputs(line, file);
	for (u32 i = 0; i < device->log.count; i++) {
		rl_text_init(&text, line, sizeof(line));
		rl_device_log_line(&text, device, i);
		fputs(line, file);
	}
}

static void write_status(FILE *file, const struct rl_device *device)
{
	char lines[RL_STATUS_BYTES];
	struct rl_sums sums = { 0 };
	struct rl_text text;

	rl_sums_add(&sums, device);
	rl_text_init(&text, lines, sizeof(lines));
	rl_sums_show(&sums, device->kind->config(device)->name, &text);
	rl_device_show(device, 0, &text);
	fputs(lines, file);
}

static bool write_file(const char *name, const struct rl_device *device, bool log)
{
	FILE *file = fopen(name, "we");
	bool good = file;

	if (file) {
		if (log)
			write_log(file, device);
		else
			write_status(file, device);
		good = !ferror(file);
		good = !fclose(file) && good;
	}
	if (!good)
		fprintf(stderr, "vfio-user: %s: %s\n", name, strerror(errno));
	return good;
}

static bool exhausted(const struct vu_card *card)
{
	return card->device->kind->contents(card->device)->exhausted;
}

/* Wait until the client says something or the model's time has come. Return: whether there is a message. */
static bool wait_for_message(const struct vu_card *card)
{
	struct pollfd poll = { card->channel.socket, POLLIN, 0 };
	struct timespec left = { 0, 0 };
	u64 now = vu_now_ns();

	if (card->channel.head)
		return true;
	if (card->wake != RL_NEVER && card->wake > now) {
		left.tv_sec = (time_t)((card->wake - now) / RL_NS_PER_SECOND);
		left.tv_nsec = (long)((card->wake - now) % RL_NS_PER_SECOND);
	}
	return ppoll(&poll, 1, card->wake == RL_NEVER ? NULL : &left, NULL) > 0;
}

/* Return: 0 when the client has gone, ENOSPC when the store is full, another errno when something broke. */
static int serve(struct vu_card *card)
{
	bool good = true;

	while (good) {
		struct vu_message *message = NULL;

		if (wait_for_message(card)) {
			message = vu_receive(&card->channel);
			if (!message)
				return errno == ECONNRESET ? 0 : errno;
			good = vu_card_serve(card, message);
			vu_message_free(message);
		}
		vu_card_settle(card);
		if (exhausted(card))
			return ENOSPC;
	}
	return errno == EPIPE || errno == ECONNRESET ? 0 : errno;
}

static bool parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "log", required_argument, NULL, 'l' },
		{ "status", required_argument, NULL, 's' },
		{ "number", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'c')
			options->config = optarg;
		else if (option == 'l')
			options->log = optarg;
		else if (option == 's')
			options->status = optarg;
		else if (option == 'n' && optarg[0] >= '0' && optarg[0] <= '9' && !optarg[1])
			options->number = (u32)(optarg[0] - '0');
		else
			return false;
	}
	return optind == argc && options->config && options->log && options->status;
}

int main(int argc, char **argv)
{
	struct options options = { NULL, NULL, NULL, 0 };
	char error[RL_CONFIG_ERROR_BYTES];
	const struct rl_kind *kind;
	struct rl_config *config;
	static struct vu_card card;
	int socket, err;

	if (!parse(&options, argc, argv)) {
		fprintf(stderr, "usage: vfio-user --config KEY=VALUE,... --log FILE --status FILE "
			"[--number NUMBER] <LISTENING-SOCKET\n");
		return VU_USAGE;
	}
	kind = rl_kind_of(options.config);
	config = kind ? calloc(1, kind->keys->bytes) : NULL;
	if (!config) {
		fprintf(stderr, "vfio-user: config: %s\n", kind ? "out of memory" : "there is no such device");
		return VU_FAILED;
	}
	if (!rl_keys_parse(kind->keys, config, options.config, error)) {
		fprintf(stderr, "vfio-user: config: %s\n", error);
		return VU_FAILED;
	}
	if (options.number >= config->count) {
		fprintf(stderr, "vfio-user: --number %u: the profile has not so many devices\n", options.number);
		return VU_FAILED;
	}
	rl_keys_select(kind->keys, config, options.number);
	socket = accept(0, NULL, NULL);
	if (socket < 0 || !vu_card_init(&card, kind, config, socket)) {
		fprintf(stderr, "vfio-user: cannot start: %s\n", strerror(errno));
		return VU_FAILED;
	}
	err = serve(&card);
	if (err && !exhausted(&card))
		fprintf(stderr, "vfio-user: the connection broke: %s\n", strerror(err));
	if (!write_file(options.log, card.device, true) || !write_file(options.status, card.device, false))
		return VU_FAILED;
	if (exhausted(&card))
		return VU_STORE_FULL;
	return err ? VU_FAILED : VU_DONE;
}
