// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a request costs: a module that reads 4 KiB blocks at random, 32 to a plug, from a disk that needs no time.
 *
 * Writing "MAJOR MINOR COUNT" to the parameter run reads so many blocks; reading it gives the nanoseconds that they took,
 * from the first submission to the last completion. For measurements alone: it reads whatever it is told to.
 */
#include "compat.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/module.h>

#define BATCH 32
#define BLOCK_SECTORS 8
#define BLOCK_BYTES (BLOCK_SECTORS << SECTOR_SHIFT)

static u64 took_ns;
static struct page *page;

struct batch {
	atomic_t left;
	struct completion done;
};

static void on_end(struct bio *bio)
{
	struct batch *batch = bio->bi_private;

	bio_put(bio);
	if (atomic_dec_and_test(&batch->left))
		complete(&batch->done);
}

/* xorshift64: the same places in every run. */
static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void read_batch(struct block_device *bdev, u64 blocks, u64 *random)
{
	struct blk_plug plug;
	struct batch batch;
	unsigned int i;

	atomic_set(&batch.left, BATCH);
	init_completion(&batch.done);
	blk_start_plug(&plug);
	for (i = 0; i < BATCH; i++) {
		struct bio *bio = bio_alloc(bdev, 1, REQ_OP_READ, GFP_KERNEL);

		bio->bi_iter.bi_sector = (next_random(random) % blocks) * BLOCK_SECTORS;
		bio->bi_private = &batch;
		bio->bi_end_io = on_end;
		__bio_add_page(bio, page, BLOCK_BYTES, 0);
		submit_bio(bio);
	}
	blk_finish_plug(&plug);
	wait_for_completion(&batch.done);
}

static int run(const char *text, const struct kernel_param *kp)
{
	unsigned int major, minor, count, i;
	struct block_device *bdev;
	u64 random = 88172645463325252ULL;
	u64 begin_ns;
	void *opened;

	if (sscanf(text, "%u %u %u", &major, &minor, &count) != 3)
		return -EINVAL;
	bdev = raidtrace_open(MKDEV(major, minor), &opened);
	if (IS_ERR(bdev))
		return PTR_ERR(bdev);
	begin_ns = ktime_get_ns();
	for (i = 0; i < count; i += BATCH)
		read_batch(bdev, bdev_nr_sectors(bdev) / BLOCK_SECTORS, &random);
	took_ns = ktime_get_ns() - begin_ns;
	raidtrace_close(opened);
	return 0;
}

static int tell(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llu\n", took_ns);
}

static const struct kernel_param_ops run_ops = { .set = run, .get = tell };

module_param_cb(run, &run_ops, NULL, 0600);
MODULE_PARM_DESC(run, "write MAJOR MINOR COUNT to read, read the nanoseconds that it took");

static int __init bench_init(void)
{
	page = alloc_page(GFP_KERNEL);
	return page ? 0 : -ENOMEM;
}

static void __exit bench_exit(void)
{
	__free_page(page);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reads for measuring what raidtrace costs");
