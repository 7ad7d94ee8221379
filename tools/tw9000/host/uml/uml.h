/* SPDX-License-Identifier: GPL-2.0-only */
/* The transport's parts: the cards themselves, the PCI bus they sit on, their files in /proc. */
#ifndef TW_UML_H
#define TW_UML_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "controller/model.h"

/* Differences between kernels 6.1 and 7.2, and nothing else. */

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "tw9000 needs Linux 6.1 or later"
#endif

/* hrtimer_setup() came, and hrtimer_init() went, in 6.15. */
static inline void tw_timer_setup(struct hrtimer *timer,
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
 * struct tw_card - one controller of this module
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

/**
 * struct tw_cards - all of them
 * @count: how many
 * @card: by number, which is the slot on the bus as well
 */
struct tw_cards {
	u32 count;
	struct tw_card *card[TW_MAX_CONTROLLERS];
};

int tw_pci_add(const struct tw_cards *cards);
int tw_proc_add(struct tw_cards *cards);

#endif
