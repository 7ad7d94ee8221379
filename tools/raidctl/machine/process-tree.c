// SPDX-License-Identifier: GPL-2.0-or-later

/* Resources used by all descendants of a process. */

#include "machine/machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* All processes, of which some descend from root. */
struct walk {
	struct member {
		int pid;
		struct process process;
		bool inside;
	} *members;
	size_t nr;
};

static int take_pid(void *data, int pid)
{
	struct walk *walk = data;
	struct process process;
	struct member *more;

	if (!proc_process_read(pid, &process))
		return 0;
	more = reallocarray(walk->members, walk->nr + 1, sizeof(*more));
	if (!more)
		return 1;
	walk->members = more;
	more[walk->nr++] = (struct member){
		.pid = pid, .process = process,
	};
	return 0;
}

static void add_io(const struct proc_io *io, struct proc_io *sum)
{
	sum->rchar += io->rchar;
	sum->wchar += io->wchar;
	sum->syscr += io->syscr;
	sum->syscw += io->syscw;
	sum->read_bytes += io->read_bytes;
	sum->write_bytes += io->write_bytes;
	sum->cancelled_write_bytes += io->cancelled_write_bytes;
}

static void add_process(void *data, const struct process *process)
{
	struct tree_use *sum = data;
	struct proc_io io;
	uint64_t waited_ns;

	sum->nr++;
	sum->ticks += process->ticks;
	sum->major_faults += process->major_faults;
	if (proc_io_read(process->pid, &io))
		add_io(&io, &sum->io);
	if (proc_waited_read(process->pid, &waited_ns))
		sum->waited_ns += waited_ns;
}

void tree_add_ended(int pid, struct tree_use *ended)
{
	struct process process;

	if (proc_process_read(pid, &process))
		add_process(ended, &process);
}

/* Called for each descendant. */
struct visit {
	void (*take)(void *data, const struct process *process);
	void *data;
};

static void visit_children(struct walk *walk, int parent, const struct visit *visit)
{
	for (size_t i = 0; i < walk->nr; i++) {
		struct member *member = &walk->members[i];

		if (member->inside || member->process.parent != parent)
			continue;
		member->inside = true;
		visit->take(visit->data, &member->process);
		visit_children(walk, member->pid, visit);
	}
}

/* If the kernel lists the children of each thread (PROC_CHILDREN, set in distributions), only the tree is read. */
static void visit_listed(int pid, int thread, const struct visit *visit);

static void visit_threads(int pid, const struct visit *visit)
{
	char path[64];
	DIR *dir;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			visit_listed(pid, atoi(entry->d_name), visit);
	if (dir)
		closedir(dir);
}

static void visit_listed(int pid, int thread, const struct visit *visit)
{
	char path[96];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, thread);
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &child) == 1) {
		struct process process;

		if (!proc_process_read(child, &process))
			continue;
		visit->take(visit->data, &process);
		visit_threads(child, visit);
	}
	if (file)
		fclose(file);
}

void tree_each(int root, void (*take)(void *data, const struct process *process), void *data)
{
	static int listed = -1;
	struct visit visit = { take, data };
	struct walk walk = { 0 };

	if (listed < 0) {
		char path[96];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", root,
			 root);
		listed = !access(path, R_OK);
	}
	if (listed) {
		visit_threads(root, &visit);
		return;
	}
	proc_each_pid(take_pid, &walk);
	visit_children(&walk, root, &visit);
	free(walk.members);
}

void tree_read(int root, const struct tree_use *ended, struct tree_use *ret)
{
	*ret = *ended;
	ret->nr = 0;
	ret->io_known = !access("/proc/self/io", R_OK);
	ret->waited_known = !access("/proc/self/schedstat", R_OK);
	tree_each(root, add_process, ret);
}
