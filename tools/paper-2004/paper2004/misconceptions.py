# SPDX-License-Identifier: GPL-2.0-or-later
"""The eight misconceptions of the white paper of 2004: for each the runs that test it, and a verdict made of counters.

What the runs counted is kept as JSON (Documentation/misconceptions.json); verdicts are made of that alone, so that the page
can be written again, and checked, without a run.
"""

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence

from raidtrace.recording import observation
from raidtrace.recording import quantities as q

Counted = Mapping[str, float | None]  # of one phase of one run
Runs = Mapping[str, Mapping[str, Counted]]  # run -> phase -> what was counted
LAB, MACHINE = "lab", "virtual machine"
MATTERS = 1.2  # a factor from which a difference of real time on an emulated machine is taken for one
ROUND = "@"  # NAME@3 is what NAME counted in its third round; NAME itself is the median of all rounds
UNDECIDED, OUT_OF_REACH = "not decided", "out of reach"


@dataclasses.dataclass(frozen=True)
class Judgement:
    """verdict: refuted, not refuted, not decided (rounds disagree) or out of reach."""

    verdict: str
    sentences: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One misconception. runs: names that misconceptions-cell knows. limits: what this cannot show."""

    number: int
    claim: str
    where: str
    runs: tuple[str, ...]
    judge: Callable[[Runs], Judgement]
    limits: str = ""


def measure(observed: observation.Observed) -> dict[str, dict[str, float | None]]:
    """The counts of each phase that moved something."""
    by_phase: dict[str, dict[str, float | None]] = {}
    known = "command-cpu" in observed.meta.get("host_available", "")
    for phase in observed.observations:
        direction = q.direction(phase)
        if direction is None or (q.octets(phase, direction) or 0) < q.MIN_BYTES:
            continue
        used = phase.host.get(("command", "cpu"), 0 if known else None)
        real = observed.meta.get("lab_time") != "simulated"
        issued = sum(counts.get("issued", 0) for counts in phase.span.flow.values())
        by_phase[phase.phase] = {
            "seconds": phase.seconds(), "mib_per_s": q.mib_per_s(phase, direction), "depth": q.depth_mean(phase, direction),
            "idle": q.idle_share(phase), "size_mode": (q.size_mode(phase, direction) or (None,))[0], "issued": issued,
            "elsewhere": q.seeks(phase), "asked": phase.host.get(("command", "rchar" if direction == "read" else "wchar")),
            "served": q.octets(phase, direction), "queue_limit": q.Reading("A", phase).queue_limit(),
            "readahead": phase.setting("readahead_sectors"), "cpu_seconds": used / 1e9 if real and used is not None else None,
            "direct": q.class_share(phase, "direct"), **_classes(phase),
        }  # fmt: skip
    return by_phase


def _classes(phase: observation.Observation) -> dict[str, float | None]:
    if phase.origin is None:
        return {}
    return {f"bios {name}": counts.get("queued", 0) for name, counts in phase.origin.items() if counts.get("queued")}


def number(runs: Runs, run: str, name: str, phase: str = "run") -> float:
    """A number that a verdict needs; KeyError says which is missing."""
    value = runs[run][phase].get(name)
    if value is None:
        raise KeyError(f"{run} {phase}: {name} was not counted")
    return value


def medians(rounds: Sequence[Mapping[str, Counted]]) -> dict[str, dict[str, float | None]]:
    """Each number of each phase of a run: the median of its rounds; None if a round did not count it."""
    by_phase: dict[str, dict[str, float | None]] = {}
    for phase in rounds[0]:
        by_phase[phase] = {}
        for name in rounds[0][phase]:
            values = [one.get(phase, {}).get(name) for one in rounds]
            counted = [value for value in values if value is not None]
            by_phase[phase][name] = statistics.median(counted) if len(counted) == len(values) else None
    return by_phase


def rounds_of(runs: Runs, run: str) -> list[str]:
    """Names of the rounds of a run, in order; the run itself if it has none."""
    rounds = [name for name in runs if name.rpartition(ROUND)[0] == run]
    return sorted(rounds, key=lambda name: int(name.rpartition(ROUND)[2])) or [run]


def ratios(runs: Runs, over: str, under: str) -> list[float]:
    """MiB/s of one run over that of another, in each round."""
    pairs = zip(rounds_of(runs, over), rounds_of(runs, under), strict=True)
    return [number(runs, a, "mib_per_s") / number(runs, b, "mib_per_s") for a, b in pairs]


def times(ratios: Sequence[float]) -> str:
    """0.96 times (0.93 to 1.02 in 5 rounds)."""
    spread = f" ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds)" if len(ratios) > 1 else ""
    return f"{statistics.median(ratios):.2f} times{spread}"


def valid_by_default(runs: Runs) -> Judgement:
    """A machine with its default settings, and the same with one setting changed."""
    rows = []
    for run, what in (("default", "as found"), ("tuned", "readahead changed")):
        sectors, depth = number(runs, run, "readahead"), number(runs, run, "depth")
        rows.append((what, q.kib(sectors), f"{depth:.1f}", f"{number(runs, run, 'queue_limit'):.0f}", _rate(runs, run)))
    ratio = number(runs, "tuned", "mib_per_s") / number(runs, "default", "mib_per_s")
    sentences = (
        f"The same command reads {ratio:.2f} times as fast when one setting is changed, {ratio - 1:.0%} more.",
        f"As found, it kept {number(runs, 'default', 'depth'):.1f} requests in flight; the limit of the driver is "
        f"{number(runs, 'default', 'queue_limit'):.0f}. So it measured the default of a setting, not the array.",
    )
    verdict = "refuted" if ratio > 1.1 else "not refuted"
    return Judgement(verdict, sentences, ("", "readahead", "in flight", "limit", "MiB/s"), tuple(rows))


def cache(runs: Runs) -> Judgement:
    """Files of 2 and 40 times what the page cache can hold: written, then read at random places."""
    rows, hits = [], []
    for run, times in (("cache-2", "2"), ("cache-40", "40")):
        hits_of = [
            1 - number(runs, run, "served", phase) / number(runs, run, "asked", phase) for phase in ("write", "random")
        ]
        rows.append((f"{times} x", *(f"{part:.1%}" for part in hits_of)))
        hits.append(100 * hits_of[1])
    sentences = (
        f"A program read 31 MiB at random positions of a file twice as large as the page cache. {hits[0]:.1f} % of the data "
        f"came from the page cache, not from the disk. With a file of 40 times the size it was {hits[1]:.1f} %.",
        f"When the program reported the end of its write test, {rows[0][1]} of the data was not yet on the disk.",
    )
    verdict = "refuted" if hits[0] > 5 else "not refuted"
    header = ("file / page cache", "written, not on disk", "random reads from cache")
    return Judgement(verdict, sentences, header, tuple(rows))


def asynchronous(runs: Runs) -> Judgement:
    """The requests that one process keeps in flight, with and without readahead."""
    names = (("direct-one", "one process, O_DIRECT"), ("none", "one process, no readahead"),
             ("ahead", "one, readahead 128 KiB"), ("tuned", "one, readahead 8 MiB"),
             ("direct-eight", "eight processes, O_DIRECT"))  # fmt: skip
    rows = tuple((what, f"{number(runs, run, 'depth'):.2f}", _rate(runs, run)) for run, what in names)
    alone = max(number(runs, run, "depth") for run in ("direct-one", "none"))
    sentences = (
        f"One process that reads 128 KiB at a time keeps {alone:.2f} requests in flight: it requests data, waits, and requests "
        "again.",
        "Without readahead the page cache requests single pages of 4 KiB. "
        f"Readahead of the page cache adds requests: with 128 KiB {number(runs, 'ahead', 'depth'):.1f} are in flight, with "
        f"8 MiB {number(runs, 'tuned', 'depth'):.0f}. Without readahead, each request in flight needs a process: eight "
        f"processes keep {number(runs, 'direct-eight', 'depth'):.1f}.",
    )
    verdict = "refuted" if alone <= 1.05 else "not refuted"
    return Judgement(verdict, sentences, ("", "in flight", "MiB/s"), rows)


FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs")


def sequential(runs: Runs) -> Judgement:
    """The other reads and writes of a file system while a file is written and read sequentially."""
    rows, writes = [], {}
    for kind in FILESYSTEMS:
        for phase in ("write", "read"):
            seeks, issued = (number(runs, f"fs-{kind}", name, phase) for name in ("elsewhere", "issued"))
            own = {name: runs[f"fs-{kind}"][phase].get(f"bios {name}") or 0 for name in ("metadata", "journal")}
            rows.append(
                (kind, phase, f"{issued:.0f}", f"{seeks:.0f}", f"{own['metadata']:.0f}", f"{own['journal']:.0f}")
            )
            if phase == "write":
                writes[kind] = seeks
    most = max(writes, key=lambda kind: writes[kind])
    sentences = (
        f"A program wrote one file of 256 MiB sequentially. The file systems caused {min(writes.values()):.0f} to "
        f"{writes[most]:.0f} seeks, most on {most}, because they also write metadata and, except ext2, a journal.",
    )
    alone = all(row[4] == "0" and row[5] == "0" for row in rows)
    header = ("", "phase", "requests", "seeks", "metadata bios", "journal bios")
    return Judgement("not refuted" if alone else "refuted", sentences, header, tuple(rows))


def alike(runs: Runs) -> Judgement:
    """The same file, the same disk, four file systems."""
    rows = tuple((kind, *(_rate(runs, f"fs-{kind}", phase) for phase in ("write", "read")),
                  f"{number(runs, f'fs-{kind}', 'depth', 'read'):.1f}") for kind in FILESYSTEMS)  # fmt: skip
    rates = {kind: number(runs, f"fs-{kind}", "mib_per_s", "read") for kind in FILESYSTEMS}
    slow, fast = min(rates, key=lambda kind: rates[kind]), max(rates, key=lambda kind: rates[kind])
    ratio = rates[fast] / rates[slow]
    sentences = (
        f"{fast} reads {ratio:.2f} times as fast as {slow}, with the same readahead, controller and drives.",
        f"{slow} keeps {number(runs, f'fs-{slow}', 'depth', 'read'):.1f} requests in flight, {fast} "
        f"{number(runs, f'fs-{fast}', 'depth', 'read'):.1f}; raidctl explain prints the reason.",
        "The page cache is dropped before the read, so ext2 reads the positions of the data (indirect blocks) again.",
    )
    verdict = "refuted" if ratio > 1.1 else "not refuted"
    return Judgement(verdict, sentences, ("", "write MiB/s", "read MiB/s", "reads in flight"), rows)


def processors(runs: Runs) -> Judgement:
    """One processor, and two."""
    names = (("one-cpu", "one"), ("two-cpus", "two"))
    rows = tuple((what, f"{number(runs, run, 'depth'):.1f}", f"{number(runs, run, 'idle'):.0%}", _spread(runs, run))
                 for run, what in names)  # fmt: skip
    sentences = (
        f"With two processors one process reads at {times(ratios(runs, 'two-cpus', 'one-cpu'))} the rate with one, and "
        f"keeps {rows[1][1]} requests in flight instead of {rows[0][1]}. But one thread of the host emulates both processors "
        "in turn, so two processors have no more computing time than one. The difference comes from the emulator's schedule, "
        "and is no evidence about real processors.",
    )
    return Judgement(OUT_OF_REACH, sentences, ("processors", "in flight", "disk idle", "MiB/s"), rows)


def speed(runs: Runs) -> Judgement:
    """The same reader with less of a processor."""
    names = (("two-cpus", "no limit"), ("quota-800", "800 ms per s"), ("quota-200", "200 ms per s"))
    rows = tuple((what, f"{number(runs, run, 'idle'):.0%}", _spread(runs, run)) for run, what in names)
    measured = ratios(runs, "quota-200", "two-cpus")
    sentences = (
        "The reading process of 6, with two processors, is limited to 200 ms of processor time per second. Its rate is then "
        f"{times(measured)} the rate without a limit, and the disk is idle for "
        f"{number(runs, 'quota-200', 'idle'):.0%} of the time, because a processor copies each byte.",
    )
    less = [one < 1 / MATTERS for one in measured]
    verdict = "refuted" if all(less) else UNDECIDED if any(less) else "not refuted"
    return Judgement(verdict, sentences, ("processor time", "disk idle", "MiB/s"), rows)


def zero_copy(runs: Runs) -> Judgement:
    """Whether bytes go past the page cache: nothing is copied only then."""
    names = (("two-cpus", "dd as it is"), ("direct", "dd with iflag=direct"))
    cost = {run: number(runs, run, "cpu_seconds") / (number(runs, run, "served") / (1 << 30)) for run, _ in names}
    rows = tuple((what, f"{number(runs, run, 'direct'):.0%}", f"{number(runs, run, 'depth'):.1f}", f"{cost[run]:.1f}",
                  _spread(runs, run)) for run, what in names)  # fmt: skip
    sentences = (
        f"By default {rows[0][1]} of the bytes bypass the page cache: the controller writes to pages of the cache, and "
        f"a processor copies each byte to the program. With O_DIRECT {rows[1][1]} of the bytes bypass it. There is no "
        f"readahead, and dd waits for each 1 MiB, which is several requests: {rows[1][2]} are in flight instead of "
        f"{rows[0][2]}.",
    )
    verdict = "refuted" if number(runs, "two-cpus", "direct") < 0.01 else "not refuted"
    header = ("", "bypass the cache", "in flight", "CPU s per GiB", "MiB/s")
    return Judgement(verdict, sentences, header, rows)


def _rate(runs: Runs, run: str, phase: str = "run") -> str:
    return f"{number(runs, run, 'mib_per_s', phase):.1f}"


def _spread(runs: Runs, run: str) -> str:
    """81.3 (75.0 to 83.1): the median rate of the rounds, the least and the largest."""
    rates = [number(runs, one, "mib_per_s") for one in rounds_of(runs, run)]
    spread = f" ({min(rates):.1f} to {max(rates):.1f})" if len(rates) > 1 else ""
    return _rate(runs, run) + spread


ON_FS = tuple(f"fs-{kind}" for kind in FILESYSTEMS)
LOCK = """The paper says that in Linux 2.6.5 a lock of the SCSI host excludes a second processor. This is out of reach, too: the
SCSI layer of today has no such lock."""
BANDWIDTH = "The bandwidth of memory is out of reach: the processors are emulated, and slower than any memory."
COPY = """The cost of a copy is out of reach, because the processor time of an emulated machine is mostly emulation."""
ALONE = ("direct-one", "none", "ahead", "tuned", "direct-eight")
EXPERIMENTS = (
    Experiment(1, "A benchmark is valid with its defaults", LAB, ("default", "tuned"), valid_by_default),
    Experiment(2, "Data of twice the memory avoids the cache", LAB, ("cache-2", "cache-40"), cache),
    Experiment(3, "One process issues asynchronous I/O", LAB, ALONE, asynchronous),
    Experiment(4, "Sequential through a file system is sequential", LAB, ON_FS, sequential),
    Experiment(5, "File systems perform alike", LAB, ON_FS, alike),
    Experiment(6, "More processors help", MACHINE, ("one-cpu", "two-cpus"), processors, LOCK),
    Experiment(
        7, "Processor and memory do not matter", MACHINE, ("two-cpus", "quota-800", "quota-200"), speed, BANDWIDTH
    ),
    Experiment(8, "I/O is zero-copy by default", MACHINE, ("two-cpus", "direct"), zero_copy, COPY),
)
