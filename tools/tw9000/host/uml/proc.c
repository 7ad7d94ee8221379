// SPDX-License-Identifier: GPL-2.0-only
/* /proc/tw9000/status, and a log for each controller: what they know to be true. */
#include "uml.h"

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>

static const char *tw_unit_state(const struct tw_model *model, u32 unit)
{
	if (model->fault.offline[unit])
		return "offline";
	if (model->timing.health[unit].missing == TW_NO_MEMBER)
		return "ok";
	return model->background.kind == TW_BACKGROUND_REBUILD ? "rebuilding" : "degraded";
}

/* What is a sum over all controllers. */
struct tw_sums {
	u64 commands;
	u64 refused;
	u64 log_entries;
	u64 log_capacity;
	u64 log_lost;
	u64 store_used;
	u64 store_limit;
	bool exhausted;
};

static void tw_add_up(struct tw_card *card, struct tw_sums *sums)
{
	const struct tw_model *model = &card->model;
	unsigned long flags;

	spin_lock_irqsave(&card->lock, flags);
	sums->commands += model->nr_commands;
	sums->refused += model->nr_refused;
	sums->log_entries += model->log.count;
	sums->log_capacity += model->log.capacity;
	sums->log_lost += model->log.lost;
	sums->store_used += tw_store_used_bytes(&model->store);
	sums->store_limit += tw_store_limit_bytes(&model->store);
	sums->exhausted |= model->store.exhausted;
	spin_unlock_irqrestore(&card->lock, flags);
}

/* Keys of the first controller have no prefix. */
static void tw_show_card(struct seq_file *file, struct tw_card *card)
{
	const struct tw_model *model = &card->model;
	char prefix[sizeof("controller_0_")] = "";
	unsigned long flags;
	u32 unit;

	if (model->config.number)
		scnprintf(prefix, sizeof(prefix), "controller_%u_", model->config.number);
	spin_lock_irqsave(&card->lock, flags);
	for (unit = 0; unit < model->config.array.units; unit++)
		seq_printf(file, "%sunit_%u: %s\n", prefix, unit, tw_unit_state(model, unit));
	seq_printf(file, "%sbackground: %s\n", prefix, tw_background_name(model->background.kind));
	if (model->background.kind)
		seq_printf(file, "%sbackground_sectors: %llu of %llu\n", prefix,
			   model->background.at, model->timing.array.drive_sectors);
	seq_printf(file, "%sdiffering_sectors: %llu\n", prefix, model->background.differing);
	spin_unlock_irqrestore(&card->lock, flags);
}

static int tw_status_show(struct seq_file *file, void *unused)
{
	struct tw_cards *cards = file->private;
	const struct tw_config *config = &cards->card[0]->model.config;
	const struct tw_array *array = &cards->card[0]->model.timing.array;
	struct tw_sums sums = {};
	u32 i;

	for (i = 0; i < cards->count; i++)
		tw_add_up(cards->card[i], &sums);
	seq_puts(file, "simulated: yes\n");
	seq_printf(file, "profile: %s\n", config->name);
	seq_printf(file, "controllers: %u\n", cards->count);
	seq_printf(file, "controller: %04x, %s\n", config->controller.device_id,
		   config->controller.firmware);
	seq_printf(file, "array: %u x %s of %u drives, stripe %u KiB, %llu sectors\n",
		   config->array.units, tw_level_name(array->level), array->drives,
		   config->array.stripe_kib, array->sectors);
	seq_printf(file, "commands: %llu\n", sums.commands);
	for (i = 0; i < cards->count; i++)
		tw_show_card(file, cards->card[i]);
	seq_printf(file, "refused_packets: %llu\n", sums.refused);
	seq_printf(file, "log_entries: %llu\n", sums.log_entries);
	seq_printf(file, "log_capacity: %llu\n", sums.log_capacity);
	seq_printf(file, "log_lost: %llu\n", sums.log_lost);
	seq_printf(file, "store_bytes_used: %llu\n", sums.store_used);
	seq_printf(file, "store_bytes_limit: %llu\n", sums.store_limit);
	seq_printf(file, "store_exhausted: %s\n", str_yes_no(sums.exhausted));
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

/* Controller 0 has "log", the others "log-1" and so on. */
int tw_proc_add(struct tw_cards *cards)
{
	struct proc_dir_entry *directory = proc_mkdir("tw9000", NULL);
	char name[sizeof("log-0")] = "log";
	u32 i;

	if (!directory ||
	    !proc_create_single_data("status", 0444, directory, tw_status_show, cards))
		return -ENOMEM;
	for (i = 0; i < cards->count; i++) {
		if (i)
			scnprintf(name, sizeof(name), "log-%u", i);
		if (!proc_create_seq_data(name, 0444, directory, &tw_log_operations,
					  cards->card[i]))
			return -ENOMEM;
	}
	return 0;
}
