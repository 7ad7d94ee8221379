/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The moves of a driver of an NVMe drive: enable it, create queues, submit commands, follow the phase bits. */
#ifndef NV_TEST_DRIVER_H
#define NV_TEST_DRIVER_H

#include "host.h"

#define PAGE		4096U
#define ADMIN_ENTRIES	16U
#define ALL_QUEUES	(NV_MAX_QUEUES + 1)
#define QUICK_DRIVE	"store_mib=16,log_entries=20000,drive.sectors=1048576"	/* 512 MiB */

struct command {
	u8 byte[NV_COMMAND_BYTES];
};

struct completion {
	u32 result;
	u16 sq_head;
	u16 queue;
	u16 id;
	u16 status;
};

/* The driver's side of a pair of queues. */
struct pair {
	u32 entries;
	u32 tail;
	u32 head;
	u8 phase;
};

/**
 * struct drive - a drive and its driver
 * @host: the host, with the drive in @host->nvme
 * @pair: pairs of queues
 * @next_id: of the next command
 */
struct drive {
	struct host *host;
	struct pair pair[ALL_QUEUES];
	u16 next_id;
};

/* Return: a drive that is powered on; one that the driver has enabled; the same with this many entries in queue pair 1. */
struct drive *drive_create(const char *config);
struct drive *drive_enabled(const char *config);
struct drive *drive_ready(const char *config, u32 entries);

u32 drive_read(struct drive *drive, u32 offset);
void drive_write(struct drive *drive, u32 offset, u32 value);
void drive_enable(struct drive *drive);
void drive_disable(struct drive *drive);

/* Where the queues are. */
u64 sq_address(u32 queue);
u64 cq_address(u32 queue);

/* Commands. Data is at HOST_DATA + @offset, contiguous; lists of pages at HOST_DATA + 2 MiB. */
struct command admin_command(u8 opcode, u32 nsid, u32 dword10, u32 dword11);
struct command io_command(u8 opcode, u64 block, u32 blocks);
void command_data(struct drive *drive, struct command *command, u32 offset, u32 bytes);
struct command transfer(struct drive *drive, bool write, u64 block, u32 blocks, u32 offset);
struct command create_cq(u32 queue, u32 entries, u32 vector);
struct command create_sq(u32 queue, u32 entries, u32 cq);

/* The status of creating a pair. */
u16 drive_pair(struct drive *drive, u32 queue, u32 entries);

/* Put a command into its queue. Return: its id. The drive does not know until the doorbell is rung. */
u16 drive_put(struct drive *drive, u32 queue, const struct command *command);
void drive_ring(struct drive *drive, u32 queue);
u16 drive_submit(struct drive *drive, u32 queue, const struct command *command);

/* Return: whether there is a completion, without letting time pass. Takes it, and rings the doorbell. */
bool drive_poll(struct drive *drive, u32 queue, struct completion *completion);

/* Let time pass until there is a completion; the test fails if none comes. */
struct completion drive_wait(struct drive *drive, u32 queue);

/* Submit a command and see it through. Return: its status, the result in @result if that is not NULL. */
u16 drive_run(struct drive *drive, u32 queue, struct command command, u32 *result);

/* Let time pass. */
void drive_pass(struct drive *drive, u64 ns);

/* READ or WRITE of queue 1 at HOST_DATA + @offset. Return: its status. */
u16 drive_transfer(struct drive *drive, bool write, u64 block, u32 blocks, u32 offset);

const struct rl_log_entry *drive_last(struct drive *drive);

#endif
