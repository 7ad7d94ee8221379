// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a lab kernel, which is a process of the host: five things that it asks of the host, asked differently.
 *
 * Random numbers are the same in every run with the same LAB_SEED. Without this, hash seeds and UUIDs, and with them
 * where a file system puts a directory, would differ between two runs of one command.
 *
 * The processes that it traces (one for each address space of the guest) die with it. Without this, one that is just
 * running user code when the kernel is killed runs on for ever.
 *
 * It sets the extended state (vector registers and more) of these processes as the host wants it: in the size of the
 * host's processor, exactly. The kernel knows 2,696 bytes, whatever the host; with AMX the host wants 11,008 and
 * refuses less.
 *
 * With several processors the kernel blocks the signal that one sends another whenever it turns interrupts off: two
 * system calls, for which its threads take one lock of the host, where a processor takes some nanoseconds. Here the
 * signal is blocked when one comes at such a time: it is sent again, and stays pending until interrupts are on.
 *
 * It waits when the guest looks into its directory of modules for the first time. The runner builds the modules then
 * (uml/guest.py). Meanwhile the kernel stands still, and so does its simulated clock.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PTRACE_OLDSETOPTIONS
#define PTRACE_OLDSETOPTIONS 21	/* x86: what User Mode Linux uses; means the same */
#endif

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	static uint64_t state;
	unsigned char *bytes = buffer;
	const char *seed;

	(void)flags;
	if (!state) {
		seed = getenv("LAB_SEED");
		state = 0x9e3779b97f4a7c15 ^ (seed ? strtoull(seed, NULL, 10) : 0);
	}
	for (size_t i = 0; i < length; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (unsigned char)(state >> 56);
	}
	return (ssize_t)length;
}

/* Files of the control directory, the working directory of the kernel's process. */
#define MODULES_WANTED	"modules-wanted"
#define MODULES_THERE	"modules-there"
#define MODULES		"/modroot/"	/* in the path of each module, and of the index that modprobe reads */

/* Return when what @path names, should it lie in the directory of modules, is there. */
static void wait_for_modules(const char *path)
{
	const struct timespec pause_time = { .tv_nsec = 20 * 1000 * 1000 };
	const char *inside = strstr(path, MODULES);
	static bool there;

	if (there || !inside)
		return;
	inside += strlen(MODULES);
	if (!strncmp(inside, "./", 2))
		inside += 2;
	if (strncmp(inside, "lib", 3))
		return;
	if (access(MODULES_THERE, F_OK)) {
		close(open(MODULES_WANTED, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		while (access(MODULES_THERE, F_OK))
			nanosleep(&pause_time, NULL);
	}
	there = true;
}

/* hostfs looks up a name with the first function until 6.12, and with the second one since then. */
int lstat64(const char *path, struct stat64 *result)
{
	wait_for_modules(path);
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *result)
{
	wait_for_modules(path);
	return (int)syscall(SYS_statx, directory, path, flags, mask, result);
}

/* Layout of the extended state: XSAVE, standard format (Intel SDM, volume 1, 13.4). */
#define XSTATE_MAX	65536	/* bytes; processors of 2026 have at most 11,008 */
#define XSTATE_BV	512	/* offset of the word with a bit for each component not in its initial state */
#define FIRST_EXTENDED	2	/* x87 and SSE lie before that word */

/*
 * The number of bytes that the host requires to set the state of a process; 0 if it does not report
 * one. @pid is stopped, and belongs to us.
 */
static size_t xstate_size(pid_t pid, unsigned char *buffer)
{
	static size_t size;	/* the same for all processes; threads that race store the same */
	struct iovec whole = { buffer, XSTATE_MAX };

	if (!size && !syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole))
		size = whole.iov_len;
	return size;
}

/*
 * Components that lie completely within the first @length bytes, as a mask of XSTATE_BV. The last answer is kept: in a
 * virtual machine each CPUID is an exit to the hypervisor, and the kernel asks before each return to a process.
 */
static uint64_t components_within(size_t length)
{
	static __thread size_t last_length;
	static __thread uint64_t last;
	unsigned int size, offset, unused1, unused2;
	uint64_t mask = (1u << FIRST_EXTENDED) - 1;

	if (length == last_length)
		return last;
	for (unsigned int bit = FIRST_EXTENDED; bit < 63; bit++) {
		if (__get_cpuid_count(0xd, bit, &size, &offset, &unused1, &unused2) && size &&
		    (size_t)offset + size <= length)
			mask |= 1ull << bit;
	}
	last_length = length;
	last = mask;
	return mask;
}

/*
 * The host truncates a state that is longer than its own. A shorter one is continued with
 * components in their initial state: the kernel never had them, so no process of the guest uses
 * them.
 */
static long set_xstate(pid_t pid, const struct iovec *state)
{
	/* The kernel's stacks are small. */
	static __thread unsigned char buffer[XSTATE_MAX] __attribute__((aligned(64)));
	struct iovec whole = { buffer, xstate_size(pid, buffer) };
	uint64_t present;

	if (state->iov_len >= whole.iov_len || state->iov_len < XSTATE_BV + sizeof(present))
		return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, state);
	memcpy(buffer, state->iov_base, state->iov_len);
	memset(buffer + state->iov_len, 0, whole.iov_len - state->iov_len);
	memcpy(&present, buffer + XSTATE_BV, sizeof(present));
	present &= components_within(state->iov_len);
	memcpy(buffer + XSTATE_BV, &present, sizeof(present));
	return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &whole);
}

/*
 * 7.2 stores the state behind each task_struct. With the host's size of this state, the number of
 * tasks in a page would depend on the host. So report one size on every host: that of a processor
 * with AVX-512. The rest is in its initial state (set_xstate).
 */
#define XSTATE_TOLD	2696

static long get_xstate(pid_t pid, struct iovec *state)
{
	size_t room = state->iov_len;
	long result = syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, state);

	if (!result && room >= XSTATE_TOLD) {
		if (state->iov_len < XSTATE_TOLD)
			memset((char *)state->iov_base + state->iov_len, 0, XSTATE_TOLD - state->iov_len);
		state->iov_len = XSTATE_TOLD;
	}
	return result;
}

long ptrace(enum __ptrace_request request, ...)
{
	unsigned long address, data, word;
	long result;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	address = va_arg(ap, unsigned long);
	data = va_arg(ap, unsigned long);
	va_end(ap);

	if (request == PTRACE_SETOPTIONS || (int)request == PTRACE_OLDSETOPTIONS)
		data |= PTRACE_O_EXITKILL;
	if (request == PTRACE_GETREGSET && address == NT_X86_XSTATE)
		return get_xstate(pid, (struct iovec *)data);
	if (request == PTRACE_SETREGSET && address == NT_X86_XSTATE)
		return set_xstate(pid, (const struct iovec *)data);
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
		return syscall(SYS_ptrace, request, pid, address, data);
	/* The system call stores the word, the C function returns it. */
	result = syscall(SYS_ptrace, request, pid, address, &word);
	if (result < 0)
		return -1;
	errno = 0;
	return (long)word;
}

/*
 * State of this thread: whether the signal should be blocked, and whether it really is. A handler
 * changes both.
 */
#define OWN static __thread volatile __attribute__((tls_model("initial-exec")))
OWN bool blocked, really;

typedef void handler(int signal, siginfo_t *info, void *context);
static handler *handlers[_NSIG];

static int (*next_sigaction)(int signal, const struct sigaction *action, struct sigaction *old);

static void set_really(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	really = how == SIG_BLOCK;
	pthread_sigmask(how, &set, NULL);
}

/* A handler returns to code with its own mask. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;

	if (signal != SIGRTMIN) {
		handlers[signal](signal, info, context);
	} else if (blocked) {
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
		sigaddset(mask, signal);
	} else {
		/* Every signal is blocked while its handler runs. */
		blocked = true;
		really = true;
		handlers[signal](signal, info, context);
		blocked = false;
	}
	really = sigismember(mask, SIGRTMIN);
}

/* Report the kernel's own handler to the caller, which may set it again. */
int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction ours;
	handler *before;
	int result;

	if (!next_sigaction)
		next_sigaction = (int (*)(int, const struct sigaction *, struct sigaction *))
			dlsym(RTLD_NEXT, "sigaction");
	if (signal < 1 || signal >= _NSIG)
		return next_sigaction(signal, action, old);
	before = handlers[signal];
	if (action && (action->sa_flags & SA_SIGINFO)) {
		ours = *action;
		handlers[signal] = action->sa_sigaction;
		ours.sa_sigaction = on_signal;
		action = &ours;
	}
	result = next_sigaction(signal, action, old);
	if (!result && old && old->sa_sigaction == on_signal)
		old->sa_sigaction = before;
	return result;
}

/* The kernel's helpers, which its consoles have, are processes of their own with the memory and variables of one. */
static bool is_helper(void)
{
	OWN pid_t owner;
	pid_t thread = (pid_t)syscall(SYS_gettid);

	if (!owner)
		owner = thread;
	return owner != thread;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t alone;
	int result;
	bool ours;

	sigemptyset(&alone);
	sigaddset(&alone, SIGRTMIN);
	if (set && !old && how != SIG_SETMASK && set->__val[0] == alone.__val[0]) {
		blocked = how == SIG_BLOCK;
		if (!blocked && really)
			set_really(SIG_UNBLOCK);
		return 0;
	}
	ours = !is_helper();
	if (ours && blocked && !really)
		set_really(SIG_BLOCK);
	result = pthread_sigmask(how, set, old);
	if (!result && ours && set && (how == SIG_SETMASK || sigismember(set, SIGRTMIN))) {
		blocked = how == SIG_UNBLOCK ? false : sigismember(set, SIGRTMIN);
		really = blocked;
	}
	if (!result)
		return 0;
	errno = result;
	return -1;
}
