/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated device as a PCI function of a virtual machine. */
#ifndef VFIO_USER_CARD_H
#define VFIO_USER_CARD_H

#include "host/kinds/kinds.h"
#include "memory.h"

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
