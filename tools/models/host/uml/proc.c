// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/raidlab: that the devices are simulated, of which profile, what they know to be true.
 *
 * status		the text of rl_sums_show(), then of rl_device_show() for each device
 * log, log-1, ...	ground truth of each device as CSV
 */
#include "uml.h"

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

static int rl_status_show(struct seq_file *file, void *unused)
{
	struct rl_cards *cards = file->private;
	struct rl_sums sums = {};
	struct rl_text text;
	unsigned long flags;
	char *buffer;
	u32 i;

	buffer = kmalloc(RL_STATUS_BYTES, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	for (i = 0; i < cards->count; i++) {
		spin_lock_irqsave(&cards->card[i]->lock, flags);
		rl_sums_add(&sums, cards->card[i]->device);
		spin_unlock_irqrestore(&cards->card[i]->lock, flags);
	}
	rl_text_init(&text, buffer, RL_STATUS_BYTES);
	rl_sums_show(&sums, cards->profile, &text);
	seq_puts(file, buffer);
	for (i = 0; i < cards->count; i++) {
		rl_text_init(&text, buffer, RL_STATUS_BYTES);
		spin_lock_irqsave(&cards->card[i]->lock, flags);
		rl_device_show(cards->card[i]->device, i, &text);
		spin_unlock_irqrestore(&cards->card[i]->lock, flags);
		seq_puts(file, buffer);
	}
	kfree(buffer);
	return 0;
}

/* Position 0 is the header line, position n the entry n - 1. */
static void *rl_log_start(struct seq_file *file, loff_t *position)
{
	struct rl_card *card = pde_data(file_inode(file->file));

	return *position <= card->device->log.count ? position : NULL;
}

static void *rl_log_next(struct seq_file *file, void *at, loff_t *position)
{
	++*position;
	return rl_log_start(file, position);
}

static void rl_log_stop(struct seq_file *file, void *at)
{
}

static int rl_log_show(struct seq_file *file, void *at)
{
	struct rl_card *card = pde_data(file_inode(file->file));
	loff_t position = *(loff_t *)at;
	struct rl_text text;
	unsigned long flags;
	char line[160];

	rl_text_init(&text, line, sizeof(line));
	if (!position) {
		rl_device_log_header(&text);
	} else {
		spin_lock_irqsave(&card->lock, flags);
		rl_device_log_line(&text, card->device, position - 1);
		spin_unlock_irqrestore(&card->lock, flags);
	}
	seq_puts(file, line);
	return 0;
}

static const struct seq_operations rl_log_operations = {
	.start = rl_log_start,
	.next = rl_log_next,
	.stop = rl_log_stop,
	.show = rl_log_show,
};

/* Device 0 has "log", the others "log-1" and so on. */
int rl_proc_add(struct rl_cards *cards)
{
	struct proc_dir_entry *directory = proc_mkdir("raidlab", NULL);
	char name[sizeof("log-00")] = "log";
	u32 i;

	if (!directory ||
	    !proc_create_single_data("status", 0444, directory, rl_status_show, cards))
		return -ENOMEM;
	for (i = 0; i < cards->count; i++) {
		if (i)
			scnprintf(name, sizeof(name), "log-%u", i);
		if (!proc_create_seq_data(name, 0444, directory, &rl_log_operations,
					  cards->card[i]))
			return -ENOMEM;
	}
	return 0;
}
