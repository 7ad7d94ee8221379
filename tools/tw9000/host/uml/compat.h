/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels 6.1 and 7.2, and nothing else. */
#ifndef TW_UML_COMPAT_H
#define TW_UML_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

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

#endif
