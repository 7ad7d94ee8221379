// SPDX-License-Identifier: GPL-2.0-or-later
/* The common part of all kinds of simulated devices. */
#include "base.h"

void rl_device_init(struct rl_device *device, const struct rl_kind *kind,
		    const struct rl_host_ops *ops, void *host)
{
	rl_fill(device, 0, kind->device_bytes);
	device->kind = kind;
	device->ops = ops;
	device->host = host;
	device->wake_ns = RL_NEVER;
}

void rl_device_wake_at(struct rl_device *device, u64 ns)
{
	if (ns == device->wake_ns)
		return;
	device->wake_ns = ns;
	device->ops->wake_at(device->host, ns);
}

void rl_device_set_irq(struct rl_device *device, bool level)
{
	if (level == device->irq)
		return;
	device->irq = level;
	device->ops->set_irq(device->host, level);
}

void rl_device_log_header(struct rl_text *text)
{
	rl_text_add(text, "sequence,request_id,opcode,name,unit,lba,sectors,");
	rl_text_add(text, "arrival_ns,completion_ns,depth,status\n");
}

void rl_device_log_line(struct rl_text *text, const struct rl_device *device, u32 index)
{
	const struct rl_log_entry *entry = rl_log_at(&device->log, index);
	const u64 numbers[] = { entry->lba, entry->sectors, entry->arrival_ns };
	size_t i;

	rl_text_number(text, index + 1ULL);
	rl_text_add(text, ",");
	rl_text_number(text, entry->request_id);
	rl_text_add(text, ",0x");
	rl_text_hex(text, entry->opcode, 2);
	rl_text_add(text, ",");
	rl_text_add(text, device->kind->command_name(entry));
	rl_text_add(text, ",");
	if (entry->unit != RL_LOG_ADMIN)
		rl_text_number(text, entry->unit);
	for (i = 0; i < RL_COUNT(numbers); i++) {
		rl_text_add(text, ",");
		rl_text_number(text, numbers[i]);
	}
	rl_text_add(text, ",");
	if (entry->status == RL_LOG_GOOD || entry->status == RL_LOG_FAILED)
		rl_text_number(text, entry->completion_ns);
	rl_text_add(text, ",");
	rl_text_number(text, entry->depth);
	rl_text_add(text, ",");
	rl_text_add(text, rl_log_status_name(entry->status));
	rl_text_add(text, "\n");
}
