/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's parts: the devices themselves, the PCI bus they are on, their files in /proc. */
#ifndef RL_UML_H
#define RL_UML_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "host/kinds/kinds.h"

/* Differences between kernels 6.1 and 7.2, and nothing else. */

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "raidlab needs Linux 6.1 or later"
#endif

/* hrtimer_setup() came, and hrtimer_init() went, in 6.15. */
static inline void rl_timer_setup(struct hrtimer *timer,
				  enum hrtimer_restart (*function)(struct hrtimer *))
{
#if KERNEL_VERSION(6, 15, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer->function = function;
#endif
}

/**
 * struct rl_vector - an entry of the table of message interrupts, as the PCI specification has it
 * @address: where the message goes; not looked at, since there is one place only
 * @data: the message: UML's own domain makes it the Linux interrupt number
 * @control: bit 0: masked
 */
struct rl_vector {
	u32 address[2];
	u32 data;
	u32 control;
};

/**
 * struct rl_card - one device of this module
 * @lock: serialises the model, as its interface demands; taken with interrupts off,
 *	and dropped before the driver's interrupt handler runs, which comes back for it
 * @timer: calls the model at its next time, and sends a pending interrupt outside the driver's locks
 * @wake: when the model wants its tick, under @lock
 * @level: interrupt line, under @lock
 * @irq: Linux interrupt number of the line
 * @messages: the driver has enabled message interrupts, under @lock
 * @masked: all of them are masked, under @lock
 * @raised: message interrupts to be sent, a bit each, under @lock
 * @vector: their table, under @lock
 * @reported: the last report was printed
 * @device: the model
 */
struct rl_card {
	spinlock_t lock; /* protects device, wake and level */
	struct hrtimer timer;
	u64 wake;
	bool level;
	int irq;
	bool messages;
	bool masked;
	u32 raised;
	struct rl_vector vector[RL_MAX_VECTORS];
	bool reported;
	struct rl_device *device;
};

/* A message interrupt is to be sent, if the driver has enabled them. Context: @card's lock is held. */
void rl_card_raise(struct rl_card *card, u32 vector);

/*
 * Return: the Linux interrupt of the next message to be sent, 0 if there is none. Messages that
 * are masked wait. Context: @card's lock is held.
 */
u32 rl_card_next_message(struct rl_card *card);

/* Set the timer for the next event of the device. Context: @card's lock is held. */
void rl_card_plan(struct rl_card *card);

u64 rl_card_read(struct rl_card *card, u32 offset, u32 size);
void rl_card_write(struct rl_card *card, u32 offset, u32 size, u64 value);

/**
 * struct rl_cards - all of them
 * @count: how many
 * @card: by number, which is the slot on the bus as well
 * @profile: names of their profiles, ", " between
 */
struct rl_cards {
	u32 count;
	struct rl_card *card[RL_MAX_DEVICES];
	char profile[256];
};

int rl_pci_add(const struct rl_cards *cards);
int rl_proc_add(struct rl_cards *cards);

#endif
