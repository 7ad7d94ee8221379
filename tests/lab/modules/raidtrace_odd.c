// SPDX-License-Identifier: GPL-2.0-only
/*
 * An odd disk: its driver ends passthrough requests without telling the block layer what became of them, so there is no
 * event of their completion. Writing a number to the parameter untold sends so many of them, one after the other.
 *
 * Writing a number to the parameter queues gives the disk so many hardware queues; all processors use the last.
 *
 * For tests alone.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/version.h>

static struct blk_mq_tag_set tags;
static struct gendisk *disk;
static int major;

static blk_status_t odd_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	blk_mq_start_request(bd->rq);
	if (blk_rq_is_passthrough(bd->rq))
		__blk_mq_end_request(bd->rq, BLK_STS_OK);
	else
		blk_mq_end_request(bd->rq, BLK_STS_OK);
	return BLK_STS_OK;
}

static void odd_map_queues(struct blk_mq_tag_set *set)
{
	struct blk_mq_queue_map *map = &set->map[HCTX_TYPE_DEFAULT];
	unsigned int cpu;

	/* Reads have no queues of their own, nor have polled requests. */
	set->map[HCTX_TYPE_READ].nr_queues = 0;
	set->map[HCTX_TYPE_POLL].nr_queues = 0;
	map->nr_queues = set->nr_hw_queues;
	for_each_possible_cpu(cpu)
		map->mq_map[cpu] = set->nr_hw_queues - 1;
}

static const struct blk_mq_ops odd_ops = {
	.queue_rq = odd_queue_rq,
	.map_queues = odd_map_queues,
};

static const struct block_device_operations odd_disk_ops = { .owner = THIS_MODULE };

static int send_untold(const char *text, const struct kernel_param *kp)
{
	unsigned int count;

	if (!disk || kstrtouint(text, 0, &count))
		return -EINVAL;
	while (count--) {
		struct request *rq = blk_mq_alloc_request(disk->queue, REQ_OP_DRV_IN, 0);

		if (IS_ERR(rq))
			return PTR_ERR(rq);
		blk_execute_rq(rq, false);
		blk_mq_free_request(rq);
	}
	return 0;
}

static const struct kernel_param_ops untold_ops = { .set = send_untold };

module_param_cb(untold, &untold_ops, NULL, 0200);
MODULE_PARM_DESC(untold, "write a number to send so many requests without an event of their end");

static int set_queues(const char *text, const struct kernel_param *kp)
{
	unsigned int queues;

	if (!disk || kstrtouint(text, 0, &queues) || !queues)
		return -EINVAL;
	blk_mq_update_nr_hw_queues(&tags, queues);
	return tags.nr_hw_queues == queues ? 0 : -ENOMEM;
}

static const struct kernel_param_ops queues_ops = { .set = set_queues };

module_param_cb(queues, &queues_ops, NULL, 0200);
MODULE_PARM_DESC(queues, "write a number to have so many hardware queues");

static struct gendisk *alloc_odd_disk(void)
{
#if KERNEL_VERSION(6, 9, 0) <= LINUX_VERSION_CODE
	return blk_mq_alloc_disk(&tags, NULL, NULL);
#else
	return blk_mq_alloc_disk(&tags, NULL);
#endif
}

static int __init odd_init(void)
{
	int err;

	major = register_blkdev(0, "odd");
	if (major < 0)
		return major;
	tags.ops = &odd_ops;
	tags.nr_hw_queues = 1;
	/* With one map alone there are never more queues than processors. */
	tags.nr_maps = HCTX_MAX_TYPES;
	tags.queue_depth = 1;
	tags.numa_node = NUMA_NO_NODE;
	err = blk_mq_alloc_tag_set(&tags);
	if (err)
		goto out_major;
	disk = alloc_odd_disk();
	if (IS_ERR(disk)) {
		err = PTR_ERR(disk);
		goto out_tags;
	}
	disk->major = major;
	disk->minors = 1;
	disk->fops = &odd_disk_ops;
	strscpy(disk->disk_name, "odd0", sizeof(disk->disk_name));
	set_capacity(disk, 1 << 20);
	err = add_disk(disk);
	if (err)
		goto out_disk;
	return 0;
out_disk:
	put_disk(disk);
out_tags:
	blk_mq_free_tag_set(&tags);
out_major:
	unregister_blkdev(major, "odd");
	return err;
}

static void __exit odd_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
	blk_mq_free_tag_set(&tags);
	unregister_blkdev(major, "odd");
}

module_init(odd_init);
module_exit(odd_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A disk with requests that end without an event or come by new hardware queues");
