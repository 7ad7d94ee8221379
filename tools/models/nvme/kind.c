// SPDX-License-Identifier: GPL-2.0-or-later
/* The drive as one kind of simulated device. */
#include "model.h"

static struct nv_model *nv_model_of(struct rl_device *device)
{
	return (struct nv_model *)device;
}

static const struct nv_model *nv_model_const(const struct rl_device *device)
{
	return (const struct nv_model *)device;
}

static bool nv_kind_create(struct rl_device *device, const struct rl_config *config,
			   const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc)
{
	return nv_model_create(nv_model_of(device), (const struct nv_config *)config, ops, host,
			       alloc);
}

static void nv_kind_identify(const struct rl_device *device, struct rl_pci *pci)
{
	pci->vendor = NV_PCI_VENDOR;
	pci->device = NV_PCI_DEVICE;
	pci->class = NV_PCI_CLASS;
	pci->interface = NV_PCI_INTERFACE;
	pci->bar = 0;
	pci->bar_bytes = NV_REG_BYTES;
	pci->vectors = (u8)(nv_model_const(device)->config.controller.queues + 1);
}

/* Registers are 4 or 8 bytes wide; reads of another width return all ones. */
static u64 nv_kind_read(struct rl_device *device, u32 offset, u32 size)
{
	struct nv_model *model = nv_model_of(device);

	if (size == 4)
		return nv_model_read(model, offset);
	if (size != 8)
		return ~0ULL;
	return nv_model_read(model, offset) | (u64)nv_model_read(model, offset + 4) << 32;
}

static void nv_kind_write(struct rl_device *device, u32 offset, u32 size, u64 value)
{
	struct nv_model *model = nv_model_of(device);

	if (size != 4 && size != 8)
		return;
	nv_model_write(model, offset, (u32)value);
	if (size == 8)
		nv_model_write(model, offset + 4, (u32)(value >> 32));
}

static void nv_kind_tick(struct rl_device *device)
{
	nv_model_tick(nv_model_of(device));
}

static void nv_kind_reset(struct rl_device *device)
{
	nv_model_reset(nv_model_of(device));
}

static void nv_kind_event(struct rl_device *device, u16 code)
{
	nv_model_event(nv_model_of(device), code);
}

static const char *nv_state(const struct nv_model *model)
{
	if (model->fault.gone)
		return "gone";
	if (model->csts & NV_CSTS_FATAL)
		return "failed";
	return model->csts & NV_CSTS_READY ? "ready" : "disabled";
}

/* "drive: MODEL, serial SERIAL, N sectors, blocks of 512 bytes". */
static void nv_status_drive(const struct nv_config *config, struct rl_text *text, const char *prefix)
{
	struct rl_text serial;
	char name[21];

	rl_text_init(&serial, name, sizeof(name));
	nv_serial(config, &serial);
	rl_text_add(text, prefix);
	rl_text_add(text, "drive: ");
	rl_text_add(text, config->controller.model);
	rl_text_add(text, ", serial ");
	rl_text_add(text, name);
	rl_text_add(text, ", ");
	rl_text_number(text, config->sectors);
	rl_text_add(text, " sectors, blocks of ");
	rl_text_number(text, config->controller.lba_bytes);
	rl_text_add(text, " bytes\n");
}

static void nv_status_limit(struct rl_text *text, const char *prefix, const char *key, u64 limit)
{
	if (limit) {
		rl_text_pair(text, prefix, key, limit);
		return;
	}
	rl_text_add(text, prefix);
	rl_text_add(text, key);
	rl_text_add(text, ": none\n");
}

static void nv_kind_status(const struct rl_device *device, struct rl_text *text, const char *prefix)
{
	const struct nv_model *model = nv_model_const(device);
	const struct nv_config *config = &model->config;
	u32 queues = 0, i;

	for (i = 1; i < NV_QUEUES; i++)
		queues += model->sq[i].entries > 0;
	nv_status_drive(config, text, prefix);
	rl_text_add(text, prefix);
	rl_text_add(text, "state: ");
	rl_text_add(text, nv_state(model));
	rl_text_add(text, "\n");
	rl_text_pair(text, prefix, "io_queues", queues);
	nv_status_limit(text, prefix, "limit_iops", config->limit.iops);
	nv_status_limit(text, prefix, "limit_bytes_s", config->limit.bytes_s);
	rl_text_pair(text, prefix, "cache_kib", config->flash.cache_kib);
	rl_text_pair(text, prefix, "cache_kib_used",
		     (u64)rl_flash_cached(&model->timing.flash, rl_now_ns(device)) *
		     config->flash.page_kib);
}

static const struct rl_store *nv_kind_contents(const struct rl_device *device)
{
	return &nv_model_const(device)->store;
}

static const struct rl_config *nv_kind_config(const struct rl_device *device)
{
	return &nv_model_const(device)->config.base;
}

static const char *nv_admin_name(u8 opcode)
{
	switch (opcode) {
	case NV_DELETE_SQ:
		return "DELETE_SQ";
	case NV_CREATE_SQ:
		return "CREATE_SQ";
	case NV_GET_LOG:
		return "GET_LOG_PAGE";
	case NV_DELETE_CQ:
		return "DELETE_CQ";
	case NV_CREATE_CQ:
		return "CREATE_CQ";
	case NV_IDENTIFY:
		return "IDENTIFY";
	case NV_ABORT:
		return "ABORT";
	case NV_SET_FEATURES:
		return "SET_FEATURES";
	case NV_GET_FEATURES:
		return "GET_FEATURES";
	case NV_ASYNC_EVENT:
		return "ASYNC_EVENT";
	}
	return "OTHER";
}

static const char *nv_kind_command_name(const struct rl_log_entry *entry)
{
	if (entry->unit == RL_LOG_ADMIN)
		return nv_admin_name(entry->opcode);
	switch (entry->opcode) {
	case NV_FLUSH:
		return "FLUSH";
	case NV_WRITE:
		return "WRITE";
	case NV_READ:
		return "READ";
	case NV_WRITE_ZEROES:
		return "WRITE_ZEROES";
	case NV_DATASET:
		return "DEALLOCATE";
	}
	return "OTHER";
}

const struct rl_kind nv_kind = {
	.keys = &nv_keys,
	.device_bytes = sizeof(struct nv_model),
	.create = nv_kind_create,
	.identify = nv_kind_identify,
	.read = nv_kind_read,
	.write = nv_kind_write,
	.tick = nv_kind_tick,
	.reset = nv_kind_reset,
	.event = nv_kind_event,
	.status = nv_kind_status,
	.contents = nv_kind_contents,
	.config = nv_kind_config,
	.command_name = nv_kind_command_name,
};
