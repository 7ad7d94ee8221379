#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-sweep: a sweep that is killed at its Nth event. sweep_guest.py N ARGUMENT... is raidctl sweep ARGUMENT...

An event is whatever Python audits: a file opened, a program started, a directory made, the database touched, a signal sent.
Before the Nth the process kills itself with SIGKILL, as nobody can catch. Where time is simulated a kill after so many
seconds would always hit a wait; this hits everything between. N = 0 never kills; the number of events is in the file `events`.
"""

import os
import pathlib
import signal
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools" / "python"))
AT = int(sys.argv[1])
KINDS = ("open", "subprocess.Popen", "os.mkdir", "os.rmdir", "os.remove", "os.rename", "sqlite3.connect", "os.kill",
         "os.killpg", "fcntl.flock", "os.listdir", "os.scandir")  # fmt: skip
count = 0


def audited(event: str, _arguments: object) -> None:
    """Count, and at the chosen event die."""
    global count
    if event in KINDS:
        count += 1
        if count == AT:
            os.kill(os.getpid(), signal.SIGKILL)


from raidtrace import cli_sweep, journal  # noqa: E402

# the database does its writing outside of Python: each of its statements is an event, too
real = cli_sweep.sweep_index.sqlite3.connect


class Connection(cli_sweep.sweep_index.sqlite3.Connection):
    """Counts statements."""

    def execute(self, *arguments):
        audited("open", None)
        return super().execute(*arguments)


cli_sweep.sweep_index.sqlite3.connect = lambda *a, **k: real(*a, **{**k, "factory": Connection})
put = journal.put


def counted_put(*arguments):
    """Before and after each setting."""
    audited("open", None)
    put(*arguments)
    audited("open", None)


journal.put = counted_put
sys.addaudithook(audited)
status = cli_sweep.main(sys.argv[2:])
AT = 0
pathlib.Path("events").write_text(f"{count}\n")
sys.exit(status)
