/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of the kernel's structures that the programs read. libbpf finds their places in the running kernel by its
 * BTF; a structure with another name behind three underscores is that of other kernels.
 */
#ifndef DOOR_KERNEL_H
#define DOOR_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct block_device;
struct request_queue;
struct super_block;

struct gendisk {
	u64 diskseq;
	struct block_device *part0;
};

struct block_device {
	struct gendisk *bd_disk;
	u32 bd_dev;
	void *bd_holder_ops;	/* from 6.5 on */
	struct super_block *bd_super;	/* before */
};

struct bvec_iter {
	u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
};

struct page {
	unsigned long flags;
	void *mapping;
	unsigned long compound_head;	/* before 7.1 */
	unsigned long compound_info;	/* from 7.1 on */
};

/* From 6.18 on. */
struct page___memdesc {
	struct {
		unsigned long f;
	} flags;
};

struct bio_vec {
	struct page *bv_page;
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned short bi_flags;
	unsigned char bi_status;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct blkcg_gq *bi_blkg;
	struct bio_vec *bi_io_vec;
};

struct request_queue {
	struct gendisk *disk;
};

struct blk_mq_hw_ctx {
	unsigned int queue_num;
};

enum mq_rq_state { MQ_RQ_IDLE };

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	u32 rq_flags;
	unsigned int __data_len;
	u64 __sector;
	struct bio *bio;
	struct bio *biotail;
	enum mq_rq_state state;
};

struct file_system_type {
	int fs_flags;
};

struct super_block {
	struct file_system_type *s_type;
	struct block_device *s_bdev;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
};

struct address_space {
	struct inode *host;
};

struct bdev_inode {
	struct block_device bdev;
	struct inode vfs_inode;
};

struct file_ra_state {
	unsigned int size;
	unsigned int async_size;
	unsigned short order;
};

struct task_struct {
	unsigned int flags;
	int tgid;
	char comm[16];
};

struct pcpu_hot {
	int preempt_count;
};

#pragma clang attribute pop

#endif /* DOOR_KERNEL_H */
