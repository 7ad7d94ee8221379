// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a bio is for, by its flags, the journal's sectors and whose memory its
 * first page is. Filesystems do not say it: ext2 writes its metadata through
 * the block device without a flag, jbd2 and XFS have one flag for log and
 * metadata, and direct I/O shows by its memory alone.
 */
#include "probe-class.h"
#include "compat.h"

#include <linux/bio.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/sched.h>

static bool in_journal(const struct raidtrace_journal *journal, u64 sector)
{
	u32 i;

	for (i = 0; journal && i < journal->nr; i++) {
		if (sector - journal->extent[i].sector < journal->extent[i].nr_sectors)
			return true;
	}
	return false;
}

/* Page cache of a file, a directory, a block device ... */
static enum raidtrace_class class_of_inode(const struct inode *inode)
{
	if (S_ISBLK(inode->i_mode))
		return raidtrace_mounted(I_BDEV((struct inode *)inode)) ?
			RAIDTRACE_CLASS_METADATA : RAIDTRACE_CLASS_DATA;
	if (!S_ISREG(inode->i_mode))
		return RAIDTRACE_CLASS_METADATA;
	/* A file of tmpfs or of huge pages is memory that a direct I/O was given. */
	return inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV ?
		RAIDTRACE_CLASS_DATA : RAIDTRACE_CLASS_DIRECT;
}

/*
 * A page that goes out is locked or under writeback, one that comes in is
 * locked: it keeps its mapping. A page that direct I/O was given is neither and
 * may lose it at any time; then the inode still is good until RCU readers are done,
 * and so are who runs with interrupts off.
 */
static enum raidtrace_class class_of_memory(struct bio *bio)
{
	struct folio *folio = page_folio(bio_page(bio));
	struct address_space *mapping;

	if (raidtrace_user_memory(bio))
		return RAIDTRACE_CLASS_DIRECT;
	if (folio_test_swapcache(folio))
		return folio_test_locked(folio) && !folio_test_uptodate(folio) ?
			RAIDTRACE_CLASS_SWAP : RAIDTRACE_CLASS_DIRECT;
	if (folio_test_anon(folio))
		return RAIDTRACE_CLASS_DIRECT;
	/* Memory that a process never touched, or zeroing: of the kernel's own threads it is that. */
	if (bio_page(bio) == ZERO_PAGE(0))
		return current->flags & PF_KTHREAD ? RAIDTRACE_CLASS_OTHER : RAIDTRACE_CLASS_DIRECT;
	mapping = folio_mapping(folio);
	/* What dm-crypt encrypted, stripes of md, copies that bounce: nobody's but the kernel's. */
	if (!mapping || !READ_ONCE(mapping->host))
		return RAIDTRACE_CLASS_OTHER;
	return class_of_inode(mapping->host);
}

/**
 * raidtrace_class_of() - what a bio is for
 * @journal: pointer to the target's journal
 * @bio: being queued; a read or write with data
 *
 * Return: its class, never RAIDTRACE_CLASS_MIXED. Context: interrupts off.
 */
enum raidtrace_class raidtrace_class_of(struct raidtrace_journal __rcu **journal,
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
