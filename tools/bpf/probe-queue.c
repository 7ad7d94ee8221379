// SPDX-License-Identifier: GPL-2.0-only
/* Events before the issue: bios, plugs, windows of the page cache. As kmod/probe-queue.c. */
#include "probe.h"

#define S_IFMT		0170000
#define S_IFREG		0100000
#define S_IFBLK		0060000
#define FS_REQUIRES_DEV	1
#define PAGE_MAPPING_FLAGS 3	/* the lowest bits of a page's mapping: anonymous, movable */
#define PF_KTHREAD	0x00200000
#define TASK_INTERRUPT	0xff0100	/* of a preempt count: NMI, hard interrupt, served soft interrupt */
#define BLK_STS_AGAIN	12
#define PAGE_SECTORS_SHIFT 3
#define DOOR_INTERRUPT_FIRST	0x75727265746e6928ULL	/* "(interrupt)" */
#define DOOR_INTERRUPT_SECOND	0x297470ULL

/* Per CPU, under a name of its own in some kernels. */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

static __always_inline bool in_interrupt(void)
{
#ifdef __TARGET_ARCH_x86
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count) & TASK_INTERRUPT;
	if (&pcpu_hot)
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count & TASK_INTERRUPT;
#endif
	return false;
}

static __always_inline bool in_journal(u32 number, u64 sector)
{
	const struct door_journal *journal = &door_state.journal[number % DOOR_DISKS];
	u32 i;

	for (i = 0; i < DOOR_EXTENTS; i++) {
		if (i >= journal->nr)
			return false;
		if (sector - journal->extent[i].sector < journal->extent[i].nr_sectors)
			return true;
	}
	return false;
}

/* Whether a filesystem is mounted on the block device of an inode. */
static __always_inline bool is_mounted(struct inode *inode)
{
	struct bdev_inode *of;

	if (!bpf_core_type_exists(struct bdev_inode))
		return false;
	of = (void *)inode - bpf_core_field_offset(struct bdev_inode, vfs_inode);
	if (bpf_core_field_exists(of->bdev.bd_holder_ops))
		return BPF_CORE_READ(of, bdev.bd_holder_ops);
	if (bpf_core_field_exists(of->bdev.bd_super))
		return BPF_CORE_READ(of, bdev.bd_super);
	return false;
}

/*
 * A member of a kernel object. A pointer of which the verifier knows the @typed object is read through at once: the
 * helper takes ten times as many instructions.
 */
#define read_member(typed, from, member)	((typed) ? (from)->member : BPF_CORE_READ(from, member))

static __always_inline enum raidtrace_class class_of_inode(struct inode *inode, bool typed)
{
	u32 type = read_member(typed, inode, i_mode) & S_IFMT;
	struct file_system_type *fs;
	struct super_block *sb;

	if (type == S_IFBLK)
		return is_mounted(inode) ? RAIDTRACE_CLASS_METADATA : RAIDTRACE_CLASS_DATA;
	if (type != S_IFREG)
		return RAIDTRACE_CLASS_METADATA;
	sb = read_member(typed, inode, i_sb);
	fs = read_member(typed, sb, s_type);
	return read_member(typed, fs, fs_flags) & FS_REQUIRES_DEV ? RAIDTRACE_CLASS_DATA : RAIDTRACE_CLASS_DIRECT;
}

/* The begin of a page, by one read: three would cost as much each. */
#define PAGE_WORDS	4

struct page_words {
	u64 word[PAGE_WORDS];
};

#define page_word(from, type, member)	\
	((from)->word[bpf_core_field_offset(type, member) / sizeof(u64) % PAGE_WORDS])

static __always_inline u64 flags_of(struct page *page, const struct page_words *from)
{
	if (bpf_core_field_exists(struct page___memdesc, flags.f))
		return from ? page_word(from, struct page___memdesc, flags.f) :
			      ((struct page___memdesc *)page)->flags.f;
	return from ? page_word(from, struct page, flags) : page->flags;
}

/* The low half of a pointer: the verifier takes no bits of one. */
static __always_inline u32 low_of(u64 pointer)
{
	u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((u32)pointer));
	return low;
}

/* The word of a page that leads to the first one of its folio. */
static __always_inline u64 word_of(struct page *page, const struct page_words *from)
{
	if (bpf_core_field_exists(struct page, compound_head))
		return from ? page_word(from, struct page, compound_head) : page->compound_head;
	if (bpf_core_field_exists(struct page, compound_info))
		return from ? page_word(from, struct page, compound_info) : page->compound_info;
	return 0;
}

/*
 * The first page of the folio of a page. From 7.1 on the word has either its address or, with its lowest bit, a mask: a
 * power of two, negated.
 */
static __always_inline struct page *head_of(struct page *page, u64 word)
{
	if (!(word & 1))
		return page;
	word &= ~1ULL;
	return (struct page *)(-word & (-word - 1) ? word : (u64)page & word);
}

/* The class of what a page has, RAIDTRACE_CLASS_DATA for that of a file. */
static __always_inline enum raidtrace_class class_of_page(u64 flags, const void *mapping)
{
	u32 low = low_of((u64)mapping);

	/* In a file's page the bit of the swap cache is another. */
	if (flags & door_constants.pg_swapcache && flags & door_constants.pg_swapbacked)
		return flags & door_constants.pg_locked && !(flags & door_constants.pg_uptodate) ?
			RAIDTRACE_CLASS_SWAP : RAIDTRACE_CLASS_DIRECT;
	if (low & 1)
		return RAIDTRACE_CLASS_DIRECT;
	/* The page of zeroes: memory that a process never touched. Kernel threads zero with it. */
	if (!mapping && flags & door_constants.pg_reserved &&
	    !(bpf_get_current_task_btf()->flags & PF_KTHREAD))
		return RAIDTRACE_CLASS_DIRECT;
	return !mapping || low & PAGE_MAPPING_FLAGS ? RAIDTRACE_CLASS_OTHER : RAIDTRACE_CLASS_DATA;
}

/* @page: the first of its folio; @from: its words, NULL if the verifier knows the page. */
static __always_inline enum raidtrace_class class_of_folio(struct page *page, const struct page_words *from)
{
	struct address_space *mapping = from ? (void *)page_word(from, struct page, mapping) : page->mapping;
	enum raidtrace_class class = class_of_page(flags_of(page, from), mapping);
	struct inode *inode;

	if (class != RAIDTRACE_CLASS_DATA)
		return class;
	inode = read_member(!from, mapping, host);
	return inode ? class_of_inode(inode, !from) : RAIDTRACE_CLASS_OTHER;
}

/* See class_of_memory() of the module, which has the reasons. */
static __always_inline enum raidtrace_class class_of_memory(struct bio *bio)
{
	u32 at = bio->bi_iter.bi_idx;
	struct bio_vec *vec = bio->bi_io_vec;
	struct page *page = NULL, *head;
	struct page_words from = {};

	if (bio->bi_flags & door_constants.bio_page_pinned)
		return RAIDTRACE_CLASS_DIRECT;
	if (!at) {
		page = vec->bv_page;
		if (page && !(low_of(word_of(page, NULL)) & 1))
			return class_of_folio(page, NULL);
	}
	/* Now a number: the verifier adds none that it does not know to a pointer. */
	bpf_core_read(&vec, sizeof(vec), &bio->bi_io_vec);
	vec = (void *)vec + at * bpf_core_type_size(struct bio_vec);
	bpf_core_read(&page, sizeof(page), &vec->bv_page);
	if (!page)
		return RAIDTRACE_CLASS_OTHER;
	bpf_probe_read_kernel(&from, sizeof(from), page);
	head = head_of(page, word_of(page, &from));
	if (head != page)
		bpf_probe_read_kernel(&from, sizeof(from), head);
	return class_of_folio(page, &from);
}

/* @bio: a read or write with data. */
static __always_inline enum raidtrace_class class_of(const struct door_disk *disk, struct bio *bio)
{
	enum raidtrace_class class;

	if (disk->has_journal && in_journal(disk->number, bio->bi_iter.bi_sector))
		class = RAIDTRACE_CLASS_JOURNAL;
	else if (bio->bi_opf & door_constants.req_swap)
		class = RAIDTRACE_CLASS_SWAP;
	else if (bio->bi_opf & (door_constants.req_meta | door_constants.req_prio))
		class = RAIDTRACE_CLASS_METADATA;
	else
		class = class_of_memory(bio);
	if (class == RAIDTRACE_CLASS_DATA && bio->bi_opf & door_constants.req_rahead)
		class = RAIDTRACE_CLASS_READAHEAD;
	return class;
}

/* The task and the cgroup that a bio is charged to. A bio that an interrupt queues is not the task's. */
static __always_inline void set_task(struct door_queue *record, struct bio *bio, bool interrupt)
{
	struct blkcg_gq *blkg = bio->bi_blkg;
	struct task_struct *task;
	u64 *comm;
	u32 i;

	record->cgroup = blkg ? blkg->blkcg->css.cgroup->kn->id : 0;
	if (interrupt) {
		record->pid = 0;
		record->comm[0] = DOOR_INTERRUPT_FIRST;
		record->comm[1] = DOOR_INTERRUPT_SECOND;
		return;
	}
	task = bpf_get_current_task_btf();
	record->pid = (u32)task->tgid;
	comm = (u64 *)task->comm;
	barrier_var(comm);	/* words, not the halves of characters */
	for (i = 0; i < RAIDTRACE_COMM_WORDS; i++)
		record->comm[i] = comm[i];
}

static __always_inline void write_queue(const struct door_disk *disk, struct bio *bio, bool interrupt)
{
	u32 bytes = bio->bi_iter.bi_size, opf = bio->bi_opf, groups = disk->groups;
	enum raidtrace_direction direction = bio_direction(bio);
	enum raidtrace_class class = RAIDTRACE_CLASS_OTHER;
	struct door_queue *record;
	u32 flags = unplaced(opf);
	struct slot slot;

	if (groups & RAIDTRACE_GROUPS_CLASSES && bytes && direction <= RAIDTRACE_DIRECTION_WRITE)
		class = class_of(disk, bio);
	if (opf & door_constants.req_rahead)
		flags |= RAIDTRACE_EVENT_AHEAD;
	if (!reserve(disk, raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, direction, class, flags, bytes), sizeof(*record),
		     &slot))
		return;
	record = (void *)slot.record;
	record->bio = (u64)bio;
	record->sector = bio->bi_iter.bi_sector;
	set_task(record, bio, interrupt);
	submit(&slot);
}

static __always_inline void queue(struct bio *bio, bool interrupt)
{
	struct door_disk *disk = disk_of_bio(bio);

	if (disk)
		write_queue(disk, bio, interrupt);
}

/* A bio of md for a member; see raidtrace_on_bio_remap() of the module. */
static __always_inline void remap(struct bio *bio, u32 from, bool interrupt)
{
	struct block_device *bdev = bio->bi_bdev;
	struct door_disk *disk = disk_of_bio(bio);

	if (disk && bio->bi_flags & door_constants.bio_trace_completion &&
	    (bdev->bd_disk->part0 == bdev || from == bdev->bd_dev))
		write_queue(disk, bio, interrupt);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_bio_queue, struct bio *bio)
{
	queue(bio, in_interrupt());
	return 0;
}

SEC("tp_btf/block_bio_remap")
int BPF_PROG(on_bio_remap, struct bio *bio, u32 from, u64 sector)
{
	remap(bio, from, in_interrupt());
	return 0;
}

/* For a kernel that does not show its preempt count (CONFIG_KALLSYMS_ALL): each bio is a task's. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(any_bio_queue, struct bio *bio)
{
	queue(bio, false);
	return 0;
}

SEC("tp_btf/block_bio_remap")
int BPF_PROG(any_bio_remap, struct bio *bio, u32 from, u64 sector)
{
	remap(bio, from, false);
	return 0;
}

static __always_inline struct door_disk *count_bio(struct bio *bio,
						   enum raidtrace_event_counter counter)
{
	struct door_disk *disk = disk_of_bio(bio);

	if (disk)
		write_count(disk, bio_direction(bio), counter, 0);
	return disk;
}

SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(on_bio_backmerge, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_BACK_MERGES);
	return 0;
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(on_bio_frontmerge, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_FRONT_MERGES);
	return 0;
}

SEC("tp_btf/block_split")
int BPF_PROG(on_split, struct bio *bio, unsigned int new_sector)
{
	struct door_disk *disk = count_bio(bio, RAIDTRACE_SPLITS);

	if (disk && disk->groups & RAIDTRACE_GROUPS_BIOS && disk->has_requests)
		write_two(disk, RAIDTRACE_EVENT_SPLIT, bio, bio->bi_private);
	return 0;
}

/* A bio ends that no request completed; see raidtrace_on_bio_complete() of the module. */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(on_bio_complete, struct request_queue *q, struct bio *bio)
{
	struct door_disk *disk = disk_of(q->disk);
	bool refused = bio->bi_status == BLK_STS_AGAIN;
	u32 flags = 0;

	if (!disk || (!refused && !(disk->groups & RAIDTRACE_GROUPS_BIOS)))
		return 0;
	if (refused)
		flags = RAIDTRACE_EVENT_NOWAIT;
	else if (disk->has_requests)
		flags = RAIDTRACE_EVENT_ALONE;
	write_one(disk, raidtrace_event_head(RAIDTRACE_EVENT_END, bio_direction(bio), 0, flags, 0), bio);
	return 0;
}

static __always_inline void write_request(struct request *rq, enum raidtrace_event kind)
{
	struct door_disk *disk = disk_of_request(rq);

	if (!disk)
		return;
	if (kind == RAIDTRACE_EVENT_REQUEUE && wants_hwq(disk))
		kind = RAIDTRACE_EVENT_REQUEUE_HWQ;
	write_one(disk, raidtrace_event_head(kind, request_direction(rq), 0, 0, 0), rq);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_rq_insert, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_INSERT);
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_rq_merge, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_MERGE);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(on_rq_requeue, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_REQUEUE);
	return 0;
}

static __always_inline void count_event(struct request_queue *q,
					enum raidtrace_event_counter counter, u32 amount)
{
	struct door_disk *disk = disk_of(q->disk);

	if (disk && disk->groups & RAIDTRACE_GROUP_PLUG)
		write_count(disk, 0, counter, amount);
}

SEC("tp_btf/block_plug")
int BPF_PROG(on_plug, struct request_queue *q)
{
	count_event(q, RAIDTRACE_PLUGS, 0);
	return 0;
}

SEC("tp_btf/block_unplug")
int BPF_PROG(on_unplug, struct request_queue *q, unsigned int depth, bool explicit)
{
	count_event(q, explicit ? RAIDTRACE_UNPLUGS_EXPLICIT : RAIDTRACE_UNPLUGS_SCHEDULE, depth);
	return 0;
}

#define HPAGE_ORDER	9	/* of huge pages, where the pages have 4 KiB */

/* A window of the page cache; see window_kind() of the module. */
SEC("tp_btf/page_cache_ra_order")
int BPF_PROG(on_ra_order, struct inode *inode, unsigned long index, struct file_ra_state *ra)
{
	struct block_device *bdev = inode->i_sb->s_bdev;
	u32 size = ra->size, counter = RAIDTRACE_RA_SYNC_SECTORS;
	struct door_disk *disk;

	if ((inode->i_mode & S_IFMT) == S_IFBLK) {
		struct bdev_inode *of = (void *)inode - bpf_core_field_offset(struct bdev_inode, vfs_inode);
		struct gendisk *gendisk = BPF_CORE_READ(of, bdev.bd_disk);

		disk = find_disk(BPF_CORE_READ(gendisk, diskseq));
	} else {
		disk = disk_of(bdev->bd_disk);
	}
	if (!disk || !(disk->groups & RAIDTRACE_GROUP_READAHEAD))
		return 0;
	if (ra->order && ra->async_size == size) {
		if (ra->order == HPAGE_ORDER && size == 1 << HPAGE_ORDER)
			return 0;
		counter = RAIDTRACE_RA_ASYNC_SECTORS;
	}
	write_count(disk, 0, counter, size << PAGE_SECTORS_SHIFT);
	return 0;
}
