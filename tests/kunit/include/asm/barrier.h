/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the code under test needs of it, for a process of one thread. */
#ifndef ASM_BARRIER_H
#define ASM_BARRIER_H

#define smp_store_release(p, value)	(*(p) = (value))

#endif /* ASM_BARRIER_H */
