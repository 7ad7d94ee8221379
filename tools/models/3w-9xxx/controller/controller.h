/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controller's state, and what its parts do for each other. */
#ifndef TW_CONTROLLER_H
#define TW_CONTROLLER_H

#include "3w-9xxx/timing/timing.h"
#include "3w-9xxx/wire/wire.h"
#include "base/device.h"
#include "media/bad.h"
#include "media/store.h"

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

#endif
