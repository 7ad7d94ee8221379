// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When a command of a SATA SSD is done. Every command takes the drive's own time,
 * one at a time, in order of arrival. The data of a read or write then passes the
 * link, which carries one direction at a time, and the flash, page by page
 * (media/media.h). Latency is added and occupies nothing.
 */
#include "ahci.h"

bool ah_flash_create(struct ah_model *model, rl_alloc_chunk_fn alloc, void *host)
{
	const struct ah_config *config = &model->config;
	struct rl_flash_config flash = config->flash;

	if (config->media != AH_FLASH)
		return true;
	model->flash = sizeof(struct ah_flash) <= RL_CHUNK_BYTES ? alloc(host) : NULL;
	if (!model->flash)
		return false;
	flash.cache_kib = config->write_cache_kib;
	rl_flash_create(&model->flash->flash, &flash);
	rl_bucket_create(&model->flash->link, (u64)config->drive.interface_kib_s * 1024, 0);
	model->flash->command_ns = config->drive.command_us * RL_NS_PER_US;
	model->flash->free_ns = 0;
	return true;
}

/* Return: when the drive's own time for a command that comes now is over. */
static u64 ah_flash_begin(struct ah_flash *flash, u64 now)
{
	flash->free_ns = rl_max(flash->free_ns, now) + flash->command_ns * flash->flash.slow;
	return flash->free_ns;
}

void ah_flash_add(struct ah_model *model, struct ah_command *command, bool through, u64 now)
{
	struct ah_flash *flash = model->flash;
	u64 begin = ah_flash_begin(flash, now);

	command->state = AH_RUNNING;
	command->due_ns = rl_flash_transfer(&flash->flash, &flash->link, command->write,
					    command->lba, command->sectors,
					    through || !model->write_cache, begin) +
			  model->config.latency_ns;
}

void ah_flash_run(struct ah_model *model, struct ah_command *command, bool drain, u64 now)
{
	u64 end = ah_flash_begin(model->flash, now);

	command->state = AH_RUNNING;
	command->due_ns = drain ? rl_flash_drained_ns(&model->flash->flash, end) : end;
}
