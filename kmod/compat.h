/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernels from 6.1 on; the only file that names a version. */
#ifndef RAIDTRACE_COMPAT_H
#define RAIDTRACE_COMPAT_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device/class.h>
#include <linux/netlink.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "raidtrace needs Linux 6.1 or newer"
#endif

/* "driver core: class: remove struct class_interface * from callbacks" (6.4). */
#if KERNEL_VERSION(6, 4, 0) <= LINUX_VERSION_CODE
#define RAIDTRACE_REMOVE_DEV_ARGS struct device *dev
#else
#define RAIDTRACE_REMOVE_DEV_ARGS struct device *dev, struct class_interface *interface
#endif

/* Operation of a request, "genetlink: introduce split op representation" (6.2). */
#if KERNEL_VERSION(6, 2, 0) <= LINUX_VERSION_CODE
#define RAIDTRACE_GENL_OPS const struct genl_split_ops
#else
#define RAIDTRACE_GENL_OPS const struct genl_ops
#endif

/* The queue flag became a feature of the limits in 6.11, and its sense was turned in 7.0. */
static inline bool raidtrace_rotational(struct request_queue *q)
{
#ifdef blk_queue_rot
	return blk_queue_rot(q);
#else
	return !blk_queue_nonrot(q);
#endif
}

/*
 * Whether a filesystem is mounted on a block device. "fs: export fs_holder_ops"
 * and "block: remove bd_super" (6.6). Only compared, nothing is followed.
 */
static inline bool raidtrace_mounted(const struct block_device *bdev)
{
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
	return READ_ONCE(bdev->bd_holder_ops) == &fs_holder_ops;
#else
	return READ_ONCE(bdev->bd_super);
#endif
}

/* Whether a bio's pages are pinned: memory of a process, "block: Add BIO_PAGE_PINNED" (6.5). */
static inline bool raidtrace_user_memory(struct bio *bio)
{
#if KERNEL_VERSION(6, 5, 0) <= LINUX_VERSION_CODE
	return bio_flagged(bio, BIO_PAGE_PINNED);
#else
	return false;
#endif
}

/*
 * Hold handlers to their types where the tracepoints are known: block_rq_tag_wait
 * and those of readahead are younger than 6.12.
 */
#if KERNEL_VERSION(7, 2, 0) <= LINUX_VERSION_CODE
#include <trace/events/readahead.h>
#define raidtrace_check_tag_wait(handler) check_trace_callback_type_block_rq_tag_wait(handler)
#define raidtrace_check_ra_order(handler) check_trace_callback_type_page_cache_ra_order(handler)
#define raidtrace_ra_order(ra) ((ra)->order)
#else
#define raidtrace_check_tag_wait(handler) ((void)(handler))
#define raidtrace_check_ra_order(handler) ((void)(handler))
#define raidtrace_ra_order(ra) 0
#endif

/*
 * raidtrace_refuse() - say in the reply why a request is refused
 *
 * The text is cut after 79 characters. NL_SET_ERR_MSG_FMT() came after 6.1,
 * which keeps but a pointer until the reply is built: there the last eight
 * texts are kept, and eight refusals at the very same time would be told the
 * text of another.
 */
#ifdef NL_SET_ERR_MSG_FMT
#define raidtrace_refuse(extack, format, ...) \
	NL_SET_ERR_MSG_FMT(extack, format, ##__VA_ARGS__)
#else
#define raidtrace_refuse(extack, format, ...) do { \
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

#endif /* RAIDTRACE_COMPAT_H */
