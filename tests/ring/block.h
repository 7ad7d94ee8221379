/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the block layer that the handlers in kmod/probe-request.c use. */
#ifndef RAIDTRACE_RING_BLOCK_H
#define RAIDTRACE_RING_BLOCK_H

#include "kernel.h"

#define noinline	__attribute__((noinline))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define local_irq_save(flags)	((flags) = 0)
#define local_irq_restore(flags)	((void)(flags))
#define this_cpu_ptr(p)	(&(p)[this_cpu])
#define static_branch_unlikely(key)	unlikely(*(key))
#define DECLARE_STATIC_KEY_FALSE(key)	extern bool key

typedef unsigned long pgoff_t;
typedef u64 sector_t;
typedef unsigned char blk_status_t;

enum req_op {
	REQ_OP_READ = 0, REQ_OP_WRITE = 1, REQ_OP_FLUSH = 2, REQ_OP_DISCARD = 3, REQ_OP_ZONE_APPEND = 7,
	REQ_OP_WRITE_ZEROES = 9, REQ_OP_DRV_IN = 34, REQ_OP_DRV_OUT = 35,
};
enum { BLK_STS_OK, BLK_STS_IOERR = 10, RQF_FLUSH_SEQ = 16 };

struct request_queue {
	char larger_than_its_hash[512];
};

struct block_device {
	struct request_queue *bd_queue;
};

struct blk_mq_hw_ctx {
	unsigned int queue_num;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	enum req_op op;
	struct {
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

extern unsigned int this_cpu;

#endif
