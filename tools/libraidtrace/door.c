// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * BPF programs as a source: they write the records of the module's handlers, and the module's engine counts them here.
 * A thread reads the rings; the lock protects all that it and the callers use.
 */

#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "account-events.h"
#include "bpf/load.h"
#include "counted.h"
#include "engine.h"
#include "version.h"

#define ALL_RINGS_BYTES	(64U << 20)
#define RING_BYTES_MOST	(2U << 20)	/* and the rest of a value of a map: older kernels take 4 MiB */
#define RING_BYTES_LEAST (256U << 10)
#define RING_BYTES_MIN	4096U		/* a page, that the user may set */

/*
 * The clock of the records and that of the reader are one, but the stores of another processor are seen a little later:
 * records this old are in the rings.
 */
#define SETTLED_NS	100000
#define PAUSE_NS	4000000	/* between readings: a ring holds 60 ms at 300,000 requests a second */
#define BUSY_NS		10000	/* until a record that is being written is looked at again */
#define AT_ONCE		1024	/* bytes of a ring that are read before their room is free */
#define KEPT_MOST	(4 * DOOR_BIOS)	/* words that are kept of a record in a ring */

/* The records of a disk from one ring that are not counted yet; up to @full there is room for those of another one. */
struct waiting {
	uint64_t *words;
	uint64_t *end;
	uint64_t *full;
	struct raidtrace_task task;	/* of the last record of a bio */
	struct raidtrace_source source;
};

struct door_target {
	struct rt_target target;
	uint32_t number;
	uint64_t diskseq;
	struct door_disk *place;
	struct raidtrace_engine engine;
	struct raidtrace_account *total;
	struct raidtrace_next *heap;
	struct waiting *waiting;	/* by ring */
};

struct source_door {
	void *library;
	struct door door;
	size_t ring_bytes;
	struct door_target *target[DOOR_DISKS];	/* by number */
	uint32_t last_id;
	uint64_t missed;	/* runs left out before the first disk */
	pthread_mutex_t lock;
	pthread_t thread;
	bool runs;
	bool stop;
	int err;	/* memory was short: records were dropped */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ns(long ns)
{
	nanosleep(&(const struct timespec){ .tv_nsec = ns }, NULL);
}

static bool make_room(struct waiting *to)
{
	size_t nr = (size_t)(to->end - to->words), room = nr ? 2 * nr : 4096;
	uint64_t *words = reallocarray(to->words, room + KEPT_MOST, sizeof(*words));

	if (!words)
		return false;
	to->words = words;
	to->end = words + nr;
	to->full = words + room;
	return true;
}

/* Keep a bio. Returns the end of its words. */
static uint64_t *put_queue(const struct door_target *target, struct waiting *to, const struct door_queue *from,
			   uint64_t *words, uint64_t time)
{
	struct raidtrace_task task = {
		.comm = { from->comm[0], from->comm[1] }, .cgroup = from->cgroup, .pid = (uint32_t)from->pid,
	};

	if (target->target.groups & RAIDTRACE_GROUP_SUBMITTER && !raidtrace_is_task(&task, &to->task)) {
		*words++ = time;
		*words++ = raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, task.pid);
		*words++ = task.comm[0];
		*words++ = task.comm[1];
		*words++ = task.cgroup;
		to->task = task;
	}
	words[0] = time;
	words[1] = from->head;
	words[2] = from->bio;
	words[3] = from->sector;
	return words + 4;
}

/* Keep several bios. Returns the end of their words. */
static uint64_t *put_bios(const struct door_bios *from, uint64_t *words, uint64_t time)
{
	bool ends = raidtrace_event_kind(from->head) == DOOR_ENDS;

	for (int i = 0; i < DOOR_BIOS && from->bio[i]; i++) {
		*words++ = time;
		if (ends) {
			*words++ = raidtrace_event_head(RAIDTRACE_EVENT_END, raidtrace_event_direction(from->head), 0,
							0, 0);
		} else {
			*words++ = RAIDTRACE_EVENT_ISSUE_BIO;
			*words++ = from->request;
		}
		*words++ = from->bio[i];
	}
	return words;
}

/* Keep a record for its disk. Records of a disk that was deleted since are dropped. Returns its words in the ring. */
static size_t take_record(struct source_door *door, unsigned int ring, const uint64_t *record, uint64_t time)
{
	struct door_target *target = door->target[time >> DOOR_TIME_BITS];
	unsigned int kind = raidtrace_event_kind(record[1]);
	size_t nr = raidtrace_event_words(kind);
	struct waiting *to = target ? &target->waiting[ring] : NULL;

	if (to && to->end >= to->full && !make_room(to)) {
		door->err = -ENOMEM;
		to = NULL;
	}
	time &= (1ULL << DOOR_TIME_BITS) - 1;
	if (kind == RAIDTRACE_EVENT_QUEUE) {
		nr = sizeof(struct door_queue) / sizeof(*record);
		if (to)
			to->end = put_queue(target, to, (const struct door_queue *)record, to->end, time);
	} else if (kind == DOOR_ISSUE_BIOS || kind == DOOR_ENDS) {
		nr = sizeof(struct door_bios) / sizeof(*record);
		if (to)
			to->end = put_bios((const struct door_bios *)record, to->end, time);
	} else if (to) {
		/* As many as a record may have: fewer would take longer. */
		to->end[0] = time;
		memcpy(to->end + 1, record + 1, (RAIDTRACE_EVENT_WORDS - 1) * sizeof(*record));
		to->end += nr;
	}
	return nr;
}

/* Read all records that are in a ring now; wait for one that is being written. */
static void read_ring(struct source_door *door, unsigned int index)
{
	struct door_ring *ring = (struct door_ring *)(door->door.rings + index * door->door.ring_step);
	uint64_t at = ring->limit - door->ring_bytes, end = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);

	while (at < end) {
		size_t place = at & (door->ring_bytes - 1), bytes = door->ring_bytes - place;
		uint64_t *first = ring->words + place / sizeof(*first), *record = first, *stop;

		bytes = bytes < end - at ? bytes : end - at;
		stop = first + (bytes < AT_ONCE ? bytes : AT_ONCE) / sizeof(*first);
		while (record < stop) {
			uint64_t time = __atomic_load_n(record, __ATOMIC_ACQUIRE);

			if (time)
				record += take_record(door, index, record, time);
			else
				pause_ns(BUSY_NS);
		}
		bytes = (size_t)(record - first) * sizeof(*first);
		memset(first, 0, bytes);
		at += bytes;
		__atomic_store_n(&ring->limit, at + door->ring_bytes, __ATOMIC_RELEASE);
	}
}

/* Count the records of a disk until @until, which are all there. */
static void count(const struct source_door *door, struct door_target *target, uint64_t until)
{
	unsigned int nr = 0, left = UINT_MAX;

	for (unsigned int i = 0; i < door->door.nr_rings; i++) {
		struct waiting *waiting = &target->waiting[i];

		if (waiting->end == waiting->words)
			continue;
		waiting->source.words = waiting->words;
		waiting->source.mask = INT_MAX;
		waiting->source.tail = 0;
		waiting->source.end = (uint32_t)(waiting->end - waiting->words);
		raidtrace_heap_add(target->heap, nr++, waiting->words[0], &waiting->source);
	}
	raidtrace_engine_count(&target->engine, target->heap, nr, until, &left);
	for (unsigned int i = 0; i < door->door.nr_rings; i++) {
		struct waiting *waiting = &target->waiting[i];
		const uint64_t *next = waiting->words + waiting->source.tail;

		if (waiting->end == waiting->words)
			continue;
		memmove(waiting->words, next, (size_t)(waiting->end - next) * sizeof(*next));
		waiting->end -= waiting->source.tail;
	}
}

/* Count all records until a time, which is @SETTLED_NS ago at least. */
static void catch_up(struct source_door *door, uint64_t until)
{
	for (unsigned int i = 0; i < door->door.nr_rings; i++)
		read_ring(door, i);
	for (unsigned int i = 0; i < DOOR_DISKS; i++)
		if (door->target[i])
			count(door, door->target[i], until);
}

static void *read_rings(void *data)
{
	struct source_door *door = data;

	while (!__atomic_load_n(&door->stop, __ATOMIC_RELAXED)) {
		uint64_t until = now_ns() - SETTLED_NS;

		pthread_mutex_lock(&door->lock);
		catch_up(door, until);
		pthread_mutex_unlock(&door->lock);
		pause_ns(PAUSE_NS);
	}
	return NULL;
}

static void free_target(const struct source_door *door, struct door_target *target)
{
	for (unsigned int i = 0; target->waiting && i < door->door.nr_rings; i++)
		free(target->waiting[i].words);
	free(target->waiting);
	free(target->heap);
	free(target->total);
	free(target->engine.account);
	free(target->engine.bios);
	free(target->engine.requests);
	free(target->engine.history);
	free(target->engine.hwqs);
	free(target);
}

static void stop(struct source_door *door)
{
	if (door->runs) {
		__atomic_store_n(&door->stop, true, __ATOMIC_RELAXED);
		pthread_join(door->thread, NULL);
	}
	for (unsigned int i = 0; i < DOOR_DISKS; i++)
		if (door->target[i])
			free_target(door, door->target[i]);
	if (door->library) {
		door_close_t *end = (door_close_t *)dlsym(door->library, DOOR_CLOSE);

		if (end && door->door.state)
			end(&door->door);
		dlclose(door->library);
	}
	free(door);
}

static void door_close(struct rt_client *client)
{
	stop(client->door);
}

/* Next to the executable, as other parts of raidctl. */
static void *load_library(char *text, size_t size)
{
	char path[PATH_MAX + 32];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	void *library;

	path[len > 0 ? len : 0] = '\0';
	strcpy(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, "raidtrace-bpf.so");
	if (access(path, F_OK) && errno == ENOENT) {
		snprintf(text, size, "raidctl was built without BPF programs: install clang and libbpf-dev, then: make tools");
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		snprintf(text, size, "%s", dlerror());
	return library;
}

/* Runs of all programs that the kernel left out so far. */
static uint64_t all_missed(const struct door *door)
{
	uint64_t missed = 0;

	for (unsigned int i = 0; i < door->nr_programs; i++) {
		struct bpf_prog_info info = { 0 };
		union bpf_attr attr = { 0 };

		attr.info.bpf_fd = (uint32_t)door->program[i];
		attr.info.info_len = sizeof(info);
		attr.info.info = (uintptr_t)&info;
		if (!syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
			missed += info.recursion_misses;
	}
	return missed;
}

/*
 * Size of one of @nr rings. RAIDTRACE_RING_BYTES sets it; a small ring loses records, for tests. Return: bytes, a power
 * of two; 0 if the variable is wrong, then @text says so.
 */
static unsigned int ring_bytes(unsigned int nr, char *text, size_t size)
{
	const char *given = getenv("RAIDTRACE_RING_BYTES");
	unsigned int bytes = RING_BYTES_MOST;

	if (given) {
		char *end;
		unsigned long value = strtoul(given, &end, 0);

		if (!*end && value >= RING_BYTES_MIN && value <= RING_BYTES_MOST && !(value & (value - 1)))
			return (unsigned int)value;
		snprintf(text, size, "RAIDTRACE_RING_BYTES is \"%s\", but must be a power of two from %u to %u; "
			 "correct it, or unset it", given, RING_BYTES_MIN, RING_BYTES_MOST);
		return 0;
	}
	while (bytes > RING_BYTES_LEAST && bytes > ALL_RINGS_BYTES / nr)
		bytes /= 2;
	return bytes;
}

static int start(struct source_door *door, char *text, size_t size)
{
	unsigned int nr = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	door_open_t *open = (door_open_t *)dlsym(door->library, DOOR_OPEN);
	sigset_t all, before;
	int err;

	door->ring_bytes = ring_bytes(nr, text, size);
	if (!door->ring_bytes)
		return -EINVAL;
	err = open ? open(&door->door, nr, (unsigned int)door->ring_bytes, text, size) : -ENOENT;
	if (err)
		return err;
	door->missed = all_missed(&door->door);
	/* Signals are for the thread of the caller. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&door->thread, NULL, read_rings, door);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	door->runs = !err;
	return err;
}

static int info_get(struct rt_client *client, struct rt_info *ret)
{
	const struct source_door *door = client->door;

	memset(ret, 0, sizeof(*ret));
	ret->abi = RAIDTRACE_ABI;
	snprintf(ret->version, sizeof(ret->version), "%s", RAIDTRACE_VERSION);
	snprintf(ret->unavailable, sizeof(ret->unavailable), "%s", door->door.unavailable);
	ret->max_targets = DOOR_DISKS;
	for (unsigned int i = 0; i < DOOR_DISKS; i++)
		ret->nr_targets += !!door->target[i];
	ret->now_ns = now_ns();
	return 0;
}

static struct door_target *find(struct source_door *door, uint32_t id)
{
	for (unsigned int i = 0; i < DOOR_DISKS; i++)
		if (door->target[i] && door->target[i]->target.id == id)
			return door->target[i];
	return NULL;
}

/* The number in a file of a disk, 0 if there is none. */
static uint64_t disk_number(const struct rt_target *target, const char *name)
{
	unsigned long long value = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", target->major, target->minor, name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%llu", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

static int alloc_engine(const struct source_door *door, struct door_target *target, const struct rt_options *options)
{
	struct raidtrace_engine *engine = &target->engine;
	const struct rt_target *of = &target->target;
	uint64_t requests = of->nr_tags > of->nr_requests ? of->nr_tags : of->nr_requests;

	requests *= of->nr_hw_queues ? of->nr_hw_queues : 1;
	engine->request_bits = 12;
	while (engine->request_bits < 16 && 1UL << engine->request_bits < 2 * requests)
		engine->request_bits++;
	engine->bio_bits = engine->request_bits + 2;
	raidtrace_place_set(&engine->place, of->capacity_sectors);
	engine->account = calloc(1, sizeof(*engine->account));
	engine->bios = calloc(1UL << engine->bio_bits, sizeof(*engine->bios));
	target->total = calloc(1, sizeof(*target->total));
	target->heap = calloc(door->door.nr_rings + 2, sizeof(*target->heap));
	target->waiting = calloc(door->door.nr_rings, sizeof(*target->waiting));
	if (!engine->account || !engine->bios || !target->total || !target->heap || !target->waiting)
		return -ENOMEM;
	for (unsigned int i = 0; i < door->door.nr_rings; i++)
		target->waiting[i].source.cpu.number = i;
	if (of->bio_based)
		return 0;
	engine->requests = calloc(1UL << engine->request_bits, sizeof(*engine->requests));
	if (options && options->history) {
		engine->history = calloc(1, sizeof(*engine->history) +
					 (sizeof(engine->history->known[0]) << engine->request_bits));
		if (!engine->history)
			return -ENOMEM;
		engine->history->slow_ns = options->history_ns;
	}
	if (of->groups & RAIDTRACE_GROUP_HWQ) {
		engine->hwqs = calloc(1, sizeof(*engine->hwqs) +
				      (sizeof(engine->hwqs->issue[0]) << engine->request_bits));
		if (!engine->hwqs)
			return -ENOMEM;
	}
	return engine->requests ? 0 : -ENOMEM;
}

/* Make the disk known to the programs. Return: false if all its places are taken. */
static bool publish(struct source_door *door, struct door_target *target)
{
	for (uint32_t i = 0; i < DOOR_TRIES; i++) {
		struct door_disk *disk = &door->door.state->disk[(target->diskseq + i) % DOOR_PLACES];

		if (disk->diskseq && disk->diskseq != DOOR_GONE)
			continue;
		disk->groups = target->target.groups;
		disk->number = target->number;
		disk->has_requests = !target->target.bio_based;
		disk->has_journal = !!door->door.state->journal[target->number].nr;
		target->place = disk;
		__atomic_store_n(&disk->diskseq, target->diskseq, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static void set_journal(struct source_door *door, struct door_target *target, const struct rt_extent *journal,
			size_t nr)
{
	struct door_journal *to = &door->door.state->journal[target->number];

	nr = nr < DOOR_EXTENTS ? nr : DOOR_EXTENTS;
	__atomic_store_n(&to->nr, 0, __ATOMIC_RELEASE);
	for (size_t i = 0; i < nr; i++) {
		to->extent[i].sector = journal[i].sector;
		to->extent[i].nr_sectors = journal[i].nr_sectors;
	}
	__atomic_store_n(&to->nr, nr, __ATOMIC_RELEASE);
	if (target->place)
		target->place->has_journal = !!nr;
}

static int refuse(struct rt_client *client, int err, const char *why)
{
	snprintf(client->error, sizeof(client->error), "%s", why);
	return err;
}

/* The name of a disk by its number. Return: false if there is no such disk, or it is a partition. */
static bool name_disk(struct rt_target *target)
{
	char path[64], link[PATH_MAX];
	const char *name;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", target->major, target->minor);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return false;
	link[len] = '\0';
	name = strrchr(link, '/') ? strrchr(link, '/') + 1 : link;
	snprintf(target->disk, sizeof(target->disk), "%.*s", (int)sizeof(target->disk) - 1, name);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", target->major, target->minor);
	return access(path, F_OK);
}

static int target_add_number(struct rt_client *client, unsigned int major, unsigned int minor,
			     const struct rt_options *options, struct rt_target *ret)
{
	struct source_door *door = client->door;
	struct door_target *target = calloc(1, sizeof(*target));
	char path[64];
	int err;

	client->error[0] = '\0';
	if (!target)
		return -ENOMEM;
	target->target.major = major;
	target->target.minor = minor;
	target->number = DOOR_DISKS;
	err = 0;
	for (unsigned int i = DOOR_DISKS; i-- > 0;) {
		const struct rt_target *other = door->target[i] ? &door->target[i]->target : NULL;

		if (!other)
			target->number = i;
		else if (!other->gone && other->major == major && other->minor == minor)
			err = refuse(client, -EEXIST, "the disk is counted already");
	}
	if (!err && target->number == DOOR_DISKS)
		err = refuse(client, -ENOSPC, "64 disks are counted already, which is the maximum");
	if (!err && !name_disk(&target->target))
		err = refuse(client, -ENODEV, "there is no whole disk of this number");
	if (err) {
		free_target(door, target);
		return err;
	}
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/mq", major, minor);
	target->target.bio_based = access(path, F_OK);
	target->target.groups = (options && options->groups ? options->groups : RT_GROUPS_DEFAULT) |
				RAIDTRACE_GROUP_FLOW;
	target->target.streams = options && options->streams ? options->streams : RAIDTRACE_STREAMS_DEFAULT;
	target->diskseq = disk_number(&target->target, "diskseq");
	rt_target_describe(&target->target);
	err = alloc_engine(door, target, options);
	if (err) {
		free_target(door, target);
		return refuse(client, err, "not enough memory for the counters");
	}
	target->target.place_sectors = target->target.bio_based ? 0 : target->engine.place.sectors;
	set_journal(door, target, options ? options->journal : NULL, options ? options->nr_journal : 0);
	pthread_mutex_lock(&door->lock);
	memset(door->door.state->lost[target->number], 0, sizeof(door->door.state->lost[0]));
	target->target.id = ++door->last_id;
	target->target.attached_ns = now_ns();
	raidtrace_engine_start(&target->engine, target->target.groups, target->target.streams,
			       target->target.attached_ns);
	door->target[target->number] = target;
	if (!publish(door, target)) {
		door->target[target->number] = NULL;
		err = -ENOSPC;
	}
	pthread_mutex_unlock(&door->lock);
	if (err) {
		free_target(door, target);
		return refuse(client, err, "too many disks with numbers like this are counted");
	}
	*ret = target->target;
	return 0;
}

static int target_add(struct rt_client *client, int fd, const struct rt_options *options, struct rt_target *ret)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return refuse(client, -ENOTBLK, "not a block device");
	return target_add_number(client, major(st.st_rdev), minor(st.st_rdev), options, ret);
}

static int target_del(struct rt_client *client, uint32_t id)
{
	struct source_door *door = client->door;
	struct door_target *target = find(door, id);

	if (!target)
		return -ENOENT;
	__atomic_store_n(&target->place->diskseq, DOOR_GONE, __ATOMIC_RELEASE);
	/* Records of programs that run now come before the number is used again. */
	pause_ns(SETTLED_NS);
	pthread_mutex_lock(&door->lock);
	catch_up(door, now_ns() - SETTLED_NS);
	door->target[target->number] = NULL;
	pthread_mutex_unlock(&door->lock);
	free_target(door, target);
	return 0;
}

static int target_set_journal(struct rt_client *client, uint32_t id, const struct rt_extent *journal, size_t nr)
{
	struct door_target *target = find(client->door, id);

	if (!target)
		return -ENOENT;
	set_journal(client->door, target, journal, nr);
	return 0;
}

static int target_reset(struct rt_client *client, uint32_t id)
{
	(void)id;
	return refuse(client, -EOPNOTSUPP, "counters that outlive a command are the module's; load it: raidctl load");
}

/* A disk that went leaves its number to others; its sequence tells them apart. */
static void look_at(struct door_target *target)
{
	if (!target->target.gone && disk_number(&target->target, "diskseq") != target->diskseq)
		target->target.gone = true;
	rt_target_describe(&target->target);
}

static int target_list(struct rt_client *client, size_t *nr, struct rt_target **ret)
{
	struct source_door *door = client->door;
	struct rt_target *all = calloc(DOOR_DISKS, sizeof(*all));

	*nr = 0;
	if (!all)
		return -ENOMEM;
	for (uint32_t id = 1; id <= door->last_id; id++) {
		struct door_target *target = find(door, id);

		if (!target)
			continue;
		look_at(target);
		all[(*nr)++] = target->target;
	}
	*ret = all;
	return 0;
}

/* All counters until now. Return: 0, -ENOENT or -ENOMEM; @ret is to be freed in all cases. */
static int snapshot(struct source_door *door, uint32_t id, struct rt_counters *ret)
{
	struct door_target *target = find(door, id);
	struct raidtrace_engine *engine;
	uint64_t until = now_ns();
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!target)
		return -ENOENT;
	pause_ns(SETTLED_NS);
	engine = &target->engine;
	pthread_mutex_lock(&door->lock);
	catch_up(door, until);
	raidtrace_engine_advance(engine, until);
	for (unsigned int row = 0; row < RAIDTRACE_SUBMITTERS; row++)
		if (engine->submitters.replaced >> row & 1)
			raidtrace_account_release(target->total, row);
	engine->submitters.replaced = 0;
	raidtrace_account_move(target->total, engine->account, NULL, 0);
	err = rt_account_counters(target->total, engine, 1U << RAIDTRACE_GOT |
				  (strstr(door->door.unavailable, "page_cache_ra_order") ?
				   1U << RAIDTRACE_RA_SYNC_SECTORS | 1U << RAIDTRACE_RA_ASYNC_SECTORS : 0), ret);
	if (door->err)
		err = door->err;
	pthread_mutex_unlock(&door->lock);
	ret->id = id;
	ret->snapshot = 1;
	look_at(target);
	ret->gone = target->target.gone;
	ret->readahead_sectors = target->target.readahead_sectors;
	return err;
}

static int counters_get(struct rt_client *client, uint32_t id, struct rt_counters *ret)
{
	int err = snapshot(client->door, id, ret);

	if (err)
		rt_counters_free(ret);
	return err;
}

static int counters_advance(struct rt_client *client, uint32_t id, struct rt_counters *last, struct rt_counters *span)
{
	struct rt_advance advance = { .last = last };
	int err;

	memset(span, 0, sizeof(*span));
	err = snapshot(client->door, id, &advance.now);
	if (!err)
		err = rt_advance_apply(&advance, last, span);
	if (err)
		rt_counters_free(&advance.now);
	return err;
}

static void fill_ended(const struct raidtrace_submitters *submitters, const struct raidtrace_ended *from,
		       uint64_t number, struct rt_ended *ret)
{
	bool named = from->row < RAIDTRACE_SUBMITTERS && submitters->task[from->row].pid == from->pid;
	bool placed = from->direction != RAIDTRACE_DIRECTION_FLUSH &&
		      from->direction != RAIDTRACE_DIRECTION_PASSTHROUGH;

	*ret = (struct rt_ended){
		.number = number, .queued_ns = from->queued_ns, .inserted_ns = from->inserted_ns,
		.issued_ns = from->issued_ns, .completed_ns = from->completed_ns,
		.sector = placed ? from->sector : RT_NO_SECTOR, .bytes = from->bytes, .direction = from->direction,
		.class_ = from->class, .depth = from->depth, .known = from->queued_ns, .pid = from->pid,
		.error = from->error, .again = from->again,
	};
	if (named)
		memcpy(ret->comm, submitters->task[from->row].comm, sizeof(ret->comm) - 1);
}

static int history_get(struct rt_client *client, uint32_t id, uint64_t after, struct rt_history *ret)
{
	struct source_door *door = client->door;
	struct door_target *target = find(door, id);
	const struct raidtrace_ended *ended;

	memset(ret, 0, sizeof(*ret));
	client->error[0] = '\0';
	if (!target)
		return -ENOENT;
	if (!target->engine.history)
		return refuse(client, -EOPNOTSUPP, "the last requests of this disk are not kept");
	pthread_mutex_lock(&door->lock);
	catch_up(door, now_ns() - SETTLED_NS);
	while (ret->nr < RT_HISTORY_MOST && (ended = raidtrace_history_next(target->engine.history, &after)))
		fill_ended(&target->engine.submitters, ended, after, &ret->ended[ret->nr++]);
	ret->total = target->engine.history->nr;
	pthread_mutex_unlock(&door->lock);
	return 0;
}

static int lost_get(struct rt_client *client, uint32_t id, struct rt_lost *ret)
{
	struct source_door *door = client->door;
	struct door_target *target = find(door, id);

	if (!target)
		return -ENOENT;
	for (unsigned int kind = 0; kind < RT_RECORDS; kind++)
		ret->records[kind] = __atomic_load_n(&door->door.state->lost[target->number][kind], __ATOMIC_RELAXED);
	ret->missed = all_missed(&door->door) - door->missed;
	return 0;
}

const char *rt_record_name(unsigned int kind)
{
	static const char *const names[RT_RECORDS] = {
		"task", "queue", "split", "end", "insert", "merge", "issue-bio", "issue", "issue-hwq", "requeue",
		"requeue-hwq", "complete", "complete-hwq", "count", "issue-bios", "ends",
	};

	return kind < RT_RECORDS ? names[kind] : NULL;
}

static const struct rt_source bpf_source = {
	.name = "bpf",
	.info_get = info_get,
	.target_add = target_add,
	.target_add_number = target_add_number,
	.target_del = target_del,
	.target_reset = target_reset,
	.target_set_journal = target_set_journal,
	.target_list = target_list,
	.counters_get = counters_get,
	.counters_advance = counters_advance,
	.history_get = history_get,
	.lost_get = lost_get,
	.close = door_close,
};

int rt_open_bpf(struct rt_client **ret, char *text, size_t size)
{
	struct rt_client *client = calloc(1, sizeof(*client));
	struct source_door *door = calloc(1, sizeof(*door));
	int err = -ENOMEM;

	snprintf(text, size, "%s", strerror(ENOMEM));
	if (!client || !door)
		goto free;
	pthread_mutex_init(&door->lock, NULL);
	door->library = load_library(text, size);
	err = door->library ? start(door, text, size) : -ENOENT;
	if (err) {
		stop(door);
		free(client);
		return err;
	}
	client->source = &bpf_source;
	client->door = door;
	*ret = client;
	return 0;

free:
	free(client);
	free(door);
	return err;
}
