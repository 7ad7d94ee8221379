// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands of the client, and what the model needs of its surroundings: memory, clock, interrupt. */
#include "server.h"
#include "base/base.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PCI_CLASS_RAID	0x0104

u64 vu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * RL_NS_PER_SECOND + (u64)now.tv_nsec;
}

static bool dma_read(void *host, u64 address, void *to, u32 bytes)
{
	return vu_memory_read(&((struct vu_card *)host)->memory, address, to, bytes);
}

static bool dma_write(void *host, u64 address, const void *from, u32 bytes)
{
	return vu_memory_write(&((struct vu_card *)host)->memory, address, from, bytes);
}

static bool dma_zero(void *host, u64 address, u32 bytes)
{
	static const u8 zeros[65536];

	while (bytes) {
		u32 part = bytes < sizeof(zeros) ? bytes : (u32)sizeof(zeros);

		if (!dma_write(host, address, zeros, part))
			return false;
		address += part;
		bytes -= part;
	}
	return true;
}

static u64 now_ns(void *host)
{
	(void)host;
	return vu_now_ns();
}

static void wake_at(void *host, u64 ns)
{
	((struct vu_card *)host)->wake = ns;
}

static void set_irq(void *host, bool level)
{
	((struct vu_card *)host)->level = level;
}

static void report(void *host, const char *text)
{
	struct vu_card *card = host;

	if (!card->reported)
		fprintf(stderr, "vfio-user: %s\n", text);
	card->reported = true;
}

static const struct rl_host_ops ops = {
	.dma_read = dma_read,
	.dma_write = dma_write,
	.dma_zero = dma_zero,
	.now_ns = now_ns,
	.wake_at = wake_at,
	.set_irq = set_irq,
	.report = report,
};

static void *alloc_chunk(void *host)
{
	(void)host;
	return aligned_alloc(4096, RL_CHUNK_BYTES);
}

bool vu_card_init(struct vu_card *card, const struct rl_kind *kind, const struct rl_config *config, int socket)
{
	const struct rl_pci *identity = &card->identity;

	vu_channel_init(&card->channel, socket);
	card->memory.channel = &card->channel;
	card->irq_fd = -1;
	card->wake = RL_NEVER;
	card->device = calloc(1, kind->device_bytes);
	if (!card->device || !kind->create(card->device, config, &ops, card, alloc_chunk))
		return false;
	kind->identify(card->device, &card->identity);
	rl_put16(card->config + PCI_VENDOR_ID, identity->vendor);
	rl_put16(card->config + PCI_DEVICE_ID, identity->device);
	card->config[PCI_CLASS_PROG] = identity->interface;
	rl_put16(card->config + PCI_CLASS_DEVICE, identity->class);
	rl_put16(card->config + PCI_SUBSYSTEM_VENDOR_ID, identity->vendor);
	rl_put16(card->config + PCI_SUBSYSTEM_ID, identity->device);
	card->config[PCI_INTERRUPT_PIN] = 1;
	return true;
}

void vu_card_settle(struct vu_card *card)
{
	const uint64_t one = 1;

	if (card->wake != RL_NEVER && card->wake <= vu_now_ns()) {
		card->wake = RL_NEVER;
		card->device->kind->tick(card->device);
	}
	/* The client masks the line when it sees the signal and unmasks it when the guest has acknowledged. */
	if (card->level && !card->masked && card->irq_fd >= 0)
		card->masked = write(card->irq_fd, &one, sizeof(one)) == sizeof(one);
}

static bool version(struct vu_card *card, const struct vu_message *message)
{
	static const char capabilities[] =
		"\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":1048576}}";

	return vu_reply(&card->channel, message, message->length < sizeof(struct vu_version) ? EINVAL : 0,
			capabilities, sizeof(capabilities));
}

static bool device_info(struct vu_card *card, const struct vu_message *message)
{
	const u32 info[] = {
		16, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET, VFIO_PCI_NUM_REGIONS, VFIO_PCI_NUM_IRQS,
	};

	return vu_reply(&card->channel, message, 0, info, sizeof(info));
}

/* Return: bytes of a region, 0 if there is none of that number. */
static u32 region_bytes(const struct vu_card *card, u32 region)
{
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		return VU_CONFIG_BYTES;
	return region == card->identity.bar ? card->identity.bar_bytes : 0;
}

static bool region_info(struct vu_card *card, const struct vu_message *message)
{
	struct { u32 argsz, flags, index, capabilities; u64 size, offset; } info = { 0 };
	int err = message->length < 12 ? EINVAL : 0;

	if (!err)
		memcpy(&info, message->payload, 12);
	info.argsz = sizeof(info);
	info.size = region_bytes(card, info.index);
	info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	return vu_reply(&card->channel, message, err, &info, sizeof(info));
}

static bool irq_info(struct vu_card *card, const struct vu_message *message)
{
	struct { u32 argsz, flags, index, count; } info = { 0 };
	int err = message->length < 12 ? EINVAL : 0;

	if (!err)
		memcpy(&info, message->payload, 12);
	info.argsz = sizeof(info);
	info.count = info.index == VFIO_PCI_INTX_IRQ_INDEX;
	info.flags = VFIO_IRQ_INFO_EVENTFD;
	if (info.count)
		info.flags |= VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED;
	return vu_reply(&card->channel, message, err, &info, sizeof(info));
}

static int set_irq_line(struct vu_card *card, struct vu_message *message)
{
	struct { u32 argsz, flags, index, start, count; } set;

	if (message->length < sizeof(set))
		return EINVAL;
	memcpy(&set, message->payload, sizeof(set));
	if (set.index != VFIO_PCI_INTX_IRQ_INDEX)
		return set.count ? EINVAL : 0;
	if (set.flags & VFIO_IRQ_SET_ACTION_MASK) {
		card->masked = true;
	} else if (set.flags & VFIO_IRQ_SET_ACTION_UNMASK) {
		/* With a descriptor the kernel of an accelerator would unmask; there is none here. */
		if (set.flags & VFIO_IRQ_SET_DATA_EVENTFD)
			return EINVAL;
		card->masked = false;
	} else if (set.flags & VFIO_IRQ_SET_ACTION_TRIGGER) {
		if (card->irq_fd >= 0)
			close(card->irq_fd);
		card->irq_fd = message->nr_fds ? message->fds[0] : -1;
		if (message->nr_fds)
			message->fds[0] = -1;
		card->masked = false;
	}
	return 0;
}

/* @data has room for VU_CONFIG_BYTES. */
static void region_read(struct vu_card *card, const struct vu_region_access *access, u8 *data)
{
	u64 value = ~0ULL;

	if (access->region == VFIO_PCI_CONFIG_REGION_INDEX) {
		memcpy(data, card->config + access->offset, access->count);
		return;
	}
	memset(data, 0xff, access->count);
	if (access->count > sizeof(value))
		return;
	value = card->device->kind->read(card->device, (u32)access->offset, access->count);
	for (u32 i = 0; i < access->count; i++)
		data[i] = (u8)(value >> 8 * i);
}

/* Only what a driver may change: the command word and bookkeeping bytes. */
static void region_write(struct vu_card *card, const struct vu_region_access *access, const u8 *data)
{
	if (access->region == card->identity.bar) {
		u64 value = 0;

		for (u32 i = 0; i < access->count && i < sizeof(value); i++)
			value |= (u64)data[i] << 8 * i;
		card->device->kind->write(card->device, (u32)access->offset, access->count, value);
		return;
	}
	for (u32 i = 0; i < access->count; i++) {
		u64 at = access->offset + i;

		if (at == PCI_COMMAND || at == PCI_COMMAND + 1 || at == PCI_CACHE_LINE_SIZE ||
		    at == PCI_LATENCY_TIMER || at == PCI_INTERRUPT_LINE)
			card->config[at] = data[i];
	}
}

/* A write is answered before it is carried out: the client serves no DMA message while it waits for the answer. */
static bool region_access(struct vu_card *card, const struct vu_message *message, bool writing)
{
	struct { struct vu_region_access access; u8 data[VU_CONFIG_BYTES]; } reply = { 0 };
	struct vu_region_access *access = &reply.access;
	u32 bytes;

	if (message->length < sizeof(*access))
		return vu_reply(&card->channel, message, EINVAL, NULL, 0);
	memcpy(access, message->payload, sizeof(*access));
	bytes = region_bytes(card, access->region);
	if (!access->count || access->count > VU_CONFIG_BYTES || access->offset >= bytes ||
	    access->count > bytes - access->offset ||
	    (writing && message->length < sizeof(*access) + access->count))
		return vu_reply(&card->channel, message, EINVAL, NULL, 0);
	if (!writing) {
		region_read(card, access, reply.data);
		return vu_reply(&card->channel, message, 0, &reply, sizeof(*access) + access->count);
	}
	if (!vu_reply(&card->channel, message, 0, access, sizeof(*access)))
		return false;
	region_write(card, access, message->payload + sizeof(*access));
	return true;
}

/* Power on again: the model throws away what it has to do, interrupts are off. */
static void reset(struct vu_card *card)
{
	card->device->kind->reset(card->device);
	card->masked = false;
}

bool vu_card_serve(struct vu_card *card, struct vu_message *message)
{
	int err = 0;

	switch (message->header.command) {
	case VU_VERSION:
		return version(card, message);
	case VU_DMA_MAP:
		err = vu_memory_map(&card->memory, message);
		break;
	case VU_DMA_UNMAP:
		err = vu_memory_unmap(&card->memory, message);
		return vu_reply(&card->channel, message, err, message->payload, sizeof(struct vu_dma_unmap));
	case VU_DEVICE_GET_INFO:
		return device_info(card, message);
	case VU_DEVICE_GET_REGION:
		return region_info(card, message);
	case VU_DEVICE_GET_IRQ:
		return irq_info(card, message);
	case VU_DEVICE_SET_IRQS:
		err = set_irq_line(card, message);
		break;
	case VU_REGION_READ:
	case VU_REGION_WRITE:
		return region_access(card, message, message->header.command == VU_REGION_WRITE);
	case VU_DEVICE_RESET:
		reset(card);
		break;
	default:
		err = ENOTSUP;
	}
	return vu_reply(&card->channel, message, err, NULL, 0);
}
