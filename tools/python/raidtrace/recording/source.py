# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources of the counters of recordings, and the events that they lost, by disk and kind."""

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from raidtrace.quantity.shown import visible
from raidtrace.recording import database

MODULE, BPF = "module", "bpf"
KINDS = {"missed_events": "missed", "undelivered_ends": "ends of requests not delivered"}  # beside kinds of records
WORDS = {MODULE: "the module", BPF: "BPF programs"}


@dataclasses.dataclass(frozen=True)
class Source:
    """The sources of counters, and their losses. names: one or several. lost: number of events by disk and kind. differs:
    from the kernel's own count, by disk: "more reads", "fewer bytes of writes" of the kernel. unknown:
    recordings whose losses are not known, because they were not ended."""

    names: tuple[str, ...] = ()
    lost: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    differs: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    unknown: int = 0


def read(meta: Mapping[str, str]) -> Source:
    """The source of one recording, from its table meta. Recordings before 1.1 are the module's."""
    name = meta.get("counted_by", MODULE)
    if name != BPF:
        return Source((name,))
    try:
        losses = json.loads(meta["losses"])
    except (KeyError, ValueError):
        return Source((name,), unknown=1)
    return Source((name,), {disk: _kinds(of_disk) for disk, of_disk in losses.items()}, _witness(meta))


def of_file(path: pathlib.Path) -> Source:
    """The source of a recording. Raises sqlite3.DatabaseError."""
    with contextlib.closing(database.read(path)) as db:
        return read(dict(db.execute("SELECT key, value FROM meta")))


def _kinds(losses: Mapping[str, Any]) -> dict[str, int]:
    kinds = dict[str, int](losses.get("lost_records", {})) | {name: int(losses.get(name, 0)) for name in KINDS}
    return {kind: number for kind, number in kinds.items() if number}


def total(sources: Iterable[Source]) -> Source:
    """The sum of several recordings."""
    every = list(sources)
    names = dict.fromkeys(name for source in every for name in source.names)
    lost = _sum(source.lost for source in every)
    return Source(tuple(names), lost, _sum(source.differs for source in every), sum(source.unknown for source in every))


def _sum(parts: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    """Numbers by disk and kind."""
    summed: dict[str, dict[str, int]] = {}
    for disk, kinds in (item for part in parts for item in part.items()):
        of_disk = summed.setdefault(disk, {})
        for kind, number in kinds.items():
            of_disk[kind] = of_disk.get(kind, 0) + number
    return summed


def losses(source: Source) -> str:
    """The losses as text, such as "vda: 3 queue, 1 end"; empty: none."""
    unknown = f"not known of {source.unknown} recording{'s' if source.unknown != 1 else ''}" if source.unknown else ""
    records = any(kind not in KINDS for kinds in source.lost.values() for kind in kinds)
    wrong = "a buffer was full, so depths and times may be wrong" if records else ""
    return "; ".join(filter(None, (_named(source.lost), wrong, unknown)))


def differences(source: Source) -> str:
    """The differences from the kernel's own count, such as "vda: 3 more reads"; empty: none, or not known."""
    return _named(source.differs)


def _named(numbers: Mapping[str, Mapping[str, int]]) -> str:
    return "; ".join(
        f"{visible(disk)}: " + ", ".join(f"{number:,} {KINDS.get(kind, kind)}" for kind, number in kinds.items())
        for disk, kinds in numbers.items()
        if kinds
    )


def _witness(meta: Mapping[str, str]) -> dict[str, dict[str, int]]:
    try:
        witness = json.loads(meta.get("witness", "{}"))
    except ValueError:
        return {}
    return {disk: found for disk, kinds in witness.items() if kinds and (found := _beyond(kinds))}


def _beyond(kinds: Mapping[str, Any]) -> dict[str, int]:
    """The numbers by which the limits of the kernel's count and of ours do not meet."""
    found = {}
    for kind, pairs in kinds.items():
        for unit, what in (("requests", f"{kind}s"), ("bytes", f"bytes of {kind}s")):
            if not (pair := pairs.get(unit)):
                continue
            (least, most), (counted_least, counted_most) = pair["kernel"], pair["counted"]
            if least > counted_most:
                found[f"more {what}"] = least - counted_most
            elif counted_least > most:
                found[f"fewer {what}"] = counted_least - most
    return found


def sentence(source: Source) -> str:
    """The source and its losses as a sentence; empty: nothing was counted."""
    if not source.names:
        return ""
    text = f"Counted by {' and by '.join(WORDS.get(name, visible(name)) for name in source.names)}"
    lost = losses(source)
    if lost:
        text += f"; LOST events, which the counters lack: {lost}"
    elif BPF in source.names:
        text += "; no event was lost"
    if beyond := differences(source):
        text += f". The kernel itself completed at least this beyond the counters: {beyond}"
    return f"{text}."


def as_json(source: Source) -> dict[str, Any]:
    """Members of a JSON object. source: the name, or null if there is none or if there are several."""
    return {
        "source": source.names[0] if len(source.names) == 1 else None,
        "losses": {disk: dict(kinds) for disk, kinds in source.lost.items() if kinds},
        "losses_unknown": source.unknown,
        "kernel_completed": {disk: dict(kinds) for disk, kinds in source.differs.items()},
    }
