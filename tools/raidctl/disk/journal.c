// SPDX-License-Identifier: GPL-2.0-or-later

/* Sectors of the journal of a file system. */

#include "disk/disk.h"

#include <blkid/blkid.h>
#include <endian.h>
#include <errno.h>
#include <ext2fs/ext2fs.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/base.h"

/* Superblock of XFS, big endian: offsets in its first sector. */
#define XFS_MAGIC		0x58465342	/* "XFSB" */
#define XFS_BLOCK_SIZE		4
#define XFS_LOG_START		48
#define XFS_AG_BLOCKS		84
#define XFS_LOG_BLOCKS		96
#define XFS_AG_BLOCKS_LOG	124
#define XFS_SUPER_BYTES		512

static int add_extent(struct journal *journal, uint64_t sector, uint64_t nr)
{
	struct rt_extent *last = journal->nr ?
				 &journal->extents[journal->nr - 1] : NULL;

	if (last && last->sector + last->nr_sectors == sector) {
		last->nr_sectors += nr;
		return 0;
	}
	last = reallocarray(journal->extents, journal->nr + 1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	journal->extents = last;
	last[journal->nr++] = (struct rt_extent){ sector, nr };
	return 0;
}

/* Add the whole device or image. */
static int add_device(struct journal *journal)
{
	int fd = open(journal->device, O_RDONLY | O_CLOEXEC);
	uint64_t bytes = 0;
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (!S_ISBLK(st.st_mode))
		bytes = (uint64_t)st.st_size;
	else if (ioctl(fd, BLKGETSIZE64, &bytes))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err ? err : add_extent(journal, 0, bytes / SECTOR_BYTES);
}

/* A journal whose blocks are being read. */
struct blocks {
	struct journal *journal;
	uint64_t sectors;
	int err;
};

static int take_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t number,
		      blk64_t parent, int offset, void *data)
{
	struct blocks *blocks = data;

	(void)fs;
	(void)number;
	(void)parent;
	(void)offset;
	blocks->err = add_extent(blocks->journal, *block * blocks->sectors,
				 blocks->sectors);
	return blocks->err ? BLOCK_ABORT : 0;
}

static int ext_external(const struct ext2_super_block *super,
			struct journal *ret)
{
	char uuid[37], *device;
	const unsigned char *u = super->s_journal_uuid;

	snprintf(uuid, sizeof(uuid),
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9],
		 u[10], u[11], u[12], u[13], u[14], u[15]);
	device = blkid_evaluate_tag("UUID", uuid, NULL);
	if (!device)
		return -ENODEV;
	snprintf(ret->device, sizeof(ret->device), "%s", device);
	free(device);
	return add_device(ret);
}

/*
 * The file system may be mounted and changing; its journal stays in place. The blocks include those that map the
 * journal (one in each 4 MiB for ext3). Without them, a journal of 1 GiB would have more ranges than the module
 * accepts. Nothing writes these while the file system is mounted.
 */
static int read_ext(const char *path, struct journal *ret)
{
	struct blocks blocks = { .journal = ret };
	ext2_filsys fs;
	errcode_t code;
	int err = 0;

	code = ext2fs_open(path, EXT2_FLAG_64BITS | EXT2_FLAG_JOURNAL_DEV_OK |
			   EXT2_FLAG_SOFTSUPP_FEATURES |
			   EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0, unix_io_manager,
			   &fs);
	if (code)
		return code == EXT2_ET_BAD_MAGIC ? -EINVAL : -EIO;
	blocks.sectors = fs->blocksize / SECTOR_BYTES;
	if (!ext2fs_has_feature_journal(fs->super))
		err = 0;
	else if (!fs->super->s_journal_inum)
		err = ext_external(fs->super, ret);
	else if (ext2fs_block_iterate3(fs, fs->super->s_journal_inum,
				       BLOCK_FLAG_READ_ONLY, NULL, take_block,
				       &blocks))
		err = -EIO;
	ext2fs_close_free(&fs);
	return err ? err : blocks.err;
}

static uint64_t big32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t big64(const unsigned char *at)
{
	return big32(at) << 32 | big32(at + 4);
}

static int xfs_external(const char *options, struct journal *ret)
{
	const char *at = options ? strstr(options, "logdev=") : NULL;

	if (!at)
		return -ENODEV;
	at += strlen("logdev=");
	snprintf(ret->device, sizeof(ret->device), "%.*s",
		 (int)strcspn(at, ","), at);
	return add_device(ret);
}

/* In a block number, the high bits are the allocation group, the low bits the block in it. */
static int take_xfs(const unsigned char *super, const char *options,
		    struct journal *ret)
{
	uint64_t start = big64(super + XFS_LOG_START);
	uint64_t sectors = big32(super + XFS_BLOCK_SIZE) / SECTOR_BYTES;
	unsigned int shift = super[XFS_AG_BLOCKS_LOG];
	uint64_t block;

	if (!start)
		return xfs_external(options, ret);
	if (!sectors || shift >= 32)
		return -EINVAL;
	block = (start >> shift) * big32(super + XFS_AG_BLOCKS) +
		(start & ((1ULL << shift) - 1));
	return add_extent(ret, block * sectors,
			  big32(super + XFS_LOG_BLOCKS) * sectors);
}

static int read_xfs(const char *path, const char *options,
		    struct journal *ret)
{
	unsigned char super[XFS_SUPER_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = pread(fd, super, sizeof(super), 0);
	close(fd);
	if (len != sizeof(super) || big32(super) != XFS_MAGIC)
		return -EINVAL;
	return take_xfs(super, options, ret);
}

int journal_read(const char *path, const char *fstype, const char *options,
		 struct journal *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!strcmp(fstype, "xfs"))
		err = read_xfs(path, options, ret);
	else if (!strncmp(fstype, "ext", 3) && strchr("234", fstype[3]))
		err = read_ext(path, ret);
	else
		err = -ENOTSUP;
	if (err)
		journal_free(ret);
	return err;
}

void journal_free(struct journal *journal)
{
	free(journal->extents);
	journal->extents = NULL;
	journal->nr = 0;
}
