# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a mapping of the device mapper: the same reads through it, and directly from the disk below it.

This works only for a mapping of one range on one device, so that both readers read the same places, and only for a
command that reads. Nothing is created or written. The readers are those of raidtrace.why.rate.
"""

import dataclasses
import os
import statistics
from collections.abc import Callable, Mapping

from raidtrace.why import chance
from raidtrace.why.figures import MIB, Run
from raidtrace.why.rate import ALONG, RANDOM, Reads

SECTOR, PAGE = 512, 4096
MAX_OCTETS, MAX_DEPTH = MIB, 32  # bytes of a request of the readers, and requests in flight
# Kind of mapping -> index of the word with the device. The offset follows.
DEVICE = {
    "linear": 0,
    "delay": 0,
    "crypt": 3,
}
Measure = Callable[[str, Reads], float | None]  # requests per second of a reader on a disk; None: not measured


@dataclasses.dataclass(frozen=True)
class Below:
    """The target of a mapping. kind: such as dm-crypt. device: number of the device below, as in st_rdev. first: its
    first mapped sector."""

    kind: str
    device: int
    first: int
    sectors: int


@dataclasses.dataclass(frozen=True)
class Layer:
    """The measured layer. name, kind: of the mapping. lower: the device below. octets: bytes of a request. pairs:
    requests per second through the mapping, and below it. untried: a layer that was not measured, with the reason. All
    empty: no layer."""

    name: str = ""
    kind: str = ""
    lower: str = ""
    octets: int = 0
    depth: int = 0
    in_order: bool = False
    pairs: tuple[tuple[float, float], ...] = ()
    untried: str = ""

    def effect(self) -> chance.Effect | None:
        """The factor by which the reads are faster below the layer. None: not measured."""
        costs = [1 / through for through, _ in self.pairs], [1 / below for _, below in self.pairs]
        return chance.effect(*costs, looks=1) if self.pairs else None

    def costs(self) -> bool:
        """Whether the reads are faster below the layer, beyond chance and by a factor that matters."""
        effect = self.effect()
        return bool(effect and effect.chance <= chance.ALPHA and effect.factor >= chance.MIN_EFFECT_FACTOR)

    def bytes_per_s(self) -> tuple[float, float]:
        """The rates through the layer and below it in bytes per second, geometric means of the pairs."""
        through, below = (statistics.geometric_mean(pair[at] for pair in self.pairs) for at in (0, 1))
        return through * self.octets, below * self.octets


def mapped(table: str) -> Below | None:
    """The target of a mapping, from the lines of `dmsetup table`. None: it is not one range on one device."""
    lines = [line.split() for line in table.splitlines()]
    if len(lines) != 1 or len(lines[0]) < 3 or lines[0][2] not in DEVICE:
        return None
    first, sectors, kind, *words = lines[0]
    device, start = (words[DEVICE[kind] :] + ["", ""])[:2]
    major, colon, minor = device.partition(":")
    if first != "0" or not colon or not all(word.isdecimal() for word in (sectors, major, minor, start)):
        return None
    return Below(f"dm-{kind}", os.makedev(int(major), int(minor)), int(start), int(sectors))


def lowest(name: str, table: Callable[[str], str], names: Mapping[int, str]) -> tuple[str, Below] | None:
    """The lowest device of a stack of mappings, with the kinds of all of them. None: the first is not one range. table:
    returns the table of a device. names: of all devices by number."""
    deepest: tuple[str, Below] | None = None
    below = mapped(table(name))
    while below and (lower := names.get(below.device)):
        if deepest:
            upper = deepest[1]
            below = Below(f"{upper.kind} on {below.kind}", below.device, upper.first + below.first, upper.sectors)
        deepest = lower, below
        below = mapped(table(lower)) if lower.startswith("dm-") else None
    return deepest


def measured(name: str, lower: str, below: Below, run: Run, measure: Measure) -> Layer:
    """Measure reads like those of the command, in pairs that alternate which disk is first. lower: name of the device
    below.

    Each reader has its own random places, so that none finds its data in a cache."""
    count, moved = max(run.disk_requests, 1), run.disk_bytes.get("read", 0)
    octets = max(PAGE, min(moved // count, MAX_OCTETS) // PAGE * PAGE)
    in_flight = moved / octets * (run.mean_ms / 1e3) / max(run.seconds, 1e-9)  # by Little's law
    depth = max(1, min(round(in_flight), MAX_DEPTH))
    pattern, pairs = ALONG if run.in_order else RANDOM, list[tuple[float, float]]()
    untried = f"{name}, because time or a processor for the reads was not available"
    for trial in range(chance.MIN_PAIRS):
        rates = dict[str, float]()
        for at, disk in enumerate((name, lower) if trial % 2 == 0 else (lower, name)):
            start = below.first * SECTOR if disk == lower else 0
            rate = measure(disk, Reads(octets, depth, pattern, 2 * trial + at, start, below.sectors * SECTOR))
            if not rate:
                return Layer(name, below.kind, lower, untried=untried)
            rates[disk] = rate
        pairs.append((rates[name], rates[lower]))
    return Layer(name, below.kind, lower, octets, depth, run.in_order, tuple(pairs))
