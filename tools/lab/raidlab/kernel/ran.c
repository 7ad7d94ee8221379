// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which code ran: part of the kernels of `raidctl lab ab --coverage`, of no other.
 *
 * The compiler calls __sanitizer_cov_trace_pc() where a block of the files that a
 * change touches begins. /proc/raidtrace-ran has a line for each block that ran:
 * where its code goes on after the call, and how often. Writing to it begins anew.
 */
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define BITS	14

void __sanitizer_cov_trace_pc(void);

static struct {
	unsigned long at;
	unsigned long times;
} blocks[1 << BITS];

/* Blocks for which there was no space: then the other results are not complete. */
static unsigned long lost;

/*
 * Context: any, early boot included. The kernel has one processor; an interrupt
 * between the look and the write costs a block that is new its first count.
 */
void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long at = (unsigned long)__builtin_return_address(0);
	unsigned int i, home = hash_long(at, BITS);

	for (i = 0; i < 64; i++) {
		typeof(*blocks) *block = &blocks[(home + i) & (ARRAY_SIZE(blocks) - 1)];

		if (!block->at)
			block->at = at;
		if (block->at == at) {
			block->times++;
			return;
		}
	}
	lost++;
}

static int show(struct seq_file *file, void *data)
{
	unsigned int i;

	seq_printf(file, "lost %lu\n", lost);
	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		if (blocks[i].times)
			seq_printf(file, "%lx %lu\n", blocks[i].at, blocks[i].times);
	}
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

static ssize_t begin_anew(struct file *file, const char __user *text, size_t size, loff_t *at)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		blocks[i].times = 0;
	return size;
}

static const struct proc_ops ops = {
	.proc_open = open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = begin_anew,
};

static int __init make_file(void)
{
	return proc_create("raidtrace-ran", 0600, NULL, &ops) ? 0 : -ENOMEM;
}
late_initcall(make_file);
