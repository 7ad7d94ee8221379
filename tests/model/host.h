/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host for a model with no kernel: memory, a clock that the tests turn, and the moves of a 3ware array's driver. */
#ifndef TW_TEST_HOST_H
#define TW_TEST_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "3w-9xxx/controller/controller.h"
#include "nvme/model.h"

#define HOST_BASE	0x100000000ULL	/* above 4 GiB, so that both halves of an address count */
#define HOST_BYTES	(4U << 20)
#define HOST_DATA	(HOST_BASE + (1U << 20))	/* packets lie below */
#define HOST_CHUNKS	64
#define HOST_VECTORS	32
#define US	1000ULL		/* in nanoseconds */
#define MS	1000000ULL

/**
 * struct host - one simulated host with one device
 * @memory: HOST_BYTES that the device can reach, from HOST_BASE on
 * @clock: nanoseconds
 * @wake: last wake_at
 * @irq: interrupt line
 * @irqs: how often it rose
 * @raised: how often each message interrupt was raised
 * @reports: number of messages of the model
 * @chunk: memory given to the model
 * @chunks: how much of it
 * @chunk_limit: allocations that succeed
 * @kept: memory of host_keep()
 * @next: another living host
 * @model: the device, if it is a 3ware array
 * @nvme: the device, if it is an NVMe drive
 */
struct host {
	u8 *memory;
	u64 clock;
	u64 wake;
	bool irq;
	u32 irqs;
	u32 raised[HOST_VECTORS];
	u32 reports;
	void *chunk[HOST_CHUNKS];
	u32 chunks;
	u32 chunk_limit;
	void *kept[2];
	struct host *next;
	union {
		struct tw_model model;
		struct nv_model nvme;
	};
};

struct segment {
	u64 address;
	u32 bytes;
};

/* A configuration; the test fails if the text is none. */
void host_config(struct tw_config *config, const char *text);

/* Return: a host with a powered-on controller of this configuration; the test fails if there can be none. */
struct host *host_create(const char *config);

/* The same with so much memory only. Return: NULL if it is not enough. */
struct host *host_create_short(const char *config, u32 chunks);

/* Every host of a test is destroyed at its end; a test that needs many destroys them itself. */
void host_destroy(struct host *host);

/* Return: a host without a device, which has this many chunks for one. */
struct host *host_empty(u32 chunks);

/* Return: so many bytes, zero, that are freed with the host. At most twice for each. */
void *host_keep(struct host *host, size_t bytes);

/* The host of a device: operations, and memory, which is full of rubbish. */
extern const struct rl_host_ops host_ops;
void *host_chunk(void *host);

/* Return: the host's memory at an address that the controller could use. */
void *host_at(struct host *host, u64 address);

/* cmocka fixtures: *state is a host with RAID 0 over four drives and a driver that has probed; all hosts are destroyed. */
int host_setup(void **state);
int host_teardown(void **state);

/* The driver. Request ids select the packet's place. */
void *driver_packet(struct host *host, u32 id);
const struct tw_header *driver_header(struct host *host, u32 id);
void driver_post(struct host *host, u32 id);
void driver_init(struct host *host, u32 id, u32 features, u16 srl);
void driver_param(struct host *host, u32 id, u8 opcode, u16 table, u16 index, u16 bytes);
void driver_scsi(struct host *host, u32 id, u8 unit, const u8 cdb[16], const struct segment *list, u32 count);

/* READ(16) or WRITE(16) with one segment at HOST_DATA + @offset. */
void driver_transfer(struct host *host, u32 id, bool write, u64 lba, u32 sectors, u32 offset);

/* Let time pass until a response is there. Return: its request id; the test fails if none comes. */
u32 driver_response(struct host *host);

/* The same, and the id must be @id. Return: the packet's status, 0 is good. */
u8 driver_finish(struct host *host, u32 id);

/* Send a command, see it through. Return: its status. */
u8 driver_command(struct host *host, u8 unit, const u8 *cdb, u32 length, u32 bytes);

/* Return: the next event, TW_AEN_EMPTY if none waits. */
u16 driver_event(struct host *host);

/* All of the driver's probe; interrupts are enabled after it. */
void driver_probe(struct host *host);

/* Tests of faults and rebuilds: small arrays whose driver has probed. */
#define SMALL_ARRAY	"store_mib=16,log_entries=9999,drive.sectors=65536,array.stripe_kib=16,"

/* Every level that outlives a member. */
struct redundant_level {
	const char *shape;
	u32 drives;
};

#define REDUNDANT_LEVELS 4
extern const struct redundant_level redundant_levels[REDUNDANT_LEVELS];

/* Return: a controller of this shape whose driver has probed. */
struct host *probed(const char *shape, const char *faults);

/* Acknowledge the attention and fetch the next event. The events that wait must be these, 0 at the end. */
u16 fetch_event(struct host *host);
void expect_events(struct host *host, const u16 *codes);

/* Let time pass. */
void host_pass(struct host *host, u64 ns);

/* At most 2 MiB at HOST_DATA. Both return the command's status. */
u8 read_at(struct host *host, u64 lba, u32 sectors);
u8 write_at(struct host *host, u64 lba, u32 sectors, int byte);

/* One random READ or WRITE, compared with a plain memory image of the first sectors. */
void random_command(struct host *host, u8 *truth, u64 *seed, u32 capacity);
void everything_reads_back(struct host *host, const u8 *truth, u32 capacity);

/* A generator that gives the same numbers everywhere. */
u32 random_number(u64 *seed);
void random_fill(u64 *seed, void *to, size_t bytes);

/*
 * A function that is a test of the program. FIXTURE_TEST has cmocka's setup and teardown; a HOST_TEST has @host of
 * host_setup().
 */
#define FIXTURE_TEST(name, setup, teardown) \
	static void name(void **state); \
	__attribute__((constructor)) static void add_##name(void) \
	{ \
		test_add(&(struct CMUnitTest){ #name, name, setup, teardown, NULL }); \
	} \
	static void name(void **state __attribute__((unused)))
#define TEST(name)	FIXTURE_TEST(name, NULL, host_teardown)
#define HOST_TEST(name) \
	static void name##_on(struct host *host); \
	FIXTURE_TEST(name, host_setup, host_teardown) \
	{ \
		name##_on(*state); \
	} \
	static void name##_on(struct host *host)

/* Before main(): another test for it to run. */
void test_add(const struct CMUnitTest *test);

#endif
