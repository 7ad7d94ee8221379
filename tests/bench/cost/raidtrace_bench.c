// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a request: a module that reads 4 KiB blocks at random, 32 to a plug, from a disk that needs no time.
 *
 * Writing "FD COUNT [READERS]" to the parameter run has so many readers, each bound to a CPU of its own, read COUNT
 * blocks each of the disk that the writer has open as FD. Reading it gives the nanoseconds that they took, from the
 * first submission to the last completion. Reading the parameter clock reads the clock 1,000 times, and gives the
 * nanoseconds that this took; reading interrupts turns them off and on again as often.
 * For measurements alone: it reads any disk that is named.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>

#define BATCH 32
#define BLOCK_SECTORS 8
#define BLOCK_BYTES (BLOCK_SECTORS << SECTOR_SHIFT)
#define MOST_READERS 8
#define TURNS 1000

/**
 * struct crowd - readers that begin together
 * @bdev: what they read
 * @count: blocks of each
 * @missing: readers that have not come to the start yet
 * @busy: readers that are not done
 * @done: none is busy
 * @begin_ns: when the last one came to the start
 */
struct crowd {
	struct block_device *bdev;
	unsigned int count;
	atomic_t missing;
	atomic_t busy;
	struct completion done;
	u64 begin_ns;
};

struct batch {
	atomic_t left;
	struct completion done;
};

static u64 took_ns;
static struct page *page;

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

static void read_all(struct crowd *crowd, u64 random)
{
	u64 blocks = bdev_nr_sectors(crowd->bdev) / BLOCK_SECTORS;
	unsigned int i;

	for (i = 0; i < crowd->count; i += BATCH)
		read_batch(crowd->bdev, blocks, &random);
}

static int reader(void *data)
{
	struct crowd *crowd = data;

	if (atomic_dec_and_test(&crowd->missing))
		WRITE_ONCE(crowd->begin_ns, ktime_get_ns());
	while (atomic_read(&crowd->missing))
		cond_resched();
	read_all(crowd, 88172645463325252ULL + smp_processor_id());
	if (atomic_dec_and_test(&crowd->busy))
		complete(&crowd->done);
	return 0;
}

static int read_together(struct crowd *crowd, unsigned int readers)
{
	struct task_struct *task[MOST_READERS];
	unsigned int cpu, i = 0;

	if (readers > num_online_cpus())
		return -EINVAL;
	for_each_online_cpu(cpu) {
		if (i == readers)
			break;
		task[i] = kthread_create_on_cpu(reader, crowd, cpu, "bench/%u");
		if (IS_ERR(task[i])) {
			int err = PTR_ERR(task[i]);

			while (i--)
				kthread_stop(task[i]);
			return err;
		}
		i++;
	}
	while (i--)
		wake_up_process(task[i]);
	wait_for_completion(&crowd->done);
	return 0;
}

static int run(const char *text, const struct kernel_param *kp)
{
	unsigned int fd, readers = 1;
	struct crowd crowd = {};
	struct file *file;
	int err = 0;

	if (sscanf(text, "%u %u %u", &fd, &crowd.count, &readers) < 2)
		return -EINVAL;
	if (!readers || readers > MOST_READERS)
		return -EINVAL;
	file = fget(fd);
	if (!file)
		return -EBADF;
	if (!S_ISBLK(file_inode(file)->i_mode)) {
		fput(file);
		return -ENOTBLK;
	}
	crowd.bdev = I_BDEV(file->f_mapping->host);
	atomic_set(&crowd.missing, readers);
	atomic_set(&crowd.busy, readers);
	init_completion(&crowd.done);
	crowd.begin_ns = ktime_get_ns();
	if (readers == 1)
		read_all(&crowd, 88172645463325252ULL);
	else
		err = read_together(&crowd, readers);
	took_ns = ktime_get_ns() - crowd.begin_ns;
	fput(file);
	return err;
}

static int get_result(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llu\n", took_ns);
}

static const struct kernel_param_ops run_ops = { .set = run, .get = get_result };

module_param_cb(run, &run_ops, NULL, 0600);
MODULE_PARM_DESC(run, "write MAJOR MINOR COUNT [READERS] to read, read the nanoseconds that it took");

static int tell_clock(char *text, const struct kernel_param *kp)
{
	u64 begin_ns = ktime_get_ns();
	unsigned int i;

	for (i = 1; i < TURNS; i++)
		ktime_get_ns();
	return sysfs_emit(text, "%llu\n", ktime_get_ns() - begin_ns);
}

static const struct kernel_param_ops clock_ops = { .get = tell_clock };

module_param_cb(clock, &clock_ops, NULL, 0400);
MODULE_PARM_DESC(clock, "read the nanoseconds that 1,000 readings of the clock take");

static int tell_interrupts(char *text, const struct kernel_param *kp)
{
	u64 begin_ns = ktime_get_ns();
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		local_irq_save(flags);
		barrier();
		local_irq_restore(flags);
	}
	return sysfs_emit(text, "%llu\n", ktime_get_ns() - begin_ns);
}

static const struct kernel_param_ops interrupts_ops = { .get = tell_interrupts };

module_param_cb(interrupts, &interrupts_ops, NULL, 0400);
MODULE_PARM_DESC(interrupts, "read the nanoseconds of turning interrupts off and on 1,000 times");

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
