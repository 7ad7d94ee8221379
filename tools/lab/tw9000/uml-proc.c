// SPDX-License-Identifier: GPL-2.0-only
/* /proc/tw9000/status and /proc/tw9000/log: what the controller knows to be true. */
#include "uml.h"
#include "background.h"

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static const char *tw_yes(bool yes)
{
	return yes ? "yes" : "no";
}

static const char *tw_unit_state(const struct tw_model *model, u32 unit)
{
	if (model->fault.offline[unit])
		return "offline";
	if (model->timing.health[unit].missing == TW_NO_MEMBER)
		return "ok";
	return model->background.kind == TW_BACKGROUND_REBUILD ? "rebuilding" : "degraded";
}

static int tw_status_show(struct seq_file *file, void *unused)
{
	struct tw_card *card = file->private;
	const struct tw_model *model = &card->model;
	const struct tw_array *array = &model->timing.array;
	unsigned long flags;
	u32 unit;

	spin_lock_irqsave(&card->lock, flags);
	seq_puts(file, "simulated: yes\n");
	seq_printf(file, "profile: %s\n", model->config.name);
	seq_printf(file, "controller: %04x, %s\n", model->config.controller.device_id,
		   model->config.controller.firmware);
	seq_printf(file, "array: %u x %s of %u drives, stripe %u KiB, %llu sectors\n",
		   model->config.array.units, tw_level_name(array->level), array->drives,
		   model->config.array.stripe_kib, array->sectors);
	seq_printf(file, "commands: %llu\n", model->nr_commands);
	for (unit = 0; unit < model->config.array.units; unit++)
		seq_printf(file, "unit_%u: %s\n", unit, tw_unit_state(model, unit));
	seq_printf(file, "background: %s\n", tw_background_name(model->background.kind));
	if (model->background.kind)
		seq_printf(file, "background_sectors: %llu of %llu\n", model->background.at,
			   array->drive_sectors);
	seq_printf(file, "differing_sectors: %llu\n", model->background.differing);
	seq_printf(file, "refused_packets: %llu\n", model->nr_refused);
	seq_printf(file, "log_entries: %u\n", model->log.count);
	seq_printf(file, "log_capacity: %u\n", model->log.capacity);
	seq_printf(file, "log_lost: %llu\n", model->log.lost);
	seq_printf(file, "store_bytes_used: %llu\n", tw_store_used_bytes(&model->store));
	seq_printf(file, "store_bytes_limit: %llu\n", tw_store_limit_bytes(&model->store));
	seq_printf(file, "store_exhausted: %s\n", tw_yes(model->store.exhausted));
	spin_unlock_irqrestore(&card->lock, flags);
	return 0;
}

/* Position 0 is the header line, position n the entry n - 1. */
static void *tw_log_start(struct seq_file *file, loff_t *position)
{
	struct tw_card *card = pde_data(file_inode(file->file));

	return *position <= card->model.log.count ? position : NULL;
}

static void *tw_log_next(struct seq_file *file, void *at, loff_t *position)
{
	++*position;
	return tw_log_start(file, position);
}

static void tw_log_stop(struct seq_file *file, void *at)
{
}

static int tw_log_show(struct seq_file *file, void *at)
{
	struct tw_card *card = pde_data(file_inode(file->file));
	struct tw_log_entry entry;
	loff_t position = *(loff_t *)at;
	unsigned long flags;

	if (!position) {
		seq_puts(file, "sequence,request_id,opcode,name,unit,lba,sectors,");
		seq_puts(file, "arrival_ns,completion_ns,depth,status\n");
		return 0;
	}
	spin_lock_irqsave(&card->lock, flags);
	entry = *tw_log_at(&card->model.log, position - 1);
	spin_unlock_irqrestore(&card->lock, flags);
	seq_printf(file, "%lld,%u,0x%02x,%s,", position, entry.request_id, entry.opcode,
		   tw_log_name(&entry));
	if (entry.unit != TW_LOG_FIRMWARE)
		seq_printf(file, "%u", entry.unit);
	seq_printf(file, ",%llu,%u,%llu,", entry.lba, entry.sectors, entry.arrival_ns);
	if (entry.status == TW_LOG_GOOD || entry.status == TW_LOG_FAILED)
		seq_printf(file, "%llu", entry.completion_ns);
	seq_printf(file, ",%u,%s\n", entry.depth, tw_log_status_name(entry.status));
	return 0;
}

static const struct seq_operations tw_log_operations = {
	.start = tw_log_start,
	.next = tw_log_next,
	.stop = tw_log_stop,
	.show = tw_log_show,
};

int tw_proc_add(struct tw_card *card)
{
	struct proc_dir_entry *directory = proc_mkdir("tw9000", NULL);

	if (!directory ||
	    !proc_create_single_data("status", 0444, directory, tw_status_show, card) ||
	    !proc_create_seq_data("log", 0444, directory, &tw_log_operations, card))
		return -ENOMEM;
	return 0;
}
