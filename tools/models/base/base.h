/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by all simulated devices: types, bytes, memory, text, logs, keys of profiles, triggers, devices. */
#ifndef RL_BASE_H
#define RL_BASE_H

/*
 * The only environment that a model knows: fixed-width types, and memory moved by
 * the compiler's own builtins.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed long long s64;
#endif

#define RL_SECTOR_BYTES		512U
#define RL_NEVER		(~0ULL)
#define RL_NS_PER_US		1000ULL
#define RL_NS_PER_SECOND	1000000000ULL

#define RL_COUNT(table)		(sizeof(table) / sizeof((table)[0]))

static inline void rl_copy(void *to, const void *from, size_t bytes)
{
	__builtin_memcpy(to, from, bytes);
}

static inline void rl_fill(void *to, u8 byte, size_t bytes)
{
	__builtin_memset(to, byte, bytes);
}

static inline u64 rl_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 rl_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Time to move @bytes at @kib_s KiB/s; @bytes up to 2^34. */
static inline u64 rl_transfer_ns(u64 bytes, u32 kib_s)
{
	return bytes * (RL_NS_PER_SECOND / 1024) / kib_s;
}

/* Numbers of little-endian bytes, at any address. */

static inline u16 rl_get16(const u8 *at)
{
	return (u16)(at[0] | at[1] << 8);
}

static inline u32 rl_get32(const u8 *at)
{
	return rl_get16(at) | (u32)rl_get16(at + 2) << 16;
}

static inline u64 rl_get64(const u8 *at)
{
	return rl_get32(at) | (u64)rl_get32(at + 4) << 32;
}

/* The lowest @bytes of @value. */
static inline void rl_put(u8 *at, u64 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		*at++ = (u8)(value & 0xff);
}

static inline void rl_put16(u8 *at, u32 value)
{
	rl_put(at, value, 2);
}

static inline void rl_put32(u8 *at, u32 value)
{
	rl_put(at, value, 4);
}

/* Text that is put together in a buffer; what does not fit is left out. */

/**
 * struct rl_text - a text
 * @at: the buffer; always ends with a NUL
 * @size: bytes of it, at least 1
 * @used: bytes in use, without the NUL
 */
struct rl_text {
	char *at;
	size_t size;
	size_t used;
};

/* Begin an empty text in @at. */
void rl_text_init(struct rl_text *text, char *at, size_t size);

void rl_text_add(struct rl_text *text, const char *more);

/* The same with at most @length bytes of @more. */
void rl_text_part(struct rl_text *text, const char *more, size_t length);

void rl_text_number(struct rl_text *text, u64 value);

/* Hexadecimal, without 0x, with zeros in front up to @digits. */
void rl_text_hex(struct rl_text *text, u64 value, u32 digits);

/* A line "PREFIXKEY: VALUE". */
void rl_text_pair(struct rl_text *text, const char *prefix, const char *key, u64 value);

/*
 * Memory is allocated once, when a device is created, in large chunks that are
 * not touched until they are used: the host pays for what a device holds, not
 * for what it could hold.
 */

#define RL_CHUNK_BYTES		(4U << 20)

/**
 * struct rl_arena - equal records spread over chunks
 * @chunks: the chunks' addresses, kept in a chunk of their own
 * @nr_chunks: how many
 * @record_bytes: size of one record; no record straddles chunks
 * @per_chunk: records in one chunk
 */
struct rl_arena {
	u8 **chunks;
	u32 nr_chunks;
	u32 record_bytes;
	u32 per_chunk;
};

typedef void *(*rl_alloc_chunk_fn)(void *host);

/**
 * rl_arena_create() - take the chunks for at least @nr_records records
 * @arena: filled in
 * @record_bytes: 1 to RL_CHUNK_BYTES
 * @nr_records: at least 1
 * @alloc: gives RL_CHUNK_BYTES of memory, contents undefined, aligned to 4 KiB, or NULL;
 *	the host frees all chunks it gave when it drops the model
 * @host: passed to @alloc
 *
 * Return: false when memory ran out or the size is beyond what one table of chunks can hold.
 */
bool rl_arena_create(struct rl_arena *arena, u32 record_bytes, u64 nr_records,
		     rl_alloc_chunk_fn alloc, void *host);

/* Return: record @index, which the caller knows to be within the arena. */
static inline void *rl_arena_at(const struct rl_arena *arena, u64 index)
{
	return arena->chunks[index / arena->per_chunk] +
	       index % arena->per_chunk * arena->record_bytes;
}

/* A queue of times, earliest first. */

/**
 * struct rl_moment - an entry of the queue
 * @ns: the time
 * @order: decides between equal times, the smaller first; the rest of it is the owner's
 */
struct rl_moment {
	u64 ns;
	u64 order;
};

/**
 * struct rl_heap - the queue
 * @moment: a binary heap; the owner provides the memory, and never adds more than fit
 * @count: entries in use
 */
struct rl_heap {
	struct rl_moment *moment;
	u32 count;
};

void rl_heap_add(struct rl_heap *heap, u64 ns, u64 order);

/* Remove the earliest and return it; there must be one. */
struct rl_moment rl_heap_take(struct rl_heap *heap);

/* Return: the earliest time, RL_NEVER if the queue is empty. */
static inline u64 rl_heap_first_ns(const struct rl_heap *heap)
{
	return heap->count ? heap->moment[0].ns : RL_NEVER;
}

/* Ground truth: every command that a device was given, in order of arrival. */

enum rl_log_status {
	RL_LOG_RUNNING,
	RL_LOG_GOOD,
	RL_LOG_FAILED,
	RL_LOG_LOST,		/* by the fault that loses a command; never completes */
	RL_LOG_RESET,		/* dropped by a reset or a failed controller; never completes */
};

#define RL_LOG_NONE	(~0U)	/* in place of an entry's index: the log was full */
#define RL_LOG_ADMIN	0xff	/* in place of a unit: a command to the controller itself */

/**
 * struct rl_log_entry - one command
 * @lba: first sector of 512 bytes of a command that has one, else 0
 * @arrival_ns: when it was posted
 * @completion_ns: when it was answered; valid for GOOD and FAILED
 * @sectors: of 512 bytes, else 0
 * @depth: commands of this unit in the device at arrival, itself not counted
 * @request_id: the driver's
 * @opcode: of its command set
 * @unit: the unit addressed, which need not exist, or RL_LOG_ADMIN
 * @status: an enum rl_log_status
 */
struct rl_log_entry {
	u64 lba;
	u64 arrival_ns;
	u64 completion_ns;
	u32 sectors;
	u16 depth;
	u16 request_id;
	u8 opcode;
	u8 unit;
	u8 status;
};

/**
 * struct rl_log - the log
 * @entries: the arena
 * @capacity: entries it may hold
 * @count: entries it holds
 * @lost: commands that came when it was full
 */
struct rl_log {
	struct rl_arena entries;
	u32 capacity;
	u32 count;
	u64 lost;
};

bool rl_log_create(struct rl_log *log, u32 capacity, rl_alloc_chunk_fn alloc, void *host);

/* Return: index of the new entry, a copy of @entry, or RL_LOG_NONE. */
u32 rl_log_add(struct rl_log *log, const struct rl_log_entry *entry);

void rl_log_finish(struct rl_log *log, u32 index, enum rl_log_status status, u64 now);

static inline const struct rl_log_entry *rl_log_at(const struct rl_log *log, u32 index)
{
	return rl_arena_at(&log->entries, index);
}

const char *rl_log_status_name(u8 status);

/* A simulated device as one flat list of key=value pairs, parsed strictly against the table of keys of its kind. */

#define RL_CONFIG_ERROR_BYTES	160

/**
 * struct rl_config - the head of every device's configuration
 * @name: the profile's name, shown in the status
 * @number: of devices that are alike, which one this is, from 0; no key sets it
 * @count: devices of this profile
 * @store_mib: memory for the sectors' contents, of each device
 * @log_entries: capacity of the ground-truth log, of each device
 */
struct rl_config {
	char name[32];
	u32 number;
	u32 count;
	u32 store_mib;
	u32 log_entries;
};

enum rl_key_type { RL_KEY_U32, RL_KEY_U64, RL_KEY_TEXT, RL_KEY_CHOICE };

/**
 * struct rl_key - one key
 * @name: with its table in front
 * @offset: of the value in the configuration
 * @type: of the value; of a choice it is a u32, the number of the word
 * @low: numbers: smallest value; text: 0
 * @high: numbers: largest value; text: buffer size
 * @preset: value of a number or choice that is not set
 * @preset_text: the same for a text, else NULL
 * @choices: the words of a choice, NULL behind the last, else NULL
 */
struct rl_key {
	const char *name;
	size_t offset;
	enum rl_key_type type;
	u64 low;
	u64 high;
	u64 preset;
	const char *preset_text;
	const char *const *choices;
};

/* For a table of keys: @type is the structure of the configuration. */
#define RL_NUMBER(type, key, member, low, high, preset) \
	{ key, offsetof(type, member), RL_KEY_U32, low, high, preset, NULL, NULL }
#define RL_WIDE(type, key, member, low, high, preset) \
	{ key, offsetof(type, member), RL_KEY_U64, low, high, preset, NULL, NULL }
#define RL_TEXT(type, key, member, preset) \
	{ key, offsetof(type, member), RL_KEY_TEXT, 0, sizeof(((type *)0)->member), 0, preset, NULL }
#define RL_CHOICE(type, key, member, choices, preset) \
	{ key, offsetof(type, member), RL_KEY_CHOICE, 0, 0, preset, NULL, choices }

/**
 * struct rl_keys - the keys of one kind of device: the one list of them
 * @driver: name of the kind: the driver of Linux that its devices are for
 * @key: the keys
 * @nr: how many
 * @bytes: size of the configuration
 * @conflict: check values that are each in range against each other. Return: the error, with @key set, or NULL
 * @select: the configuration becomes that of device @number of those that are alike; NULL if they do not differ
 */
struct rl_keys {
	const char *driver;
	const struct rl_key *key;
	u32 nr;
	size_t bytes;
	const char *(*conflict)(const struct rl_config *config, const char **key);
	void (*select)(struct rl_config *config, u32 number);
};

/**
 * rl_keys_parse() - read "key=value,key=value,..." over the presets
 * @keys: of the kind of device
 * @config: filled in; @keys->bytes long
 * @text: the pairs; an underscore in a text value stands for a space. The key "device" is for rl_kind_of().
 * @error: says which key was refused and why
 *
 * Return: whether all of @text was accepted.
 */
bool rl_keys_parse(const struct rl_keys *keys, struct rl_config *config, const char *text,
		   char error[RL_CONFIG_ERROR_BYTES]);

/* Return: the first of @names, of which the last is NULL, whose number or choice is not its preset; NULL if all are. */
const char *rl_keys_changed(const struct rl_keys *keys, const struct rl_config *config,
			    const char *const *names);

/* Return: the first key "fault.*_lba" that names a sector beyond a disk of @sectors, NULL if none does. */
const char *rl_keys_beyond(const struct rl_keys *keys, const struct rl_config *config, u64 sectors);

#define RL_BEYOND	"is beyond the last sector of the disk"

/* The configuration becomes that of device @number, from 0, of those that are alike. */
void rl_keys_select(const struct rl_keys *keys, struct rl_config *config, u32 number);

/* Return: whether the first @length bytes of @at are all of @text. */
bool rl_keys_equal(const char *at, size_t length, const char *text);

/* When a fault of a profile strikes: with a command, after a time, or at a sector. Each fault strikes once by each. */

/**
 * struct rl_trigger - when a fault strikes; what is 0 does not trigger it
 * @command: with the READ or WRITE of this number, from 1
 * @ms: this long after power-on
 * @lba: with the first READ or WRITE of this sector of 512 bytes
 */
struct rl_trigger {
	u32 command;
	u32 ms;
	u64 lba;
};

/* Its three keys; @member: the struct rl_trigger within the configuration @type. */
#define RL_AT_COMMAND(type, name, member) \
	RL_NUMBER(type, "fault." name "_command", member.command, 0, 0xffffffffU, 0)
#define RL_AT_MS(type, name, member) \
	RL_NUMBER(type, "fault." name "_ms", member.ms, 0, 0xffffffffU, 0)
#define RL_AT_LBA(type, name, member) \
	RL_WIDE(type, "fault." name "_lba", member.lba, 0, 1ULL << 40, 0)

/**
 * struct rl_armed - a trigger at work
 * @due_ns: when it strikes by time; RL_NEVER if not by time or not any more
 * @struck: it has struck by a sector
 */
struct rl_armed {
	u64 due_ns;
	bool struck;
};

/* At power-on. */
static inline void rl_trigger_arm(struct rl_armed *armed, const struct rl_trigger *trigger, u64 now)
{
	armed->struck = false;
	armed->due_ns = trigger->ms ? now + trigger->ms * 1000 * RL_NS_PER_US : RL_NEVER;
}

/* Return: when the first of @nr strikes by time, RL_NEVER if none does. */
static inline u64 rl_trigger_wake_ns(const struct rl_armed *armed, u32 nr)
{
	u64 wake = RL_NEVER;

	while (nr--)
		wake = rl_min(wake, armed[nr].due_ns);
	return wake;
}

/* Return: whether it strikes by time. */
static inline bool rl_trigger_is_due(struct rl_armed *armed, u64 now)
{
	if (armed->due_ns > now)
		return false;
	armed->due_ns = RL_NEVER;
	return true;
}

/**
 * rl_trigger_strikes() - whether a READ or WRITE triggers it
 * @armed: its state
 * @trigger: its configuration
 * @number: of the READ or WRITE, from 1
 * @lba: its first sector
 * @sectors: how many; 0 for a command at a place that has no trigger
 *
 * Return: whether it does.
 */
static inline bool rl_trigger_strikes(struct rl_armed *armed, const struct rl_trigger *trigger,
				      u64 number, u64 lba, u32 sectors)
{
	bool here = trigger->lba && trigger->lba >= lba && trigger->lba - lba < sectors &&
		    !armed->struck;

	if (!here && trigger->command != number)
		return false;
	armed->struck = true;
	return true;
}

/*
 * A simulated device: what every kind of it has in common, what it needs of the
 * host around it, and what a host needs of it. A model knows neither kernel nor
 * clock; the host gives it both.
 */

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
