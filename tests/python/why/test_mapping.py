# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a mapping of the device mapper, with made-up readers: the comparison and its sentence."""

import dataclasses
import os

import pytest

from raidtrace.sweep.device import Machine
from raidtrace.why import chance, changes, disk, experiment, mapping, verdict
from raidtrace.why.figures import MIB, Run
from raidtrace.why.mapping import Below, Layer
from raidtrace.why.rate import Rates, Reads

CRYPT = f"0 2048 crypt aes-xts-plain64 {'0' * 64} 0 253:1 32768 1 allow_discards\n"
NUMBERS = {os.makedev(253, 1): "nvme0n1p2", os.makedev(254, 0): "dm-0"}
BELOW = Below("dm-crypt", os.makedev(253, 1), 32768, 2048)
# of 2 s: 256 reads of 128 KiB at random places, each of which takes 15.6 ms: 2 are in flight
RUN = Run(seconds=2.0, disk_requests=256, disk_bytes={"read": 32 * MIB, "write": 0}, mean_ms=15.6)


@pytest.mark.parametrize("table, result", [
    (CRYPT, BELOW),
    ("0 2048 linear 253:1 7\n", Below("dm-linear", os.makedev(253, 1), 7, 2048)),
    ("0 2048 delay 253:1 7 3\n", Below("dm-delay", os.makedev(253, 1), 7, 2048)),
    ("0 2048 linear 253:1 7\n2048 2048 linear 253:1 9000\n", None), ("0 2048 striped 2 128 253:1 0 253:2 0\n", None),
    ("0 2048 raid raid1 3 0 128 2 - 253:1 - 253:2\n", None), ("8 2048 linear 253:1 7\n", None), ("0 2048 linear 253:1\n", None),
    ("0 2048 linear /dev/sda 7\n", None), ("0 2048 crypt x\n", None), ("0 -1 linear 253:1 7\n", None), ("\n", None), ("", None),
])  # fmt: skip
def test_what_dmsetup_says(table: str, result: Below | None) -> None:
    """A mapping of one piece on one device is compared; any other is reported as not comparable."""
    assert mapping.mapped(table) == result


def test_a_mapping_on_a_mapping() -> None:
    """As LVM on LUKS: the places of both are added, down to the first that is no mapping of one piece."""
    tables = {"dm-1": "0 512 linear 254:0 100\n", "dm-0": CRYPT}
    lower, below = mapping.lowest("dm-1", tables.__getitem__, NUMBERS) or ("", BELOW)
    assert (lower, below) == ("nvme0n1p2", Below("dm-linear on dm-crypt", os.makedev(253, 1), 32868, 512))
    tables["dm-0"] = "0 2048 striped 2 128 253:1 0 253:2 0\n"
    assert mapping.lowest("dm-1", tables.__getitem__, NUMBERS) == (
        "dm-0", Below("dm-linear", os.makedev(254, 0), 100, 512))  # fmt: skip
    assert mapping.lowest("dm-0", tables.__getitem__, NUMBERS) is None
    assert mapping.lowest("dm-0", {"dm-0": CRYPT}.__getitem__, {}) is None


def measured(run: Run, rates: dict[str, float]) -> tuple[Layer, list[tuple[str, Reads]]]:
    """With readers of these rates. Returns the layer and the calls of the readers."""
    calls: list[tuple[str, Reads]] = []
    return mapping.measured("dm-0", "sda", BELOW, run, lambda *one: calls.append(one) or rates[one[0]]), calls


def test_the_reads_are_those_of_the_command() -> None:
    """Size, depth and order; of the same sectors at both, from the mapping's first on; never the same places twice."""
    result, requested = measured(RUN, {"dm-0": 100.0, "sda": 300.0})
    assert [name for name, _ in requested] == ["dm-0", "sda", "sda", "dm-0", "dm-0", "sda"]
    reads = [one for _, one in requested]
    assert {(one.octets, one.depth, one.pattern, one.length) for one in reads} == {(131072, 2, "random", 2048 * 512)}
    assert {(name, one.start) for name, one in requested} == {("dm-0", 0), ("sda", 32768 * 512)}
    assert len({one.seed for one in reads}) == 6
    assert result.pairs == ((100.0, 300.0),) * 3 and result.costs()
    assert result.bytes_per_s() == pytest.approx((12.5 * MIB, 37.5 * MIB))
    assert measured(dataclasses.replace(RUN, in_order=True), {"dm-0": 1.0, "sda": 1.0})[1][0][1].pattern == "along"


@pytest.mark.parametrize(
    "octets, mean_ms, reads, depth", [(100, 15.6, 4096, 1), (6 * MIB, 31.2, MIB, 24), (6 * MIB, 156, MIB, 32)]
)
def test_the_readers_have_a_largest_request(octets: int, mean_ms: float, reads: int, depth: int) -> None:
    """A bio of 6 MiB is six of theirs in flight, at most 32."""
    run = dataclasses.replace(RUN, disk_bytes={"read": 256 * octets}, mean_ms=mean_ms)
    requested = measured(run, {"dm-0": 1.0, "sda": 1.0})[1]
    assert (requested[0][1].octets, requested[0][1].depth) == (reads, depth)


@pytest.mark.parametrize("below, costs", [((104.0,) * 3, False), ((106.0,) * 3, True), ((90.0, 300.0, 100.0), False)])
def test_it_costs_something_beyond_chance(below: tuple[float, ...], costs: bool) -> None:
    assert Layer("dm-0", "dm-linear", "sda", 4096, 1, False, tuple((100.0, one) for one in below)).costs() == costs


def test_a_reader_that_could_not_measure() -> None:
    result = mapping.measured("dm-0", "sda", BELOW, RUN, lambda *_: None)
    assert (
        not result.pairs and "time or a processor" in result.untried and not result.costs() and result.effect() is None
    )


def judged(mine: float, below: float, *rows: experiment.Tried) -> verdict.Answer:
    """The verdict on a command that moves `mine` times as much as the reads through the layer, at a limit of requests."""
    layer = Layer("dm-0", "dm-crypt", "sda", 131072, 2, True, ((100.0, 100.0 * below),) * 3)
    run = dataclasses.replace(RUN, disk_bytes={"read": int(2 * 12.5 * MIB * mine)}, read_back={"read_ahead_kb": "128"})
    table = experiment.Table(run, [2.0], "seconds", 0.0, list(rows), rates=Rates((128.0, 128.0)), layer=layer)
    return verdict.judge(table, "dm-0")


@pytest.mark.parametrize("mine, cause", [(1.0, True), (0.51, True), (0.49, False), (1.24, True), (1.26, False)])
def test_a_layer_is_the_cause_if_the_command_moves_as_much(mine: float, cause: bool) -> None:
    """Reads of our own that are twice as fast as the command, or slower, do not stand for it."""
    result = judged(mine, 3.0)
    assert result.causes == (("layer dm-crypt",) if cause else ())
    assert "Reads of 128 KiB in order, 2 in flight, reach 12.5 MiB/s through dm-0 and 37.5 MiB/s on sda below it (3.00x)" in (
        result.sentence)  # fmt: skip
    most = f"Without the layer the command is at most {1 / (1 - 2 * min(mine, 1) / 3):.2f}x as fast. Several concurrent readers"
    assert (most in result.sentence) == cause
    assert ("do not represent the command" in result.sentence) == (not cause) and result.shown == cause


def test_a_layer_that_costs_nothing_is_not_named() -> None:
    assert judged(1.0, 1.0).causes == ("IOPS limit",)


def test_a_layer_comes_before_a_small_gain() -> None:
    row = experiment.Tried(changes.setting("read_ahead_kb", "1024"), [(1.1, 1.0)] * 3, shown=True,
                           effect=chance.Effect(1.1, 1.1, 1.1, 3, 0.0))  # fmt: skip
    result = judged(1.0, 3.0, row)
    assert result.causes == ("layer dm-crypt", "readahead")
    assert result.sentence.startswith("Layer dm-crypt: reads of 128 KiB")


def test_what_a_disk_says_of_its_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a disk alone; else that it was not tried, and why."""
    setup = disk.Setup(disk.pathlib.Path("raidctl"), disk.pathlib.Path("out"), "dm-0", ("true",))
    place = disk.Disk(setup, Machine(), None, None, 9, 9.0)  # type: ignore[arg-type]
    place._first = RUN
    below, above = ["sda"], list[str]()
    monkeypatch.setattr(Machine, "below", lambda *_: below)
    monkeypatch.setattr(Machine, "names", lambda *_: NUMBERS)
    monkeypatch.setattr(disk, "made_of", lambda *_: above)
    monkeypatch.setattr(disk.Disk, "_table", lambda *_: CRYPT)
    monkeypatch.setattr(disk.Disk, "_rate", lambda _self, _reads, name: 1.0 if name == "dm-0" else 3.0)
    assert place.layer().pairs == ((1.0, 3.0),) * 3 and place.layer().lower == "nvme0n1p2"
    monkeypatch.setattr(disk.Disk, "_table", lambda *_: "")
    assert "does not map a single range" in place.layer().untried
    monkeypatch.setattr(disk.Disk, "_table", lambda *_: os.stat("/none"))
    assert "dmsetup does not run: No such file" in place.layer().untried
    place._first = dataclasses.replace(RUN, disk_bytes={"write": 1})
    assert "the command writes" in place.layer().untried
    below.clear()
    assert place.layer() == Layer()
    above.append("dm-7")
    assert "dm-7 above dm-0, which has its own readahead. To test this layer: --disk dm-7" in place.layer().untried
