// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulated devices inside User Mode Linux: memory, clock, interrupt.
 *
 * Guest memory is reached directly: in UML a DMA address is a physical address
 * and all physical memory is mapped. The clock is CLOCK_MONOTONIC, which under
 * time-travel=inf-cpu advances only while the kernel waits.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "uml.h"

#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define RL_FOOTPRINT_PAGES	256UL	/* 1 MiB */

static char *rl_config_text[RL_MAX_DEVICES];
static u32 rl_config_count;
static struct rl_cards rl_cards;

/* Once for each profile. Not module_param(charp): that refuses more than 1024 characters. */
static int rl_config_set(const char *value, const struct kernel_param *param)
{
	char *text;

	if (rl_cards.count)
		return -EBUSY;
	if (rl_config_count == RL_MAX_DEVICES)
		return -ENOSPC;
	text = kstrdup(value, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	rl_config_text[rl_config_count++] = text;
	return 0;
}

/* A line for each profile. */
static int rl_config_get(char *buffer, const struct kernel_param *param)
{
	int used = 0;
	u32 i;

	for (i = 0; i < rl_config_count; i++)
		used += scnprintf(buffer + used, PAGE_SIZE - used, "%s\n", rl_config_text[i]);
	return used;
}

static const struct kernel_param_ops rl_config_ops = {
	.set = rl_config_set,
	.get = rl_config_get,
};
module_param_cb(config, &rl_config_ops, NULL, 0444);
MODULE_PARM_DESC(config, "key=value,... as in a profile; once for each profile; see Documentation/devices.rst");

/* CODE, or DEVICE:CODE. */
static int rl_event_set(const char *value, const struct kernel_param *param)
{
	const char *colon = strchr(value, ':');
	char number_text[3] = "";
	struct rl_card *card;
	unsigned long flags;
	u8 number = 0;
	u16 code;
	int err;

	err = kstrtou16(colon ? colon + 1 : value, 0, &code);
	if (!err && colon) {
		if (colon - value > 2)
			return -EINVAL;
		memcpy(number_text, value, colon - value);
		err = kstrtou8(number_text, 10, &number);
	}
	if (err)
		return err;
	if (number >= rl_cards.count)
		return -ENODEV;
	card = rl_cards.card[number];
	if (!card->device->kind->event)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&card->lock, flags);
	card->device->kind->event(card->device, code);
	rl_card_plan(card);
	spin_unlock_irqrestore(&card->lock, flags);
	return 0;
}

static const struct kernel_param_ops rl_event_ops = { .set = rl_event_set };
module_param_cb(aen, &rl_event_ops, NULL, 0200);
MODULE_PARM_DESC(aen, "write an event code (AEN) to raise that event; 1:CODE for device 1");

static bool rl_is_memory(u64 address, u32 bytes)
{
	u64 last = address + bytes - 1;

	return bytes && last >= address && pfn_valid(address >> PAGE_SHIFT) &&
	       pfn_valid(last >> PAGE_SHIFT);
}

static bool rl_uml_dma_read(void *host, u64 address, void *to, u32 bytes)
{
	if (!rl_is_memory(address, bytes))
		return false;
	memcpy(to, phys_to_virt(address), bytes);
	return true;
}

static bool rl_uml_dma_write(void *host, u64 address, const void *from, u32 bytes)
{
	if (!rl_is_memory(address, bytes))
		return false;
	memcpy(phys_to_virt(address), from, bytes);
	return true;
}

static bool rl_uml_dma_zero(void *host, u64 address, u32 bytes)
{
	if (!rl_is_memory(address, bytes))
		return false;
	memset(phys_to_virt(address), 0, bytes);
	return true;
}

static u64 rl_uml_now_ns(void *host)
{
	return ktime_get_ns();
}

static void rl_uml_wake_at(void *host, u64 ns)
{
	struct rl_card *card = host;

	card->wake = ns;
}

static void rl_uml_set_irq(void *host, bool level)
{
	struct rl_card *card = host;

	card->level = level;
}

static void rl_uml_raise(void *host, u32 vector)
{
	rl_card_raise(host, vector);
}

static void rl_uml_report(void *host, const char *text)
{
	struct rl_card *card = host;

	if (!card->reported)
		pr_err("%s\n", text);
	card->reported = true;
}

static const struct rl_host_ops rl_ops = {
	.dma_read = rl_uml_dma_read,
	.dma_write = rl_uml_dma_write,
	.dma_zero = rl_uml_dma_zero,
	.now_ns = rl_uml_now_ns,
	.wake_at = rl_uml_wake_at,
	.set_irq = rl_uml_set_irq,
	.raise = rl_uml_raise,
	.report = rl_uml_report,
};

/*
 * See to it that what the model waits for happens. An interrupt cannot be raised
 * here: the driver may hold the lock that its handler takes. The timer raises it
 * as soon as interrupts are on.
 */
void rl_card_plan(struct rl_card *card)
{
	u64 due = card->level || card->raised ? 0 : card->wake;

	lockdep_assert_held(&card->lock);
	if (due != RL_NEVER)
		hrtimer_start(&card->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_HARD);
}

/* Context: hard interrupt. The only place where the driver's handler is called. */
static enum hrtimer_restart rl_timer_function(struct hrtimer *timer)
{
	struct rl_card *card = container_of(timer, struct rl_card, timer);
	unsigned long flags;
	u32 message;
	bool level;

	spin_lock_irqsave(&card->lock, flags);
	if (card->wake != RL_NEVER && card->wake <= ktime_get_ns()) {
		card->wake = RL_NEVER;
		card->device->kind->tick(card->device);
	}
	while ((message = rl_card_next_message(card))) {
		spin_unlock_irqrestore(&card->lock, flags);
		generic_handle_irq(message);
		spin_lock_irqsave(&card->lock, flags);
	}
	level = card->level;
	spin_unlock_irqrestore(&card->lock, flags);
	if (level)
		generic_handle_irq(card->irq);
	spin_lock_irqsave(&card->lock, flags);
	/* A handler that leaves the line raised is called again, but later. */
	if (card->level)
		hrtimer_start(timer, ktime_add_us(ktime_get(), 1), HRTIMER_MODE_ABS_HARD);
	else if (card->wake != RL_NEVER)
		hrtimer_start(timer, ns_to_ktime(card->wake), HRTIMER_MODE_ABS_HARD);
	spin_unlock_irqrestore(&card->lock, flags);
	return HRTIMER_NORESTART;
}

u64 rl_card_read(struct rl_card *card, u32 offset, u32 size)
{
	unsigned long flags;
	u64 value;

	spin_lock_irqsave(&card->lock, flags);
	value = card->device->kind->read(card->device, offset, size);
	spin_unlock_irqrestore(&card->lock, flags);
	return value;
}

void rl_card_write(struct rl_card *card, u32 offset, u32 size, u64 value)
{
	unsigned long flags;

	spin_lock_irqsave(&card->lock, flags);
	card->device->kind->write(card->device, offset, size, value);
	rl_card_plan(card);
	spin_unlock_irqrestore(&card->lock, flags);
}

static void *rl_alloc_chunk(void *host)
{
	return (void *)__get_free_pages(GFP_KERNEL | __GFP_NOWARN, get_order(RL_CHUNK_BYTES));
}

/* Return: a device of this kind and configuration, or an error. */
static struct rl_card *rl_card_create(const struct rl_kind *kind, const struct rl_config *config)
{
	struct rl_card *card = kzalloc(sizeof(*card), GFP_KERNEL);

	if (!card)
		return ERR_PTR(-ENOMEM);
	card->device = vzalloc(kind->device_bytes);
	if (!card->device)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&card->lock);
	rl_timer_setup(&card->timer, rl_timer_function);
	card->wake = RL_NEVER;
	if (!kind->create(card->device, config, &rl_ops, card, rl_alloc_chunk)) {
		pr_err("not enough memory for store_mib=%u and log_entries=%u: give the guest more\n",
		       config->store_mib, config->log_entries);
		return ERR_PTR(-ENOMEM);
	}
	card->irq = irq_alloc_desc(NUMA_NO_NODE);
	if (card->irq < 0)
		return ERR_PTR(card->irq);
	/* Without a chip request_irq() fails with ENOSYS. */
	irq_set_chip_and_handler(card->irq, &dummy_irq_chip, handle_simple_irq);
	return card;
}

/* All devices of one profile. */
static int rl_profile_add(const char *text)
{
	const struct rl_kind *kind = rl_kind_of(text);
	char error[RL_CONFIG_ERROR_BYTES];
	struct rl_config *config;
	size_t used;
	u32 i;

	if (!kind) {
		pr_err("config: there is no such device: %s\n", text);
		return -EINVAL;
	}
	config = kzalloc(kind->keys->bytes, GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	for (i = 0; !i || i < config->count; i++) {
		struct rl_card *card;

		if (!rl_keys_parse(kind->keys, config, text, error)) {
			pr_err("config: %s\n", error);
			return -EINVAL;
		}
		if (rl_cards.count == RL_MAX_DEVICES) {
			pr_err("config: more than %u devices\n", RL_MAX_DEVICES);
			return -ENOSPC;
		}
		rl_keys_select(kind->keys, config, i);
		card = rl_card_create(kind, config);
		if (IS_ERR(card))
			return PTR_ERR(card);
		rl_cards.card[rl_cards.count++] = card;
	}
	used = strlen(rl_cards.profile);
	scnprintf(rl_cards.profile + used, sizeof(rl_cards.profile) - used, "%s%s",
		  used ? ", " : "", config->name);
	kfree(config);
	return 0;
}

/* Return: pages that this module takes while it runs. */
static unsigned long rl_module_pages(void)
{
	unsigned long bytes = 0;
#if KERNEL_VERSION(6, 4, 0) <= LINUX_VERSION_CODE
	for_each_mod_mem_type(type)
		if (!mod_mem_type_is_init(type))
			bytes += PAGE_ALIGN(THIS_MODULE->mem[type].size);
#else
	bytes = PAGE_ALIGN(THIS_MODULE->core_layout.size);
#endif
	return bytes / PAGE_SIZE;
}

/*
 * Take so many pages that a guest has the same memory left whatever the size of
 * this module: what the page cache holds, and with it the order of I/O, does not
 * change when a model grows. The lab gives the guest as much on top.
 */
static int rl_reserve(void)
{
	unsigned long pages = rl_module_pages();

	for (; pages < RL_FOOTPRINT_PAGES; pages++)
		if (!alloc_page(GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

/* After a failure the memory is not freed: the guest cannot be used without the device. */
static int __init rl_init(void)
{
	u32 i;
	int err = rl_reserve();

	if (!err && !rl_config_count)
		err = rl_profile_add("");

	for (i = 0; !err && i < rl_config_count; i++)
		err = rl_profile_add(rl_config_text[i]);
	if (!err)
		err = rl_proc_add(&rl_cards);
	return err ? err : rl_pci_add(&rl_cards);
}
module_init(rl_init);

/* No module_exit(): logic_iomem regions cannot be removed. A new guest has new devices. */
MODULE_DESCRIPTION("Simulated storage devices for User Mode Linux");
MODULE_LICENSE("GPL");
