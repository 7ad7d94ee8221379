#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab run: exit statuses, output, result files, and that nothing of a guest outlives its runner. raidctl lab shell."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True
import terminal  # noqa: E402
from lab_checks import LAB, LIMIT_S, TOP, check, lab, run, scratch  # noqa: E402

BARE = ("--bare",)
PATIENCE = 20 * LIMIT_S  # looks at what comes, 50 ms apart
SHELL_WAIT_S = 30.0
HEADER = "sequence,request_id,opcode,name,unit,lba,sectors,arrival_ns,completion_ns,depth,status"


def exit_status(out: Path) -> None:
    check("the command's exit status is passed on", run(out, "sh", "-c", "exit 7", options=BARE).returncode == 7)
    check("success is passed on", run(out, "true", options=BARE).returncode == 0)
    killed = run(out, "sh", "-c", "kill -9 $$", options=BARE)
    check("death by signal 9 is 137", killed.returncode == 137, killed)
    absent = run(out, "no-such-command", options=BARE)
    check(
        "a command that is not there is 127 and named",
        absent.returncode == 127 and "no-such-command" in absent.stderr,
        absent,
    )
    none = lab("run", "--out", str(out))
    check("no command at all is refused with 125", none.returncode == 125 and "--" in none.stderr, none)
    usage = lab("run", "--no-such-option")
    check("a usage error is 2", usage.returncode == 2, usage)


def output(out: Path) -> None:
    both = run(out, "sh", "-c", "echo one; echo two >&2; printf three", options=BARE)
    check("stdout and stderr stay apart", (both.stdout, both.stderr) == ("one\nthree", "two\n"), both)
    binary = run(out, "seq", "300000", options=BARE)
    check(
        "2 MB of output arrive whole", binary.stdout == "".join(f"{n}\n" for n in range(1, 300001)), len(binary.stdout)
    )
    words = run(out, "printf", "[%s]", "a b", "", "*", "q\"u'o", "new\nline", options=BARE)
    check("words arrive as they were given", words.stdout == "[a b][][*][q\"u'o][new\nline]", words)
    left = run(out, "sh", "-c", "(sleep 5; echo late) & echo first", options=BARE)
    check("what the command leaves running is ended", left.stdout == "first\n" and left.returncode == 0, left)
    with subprocess.Popen(
        [str(LAB), "run", "-q", "--bare", "--out", str(out), "--", "sh", "-c", "echo early; while :; do :; done"],
        stdout=subprocess.PIPE,
    ) as live:
        assert live.stdout is not None
        line = live.stdout.readline()
        check("output comes while the command runs", line == b"early\n" and live.poll() is None, line)
        live.terminate()


def surroundings(out: Path) -> None:
    script = 'pwd; echo "$TMPDIR"; touch "$TMPDIR/x" here && echo writable'
    script += "; touch /etc/x 2>/dev/null || echo root is read-only; tty"
    done = run(out, "sh", "-c", script, options=("--bare", "--env", "WHO=me me"))
    expected = "/run/lab/out\n/run/lab/tmp\nwritable\nroot is read-only\nnot a tty\n"
    check("working directory, TMPDIR and root are as promised", done.stdout == expected, done)
    check("what the command writes is in DIR", (out / "here").exists())
    who = run(out, "sh", "-c", 'echo "$WHO:$SECRET"', options=("--bare", "--env", "WHO=me me"))
    check("--env is passed", who.stdout == "me me:\n", who)
    secret = lab("run", "-q", "--bare", "--out", str(out), "--", "sh", "-c", 'echo "${SECRET-unset}"', SECRET="x")
    check("the caller's environment is not", secret.stdout == "unset\n", secret)
    clock = run(out, "date", "-u", "+%F", options=BARE)
    check("the clock starts at the fixed date", clock.stdout == "2026-01-01\n", clock)


def results(out: Path) -> None:
    done = run(out, "dd", "if=/dev/sda", "of=/dev/null", "bs=1M", "count=64")
    check("a disk of the array can be read", done.returncode == 0, done)
    log = (out / "ground-truth.csv").read_text().splitlines()
    check("the ground truth has its header", log[0] == HEADER, log[0])
    rows = [dict(zip(HEADER.split(","), line.split(","))) for line in log[1:]]
    # the partition scan reads some sectors more
    sectors = {int(row["lba"]) + n for row in rows if row["name"] == "READ" for n in range(int(row["sectors"]))}
    check("the ground truth has every sector that dd read", set(range(64 << 11)) <= sectors, len(sectors))
    facts = json.loads((out / "lab.json").read_text())
    check("lab.json counts the commands of the log", facts["commands"] == len(rows), facts)
    check(
        "lab.json has profile, kernel and status",
        facts["profile"] == "9500s-12-raid0" and facts["kernel"] and facts["exit_status"] == 0,
        facts,
    )
    check(
        "simulated time passed, and no command was lost",
        facts["simulated_seconds"] > 0.1 and facts["log_lost"] == 0,
        facts,
    )
    check("the kernel log is there", "3w-9xxx" in (out / "kernel.log").read_text())
    run(out, "true", options=BARE)
    check("an older run's ground truth does not stay", not (out / "ground-truth.csv").exists())


def complaints(out: Path) -> None:
    for line in ("WARNING: CPU: 0 PID: 1 at test", "BUG: test", "INFO: possible recursive locking detected"):
        done = run(out, "sh", "-c", f"echo '{line}' >/dev/kmsg", options=BARE)
        check(f"'{line}' in the kernel log is 126, and shown", done.returncode == 126 and line in done.stderr, done)
    failed = run(out, "sh", "-c", "echo 'BUG: test' >/dev/kmsg; exit 3", options=BARE)
    check("also when the command fails itself", failed.returncode == 126, failed)
    calm = run(out, "sh", "-c", "echo 'a warning: nothing' >/dev/kmsg", options=BARE)
    check("other lines are not", calm.returncode == 0, calm)
    full = run(out, "sh", "-c", "head -c 200M /dev/urandom >/dev/sda; sync", options=("--store", "16M"))
    check("a full store is 126 and prints a remedy", full.returncode == 126 and "--store" in full.stderr, full)
    script = "head -c 20M /dev/urandom >/dev/sda; sync; echo survived; while :; do :; done"
    ended = run(out, "sh", "-c", script, options=("--store", "16M", "--timeout", "250"))
    wall_s = json.loads((out / "lab.json").read_text())["wall_seconds"]
    check("and ends the run, long before its time is over", ended.returncode == 126 and wall_s < 250, (wall_s, ended))
    read = ("dd", "if=/dev/sda", "of=/dev/null", "bs=128k", "count=100", "iflag=direct")
    short = run(out, *read, options=("--set", "log_entries=60"))
    facts = json.loads((out / "lab.json").read_text())
    rows = (out / "ground-truth.csv").read_text().splitlines()[1:]
    lost = facts["log_lost"] == facts["commands"] - 60 > 0 and len(rows) == 60
    check(
        "what the log has no room for is counted, and 126", short.returncode == 126 and lost, (short, facts, len(rows))
    )
    check("and a remedy is printed", "log_entries" in short.stderr, short)


def single_requests(out: Path) -> None:
    """A flush has no sector: a recording of single requests with flushes can be read and exported."""
    command = "raidctl record -q --events -o e.rtdb -- dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=4 oflag=direct,sync"
    done = lab("run", "-q", "--profile", "nvme-970pro", "--out", str(out), "--", "sh", "-c", command)
    raidctl = str(TOP / "tools/bin/raidctl")
    report = subprocess.run(
        [raidctl, "report", str(out / "e.rtdb")], capture_output=True, encoding="utf-8", check=False
    )
    check("a recording of flushes can be read", done.returncode == report.returncode == 0, (done, report))
    subprocess.run([raidctl, "export", "--csv", str(out / "csv"), str(out / "e.rtdb")], check=True)
    with (out / "csv/request.csv").open(encoding="utf-8", newline="") as file:
        sectors = {row["direction"]: row["sector"] for row in csv.DictReader(file)}
    check("a flush has no sector, a write has one", sectors.get("flush") == "" and sectors["write"], sectors)


def refusals(out: Path) -> None:
    profile = lab("run", "--profile", "9500s-12-riad0", "--out", str(out), "--", "true")
    check(
        "an unknown profile is 125 and a near one is named",
        profile.returncode == 125 and "9500s-12-raid0?" in profile.stderr,
        profile,
    )
    kernel = lab("run", "--kernel", "bad", "--out", str(out), "--", "true")
    check("a bad kernel is 125 and good ones are named", kernel.returncode == 125 and "6.12" in kernel.stderr, kernel)
    place = lab("run", "--bare", "--out", "/proc/nowhere", "--", "true")
    check("a directory that cannot be made is 125", place.returncode == 125 and "/proc/nowhere" in place.stderr, place)
    memory = lab("run", "--bare", "--mem", "900000G", "--out", str(out), "--", "true")
    check("more memory than there is, is 125", memory.returncode == 125 and "--mem" in memory.stderr, memory)
    cache = lab("run", "--bare", "--out", str(out), "--", "true", XDG_CACHE_HOME="/proc/nowhere")
    check("a cache that cannot be written is 125", cache.returncode == 125 and "XDG_CACHE_HOME" in cache.stderr, cache)
    size = lab("run", "--mem", "much")
    check("a size that is none is 2", size.returncode == 2 and "much" in size.stderr, size)


def session_of(runner: int) -> int:
    """The process group of the guest that `runner` started; waits for it."""
    for _ in range(PATIENCE):
        children = Path(f"/proc/{runner}/task/{runner}/children").read_text().split()
        for child in children:
            if b"mem=" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        time.sleep(0.05)
    return 0


def members(group: int) -> list[str]:
    """Processes of a group that are not just waiting to be reaped."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, process_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(process_group) == group and state != "Z":
            processes.append(stat.parent.name)
    return processes


def comes_true(what: Callable[[], bool]) -> bool:
    """Whether it does while one has patience."""
    for _ in range(PATIENCE):
        if what():
            return True
        time.sleep(0.05)
    return False


def ended(group: int) -> bool:
    return comes_true(lambda: not members(group))


def deaths(out: Path) -> None:
    busy = ["sh", "-c", "sleep 100000000 & dd if=/dev/sda of=/dev/null bs=1M & while :; do :; done"]
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        with subprocess.Popen([str(LAB), "run", "-q", "--no-raidtrace", "--out", str(out), "--", *busy]) as runner:
            group = session_of(runner.pid)
            several = comes_true(lambda: len(members(group)) > 2)
            runner.send_signal(number)
            runner.wait(LIMIT_S)
        check(
            f"{number.name} ends the guest with all its processes", group and several and ended(group), members(group)
        )
        check(f"{number.name} is in the exit status", runner.returncode == status, runner.returncode)
        if number != signal.SIGKILL:
            left = list(Path("/dev/shm").glob(f"raidtrace-lab-{runner.pid}-*"))
            check(f"{number.name} leaves no directory", not left, left)
    begin = time.monotonic()
    late = run(out, "sh", "-c", "while :; do :; done", options=("--bare", "--timeout", "1"))
    check("a guest that does not end is ended, with 124", late.returncode == 124 and "--timeout" in late.stderr, late)
    check("and long before the default time limit", time.monotonic() - begin < 600)
    run(out, "true", options=BARE)
    stale = [path for path in Path("/dev/shm").glob("raidtrace-lab-*") if not alive(path)]
    check("what SIGKILL left behind goes with the next run", not stale, stale)


def alive(path: Path) -> bool:
    return os.path.exists(f"/proc/{path.name.split('-')[2]}")


def shell(out: Path) -> None:
    """On a terminal: keys, job control, the terminal's settings, the exit status."""
    terminal.session(LAB, out, SHELL_WAIT_S, "lab:/run/lab/out# ", check)
    none = lab("shell")
    check("without a terminal it is refused", none.returncode == 125 and "raidctl lab run" in none.stderr, none)
    virtual = lab("shell", "--vm")
    check("so it is in a virtual machine", virtual.returncode == 125 and "not a terminal" in virtual.stderr, virtual)


def main() -> None:
    with scratch() as out:
        for part in (exit_status, output, surroundings, results, complaints, refusals, single_requests, deaths, shell):
            part(out)


main()
