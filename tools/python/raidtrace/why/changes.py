# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of an experiment, one at a time: settings of a queue, the program, the concurrent load, and parts of the
lab.

The current values and the observed calls of the program determine the changes that are tried."""

import dataclasses
import enum
import shlex
from collections.abc import Mapping, Sequence

from raidtrace.explain.runs import AS_IT_IS
from raidtrace.sweep import journal

FILES = {file.rpartition("/")[2]: file for file in journal.QUEUE}  # setting -> its file
# Settings of requests. md and dm have no /sys/block/DISK/mq, but may have these files.
OF_REQUESTS = ("scheduler", "nr_requests")
DEPENDENT_FILES = ("nr_requests", "read_ahead_kb")  # the kernel resets them when scheduler or max_sectors_kb change
CAUSES = {
    "scheduler": "scheduler",
    "queue_depth": "queue depth",
    "nr_requests": "nr_requests",
    "max_sectors_kb": "request size",
    "nomerges": "lost merges",
    "read_ahead_kb": "readahead",
}
# Middle values, not extremes: with 128 MiB of readahead, a guest of 256 MiB reads the same data again and again.
WIDE_KB, MAX_READAHEAD_KB = 2048, 8192
MIN_READAHEAD_KB = 16  # less readahead saves hardly anything
WIDE_DEPTH, MAX_DEPTH = 32, 254
WIDE_REQUESTS = 256
MAX_REQUEST_KB = 1280  # the default of Linux; drivers without a limit report 2 TiB
SETTLED_SCHEDULER = "mq-deadline"

PROGRAM = {  # calls that the preloaded library observes and can omit: cause, name of the change, remedy
    "direct": (
        "direct I/O",
        "through the page cache",
        "open the file without O_DIRECT; more requests in flight were not tried",
    ),
    "sync": ("sync", "without fsync and O_SYNC", "sync less often, if the newest data may be lost in a power failure"),
    "sleep": ("program sleeps", "without its sleeps", "remove the pauses of the program"),
    "fadvise": ("fadvise", "without fadvise", "leave out the program's posix_fadvise"),
    "mapping": (
        "readahead of mapped files",
        "with MADV_RANDOM for mappings",
        "have the program call madvise(MADV_RANDOM) on its mappings, or set less readahead",
    ),
}


class Kind(enum.Enum):
    """The kind of a change. If two changes have the same gain, the easier kind is preferred; it comes first here."""

    BASELINE = "baseline"
    SETTING = "setting"
    LIMIT = "limit"
    GROUP = "settings together"
    LOAD = "concurrent load"
    PROGRAM = "program"
    FAULT = "fault"
    LAB = "lab"
    FREE = "bound"


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of the baseline. cause: the cause that it tests. settings: of the disk's queue, by name. lab: keys of
    the profile. program: calls that the preloaded library omits. alone: without the concurrent load. warm: data in
    memory. freeze: a control group that is frozen during the run. unlimited: files io.max and the limits that are
    removed.
    """

    name: str
    cause: str
    kind: Kind
    settings: tuple[tuple[str, str], ...] = ()
    lab: tuple[tuple[str, str], ...] = ()
    program: str = ""
    kernel: str = ""
    alone: bool = False
    warm: bool = False
    freeze: str = ""
    unlimited: tuple[tuple[str, str], ...] = ()


BASELINE = Change(AS_IT_IS, "", Kind.BASELINE)
ALONE = Change("no concurrent load", "concurrent load", Kind.LOAD, alone=True)
WARM = Change("data in memory", "disk", Kind.FREE, warm=True)


def setting(name: str, value: str) -> Change:
    return Change(label(name, value), CAUSES[name], Kind.SETTING, settings=((name, value),))


def label(name: str, value: str) -> str:
    """The text of a setting in the table. Readahead is in sectors, as for blockdev --setra."""
    return f"readahead {2 * int(value)}" if name == "read_ahead_kb" else f"{name} {value}"


def command(name: str, value: str, disk: str) -> str:
    """The shell command that makes a setting."""
    if name == "read_ahead_kb":
        return f"blockdev --setra {2 * int(value)} /dev/{disk}"
    return f"echo {value} >/sys/block/{disk}/{FILES[name]}"


def unlimited(files: Mapping[str, str]) -> Change:
    """The change that removes the disk's limits of the command's cgroup and those above it. files: io.max
    -> its limit."""
    return Change("io.max off", "limit of its cgroup", Kind.LIMIT, unlimited=tuple(files.items()))


def unlimit(file: str, limit: str, disk: str) -> str:
    """The shell command that removes a limit."""
    limits = [f"{name}=max" for name, _, rate in (word.partition("=") for word in limit.split()) if rate != "max"]
    return f'echo "$(cat /sys/block/{disk}/dev) {" ".join(limits)}" >{shlex.quote(file)}'


def without(what: str, program: Sequence[str], preload: str) -> tuple[str, ...]:
    """The command that runs a program without some of its calls. Empty for sync, whose calls protect data."""
    if what not in PROGRAM or what == "sync":
        return ()
    return (f"env LD_PRELOAD={shlex.quote(preload)} RAIDTRACE_WHY_OMIT={what} {shlex.join(program)}",)


def singles(now: Mapping[str, str], limits: Mapping[str, Sequence[str]]) -> list[Change]:
    """The changes of single settings that are tried. now: current values. limits: offered schedulers and the largest
    max_sectors_kb, as {"scheduler": [...], "max_sectors_kb": ["128"]}."""
    values: list[tuple[str, str | int]] = []
    if "read_ahead_kb" in now:
        kb = int(now["read_ahead_kb"])
        up = min(max(16 * kb, 128), MAX_READAHEAD_KB)
        values += [("read_ahead_kb", up)] if up > kb else []
        values += [("read_ahead_kb", kb // 4)] if kb else []
    if "queue_depth" in now:
        depth = int(now["queue_depth"])
        values.append(("queue_depth", WIDE_DEPTH if depth != WIDE_DEPTH else WIDE_DEPTH // 4))
    if "nr_requests" in now:
        requests = int(now["nr_requests"])
        values.append(("nr_requests", WIDE_REQUESTS if requests < WIDE_REQUESTS else 4 * requests))
    values += [("scheduler", other) for other in limits.get("scheduler", ()) if other != now.get("scheduler", other)]
    if now.get("nomerges", "0") != "0":
        values.append(("nomerges", 0))
    if "max_sectors_kb" in now:
        most = _largest_kb(limits)
        kb = int(now["max_sectors_kb"])
        values.append(("max_sectors_kb", most if kb < most else kb // 2))
    return [setting(name, str(value)) for name, value in values]


def finer(change: Change, now: Mapping[str, str], gains: bool) -> list[Change]:
    """Further values of a setting that gained, to find the smallest that does: smaller steps and a larger one; for less
    readahead, still less. Empty: no gain. gains: whether the change was faster."""
    (name, value), *others = change.settings or (("", ""),)
    if others or not gains or name not in ("read_ahead_kb", "queue_depth") or value == now[name]:
        return []
    to, most = int(value), MAX_READAHEAD_KB if name == "read_ahead_kb" else MAX_DEPTH
    if to < int(now[name]):
        less = dict.fromkeys((to // 4, MIN_READAHEAD_KB)) if name == "read_ahead_kb" else ()
        return [setting(name, str(step)) for step in less if MIN_READAHEAD_KB <= step < to]
    steps = [to // 4] + ([min(4 * to, most)] if name == "read_ahead_kb" else [most])
    return [setting(name, str(step)) for step in dict.fromkeys(steps) if step > int(now[name]) and step != to]


def _largest_kb(limits: Mapping[str, Sequence[str]]) -> int:
    return min(int(limits.get("max_sectors_kb", ["0"])[0]), MAX_REQUEST_KB)


def wide(now: Mapping[str, str], limits: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """New values for all settings below the middle value, or with a scheduler or nomerges that limits."""
    opened: dict[str, str] = {}
    for name, middle in (("read_ahead_kb", WIDE_KB), ("queue_depth", WIDE_DEPTH), ("nr_requests", WIDE_REQUESTS)):
        if name in now and int(now[name]) < middle:
            opened[name] = str(middle)
    most = _largest_kb(limits)
    if "max_sectors_kb" in now and int(now["max_sectors_kb"]) < most:
        opened["max_sectors_kb"] = str(most)
    if now.get("nomerges", "0") != "0":
        opened["nomerges"] = "0"
    if now.get("scheduler") in ("bfq", "kyber") and SETTLED_SCHEDULER in limits.get("scheduler", ()):
        opened["scheduler"] = SETTLED_SCHEDULER
    return opened


def group(settings: Mapping[str, str], without: str = "") -> Change:
    """A change of several settings together. without: the one that is left out."""
    kept = {name: value for name, value in settings.items() if name != without}
    causes = " and ".join(CAUSES[name] for name in kept)
    name = f"all raised but {CAUSES[without]}" if without else "all queue settings raised"
    return Change(name, causes, Kind.GROUP, settings=tuple(kept.items()))


def program(observed: frozenset[str]) -> list[Change]:
    """The changes that omit calls observed in the program."""
    return [Change(PROGRAM[what][1], PROGRAM[what][0], Kind.PROGRAM, program=what)
            for what in PROGRAM if what in observed]  # fmt: skip
