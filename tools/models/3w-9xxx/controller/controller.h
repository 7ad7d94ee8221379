/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controller: commands from arrival to answer, faults, background work. */
#ifndef TW_CONTROLLER_H
#define TW_CONTROLLER_H

#include "3w-9xxx/timing/timing.h"
#include "3w-9xxx/wire/wire.h"
#include "base/base.h"
#include "media/media.h"

/* The controller's state, and what its parts do for each other. */

enum tw_request_state {
	TW_REQUEST_FREE,
	TW_REQUEST_RUNNING,
	TW_REQUEST_LOST,
	TW_REQUEST_ANSWERED,	/* in the response queue */
};

/* One of the driver's request ids. */
struct tw_request {
	u8 state;
	u8 unit;		/* in whose depth it counts, or RL_LOG_ADMIN */
	u8 outcome;		/* an enum rl_log_status */
	u32 log;		/* entry, or RL_LOG_NONE */
	u64 due_ns;
	u64 sequence;
};

struct tw_event {
	u16 code;
	u8 severity;
};

/* First in, first out; never holds a request id twice, hence never overflows. */
struct tw_responses {
	u32 head;
	u32 count;
	u8 id[TW_MAX_REQUESTS];
};

enum tw_background_kind {
	TW_BACKGROUND_NONE,
	TW_BACKGROUND_REBUILD,
	TW_BACKGROUND_INITIALIZE,
	TW_BACKGROUND_VERIFY,
};

/**
 * struct tw_background - background work of the drives
 * @kind: an enum tw_background_kind
 * @unit: unit of the drives
 * @at: sectors of each member that are done
 * @next_ns: when the next step begins; RL_NEVER if there is none
 * @differing: sectors that differ by verification
 */
struct tw_background {
	u32 kind;
	u32 unit;
	u64 at;
	u64 next_ns;
	u64 differing;
};

/**
 * struct tw_fault - faults that are to strike and those that have
 * @armed: their triggers
 * @lose_next: the next READ or WRITE is lost
 * @reset_next: the READ or WRITE that is just arriving went with the reset
 * @full: the command queue is full
 * @full_until_ns: until then
 * @replace_ns: when a removed drive is replaced
 * @bad: sectors that cannot be read
 * @offline: by unit
 */
struct tw_fault {
	struct rl_armed armed[TW_FAULTS];
	bool lose_next;
	bool reset_next;
	bool full;
	u64 full_until_ns;
	u64 replace_ns;
	struct rl_bad bad;
	bool offline[TW_MAX_UNITS];
};

#define TW_MAX_EVENTS		64
#define TW_BOUNCE_SECTORS	8
#define TW_BOUNCE_WORDS		(TW_BOUNCE_SECTORS * RL_SECTOR_BYTES / sizeof(u64))

/**
 * struct tw_model - one controller
 * @device: what every device has: host, interrupt line, log
 * @config: the profile
 * @interrupts: interrupts are enabled
 * @response_unmasked: a waiting response raises one
 * @command_unmasked: room in the command queue raises one
 * @host_interrupt: the driver raised one itself
 * @attention: events are waiting to be fetched
 * @errors: error bits of the status register
 * @command_low: low half of a packet address that is being written
 * @request: by request id
 * @responses: the response queue
 * @event: waiting events, oldest first
 * @nr_events: how many
 * @depth: commands of each unit in the controller
 * @nr_transfers: READs and WRITEs posted
 * @timing: when things are done
 * @store: what the sectors hold
 * @fault: faults
 * @background: rebuilding and the like
 * @by_member: the store holds members, with copies and parity (member.h), not units
 * @volatile_cache: the store tells what is on the platters from what is cached (member.h)
 * @bounce: data between store and host
 * @old: contents of a member, actual or expected
 * @other: what another member holds
 * @passing: sectors from the cache to the platters
 */
struct tw_model {
	struct rl_device device;
	struct tw_config config;
	bool interrupts;
	bool response_unmasked;
	bool command_unmasked;
	bool host_interrupt;
	bool attention;
	u32 errors;
	u32 command_low;
	struct tw_request request[TW_MAX_REQUESTS];
	struct tw_responses responses;
	struct tw_event event[TW_MAX_EVENTS];
	u32 nr_events;
	u32 depth[TW_MAX_UNITS];
	u64 nr_transfers;
	struct tw_timing timing;
	struct rl_store store;
	struct tw_fault fault;
	struct tw_background background;
	bool by_member;
	bool volatile_cache;
	u64 bounce[TW_BOUNCE_WORDS];
	u64 old[TW_BOUNCE_WORDS];
	u64 other[TW_BOUNCE_WORDS];
	u64 passing[TW_BOUNCE_WORDS];
};

/* Commands in the controller, responses and events for the driver. */

/* Return: whether every request id is in use. */
bool tw_queue_full(const struct tw_model *model);

/* Return: the running request that is due first, NULL if none runs. */
struct tw_request *tw_queue_next(struct tw_model *model);

/* Put what is due by @now into the response queue, in order of time. */
void tw_queue_answer_due(struct tw_model *model, u64 now);

/* Return: the oldest response as the register shows it, 0 if there is none. Frees its request id. */
u32 tw_queue_take(struct tw_model *model);

/* Add an event; the last one becomes "queue full" when there are too many. */
void tw_queue_event(struct tw_model *model, u16 code, u8 severity);

/* Running commands are forgotten: the driver takes them as failed. One event says so. */
void tw_queue_reset(struct tw_model *model);

/* Data between the store and the scatter-gather list of a command. */

/**
 * struct tw_sg_list - a command's list and how far it has been used
 * @entry: as the driver gave it
 * @count: entries, at most TW_SG_MAX
 * @at: entry in use
 * @offset: bytes of it that have been used
 */
struct tw_sg_list {
	struct tw_sg_entry entry[TW_SG_MAX];
	u32 count;
	u32 at;
	u32 offset;
};

/* Return: TW_ERROR_NONE if every entry is usable and all together hold @bytes. */
u16 tw_sg_check(const struct tw_sg_list *list, u64 bytes);

/* Each returns false when the host's memory is not there; @lba counts over all units. */
bool tw_transfer_answer(struct tw_model *model, struct tw_sg_list *list, const void *data,
			u32 bytes);
bool tw_transfer_read(struct tw_model *model, struct tw_sg_list *list, u64 lba, u32 sectors);

/* As above, and false as well when the store is exhausted (then store.exhausted is set). */
bool tw_transfer_write(struct tw_model *model, struct tw_sg_list *list, u64 lba, u32 sectors);

/* Rebuilding, initialising and verifying: background work of the drives. */

/* Begin from sector 0 of the members; what ran before is given up. Raises an event. */
void tw_background_start(struct tw_model *model, enum tw_background_kind kind, u32 unit, u64 now);

/* It will not go on: a member of its unit has gone. */
void tw_background_stop(struct tw_model *model, u32 unit);

/* Do every step that would have begun by @now. */
void tw_background_advance(struct tw_model *model, u64 now);

/* Return: the kind's name, "none" among them. */
const char *tw_background_name(u32 kind);

/* Faults that a profile asks for: when they strike, and what they do. */

/* The outcome of a READ or WRITE that a fault affects. */
enum tw_fate {
	TW_FATE_NONE,
	TW_FATE_LOST,		/* never answered */
	TW_FATE_RESET,		/* thrown away by the controller's reset */
};

void tw_fault_create(struct tw_model *model);

/* Faults by time, the replacement of a drive, background work: all that is due by @now. */
void tw_fault_advance(struct tw_model *model, u64 now);

/* Return: when tw_fault_advance() has something to do next, or RL_NEVER. */
u64 tw_fault_wake_ns(const struct tw_model *model);

/* A READ or WRITE has come: faults by command count and by LBA. */
enum tw_fate tw_fault_strike(struct tw_model *model, u32 unit, u64 lba, u32 sectors, u64 now);

/**
 * tw_fault_read() - whether a READ meets sectors that cannot be read
 * @model: the controller
 * @unit: the unit
 * @lba: first sector
 * @sectors: how many
 *
 * A unit with redundancy reads them from its other members and repairs them.
 *
 * Return: sectors before the first that cannot be read; @sectors if there is none.
 */
u32 tw_fault_read(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/* A WRITE: the drive puts what is written elsewhere, so that it can be read again. */
void tw_fault_write(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/*
 * Contents of redundant units member by member, copies and parity included.
 *
 * Only for profiles that remove, initialise or verify a member: the contents of a lost
 * member are then computed from the others, and a rebuild writes them. For other
 * profiles the store has each sector once, in the unit's order.
 */

/*
 * Contents of the platters, without the data that only the write-back cache has.
 *
 * Only for profiles that cut the power of a cache without battery: the store then
 * has each sector twice, as commands read it and as it is on the platters.
 */

/* Return: whether the profile needs this; the store then has members. */
bool tw_has_platters(const struct tw_config *config);

/* From now on writes of a drive reach its platters. */
void tw_platter_attach(struct tw_model *model);

/* All three: sectors of drive @number, counted over all units. No effect without platters. */
void tw_platter_write(struct tw_model *model, u32 number, u64 lba, u32 sectors);
void tw_platter_erase(struct tw_model *model, u32 number);

/* The cached data of the drive is lost: commands read the platters. */
void tw_platter_recall(struct tw_model *model, u32 number, u64 lba, u32 sectors);

/* Return: whether the profile needs this. */
bool tw_has_members(const struct tw_config *config);

/* Both: at most TW_BOUNCE_SECTORS; @lba counts over all units; @data is not old or other. */
void tw_members_read(struct tw_model *model, u64 lba, u32 sectors, void *data);

/* Return: false when the store is exhausted. */
bool tw_members_write(struct tw_model *model, u64 lba, u32 sectors, const void *data);

/* A new, empty drive in place of the member. */
void tw_members_erase(struct tw_model *model, u32 unit, u32 member);

/* Compute the sectors of the missing member. Return: false when the store is exhausted. */
bool tw_members_rebuild(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/* Return: sectors of copies or parity that do not match the data. */
u32 tw_members_verify(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/*
 * A simulated 3ware 9000 controller: registers in, interrupts and DMA out.
 * Knows neither kernel nor clock; a host gives it both through rl_host_ops.
 */

/**
 * tw_model_create() - power on
 * @model: memory for it, contents undefined
 * @config: copied
 * @ops: must outlive the model
 * @host: passed to @ops and @alloc
 * @alloc: see rl_arena_create(); not used after creation
 *
 * Return: false when there is not enough memory.
 */
bool tw_model_create(struct tw_model *model, const struct tw_config *config,
		     const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc);

/* 32-bit registers at byte @offset; unknown ones read as 0 and ignore writes. */
u32 tw_model_read(struct tw_model *model, u32 offset);
void tw_model_write(struct tw_model *model, u32 offset, u32 value);

/* The time given to wake_at has come; calling it at any other time is harmless. */
void tw_model_tick(struct tw_model *model);

/* The functions that a host uses. */
extern const struct rl_kind tw_kind;

/* Queue an asynchronous event and draw the driver's attention to it. */
void tw_model_event(struct tw_model *model, u16 code, u8 severity);

/* One command packet in the controller. */

/* Why a command failed, in the firmware's terms and in SCSI's; @bad_lba with a READ ERROR. */
struct tw_failure {
	u16 error;
	u8 key;
	u8 asc;
	u64 bad_lba;
};

/**
 * struct tw_post - one packet in the controller
 * @address: of the packet
 * @packet: its first bytes
 * @now: when it was posted
 * @due: when its response is due
 * @entry: its log entry in the making
 * @failure: with error TW_ERROR_NONE if it did not fail
 * @fate: of a READ or WRITE that a fault has struck
 */
struct tw_post {
	u64 address;
	union {
		struct tw_init_connection init;
		struct tw_param_command param;
		u8 byte[TW_EXECUTE_SCSI_BYTES];
	} packet;
	u64 now;
	u64 due;
	struct rl_log_entry entry;
	struct tw_failure failure;
	enum tw_fate fate;
};

static inline void tw_fail(struct tw_post *post, u16 error, u8 key, u8 asc)
{
	post->failure.error = error;
	post->failure.key = key;
	post->failure.asc = asc;
}

static inline void tw_fail_memory(struct tw_post *post)
{
	tw_fail(post, TW_ERROR_PCI_ABORT, TW_SENSE_HARDWARE, 0);
}

/* EXECUTE_SCSI: what a CDB asks of a unit is done. */

/* Return: false if the command vanishes, and its fate says how. */
bool tw_execute_scsi(struct tw_model *model, struct tw_post *post);

/* Command packets: checked, carried out, answered. */

/**
 * tw_command_post() - the driver wrote a packet's address
 * @model: the controller
 * @address: of the packet; its header lies in front of it
 *
 * Data moves and errors are written now; only the response waits for its time,
 * so that nothing touches the host's memory after a reset.
 */
void tw_command_post(struct tw_model *model, u64 address);

#endif
