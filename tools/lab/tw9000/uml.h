/* SPDX-License-Identifier: GPL-2.0-only */
/* The transport's parts: the card itself, the PCI bus it sits on, its files in /proc. */
#ifndef TW_UML_H
#define TW_UML_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "model.h"

/**
 * struct tw_card - the one controller of this module
 * @lock: serialises the model, as its interface demands; taken with interrupts off,
 *	and dropped before the driver's interrupt handler runs, which comes back for it
 * @timer: the model's wish for time, and a pending interrupt's way out of the driver's locks
 * @wake: when the model wants tw_model_tick(), under @lock
 * @level: interrupt line, under @lock
 * @irq: Linux interrupt number
 * @reported: the last report was printed
 * @model: the controller
 */
struct tw_card {
	spinlock_t lock; /* protects model, wake and level */
	struct hrtimer timer;
	u64 wake;
	bool level;
	int irq;
	bool reported;
	struct tw_model model;
};

u32 tw_card_read(struct tw_card *card, u32 offset);
void tw_card_write(struct tw_card *card, u32 offset, u32 value);

int tw_pci_add(struct tw_card *card);
int tw_proc_add(struct tw_card *card);

#endif
