// SPDX-License-Identifier: GPL-2.0-or-later
/* The controller as one kind of simulated device. */
#include "controller.h"
#include "3w-9xxx/wire/wire.h"

static struct tw_model *tw_model_of(struct rl_device *device)
{
	return (struct tw_model *)device;
}

static const struct tw_model *tw_model_const(const struct rl_device *device)
{
	return (const struct tw_model *)device;
}

static bool tw_kind_create(struct rl_device *device, const struct rl_config *config,
			   const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc)
{
	return tw_model_create(tw_model_of(device), (const struct tw_config *)config, ops, host,
			       alloc);
}

static void tw_kind_identify(const struct rl_device *device, struct rl_pci *pci)
{
	u32 id = tw_model_const(device)->config.controller.device_id;

	pci->vendor = TW_PCI_VENDOR;
	pci->device = (u16)id;
	pci->class = TW_PCI_CLASS_RAID;
	pci->interface = 0;
	/* The 9500S has its registers behind BAR 1, all later controllers behind BAR 2. */
	pci->bar = id == TW_PCI_DEVICE_9500S ? 1 : 2;
	pci->vectors = 0;
	pci->bar_bytes = 4096;	/* a page, though TW_REGISTER_BYTES would do */
}

/* Registers are 32 bits wide; reads of another width return all ones. */
static u64 tw_kind_read(struct rl_device *device, u32 offset, u32 size)
{
	return size == 4 ? tw_model_read(tw_model_of(device), offset) : ~0ULL;
}

static void tw_kind_write(struct rl_device *device, u32 offset, u32 size, u64 value)
{
	if (size == 4)
		tw_model_write(tw_model_of(device), offset, (u32)value);
}

static void tw_kind_tick(struct rl_device *device)
{
	tw_model_tick(tw_model_of(device));
}

static void tw_kind_reset(struct rl_device *device)
{
	tw_model_write(tw_model_of(device), TW_REG_CONTROL,
		       TW_CONTROL_SOFT_RESET | TW_CONTROL_DISABLE_INTERRUPTS);
}

static void tw_kind_event(struct rl_device *device, u16 code)
{
	tw_model_event(tw_model_of(device), code, TW_SEVERITY_INFO);
}

static const char *tw_unit_state(const struct tw_model *model, u32 unit)
{
	if (model->fault.offline[unit])
		return "offline";
	if (model->timing.health[unit].missing == TW_NO_MEMBER)
		return "ok";
	return model->background.kind == TW_BACKGROUND_REBUILD ? "rebuilding" : "degraded";
}

/* "controller: 1002, FE9X ..." and "array: 1 x raid0 of 12 drives, stripe 64 KiB, N sectors". */
static void tw_status_array(const struct tw_model *model, struct rl_text *text, const char *prefix)
{
	const struct tw_array_config *array = &model->config.array;

	rl_text_add(text, prefix);
	rl_text_add(text, "controller: ");
	rl_text_hex(text, model->config.controller.device_id, 4);
	rl_text_add(text, ", ");
	rl_text_add(text, model->config.controller.firmware);
	rl_text_add(text, "\n");
	rl_text_add(text, prefix);
	rl_text_add(text, "array: ");
	rl_text_number(text, array->units);
	rl_text_add(text, " x ");
	rl_text_add(text, tw_level_name(array->level));
	rl_text_add(text, " of ");
	rl_text_number(text, array->drives);
	rl_text_add(text, " drives, stripe ");
	rl_text_number(text, array->stripe_kib);
	rl_text_add(text, " KiB, ");
	rl_text_number(text, model->timing.array.sectors);
	rl_text_add(text, " sectors\n");
}

static void tw_kind_status(const struct rl_device *device, struct rl_text *text, const char *prefix)
{
	const struct tw_model *model = tw_model_const(device);
	u32 unit;

	tw_status_array(model, text, prefix);
	for (unit = 0; unit < model->config.array.units; unit++) {
		rl_text_add(text, prefix);
		rl_text_add(text, "unit_");
		rl_text_number(text, unit);
		rl_text_add(text, ": ");
		rl_text_add(text, tw_unit_state(model, unit));
		rl_text_add(text, "\n");
	}
	rl_text_add(text, prefix);
	rl_text_add(text, "background: ");
	rl_text_add(text, tw_background_name(model->background.kind));
	rl_text_add(text, "\n");
	if (model->background.kind) {
		rl_text_add(text, prefix);
		rl_text_add(text, "background_sectors: ");
		rl_text_number(text, model->background.at);
		rl_text_add(text, " of ");
		rl_text_number(text, model->timing.array.drive_sectors);
		rl_text_add(text, "\n");
	}
	rl_text_pair(text, prefix, "differing_sectors", model->background.differing);
}

static const struct rl_store *tw_kind_contents(const struct rl_device *device)
{
	return &tw_model_const(device)->store;
}

static const struct rl_config *tw_kind_config(const struct rl_device *device)
{
	return &tw_model_const(device)->config.base;
}

static const char *tw_kind_command_name(const struct rl_log_entry *entry)
{
	if (entry->unit != RL_LOG_ADMIN)
		return tw_scsi_name(entry->opcode);
	switch (entry->opcode) {
	case TW_OP_INIT_CONNECTION:
		return "INIT_CONNECTION";
	case TW_OP_EXECUTE_SCSI:
		return "GET_EVENT";
	case TW_OP_GET_PARAM:
		return "GET_PARAM";
	case TW_OP_SET_PARAM:
		return "SET_PARAM";
	}
	return "OTHER";
}

const struct rl_kind tw_kind = {
	.keys = &tw_keys,
	.device_bytes = sizeof(struct tw_model),
	.create = tw_kind_create,
	.identify = tw_kind_identify,
	.read = tw_kind_read,
	.write = tw_kind_write,
	.tick = tw_kind_tick,
	.reset = tw_kind_reset,
	.event = tw_kind_event,
	.status = tw_kind_status,
	.contents = tw_kind_contents,
	.config = tw_kind_config,
	.command_name = tw_kind_command_name,
};
