// SPDX-License-Identifier: GPL-2.0-or-later

/* raidtrace-bpf.so: load and attach the BPF programs, with libbpf. */

#include "load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

/* The object file of probe.bpf.c. */
__asm__(".section .rodata\n"
	".balign 8\n"
	"door_object: .incbin \"" DOOR_OBJECT "\"\n"
	"door_object_end:\n"
	".previous\n");
extern const char door_object[], door_object_end[];

door_open_t raidtrace_door_open;
door_close_t raidtrace_door_close;

/* The first warning of libbpf: the others follow from it. RAIDTRACE_DEBUG: all of them. */
static char last_words[256];

static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level != LIBBPF_WARN)
		return 0;
	if (getenv("RAIDTRACE_DEBUG"))
		return vfprintf(stderr, format, args);
	if (!last_words[0])
		vsnprintf(last_words, sizeof(last_words), format, args);
	last_words[strcspn(last_words, "\n")] = '\0';
	return 0;
}

static const struct {
	const char *name;
	size_t offset;
	uint32_t otherwise;
	bool bit;
} constants[] = {
#define X(member, name, otherwise) { name, offsetof(struct door_constants, member), otherwise, false },
	DOOR_VALUES(X)
#undef X
#define X(member, name, otherwise) { name, offsetof(struct door_constants, member), otherwise, true },
	DOOR_BITS(X)
#undef X
};

#define NR_CONSTANTS (sizeof(constants) / sizeof(constants[0]))

static void set_constant(struct door_constants *ret, size_t index, uint32_t value)
{
	uint64_t *to = (uint64_t *)((char *)ret + constants[index].offset);

	if (constants[index].bit)
		*to = value < 64 ? 1ULL << value : 0;
	else
		*to = value;
}

static void take_constant(struct door_constants *ret, const char *name, uint32_t value)
{
	for (size_t i = 0; name && i < NR_CONSTANTS; i++)
		if (!strcmp(constants[i].name, name))
			set_constant(ret, i, value);
}

/* Find the constants in the enums of the kernel's BTF: some of these have no name. */
static void find_constants(const struct btf *btf, struct door_constants *ret)
{
	for (size_t i = 0; i < NR_CONSTANTS; i++)
		set_constant(ret, i, constants[i].otherwise);
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		for (unsigned int i = 0; btf_is_enum(type) && i < btf_vlen(type); i++)
			take_constant(ret, btf__name_by_offset(btf, btf_enum(type)[i].name_off),
				      (uint32_t)btf_enum(type)[i].val);
	}
}

/* Does the kernel show the address of its preempt count? */
static bool shows_preempt_count(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[256], name[128];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %*s %127s", name) == 1 &&
			(!strcmp(name, "__preempt_count") || !strcmp(name, "pcpu_hot"));
	if (file)
		fclose(file);
	return found;
}

/* Leave out programs of tracepoints that the kernel lacks, and of two for one tracepoint that which does not fit. */
static void leave_out(struct door *door, const struct btf *btf, struct bpf_object *object)
{
	const char *other = shows_preempt_count() ? "any_" : "on_bio_";
	struct bpf_program *program;
	size_t used = 0;

	bpf_object__for_each_program(program, object) {
		const char *name = strchr(bpf_program__section_name(program), '/') + 1;
		char type[128];

		if (!strncmp(bpf_program__name(program), other, strlen(other)) &&
		    (!strcmp(name, "block_bio_queue") || !strcmp(name, "block_bio_remap"))) {
			bpf_program__set_autoload(program, false);
			continue;
		}
		snprintf(type, sizeof(type), "btf_trace_%s", name);
		if (btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0)
			continue;
		bpf_program__set_autoload(program, false);
		if (used < sizeof(door->unavailable))
			used += (size_t)snprintf(door->unavailable + used, sizeof(door->unavailable) - used, "%s%s",
						 used ? " " : "", name);
	}
}

static int set_constants(struct bpf_object *object, const struct btf *btf, unsigned int ring_bytes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	struct door_constants value;
	size_t size;
	void *initial = map ? (void *)bpf_map__initial_value(map, &size) : NULL;
	struct btf *own = bpf_object__btf(object);
	int section = own ? btf__find_by_name_kind(own, ".rodata", BTF_KIND_DATASEC) : -1;
	const struct btf_type *type = section > 0 ? btf__type_by_id(own, (uint32_t)section) : NULL;

	find_constants(btf, &value);
	value.ring_mask = ring_bytes - 1;
	for (unsigned int i = 0; initial && type && i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *var = btf_var_secinfos(type) + i;
		const char *name = btf__name_by_offset(own, btf__type_by_id(own, var->type)->name_off);

		if (!strcmp(name, "door_constants") && var->size == sizeof(value) && var->offset + var->size <= size) {
			memcpy((char *)initial + var->offset, &value, sizeof(value));
			return 0;
		}
	}
	return -ENOENT;
}

/* Before the programs are loaded. */
static int size_rings(struct door *door, struct bpf_object *object, unsigned int bytes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "door_rings");
	int err;

	if (!map)
		return -ENOENT;
	door->ring_step = sizeof(struct door_ring) + bytes + DOOR_BEYOND;
	err = bpf_map__set_max_entries(map, door->nr_rings);
	return err ? err : bpf_map__set_value_size(map, (uint32_t)door->ring_step);
}

static void *map_values(struct bpf_object *object, const char *name, size_t bytes)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	void *values = map ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0) : MAP_FAILED;

	return values == MAP_FAILED ? NULL : values;
}

static int map_all(struct door *door, struct bpf_object *object, unsigned int bytes)
{
	door->state = map_values(object, ".bss", sizeof(*door->state));
	door->rings = map_values(object, "door_rings", door->nr_rings * door->ring_step);
	if (!door->state || !door->rings)
		return -ENOMEM;
	for (unsigned int i = 0; i < door->nr_rings; i++)
		((struct door_ring *)(door->rings + i * door->ring_step))->limit = bytes;
	return 0;
}

static int attach(struct door *door, struct bpf_object *object, char *text, size_t size)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		if (!bpf_program__autoload(program))
			continue;
		door->link[door->nr_programs] = bpf_program__attach(program);
		if (!door->link[door->nr_programs]) {
			int err = -errno;

			snprintf(text, size, "%s cannot be attached: %s", bpf_program__section_name(program),
				 strerror(-err));
			return err;
		}
		door->program[door->nr_programs++] = bpf_program__fd(program);
	}
	return 0;
}

void raidtrace_door_close(struct door *door)
{
	for (unsigned int i = 0; i < door->nr_programs; i++)
		bpf_link__destroy(door->link[i]);
	if (door->rings)
		munmap(door->rings, door->nr_rings * door->ring_step);
	if (door->state)
		munmap(door->state, sizeof(*door->state));
	bpf_object__close(door->object);
	memset(door, 0, sizeof(*door));
}

static int load(struct door *door, const struct btf *btf, unsigned int ring_bytes, char *text, size_t size)
{
	struct bpf_object *object;
	int err;

	object = bpf_object__open_mem(door_object, (size_t)(door_object_end - door_object), NULL);
	if (!object) {
		snprintf(text, size, "the BPF programs cannot be read: %s", strerror(errno));
		return -errno;
	}
	door->object = object;
	leave_out(door, btf, object);
	err = set_constants(object, btf, ring_bytes);
	if (!err)
		err = size_rings(door, object, ring_bytes);
	if (!err)
		err = bpf_object__load(object);
	if (!err)
		err = map_all(door, object, ring_bytes);
	if (err) {
		snprintf(text, size, "the kernel does not take the BPF programs: %s%s%s", strerror(-err),
			 last_words[0] ? ": " : "", last_words);
		return err;
	}
	return attach(door, object, text, size);
}

int raidtrace_door_open(struct door *door, unsigned int nr_rings, unsigned int ring_bytes, char *text, size_t size)
{
	struct btf *btf;
	int err;

	memset(door, 0, sizeof(*door));
	last_words[0] = '\0';
	libbpf_set_print(keep_words);
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		err = -errno;
		snprintf(text, size, "they need the kernel's type information, and there is no /sys/kernel/btf/vmlinux: a kernel with CONFIG_DEBUG_INFO_BTF has it, in a container /sys must be mounted");
		return err;
	}
	door->nr_rings = nr_rings;
	err = load(door, btf, ring_bytes, text, size);
	btf__free(btf);
	if (err)
		raidtrace_door_close(door);
	return err;
}
