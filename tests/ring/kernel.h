/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions that kmod/ring.c uses, for a process: threads are the CPUs, and
 * the tests observe it through the few hooks at the end.
 */
#ifndef RAIDTRACE_RING_KERNEL_H
#define RAIDTRACE_RING_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CPUS	1024

#define __percpu
#define __rcu
#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define min(a, b)	((a) < (b) ? (a) : (b))
#define clamp(value, low, high)	min((value) < (low) ? (low) : (value), high)
#define clamp_t(type, value, low, high) \
	((type)(value) < (type)(low) ? (type)(low) : (type)(value) > (type)(high) ? (type)(high) : (type)(value))
#define container_of(ptr, type, member)	((type *)((char *)(ptr) - offsetof(type, member)))
#define BIT_ULL(n)	(1ULL << (n))
#define U64_MAX		UINT64_MAX
#define SZ_4M		(4U << 20)
#define SZ_8K		(8U << 10)
#define SZ_128K		(128U << 10)
#define GFP_KERNEL	0
#define __GFP_NOWARN	0
#define IS_ENABLED(option)	realtime	/* CONFIG_PREEMPT_RT */
#define TASK_COMM_LEN	16

/* Marked accesses of the kernel's memory model; ThreadSanitizer takes a volatile access for a plain one. */
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define smp_load_acquire(p) ({ \
	__typeof__(*(p)) loaded_ = __atomic_load_n(p, __ATOMIC_ACQUIRE); \
	\
	on_load(); \
	loaded_; \
})
#ifdef BROKEN_RELEASE	/* a control: the head is published without an order */
#define smp_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELAXED)
#else
#define smp_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)
#endif

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;

typedef pthread_spinlock_t raw_spinlock_t;
struct rcu_head {
	void *next;
};

#define raw_spin_lock(lock)	pthread_spin_lock(lock)
#define raw_spin_unlock(lock)	pthread_spin_unlock(lock)
#define raw_spin_lock_irqsave(lock, flags)	((flags) = 0, pthread_spin_lock(lock))
#define raw_spin_unlock_irqrestore(lock, flags)	((void)(flags), pthread_spin_unlock(lock))

struct work_struct {
	void (*function)(struct work_struct *work);
};

struct workqueue_struct {
	int unused;
};

#define WQ_UNBOUND	0
#define INIT_WORK(work, f)	((work)->function = (f))
#define alloc_workqueue(name, flags, most)	((struct workqueue_struct *)calloc(1, sizeof(struct workqueue_struct)))
#define destroy_workqueue(queue)	free(queue)
#define cancel_work_sync(work)	((void)(work))

extern unsigned int nr_cpus;
#define num_possible_cpus()	nr_cpus
#define nr_cpu_ids	nr_cpus
#define cpumask_first(mask)	0U
#define cpumask_next(cpu, mask)	((cpu) + 1)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < (int)nr_cpus; (cpu)++)
extern unsigned short node_of[2];	/* of the first CPUs */
#define cpu_to_node(cpu)	((cpu) < 2 ? node_of[cpu] : 0)
#define per_cpu_ptr(p, cpu)	(&(p)[cpu])
#define alloc_percpu(type)	((type *)aligned_zero(MOST_CPUS * sizeof(type)))
#define free_percpu(p)		free(p)
#define kvcalloc(n, size, flags)	calloc(n, size)
#define kvfree(p)		free(p)
#define queue_work_node(node, queue, work)	queue_work(queue, work)

/* In memory at once: no page fault is part of a measured time. */
static inline void *aligned_zero(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);

	return memory ? memset(memory, 0, size) : NULL;
}

static inline uint32_t rounddown_pow_of_two(uint32_t n)
{
	return 1U << (31 - __builtin_clz(n));
}

extern bool realtime;

/* Hooks; on_load() comes after each reading of a head or a tail. */
uint64_t ktime_get_ns(void);
void on_load(void);
void queue_work(struct workqueue_struct *queue, struct work_struct *work);

#endif
