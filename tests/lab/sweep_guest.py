#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-sweep and ctl-why: one that is killed at its Nth event. sweep_guest.py N ARGUMENT... is raidctl sweep ARGUMENT...,
and sweep_guest.py N why ARGUMENT... is raidctl why ARGUMENT...

An event is whatever Python audits: a file opened, a program started, a directory made, the database touched, a signal sent.
Before the Nth the process kills itself with SIGKILL, as nobody can catch. Where time is simulated a kill after so many
seconds would always hit a wait; this hits everything between. N = 0 never kills; the number of events is in the file
`events`, the commands that were run and the settings that were written are in `commands`, in order.
"""

import os
import pathlib
import shlex
import signal
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools" / "python"))
KINDS = ("open", "subprocess.Popen", "os.mkdir", "os.rmdir", "os.remove", "os.rename", "sqlite3.connect", "os.kill",
         "os.killpg", "fcntl.flock", "fcntl.ioctl", "os.listdir", "os.scandir")  # fmt: skip
at = count = 0
commands: list[str] = []


def audited(event: str, arguments: tuple[object, ...]) -> None:
    """Count, and at the chosen event die."""
    global count
    if event == "subprocess.Popen":
        commands.append(shlex.join(str(word) for word in arguments[1]))
    if event in KINDS:
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)


from raidtrace.cli import front  # noqa: E402
from raidtrace.cli import sweep as cli_sweep  # noqa: E402
from raidtrace.sweep import journal  # noqa: E402

# the database does its writing outside of Python: each of its statements is an event, too
real = cli_sweep.sweep_index.sqlite3.connect


class Connection(cli_sweep.sweep_index.sqlite3.Connection):
    """Counts statements."""

    def execute(self, *arguments):
        audited("open", ())
        return super().execute(*arguments)


cli_sweep.sweep_index.sqlite3.connect = lambda *a, **k: real(*a, **{**k, "factory": Connection})
put = journal.put


def counted_put(path, value):
    """Before and after each setting."""
    audited("open", ())
    commands.append(f"echo {shlex.quote(value)} >{shlex.quote(str(path))}")
    put(path, value)
    audited("open", ())


journal.put = counted_put
sys.addaudithook(audited)


def sweep(kill_at: int, words: list[str]) -> int:
    """raidctl sweep WORDS, or raidctl WORDS, killed at its event kill_at unless that is 0. Its exit status."""
    global at, count
    at, count = kill_at, 0
    commands.clear()
    verb = "why" if words[0] == "why" else "sweep"
    sys.argv[1:] = words[words[0] == "why" :]
    status = front.run(verb) or 0
    at = 0
    return status


if __name__ == "__main__":
    ended = sweep(int(sys.argv[1]), sys.argv[2:])
    pathlib.Path("events").write_text(f"{count}\n")
    pathlib.Path("commands").write_text("".join(f"{command}\n" for command in commands))
    sys.exit(ended)
