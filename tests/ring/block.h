/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the kernel that the handlers in kmod/probe-request.c and kmod/probe-queue.c use; no bio here has pages. */
#ifndef RAIDTRACE_RING_BLOCK_H
#define RAIDTRACE_RING_BLOCK_H

#include "kernel.h"

#include <sys/types.h>

#define noinline	__attribute__((noinline))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define local_irq_save(flags)	((flags) = 0)
#define local_irq_restore(flags)	((void)(flags))
#define this_cpu_ptr(p)	(&(p)[this_cpu])
#define static_branch_unlikely(key)	unlikely(*(key))
#define DECLARE_STATIC_KEY_FALSE(key)	extern bool key
#define rcu_dereference_sched(p)	(p)
#define static_assert	_Static_assert
#define S_ISBLK(mode)	((mode) == 1)
#define S_ISREG(mode)	((mode) == 2)
#define scnprintf	snprintf
#define in_task()	true
#define current		(&this_task)

typedef unsigned long pgoff_t;
typedef u64 sector_t;
typedef unsigned char blk_status_t;

enum req_op {
	REQ_OP_READ = 0, REQ_OP_WRITE = 1, REQ_OP_FLUSH = 2, REQ_OP_DISCARD = 3, REQ_OP_ZONE_APPEND = 7,
	REQ_OP_WRITE_ZEROES = 9, REQ_OP_DRV_IN = 34, REQ_OP_DRV_OUT = 35,
};
enum { BLK_STS_OK, BLK_STS_IOERR = 10, BLK_STS_AGAIN = 12, RQF_FLUSH_SEQ = 16 };
enum { REQ_SWAP = 1 << 8, REQ_META = 1 << 9, REQ_PRIO = 1 << 10, REQ_RAHEAD = 1 << 11 };
enum { BIO_TRACE_COMPLETION = 1, FS_REQUIRES_DEV = 1, PF_KTHREAD = 1 };

struct task_struct {
	char comm[TASK_COMM_LEN];
	u32 tgid, flags;
};

struct file_system_type {
	int fs_flags;
};

struct super_block {
	struct file_system_type *s_type;
};

struct inode {
	unsigned int i_mode;
	struct super_block *i_sb;
};

struct address_space {
	struct inode *host;
};

struct request_queue {
	char larger_than_its_hash[512];
};

struct block_device {
	struct request_queue *bd_queue;
	dev_t bd_dev;
	void *bd_super;
};

struct blk_mq_hw_ctx {
	unsigned int queue_num;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	enum req_op op;
	unsigned int bi_opf, bi_flags;
	blk_status_t bi_status;
	void *bi_private;
	struct {
		sector_t bi_sector;
		unsigned int bi_size;
	} bi_iter;
};

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	enum req_op op;
	unsigned int rq_flags, bytes;
	u64 sector;
	bool started;
	struct bio *bio, *biotail;
};

#define bio_op(bio)	((bio)->op)
#define req_op(rq)	((rq)->op)
#define blk_op_is_passthrough(op)	((op) == REQ_OP_DRV_IN || (op) == REQ_OP_DRV_OUT)
#define blk_rq_bytes(rq)	((rq)->bytes)
#define blk_rq_pos(rq)	((rq)->sector)
#define blk_mq_request_started(rq)	((rq)->started)

#define bio_flagged(bio, flag)	((bio)->bi_flags & (flag))
#define bio_page(bio)	NULL
#define page_folio(page)	((void *)(page))
#define page_to_pfn(page)	((page) != NULL)
#define is_zero_pfn(pfn)	((pfn) != 0)
#define folio_test_swapcache(folio)	((folio) != NULL)
#define folio_test_locked(folio)	((folio) != NULL)
#define folio_test_uptodate(folio)	((folio) != NULL)
#define folio_test_anon(folio)	((folio) != NULL)
#define folio_mapping(folio)	((struct address_space *)(folio))
#define I_BDEV(inode)	((struct block_device *)(inode))
#define bdev_is_partition(bdev)	((bdev)->bd_dev & 15)

extern unsigned int this_cpu;
extern struct task_struct this_task;

#endif
