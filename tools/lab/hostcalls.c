// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a lab kernel, which is a process of the host: two things that it asks of the host, asked differently.
 *
 * Random numbers are the same in every run. Without this, hash seeds and UUIDs, and with them where a file system puts a
 * directory, would differ between two runs of one command.
 *
 * The processes that it traces (one for each address space of the guest) die with it. Without this, one that is just
 * running user code when the kernel is killed runs on for ever.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef PTRACE_OLDSETOPTIONS
#define PTRACE_OLDSETOPTIONS 21	/* x86: what User Mode Linux uses; means the same */
#endif

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	static uint64_t state = 0x9e3779b97f4a7c15;
	unsigned char *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < length; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (unsigned char)(state >> 56);
	}
	return (ssize_t)length;
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
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
		return syscall(SYS_ptrace, request, pid, address, data);
	/* The system call stores the word, the C function returns it. */
	result = syscall(SYS_ptrace, request, pid, address, &word);
	if (result < 0)
		return -1;
	errno = 0;
	return (long)word;
}
