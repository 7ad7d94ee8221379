// SPDX-License-Identifier: GPL-2.0-or-later
/* Framing, descriptors, replies, and commands that come while we wait for a reply. */
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define VU_OUR_IDS	0x8000	/* so that no id of ours looks like one of the client's */

void vu_channel_init(struct vu_channel *channel, int socket)
{
	memset(channel, 0, sizeof(*channel));
	channel->socket = socket;
	channel->tail = &channel->head;
}

void vu_message_free(struct vu_message *message)
{
	if (!message)
		return;
	for (size_t i = 0; i < message->nr_fds; i++)
		if (message->fds[i] >= 0)
			close(message->fds[i]);
	free(message);
}

/* Descriptors beyond what a message may have are closed. */
static void take_fds(struct msghdr *from, struct vu_message *message)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(from); c; c = CMSG_NXTHDR(from, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
			if (message->nr_fds < VU_MAX_FDS)
				message->fds[message->nr_fds++] = fd;
			else
				close(fd);
		}
	}
}

/* Return: whether @length bytes came; if not, errno is 0 when the client has closed the connection. */
static bool receive_bytes(int socket, void *to, size_t length, struct vu_message *message)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(VU_MAX_FDS * sizeof(int))];
	uint8_t *at = to;

	while (length) {
		struct iovec part = { at, length };
		struct msghdr header = {
			.msg_iov = &part, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : 0;
			return false;
		}
		take_fds(&header, message);
		at += got;
		length -= (size_t)got;
	}
	return true;
}

static struct vu_message *receive_from_socket(struct vu_channel *channel)
{
	struct vu_message *message = calloc(1, sizeof(*message)), *whole;
	int err = ENOMEM;

	if (!message || !receive_bytes(channel->socket, &message->header, sizeof(message->header), message)) {
		err = message ? errno : ENOMEM;
		goto fail;
	}
	if (message->header.size < sizeof(message->header) ||
	    message->header.size - sizeof(message->header) > VU_MAX_PAYLOAD) {
		err = EMSGSIZE;
		goto fail;
	}
	message->length = message->header.size - sizeof(message->header);
	whole = realloc(message, sizeof(*message) + message->length);
	if (!whole)
		goto fail;
	message = whole;
	if (receive_bytes(channel->socket, message->payload, message->length, message))
		return message;
	err = errno;
fail:
	vu_message_free(message);
	errno = err;
	return NULL;
}

struct vu_message *vu_receive(struct vu_channel *channel)
{
	struct vu_message *message = channel->head;

	if (!message)
		return receive_from_socket(channel);
	channel->head = message->next;
	if (!channel->head)
		channel->tail = &channel->head;
	message->next = NULL;
	return message;
}

/* Header and payload leave in one call: the client takes them for one message only then. */
static bool transmit(struct vu_channel *channel, struct vu_header *header, const void *fixed,
		     size_t fixed_length, const void *data, size_t length)
{
	struct iovec parts[] = {
		{ header, sizeof(*header) }, { (void *)fixed, fixed_length }, { (void *)data, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	size_t left = sizeof(*header) + fixed_length + length;

	header->size = (uint32_t)left;
	while (left) {
		ssize_t sent = sendmsg(channel->socket, &message, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		left -= (size_t)sent;
		for (size_t i = 0; sent && i < 3; i++) {
			size_t here = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;

			parts[i].iov_base = (uint8_t *)parts[i].iov_base + here;
			parts[i].iov_len -= here;
			sent -= (ssize_t)here;
		}
	}
	return true;
}

bool vu_reply(struct vu_channel *channel, const struct vu_message *command, int error,
	      const void *payload, size_t length)
{
	struct vu_header header = {
		.id = command->header.id,
		.command = command->header.command,
		.flags = VU_FLAG_REPLY | (error ? VU_FLAG_ERROR : 0U),
		.error = (uint32_t)error,
	};

	if (command->header.flags & VU_FLAG_NO_REPLY)
		return true;
	return transmit(channel, &header, payload, error ? 0 : length, NULL, 0);
}

struct vu_message *vu_ask(struct vu_channel *channel, enum vu_command command, const void *fixed,
			  size_t fixed_length, const void *data, size_t length)
{
	struct vu_header header = { .command = command };

	channel->id = (uint16_t)(VU_OUR_IDS | (channel->id + 1));
	header.id = channel->id;
	if (!transmit(channel, &header, fixed, fixed_length, data, length))
		return NULL;
	for (;;) {
		struct vu_message *message = receive_from_socket(channel);

		if (!message)
			return NULL;
		if ((message->header.flags & VU_FLAG_TYPE) != VU_FLAG_REPLY) {
			*channel->tail = message;
			channel->tail = &message->next;
			continue;
		}
		if (message->header.id == header.id && !(message->header.flags & VU_FLAG_ERROR))
			return message;
		vu_message_free(message);
		return NULL;
	}
}
