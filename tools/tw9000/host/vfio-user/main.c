// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfio-user: the simulated 3ware 9000 for one virtual machine.
 *
 *   vfio-user --config KEY=VALUE,... --log FILE --status FILE [--controller NUMBER] <LISTENING-SOCKET
 *
 * Of several controllers (controller.count) it is the one with that number, from 0.
 *
 * Serves one client, in real time, until it goes; then writes the ground truth.
 * Exit status: 0 done, 1 failed, 2 usage, 3 the store is full: whoever writes on would fail one command after the
 * other.
 */
#include "card.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { VU_DONE, VU_FAILED, VU_USAGE, VU_STORE_FULL };

struct options {
	const char *config;
	const char *log;
	const char *status;
	u32 controller;
};

static void write_log(FILE *file, const struct tw_log *log)
{
	fputs("sequence,request_id,opcode,name,unit,lba,sectors,arrival_ns,completion_ns,depth,status\n", file);
	for (u32 i = 0; i < log->count; i++) {
		const struct tw_log_entry *entry = tw_log_at(log, i);

		fprintf(file, "%u,%u,0x%02x,%s,", i + 1, entry->request_id, entry->opcode, tw_log_name(entry));
		if (entry->unit != TW_LOG_FIRMWARE)
			fprintf(file, "%u", entry->unit);
		fprintf(file, ",%llu,%u,%llu,", entry->lba, entry->sectors, entry->arrival_ns);
		if (entry->status == TW_LOG_GOOD || entry->status == TW_LOG_FAILED)
			fprintf(file, "%llu", entry->completion_ns);
		fprintf(file, ",%u,%s\n", entry->depth, tw_log_status_name(entry->status));
	}
}

static void write_status(FILE *file, const struct tw_model *model)
{
	fprintf(file, "simulated: yes\nprofile: %s\n", model->config.name);
	fprintf(file, "commands: %llu\nrefused_packets: %llu\n", model->nr_commands, model->nr_refused);
	fprintf(file, "log_entries: %u\nlog_lost: %llu\n", model->log.count, model->log.lost);
	fprintf(file, "store_bytes_used: %llu\nstore_bytes_limit: %llu\nstore_exhausted: %s\n",
		tw_store_used_bytes(&model->store), tw_store_limit_bytes(&model->store),
		model->store.exhausted ? "yes" : "no");
}

static bool write_file(const char *name, const struct tw_model *model, bool log)
{
	FILE *file = fopen(name, "we");
	bool good = file;

	if (file) {
		if (log)
			write_log(file, &model->log);
		else
			write_status(file, model);
		good = !ferror(file);
		good = !fclose(file) && good;
	}
	if (!good)
		fprintf(stderr, "vfio-user: %s: %s\n", name, strerror(errno));
	return good;
}

/* Wait until the client says something or the model's time has come. Return: whether there is a message. */
static bool wait_for_message(const struct vu_card *card)
{
	struct pollfd poll = { card->channel.socket, POLLIN, 0 };
	struct timespec left = { 0, 0 };
	u64 now = vu_now_ns();

	if (card->channel.head)
		return true;
	if (card->wake != TW_NEVER && card->wake > now) {
		left.tv_sec = (time_t)((card->wake - now) / TW_NS_PER_SECOND);
		left.tv_nsec = (long)((card->wake - now) % TW_NS_PER_SECOND);
	}
	return ppoll(&poll, 1, card->wake == TW_NEVER ? NULL : &left, NULL) > 0;
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
		if (card->model.store.exhausted)
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
		{ "controller", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	int found;

	while ((found = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (found == 'c')
			options->config = optarg;
		else if (found == 'l')
			options->log = optarg;
		else if (found == 's')
			options->status = optarg;
		else if (found == 'n' && optarg[0] >= '0' && optarg[0] <= '9' && !optarg[1])
			options->controller = (u32)(optarg[0] - '0');
		else
			return false;
	}
	return optind == argc && options->config && options->log && options->status;
}

int main(int argc, char **argv)
{
	struct options options = { NULL, NULL, NULL, 0 };
	char error[TW_CONFIG_ERROR_BYTES];
	struct tw_config config = { 0 };
	static struct vu_card card;
	int socket, err;

	if (!parse(&options, argc, argv)) {
		fprintf(stderr, "usage: vfio-user --config KEY=VALUE,... --log FILE --status FILE "
			"[--controller NUMBER] <LISTENING-SOCKET\n");
		return VU_USAGE;
	}
	if (!tw_config_parse(&config, options.config, error)) {
		fprintf(stderr, "vfio-user: config: %s\n", error);
		return VU_FAILED;
	}
	if (options.controller >= config.controller.count) {
		fprintf(stderr, "vfio-user: --controller %u: there are not so many\n", options.controller);
		return VU_FAILED;
	}
	tw_config_select(&config, options.controller);
	socket = accept(0, NULL, NULL);
	if (socket < 0 || !vu_card_init(&card, &config, socket)) {
		fprintf(stderr, "vfio-user: cannot start: %s\n", strerror(errno));
		return VU_FAILED;
	}
	err = serve(&card);
	if (err && !card.model.store.exhausted)
		fprintf(stderr, "vfio-user: the connection broke: %s\n", strerror(err));
	if (!write_file(options.log, &card.model, true) || !write_file(options.status, &card.model, false))
		return VU_FAILED;
	if (card.model.store.exhausted)
		return VU_STORE_FULL;
	return err ? VU_FAILED : VU_DONE;
}
