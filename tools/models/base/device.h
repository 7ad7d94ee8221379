/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated device: what every kind of it has in common, what it needs of the
 * host around it, and what a host needs of it. A model knows neither kernel nor
 * clock; the host gives it both.
 */
#ifndef RL_DEVICE_H
#define RL_DEVICE_H

#include "keys.h"
#include "log.h"
#include "text.h"

struct rl_store;

#define RL_MAX_VECTORS		32

/**
 * struct rl_host_ops - what a host provides
 * @dma_read: copy from the host's memory; false if any of it is not memory
 * @dma_write: copy into the host's memory; false if any of it is not memory
 * @dma_zero: the same with zeros
 * @now_ns: the host's monotonic clock
 * @wake_at: call the kind's tick once at this time, replacing any earlier wish; RL_NEVER: do not
 * @set_irq: the interrupt line changed
 * @raise: send a message interrupt; the host has the table of vectors and their masks. NULL if it only
 *	has the line
 * @report: print a message for the user, once per cause
 *
 * Called only from within the functions of a struct rl_kind, which the host
 * serialises for each device; none may call back into the model.
 */
struct rl_host_ops {
	bool (*dma_read)(void *host, u64 address, void *to, u32 bytes);
	bool (*dma_write)(void *host, u64 address, const void *from, u32 bytes);
	bool (*dma_zero)(void *host, u64 address, u32 bytes);
	u64 (*now_ns)(void *host);
	void (*wake_at)(void *host, u64 ns);
	void (*set_irq)(void *host, bool level);
	void (*raise)(void *host, u32 vector);
	void (*report)(void *host, const char *text);
};

/**
 * struct rl_device - the head of every model
 * @kind: what it is
 * @ops: the host
 * @host: passed to @ops
 * @wake_ns: last time given to wake_at
 * @irq: last level given to set_irq
 * @nr_commands: commands that the driver posted
 * @nr_refused: commands that could not be answered
 * @log: ground truth
 */
struct rl_device {
	const struct rl_kind *kind;
	const struct rl_host_ops *ops;
	void *host;
	u64 wake_ns;
	bool irq;
	u64 nr_commands;
	u64 nr_refused;
	struct rl_log log;
};

/* A part of the registers that a capability of the vendor's own names, as virtio has them. */
struct rl_pci_part {
	u8 type;
	u32 offset;
	u32 bytes;
};

/**
 * struct rl_pci - a device as its driver finds it
 * @vendor: PCI vendor, and subsystem vendor
 * @device: PCI device, and subsystem
 * @class: base class and subclass
 * @interface: programming interface
 * @bar: number of the base address register with the registers
 * @vectors: message interrupts that it has, at most RL_MAX_VECTORS; 0: an interrupt line alone
 * @bar_bytes: size of the registers, a power of two of at least 4096
 * @parts: capabilities that name parts of the registers, NULL if there are none
 * @nr_parts: how many
 */
struct rl_pci {
	u16 vendor;
	u16 device;
	u16 class;
	u8 interface;
	u8 bar;
	u16 vectors;
	u32 bar_bytes;
	const struct rl_pci_part *parts;
	u32 nr_parts;
};

/**
 * struct rl_kind - a kind of device
 * @keys: of its profiles; their name is that of the driver
 * @device_bytes: size of one, which begins with a struct rl_device
 * @create: power on: a device in memory of undefined contents, of a configuration of this
 *	kind, which is copied. The host's operations must outlive the device. The function
 *	that allocates is that of rl_arena_create(); it is not called after creation.
 *	Returns false when there is not enough memory.
 * @identify: what the driver looks for
 * @read: a register of @size bytes at byte @offset; what does not exist reads as 0
 * @write: the same; writes to what does not exist are ignored
 * @tick: the time given to wake_at has come; calling it at any other time is harmless
 * @reset: power on again: commands are forgotten, interrupts are off
 * @event: raise an asynchronous event; NULL if there are none
 * @status: add lines "PREFIXKEY: VALUE" of what this kind has to tell
 * @contents: the sectors
 * @config: as it was created
 * @command_name: name of a command in the log
 */
struct rl_kind {
	const struct rl_keys *keys;
	size_t device_bytes;
	bool (*create)(struct rl_device *device, const struct rl_config *config,
		       const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc);
	void (*identify)(const struct rl_device *device, struct rl_pci *pci);
	u64 (*read)(struct rl_device *device, u32 offset, u32 size);
	void (*write)(struct rl_device *device, u32 offset, u32 size, u64 value);
	void (*tick)(struct rl_device *device);
	void (*reset)(struct rl_device *device);
	void (*event)(struct rl_device *device, u16 code);
	void (*status)(const struct rl_device *device, struct rl_text *text, const char *prefix);
	const struct rl_store *(*contents)(const struct rl_device *device);
	const struct rl_config *(*config)(const struct rl_device *device);
	const char *(*command_name)(const struct rl_log_entry *entry);
};

static inline bool rl_dma_read(const struct rl_device *device, u64 address, void *to, u32 bytes)
{
	return device->ops->dma_read(device->host, address, to, bytes);
}

static inline bool rl_dma_write(const struct rl_device *device, u64 address, const void *from,
				u32 bytes)
{
	return device->ops->dma_write(device->host, address, from, bytes);
}

static inline bool rl_dma_zero(const struct rl_device *device, u64 address, u32 bytes)
{
	return device->ops->dma_zero(device->host, address, bytes);
}

static inline u64 rl_now_ns(const struct rl_device *device)
{
	return device->ops->now_ns(device->host);
}

static inline void rl_raise(const struct rl_device *device, u32 vector)
{
	if (device->ops->raise)
		device->ops->raise(device->host, vector);
}

/* Begin a device's head; the model fills in the rest. */
void rl_device_init(struct rl_device *device, const struct rl_kind *kind,
		    const struct rl_host_ops *ops, void *host);

/* Tell the host, if it changed: the time at which the model wants to be called, and the interrupt line. */
void rl_device_wake_at(struct rl_device *device, u64 ns);
void rl_device_set_irq(struct rl_device *device, bool level);

/* The log as CSV: its header line, and entry @index. */
void rl_device_log_header(struct rl_text *text);
void rl_device_log_line(struct rl_text *text, const struct rl_device *device, u32 index);

#endif
