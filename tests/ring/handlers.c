// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The handlers of bios and requests, kmod/probe-queue.c and kmod/probe-request.c, called in the order in which the block
 * layer of 6.1 to 7.2 calls them, for requests that end more than once and bios that change their disk.
 */
#include "machine.h"
#include "probe-handlers.h"

#include <stdio.h>

#define START_NS	(86400 * 1000000000ULL)

unsigned int this_cpu;
struct task_struct this_task = { "task", 1, 0 };
bool raidtrace_hwq_key;
struct raidtrace_probe *raidtrace_probes[256];

static struct request_queue queue;
static struct blk_mq_hw_ctx hctx;
static struct raidtrace_probe *probe;
static int failed;

void queue_work(struct workqueue_struct *unused, struct work_struct *work)
{
	(void)unused;
	(void)work;
}

static bool meanwhile;	/* when this CPU looks at a ring, the other one queues a bio and counts all events */

void on_load(void)
{
	static u64 bios;

	if (!meanwhile)
		return;
	meanwhile = false;
	made_ns += 10;
	write_queue(probe, 1, 64 * (1 + bios % 1024), 8 * bios);
	bios++;
	made_ns += 10;
	raidtrace_rings_catch_up(probe);
}

static void say(bool ok, const char *what)
{
	printf("%sok - %s\n", ok ? "" : "not ", what);
	failed += !ok;
}

static void start(void)
{
	made_ns = START_NS;
	probe = machine_new(2);
	probe->queue = &queue;
	*raidtrace_probe_chain(&queue) = probe;
}

static const struct raidtrace_flow *flow(enum raidtrace_direction direction)
{
	raidtrace_rings_catch_up(probe);
	return &probe->engine.account->flow[direction];
}

static void issue(struct request *rq)
{
	made_ns += 1000;
	raidtrace_on_rq_issue(NULL, rq);
	rq->started = true;
}

static void new_request(struct request *rq, enum req_op op, struct bio *bio, unsigned int bytes)
{
	*rq = (struct request){
		.q = &queue, .mq_hctx = &hctx, .op = op, .bytes = bytes, .bio = bio, .biotail = bio,
		.rq_flags = rq->rq_flags,
	};
	if (bio)
		*bio = (struct bio){ .op = op, .bi_iter = { .bi_size = bytes } };
	issue(rq);
}

/* blk_update_request(): the event, then the request becomes shorter. */
static void end(struct request *rq, blk_status_t status, unsigned int bytes)
{
	made_ns += 1000;
	raidtrace_on_rq_complete(NULL, rq, status, bytes);
	while (rq->bio) {
		unsigned int part = min(rq->bio->bi_iter.bi_size, bytes);
		bool whole = part == rq->bio->bi_iter.bi_size;

		rq->bio->bi_iter.bi_size -= part;
		rq->bytes -= part;
		bytes -= part;
		if (!whole)
			break;
		rq->bio = rq->bio->bi_next;
	}
}

/* dm-rq: end_clone_bio() ends the data that was moved, dm_end_request() the request. */
static void multipath(enum req_op op, bool fails)
{
	struct request rq = {};
	struct bio bio;

	new_request(&rq, op, &bio, 4096);
	end(&rq, BLK_STS_OK, fails ? 0 : 4096);
	end(&rq, fails ? BLK_STS_IOERR : BLK_STS_OK, rq.bytes);
}

static void without_bio(enum req_op op)
{
	struct request rq = {};

	new_request(&rq, op, NULL, 0);
	end(&rq, BLK_STS_OK, 0);
}

static void ends_of_multipath(void)
{
	static const enum req_op ops[] = { REQ_OP_READ, REQ_OP_WRITE, REQ_OP_DISCARD };
	static const enum raidtrace_direction directions[] = {
		RAIDTRACE_DIRECTION_READ, RAIDTRACE_DIRECTION_WRITE, RAIDTRACE_DIRECTION_DISCARD,
	};
	bool once = true, right = true;

	start();
	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int op = 0; op < 3; op++)
			multipath(ops[op], i >= 90);
		without_bio(REQ_OP_FLUSH);
		without_bio(REQ_OP_DRV_IN);
	}
	for (enum raidtrace_direction i = 0; i < RAIDTRACE_DIRECTIONS; i++)
		once &= !flow(i)->unmatched && !flow(i)->unissued;
	for (unsigned int op = 0; op < 3; op++)
		right &= flow(directions[op])->completed == 100 && flow(directions[op])->errors == 10;
	say(once, "a request of request-based dm ends once");
	say(right, "and counts, whether it succeeds or fails");
	say(flow(RAIDTRACE_DIRECTION_FLUSH)->completed == 100 && flow(RAIDTRACE_DIRECTION_PASSTHROUGH)->completed == 100,
	    "a request without data ends, too");
	machine_free(probe);
}

/* A FUA write in request-based dm: data, the request, and after its flush the request again. */
static void sequence_of_multipath(void)
{
	struct request rq = { .rq_flags = RQF_FLUSH_SEQ };
	struct bio bio;

	start();
	new_request(&rq, REQ_OP_WRITE, &bio, 4096);
	end(&rq, BLK_STS_OK, 4096);
	end(&rq, BLK_STS_OK, 0);
	rq.bio = rq.biotail;
	rq.rq_flags = 0;
	end(&rq, BLK_STS_OK, 0);
	say(flow(RAIDTRACE_DIRECTION_WRITE)->completed == 1 && !flow(RAIDTRACE_DIRECTION_FLUSH)->unmatched &&
	    !flow(RAIDTRACE_DIRECTION_FLUSH)->unissued, "a FUA write of request-based dm is one write");
	machine_free(probe);
}

/* blk-flush ends a FUA write with its data, and after the flush behind it. Returns its errors. */
static u64 errors_of_sequence(blk_status_t data, blk_status_t whole)
{
	struct request rq = { .rq_flags = RQF_FLUSH_SEQ };
	struct bio bio;
	u64 errors;

	start();
	new_request(&rq, REQ_OP_WRITE, &bio, 4096);
	end(&rq, data, 4096);
	rq.bio = rq.biotail;
	rq.rq_flags = 0;
	end(&rq, whole, 0);
	errors = flow(RAIDTRACE_DIRECTION_WRITE)->errors + flow(RAIDTRACE_DIRECTION_FLUSH)->errors;
	machine_free(probe);
	return errors;
}

/*
 * While a handler makes room, later events of another CPU are counted: its own event must be later than these.
 * Requests have so many bios, each with a record of its own if there are several.
 */
static bool in_time(unsigned int bios)
{
	const struct raidtrace_ring *ring;
	static struct bio bio[4];
	struct request rq = {};
	bool right = true;
	unsigned int turns = 0;

	start();
	ring = per_cpu_ptr(probe->ring, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t limit = ring->limit;
		u64 last_ns;

		for (unsigned int j = 0; j < bios; j++)
			bio[j] = (struct bio){ .bi_next = j + 1 < bios ? &bio[j + 1] : NULL, .bi_iter = { .bi_size = 4096 } };
		rq = (struct request){ .q = &queue, .mq_hctx = &hctx, .bytes = bios * 4096, .bio = bio };
		made_ns += 100;
		meanwhile = true;
		if (i % 2)
			raidtrace_on_rq_issue(NULL, &rq);
		else
			raidtrace_on_rq_complete(NULL, &rq, BLK_STS_OK, bios * 4096);
		meanwhile = false;
		last_ns = probe->engine.queue.last_ns;
		turns += limit != ring->limit;
		for (uint32_t at = ring->source.tail; at != ring->head;
		     at += raidtrace_event_words(raidtrace_event_kind(ring->words[(at & ring->mask) + 1])))
			right &= ring->words[at & ring->mask] >= last_ns;
	}
	machine_free(probe);
	return right && turns > 10;
}

/* NVMe multipath: the bio of its disk goes to a path, which is hidden, and ends there. */
static void bio_of_nvme_multipath(void)
{
	struct request_queue path = {};
	struct block_device head_device = { .bd_queue = &queue }, path_device = { .bd_queue = &path };
	const struct raidtrace_flow *reads;
	unsigned int places = 0;

	start();
	probe->has_requests = false;
	for (unsigned int i = 0; i < 100; i++) {
		struct bio *bio = calloc(1, sizeof(*bio));

		*bio = (struct bio){ .bi_bdev = &head_device, .bi_iter = { i * 8, 4096 } };
		made_ns += 1000;
		raidtrace_on_bio_queue(NULL, bio);
		bio->bi_flags = BIO_TRACE_COMPLETION;
		bio->bi_bdev = &path_device;
		raidtrace_on_bio_remap(NULL, bio, 0, i * 8);
		made_ns += 5000;
		raidtrace_on_bio_complete(NULL, &queue, bio);
		free(bio);
	}
	reads = flow(RAIDTRACE_DIRECTION_READ);
	for (unsigned int i = 0; i < 1U << probe->engine.bio_bits; i++)
		places += !!probe->engine.bios[i].bio;
	say(reads->queued == 100 && reads->q2c_sum_ns == 100 * 5000 && !places,
	    "a bio of an NVMe multipath disk ends when its path ends it");
	machine_free(probe);
}

/* blk-crypto of 6.1: the bio that is queued ends when the encrypted one does, which a request carries. */
static void encrypted_bio(void)
{
	struct block_device device = { .bd_queue = &queue };
	struct bio plain = { .bi_bdev = &device, .op = REQ_OP_WRITE, .bi_iter = { .bi_size = 4096 } }, encrypted;
	const struct raidtrace_flow *writes;
	struct request rq = {};

	start();
	probe->has_requests = true;
	raidtrace_on_bio_queue(NULL, &plain);
	new_request(&rq, REQ_OP_WRITE, &encrypted, 4096);
	end(&rq, BLK_STS_OK, 4096);
	raidtrace_on_bio_complete(NULL, &queue, &plain);
	writes = flow(RAIDTRACE_DIRECTION_WRITE);
	say(writes->queued == 1 && writes->q2c_unknown == 1 && !writes->q2c_sum_ns,
	    "a bio that blk-crypto encrypts is unknown, and counts no latency");
	machine_free(probe);
}

/* A CPU comes online on another node after attach. */
static void node_of_a_late_cpu(void)
{
	struct request rq = {};
	struct bio bio;

	start();
	raidtrace_hwq_key = true;
	probe->groups |= RAIDTRACE_GROUP_HWQ;
	probe->engine.hwqs = calloc(1, sizeof(*probe->engine.hwqs) +
				       (sizeof(probe->engine.hwqs->issue[0]) << probe->engine.request_bits));
	node_of[1] = 1;
	new_request(&rq, REQ_OP_READ, &bio, 4096);
	this_cpu = 1;
	end(&rq, BLK_STS_OK, 4096);
	raidtrace_rings_catch_up(probe);
	say(probe->engine.account->hwq[0].completed_other_node == 1, "a processor is on the node that it has now");
	this_cpu = node_of[1] = 0;
	raidtrace_hwq_key = false;
	free(probe->engine.hwqs);
	machine_free(probe);
}

int main(void)
{
	node_of_a_late_cpu();
	ends_of_multipath();
	sequence_of_multipath();
	say(errors_of_sequence(BLK_STS_IOERR, BLK_STS_IOERR) == 1, "a FUA write whose data fails is one error");
	say(errors_of_sequence(BLK_STS_OK, BLK_STS_IOERR) == 1 && !errors_of_sequence(BLK_STS_OK, BLK_STS_OK),
	    "one whose flush fails, too, and one that succeeds is none");
	bio_of_nvme_multipath();
	encrypted_bio();
	say(in_time(1), "an event of a handler that makes room is not late");
	say(in_time(4), "nor are those of several bios");
	return failed ? 1 : 0;
}
