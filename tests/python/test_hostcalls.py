# SPDX-License-Identifier: GPL-2.0-or-later
"""The library that is preloaded into a lab kernel keeps the kernel's requests to the host: handlers, masks, signals' words."""

import pathlib
import subprocess
import time

import pytest
from conftest import PRELOADED, STRICT, TOP, compiled

BEGIN = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int calls, value;
static void handler(int signal, siginfo_t *info, void *context)
{
    calls++;
    value = info->si_value.sival_int;
    (void)signal;
    (void)context;
}
static void handle(int signal)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

    sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}
static void switch_off(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(how, &set, NULL);
}
static void send(int what)
{
    union sigval word = { .sival_int = what };

    sigqueue(getpid(), SIGRTMIN, word);
}
static int pending(void)
{
    sigset_t set;

    sigpending(&set);
    return sigismember(&set, SIGRTMIN);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostcalls") / "hostcalls.so"
    return compiled(TOP / "tools/lab/guest/hostcalls.c", path, *STRICT, *PRELOADED)


@pytest.fixture
def run(library, tmp_path):
    """Runs the body of a main() with the library, and without; what both print."""

    def both(body):
        (tmp_path / "a.c").write_text(f"{BEGIN}int main(void)\n{{\n{body}\nreturn 0;\n}}\n")
        program = compiled(tmp_path / "a.c", tmp_path / "a")
        environments = ({"LD_PRELOAD": str(library)}, {})
        return [
            subprocess.run([program], env=e, capture_output=True, text=True, check=True, timeout=20).stdout
            for e in environments
        ]

    return both


# The body of a main(), and its output with the library and without.
PRINTS = {
    "a handler that was requested can be set again": ("""
    struct sigaction old;

    handle(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    printf("%d ", old.sa_sigaction == handler);
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
    raise(SIGUSR1);
    printf("%d", calls);
    """, "1 1"),
    "a signal waits until it is let through and brings its word": ("""
    handle(SIGRTMIN);
    send(1);
    printf("%d %d, ", calls, value);
    for (int i = 0; i < 3; i++) {
        switch_off(SIG_BLOCK);
        send(10 + i);
        printf("%d %d, ", calls, pending());
        switch_off(SIG_UNBLOCK);
        printf("%d %d %d; ", calls, value, pending());
    }
    """, "1 1, 1 1, 2 10 0; 2 1, 3 11 0; 3 1, 4 12 0; "),
    "the mask is as it was requested when somebody looks": ("""
    sigset_t now;

    handle(SIGRTMIN);
    switch_off(SIG_BLOCK);
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%d ", sigismember(&now, SIGRTMIN));
    switch_off(SIG_UNBLOCK);
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%d", sigismember(&now, SIGRTMIN));
    """, "1 0"),
    "a helper with the same memory changes its own mask alone": ("""
    static char stack[65536];
    sigset_t none;
    int helper(void *unused)
    {
        sigset_t all;

        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        return unused != NULL;
    }

    handle(SIGRTMIN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    waitpid(clone(helper, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), NULL, 0);
    send(7);
    printf("%d %d %d", calls, value, pending());
    """, "1 7 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTS)
def test_a_program_prints_the_same_with_the_library(run, name):
    body, expected = PRINTS[name]
    assert run(body) == [expected, expected]


# A host of SIZE bytes of extended state: tells so, refuses a shorter one as Linux does, keeps what it was set.
XSTATE = """
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { SIZE = %d, STATE = %d };
static unsigned char host[SIZE], state[STATE];

long syscall(long number, ...)
{
    long word[4];
    va_list ap;
    struct iovec *io;

    va_start(ap, number);
    for (int i = 0; i < 4; i++)
        word[i] = va_arg(ap, long);
    va_end(ap);
    if (number != SYS_ptrace || word[2] != NT_X86_XSTATE)
        abort();
    io = (struct iovec *)word[3];
    if (io->iov_len > SIZE)
        io->iov_len = SIZE;
    if (word[0] == PTRACE_GETREGSET) {
        memset(io->iov_base, 0xee, io->iov_len);
        return 0;
    }
    if (io->iov_len != SIZE)
        return errno = EFAULT, -1;
    memcpy(host, io->iov_base, SIZE);
    return 0;
}

int main(void)
{
    struct iovec io = { state, STATE }, answer;
    static unsigned char room[1 << 17];
    uint64_t present = ~0ull, kept;
    size_t same = STATE < SIZE ? STATE : SIZE, rest = same;

    if (getenv("TELL")) {
        answer = (struct iovec){ room, atoi(getenv("TELL")) };
        memset(room, 0x77, sizeof(room));
        ptrace(PTRACE_GETREGSET, 1, (void *)NT_X86_XSTATE, &answer);
        for (rest = SIZE; rest < answer.iov_len && !room[rest]; rest++)
            ;
        kept = room[answer.iov_len] == (SIZE > answer.iov_len ? 0xee : 0x77);
        return printf("%%zu %%d", answer.iov_len, rest >= answer.iov_len && kept), 0;
    }
    memset(state, 0x55, STATE);
    if (STATE >= 520)
        memcpy(state + 512, &present, 8);
    for (int i = 0; i < 2; i++) {
        memset(host, 0xaa, SIZE);
        if (ptrace(PTRACE_SETREGSET, 1, (void *)NT_X86_XSTATE, &io))
            return printf("%%s", strerror(errno)), 0;
    }
    memcpy(&kept, host + 512, 8);
    while (rest < SIZE && !host[rest])
        rest++;
    printf("%%d %%d %%#llx", !memcmp(host, state, 512) && !memcmp(host + 520, state + 520, same - 520), rest == SIZE,
           (unsigned long long)kept);
}
"""


@pytest.fixture
def xstate(library, tmp_path):
    """Sets an extended state of `state` bytes on a host that has `size`; what came of it."""

    def set_it(state, size, **tell):
        (tmp_path / "x.c").write_text(XSTATE % (size, state))
        program = compiled(tmp_path / "x.c", tmp_path / "x", "-rdynamic")
        environment = {"LD_PRELOAD": str(library), **tell}
        return subprocess.run([program], env=environment, capture_output=True, text=True, check=True, timeout=20).stdout

    return set_it


@pytest.mark.parametrize("size", [2697, 2752, 4096, 11008, 65536])
def test_a_host_with_more_extended_state_is_given_all_of_it(xstate, size):
    """A host refuses 2,696 bytes where it has more; what the guest's kernel lacks is set as never used."""
    kept_whole, rest_is_zero, present = xstate(2696, size).split()
    assert (kept_whole, rest_is_zero) == ("1", "1")
    # x87 and SSE are there always; AMX, which lies behind, must not be reported
    assert int(present, 16) & 3 == 3
    assert int(present, 16) & 3 << 17 == 0
    if " avx " in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii"):
        assert int(present, 16) & 4, "AVX lies within 2,696 bytes: what the guest's programs keep there is theirs"


@pytest.mark.parametrize(("state", "size", "tell", "expected"), [
    *((2696, size, {}, "1 1 0xffffffffffffffff") for size in (576, 832, 2696)),  # as much, or less
    (512, 2696, {}, "Bad address"),  # without the word that is to be changed it is left to the host
    # the size of a task does not depend on the host; the part that a smaller host does not fill is zero
    *((2696, size, {"TELL": "65536"}, "2696 1") for size in (576, 832, 2695, 2696, 2697, 11008)),
    (2696, 832, {"TELL": "2695"}, "832 1"),  # a kernel that has no room learns what the host gave
])  # fmt: skip
def test_a_host_is_given_and_tells_what_the_kernel_has(xstate, state, size, tell, expected):
    assert xstate(state, size, **tell) == expected


LOOKS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct statx more;
    struct stat64 facts;

    for (int i = 1; i < argc; i++) {
        int failed = lstat64(argv[i], &facts);

        if (failed != statx(AT_FDCWD, argv[i], AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &more) ||
            (!failed && facts.st_size != (long)more.stx_size))
            return 1;
        printf("%s %d\\n", argv[i], failed);
        fflush(stdout);
    }
    return 0;
}
"""


def test_a_guest_that_looks_for_modules_waits_until_they_are_there(library, tmp_path):
    """It waits once, and for no other file; what it looks at is what is there afterwards."""
    (tmp_path / "looks.c").write_text(LOOKS.replace("\\\\", "\\"))
    program = compiled(tmp_path / "looks.c", tmp_path / "looks")
    (tmp_path / "modroot").mkdir()
    names = ["modroot", f"{tmp_path}/modroot/.", f"{tmp_path}/modroot/./lib", f"{tmp_path}/modroot/lib/modules"]
    with subprocess.Popen([program, *names], env={"LD_PRELOAD": str(library)}, cwd=tmp_path, stdout=subprocess.PIPE,
                          text=True) as looks:  # fmt: skip
        assert [looks.stdout.readline() for _ in range(2)] == ["modroot 0\n", f"{tmp_path}/modroot/. 0\n"]
        deadline = time.monotonic() + 20
        while not (tmp_path / "modules-wanted").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        (tmp_path / "modroot/lib").mkdir()
        time.sleep(0.1)
        assert looks.poll() is None
        (tmp_path / "modules-there").touch()
        assert looks.stdout.read() == f"{names[2]} 0\n{names[3]} -1\n"
    assert looks.returncode == 0
