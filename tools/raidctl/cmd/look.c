// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * raidctl look: the chosen disks, and two looks at processes, disks and interrupts, as JSON. It is the reader of
 * raidctl check, which is Python and starts this program.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cmd/command.h"
#include "disk/disk.h"
#include "machine/machine.h"
#include "report/report.h"

/* Between the looks: the kernel counts processor time in ticks of 10 ms. */
#define PAUSE_S	1

static error_t parse(int key, char *arg, struct argp_state *state)
{
	return key == ARGP_KEY_ARG ? words_add(state->input, arg) : ARGP_ERR_UNKNOWN;
}

/* Add a process to an array. A process that ends meanwhile is left out, and so is this program. */
static int add_process(void *data, int pid)
{
	struct json_object *object;
	struct process process;
	struct proc_io io;
	bool known;

	if (pid == getpid() || !proc_process_read(pid, &process))
		return 0;
	known = proc_io_read(pid, &io);
	object = json_new_object();
	json_add_count(object, "pid", (uint64_t)process.pid);
	json_add_count(object, "parent", (uint64_t)process.parent);
	json_add_count(object, "start", process.start);
	json_member(object, "name", json_new_string(process.name));
	json_add_count(object, "ticks", process.ticks);
	json_add_known(object, "io_bytes", !known, known ? io.read_bytes + io.write_bytes : 0);
	json_element(data, object);
	return 0;
}

static struct json_object *disks_array(const char *text)
{
	struct json_object *array = text ? json_new_array() : NULL, *object;
	struct disk_use use;

	while (proc_disk_use(&text, &use)) {
		if (!proc_whole_disk(use.name))
			continue;
		object = json_new_object();
		json_add_text(object, "name", use.name);
		json_add_count(object, "requests", use.requests);
		json_add_count(object, "bytes", use.bytes);
		json_element(array, object);
	}
	return array;
}

static struct json_object *interrupts_array(const char *text)
{
	struct json_object *array, *object;
	struct interrupt_table table;

	if (!text || interrupts_parse(text, &table))
		return NULL;
	array = json_new_array();
	for (size_t i = 0; i < table.nr; i++) {
		object = json_new_object();
		json_add_count(object, "number", table.lines[i].number);
		json_add_count(object, "count", interrupts_sum(&table, i));
		json_add_bool(object, "shared", strstr(table.lines[i].devices, ", "));
		json_element(array, object);
	}
	interrupts_free(&table);
	return array;
}

/* A member without a value is null: not available. */
static struct json_object *look(struct proc_file *vmstat, struct proc_file *diskstats, struct proc_file *interrupts)
{
	struct json_object *object = json_new_object(), *processes = json_new_array();

	json_add_count(object, "time_ns", clock_ns(CLOCK_MONOTONIC));
	json_add_or_null(object, "swapped_pages", proc_swapped(proc_read(vmstat)));
	/* Mounted with hidepid, /proc shows a user only his own processes. */
	json_add_bool(object, "processes_known", !access("/proc/1/stat", R_OK));
	json_add_bool(object, "io_accounted", !access("/proc/self/io", R_OK));
	json_member(object, "disks", disks_array(proc_read(diskstats)));
	json_member(object, "interrupts", interrupts_array(proc_read(interrupts)));
	proc_each_pid(add_process, processes);
	json_member(object, "processes", processes);
	return object;
}

/* The disks of the words, with their mounts, and then the disks that they consist of. */
static int run(struct context *context, void *data)
{
	struct json_object *object = json_new_object(), *looks = json_new_array();
	static struct proc_file vmstat, diskstats, interrupts;	/* closed with the process */
	char profile[DISK_NAME] = "";
	struct words *words = data;
	struct disk *disks = NULL;
	size_t nr = 0, nr_chosen;
	int status = 0;

	(void)context;
	if (words->nr || args_has_default())
		status = args_disks(words, "check", &nr, &disks);
	free(words->word);
	nr_chosen = nr;
	if (status)
		return status;
	if (stack_add_members(&nr, &disks))
		return fail("check: %s", strerror(ENOMEM));
	for (size_t i = 0; i < nr_chosen; i++)
		disk_mounts(disks[i].name, &disks[i].nr_mounts, &disks[i].mounts);
	json_add_bool(object, "simulated", lab_profile(profile, sizeof(profile)));
	json_add_text(object, "lab_profile", profile);
	json_add_count(object, "nr_chosen", nr_chosen);
	json_member(object, "disks", json_disks(disks, nr));
	disk_list_free(disks, nr);
	proc_open(&vmstat, "/proc/vmstat");
	proc_open(&diskstats, "/proc/diskstats");
	proc_open(&interrupts, "/proc/interrupts");
	json_element(looks, look(&vmstat, &diskstats, &interrupts));
	sleep(PAUSE_S);
	json_element(looks, look(&vmstat, &diskstats, &interrupts));
	json_member(object, "looks", looks);
	json_finish(stdout, object);
	return EXIT_DONE;
}

const struct verb verb_look = {
	.argp = { NULL, parse, "[DISK...]", "Print the facts of the machine for raidctl check.", NULL, NULL, NULL },
	.options_size = sizeof(struct words),
	.run = run,
};
