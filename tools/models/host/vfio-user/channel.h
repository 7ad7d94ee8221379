/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages over the socket. */
#ifndef VFIO_USER_CHANNEL_H
#define VFIO_USER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol.h"

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

#endif
