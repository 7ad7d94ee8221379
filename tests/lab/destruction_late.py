# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-destruction: programs that open a disk while a sweep runs on it.

The sweep runs in this process, so that somebody else can be let in exactly before any of its steps, or between its
letting go of a disk and the program that claims it.
"""

import contextlib
import errno
import glob
import io
import os
import pathlib
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "python"))
from raidtrace.cli import front  # noqa: E402
from raidtrace.sweep import destruction, steps  # noqa: E402
from raidtrace.sweep.run import disk as cell_disk  # noqa: E402

HEAD = 'title = "late"\n[workload.ddt]\nkind = "ddt"\npause_s = 0\n[workload.dd]\nkind = "dd"\ndirection = "write"\n'
CELL = '[[matrix]]\narray = "one"\nfilesystem = "{}"\nworkload = "{}"\ndata_size = "{} MiB"\n'
MD = 'md_level = "raid0"\nmd_members = 2\nmd_chunk_kib = 64\n'
SMALL_XFS, SMALL_REISERFS = (
    'mkfs_options = "--unsupported"\n',
    'mkfs_options = "-s 513"\n',
)  # no disk is as small as these
EXT2 = CELL.format("ext2", "ddt", 1)
RAW = CELL.format("none", "dd", 1)


class Sweep:
    """A sweep in this process. cell() is called before each cell, before(step) before each step, gap(names) when disks
    have been let go for a program."""

    def __init__(self, names: list[str], text: str) -> None:
        self.names = names
        self.cell: Callable[[], None] = lambda: None
        self.before: Callable[[steps.Step], None] = lambda step: None
        self.gap: Callable[[list[str]], None] = lambda names: None
        self.output = ""
        self.failures = ""
        pathlib.Path("late.toml").write_text(HEAD + text, encoding="ascii")

    def run(self) -> int:
        """Its exit status."""
        run, step, hand_over = cell_disk.Disks.run, cell_disk.Disks._step, destruction.Permit.hand_over

        def ran(disks, cell, name):
            self.cell()
            return run(disks, cell, name)

        def stepped(disks, one, directory):
            self.before(one)
            step(disks, one, directory)

        def handed(permit, names):
            hand_over(permit, names)
            if names:
                self.gap(list(names))

        subprocess.run("rm -rf late", shell=True, check=True)
        words = ["--ignore-check", "--no-record", "--force-signature", "--out", "late"]
        output = io.StringIO()
        cell_disk.Disks.run, cell_disk.Disks._step, destruction.Permit.hand_over = ran, stepped, handed
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                sys.argv[1:] = [*words, "--destroy-data", ",".join(self.names), "late.toml"]
                return front.run("sweep") or 0
        finally:
            cell_disk.Disks.run, cell_disk.Disks._step, destruction.Permit.hand_over = run, step, hand_over
            self.output = output.getvalue()


def claimed(name: str) -> bool:
    """Whether the kernel refuses a device exclusively. One that is given is let go again."""
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def always_claimed(names: list[str]) -> str:
    """Before every step of every kind of cell no other process gets a disk that the sweep overwrites."""
    cells = EXT2 + RAW + CELL.format("ext4", "ddt", 1) + MD + CELL.format("none", "dd", 2) + MD
    for kind, small, options in (
        ("xfs", "-q -f --unsupported", SMALL_XFS), ("jfs", "-q", ""), ("reiserfs", "-q -ff -s 513", SMALL_REISERFS),
    ):  # fmt: skip
        # the lab's 6.12 makes a ReiserFS and does not mount it: BLK_DEV_WRITE_MOUNTED is off there
        tried = (
            f"modprobe {kind} && mkfs.{kind} {small} /dev/{names[0]} && mount -t {kind} /dev/{names[0]} m && umount m"
        )
        if not subprocess.run(tried, shell=True, capture_output=True, check=False).returncode:
            cells += CELL.format(kind, "ddt", 1) + options
    sweep = Sweep(names, cells)
    tries, free = 0, []

    def before(step):
        nonlocal tries
        for name in names:
            tries += 1
            free.extend([] if claimed(name) else [f"{name} before {step.brief()}"])

    sweep.before = before
    status = sweep.run()
    print(f"# {tries} exclusive opens while {cells.count('[[matrix]]')} cells ran, {len(free)} got a disk")
    if status or free or tries < 50:
        return f"status {status}, {free[:3]}, {tries} tries: {sweep.output}"
    return "" if not any(claimed(name) for name in names) else "still claimed after the end"


class Late:
    """A process that opens a disk, once."""

    def __init__(self, flags: str) -> None:
        self.flags = flags
        self.process: subprocess.Popen[bytes] | None = None
        self.before = ""

    def come(self, name: str) -> None:
        """Open the disk, now; and remember what is on it."""
        if self.process:
            return
        code = f"import os, sys, time; os.open(sys.argv[1], os.O_{self.flags}); print(flush=True); time.sleep(36000)"
        command = f"exec python3 -c {shlex.quote(code)} /dev/{name}"
        self.process = subprocess.Popen(command, shell=True, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.before = contents(name)

    def go(self) -> None:
        """End it."""
        if self.process:
            self.process.kill()
            self.process.wait()


def contents(name: str) -> str:
    """A digest of a disk."""
    return subprocess.run(
        f"sync; sha256sum </dev/{name}", shell=True, capture_output=True, text=True, check=True
    ).stdout


def late(names: list[str], text: str, flags: str, when: Callable[[Sweep, Late], None], expected: str) -> str:
    """A program opens the disk at some moment: the cell fails for the expected reason, and then the disk does not change."""
    sweep, intruder = Sweep(names, text), Late(flags)
    when(sweep, intruder)
    try:
        status = sweep.run()
        if not intruder.process:
            return f"no process came: {sweep.output}"
        after = contents(names[0])
    finally:
        intruder.go()
    if after != intruder.before:
        return f"THE DISK WAS WRITTEN: {sweep.output}"
    return "" if status == 1 and expected in sweep.output else f"status {status}, not {expected!r}: {sweep.output}"


def at(purpose: str) -> Callable[[Sweep, Late], None]:
    """Before a step."""

    def arrange(sweep: Sweep, intruder: Late) -> None:
        def before(step):
            if step.purpose.startswith(purpose):
                intruder.come(sweep.names[0])

        sweep.before = before

    return arrange


def second_cell(sweep: Sweep, intruder: Late) -> None:
    """Between the first cell and the second."""
    cells = []

    def cell():
        cells.append(1)
        if len(cells) == 2:
            intruder.come(sweep.names[0])

    sweep.cell = cell


def in_gap(number: int) -> Callable[[Sweep, Late], None]:
    """In the Nth window between letting a disk go and the program that is to claim it."""

    def arrange(sweep: Sweep, intruder: Late) -> None:
        gaps = []

        def gap(names):
            gaps.append(names)
            if len(gaps) == number:
                intruder.come(names[0])

        sweep.gap = gap

    return arrange


def grows(names: list[str]) -> str:
    """The disk gets another size between two cells."""
    where = pathlib.Path("/sys/bus/pseudo/drivers/scsi_debug/virtual_gb")
    sweep, sizes = Sweep(names[:1], EXT2 + RAW), []

    def before(step):
        if step.purpose == "unmount":
            where.write_text("1", encoding="ascii")
            pathlib.Path(f"/sys/block/{names[0]}/device/rescan").write_text("1", encoding="ascii")
            sizes.append(pathlib.Path(f"/sys/block/{names[0]}/size").read_text(encoding="ascii").strip())

    sweep.before = before
    try:
        status = sweep.run()
    finally:
        where.write_text("0", encoding="ascii")
        for path in glob.glob("/sys/block/sd*/device/rescan"):
            pathlib.Path(path).write_text("1", encoding="ascii")
        time.sleep(1)
    return (
        ""
        if status == 1 and "its size is being changed" in sweep.output
        else f"status {status}, {sizes}: {sweep.output}"
    )


def tests(disks: list[str], only: list[str]) -> Iterator[tuple[str, str]]:
    """Names of tests, and complaints, empty for none."""
    one, two = disks[:1], disks[:2]
    opened, claims = "is open for writing in process", "RDWR | os.O_EXCL"
    md_raw, limited = CELL.format("none", "dd", 2) + MD, "nomerges = 2\n"
    xfs, mkfs = CELL.format("xfs", "ddt", 1) + SMALL_XFS, "make a fresh file system: mkfs"
    cases = {
        "from the first to the last step no other process can claim a disk": lambda: always_claimed(two),
        "opened after the disks were judged": lambda: late(one, EXT2 + limited, "RDWR", at("nomerges"), opened),
        "opened between two cells": lambda: late(one, EXT2 + RAW, "RDWR", second_cell, opened),
        "opened before the array of the second cell": lambda: late(
            two, EXT2 + limited + md_raw, "RDWR", second_cell, opened
        ),
        "claimed in the window before mkfs.ext2": lambda: late(one, EXT2, claims, in_gap(1), mkfs),
        "claimed in the window before mkfs.xfs": lambda: late(one, xfs, claims, in_gap(1), mkfs),
        "claimed in the window before mount": lambda: late(one, EXT2, claims, in_gap(2), "mount it: mount"),
        "claimed in the window before mdadm": lambda: late(two, md_raw, claims, in_gap(1), "make the array: mdadm"),
        "the disk is being resized": lambda: grows(one),
    }
    for name, test in cases.items():
        if not only or any(word in f"late: {name}" for word in only):
            try:
                yield f"late: {name}", test()
            except (OSError, subprocess.SubprocessError) as error:
                yield f"late: {name}", f"{type(error).__name__}: {error}"
