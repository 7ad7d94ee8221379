// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulated controllers inside User Mode Linux: memory, clock, interrupt.
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

static char *tw_config_text;
static struct tw_cards tw_cards;

/* Not module_param(charp): that refuses more than 1024 characters. */
static int tw_config_set(const char *value, const struct kernel_param *param)
{
	if (tw_config_text)
		return -EBUSY;
	tw_config_text = kstrdup(value, GFP_KERNEL);
	return tw_config_text ? 0 : -ENOMEM;
}

static int tw_config_get(char *buffer, const struct kernel_param *param)
{
	return scnprintf(buffer, PAGE_SIZE, "%s\n", tw_config_text ? tw_config_text : "");
}

static const struct kernel_param_ops tw_config_ops = {
	.set = tw_config_set,
	.get = tw_config_get,
};
module_param_cb(config, &tw_config_ops, NULL, 0444);
MODULE_PARM_DESC(config, "key=value,... as in a profile; see Documentation/tw9000.rst");

static void tw_plan(struct tw_card *card);

/* CODE, or CONTROLLER:CODE. */
static int tw_event_set(const char *value, const struct kernel_param *param)
{
	const char *colon = strchr(value, ':');
	u8 number = 0;
	struct tw_card *card;
	unsigned long flags;
	char digit[2] = { value[0] };
	u16 code;
	int err;

	err = kstrtou16(colon ? colon + 1 : value, 0, &code);
	if (!err && colon)
		err = colon == value + 1 ? kstrtou8(digit, 10, &number) : -EINVAL;
	if (err)
		return err;
	if (number >= tw_cards.count)
		return -ENODEV;
	card = tw_cards.card[number];
	spin_lock_irqsave(&card->lock, flags);
	tw_model_event(&card->model, code, TW_SEVERITY_INFO);
	tw_plan(card);
	spin_unlock_irqrestore(&card->lock, flags);
	return 0;
}

static const struct kernel_param_ops tw_event_ops = { .set = tw_event_set };
module_param_cb(aen, &tw_event_ops, NULL, 0200);
MODULE_PARM_DESC(aen, "write an event code (AEN) to raise that event; 1:CODE for controller 1");

static bool tw_is_memory(u64 address, u32 bytes)
{
	u64 last = address + bytes - 1;

	return bytes && last >= address && pfn_valid(address >> PAGE_SHIFT) &&
	       pfn_valid(last >> PAGE_SHIFT);
}

static bool tw_dma_read(void *host, u64 address, void *to, u32 bytes)
{
	if (!tw_is_memory(address, bytes))
		return false;
	memcpy(to, phys_to_virt(address), bytes);
	return true;
}

static bool tw_dma_write(void *host, u64 address, const void *from, u32 bytes)
{
	if (!tw_is_memory(address, bytes))
		return false;
	memcpy(phys_to_virt(address), from, bytes);
	return true;
}

static bool tw_dma_zero(void *host, u64 address, u32 bytes)
{
	if (!tw_is_memory(address, bytes))
		return false;
	memset(phys_to_virt(address), 0, bytes);
	return true;
}

static u64 tw_now_ns(void *host)
{
	return ktime_get_ns();
}

static void tw_wake_at(void *host, u64 ns)
{
	struct tw_card *card = host;

	card->wake = ns;
}

static void tw_set_irq(void *host, bool level)
{
	struct tw_card *card = host;

	card->level = level;
}

static void tw_report(void *host, const char *text)
{
	struct tw_card *card = host;

	if (!card->reported)
		pr_err("%s\n", text);
	card->reported = true;
}

static const struct tw_host_ops tw_ops = {
	.dma_read = tw_dma_read,
	.dma_write = tw_dma_write,
	.dma_zero = tw_dma_zero,
	.now_ns = tw_now_ns,
	.wake_at = tw_wake_at,
	.set_irq = tw_set_irq,
	.report = tw_report,
};

/*
 * See to it that what the model waits for happens. An interrupt cannot be raised
 * here: the driver may hold the lock that its handler takes. The timer raises it
 * as soon as interrupts are on.
 */
static void tw_plan(struct tw_card *card)
{
	u64 due = card->level ? 0 : card->wake;

	lockdep_assert_held(&card->lock);
	if (due != TW_NEVER)
		hrtimer_start(&card->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_HARD);
}

/* Context: hard interrupt. The only place where the driver's handler is called. */
static enum hrtimer_restart tw_timer_function(struct hrtimer *timer)
{
	struct tw_card *card = container_of(timer, struct tw_card, timer);
	unsigned long flags;
	bool level;

	spin_lock_irqsave(&card->lock, flags);
	if (card->wake != TW_NEVER && card->wake <= ktime_get_ns()) {
		card->wake = TW_NEVER;
		tw_model_tick(&card->model);
	}
	level = card->level;
	spin_unlock_irqrestore(&card->lock, flags);
	if (level)
		generic_handle_irq(card->irq);
	spin_lock_irqsave(&card->lock, flags);
	/* A handler that leaves the line up is asked again, but not in the same instant. */
	if (card->level)
		hrtimer_start(timer, ktime_add_us(ktime_get(), 1), HRTIMER_MODE_ABS_HARD);
	else if (card->wake != TW_NEVER)
		hrtimer_start(timer, ns_to_ktime(card->wake), HRTIMER_MODE_ABS_HARD);
	spin_unlock_irqrestore(&card->lock, flags);
	return HRTIMER_NORESTART;
}

u32 tw_card_read(struct tw_card *card, u32 offset)
{
	unsigned long flags;
	u32 value;

	spin_lock_irqsave(&card->lock, flags);
	value = tw_model_read(&card->model, offset);
	spin_unlock_irqrestore(&card->lock, flags);
	return value;
}

void tw_card_write(struct tw_card *card, u32 offset, u32 value)
{
	unsigned long flags;

	spin_lock_irqsave(&card->lock, flags);
	tw_model_write(&card->model, offset, value);
	tw_plan(card);
	spin_unlock_irqrestore(&card->lock, flags);
}

static void *tw_alloc_chunk(void *host)
{
	return (void *)__get_free_pages(GFP_KERNEL | __GFP_NOWARN, get_order(TW_CHUNK_BYTES));
}

/* Return: the controller with this number, or an error. */
static struct tw_card *tw_card_create(const struct tw_config *common, u32 number)
{
	struct tw_config *config = kmemdup(common, sizeof(*common), GFP_KERNEL);
	struct tw_card *card = vzalloc(sizeof(*card));

	if (!config || !card)
		return ERR_PTR(-ENOMEM);
	tw_config_select(config, number);
	spin_lock_init(&card->lock);
	tw_timer_setup(&card->timer, tw_timer_function);
	card->wake = TW_NEVER;
	if (!tw_model_create(&card->model, config, &tw_ops, card, tw_alloc_chunk)) {
		pr_err("not enough memory for store_mib=%u and log_entries=%u: give the guest more\n",
		       config->store_mib, config->log_entries);
		return ERR_PTR(-ENOMEM);
	}
	kfree(config);
	card->irq = irq_alloc_desc(NUMA_NO_NODE);
	if (card->irq < 0)
		return ERR_PTR(card->irq);
	/* Without a chip request_irq() fails with ENOSYS. */
	irq_set_chip_and_handler(card->irq, &dummy_irq_chip, handle_simple_irq);
	return card;
}

/* Memory taken on the way to a failure is not given back: the guest is of no use without us. */
static int __init tw_init(void)
{
	char error[TW_CONFIG_ERROR_BYTES];
	struct tw_config *config;
	u32 i;
	int err;

	config = kzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	if (!tw_config_parse(config, tw_config_text ? tw_config_text : "", error)) {
		pr_err("config: %s\n", error);
		return -EINVAL;
	}
	for (i = 0; i < config->controller.count; i++) {
		struct tw_card *card = tw_card_create(config, i);

		if (IS_ERR(card))
			return PTR_ERR(card);
		tw_cards.card[i] = card;
	}
	tw_cards.count = config->controller.count;
	kfree(config);
	err = tw_proc_add(&tw_cards);
	return err ? err : tw_pci_add(&tw_cards);
}
module_init(tw_init);

/* No module_exit(): logic_iomem regions cannot be removed. A new guest is a new controller. */
MODULE_DESCRIPTION("Simulated 3ware 9000 controllers for User Mode Linux");
MODULE_LICENSE("GPL");
