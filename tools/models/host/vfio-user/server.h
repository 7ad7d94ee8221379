/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated device as a program, which QEMU connects to. */
#ifndef VU_SERVER_H
#define VU_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include "protocol.h"
#include "host/kinds/kinds.h"

/* Messages over the socket. */

/**
 * struct vu_message - a message as it came
 * @header: size is checked: 16 to 16 + VU_MAX_PAYLOAD
 * @fds: descriptors that came along; whoever keeps one sets it to -1
 * @nr_fds: how many
 * @next: in the queue of the channel
 * @length: bytes of @payload
 * @payload: what follows the header
 */
struct vu_message {
	struct vu_header header;
	int fds[VU_MAX_FDS];
	size_t nr_fds;
	struct vu_message *next;
	size_t length;
	uint8_t payload[];
};

/**
 * struct vu_channel - the connection to the client
 * @socket: a stream socket
 * @id: of our last request
 * @head: commands that came while we waited for a reply, oldest first
 * @tail: where the next one goes
 */
struct vu_channel {
	int socket;
	uint16_t id;
	struct vu_message *head;
	struct vu_message **tail;
};

void vu_channel_init(struct vu_channel *channel, int socket);

/**
 * vu_receive() - the next message, one that waits already or else from the socket
 *
 * Return: a message, to be freed with vu_message_free(), or NULL with errno set
 * when the client has gone (errno 0) or does not speak the protocol.
 */
struct vu_message *vu_receive(struct vu_channel *channel);
void vu_message_free(struct vu_message *message);

/* Answer a command unless it wants no answer. @error is an errno or 0. */
bool vu_reply(struct vu_channel *channel, const struct vu_message *command, int error,
	      const void *payload, size_t length);

/**
 * vu_ask() - send a command of ours and wait for its reply
 * @data: follows @fixed in the message
 *
 * Commands that come meanwhile wait their turn.
 *
 * Return: the reply, to be freed, or NULL if it is an error or the connection broke.
 */
struct vu_message *vu_ask(struct vu_channel *channel, enum vu_command command, const void *fixed,
			  size_t fixed_length, const void *data, size_t length);

/* The guest's memory, as far as the client lets us see it. */

/**
 * struct vu_map - a range of bus addresses
 * @address: first address
 * @size: bytes, not 0; the end does not wrap
 * @bytes: where we have it mapped; NULL: only messages reach it
 * @writable: the device may write it
 */
struct vu_map {
	uint64_t address;
	uint64_t size;
	uint8_t *bytes;
	bool writable;
};

#define VU_MAX_MAPS	256	/* QEMU's pc machine has about ten at a time */

/**
 * struct vu_memory - all ranges
 * @channel: for ranges that messages reach
 * @map: in no order, not overlapping
 * @nr_maps: how many
 */
struct vu_memory {
	struct vu_channel *channel;
	struct vu_map map[VU_MAX_MAPS];
	size_t nr_maps;
};

/* Both return: 0 or an errno. vu_memory_map() takes the descriptor of @message if there is one. */
int vu_memory_map(struct vu_memory *memory, struct vu_message *message);
int vu_memory_unmap(struct vu_memory *memory, const struct vu_message *message);

/* Both return: false if any of the range is not memory that the device may so use. */
bool vu_memory_read(struct vu_memory *memory, uint64_t address, void *to, size_t length);
bool vu_memory_write(struct vu_memory *memory, uint64_t address, const void *from, size_t length);

/* A simulated device as a PCI function of a virtual machine. */

#define VU_CONFIG_BYTES	256U

/**
 * struct vu_card - the function
 * @device: the model
 * @channel: to the client, which is QEMU
 * @memory: what the device can reach by DMA
 * @config: configuration space; the client emulates base addresses itself
 * @identity: what the device says that it is
 * @wake: when the model wants to be called, RL_NEVER: not
 * @irq_fd: eventfd that raises the interrupt, -1: the client has given none
 * @level: what the model drives the line to
 * @masked: the line was signalled and not unmasked since
 * @reported: the message of the model was printed
 */
struct vu_card {
	struct rl_device *device;
	struct vu_channel channel;
	struct vu_memory memory;
	u8 config[VU_CONFIG_BYTES];
	struct rl_pci identity;
	u64 wake;
	int irq_fd;
	bool level;
	bool masked;
	bool reported;
};

/* Return: false when there is not enough memory. @socket: connected. */
bool vu_card_init(struct vu_card *card, const struct rl_kind *kind, const struct rl_config *config, int socket);

/* Carry out one command and answer it. Return: false when the connection broke. */
bool vu_card_serve(struct vu_card *card, struct vu_message *message);

/* Call the model if its time has come, and raise the interrupt if it is due. */
void vu_card_settle(struct vu_card *card);

/* CLOCK_MONOTONIC of this machine, the clock of the ground truth. */
u64 vu_now_ns(void);

#endif
