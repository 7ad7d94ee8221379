# SPDX-License-Identifier: GPL-2.0-or-later
"""What is preloaded into a lab kernel keeps what the kernel asked of the host: handlers, masks, what a signal brings."""

import subprocess

import pytest
from compiled import PRELOADED, STRICT, compiled
from conftest import TOP

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
def run(tmp_path_factory):
    """Runs the body of a main() with the library, and without; what both print."""
    directory = tmp_path_factory.mktemp("hostcalls")
    library = compiled(TOP / "tools/lab/guest/hostcalls.c", directory / "hostcalls.so", *STRICT, *PRELOADED)

    def both(body):
        (directory / "a.c").write_text(f"{BEGIN}int main(void)\n{{\n{body}\nreturn 0;\n}}\n")
        program = compiled(directory / "a.c", directory / "a")
        environments = ({"LD_PRELOAD": str(library)}, {})
        return [
            subprocess.run([program], env=e, capture_output=True, text=True, check=True, timeout=20).stdout
            for e in environments
        ]

    return both


def test_a_handler_that_was_asked_for_can_be_set_again(run):
    body = """
    struct sigaction old;

    handle(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    printf("%d ", old.sa_sigaction == handler);
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
    raise(SIGUSR1);
    printf("%d", calls);
    """
    assert run(body) == ["1 1", "1 1"]


def test_a_signal_waits_until_it_is_let_through_and_brings_its_word(run):
    body = """
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
    """
    expected = "1 1, 1 1, 2 10 0; 2 1, 3 11 0; 3 1, 4 12 0; "
    assert run(body) == [expected, expected]


def test_the_mask_is_as_it_was_asked_for_when_somebody_looks(run):
    body = """
    sigset_t now;

    handle(SIGRTMIN);
    switch_off(SIG_BLOCK);
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%d ", sigismember(&now, SIGRTMIN));
    switch_off(SIG_UNBLOCK);
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%d", sigismember(&now, SIGRTMIN));
    """
    assert run(body) == ["1 0", "1 0"]


def test_a_helper_with_the_same_memory_changes_its_own_mask_alone(run):
    body = """
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
    """
    assert run(body) == ["1 7 0", "1 7 0"]
