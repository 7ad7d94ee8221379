/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host for the fuzzers of the models: memory, a clock that inputs turn, chunks that serve every input. The
 * fuzzer defines FUZZ_DEVICE, the members of struct host that are its own, and may define FUZZ_VECTORS, the
 * message interrupts that its device has.
 */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define BASE	0x100000000ULL
#define BYTES	(256U << 10)
#define CHUNKS	16
#ifndef FUZZ_VECTORS
#define FUZZ_VECTORS	0U
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct host {
	u8 memory[BYTES];
	u64 clock;
	u64 wake;
	bool irq;
	void *chunk[CHUNKS];
	u32 chunks;
	FUZZ_DEVICE
} host;

static bool reachable(u64 address, u32 bytes)
{
	return address >= BASE && address - BASE <= BYTES && bytes <= BYTES - (address - BASE);
}

static bool host_read(void *context, u64 address, void *to, u32 bytes)
{
	(void)context;
	if (!reachable(address, bytes))
		return false;
	memcpy(to, host.memory + (address - BASE), bytes);
	return true;
}

static bool host_write(void *context, u64 address, const void *from, u32 bytes)
{
	(void)context;
	if (!reachable(address, bytes))
		return false;
	memcpy(host.memory + (address - BASE), from, bytes);
	return true;
}

static bool host_zero(void *context, u64 address, u32 bytes)
{
	(void)context;
	if (!reachable(address, bytes))
		return false;
	memset(host.memory + (address - BASE), 0, bytes);
	return true;
}

static u64 host_now(void *context)
{
	(void)context;
	return host.clock;
}

static void host_wake(void *context, u64 ns)
{
	(void)context;
	host.wake = ns;
}

static void host_irq(void *context, bool level)
{
	(void)context;
	host.irq = level;
}

static void host_raise(void *context, u32 vector)
{
	(void)context;
	if (vector >= FUZZ_VECTORS)
		abort();
}

static void host_report(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static const struct rl_host_ops host_ops = {
	.dma_read = host_read, .dma_write = host_write, .dma_zero = host_zero, .now_ns = host_now,
	.wake_at = host_wake, .set_irq = host_irq, .raise = host_raise, .report = host_report,
};

/* The same chunks serve every input; their contents are rubbish by then, as promised. */
static void *host_chunk(void *context)
{
	(void)context;
	if (host.chunks == CHUNKS)
		return NULL;
	if (!host.chunk[host.chunks])
		host.chunk[host.chunks] = aligned_alloc(4096, RL_CHUNK_BYTES);
	return host.chunk[host.chunks++];
}

/* Begin an input: memory is full of one byte, nothing waits. */
static void host_begin(u8 filling)
{
	host.chunks = 0;
	host.clock = 1;
	host.wake = RL_NEVER;
	host.irq = false;
	memset(host.memory, filling, BYTES);
}

#endif
