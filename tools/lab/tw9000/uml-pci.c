// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI host bridge of our own with the controller as its only function, on top
 * of logic_iomem. um_pci_ops, UML's own way, exists in late kernels only and is
 * not exported.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "uml.h"

#include <linux/io.h>
#include <linux/logic_iomem.h>
#include <linux/pci.h>

#define TW_BUS			1
#define TW_CONFIG_START		0xd0000000UL
#define TW_CONFIG_BYTES		4096UL
#define TW_MMIO_START		0xd1000000UL
#define TW_MMIO_BYTES		0x01000000UL
#define TW_BAR_BYTES		4096U	/* a page, though TW_REGISTER_BYTES would do */

/**
 * struct tw_bus - the bus
 * @card: the function behind it
 * @config: configuration space of the function
 * @mapped: the same as the PCI core sees it
 * @bar: the base address register in use
 */
struct tw_bus {
	struct tw_card *card;
	u8 config[TW_CONFIG_BYTES];
	void __iomem *mapped;
	unsigned int bar;
};

static struct tw_bus tw_bus;

static void tw_put_config(unsigned int offset, u32 value, int size)
{
	while (size--) {
		tw_bus.config[offset++] = (u8)value;
		value >>= 8;
	}
}

static unsigned long tw_config_read(void *priv, unsigned int offset, int size)
{
	unsigned long value = 0;

	while (size--)
		value = value << 8 | tw_bus.config[offset + size];
	return value;
}

static unsigned int tw_bar_offset(void)
{
	return PCI_BASE_ADDRESS_0 + 4 * tw_bus.bar;
}

/* Only what a driver may change: the base address, the command word, bookkeeping bytes. */
static void tw_config_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	switch (offset) {
	case PCI_COMMAND:
	case PCI_CACHE_LINE_SIZE:
	case PCI_LATENCY_TIMER:
	case PCI_INTERRUPT_LINE:
		tw_put_config(offset, value, min(size, 2));
		return;
	}
	if (offset == tw_bar_offset() && size == 4)
		tw_put_config(offset, value & ~(TW_BAR_BYTES - 1), 4);
}

static const struct logic_iomem_ops tw_config_ops = {
	.read = tw_config_read,
	.write = tw_config_write,
};

static unsigned long tw_mmio_read(void *priv, unsigned int offset, int size)
{
	return size == 4 ? tw_card_read(tw_bus.card, offset) : ~0UL;
}

static void tw_mmio_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	if (size == 4)
		tw_card_write(tw_bus.card, offset, (u32)value);
}

static const struct logic_iomem_ops tw_mmio_ops = {
	.read = tw_mmio_read,
	.write = tw_mmio_write,
};

static long tw_map_config(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
			  void **priv)
{
	*ops = &tw_config_ops;
	return offset;
}

static const struct logic_iomem_region_ops tw_config_region = { .map = tw_map_config };

static long tw_map_mmio(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
			void **priv)
{
	unsigned long bar = tw_config_read(NULL, tw_bar_offset(), 4);
	unsigned long start = TW_MMIO_START + offset;

	if (start < bar || start + size > bar + TW_BAR_BYTES)
		return -ENOENT;
	*ops = &tw_mmio_ops;
	return start - bar;
}

static const struct logic_iomem_region_ops tw_mmio_region = { .map = tw_map_mmio };

static struct resource tw_config_resource = {
	.name = "tw9000 configuration",
	.start = TW_CONFIG_START,
	.end = TW_CONFIG_START + TW_CONFIG_BYTES - 1,
	.flags = IORESOURCE_MEM,
};

static struct resource tw_mmio_resource = {
	.name = "tw9000 registers",
	.start = TW_MMIO_START,
	.end = TW_MMIO_START + TW_MMIO_BYTES - 1,
	.flags = IORESOURCE_MEM,
};

static struct resource tw_bus_resource = {
	.name = "tw9000 bus",
	.start = TW_BUS,
	.end = TW_BUS,
	.flags = IORESOURCE_BUS,
};

static void __iomem *tw_map_bus(struct pci_bus *bus, unsigned int devfn, int where)
{
	if (bus->number != TW_BUS || devfn)
		return NULL;
	return tw_bus.mapped + where;
}

static struct pci_ops tw_pci_ops = {
	.map_bus = tw_map_bus,
	.read = pci_generic_config_read,
	.write = pci_generic_config_write,
};

static int tw_map_irq(const struct pci_dev *device, u8 slot, u8 pin)
{
	return tw_bus.card->irq;
}

static void tw_identify(u32 device_id)
{
	/* The 9500S has its registers behind BAR 1, all later controllers behind BAR 2. */
	tw_bus.bar = device_id == TW_PCI_DEVICE_9500S ? 1 : 2;
	tw_put_config(PCI_VENDOR_ID, TW_PCI_VENDOR, 2);
	tw_put_config(PCI_DEVICE_ID, device_id, 2);
	tw_put_config(PCI_CLASS_DEVICE, PCI_CLASS_STORAGE_RAID, 2);
	tw_put_config(PCI_SUBSYSTEM_VENDOR_ID, TW_PCI_VENDOR, 2);
	tw_put_config(PCI_SUBSYSTEM_ID, device_id, 2);
	tw_put_config(PCI_INTERRUPT_PIN, 1, 1);
}

int tw_pci_add(struct tw_card *card)
{
	struct pci_host_bridge *bridge;
	int err;

	tw_bus.card = card;
	tw_identify(card->model.config.controller.device_id);
	err = logic_iomem_add_region(&tw_config_resource, &tw_config_region);
	if (err)
		return err;
	err = logic_iomem_add_region(&tw_mmio_resource, &tw_mmio_region);
	if (err)
		return err;
	tw_bus.mapped = ioremap(TW_CONFIG_START, TW_CONFIG_BYTES);
	bridge = pci_alloc_host_bridge(0);
	if (!tw_bus.mapped || !bridge)
		return -ENOMEM;
	pci_add_resource(&bridge->windows, &tw_mmio_resource);
	pci_add_resource(&bridge->windows, &tw_bus_resource);
	bridge->ops = &tw_pci_ops;
	bridge->busnr = TW_BUS;
	bridge->map_irq = tw_map_irq;
	return pci_host_probe(bridge);
}
