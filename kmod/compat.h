/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels from 6.1 on. Kbuild checks their headers, not their version: stable
 * updates and vendors' back-ports move features.
 */
#ifndef RAIDTRACE_COMPAT_H
#define RAIDTRACE_COMPAT_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device/class.h>
#include <linux/netlink.h>

/*
 * The form of a class interface's callback that this kernel has. "driver core: class: remove struct
 * class_interface * from callbacks" (6.4).
 */
#define RAIDTRACE_REMOVE_DEV(one_argument, two_arguments) \
	__builtin_choose_expr(__builtin_types_compatible_p(typeof(one_argument) *, \
			      typeof(((struct class_interface *)NULL)->remove_dev)), \
			      one_argument, two_arguments)

/* Operation of a request, "genetlink: introduce split op representation" (6.2). */
#ifdef RAIDTRACE_HAS_SPLIT_OPS
#define RAIDTRACE_GENL_OPS const struct genl_split_ops
#else
#define RAIDTRACE_GENL_OPS const struct genl_ops
#endif

/*
 * Whether a filesystem is mounted on a block device: no other holder has operations, "block:
 * introduce holder ops" (6.5). Nothing is dereferenced.
 */
static inline bool raidtrace_mounted(const struct block_device *bdev)
{
#ifdef RAIDTRACE_HAS_HOLDER_OPS
	return READ_ONCE(bdev->bd_holder_ops);
#else
	return READ_ONCE(bdev->bd_super);
#endif
}

/* Whether a bio's pages are pinned: memory of a process, "block: Add BIO_PAGE_PINNED" (6.5). */
static inline bool raidtrace_user_memory(struct bio *bio)
{
#ifdef RAIDTRACE_HAS_PAGE_PINNED
	return bio_flagged(bio, BIO_PAGE_PINNED);
#else
	return false;
#endif
}

/*
 * raidtrace_refuse() - put the reason for a refusal in the reply, and return the error. The text is
 * cut after 79 characters. NL_SET_ERR_MSG_FMT() came after 6.1, which keeps a pointer until the
 * reply is built: there the last eight texts are kept, and eight refusals at once would mix them
 * up.
 */
#ifndef NL_SET_ERR_MSG_FMT
#define NL_SET_ERR_MSG_FMT(extack, format, ...) do { \
	static char refusals[8][80]; \
	static atomic_t refused; \
	char *text = refusals[(unsigned int)atomic_inc_return(&refused) % ARRAY_SIZE(refusals)]; \
	struct netlink_ext_ack *to = (extack); \
	\
	scnprintf(text, sizeof(refusals[0]), format, ##__VA_ARGS__); \
	if (to) \
		to->_msg = text; \
} while (0)
#endif
#define raidtrace_refuse(error, extack, format, ...) \
	({ NL_SET_ERR_MSG_FMT(extack, format, ##__VA_ARGS__); (error); })

#endif /* RAIDTRACE_COMPAT_H */
