# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as objects, for programs of others (Documentation/client.rst). Its figures are those of raidctl report --json,
by the same code. A value that is not available is None."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping
from typing import Any

from raidtrace.explain import evidence, runs
from raidtrace.quantity.bins import KINDS
from raidtrace.quantity.table import Histogram, Table
from raidtrace.recording import document, invariants, observation
from raidtrace.recording.sample_rows import opened
from raidtrace.recording.spans import Span, raw_texts
from raidtrace.report import export

OF_LIMIT = ("disk", "phase", "direction", "limit", "verdict", "share", "gain_low", "gain_high", "statement", "remedy")


class Phase:
    """One phase of one disk. figures: direction -> name -> value. Times are CLOCK_MONOTONIC in ns."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self.name, self.number, self.disk = span.phase, span.number, span.disk
        self.start_ns, self.end_ns = span.start_ns, span.end_ns
        self.seconds = span.length() / 1e9
        self.directions: tuple[str, ...] = tuple(document.shown(span))

    def __repr__(self) -> str:
        return f"<phase {self.name} of {self.disk}, {self.seconds:g} s>"

    @functools.cached_property
    def figures(self) -> Mapping[str, Mapping[str, Any]]:
        """The figures by direction and name."""
        return {direction: document.figures(self._span, direction) for direction in self.directions}

    def counters(self, direction: str) -> dict[str, int | None]:
        """The counters of a direction by name."""
        return document.counters(self._span, direction)

    def histogram(self, direction: str, kind: str) -> Histogram:
        """A histogram, without bins if nothing was counted. Raises LookupError: this kind is unknown or was not counted."""
        name = kind.replace("-", "_")
        if (direction, name) not in self._span.bins and (name not in KINDS or not self._span.counts_kind(name)):
            raise LookupError(f"{kind}: the recording does not have this histogram")
        return Histogram.of(name, self._span.histogram(direction, name))


class Explanation:
    """The causes of the throughput. content: the members of raidctl explain --json, as objects."""

    def __init__(self, content: evidence.Explanation) -> None:
        self.content = content

    @functools.cached_property
    def limits(self) -> Table:
        """All possible limits, the most important of each disk, phase and direction first. verdict: "inferred" if the
        counters have the signature of the limit. share: of the time, from 0 to 1."""
        rows = [
            (chain.disk, chain.phase, chain.direction, limit.key, str(limit.verdict), limit.share,
             *(limit.gain or (None, None)), limit.statement, limit.remedy or None)
            for chain in self.content.chains for limit in chain.limits
        ]  # fmt: skip
        return Table(OF_LIMIT, rows)

    def to_pandas(self) -> Any:
        """The limits as a pandas.DataFrame."""
        return self.limits.to_pandas()

    def text(self, columns: int = 80) -> str:
        """The text of raidctl explain."""
        return "\n".join(evidence.text(self.content, columns))


class Recording:
    """A recording of raidctl. Raises RecordingError if it cannot be read.

    meta: facts by name. disks: their names. phases: in order of time, those of each disk.
    """

    def __init__(self, path: str | pathlib.Path) -> None:
        self.path = pathlib.Path(path)
        with opened(self.path) as rows, raw_texts(rows):
            recorded = invariants.read(self.path, rows)
        self.meta: Mapping[str, str] = recorded.meta
        self.disks: tuple[str, ...] = tuple(one.disk for one in recorded.targets)
        self.phases: tuple[Phase, ...] = tuple(map(Phase, recorded.spans))

    def __repr__(self) -> str:
        return f"<recording {self.path}: disks {', '.join(self.disks)}; {len(self.phases)} phases>"

    @functools.cached_property
    def figures(self) -> Table:
        """The figures: a row for each phase, disk and direction."""
        parts = [(phase, direction) for phase in self.phases for direction in phase.directions]
        names = dict.fromkeys(name for phase, direction in parts for name in phase.figures[direction])
        return Table(("phase", "phase_number", "disk", "direction", "seconds", *names), [
            (phase.name, phase.number, phase.disk, direction, phase.seconds, *map(phase.figures[direction].get, names))
            for phase, direction in parts
        ])  # fmt: skip

    @functools.cached_property
    def samples(self) -> Table:
        """The counters over time: a row for each sample and direction, with disk and phase by name."""
        phases = {row["phase"]: row["name"] for row in self.table("phase")}
        disks = {row["target"]: row["disk"] for row in self.table("target")}
        samples = {row["sample"]: row for row in self.table("sample")}
        flow = self.table("flow")
        rows = []
        for row in flow:
            of = samples[row["sample"]]
            rows.append((row["sample"], of["start_ns"], of["end_ns"], disks.get(of["target"]), phases.get(of["phase"]),
                         *[*row.values()][1:]))  # fmt: skip
        return Table(("sample", "start_ns", "end_ns", "disk", "phase", *flow.names[1:]), rows)

    def table(self, name: str) -> Table:
        """A table of the recording, as raidctl export writes it. Raises ValueError for an unknown name."""
        if name not in export.tables():
            raise ValueError(f"{name}: not one of {', '.join(export.tables())}")
        with opened(self.path) as rows:
            names, content = export.table(self.path, rows, name)
            return Table(names, [tuple(row) for row in content])

    def explanation(
        self, phase: str | None = None, disk: str | None = None, direction: str | None = None
    ) -> Explanation:
        """The explanation, of all phases and disks or of those named. Raises RecordingError: there is no sample."""
        return Explanation(runs.of_one(self._observed, runs.Choice(phase, disk, direction)))

    @functools.cached_property
    def _observed(self) -> observation.Observed:
        return observation.load(self.path)
