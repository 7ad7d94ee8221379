// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI host bridge of our own with a function for each device, on top of
 * logic_iomem. um_pci_ops, UML's own interface, exists in late kernels only and is
 * not exported. Message interrupts come from UML's own domain, which arch/um
 * gives every root bus: the data of a message is the Linux interrupt number.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "uml.h"

#include <linux/io.h>
#include <linux/logic_iomem.h>
#include <linux/pci.h>

#define RL_BUS			1
#define RL_CONFIG_START		0xd0000000UL
#define RL_CONFIG_BYTES		4096UL
#define RL_MMIO_START		0xd1000000UL
#define RL_MMIO_BYTES		0x01000000UL
#define RL_MESSAGE_BAR		4	/* has the table of message interrupts */
#define RL_MESSAGE_BAR_BYTES	4096U
#define RL_MESSAGE_PENDING	2048U	/* in that BAR: bits of messages that wait */
#define RL_PARTS		0x60U	/* place of the capabilities that name parts of the registers */
#define RL_PART_BYTES		20U
#define RL_MSIX			0x40U	/* the capability's place in the configuration space */

/**
 * struct rl_function - one function, in a slot of its own
 * @card: the device behind it
 * @identity: what it says that it is
 * @config: its configuration space
 */
struct rl_function {
	struct rl_card *card;
	struct rl_pci identity;
	u8 config[RL_CONFIG_BYTES];
};

/**
 * struct rl_bus - the bus
 * @count: functions
 * @function: by slot
 * @mapped: their configuration spaces, one behind the other, as the PCI core sees them
 */
struct rl_bus {
	u32 count;
	struct rl_function function[RL_MAX_DEVICES];
	void __iomem *mapped;
};

static struct rl_bus rl_bus;

static void rl_put_config(struct rl_function *function, unsigned int offset, u32 value, int size)
{
	while (size--) {
		function->config[offset++] = (u8)value;
		value >>= 8;
	}
}

static u32 rl_get_config(const struct rl_function *function, unsigned int offset, int size)
{
	u32 value = 0;

	while (size--)
		value = value << 8 | function->config[offset + size];
	return value;
}

/* Return: size of the memory behind a base address register, 0 if it has none. */
static u32 rl_bar_bytes(const struct rl_function *function, unsigned int bar)
{
	if (bar == function->identity.bar)
		return function->identity.bar_bytes;
	return bar == RL_MESSAGE_BAR && function->identity.vectors ? RL_MESSAGE_BAR_BYTES : 0;
}

static void rl_put_bar(struct rl_function *function, unsigned int offset, u32 value)
{
	u32 bytes = rl_bar_bytes(function, (offset - PCI_BASE_ADDRESS_0) / 4);

	if (bytes)
		rl_put_config(function, offset, value & ~(bytes - 1), 4);
}

static void rl_put_message_flags(struct rl_function *function, u32 value)
{
	struct rl_card *card = function->card;
	unsigned long flags;

	value &= PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL;
	spin_lock_irqsave(&card->lock, flags);
	rl_put_config(function, RL_MSIX + PCI_MSIX_FLAGS, value | (function->identity.vectors - 1),
		      2);
	card->messages = value & PCI_MSIX_FLAGS_ENABLE;
	card->masked = value & PCI_MSIX_FLAGS_MASKALL;
	rl_card_plan(card);
	spin_unlock_irqrestore(&card->lock, flags);
}

static unsigned long rl_config_read(void *priv, unsigned int offset, int size)
{
	return rl_get_config(&rl_bus.function[offset / RL_CONFIG_BYTES], offset % RL_CONFIG_BYTES,
			     size);
}

/* Only what a driver may change: base addresses, the command word, bookkeeping bytes, flags of message interrupts. */
static void rl_config_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	struct rl_function *function = &rl_bus.function[offset / RL_CONFIG_BYTES];

	offset %= RL_CONFIG_BYTES;
	switch (offset) {
	case PCI_COMMAND:
	case PCI_CACHE_LINE_SIZE:
	case PCI_LATENCY_TIMER:
	case PCI_INTERRUPT_LINE:
		rl_put_config(function, offset, value, min(size, 2));
		return;
	}
	if (offset >= PCI_BASE_ADDRESS_0 && offset <= PCI_BASE_ADDRESS_5 && size == 4)
		rl_put_bar(function, offset, value);
	if (offset == RL_MSIX + PCI_MSIX_FLAGS && function->identity.vectors)
		rl_put_message_flags(function, value);
}

static const struct logic_iomem_ops rl_config_ops = {
	.read = rl_config_read,
	.write = rl_config_write,
};

static unsigned long rl_mmio_read(void *priv, unsigned int offset, int size)
{
	return rl_card_read(priv, offset, size);
}

static void rl_mmio_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	rl_card_write(priv, offset, size, value);
}

static const struct logic_iomem_ops rl_mmio_ops = {
	.read = rl_mmio_read,
	.write = rl_mmio_write,
};

void rl_card_raise(struct rl_card *card, u32 vector)
{
	lockdep_assert_held(&card->lock);
	if (card->messages && vector < RL_MAX_VECTORS)
		card->raised |= 1U << vector;
}

u32 rl_card_next_message(struct rl_card *card)
{
	u32 i;

	lockdep_assert_held(&card->lock);
	if (!card->messages || card->masked)
		return 0;
	for (i = 0; i < RL_MAX_VECTORS; i++) {
		if (!(card->raised & 1U << i) || card->vector[i].control & PCI_MSIX_ENTRY_CTRL_MASKBIT)
			continue;
		card->raised &= ~(1U << i);
		return card->vector[i].data;
	}
	return 0;
}

/* Accesses are 32 bits wide, as the PCI core's are. */
static unsigned long rl_message_read(void *priv, unsigned int offset, int size)
{
	struct rl_card *card = priv;
	unsigned long flags, value = 0;

	spin_lock_irqsave(&card->lock, flags);
	if (offset + size <= sizeof(card->vector))
		value = ((u32 *)card->vector)[offset / 4];
	else if (offset == RL_MESSAGE_PENDING)
		value = card->raised;
	spin_unlock_irqrestore(&card->lock, flags);
	return value;
}

static void rl_message_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	struct rl_card *card = priv;
	unsigned long flags;

	spin_lock_irqsave(&card->lock, flags);
	if (offset + size <= sizeof(card->vector))
		((u32 *)card->vector)[offset / 4] = (u32)value;
	rl_card_plan(card);
	spin_unlock_irqrestore(&card->lock, flags);
}

static const struct logic_iomem_ops rl_message_ops = {
	.read = rl_message_read,
	.write = rl_message_write,
};

static long rl_map_config(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
			  void **priv)
{
	*ops = &rl_config_ops;
	return offset;
}

static const struct logic_iomem_region_ops rl_config_region = { .map = rl_map_config };

static long rl_map_mmio(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
			void **priv)
{
	unsigned long start = RL_MMIO_START + offset;
	u32 i;

	for (i = 0; i < rl_bus.count * PCI_STD_NUM_BARS; i++) {
		const struct rl_function *function = &rl_bus.function[i / PCI_STD_NUM_BARS];
		unsigned int bar = i % PCI_STD_NUM_BARS;
		u32 bytes = rl_bar_bytes(function, bar);
		unsigned long base = rl_get_config(function, PCI_BASE_ADDRESS_0 + 4 * bar, 4);

		if (!bytes || start < base || start + size > base + bytes)
			continue;
		*ops = bar == RL_MESSAGE_BAR && bar != function->identity.bar ? &rl_message_ops :
										 &rl_mmio_ops;
		*priv = function->card;
		return start - base;
	}
	return -ENOENT;
}

static const struct logic_iomem_region_ops rl_mmio_region = { .map = rl_map_mmio };

static struct resource rl_config_resource = {
	.name = "raidlab configuration",
	.start = RL_CONFIG_START,
	.end = RL_CONFIG_START + RL_MAX_DEVICES * RL_CONFIG_BYTES - 1,
	.flags = IORESOURCE_MEM,
};

static struct resource rl_mmio_resource = {
	.name = "raidlab registers",
	.start = RL_MMIO_START,
	.end = RL_MMIO_START + RL_MMIO_BYTES - 1,
	.flags = IORESOURCE_MEM,
};

static struct resource rl_bus_resource = {
	.name = "raidlab bus",
	.start = RL_BUS,
	.end = RL_BUS,
	.flags = IORESOURCE_BUS,
};

static void __iomem *rl_map_bus(struct pci_bus *bus, unsigned int devfn, int where)
{
	if (bus->number != RL_BUS || PCI_FUNC(devfn) || PCI_SLOT(devfn) >= rl_bus.count)
		return NULL;
	return rl_bus.mapped + PCI_SLOT(devfn) * RL_CONFIG_BYTES + where;
}

static struct pci_ops rl_pci_ops = {
	.map_bus = rl_map_bus,
	.read = pci_generic_config_read,
	.write = pci_generic_config_write,
};

static int rl_map_irq(const struct pci_dev *device, u8 slot, u8 pin)
{
	return rl_bus.function[PCI_SLOT(device->devfn)].card->irq;
}

/* Vendor-specific capabilities, each with the place of a part of the registers. */
static void rl_put_parts(struct rl_function *function)
{
	const struct rl_pci *identity = &function->identity;
	unsigned int at = RL_PARTS;
	u32 i;

	if (!identity->nr_parts)
		return;
	rl_put_config(function, PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
	rl_put_config(function, PCI_CAPABILITY_LIST, at, 1);
	for (i = 0; i < identity->nr_parts; i++, at += RL_PART_BYTES) {
		const struct rl_pci_part *part = &identity->parts[i];

		rl_put_config(function, at, PCI_CAP_ID_VNDR, 1);
		if (i + 1 < identity->nr_parts)
			rl_put_config(function, at + 1, at + RL_PART_BYTES, 1);
		rl_put_config(function, at + 2, RL_PART_BYTES, 1);
		rl_put_config(function, at + 3, part->type, 1);
		rl_put_config(function, at + 4, identity->bar, 1);
		rl_put_config(function, at + 8, part->offset, 4);
		rl_put_config(function, at + 12, part->bytes, 4);
	}
}

static void rl_identify(struct rl_function *function)
{
	const struct rl_device *device = function->card->device;
	struct rl_pci *identity = &function->identity;

	device->kind->identify(device, identity);
	rl_put_config(function, PCI_VENDOR_ID, identity->vendor, 2);
	rl_put_config(function, PCI_DEVICE_ID, identity->device, 2);
	rl_put_config(function, PCI_CLASS_PROG, identity->interface, 1);
	rl_put_config(function, PCI_CLASS_DEVICE, identity->class, 2);
	rl_put_config(function, PCI_SUBSYSTEM_VENDOR_ID, identity->vendor, 2);
	rl_put_config(function, PCI_SUBSYSTEM_ID, identity->device, 2);
	rl_put_config(function, PCI_INTERRUPT_PIN, 1, 1);
	rl_put_parts(function);
	if (!identity->vectors)
		return;
	rl_put_config(function, PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
	rl_put_config(function, PCI_CAPABILITY_LIST, RL_MSIX, 1);
	rl_put_config(function, RL_MSIX + PCI_CAP_LIST_ID, PCI_CAP_ID_MSIX, 1);
	rl_put_config(function, RL_MSIX + PCI_MSIX_FLAGS, identity->vectors - 1, 2);
	rl_put_config(function, RL_MSIX + PCI_MSIX_TABLE, RL_MESSAGE_BAR, 4);
	rl_put_config(function, RL_MSIX + PCI_MSIX_PBA, RL_MESSAGE_PENDING | RL_MESSAGE_BAR, 4);
}

int rl_pci_add(const struct rl_cards *cards)
{
	struct pci_host_bridge *bridge;
	u32 i;
	int err;

	for (i = 0; i < cards->count; i++) {
		rl_bus.function[i].card = cards->card[i];
		rl_identify(&rl_bus.function[i]);
	}
	rl_bus.count = cards->count;
	err = logic_iomem_add_region(&rl_config_resource, &rl_config_region);
	if (err)
		return err;
	err = logic_iomem_add_region(&rl_mmio_resource, &rl_mmio_region);
	if (err)
		return err;
	rl_bus.mapped = ioremap(RL_CONFIG_START, RL_MAX_DEVICES * RL_CONFIG_BYTES);
	bridge = pci_alloc_host_bridge(0);
	if (!rl_bus.mapped || !bridge)
		return -ENOMEM;
	pci_add_resource(&bridge->windows, &rl_mmio_resource);
	pci_add_resource(&bridge->windows, &rl_bus_resource);
	bridge->ops = &rl_pci_ops;
	bridge->busnr = RL_BUS;
	bridge->map_irq = rl_map_irq;
	return pci_host_probe(bridge);
}
