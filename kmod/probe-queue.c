// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of events before the issue: bios, plugs, windows of the page cache. */
#include "probe-handlers.h"
#include "compat.h"

#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/huge_mm.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/sched.h>

/*
 * The class of a bio, by its flags, the journal's sectors and the owner of its first page. File
 * systems do not pass it on: ext2 writes metadata through the block device without a flag, jbd2 and
 * XFS have one flag for log and metadata, and only its memory shows direct I/O.
 */
static bool in_journal(const struct raidtrace_journal *journal, u64 sector)
{
	u32 i;

	for (i = 0; journal && i < journal->nr; i++) {
		if (sector - journal->extent[i].sector < journal->extent[i].nr_sectors)
			return true;
	}
	return false;
}

static enum raidtrace_class class_of_inode(const struct inode *inode)
{
	if (S_ISBLK(inode->i_mode))
		return raidtrace_mounted(I_BDEV((struct inode *)inode)) ?
			RAIDTRACE_CLASS_METADATA : RAIDTRACE_CLASS_DATA;
	if (!S_ISREG(inode->i_mode))
		return RAIDTRACE_CLASS_METADATA;
	/* Direct I/O may use memory of tmpfs or of huge pages. */
	return inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV ?
		RAIDTRACE_CLASS_DATA : RAIDTRACE_CLASS_DIRECT;
}

/*
 * A page that is read or written back is locked or under writeback and keeps its mapping. A page of
 * direct I/O may lose its mapping at any time; its inode is valid for RCU readers, and so with
 * interrupts off.
 */
static enum raidtrace_class class_of_memory(struct bio *bio)
{
	struct page *page = bio_page(bio);
	struct folio *folio = page_folio(page);
	struct address_space *mapping;

	if (raidtrace_user_memory(bio))
		return RAIDTRACE_CLASS_DIRECT;
	if (folio_test_swapcache(folio))
		return folio_test_locked(folio) && !folio_test_uptodate(folio) ?
			RAIDTRACE_CLASS_SWAP : RAIDTRACE_CLASS_DIRECT;
	if (folio_test_anon(folio))
		return RAIDTRACE_CLASS_DIRECT;
	mapping = folio_mapping(folio);
	if (mapping && READ_ONCE(mapping->host))
		return class_of_inode(mapping->host);
	/* Memory that a process never touched is the page of zeroes. Kernel threads zero with it. */
	if (is_zero_pfn(page_to_pfn(page)) && !(current->flags & PF_KTHREAD))
		return RAIDTRACE_CLASS_DIRECT;
	/* The kernel's own: encrypted by dm-crypt, stripes of md, bounced copies. */
	return RAIDTRACE_CLASS_OTHER;
}

/* @bio: a read or write with data. Context: interrupts off. */
static __always_inline enum raidtrace_class class_of(struct raidtrace_journal __rcu **journal,
						     struct bio *bio)
{
	enum raidtrace_class class;

	if (in_journal(rcu_dereference_sched(*journal), bio->bi_iter.bi_sector))
		class = RAIDTRACE_CLASS_JOURNAL;
	else if (bio->bi_opf & REQ_SWAP)
		class = RAIDTRACE_CLASS_SWAP;
	else if (bio->bi_opf & (REQ_META | REQ_PRIO))
		class = RAIDTRACE_CLASS_METADATA;
	else
		class = class_of_memory(bio);
	if (class == RAIDTRACE_CLASS_DATA && bio->bi_opf & REQ_RAHEAD)
		class = RAIDTRACE_CLASS_READAHEAD;
	return class;
}

/* Write a merge or split of a bio. */
static __always_inline struct raidtrace_probe *count_bio(const struct bio *bio,
							 enum raidtrace_event_counter counter)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		raidtrace_write_count(probe, raidtrace_bio_direction(bio), counter, 0);
	return probe;
}

static noinline void write_task(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
				u32 pid, u64 first, u64 second, u64 cgroup)
{
	u64 *record = raidtrace_ring_next(probe, ring, 0);

	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, pid);
	record[2] = first;
	record[3] = second;
	record[4] = cgroup;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_TASK);
	ring->task = (struct raidtrace_task){
		.comm = { first, second }, .cgroup = cgroup, .pid = pid,
	};
}

/* The cgroup that the block layer charges a bio to; the bio holds it. */
static __always_inline u64 cgroup_of(struct bio *bio)
{
#ifdef CONFIG_BLK_CGROUP
	const struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	return css ? cgroup_id(css->cgroup) : 0;
#else
	return 0;
#endif
}

/*
 * Write the task of the following events, unless it is that of the last ones. A bio that an
 * interrupt queues does not belong to the interrupted task.
 */
static __always_inline void write_changed_task(struct raidtrace_probe *probe,
					       struct raidtrace_ring *ring, struct bio *bio)
{
	static const char interrupt[TASK_COMM_LEN] = "(interrupt)";
	u64 first, second, cgroup = cgroup_of(bio);
	const char *comm = in_task() ? current->comm : interrupt;
	u32 pid = in_task() ? current->tgid : 0;

	static_assert(sizeof(first) + sizeof(second) == TASK_COMM_LEN);
	memcpy(&first, comm, sizeof(first));
	memcpy(&second, comm + sizeof(first), sizeof(second));
	if (unlikely(pid != ring->task.pid || cgroup != ring->task.cgroup ||
		     first != ring->task.comm[0] || second != ring->task.comm[1]))
		write_task(probe, ring, pid, first, second, cgroup);
}

static __always_inline u32 queue_flags(const struct bio *bio)
{
	return (bio->bi_opf & REQ_RAHEAD ? RAIDTRACE_EVENT_AHEAD : 0) |
	       raidtrace_unplaced(bio_op(bio));
}

static noinline void write_queue(struct raidtrace_probe *probe, struct bio *bio)
{
	enum raidtrace_direction direction = raidtrace_bio_direction(bio);
	enum raidtrace_class class = RAIDTRACE_CLASS_OTHER;
	u32 groups = probe->groups, bytes = bio->bi_iter.bi_size;
	struct raidtrace_ring *ring;
	unsigned long flags;
	u64 *record;

	local_irq_save(flags);
	if (groups & RAIDTRACE_GROUPS_CLASSES && bytes && direction <= RAIDTRACE_DIRECTION_WRITE)
		class = class_of(&probe->journal, bio);
	ring = this_cpu_ptr(probe->ring);
	if (groups & RAIDTRACE_GROUP_SUBMITTER)
		write_changed_task(probe, ring, bio);
	record = raidtrace_ring_next(probe, ring, 0);
	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, direction, class, queue_flags(bio),
					 bytes);
	record[2] = (uintptr_t)bio;
	record[3] = bio->bi_iter.bi_sector;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_QUEUE);
	local_irq_restore(flags);
}

void raidtrace_on_bio_queue(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		write_queue(probe, bio);
}

/*
 * md sends the bio that it got to a member, without a queue event for that disk. A bio without
 * BIO_TRACE_COMPLETION has its queue event still to come. If the member is a partition, there are
 * two of these events; the one of the partition has the sector on the disk.
 */
void raidtrace_on_bio_remap(void *data, struct bio *bio, dev_t from, sector_t sector)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);
	struct block_device *bdev = bio->bi_bdev;

	if (probe && bio_flagged(bio, BIO_TRACE_COMPLETION) &&
	    (!bdev_is_partition(bdev) || from == bdev->bd_dev))
		write_queue(probe, bio);
}

void raidtrace_on_bio_backmerge(void *data, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_BACK_MERGES);
}

void raidtrace_on_bio_frontmerge(void *data, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_FRONT_MERGES);
}

/*
 * The first piece is a bio of its own, chained to the queued one, which keeps the rest. Bio-based
 * drivers split otherwise, and end the bio as a whole.
 */
void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector)
{
	struct raidtrace_probe *probe = count_bio(bio, RAIDTRACE_SPLITS);

	if (probe && probe->groups & RAIDTRACE_GROUPS_BIOS && probe->has_requests)
		raidtrace_write_event(probe, RAIDTRACE_EVENT_SPLIT, 0, bio, bio->bi_private);
}

/*
 * A bio ends that no request completed: any bio of a bio-based disk, or a refused one. A request
 * that ends its bios itself suppresses this event. NVMe multipath writes it for the queue of its
 * disk, while the bio belongs to one of the paths.
 */
void raidtrace_on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(q);
	bool refused = bio->bi_status == BLK_STS_AGAIN;
	u32 flags = 0;

	if (refused)
		flags = RAIDTRACE_EVENT_NOWAIT;
	else if (probe && probe->has_requests)
		flags = RAIDTRACE_EVENT_ALONE;

	if (probe && (refused || probe->groups & RAIDTRACE_GROUPS_BIOS))
		raidtrace_write_event(probe, RAIDTRACE_EVENT_END,
				      raidtrace_event_head(RAIDTRACE_EVENT_END,
							   raidtrace_bio_direction(bio), 0,
							   flags, 0),
				      bio, NULL);
}

static __always_inline void write_request(struct request *rq, enum raidtrace_event kind)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);

	if (probe && kind == RAIDTRACE_EVENT_REQUEUE && raidtrace_wants_hwq(probe))
		kind = RAIDTRACE_EVENT_REQUEUE_HWQ;
	if (probe)
		raidtrace_write_event(probe, kind,
				      raidtrace_event_head(kind, raidtrace_request_direction(rq),
							   0, 0, 0), rq, NULL);
}

void raidtrace_on_rq_insert(void *data, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_INSERT);
}

void raidtrace_on_rq_merge(void *data, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_MERGE);
}

void raidtrace_on_rq_requeue(void *data, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_REQUEUE);
}

static noinline void count_event(const struct request_queue *queue,
				 enum raidtrace_event_counter counter, u32 amount)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(queue);

	if (probe && probe->groups & RAIDTRACE_GROUP_PLUG)
		raidtrace_write_count(probe, 0, counter, amount);
}

void raidtrace_on_plug(void *data, struct request_queue *queue)
{
	count_event(queue, RAIDTRACE_PLUGS, 0);
}

void raidtrace_on_unplug(void *data, struct request_queue *queue, unsigned int depth,
			 bool explicit)
{
	count_event(queue, explicit ? RAIDTRACE_UNPLUGS_EXPLICIT : RAIDTRACE_UNPLUGS_SCHEDULE, depth);
}

#ifdef RAIDTRACE_HAS_RA_ORDER

enum { WINDOW_SYNC, WINDOW_ASYNC };

/* The probe of the disk that has a file's pages. */
static struct raidtrace_probe *probe_of_inode(struct inode *inode)
{
	const struct block_device *bdev = S_ISBLK(inode->i_mode) ? I_BDEV(inode) :
								   inode->i_sb->s_bdev;

	return bdev ? raidtrace_probe_of(bdev->bd_queue) : NULL;
}

/*
 * A window for a marked page has the order of the last window and 2 more, and marks its first page:
 * ->async_size is ->size. A window for a missing page has order 0; one of huge pages has their
 * order, and its mark in the middle. A single huge page could be either, and is not counted.
 */
static int window_kind(const struct file_ra_state *ra)
{
	if (!ra->order || ra->async_size != ra->size)
		return WINDOW_SYNC;
	if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && ra->order == HPAGE_PMD_ORDER &&
	    ra->size == HPAGE_PMD_NR)
		return -1;
	return WINDOW_ASYNC;
}

void raidtrace_on_ra_order(void *data, struct inode *inode, pgoff_t index,
			   struct file_ra_state *ra)
{
	struct raidtrace_probe *probe = probe_of_inode(inode);
	u32 sectors = ra->size << (PAGE_SHIFT - SECTOR_SHIFT);
	int kind = window_kind(ra);

	if (!probe || !(probe->groups & RAIDTRACE_GROUP_READAHEAD) || kind < 0)
		return;
	raidtrace_write_count(probe, 0, RAIDTRACE_RA_SYNC_SECTORS + kind, sectors);
}

#endif /* RAIDTRACE_HAS_RA_ORDER */
