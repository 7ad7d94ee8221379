/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the code under test needs of it, for a process of one thread. */
#ifndef LINUX_COMPILER_H
#define LINUX_COMPILER_H

#define likely(x)		(x)
#define unlikely(x)		(x)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

#endif /* LINUX_COMPILER_H */
