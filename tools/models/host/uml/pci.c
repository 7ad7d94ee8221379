// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI host bridge of our own with a function for each device, on top of
 * logic_iomem. um_pci_ops, UML's own way, exists in late kernels only and is
 * not exported.
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

static unsigned int rl_bar_offset(const struct rl_function *function)
{
	return PCI_BASE_ADDRESS_0 + 4 * function->identity.bar;
}

static unsigned long rl_config_read(void *priv, unsigned int offset, int size)
{
	return rl_get_config(&rl_bus.function[offset / RL_CONFIG_BYTES], offset % RL_CONFIG_BYTES,
			     size);
}

/* Only what a driver may change: the base address, the command word, bookkeeping bytes. */
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
	if (offset == rl_bar_offset(function) && size == 4)
		rl_put_config(function, offset, value & ~(function->identity.bar_bytes - 1), 4);
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

	for (i = 0; i < rl_bus.count; i++) {
		const struct rl_function *function = &rl_bus.function[i];
		unsigned long bar = rl_get_config(function, rl_bar_offset(function), 4);

		if (start < bar || start + size > bar + function->identity.bar_bytes)
			continue;
		*ops = &rl_mmio_ops;
		*priv = function->card;
		return start - bar;
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
