// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI host bridge of our own with a function for each controller, on top of
 * logic_iomem. um_pci_ops, UML's own way, exists in late kernels only and is
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
 * struct tw_function - one function, in a slot of its own
 * @card: the controller behind it
 * @config: its configuration space
 * @bar: the base address register in use
 */
struct tw_function {
	struct tw_card *card;
	u8 config[TW_CONFIG_BYTES];
	unsigned int bar;
};

/**
 * struct tw_bus - the bus
 * @count: functions
 * @function: by slot
 * @mapped: their configuration spaces, one behind the other, as the PCI core sees them
 */
struct tw_bus {
	u32 count;
	struct tw_function function[TW_MAX_CONTROLLERS];
	void __iomem *mapped;
};

static struct tw_bus tw_bus;

static void tw_put_config(struct tw_function *function, unsigned int offset, u32 value, int size)
{
	while (size--) {
		function->config[offset++] = (u8)value;
		value >>= 8;
	}
}

static u32 tw_get_config(const struct tw_function *function, unsigned int offset, int size)
{
	u32 value = 0;

	while (size--)
		value = value << 8 | function->config[offset + size];
	return value;
}

static unsigned int tw_bar_offset(const struct tw_function *function)
{
	return PCI_BASE_ADDRESS_0 + 4 * function->bar;
}

static unsigned long tw_config_read(void *priv, unsigned int offset, int size)
{
	return tw_get_config(&tw_bus.function[offset / TW_CONFIG_BYTES], offset % TW_CONFIG_BYTES,
			     size);
}

/* Only what a driver may change: the base address, the command word, bookkeeping bytes. */
static void tw_config_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	struct tw_function *function = &tw_bus.function[offset / TW_CONFIG_BYTES];

	offset %= TW_CONFIG_BYTES;
	switch (offset) {
	case PCI_COMMAND:
	case PCI_CACHE_LINE_SIZE:
	case PCI_LATENCY_TIMER:
	case PCI_INTERRUPT_LINE:
		tw_put_config(function, offset, value, min(size, 2));
		return;
	}
	if (offset == tw_bar_offset(function) && size == 4)
		tw_put_config(function, offset, value & ~(TW_BAR_BYTES - 1), 4);
}

static const struct logic_iomem_ops tw_config_ops = {
	.read = tw_config_read,
	.write = tw_config_write,
};

static unsigned long tw_mmio_read(void *priv, unsigned int offset, int size)
{
	return size == 4 ? tw_card_read(priv, offset) : ~0UL;
}

static void tw_mmio_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	if (size == 4)
		tw_card_write(priv, offset, (u32)value);
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
	unsigned long start = TW_MMIO_START + offset;
	u32 i;

	for (i = 0; i < tw_bus.count; i++) {
		const struct tw_function *function = &tw_bus.function[i];
		unsigned long bar = tw_get_config(function, tw_bar_offset(function), 4);

		if (start < bar || start + size > bar + TW_BAR_BYTES)
			continue;
		*ops = &tw_mmio_ops;
		*priv = function->card;
		return start - bar;
	}
	return -ENOENT;
}

static const struct logic_iomem_region_ops tw_mmio_region = { .map = tw_map_mmio };

static struct resource tw_config_resource = {
	.name = "tw9000 configuration",
	.start = TW_CONFIG_START,
	.end = TW_CONFIG_START + TW_MAX_CONTROLLERS * TW_CONFIG_BYTES - 1,
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
	if (bus->number != TW_BUS || PCI_FUNC(devfn) || PCI_SLOT(devfn) >= tw_bus.count)
		return NULL;
	return tw_bus.mapped + PCI_SLOT(devfn) * TW_CONFIG_BYTES + where;
}

static struct pci_ops tw_pci_ops = {
	.map_bus = tw_map_bus,
	.read = pci_generic_config_read,
	.write = pci_generic_config_write,
};

static int tw_map_irq(const struct pci_dev *device, u8 slot, u8 pin)
{
	return tw_bus.function[PCI_SLOT(device->devfn)].card->irq;
}

static void tw_identify(struct tw_function *function, u32 device_id)
{
	/* The 9500S has its registers behind BAR 1, all later controllers behind BAR 2. */
	function->bar = device_id == TW_PCI_DEVICE_9500S ? 1 : 2;
	tw_put_config(function, PCI_VENDOR_ID, TW_PCI_VENDOR, 2);
	tw_put_config(function, PCI_DEVICE_ID, device_id, 2);
	tw_put_config(function, PCI_CLASS_DEVICE, PCI_CLASS_STORAGE_RAID, 2);
	tw_put_config(function, PCI_SUBSYSTEM_VENDOR_ID, TW_PCI_VENDOR, 2);
	tw_put_config(function, PCI_SUBSYSTEM_ID, device_id, 2);
	tw_put_config(function, PCI_INTERRUPT_PIN, 1, 1);
}

int tw_pci_add(const struct tw_cards *cards)
{
	struct pci_host_bridge *bridge;
	u32 i;
	int err;

	for (i = 0; i < cards->count; i++) {
		tw_bus.function[i].card = cards->card[i];
		tw_identify(&tw_bus.function[i], cards->card[i]->model.config.controller.device_id);
	}
	tw_bus.count = cards->count;
	err = logic_iomem_add_region(&tw_config_resource, &tw_config_region);
	if (err)
		return err;
	err = logic_iomem_add_region(&tw_mmio_resource, &tw_mmio_region);
	if (err)
		return err;
	tw_bus.mapped = ioremap(TW_CONFIG_START, TW_MAX_CONTROLLERS * TW_CONFIG_BYTES);
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
