/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Signals as events of a descriptor. */

#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <signal.h>

/**
 * signals_open - have signals come by a descriptor alone
 * @numbers: which, ended by 0
 *
 * They are blocked from then on, in threads that begin later too.
 *
 * Return: a descriptor of struct signalfd_siginfo that does not wait, or -errno.
 */
int signals_open(const int *numbers);

#endif
