// SPDX-License-Identifier: GPL-2.0-or-later
/* The device as its driver finds it: capabilities, registers, configuration. */
#include "virtio.h"

static struct vb_model *vb_model_of(struct rl_device *device)
{
	return (struct vb_model *)device;
}

static const struct vb_model *vb_model_const(const struct rl_device *device)
{
	return (const struct vb_model *)device;
}

static u64 vb_offered(const struct vb_model *model)
{
	u64 features = VB_F_SEG_MAX | VB_F_BLK_SIZE | VB_F_INDIRECT | VB_F_VERSION_1;

	if (model->config.io_opt_kib)
		features |= VB_F_TOPOLOGY;
	if (model->config.write_cache)
		features |= VB_F_FLUSH;
	if (model->config.discard)
		features |= VB_F_DISCARD | VB_F_WRITE_ZEROES;
	return features;
}

/* The configuration of a block device. */
static void vb_device_config(const struct vb_model *model, u8 page[VB_DEVICE_BYTES])
{
	const struct vb_config *config = &model->config;

	rl_fill(page, 0, VB_DEVICE_BYTES);
	rl_put32(page, (u32)config->sectors);
	rl_put32(page + 4, (u32)(config->sectors >> 32));
	rl_put32(page + 12, config->segments);
	rl_put32(page + 20, RL_SECTOR_BYTES);
	rl_put16(page + 26, 1);
	rl_put32(page + 28, config->io_opt_kib * 2);
	page[32] = (u8)config->write_cache;
	rl_put16(page + 34, 1);
	rl_put32(page + 36, 1U << 22);	/* sectors of a discard: 2 GiB */
	rl_put32(page + 40, 1);
	rl_put32(page + 44, 8);
	rl_put32(page + 48, 1U << 22);
	rl_put32(page + 52, 1);
	page[56] = 1;
}

static u64 vb_common_read(const struct vb_model *model, u32 offset)
{
	const struct vb_queue *queue = &model->queue;
	bool there = !model->queue_select;

	switch (offset) {
	case VB_DEVICE_FEATURE_SELECT:
		return model->device_select;
	case VB_DEVICE_FEATURE:
		return model->device_select > 1 ? 0 :
		       (u32)(vb_offered(model) >> (32 * model->device_select));
	case VB_DRIVER_FEATURE_SELECT:
		return model->driver_select;
	case VB_DRIVER_FEATURE:
		return model->driver_select > 1 ? 0 :
		       (u32)(model->features >> (32 * model->driver_select));
	case VB_CONFIG_VECTOR:
	case VB_QUEUE_VECTOR:
		return VB_NO_VECTOR;
	case VB_NUM_QUEUES:
		return 1;
	case VB_STATUS:
		return model->status;
	case VB_QUEUE_SELECT:
		return model->queue_select;
	case VB_QUEUE_SIZE:
		return there ? queue->size : 0;
	case VB_QUEUE_ENABLE:
		return there && queue->enabled;
	case VB_QUEUE_DESC:
		return (u32)queue->desc;
	case VB_QUEUE_DESC + 4:
		return (u32)(queue->desc >> 32);
	case VB_QUEUE_DRIVER:
		return (u32)queue->driver;
	case VB_QUEUE_DRIVER + 4:
		return (u32)(queue->driver >> 32);
	case VB_QUEUE_DEVICE:
		return (u32)queue->device;
	case VB_QUEUE_DEVICE + 4:
		return (u32)(queue->device >> 32);
	}
	return 0;
}

static void vb_reset(struct vb_model *model)
{
	vb_queue_forget(model);
	model->device_select = 0;
	model->driver_select = 0;
	model->features = 0;
	model->status = 0;
	model->isr = 0;
	model->queue_select = 0;
	rl_fill(&model->queue, 0, sizeof(model->queue));
	model->queue.size = model->config.queue_size;
}

static void vb_set_status(struct vb_model *model, u8 value)
{
	if (!value) {
		vb_reset(model);
		return;
	}
	/* Features that the device has not are not accepted. */
	if (value & VB_STATUS_FEATURES_OK &&
	    (model->features & ~vb_offered(model) || !(model->features & VB_F_VERSION_1)))
		value &= (u8)~VB_STATUS_FEATURES_OK;
	model->status = (model->status & VB_STATUS_NEEDS_RESET) | value;
}

static void vb_set_half(u64 *to, bool high, u32 value)
{
	if (high)
		*to = (*to & 0xffffffffULL) | (u64)value << 32;
	else
		*to = (*to & ~0xffffffffULL) | value;
}

static void vb_queue_write(struct vb_model *model, u32 offset, u32 value)
{
	struct vb_queue *queue = &model->queue;

	if (model->queue_select || queue->enabled)
		return;
	switch (offset) {
	case VB_QUEUE_SIZE:
		if (value && value <= model->config.queue_size && !(value & (value - 1)))
			queue->size = value;
		break;
	case VB_QUEUE_ENABLE:
		queue->enabled = value == 1;
		break;
	case VB_QUEUE_DESC:
	case VB_QUEUE_DESC + 4:
		vb_set_half(&queue->desc, offset & 4, value);
		break;
	case VB_QUEUE_DRIVER:
	case VB_QUEUE_DRIVER + 4:
		vb_set_half(&queue->driver, offset & 4, value);
		break;
	case VB_QUEUE_DEVICE:
	case VB_QUEUE_DEVICE + 4:
		vb_set_half(&queue->device, offset & 4, value);
		break;
	}
}

static void vb_common_write(struct vb_model *model, u32 offset, u32 value)
{
	switch (offset) {
	case VB_DEVICE_FEATURE_SELECT:
		model->device_select = value;
		break;
	case VB_DRIVER_FEATURE_SELECT:
		model->driver_select = value;
		break;
	case VB_DRIVER_FEATURE:
		if (model->driver_select <= 1 && !(model->status & VB_STATUS_FEATURES_OK))
			vb_set_half(&model->features, model->driver_select, value);
		break;
	case VB_STATUS:
		vb_set_status(model, (u8)value);
		break;
	case VB_QUEUE_SELECT:
		model->queue_select = (u16)value;
		break;
	default:
		vb_queue_write(model, offset, value);
	}
}

static void vb_settle(struct vb_model *model)
{
	rl_device_wake_at(&model->device, rl_min(vb_queue_wake_ns(model), vb_fault_wake_ns(model)));
	rl_device_set_irq(&model->device, model->isr);
}

static u64 vb_read(struct rl_device *device, u32 offset, u32 size)
{
	struct vb_model *model = vb_model_of(device);
	u8 page[VB_DEVICE_BYTES];
	u64 value = 0;
	u32 i;

	if (offset == VB_ISR) {
		value = model->isr;	/* reading takes the line down */
		model->isr = 0;
		vb_settle(model);
	} else if (offset < VB_COMMON_BYTES) {
		value = vb_common_read(model, offset);
		if (size == 8)
			value |= vb_common_read(model, offset + 4) << 32;
	} else if (offset >= VB_DEVICE && offset + size <= VB_DEVICE + VB_DEVICE_BYTES && size <= 8) {
		vb_device_config(model, page);
		for (i = 0; i < size; i++)
			value |= (u64)page[offset - VB_DEVICE + i] << 8 * i;
	}
	return value;
}

static void vb_write(struct rl_device *device, u32 offset, u32 size, u64 value)
{
	struct vb_model *model = vb_model_of(device);

	if (offset >= VB_NOTIFY && offset < VB_NOTIFY + VB_NOTIFY_BYTES) {
		vb_queue_notify(model);
	} else if (offset < VB_COMMON_BYTES) {
		vb_common_write(model, offset, (u32)value);
		if (size == 8)
			vb_common_write(model, offset + 4, (u32)(value >> 32));
	}
	vb_settle(model);
}

static void vb_tick(struct rl_device *device)
{
	struct vb_model *model = vb_model_of(device);
	u64 now = rl_now_ns(device);

	device->wake_ns = RL_NEVER;
	vb_fault_advance(model, now);
	vb_queue_answer(model, now);
	vb_settle(model);
}

static void vb_power_on(struct rl_device *device)
{
	vb_reset(vb_model_of(device));
	vb_settle(vb_model_of(device));
}

static bool vb_create(struct rl_device *device, const struct rl_config *base,
		      const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc)
{
	const struct vb_config *config = (const struct vb_config *)base;
	struct vb_model *model = vb_model_of(device);

	rl_device_init(device, &vb_kind, ops, host);
	model->config = *config;
	model->slow = 1;
	rl_bucket_create(&model->iops, config->iops, config->burst_ios);
	rl_bucket_create(&model->bytes, config->limit_bytes_s, config->burst_bytes);
	rl_bucket_create(&model->link, config->bytes_s, 0);
	vb_reset(model);
	vb_fault_create(model);
	return rl_store_create(&model->store, config->sectors, base->store_mib, alloc, host) &&
	       rl_log_create(&device->log, base->log_entries, alloc, host);
}

static void vb_identify(const struct rl_device *device, struct rl_pci *pci)
{
	static const struct rl_pci_part parts[] = {
		{ VB_CAP_COMMON, VB_COMMON, VB_COMMON_BYTES }, { VB_CAP_NOTIFY, VB_NOTIFY, VB_NOTIFY_BYTES },
		{ VB_CAP_ISR, VB_ISR, 4 }, { VB_CAP_DEVICE, VB_DEVICE, VB_DEVICE_BYTES },
	};

	(void)device;
	pci->vendor = VB_PCI_VENDOR;
	pci->device = VB_PCI_DEVICE;
	pci->class = VB_PCI_CLASS;
	pci->interface = 0;
	pci->bar = VB_BAR;
	pci->vectors = 0;
	pci->bar_bytes = VB_BAR_BYTES;
	pci->parts = parts;
	pci->nr_parts = RL_COUNT(parts);
}

static void vb_show(const struct rl_device *device, struct rl_text *text, const char *prefix)
{
	const struct vb_model *model = vb_model_const(device);

	rl_text_pair(text, prefix, "sectors", model->config.sectors);
	rl_text_pair(text, prefix, "limit_iops", model->config.iops);
	rl_text_pair(text, prefix, "limit_bytes_s", model->config.limit_bytes_s);
	rl_text_pair(text, prefix, "in_flight", model->running);
}

static const struct rl_store *vb_contents(const struct rl_device *device)
{
	return &vb_model_const(device)->store;
}

static const struct rl_config *vb_config(const struct rl_device *device)
{
	return &vb_model_const(device)->config.base;
}

const struct rl_kind vb_kind = {
	.keys = &vb_keys,
	.device_bytes = sizeof(struct vb_model),
	.create = vb_create,
	.identify = vb_identify,
	.read = vb_read,
	.write = vb_write,
	.tick = vb_tick,
	.reset = vb_power_on,
	.status = vb_show,
	.contents = vb_contents,
	.config = vb_config,
	.command_name = vb_request_name,
};
