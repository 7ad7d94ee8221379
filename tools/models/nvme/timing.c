// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When a command is done. A READ or WRITE waits for the limits. Then every command
 * occupies the controller, one at a time, in order of arrival. The data of a WRITE
 * passes the link and goes to the flash page by page. A READ is charged for the link
 * first, then each page goes to the flash: no command waits on the link for one whose
 * channel is busy, and the sum is the same. Latency is added and occupies nothing.
 */
#include "model.h"

void nv_timing_create(struct nv_timing *timing, const struct nv_config *config)
{
	timing->controller_ns = 0;
	rl_bucket_create(&timing->iops, config->limit.iops, config->limit.burst_ios);
	rl_bucket_create(&timing->bytes, config->limit.bytes_s, config->limit.burst_bytes);
	rl_bucket_create(&timing->to_host, config->link.bytes_s, 0);
	rl_bucket_create(&timing->from_host, config->link.bytes_s, 0);
	rl_flash_create(&timing->flash, &config->flash);
}

u64 nv_timing_due(struct nv_model *model, u8 opcode, u64 lba, u32 sectors, bool through, u64 now)
{
	bool is_volatile = model->config.controller.write_cache;
	struct nv_timing *timing = &model->timing;
	u64 end = now;

	if (sectors && (opcode == NV_READ || opcode == NV_WRITE))
		end = rl_bucket_admit(&timing->iops, &timing->bytes,
				      (u64)sectors * RL_SECTOR_BYTES, now);
	end = rl_max(timing->controller_ns, end) + model->config.controller.command_ns;
	timing->controller_ns = end;
	through = is_volatile && (through || !model->feature[NV_FEATURE_WRITE_CACHE]);
	if (opcode == NV_READ || opcode == NV_WRITE)
		end = rl_flash_transfer(&timing->flash,
					opcode == NV_WRITE ? &timing->from_host : &timing->to_host,
					opcode == NV_WRITE, lba, sectors, through, end);
	else if (opcode == NV_FLUSH && is_volatile)
		end = rl_flash_drained_ns(&timing->flash, end);
	return end + model->config.link.latency_ns;
}
