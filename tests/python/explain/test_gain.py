# SPDX-License-Identifier: GPL-2.0-or-later
"""The gain that a remedy is expected to have: what it is computed from, and where no figure is given."""

import pytest
from made_phase import judged, uneven

from raidtrace.explain.evidence import Verdict
from raidtrace.explain.gain import unbroken

SLOWED = {"driver": "nvme", "d2c": {1.0: 10, 8.0: 990}}  # 250 a second, mean 8 ms
READS = {"driver": "nvme", "direct": 1.0, "ahead": 0.0, "depth": 1.0}
FLASH = {**READS, "seconds": 0.1, "d2c": {0.1: 1000}}  # 0.1 ms each
NO_WAIT = {**FLASH, "at_issue": {0: 1000}}
ALONE = {**READS, "at_issue": {0: 1000}, "idle": 0.5, "d2c": {0.28: 1000}}
RANDOM = {"order": 0.0, "seeks": 1.0, "depth": 2.0, "driver": "ahci", "jump": 1 << 17}
ARRAY = {**RANDOM, "driver": "3w-9xxx"}  # a piece twice as large needs one drive only
FLUSHES = {"direction": "write", "flushes": (130, 5.0)}
SLOTS = {"driver": "nvme", "depth": 4.0, "settings": {"nr_requests": "4"}}
SLOTS_OF_ARRAY = {**SLOTS, "driver": "3w-9xxx", "q2c_ms": 99.0, "d2c": {0.1: 1000}}
AHEAD = {**ALONE, "driver": "3w-9xxx", "direct": 0.0, "ahead": 1.0}  # the disk may work during the pauses
KEPT = {"depth": 4.0, "i2d_ms": 9.0, "settings": {"scheduler": "bfq"}}
MIXED = {"submitters": [(7, "dd", 250, 0, 0), (9, "rsync", 750, 0, 0)], "others": (9,)}
OTHERS = {**MIXED, "d2c": {1.0: 10, 8.0: 990}}
WINDOW = {"driver": "3w-9xxx", "depth": 2.0, "settings": {"read_ahead_kb": "128", "max_sectors_kb": "128"}}

# name: key, facts, the expected gain; None: no figure
GAINS = {
    "twice a limit": ("throttled", SLOWED, 2.0),
    # 20 a second, each 8 ms instead of 1: of the 50 ms from one to the next 42 stay
    "a program that pauses gains less of a higher limit": ("throttled", {
        **SLOWED, "idle": 0.8, "at_issue": {0: 1000}, "seconds": 50.0, "depth": 0.8}, pytest.approx(50 / 43, 0.01)),
    "a limit until requests take what the fastest did": (
        "throttled", {"driver": "nvme", "d2c": {6.0: 10, 8.0: 990}}, pytest.approx(8.0 / 6.0, rel=0.06)),
    "a disk at its rate gains nothing by depth": ("device", {**SLOWED, "seconds": 0.06}, 1.0),
    "direct requests that do not wait": ("direct", FLASH, 2.0),
    "direct requests to the drives of a local controller": ("direct", {**FLASH, "driver": "3w-9xxx"}, 2.0),
    "direct requests through a network": ("direct", {**FLASH, "driver": "qla2xxx"}, None),
    "a volume may have a limit that does not show below it": ("direct", {**FLASH, "driver": "virtio-pci"}, None),
    "the middle request takes 1.2 times the fastest": ("direct", {**NO_WAIT, "d2c": {0.1: 900, 0.08: 100}}, None),
    "the middle request takes little more than the fastest": ("direct", {**NO_WAIT, "d2c": {0.1: 900, 0.095: 100}}, 2.0),
    "the fastest request takes more than 0.3 ms": ("direct", {**READS, "seconds": 0.31, "d2c": {0.31: 1000}}, None),
    "the fastest request takes less than 0.3 ms": ("direct", {**READS, "seconds": 0.28, "d2c": {0.28: 1000}}, 2.0),
    "larger pieces cost the same seek": ("seeks", {**RANDOM, "sectors": 32}, pytest.approx(2 / (1 + 16 / 100 / 8))),
    "pieces of 64 KiB on a disk": ("seeks", {**RANDOM, "sectors": 128}, pytest.approx(2 / (1 + 64 / 100 / 8))),
    "pieces of more than 64 KiB on a disk": ("seeks", {**RANDOM, "sectors": 130}, None),
    "pieces of half a stripe of an array": ("seeks", {**ARRAY, "sectors": 64}, pytest.approx(1.92, abs=0.05)),
    "pieces of more than half a stripe of an array": ("seeks", {**ARRAY, "sectors": 66}, None),
    "pieces at near places": ("seeks", {**RANDOM, "jump": (1 << 17) - 1, "sectors": 32}, None),
    "half the flushes of flash": ("sync", {**FLUSHES, "driver": "nvme"}, 2.0),
    "half the flushes of an array": ("sync", {**FLUSHES, "driver": "3w-9xxx"}, 2.0),
    "half the flushes of one disk with heads": ("sync", {**FLUSHES, "driver": "ahci"}, None),
    "slots gain what waits, at most twice": ("request slots", {**SLOTS, "q2c_ms": 99.0}, 2.0),
    "slots that few wait for": ("request slots", {**SLOTS, "q2c_ms": 25.0}, pytest.approx(25 / 16)),
    "slots of an array whose drives may take no more": ("request slots", SLOTS_OF_ARRAY, None),
    "slots of an array whose drives take more": (
        "request slots", {**SLOTS_OF_ARRAY, "depth": 2.0, "settings": {"nr_requests": "2"}}, 2.0),
    "without pauses the program takes the time of the disk": ("program", ALONE, pytest.approx(2.0)),
    "a program of which some requests wait": ("program", {**ALONE, "at_issue": {0: 940, 1: 60}}, None),
    "a program most of whose reads are read ahead": ("program", {**ALONE, "direct": 0.49}, None),
    # half the pauses, where their end may bring another limit
    "pauses of a volume": ("program", {**ALONE, "driver": "virtio-pci"}, pytest.approx(1 / 0.75)),
    "pauses of a slow disk": ("program", {**ALONE, "d2c": {0.31: 1000}}, pytest.approx(1 / 0.75)),
    "pauses of a virtual disk": ("program", {**ALONE, "settings": {"model": "QEMU NVMe Ctrl"}}, pytest.approx(1 / 0.75)),
    "pauses of an array": ("program", {**ALONE, "driver": "3w-9xxx", "seeks": 0.0}, pytest.approx(1 / 0.75)),
    "pauses of an array that seeks": ("program", {**ALONE, "driver": "3w-9xxx", "seeks": 1.0}, pytest.approx(1 / 0.75)),
    "short pauses with readahead": ("program", {**AHEAD, "idle": 0.74}, None),
    "long pauses with readahead": ("program", {**AHEAD, "idle": 0.76}, pytest.approx((2 / 0.62) ** 0.5)),  # from 1.6 to 2
    # one request a window: two of them take an eighth longer than one. Two a window, as of POSIX_FADV_SEQUENTIAL: so, too
    "requests of an array come one after the other": ("readahead", WINDOW, pytest.approx(1.75)),
    "two requests a window": ("readahead", {**WINDOW, "depth": 4.0}, pytest.approx(1.6)),
    "a window of flash": ("readahead", {**WINDOW, "driver": "nvme"}, None),
    "windows of two streams": ("readahead", {**WINDOW, "streams": 2}, None),
    "windows of odd requests": ("readahead", {**WINDOW, "sectors": 242}, None),
    "windows next to writes": ("readahead", {**WINDOW, "other": (1000, 1.3)}, None),
    "a scheduler that holds back 9 of 25 ms": ("scheduler", {**KEPT, "driver": "3w-9xxx"}, pytest.approx(25 / 16)),
    "heads profit by order": ("scheduler", {**KEPT, "driver": "ahci"}, None),
    "computing is a bound because a program that starts computes": ("processor", {**ALONE, "idle": 0.9, "cpu": 0.8}, None),
    "a volume has the part of the others to give": ("competing", {**OTHERS, "driver": "virtio-pci"}, 4.0),
    "others on an uneven volume": ("competing", {**OTHERS, "driver": "virtio-pci", "samples": uneven(9)}, None),
    "others on one disk": ("competing", {**OTHERS, "driver": "ahci"}, None),
    "others on an array": ("competing", {**OTHERS, "driver": "3w-9xxx"}, None),
    # mean 0.2 ms after 0.1 ms of waiting, the fastest 0.1 ms
    "on a local disk a request takes what the fastest did": ("competing", {
        **MIXED, "driver": "nvme", "seconds": 0.1, "depth": 2.0, "i2d_ms": 0.1, "d2c": {0.1: 10, 0.2: 990},
    }, pytest.approx(3.0, rel=0.06)),
}  # fmt: skip


@pytest.mark.parametrize("name", GAINS)
def test_the_gain(name):
    key, facts, figure = GAINS[name]
    limit = judged(key, **facts)
    assert limit.figure() == figure
    assert limit.verdict is Verdict.INFERRED or key != "readahead"


@pytest.mark.parametrize(
    ("key", "facts", "sentence"),
    [
        ("throttled", SLOWED, "Expected with twice the limit: about 2 times as fast."),
        ("device", {**SLOWED, "seconds": 0.06}, "Expected from a higher depth or more readahead: no gain."),
        ("direct", FLASH, "Expected with twice as many in flight: about 2 times as fast."),
        ("program", ALONE, "Expected: about 2 times as fast."),
        ("program", {**ALONE, "direct": 0.49}, "Without this time the command is at most about 2 times as fast."),
        ("program", {**ALONE, "d2c": {0.31: 1000}}, "Expected with pauses half as long: about 1.3 times as fast."),
        ("readahead", WINDOW, "Expected with only twice the readahead: about 1.8 times as fast."),
        (
            "processor",
            {**ALONE, "idle": 0.9, "cpu": 0.8},
            "Without this time the command is at most about 10 times as fast.",
        ),
        ("competing", {**OTHERS, "driver": "virtio-pci"}, "Expected without them: about 4 times as fast."),
        ("seeks", {**RANDOM, "sectors": 32}, "Expected in MiB/s, with pieces twice as large: about 2 times as fast."),
    ],
)
def test_the_sentence(key, facts, sentence):
    assert judged(key, **facts).expected() == sentence


def test_without_a_silence_the_rest_of_the_time_stays():
    """The silence may have been two intervals longer than the samples show; the figure differs by a tenth at most."""
    assert unbroken(100.0, 50.0, 2.0) == ((2.0, 2.0), "")
    (least, most), _ = unbroken(100.0, 50.0, 2.5)
    assert least == 2.0 and most == pytest.approx(100 / 45)
    assert unbroken(74.6, 74.2, 0.2) == (None, "")
