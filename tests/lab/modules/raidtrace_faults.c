// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on demand: a kernel that checks itself must report each, or its silence over raidtrace means nothing.
 *
 * Writing the name of one to the parameter fault makes it happen. For tests alone, in a guest that is thrown away.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define SMALL 40

static DEFINE_SPINLOCK(first_lock);
static DEFINE_SPINLOCK(second_lock);
static int table[5];
static char guarded[SMALL];
static int __rcu *published = (int __rcu *)&table[0];
static unsigned int beyond = 5;
static int sink;
static void *forgotten;

/* The compiler is not to know what comes of these. */
static unsigned int far(void)
{
	return READ_ONCE(beyond);
}

static __always_inline void look(const char *memory, size_t at)
{
	OPTIMIZER_HIDE_VAR(memory);
	WRITE_ONCE(sink, READ_ONCE(memory[at]));
}

static noinline void slab(void)
{
	char *memory = kmalloc(SMALL, GFP_KERNEL);

	if (memory)
		look(memory, SMALL + far() - 5);
	kfree(memory);
}

static noinline void freed(void)
{
	char *memory = kmalloc(SMALL, GFP_KERNEL);
	char *again = memory;

	OPTIMIZER_HIDE_VAR(again);
	kfree(memory);
	if (again)
		look(again, far());
}

static noinline void from_vmalloc(void)
{
	char *memory = vmalloc(PAGE_SIZE + SMALL);

	if (memory)
		look(memory, PAGE_SIZE + SMALL + 8 * far());
	vfree(memory);
}

static noinline void global(void)
{
	look(guarded, SMALL - 5 + far());
}

static void shift(void)
{
	WRITE_ONCE(sink, 1 << (27 + far()));
}

static void array_index(void)
{
	WRITE_ONCE(sink, table[far()]);
}

static void asleep(void)
{
	spin_lock(&first_lock);
	might_sleep();
	spin_unlock(&first_lock);
}

static void lock_order(void)
{
	spin_lock(&first_lock);
	spin_lock(&second_lock);
	spin_unlock(&second_lock);
	spin_unlock(&first_lock);
	spin_lock(&second_lock);
	spin_lock(&first_lock);
	spin_unlock(&first_lock);
	spin_unlock(&second_lock);
}

static void rcu(void)
{
	WRITE_ONCE(sink, *rcu_dereference(published));
}

static void leak(void)
{
	unsigned int i;

	/*
	 * Some may still be in a register, on a stack, and in 7.2 in the slab
	 * allocator's arrays that they were taken from, whose entries are not cleared.
	 */
	for (i = 0; i < 1024; i++)
		forgotten = kmalloc(SMALL, GFP_KERNEL);
	forgotten = NULL;
}

static int racer(void *contended)
{
	unsigned int *number = contended;

	while (!kthread_should_stop()) {
		(*number)++;
		cond_resched();
	}
	return 0;
}

/*
 * Two threads, on two processors where there are so many: neither access is marked. gcc lets KCSAN see no access to a
 * static variable without a use of its address.
 */
static void race(void)
{
	static unsigned int contended;
	unsigned int *number = &contended;
	unsigned long end = jiffies + 5 * HZ;
	struct task_struct *other;

	other = kthread_run(racer, number, "raidtrace_racer");
	if (IS_ERR(other))
		return;
	while (time_before(jiffies, end)) {
		(*number)++;
		cond_resched();
	}
	kthread_stop(other);
}

static const struct {
	const char *name;
	void (*happen)(void);
} faults[] = {
	{ "slab", slab },
	{ "freed", freed },
	{ "vmalloc", from_vmalloc },
	{ "global", global },
	{ "shift", shift },
	{ "index", array_index },
	{ "asleep", asleep },
	{ "order", lock_order },
	{ "rcu", rcu },
	{ "leak", leak },
	{ "race", race },
};

static int happen(const char *text, const struct kernel_param *kp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (sysfs_streq(text, faults[i].name)) {
			faults[i].happen();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops fault_ops = { .set = happen };

module_param_cb(fault, &fault_ops, NULL, 0200);
MODULE_PARM_DESC(fault, "write the name of a fault to make it happen");

static int __init faults_init(void)
{
	return 0;
}

static void __exit faults_exit(void)
{
}

module_init(faults_init);
module_exit(faults_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faults that a kernel which checks itself must report");
