// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: bytes become the messages of a vfio-user client to the server. The
 * server may refuse them or end the connection. It may not crash, use memory that
 * it was not given, or keep a message. The first byte chooses the array, and
 * whether the rest is framed.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "3w-9xxx/controller/controller.h"
#include "server.h"
#include "reached.h"

#define CHUNKS		8
#define INPUT_BYTES	65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void *fuzz_alloc(size_t alignment, size_t bytes);
int fuzz_clock(clockid_t clock, struct timespec *now);

static struct vu_card card;
static void *chunk[CHUNKS];
static unsigned int chunks;

/* The array behind it; faults are by time alone, since few inputs get as far as a command. */
static const char *const configs[] = {
	"store_mib=4,log_entries=50,array.drives=4,controller.cache_mib=1",
	"store_mib=8,log_entries=50,array.level=raid5,array.drives=4,drive.sectors=65536,fault.remove_member=2,"
	"fault.remove_ms=2,fault.second_member=4,fault.second_ms=9,fault.replace_ms=2,fault.full_ms=1",
	"store_mib=12,log_entries=50,array.level=raid5,array.drives=3,drive.sectors=65536,controller.battery=0,"
	"fault.power_ms=3,fault.reset_ms=5,array.verify=1",
	"store_mib=4,log_entries=50,array.drives=4,controller.count=2,fault.controller=1,fault.gone_ms=2",
};
static long clock_ms;

/* In place of clock_gettime() in card.c: a millisecond for each look at it, so that an input means the same each time. */
int fuzz_clock(clockid_t clock, struct timespec *now)
{
	(void)clock;
	clock_ms++;
	*now = (struct timespec){ clock_ms / 1000, clock_ms % 1000 * 1000000 };
	return 0;
}

/* In place of aligned_alloc() in card.c: the same memory for each input. */
void *fuzz_alloc(size_t alignment, size_t bytes)
{
	if (chunks == CHUNKS)
		return NULL;
	if (!chunk[chunks])
		chunk[chunks] = aligned_alloc(alignment, bytes);
	return chunk[chunks++];
}

/*
 * Most bytes are framed as messages with a correct header, since few others
 * get beyond the first check: command, flags, length, so many bytes.
 */
static size_t frame(const uint8_t *data, size_t size, uint8_t *to)
{
	size_t used = 0;

	while (size >= 4 && used + sizeof(struct vu_header) + 256 < INPUT_BYTES) {
		struct vu_header header = { .id = data[3], .command = data[0] % 16, .flags = data[1] };
		size_t length = data[2] < size - 4 ? data[2] : size - 4;

		header.size = (uint32_t)(sizeof(header) + length);
		memcpy(to + used, &header, sizeof(header));
		memcpy(to + used + sizeof(header), data + 4, length);
		used += header.size;
		data += 4 + length;
		size -= 4 + length;
	}
	return used;
}

static void clean_up(int client)
{
	size_t i;

	while (card.channel.head)
		vu_message_free(vu_receive(&card.channel));
	for (i = 0; i < card.memory.nr_maps; i++)
		if (card.memory.map[i].bytes)
			munmap(card.memory.map[i].bytes, card.memory.map[i].size);
	if (card.irq_fd >= 0)
		close(card.irq_fd);
	close(card.channel.socket);
	free(card.device);
	close(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct timeval soon = { 0, 1000 };
	static uint8_t sent[INPUT_BYTES];
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;
	struct vu_message *message;
	size_t length;
	int pair[2];
	bool good = true;

	if (!size || size > INPUT_BYTES / 16)
		return 0;
	length = *data & 1 ? frame(data + 1, size - 1, sent) : size - 1;
	if (!(*data & 1))
		memcpy(sent, data + 1, length);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || send(pair[1], sent, length, MSG_DONTWAIT) < 0)
		abort();
	shutdown(pair[1], SHUT_WR);
	/* Nobody reads the answers: the server gives up when there is no more room for them. */
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	chunks = 0;
	clock_ms = 0;
	memset(&card, 0, sizeof(card));
	if (!rl_keys_parse(&tw_keys, &config.base, configs[*data / 2 % RL_COUNT(configs)], error))
		abort();
	rl_keys_select(&tw_keys, &config.base, config.base.count - 1);
	if (!vu_card_init(&card, &tw_kind, &config.base, pair[0]))
		abort();
	while (good && (message = vu_receive(&card.channel))) {
		good = vu_card_serve(&card, message);
		vu_message_free(message);
		vu_card_settle(&card);
		reached_look((const struct tw_model *)card.device);
	}
	clean_up(pair[1]);
	return 0;
}
