/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An NVMe controller and its drive. */
#ifndef NV_MODEL_H
#define NV_MODEL_H

#include "base/base.h"
#include "media/media.h"
#include "wire.h"

/* An NVMe drive as one flat list of key=value pairs, parsed strictly. */

#define NV_MAX_DRIVES	16
#define NV_MAX_QUEUES	16	/* pairs for I/O */

/**
 * struct nv_controller_config - profile table "nvme"
 * @model: model name
 * @serial: serial number; empty: the profile's name. The number of the drive is added if there are several
 * @queues: pairs of I/O queues
 * @lba_bytes: size of a logical block, 512 or 4096
 * @max_transfer_kib: largest transfer of a command; 0: no limit
 * @optimal_write_kib: optimal write size that the namespace reports; 0: it reports none
 * @write_cache: 1 if the cache is lost with the power: a flush waits until it has drained
 * @command_ns: serialised controller time of every command
 */
struct nv_controller_config {
	char model[41];
	char serial[21];
	u32 queues;
	u32 lba_bytes;
	u32 max_transfer_kib;
	u32 optimal_write_kib;
	u32 write_cache;
	u32 command_ns;
};

/**
 * struct nv_link_config - profile table "link": from the controller to the host
 * @latency_ns: added to every command; overlaps with other commands
 * @bytes_s: serialised, of each direction
 */
struct nv_link_config {
	u32 latency_ns;
	u64 bytes_s;
};

/**
 * struct nv_limit_config - profile table "limit": the throttle of a cloud volume
 * @iops: reads and writes a second; 0: no limit
 * @bytes_s: bytes a second that they move; 0: no limit
 * @burst_ios: so many reads and writes may start at once after a pause
 * @burst_bytes: the same in bytes
 */
struct nv_limit_config {
	u64 iops;
	u64 bytes_s;
	u64 burst_ios;
	u64 burst_bytes;
};

enum nv_fault_kind {
	NV_FAULT_LOSE,		/* a command is never answered */
	NV_FAULT_MEDIUM,	/* sectors that cannot be read */
	NV_FAULT_SLOW,		/* the flash becomes slow */
	NV_FAULT_RESET,		/* the controller fails and needs a reset */
	NV_FAULT_GONE,		/* the drive is pulled out */
	NV_FAULTS,
};

/**
 * struct nv_fault_config - profile table "fault"
 * @trigger: by an enum nv_fault_kind; no @lba for NV_FAULT_MEDIUM
 * @drive: where all of this happens, from 0
 * @medium_lba: first bad sector of 512 bytes; 0: where the triggering command began
 * @medium_sectors: how many
 * @slow_factor: the flash takes this many times as long from then on
 */
struct nv_fault_config {
	struct rl_trigger trigger[NV_FAULTS];
	u32 drive;
	u64 medium_lba;
	u32 medium_sectors;
	u32 slow_factor;
};

/**
 * struct nv_config - everything that distinguishes one simulated NVMe drive from another
 * @base: name, number, count, memory
 * @sectors: capacity in sectors of 512 bytes
 * @io_opt_kib: optimal I/O size; the same as the controller's @optimal_write_kib
 * @rotational: 1 if the namespace reports that it rotates, which Linux reads since 6.13
 * @controller: see there
 * @flash: see there
 * @link: see there
 * @limit: see there
 * @fault: see there
 */
struct nv_config {
	struct rl_config base;
	u64 sectors;
	u32 io_opt_kib;
	u32 rotational;
	struct nv_controller_config controller;
	struct rl_flash_config flash;
	struct nv_link_config link;
	struct nv_limit_config limit;
	struct nv_fault_config fault;
};

/* The keys of a profile of this device, their rules, and the differences between drives of one profile. */
extern const struct rl_keys nv_keys;

/* Return: the optimal write size, which two keys set. */
static inline u32 nv_optimal_kib(const struct nv_config *config)
{
	return config->io_opt_kib ? config->io_opt_kib : config->controller.optimal_write_kib;
}

/*
 * A simulated NVMe drive: registers in, interrupts and DMA out. Knows neither
 * kernel nor clock; a host provides both through rl_host_ops. This header has the
 * state of a drive and the functions that its source files share.
 */

#define NV_QUEUES		(NV_MAX_QUEUES + 1)	/* queue 0 is that of admin commands */
#define NV_MAX_ENTRIES		1024U	/* of a queue for I/O */
#define NV_SLOTS		4096U	/* commands in the controller at a time; others wait in their queues */
#define NV_NO_SLOT		0xffffU
#define NV_MAX_EVENT_REQUESTS		4U	/* requests for an event */
#define NV_MAX_EVENTS		8U	/* that wait for a request */
#define NV_ADMIN_NS		10000U	/* an admin command takes this long */

enum nv_slot_state {
	NV_SLOT_FREE,
	NV_SLOT_RUNNING,
	NV_SLOT_BLOCKED,	/* done; its completion queue is full */
	NV_SLOT_EVENT,		/* a request for an event */
	NV_SLOT_LOST,
};

/**
 * struct nv_slot - a command in the controller
 * @state: an enum nv_slot_state
 * @queue: its submission queue
 * @cq: its completion queue
 * @command_id: the driver's
 * @status: of its completion, an enum nv_status
 * @next: next free or blocked one, or NV_NO_SLOT
 * @result: dword 0 of its completion
 * @log: its entry, or RL_LOG_NONE
 */
struct nv_slot {
	u8 state;
	u8 queue;
	u8 cq;
	u16 command_id;
	u16 status;
	u16 next;
	u32 result;
	u32 log;
};

/* A submission queue; there is none if it has no entries. */
struct nv_sq {
	u64 base;
	u32 entries;
	u32 head;
	u32 tail;
	u8 cq;
};

/**
 * struct nv_cq - a completion queue
 * @base: where it is
 * @entries: how many; 0 if there is no such queue
 * @head: the first entry that the driver has not taken
 * @tail: the next to be written
 * @phase: the phase bit of that one
 * @interrupts: the driver wants them
 * @vector: of its interrupts
 * @first_blocked: the first command that waits for room in it, or NV_NO_SLOT
 * @last_blocked: the last one
 */
struct nv_cq {
	u64 base;
	u32 entries;
	u32 head;
	u32 tail;
	bool phase;
	bool interrupts;
	u32 vector;
	u16 first_blocked;
	u16 last_blocked;
};

/**
 * struct nv_timing - when things are done
 * @controller_ns: when the controller is done with the command before
 * @iops: limit of commands
 * @bytes: limit of bytes
 * @to_host: the link, for reads
 * @from_host: the link, for writes
 * @flash: the flash and its cache
 */
struct nv_timing {
	u64 controller_ns;
	struct rl_bucket iops;
	struct rl_bucket bytes;
	struct rl_bucket to_host;
	struct rl_bucket from_host;
	struct rl_flash flash;
};

/**
 * struct nv_fault - faults that are to strike and those that have
 * @armed: their triggers
 * @lose_next: the next READ or WRITE is lost
 * @bad: sectors that cannot be read
 * @gone: the drive has been pulled out
 */
struct nv_fault {
	struct rl_armed armed[NV_FAULTS];
	bool lose_next;
	struct rl_bad bad;
	bool gone;
};

/* Since power-on, for the health log. */
struct nv_health {
	u64 reads;
	u64 writes;
	u64 sectors_read;
	u64 sectors_written;
	u64 media_errors;
};

/**
 * struct nv_model - one drive
 * @device: the part common to all devices: host, interrupt line, log
 * @config: the profile
 * @cc: register
 * @csts: register
 * @aqa: register
 * @masked: vectors masked by INTMS
 * @asq: register
 * @acq: register
 * @feature: values of the features that are kept
 * @sq: submission queues
 * @cq: completion queues
 * @slot: commands in the controller
 * @free_slot: the first free one, or NV_NO_SLOT
 * @sequence: counts commands, for an order among those that are due at once
 * @due: running commands by time; the lowest 16 bits of @order are the slot
 * @moment: memory of @due
 * @next_queue: where the search for a waiting command begins
 * @depth: I/O commands in the controller
 * @nr_transfers: READs and WRITEs
 * @event_request: slots of the requests for an event, oldest first
 * @nr_event_requests: number of these requests
 * @event: events that wait, oldest first
 * @nr_events: how many
 * @timing: when things are done
 * @fault: faults
 * @health: counters
 * @store: contents of the sectors
 * @page: data in transfer
 */
struct nv_model {
	struct rl_device device;
	struct nv_config config;
	u32 cc;
	u32 csts;
	u32 aqa;
	u32 masked;
	u64 asq;
	u64 acq;
	u32 feature[NV_FEATURES];
	struct nv_sq sq[NV_QUEUES];
	struct nv_cq cq[NV_QUEUES];
	struct nv_slot slot[NV_SLOTS];
	u16 free_slot;
	u64 sequence;
	struct rl_heap due;
	struct rl_moment moment[NV_SLOTS];
	u32 next_queue;
	u32 depth;
	u64 nr_transfers;
	u16 event_request[NV_MAX_EVENT_REQUESTS];
	u32 nr_event_requests;
	u16 event[NV_MAX_EVENTS];
	u32 nr_events;
	struct nv_timing timing;
	struct nv_fault fault;
	struct nv_health health;
	struct rl_store store;
	u64 page[NV_PAGE_BYTES / sizeof(u64)];
};

/* The operations that a host calls. */
extern const struct rl_kind nv_kind;

/* Registers (model.c). */

/* Set Controller Fatal Status and drop all commands. The driver has to reset the controller. */
void nv_model_fail(struct nv_model *model);

bool nv_model_create(struct nv_model *model, const struct nv_config *config,
		     const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc);
u32 nv_model_read(struct nv_model *model, u32 offset);
void nv_model_write(struct nv_model *model, u32 offset, u32 value);
void nv_model_tick(struct nv_model *model);
void nv_model_event(struct nv_model *model, u16 event);
void nv_model_reset(struct nv_model *model);

/* Queues: commands from their arrival to their completion (queue.c). */

/* Drop all commands. Their log entries become RL_LOG_RESET. */
void nv_queue_forget(struct nv_model *model);

/* The controller has failed: drop the commands in its queues, too. They get log entries of their own. */
void nv_queue_drop(struct nv_model *model);

/* Remove all queues and all commands. */
void nv_queue_clear(struct nv_model *model);

/* Doorbell number @number was rung. */
void nv_queue_doorbell(struct nv_model *model, u32 number, u32 value);

/* The command in @slot is done at @due. */
void nv_queue_finish(struct nv_model *model, struct nv_slot *slot, u64 due, u16 status, u32 result);

/* Commands that are due by @now are completed. */
void nv_queue_answer(struct nv_model *model, u64 now);

/* Delete submission queue @queue. Its commands complete at @now with NV_QUEUE_DELETED. */
void nv_queue_delete_sq(struct nv_model *model, u32 queue, u64 now);
void nv_queue_delete_cq(struct nv_model *model, u32 queue);

/* Report an event to the oldest request, or keep it until the driver sends one. @slot is such a request. */
void nv_queue_event(struct nv_model *model, u16 event, u64 now);
void nv_queue_event_request(struct nv_model *model, struct nv_slot *slot, u64 now);

/* Return: whether a completion queue that has interrupts, and is not masked, has entries. */
bool nv_queue_irq(const struct nv_model *model);

/* Data of a command: the host's memory by pages (data.c). */

/**
 * struct nv_data - where the data of a command is
 * @prp1: the first page
 * @prp2: the second, or a list
 * @list: next entry of the list, 0 if it has not begun
 * @left: bytes that no page was looked up for
 * @begun: the first page was looked up
 * @address: start of the rest of the current page
 * @bytes: size of that rest
 */
struct nv_data {
	u64 prp1;
	u64 prp2;
	u64 list;
	u64 left;
	bool begun;
	u64 address;
	u32 bytes;
};

enum nv_direction { NV_TO_HOST, NV_FROM_HOST, NV_ZERO_HOST };

void nv_data_begin(struct nv_data *data, const u8 *command, u64 bytes);

/* The next @bytes of it, which must be there. Return: NV_GOOD, NV_BAD_PRP or NV_BAD_TRANSFER. */
u16 nv_data_move(struct nv_model *model, struct nv_data *data, void *buffer, u64 bytes,
		 enum nv_direction direction);

/* Execute a command. Afterwards its slot is running, waiting for an event, lost or free. */
void nv_admin(struct nv_model *model, struct nv_slot *slot, const u8 *command, u64 now);
void nv_io(struct nv_model *model, struct nv_slot *slot, const u8 *command, u64 now);

/* Log an I/O command that is not executed. */
void nv_io_drop(struct nv_model *model, const u8 *command, u64 now);

/* Build an identify page or a log page in model->page (identify.c). Return: an enum nv_status. */
u16 nv_identify(struct nv_model *model, const u8 *command);
u16 nv_log_page(struct nv_model *model, u8 page, u32 *bytes);

/* Serial number: that of the profile, with the number of the drive if there are several. */
void nv_serial(const struct nv_config *config, struct rl_text *text);

/* Time (timing.c). */

void nv_timing_create(struct nv_timing *timing, const struct nv_config *config);

/**
 * nv_timing_due() - when a command is done
 * @model: the drive
 * @opcode: an enum nv_io_opcode
 * @lba: first sector
 * @sectors: how many; 0 for a command that was refused
 * @through: the driver wants it to be programmed, not only to be in the cache
 * @now: when it came
 *
 * Return: the time.
 */
u64 nv_timing_due(struct nv_model *model, u8 opcode, u64 lba, u32 sectors, bool through, u64 now);

/* Faults (fault.c). */

enum nv_fate {
	NV_FATE_NONE,
	NV_FATE_LOST,		/* never answered */
	NV_FATE_FORGOTTEN,	/* dropped with all commands: the controller failed, or the drive is gone */
};

void nv_fault_create(struct nv_model *model);

/* Faults by time that are due by @now. */
void nv_fault_advance(struct nv_model *model, u64 now);
u64 nv_fault_wake_ns(const struct nv_model *model);

/* A READ or WRITE has come: faults by command count and by LBA. */
enum nv_fate nv_fault_strike(struct nv_model *model, u64 lba, u32 sectors);

#endif
