# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a recording or a sweep with their keys, for a comparison."""

import dataclasses
import json
import pathlib
from collections.abc import Container, Mapping
from types import MappingProxyType

from raidtrace.benchmark import parsers
from raidtrace.benchmark import registry as benchmark
from raidtrace.benchmark import terms
from raidtrace.benchmark.terms import Terms
from raidtrace.compare import comparison
from raidtrace.compare.comparison import FigurePair, Figures, normal
from raidtrace.published import tables as published
from raidtrace.recording import invariants, observation
from raidtrace.recording import quantities as q
from raidtrace.recording import work
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.observation import Observation, Observed
from raidtrace.recording.sample_rows import opened
from raidtrace.recording.spans import Recorded
from raidtrace.recording.work import Work
from raidtrace.sweep.index import DONE, NAME, Index

Key = tuple[tuple[str, str], ...]
QUIET = ("dirty_bytes", "dirty_background_bytes")  # axes that do not help to distinguish cells


@dataclasses.dataclass(frozen=True)
class Side:
    """One side of a comparison. figures: by key. axes: the set-up of each figure that a program printed.

    idle: throughput of directions that moved too little to judge, for a side that moved more. foreign: sentences about
    directions of which the command moved little. invariants: their verdict. works: the work of the program by phase;
    empty for a sweep. recorded: the recording; None for a sweep.
    """

    path: str
    kind: str  # recording or sweep
    simulated: bool
    figures: Mapping[Key, Figures]
    axes: Mapping[Key, Mapping[str, object]]
    idle: Mapping[Key, Figures] = dataclasses.field(default_factory=dict)
    foreign: tuple[str, ...] = ()
    invariants: str = ""
    works: Mapping[str, Work] = dataclasses.field(default_factory=dict)
    recorded: Recorded | None = None


def read(path: pathlib.Path, array: str = "", phase: str | None = None) -> Side:
    """The side of a recording, a sweep's directory or its index. array: name of the recording's array in published
    tables. phase: use only phases of this name. Raises RecordingError."""
    if path.is_dir() or path.suffix == pathlib.Path(NAME).suffix:
        if phase is not None:
            raise RecordingError(f"{path}: this is a sweep, but --phase needs two recordings")
        if array:
            raise RecordingError(f"{path}: a sweep contains the names of its arrays; leave out --array")
        return _sweep(path / NAME if path.is_dir() else path)
    return _recording(path, array, phase)


def _sweep(path: pathlib.Path) -> Side:
    index = Index(path)
    done = {entry.cell: entry for entry in index.entries() if entry.state == DONE}
    about, terms_of = index.about(), index.terms()
    values_of: dict[Key, list[float]] = {}
    units: dict[Key, tuple[str, str, Terms]] = {}
    axes: dict[Key, Mapping[str, object]] = {}
    cells = {cell: index.axes(cell) for cell in done}
    named = [name for name in dict.fromkeys(name for cell in cells.values() for name in cell) if name not in QUIET]
    for cell, phase, value, unit, _, place in index.figures():
        if value is None:
            continue
        where = " ".join(f"{name}={what}" for name, what in json.loads(place).items())
        axes_of_cell = ((name, str(cells[cell].get(name, "-"))) for name in named)
        key: Key = (*axes_of_cell, ("phase", phase), ("place", where))
        values_of.setdefault(key, []).append(value)
        units[key] = (unit, about[cell][1], terms_of.get(cell, terms.NONE))
        axes[key] = {**cells[cell], "benchmark": about[cell][0]}
    simulated = any(simulated for _, _, simulated in about.values())
    index.close()
    return Side(str(path), "sweep", simulated, {key: normal(values_of[key], *units[key]) for key in values_of}, axes)


def _recording(path: pathlib.Path, array: str, phase_name: str | None) -> Side:
    with opened(path) as rows:
        recorded = invariants.read(path, rows)
        observed = observation.read(recorded, rows)
    if phase_name is not None:
        recorded = invariants.of_phase(recorded, phase_name)
        chosen = tuple(one for one in observed.observations if one.phase == phase_name)
        observed = dataclasses.replace(observed, observations=chosen)
    figures: dict[Key, Figures] = {}
    axes: dict[Key, Mapping[str, object]] = {}
    for one in reported(observed):
        if one.value is not None and phase_name in (None, one.phase):
            place = " ".join(f"{name}={value}" for name, value in one.where)
            key: Key = (("phase", one.phase), ("place", place))
            figures[key] = normal((one.value,), one.unit, of=terms.of_command(words(observed)))
            axes[key] = {**axes_of(observed, array), "benchmark": observation.program(observed.meta)}
    idle: dict[Key, Figures] = {}
    foreign = []
    for phase in observed.observations:
        disk = phase.disk.name if len(observed.disks) > 1 else ""
        main = q.direction(phase)
        for direction in (main, "write" if main == "read" else "read") if main else ():
            if (q.octets(phase, direction) or 0) < q.MIN_BYTES:
                idle |= _rate(phase, direction, disk)
                continue
            figures |= _counted(phase, direction, disk)
            foreign += [f"phase {phase.phase}: {sentence}" for sentence in q.foreign_text(phase, direction)]
        if main and _rate(phase, main, disk).keys() <= figures.keys():
            figures |= _figure(phase, disk, "seeks", "all", q.seeks(phase), "reqs.")
    works = {phase.phase: work.of(phase, observed.meta) for phase in reversed(observed.observations)}
    return Side(str(path), "recording", observed.simulated(), figures, axes, idle, tuple(foreign),
                observed.meta.get("invariants", ""), works, recorded)  # fmt: skip


def words(observed: Observed) -> list[str]:
    """The words of the recorded command. Empty: there was none, or it is not known."""
    try:
        return list(map(str, json.loads(observed.meta.get("command", ""))))
    except (ValueError, TypeError):
        return []


def reported(observed: Observed) -> tuple[parsers.Figure, ...]:
    """The figures that the recorded program printed. Empty: the program is not known, or printed none."""
    name = observation.program(observed.meta)
    if name not in benchmark.BENCHMARKS:
        return ()
    raw = any(word.startswith("of=/dev/") and word != "of=/dev/null" for word in words(observed))
    direction = "write" if raw else "read"
    job = benchmark.Job("", "", 0, MappingProxyType({**benchmark.BENCHMARKS[name].defaults, "direction": direction}))
    try:
        return benchmark.BENCHMARKS[name].parse(observed.output, job)
    except parsers.ParseError:
        return ()


def axes_of(observed: Observed, array: str) -> dict[str, object]:
    """The set-up of a recording as axes of a plan, from the first disk at the top of a stack."""
    if not observed.observations:
        return {"array": array or observed.meta.get("lab_profile", "")}
    first = next((o for o in observed.observations if o.disk.parent is None), observed.observations[0])
    kind = first.settings.get("fstype", "").splitlines()
    axes = {
        "array": array or observed.meta.get("lab_profile", ""),
        "filesystem": kind[0] if kind and kind[0] else "none",
        "readahead_sectors": first.setting("readahead_sectors"),
        "md_level": first.settings.get("md_level", "none"),
        "md_members": first.setting("md_raid_disks"),
        "queue_depth": first.setting("queue_depth"),
    }
    chunk = first.setting("md_chunk_bytes")
    return {**axes, **({"md_chunk_kib": chunk // 1024} if chunk else {})}


def _figure(
    phase: Observation, disk: str, name: str, direction: str, value: float | None, unit: str
) -> dict[Key, Figures]:
    """One counted number of a direction. Empty: not known. disk: its name, or empty if there is only one."""
    key = (("phase", phase.phase), ("place", f"{disk} counted: {name}".strip()), ("direction", direction))
    return {} if value is None else {key: normal((value,), unit)}


def _rate(phase: Observation, direction: str, disk: str) -> dict[Key, Figures]:
    moved = q.octets(phase, direction)
    rate = None if moved is None or not phase.seconds() else moved / 1024 / phase.seconds()
    return _figure(phase, disk, "throughput", direction, rate, "KiB/s")


def _counted(phase: Observation, direction: str, disk: str) -> dict[Key, Figures]:
    """The counted figures of a direction in a phase of a disk."""
    mean = q.size_mean(phase, direction)
    numbers = (
        ("IOPS", phase.of(direction).operations(), "1/s"),
        ("in flight", q.depth_mean(phase, direction), "reqs."),
        ("request size", None if mean is None else mean / 2, "KiB"),
        ("d2c", q.d2c_mean_ms(phase, direction), "ms"),
    )
    counted = _rate(phase, direction, disk)
    for name, value, unit in numbers:
        counted |= _figure(phase, disk, name, direction, value, unit)
    return counted


def against(side: Side, table: str) -> tuple[dict[Key, Figures], dict[Key, Figures]]:
    """The side's figures with a published counterpart, and these counterparts, by the same keys. Raises RecordingError:
    none."""
    ours: dict[Key, Figures] = {}
    theirs: dict[Key, Figures] = {}
    for key, axes in side.axes.items():
        phase = dict(key)["phase"]
        if "file_kib" in dict(key)["place"]:  # a surface, for which there is no published table
            continue
        match = published.find(table, axes, str(axes["benchmark"]), phase)
        if match is not None and match.unit == side.figures[key].unit:
            theirs[key] = Figures(
                match.values, match.unit, match.note, terms.PUBLISHED.get((table, str(axes["benchmark"])), terms.NONE)
            )
            ours[key] = side.figures[key]
    if not ours:
        runs = sorted({f"{axes.get('array') or 'array not known'}, {axes['benchmark']}" for axes in side.axes.values()})
        raise RecordingError(
            f"{side.path}: {published.FILES[table]} has no figure for "
            f"{'; '.join(runs) or 'a recording without a benchmark'}. To name the array as in the table: --array "
            "NAME"
        )
    return ours, theirs


def pair(a: Side, b: Side) -> tuple[list[FigurePair], list[str], list[str]]:
    """The rows of both sides, texts about figures of one side, and sentences about axes that differ but are constant in
    each."""
    names = {name for side in (a, b) for key in side.figures for name, _ in key}
    one: dict[str, tuple[str, str]] = {}
    for name in sorted(names - {"phase", "place", "direction"}):
        values = [{dict(key).get(name, "-") for key in side.figures} for side in (a, b)]
        if all(len(distinct) == 1 for distinct in values):
            one[name] = (values[0].pop(), values[1].pop())
    rows, left = comparison.pair(_without(_with_idle(a, b), one), _without(_with_idle(b, a), one))
    differs = [f"{name} is {x} in A and {y} in B." for name, (x, y) in one.items() if x != y]
    return (
        rows,
        left,
        [*differs, *(f"{letter}, {sentence}" for letter, side in (("A", a), ("B", b)) for sentence in side.foreign)],
    )


def works(a: Side, b: Side) -> tuple[tuple[str, work.Compared], ...]:
    """The phases that both recordings have, each with the comparison of the programs' work, in the order of A."""
    both = [name for name in reversed(list(a.works)) if name in b.works]
    return tuple((name, work.compare(a.works[name], b.works[name])) for name in both)


def _with_idle(side: Side, other: Side) -> dict[Key, Figures]:
    """The figures of a side, with the throughput of directions that only the other side used. Other figures of these
    directions are left out, because they have no counterpart."""
    none = {key for key in other.idle if key in side.figures}
    lone = {(dict(key)["phase"], dict(key)["direction"], _disk(key)) for key in none}
    kept = {key: figures for key, figures in side.figures.items()
            if key in none or (dict(key)["phase"], dict(key).get("direction"), _disk(key)) not in lone}  # fmt: skip
    return kept | {key: figures for key, figures in side.idle.items() if key in other.figures}


def _disk(key: Key) -> str:
    return dict(key)["place"].partition("counted: ")[0]


def _without(figures: Mapping[Key, Figures], names: Container[str]) -> dict[Key, Figures]:
    return {tuple((name, value) for name, value in key if name not in names): one for key, one in figures.items()}
