# SPDX-License-Identifier: GPL-2.0-or-later
"""Each condition of a limit, from both sides: what is just enough is inferred, what is just too little is not."""

import dataclasses

import pytest
from conftest import TOP, Without, fits
from made_phase import first, judged, phase, uneven, verdict

from raidtrace.explain import chain, limits
from raidtrace.explain.evidence import Verdict
from raidtrace.recording.quantities import Reading

INFERRED, OPEN, OUT, UNKNOWN = Verdict.INFERRED, Verdict.NOT_SHOWN, Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE
SIMULATED = {"lab_time": "simulated"}
RATES = "controller.read_kib_s=442500,controller.write_kib_s=215000,drive.media_outer_kib_s=70312"
LAB = {"lab_config": f"name=9500s-12-raid0,array.level=raid0,array.drives=12,array.stripe_kib=64,{RATES}"}
LAB5 = {"lab_config": LAB["lab_config"].replace("raid0", "raid5") + ",controller.parity_kib_s=264500"}
SILENT = [(0, 0.5, 1, 0.5), (0.5, 0.9, 1, 0.0), (0.9, 1, 1, 0.5)]
SLOW = {2.6: 100, 10.0: 800, 45.0: 100}
READER = {"order": 0.0, "seeks": 1.0, "sectors": 32}
NEXT = {
    **READER,
    "direct": 1.0,
    "depth": 1.0,
    "jump": 16384,
    "requests": 600,
}  # one at a time, and the next one is near
APART = {"depth": 2.0, "seeks": 0.26}
TURNS = {"streams": 8, "depth": 24.0, "seeks": 0.5, "readahead": 512}
NOT_OURS = {"submitters": [(7, "dd", 800, 1, 0), (9, "updatedb", 200, 1, 0)]}
MOVED = 1000 * 256 * 512  # bytes that the phase completes


def shared(bios, octets, dd=900):
    """dd with so many bios, and others with so many bios and hundredths of the bytes."""
    return [(7, "dd", dd, MOVED * (100 - octets) // 100, 0), (9, "updatedb", bios, MOVED * octets // 100, 0)]


BY_BYTES = {"submitters": shared(100, 16), "others": (9,)}
BY_HEADS = {
    "submitters": [(7, "dd", 9000, 99, 0), (9, "updatedb", 151, 1, 0)],
    "others": (9,),
    "driver": "ahci",
    "seeks": 0.151,
}
ON_FLASH = {**NOT_OURS, "others": (9,), "driver": "nvme"}
CHANGE = [(2 * 10**9, "readahead_sectors", "256", "4096")]
TWO_RATES = [(0, 0.5, 1, 0.45), (0.5, 1, 1, 0.55)]
BELOW = {"host_available": "cpu command-cpu kernel-threads"}
SLOTS = {"depth": 2.0, "i2d_ms": 2.2, "settings": {"queue_depth": "2", "readahead_sectors": "16384"}}
HELD = {"depth": 4.0, "i2d_ms": 9.0, "settings": {"scheduler": "bfq", "queue_depth": "9"}}
CUT = {"sectors": 16, "splits": 9, "settings": {"max_sectors_kb": "8"}}
DIRECT = {"direct": 1.0, "depth": 1.0, "ahead": 0.0}
DEEP_BY_OTHERS = {
    **DIRECT, "driver": "nvme", "depth": 2.0, "rows": {(16, 8): 400, (32, 8): 600}, "at_issue": {31: 400, 32: 600}
}  # fmt: skip
FOUR = {**DIRECT, "driver": "nvme", "depth": 4.0, "settings": {"nr_requests": "5"}}
ONE_AT_A_TIME = {**DIRECT, "driver": "nvme", "at_issue": {0: 1000}, "seconds": 0.1, "d2c": {0.09: 10, 0.1: 990}}
VOLUME = {**DIRECT, "driver": "virtio-pci", "at_issue": {0: 1000}}
UNMERGED = {"sectors": 8, "depth": 8.0, "settings": {"nomerges": "2"}}
NARROW = {"settings": {"max_sectors_kb": "8", "readahead_sectors": "240"}}
CONCURRENT = {"by_command": {"write": 0}}  # the writes are not the command's
BY_LAYER = [[(7, "dd", mine, 1, 0), (9, "kworker/0:1", 1000 - mine, 1, 0)] for mine in (510, 490)]
KERNELS = [(7, "dd", 850, 1, 0), (9, "kworker/0:1", 150, 1, 0)]
OURS = [(7, "dd", 851, 1, 0), (9, "kworker/0:1", 149, 1, 0)]
PIECES = {"depth": 4.0, "order": 0.9, "settings": {"readahead_sectors": "16384", "fstype": "ext2"}}
FLASH_SATA = {"driver": "ahci", "settings": {**PIECES["settings"], "rotational": "0"}}
IN_A_ROW = {
    "sectors": 512, "depth": 1.0, "calls": 130_000_000, "number_of_calls": 1000, "readahead": 1024,
    "settings": {"max_sectors_kb": "1280", "max_hw_sectors_kb": "1280", "fstype": "xfs"},
}  # fmt: skip
META = {
    "metadata": 60, "dry": 100, "rows": {(0, 12): 100, (1, 12): 100}, "depth": 8.0,
    "settings": {"readahead_sectors": "16384"},
}  # fmt: skip
FLAT = {
    "depth": 40.0, "rows": {(16, 12): 100, (32, 24): 900}, "at_issue": {16: 100, 32: 900},
    "settings": {"readahead_sectors": "16384"},
}  # fmt: skip
CAPPED = {
    "driver": "nvme", "depth": 2.0, "rows": {(0, 0.75): 2, (1, 24): 998}, "at_issue": {0: 2, 1: 998},
    "d2c": {0.75: 2, 24: 998}, "samples": uneven(40),
}  # fmt: skip
# of two in flight instead of one: so many of 1,000 take as long as one alone, the others four times as long
TWICE = {"driver": "nvme", "depth": 2.0, "at_issue": {0: 9, 1: 1000}, "d2c": {1.0: 9, 2.0: 991}, "samples": uneven(40)}
EMPTIES = {**FLAT, "rows": {**FLAT["rows"], (0, 3.3): 60}, "dry": 60}
PLATTER = {"driver": "ahci", "requests": 6400, "depth": 2.0}
SLOWER = {"d2c": {5.0: 10, 8.0: 990}}
VIRTUAL_SATA = {"rotational": "0", "model": "QEMU HARDDISK"}
THROTTLED = {"driver": "nvme", "d2c": {1.0: 10, 8.0: 990}}
LOCAL = {**THROTTLED, "seconds": 0.06}
MIXED = {"driver": "nvme", "share_of_size": 0.5, "at_issue": {0: 20, 1: 900}}
AMPLIFIED = {"driver": "nvme", "calls": 25 << 20, "order": 0.9, "depth": 4.0, "readahead": 512, "d2c": {8.0: 1000}}
PARITY = {"depth": 4.0, "sectors": 32, "seeks": 1.0}


def sides(key, direction="read", meta=None):
    """Cases of a cause: the arguments that suffice, and those of them that do not."""
    return lambda *cases: [(key, direction, meta or {}, *case) for case in cases]


SIDES = [
    *sides("reset")(
        ({"samples": SILENT, "seconds": 2.75}, {"seconds": 2.4}),  # 1.1 s and 0.96 s of silence
        ({"samples": SILENT}, {"samples": [(0, 0.5, 1, 0.5), (0.5, 0.9, 0.98, 0.0), (0.9, 1, 1, 0.5)]}),
        (
            {"samples": [(0, 0.16, 1, 0.0), (0.16, 1, 1, 1)], "seconds": 40.0},
            {"samples": [(0, 0.14, 1, 0.0), (0.14, 1, 1, 1)]}),
    ),
    *sides("changed")(
        ({"changes": CHANGE, "samples": TWO_RATES}, {"changes": ()}),
        ({"changes": CHANGE, "samples": TWO_RATES}, {"samples": [(0, 0.5, 1, 0.47), (0.5, 1, 1, 0.53)]}),
        ({"changes": CHANGE, "samples": TWO_RATES}, {"changes": [(2 * 10**9, "driver_stats", "a", "b")]}),
    ),
    *sides("degraded")(
        ({**APART, "settings": {"md_degraded": "1"}}, {"settings": {"md_degraded": "0"}}),
        ({**APART, "settings": {"md_degraded": "1"}}, {"seeks": 0.24}),
        ({**APART, "settings": {"md_degraded": "1"}}, {"depth": 1.9}),
        (
            {**APART, "settings": {"controller_events": "Degraded unit"}},
            {"settings": {"controller_events": "Degraded unit\nRebuild completed"}}),
        (
            {"settings": {"controller_events": "Degraded unit\nRebuild started"}},
            {"settings": {"controller_events": "Rebuild started\nRebuild completed"}}),
        *(
            (
                {"settings": {"controller_events": f"{work} started"}},
                {"settings": {"controller_events": f"{work} started\n{work} {end}"}},
            )
            for work in ("Rebuild", "Background initialize", "Verify")
            for end in ("completed", "failed")
        ),
        ({**APART, "settings": {"controller_events": "Rebuild failed"}}, {"depth": 1.9}),
        ({"settings": {"md_sync_action": "recover"}}, {"settings": {"md_sync_action": "idle"}}),
    ),
    *sides("degraded", meta=LAB)(({**APART, "settings": {"md_degraded": "1"}}, {"requests": 12000})),
    *sides("sync", direction="write")(
        ({"flushes": (130, 5.0)}, {"flushes": (130, 4.5)}),
        ({"flushes": (130, 5.0)}, {"flushes": (0, 5.0)}),
        ({"flushes": (125, 6.5)}, {"flushes": (124, 6.5)}),  # 1 MiB, and more, to each
        ({"flushes": (4, 200.0), "requests": 10}, {"flushes": (3, 300.0)}),
    ),
    *sides("discard")(
        ({**SLOWER, "discards": (62, 10.0)}, {"discards": (58, 10.0)}),  # 15.5 and 14.5 % of 4 s
        ({**SLOWER, "discards": (62, 10.0)}, {"d2c": {6.6: 10, 8.0: 990}}),
    ),
    *sides("discard", direction="write")(({**SLOWER, "discards": (4, 200.0)}, {"discards": (3, 300.0)})),
    *sides("competing")(
        ({**CONCURRENT, "other": (200, 9.0)}, {"other": (150, 9.0)}),
        ({**CONCURRENT, "other": (200, 9.0)}, {"other": (200, 6.0)}),
        ({"other": (200, 9.0), "by_command": {"write": 99 << 17}}, {"by_command": {"write": 100 << 17}}),
        ({**CONCURRENT, "other": (200, 9.0)}, {"by_command": None}),
        ({**NOT_OURS, "others": (9,)}, {"others": ()}),
        ({**NOT_OURS, "others": (9,)}, {"submitters": [(7, "dd", 860, 9, 0), (9, "updatedb", 140, 1, 0)]}),
        # by bytes, and by the seeks of one disk: 4 ms each, 15 % of 4 s
        (BY_BYTES, {"submitters": [(7, "dd", 900, MOVED, 0), (9, "updatedb", 100, MOVED * 14 // 100, 0)]}),
        # of 16 % that were queued 2 % may still wait at the end
        (BY_BYTES, {"submitters": [(7, "dd", 900, MOVED * 86 // 100, 0), (9, "updatedb", 100, MOVED * 16 // 100, 0)]}),
        (BY_HEADS, {"submitters": [(7, "dd", 9000, 99, 0), (9, "updatedb", 149, 1, 0)]}),
        (BY_HEADS, {"seeks": 0.149}),
        # 10 % of the bytes, and 6 or 4 % of the time
        ({**BY_HEADS, "submitters": shared(60, 10, 9000)}, {"submitters": shared(40, 10, 9000)}),
        (BY_HEADS, {"driver": "3w-9xxx"}),
        # what does not delay the requests of a disk without heads costs nothing
        ({**ON_FLASH, "d2c": {6.5: 10, 8.0: 990}}, {"d2c": {7.5: 10, 8.0: 990}}),
        ({**ON_FLASH, "d2c": {6.5: 10, 8.0: 990}}, {"settings": {"scheduler": "bfq"}}),  # it shares the disk already
        ({**ON_FLASH, "d2c": {7.5: 10, 8.0: 990}, "i2d_ms": 1.5}, {"i2d_ms": 0.5}),
        ({**ON_FLASH, "d2c": {7.5: 10, 8.0: 990}, "driver": "ahci", "seeks": 0.2}, {"driver": "nvme"}),
        ({**CONCURRENT, "other": (200, 9.0), "driver": "nvme", "d2c": {6.5: 10, 8.0: 990}}, {"d2c": {7.5: 10, 8.0: 990}}),
        ({**NOT_OURS, "others": (9,)}, {"submitters": [(7, "dd", 800, 1, 0), (9, "kworker/0:1", 200, 1, 0)]}),
        ({**CONCURRENT, "other": (200, 9.0), "submitters": KERNELS}, {"submitters": OURS}),
        # many small bios of the other direction, of few bytes and of 15 % of the time of requests, or less
        ({**ON_FLASH, "d2c": {6.5: 10, 8.0: 990}, "other": (200, 7.2)}, {"other": (200, 6.8)}),
    ),
    *sides("competing", direction="write")(
        # of writes that others made the command's reads are others
        (
            {"other": (200, 9.0), "by_command": {"write": 0, "read": 200 << 17}},
            {"by_command": {"write": 128 << 20, "read": 200 << 17}}),
    ),
    *sides("slow part")(
        ({"d2c": SLOW}, {"settings": {"md_sync_action": "recover"}}),
        ({"d2c": SLOW}, {"d2c": {2.0: 100, 10.0: 800, 38.0: 100}}),
        ({"d2c": SLOW}, {"d2c": {3.5: 100, 10.0: 800, 45.0: 100}}),
        ({"d2c": SLOW, "seeks": 0.05}, {"seeks": 0.051}),
        ({"d2c": SLOW, "order": 0.5}, {"order": 0.49}),
        ({"d2c": SLOW, "share_of_size": 0.85}, {"share_of_size": 0.84}),
        ({"d2c": SLOW, "idle": 0.14}, {"idle": 0.16}),
        ({"d2c": SLOW, "other": (49, 0.1)}, {"other": (51, 0.1)}),
    ),
    *sides("parity", direction="write", meta=LAB5)(
        (PARITY, {"sectors": 1408}),
        (PARITY, {"idle": 0.16}),
        (PARITY, {"depth": 1.9}),
        ({**PARITY, "seeks": 0.25}, {"seeks": 0.24}),
        ({**PARITY, "requests": 3190}, {"requests": 3210}),  # 5.02 and 4.98 ms each
    ),
    *sides("queue depth")(
        (SLOTS, {"i2d_ms": 1.9}),
        ({**SLOTS, "idle": 0.45}, {"idle": 0.55}),
        (
            {**SLOTS, "depth": 4.0, "i2d_ms": 9.0, "settings": {"queue_depth": "4"}},
            {"depth": 5.0, "settings": {"queue_depth": "5"}}),
    ),
    *sides("request slots")(
        # of each hardware queue
        ({"depth": 8.0, "q2c_ms": 99.0, "queues": 2, "settings": {"nr_requests": "4"}}, {"queues": 4}),
        ({"depth": 4.0, "q2c_ms": 99.0, "settings": {"nr_requests": "4"}}, {"q2c_ms": 19.0}),
        # the time of bios that were queued before is no wait of those of the phase
        ({"depth": 4.0, "q2c_ms": 99.0, "settings": {"nr_requests": "4"}}, {"ended": 5000}),
    ),
    *sides("scheduler")(
        (HELD, {"i2d_ms": 7.9}),
        ({**HELD, "discards": (58, 10.0)}, {"discards": (62, 10.0)}),  # 14.5 and 15.5 % of 4 s
        (HELD, {"settings": {"scheduler": "none"}}),
        (HELD, {"settings": {"scheduler": "bfq", "queue_depth": "7"}}),
    ),
    *sides("seeks")(
        (READER, {"settings": {"rotational": "0"}}),
        ({**READER, "order": 0.75}, {"order": 0.76}),
        ({**READER, "seeks": 0.25}, {"seeks": 0.24}),
        ({**READER, "sectors": 1024}, {"sectors": 1025}),
        ({**READER, "requests": 3900}, {"requests": 4100}),  # 2.05 and 1.95 ms each
        ({**NEXT, "jump": 16385}, {"jump": 16384}),
        ({**NEXT, "requests": 680}, {"requests": 660}),  # 5.88 and 6.06 ms each
        ({**NEXT, "depth": 2.0}, {"depth": 1.9}),
        ({**NEXT, "direct": 0.49}, {"direct": 0.51}),
        (TURNS, {"streams": 1}),
        ({**TURNS, "depth": 16.0}, {"depth": 15.9}),
        ({**TURNS, "driver": "ahci", "depth": 1.95}, {"depth": 1.85}),  # one disk with heads
        ({**TURNS, "driver": "ahci", "depth": 8.0}, {"driver": "3w-9xxx"}),
        ({**TURNS, "seeks": 0.25}, {"seeks": 0.24}),
        (TURNS, {"settings": {"rotational": "0"}}),
        (READER, {"driver": "virtio-pci"}),
    ),
    *sides("direct")(
        ({**DIRECT, "direct": 0.51}, {"direct": 0.49}),
        ({**DIRECT, "depth": 15.9}, {"depth": 16.0}),
        ({**DIRECT, **READER, "order": 0.76}, {"order": 0.75}),
        # others may make the queue deep, where that delays no read
        ({**DEEP_BY_OTHERS, "d2c": {7.8: 10, 8.0: 990}}, {"d2c": {6.9: 10, 8.0: 990}}),
        # where requests are as many as there may be, the program may ask for more
        (FOUR, {"settings": {"nr_requests": "4"}}),
        ({**FOUR, "depth": 3.4, "settings": {"nr_requests": "4"}}, {"depth": 3.6}),
        # one at a time nothing waits; of a volume behind a network that may be its limit
        (ONE_AT_A_TIME, {"at_issue": {0: 940, 1: 60}}),
        (ONE_AT_A_TIME, {"seconds": 0.4, "d2c": {0.36: 10, 0.4: 990}}),
        # the program keeps more than the disk receives: the others wait before it
        ({**DIRECT, "q2c_ms": 7.9}, {"q2c_ms": 8.1}),
        # a layer above the disk queues its bios
        ({**DIRECT, "submitters": BY_LAYER[0]}, {"submitters": BY_LAYER[1]}),
        # a volume that completes one request at a time at even intervals may be at its limit
        ({**VOLUME, "samples": uneven(6)}, {"samples": uneven(2)}),
        ({**VOLUME, "samples": uneven(6)}, {"samples": uneven(6)[:5]}),
    ),
    *sides("lost merges")(
        (UNMERGED, {"settings": {"nomerges": "0"}}),
        (UNMERGED, {"depth": 7.9}),
        ({**UNMERGED, "sectors": 64}, {"sectors": 65}),
        ({**UNMERGED, "seeks": 0.05}, {"seeks": 0.051}),
    ),
    *sides("no readahead")(({"bios": 4000, "sectors": 64}, {"sectors": 65})),
    *sides("direct", meta=LAB)((DIRECT, {"requests": 11900})),
    *sides("program")(
        ({"idle": 0.16}, {"idle": 0.14}),
        ({"idle": 0.16, "interval": 0.63}, {"interval": 0.65}),  # of 0.64 s
        ({"idle": 0.5, "cpu": 0.24}, {"cpu": 0.26}),
        ({"idle": 0.5, "cpu": 0.1, "kernel": {"kcryptd": 0.14}}, {"kernel": {"kcryptd": 0.16}}),
        ({"idle": 0.5, "kernel": {"system": 0.98, "idle": 1.02}}, {"kernel": {"system": 1.02, "idle": 0.98}}),
    ),
    # bios that wait while the disk is idle
    *sides("program")(({"idle": 0.5, "q2c_ms": 4.9}, {"q2c_ms": 5.1})),
    *sides("program", meta=SIMULATED)(({"idle": 0.5, "cpu": 0.5}, {"idle": 0.1})),
    *sides("processor")(
        # Computing and the busy disk together take the time; where they do not, something else does.
        ({"idle": 0.5, "cpu": 0.38}, {"cpu": 0.37}),
        ({"idle": 0.5, "kernel": {"kcryptd": 0.38}}, {"kernel": {"kcryptd": 0.37}}),
        ({"idle": 0.5, "cpu": 0.1, "kernel": {"kcryptd": 0.28}}, {"cpu": 0.09}),
        ({"idle": 0.5, "cpu": 0.28, "kernel": {"kcryptd": 0.1}}, {"cpu": 0.27}),
    ),
    *sides("processor", direction="write")(({"idle": 0.5, "kernel": {"md": 0.38}}, {"kernel": {"md": 0.37}})),
    *sides("program", meta=BELOW)(
        # the kernel computes for somebody, below dm or md
        ({"idle": 0.5, "kernel": {"system": 0.24}}, {"kernel": {"system": 0.26}}),
        ({"idle": 0.5, "cpu": 0.1, "kernel": {"system": 0.34}}, {"cpu": 0.05}),
    ),
    *sides("pieces")(
        ({**PIECES}, {"depth": 64.0}),
        ({**PIECES, **FLASH_SATA, "seconds": 0.281}, {"seconds": 0.279}),  # 445 and 448 MiB/s
        ({**PIECES}, {"settings": {"readahead_sectors": "16384"}}),
        ({**PIECES, "order": 0.98}, {"order": 0.99}),
        ({**PIECES, "idle": 0.14}, {"idle": 0.16}),
        ({**PIECES, "order": 0.5}, {"order": 0.49}),
        # files that lie next to each other: requests of 256 KiB, by calls of less than half
        (IN_A_ROW, {"calls": 132000000}),
        # a mapping: the calls returned less than a quarter of the bytes
        (IN_A_ROW, {"calls": 65_000_000}),
        (IN_A_ROW, {"readahead": 1023}),
        (IN_A_ROW, {"by_command": {"read": 1}}),
        # a disk at its rate has no use for more files at once
        ({**IN_A_ROW, "driver": "nvme", "seconds": 0.06}, {"d2c": {1.0: 10, 8.0: 990}}),
        # half of a window in flight, in requests as large as they can be
        ({**IN_A_ROW, "sectors": 2048, "readahead": 5120, "calls": 520_000_000, "number_of_calls": 4000}, {"depth": 1.1}),
        ({**IN_A_ROW, "idle": 0.14}, {"idle": 0.16}),
    ),
    *sides("file system")(
        (META, {"metadata": 19}),
        ({**META, "dry": 42}, {"dry": 41}),
        ({**META, "other": (149, 0.01)}, {"other": (151, 0.01)}),
        ({**META, "metadata": 849}, {"metadata": 850}),
    ),
    *sides("request size")(
        (CUT, {"splits": 0}),
        (CUT, {"settings": {"max_sectors_kb": "8", "readahead_sectors": "240"}}),
        ({**CUT, **NARROW, "depth": 31.6}, {"depth": 31.4}),
        (CUT, {"sectors": 14}),
        ({**CUT, "share_of_size": 0.51}, {"share_of_size": 0.49, "sectors": 16}),
        (
            {**CUT, "sectors": 64, "settings": {"max_sectors_kb": "32", "readahead_sectors": "16384"}},
            {"sectors": 66, "settings": {"max_sectors_kb": "33", "readahead_sectors": "16384"}}),
    ),
    *sides("readahead")(
        ({"depth": 4.1}, {"depth": 4.3}),
        ({"readahead": 512, "depth": 1.92}, {"depth": 1.88}),
        ({"depth": 8.3, "streams": 2}, {"streams": 1}),
        ({"order": 0.5}, {"order": 0.49}),
        ({"requests": 10}, {"requests": 9}),
        ({"direct": 0.49}, {"direct": 0.51}),
        ({"ahead": 0.51}, {"ahead": 0.49}),
        ({"depth": 10.0, "settings": {"readahead_sectors": "2047"}}, {"settings": {"readahead_sectors": "2048"}}),
        ({"depth": 31.0, "streams": 31}, {"streams": 32}),
        ({"settings": {"queue_depth": "2"}, "depth": 2.0}, {"settings": {"queue_depth": "1", "readahead_sectors": "512"}}),
        (
            {"driver": "nvme", "rows": {(0, 0.75): 2, (1, 0.75): 998}, "at_issue": {0: 2, 1: 998}},
            {"rows": {(0, 0.75): 2, (1, 1.5): 998}}),
        # requests take twice as long with four times as many in flight: still twice as fast
        (
            {"driver": "nvme", "rows": {(0, 0.75): 900, (3, 1.5): 900}, "at_issue": {0: 900, 3: 900}},
            {"rows": {(0, 0.75): 900, (3, 6.0): 900}}),
        ({"driver": "nvme"}, CAPPED),
        ({"driver": "nvme"}, {"d2c": {8.0: 900, 7.0: 100}}),  # the fastest against the mean of 8 ms
        ({"driver": "nvme", "d2c": {8.0: 900, 7.0: 100}, "share_of_size": 0.84}, {"share_of_size": 0.85}),
    ),
    *sides("readahead", meta=LAB)(({"requests": 11300}, {"requests": 12000})),
    *sides("device")(
        (CAPPED, {"driver": "3w-9xxx"}),
        ({**CAPPED, "requests": 40, "samples": uneven(90)}, {"requests": 23}),
        ({**CAPPED, "d2c": {18: 2, 24: 998}}, {"d2c": {20: 2, 24: 998}}),
        (CAPPED, {"rows": {(0, 0.75): 2, (1, 0.75): 998}}),  # twice in flight, twice as fast
        (CAPPED, {"rows": {(0, 0.75): 900, (1, 24): 9}, "at_issue": {0: 9, 1: 900}}),
        ({**CAPPED, "idle": 0.14}, {"idle": 0.16}),
        (PLATTER, {"driver": "3w-9xxx"}),  # one disk with heads that reads in order without a pause: its platters
        (PLATTER, {"settings": {"rotational": "0"}}),
        ({**PLATTER, "idle": 0.04}, {"idle": 0.06}),
        ({**PLATTER, "order": 0.86}, {"order": 0.84}),
        ({**PLATTER, "seeks": 0.14}, {"seeks": 0.16}),
        ({**PLATTER, "requests": 1930}, {"requests": 1900}),  # 60.3 and 59.4 MiB/s
        (PLATTER, {"streams": 2}),
        # from there on it is the rate of a local disk, where requests wait for each other most of the time
        ({**THROTTLED, "seconds": 0.06}, {"seconds": 0.09}),
        ({**LOCAL, "d2c": {3.4: 10, 8.0: 990}}, {"d2c": {4.2: 10, 8.0: 990}}),
        ({**LOCAL, "samples": uneven(6)}, {"samples": uneven(7)}),
        ({**LOCAL, "idle": 0.14}, {"idle": 0.16}),
        (LOCAL, {"driver": "ahci", "streams": 2}),
        (FLAT, {"rows": {(16, 12): 100, (32, 16): 900}}),
        # less than 15 % more for twice the depth
        (
            {**FLAT, "rows": {(16, 12): 10, (32, 24): 720, (32, 12): 280}},
            {"rows": {(16, 12): 10, (32, 24): 660, (32, 12): 340}}),
        ({**TWICE, "rows": {(0, 12): 10, (1, 12): 752, (1, 48): 248}}, {"rows": {(0, 12): 10, (1, 12): 755, (1, 48): 245}}),
        (FLAT, {"rows": {(16, 12): 9, (32, 24): 900}}),
        ({**FLAT, "sectors": 65}, {"sectors": 64}),
        ({**FLAT, "seeks": 0.05}, {"seeks": 0.051}),
        ({**FLAT, "idle": 0.14}, {"idle": 0.16}),
        (FLAT, {"rows": {(8, 12): 100, (16, 24): 900}, "at_issue": {8: 100, 16: 900}}),
        # a request alone takes 3.3 ms by its bin; a queue that runs empty so often has no ceiling
        (EMPTIES, {"dry": 64}),
        ({**EMPTIES, "dry": 9, "idle": 0.1}, {"dry": 10}),
        ({**EMPTIES, "dry": 20, "idle": 0.02}, {"idle": 0.04}),
        ({**FLAT, "other": (300, 90.0)}, {"other": (300, 96.0)}),  # nor has a disk that serves the other direction, too
    ),
    *sides("throttled")(
        (THROTTLED, {"driver": "3w-9xxx"}),  # a limit of the volume: an even rate, while requests wait
        ({**THROTTLED, "driver": "ahci", "settings": VIRTUAL_SATA}, {"settings": {"rotational": "0"}}),
        ({**THROTTLED, "driver": "ahci", "settings": {"model": "QEMU HARDDISK"}}, {"settings": {"model": "ST1000DM003"}}),
        ({**THROTTLED, "d2c": {6.0: 10, 8.0: 990}}, {"d2c": {6.6: 10, 8.0: 990}}),
        ({**THROTTLED, "requests": 300, "samples": uneven(6)}, {"samples": uneven(9)}),
        ({**THROTTLED, "samples": uneven(3)}, {"samples": uneven(4)}),  # of some 600 requests
        ({**THROTTLED, "sectors": 8, "seconds": 0.021}, {"seconds": 0.019}),  # 48 and 53 thousand a second
        ({**THROTTLED, "share_of_size": 0.86}, {"share_of_size": 0.84}),
        # of requests of several sizes, by what more in flight takes
        ({**MIXED, "rows": {(0, 3): 20, (1, 9): 900}}, {"rows": {(0, 9): 20, (1, 9): 900}}),
        ({**MIXED, "rows": {(0, 3): 20, (1, 9): 900}}, {"rows": {(1, 9): 900}}),
        ({**THROTTLED, "seconds": 0.09}, {"seconds": 0.06}),  # 1.4 and 2.1 GB/s
        ({**THROTTLED, "idle": 0.14}, {"idle": 0.16}),
        ({**THROTTLED, "idle": 0.6, "at_issue": {0: 960, 1: 40}}, {"at_issue": {0: 940, 1: 60}}),
        # a program that sleeps between reads that take 8 ms instead of 1: 20 and 17 of them a second
        ({**THROTTLED, "idle": 0.8, "at_issue": {0: 1000}, "seconds": 50.0}, {"seconds": 60.0}),
        ({**THROTTLED, "requests": 20}, {"requests": 10}),
    ),
    *sides("throttled", direction="write")(
        (THROTTLED, {"driver": "3w-9xxx"}),
        (THROTTLED, {"driver": "ahci"}),  # a turn of the platter is as even
    ),
    *sides("read amplification")(
        (AMPLIFIED, {"calls": 33 << 20}),  # bytes that nobody requested
        ({**AMPLIFIED, "calls": 31 << 20}, {"calls": 32 << 20}),
        ({**AMPLIFIED, "ahead": 0.51}, {"ahead": 0.49}),
        ({**AMPLIFIED, "order": 0.99}, {"order": 0.991}),
        ({**AMPLIFIED, "idle": 0.14}, {"idle": 0.16}),
        ({**AMPLIFIED, "depth": 2.1, "d2c": {24.0: 1000}}, {"depth": 1.9}),
        ({**AMPLIFIED, "depth": 1.9, "d2c": {18.0: 1000}}, {"d2c": {24.0: 1000}}),
        ({**AMPLIFIED, "depth": 1.9, "d2c": {18.0: 1000}}, {"driver": "ahci"}),
        (AMPLIFIED, {"readahead": 504}),
        # a place takes 40 ms; where the fastest read takes nearly as long, less readahead gains nothing without heads
        ({**AMPLIFIED, "d2c": {32.0: 1000}}, {"d2c": {36.0: 1000}}),
        ({**AMPLIFIED, "d2c": {36.0: 1000}, "driver": "ahci"}, {"driver": "nvme"}),
        ({**AMPLIFIED, "calls": 0, "faults": 400}, {"faults": 401}),
        (AMPLIFIED, {"by_command": {"read": 1}}),
    ),
    # 113.7 MiB/s, as the paper has it of this array: of 1 / (1 / 215000 + 1 / 264500) KiB/s 98 %
    *sides("controller", direction="write", meta=LAB5)(({"requests": 3640}, {"requests": 3100})),
    *sides("controller", meta=LAB)(
        ({**EMPTIES, "requests": 12000}, {"dry": 64}),
        ({"requests": 12000}, {"idle": 0.16}),
        ({"requests": 11800}, {"requests": 11700}),
    ),
]  # fmt: skip


def arguments(text):
    """`readahead` is short for its setting."""
    text = dict(text)
    if "readahead" in text:
        text["settings"] = {"readahead_sectors": str(text.pop("readahead")), **text.get("settings", {})}
    return text


NAMES = {
    "controller": ("controller", "drives", "device"),
    "processor": ("processor", "program"),
    "queue depth": ("queue depth", "request slots"),
    "request slots": ("queue depth", "request slots"),
}


@pytest.mark.parametrize("case", SIDES, ids=lambda case: f"{case[0]}: {case[4]}"[:60])
def test_enough_is_inferred_with_a_remedy_and_too_little_is_not(case):
    """The title is in explain.rst, and fits behind the other columns of report, in 80."""
    key, direction, meta, enough, little = case
    keys = NAMES.get(key, (key,))
    limit = judged(keys, meta, direction, **arguments(enough))
    assert (limit.key, limit.verdict) == (key, INFERRED), limit
    assert limit.remedy and len(limit.title) <= 17
    assert limit.state and 0 < (limit.share or 0) <= 1
    assert f"*{limit.title}*" in (TOP / "Documentation/explain.rst").read_text(encoding="utf-8")
    other = judged(keys, meta, direction, **arguments({**enough, **little}))
    assert other.verdict is not INFERRED or other.key != key, other


RESETS = [(1, "driver_stats", "SCSI Host Resets: 0", "SCSI Host Resets: 2")]
WRITES = {"direction": "write"}
FEW_DIRTY = {"idle": 0.5, "machine": {"vm.dirty_bytes": str(64 << 20)}}
SMALL_BIOS, LARGER_BIOS = {"depth": 1.0, "sectors": 64}, {
    "depth": 1.0,
    "sectors": 65,
}  # a quarter of a window, and more
FULL_SLOTS = {"driver": "nvme", "depth": 4.0, "q2c_ms": 17.0, "settings": {"nr_requests": "4"}}
BFQ = {"i2d_ms": 9.0, "settings": {"scheduler": "bfq", "queue_depth": "32"}}
RSYNC = {"submitters": [(7, "dd", 250, 0, 0), (9, "rsync", 750, 0, 0)], "others": (9,)}
ALWAYS_THERE = {**ON_FLASH, "d2c": {7.5: 10, 8.0: 990}}
SYSTEM = {"idle": 0.5, "kernel": {"system": 0.9}}
HALF_COMPUTED = {"idle": 0.602, "cpu": 0.382}
DEEP = {"depth": 64.0, "i2d_ms": 300.0, "settings": {"queue_depth": "64", "readahead_sectors": "16384"}}
NO_EVENTS = {"controller_events": None}
MISSING = {"controller_events": "Drive removed\\nDegraded unit"}


def at_begin(part):
    """A change after a tenth of the time, in which this part moved."""
    return {
        "changes": [(4 * 10**8, "readahead_sectors", "256", "16")],
        "samples": [(0, 0.1, 1, part), (0.1, 1, 1, 1 - part)],
    }


VERDICTS = {
    "a reset that took no time": ("reset", OPEN, {"changes": RESETS}),
    # 1.6 s of 4 without a completed byte, 1.5 of them with a flush in flight, as when a cache is emptied
    "a disk that flushes is not silent": ("reset", OPEN, {**WRITES, "samples": SILENT, "flushes": (1, 1500.0)}),
    "a flush shorter than the silence": ("reset", INFERRED, {**WRITES, "samples": SILENT, "flushes": (1, 1300.0)}),
    "a reset while it flushes": ("reset", INFERRED, {**WRITES, "samples": SILENT, "flushes": (1, 1500.0), "changes": RESETS}),
    "without samples nothing is known of silence": ("reset", UNKNOWN, {"samples": []}),
    "errors, whatever they cost": ("errors", OPEN, {"errors": 3}),
    "no error": ("errors", OUT, {}),
    "events of a controller without a missing drive": ("degraded", UNKNOWN, {}),
    "a missing drive that costs little": ("degraded", OPEN, {"settings": MISSING}),
    "a driver that says nothing of its drives": ("degraded", UNKNOWN, {"settings": NO_EVENTS}),
    "md reports no missing drive": (
        "degraded", OUT, {"settings": {**NO_EVENTS, "md_degraded": "0"}}),
    "reads that take not very differently": ("slow part", OPEN, {"d2c": {2.0: 100, 10.0: 800, 21.0: 100}}),
    "reads that take alike": ("slow part", OUT, {"d2c": {2.0: 100, 10.0: 800, 19.0: 100}}),
    "few bytes may be unwritten": ("program", OPEN, {**WRITES, **FEW_DIRTY}),
    "few bytes may be unwritten, but the writes are direct": ("program", INFERRED, {**WRITES, **FEW_DIRTY, "direct": 0.6}),
    "few bytes may be unwritten, but these are reads": ("program", INFERRED, FEW_DIRTY),
    **{
        f"vm.dirty_bytes is {text}": ("program", INFERRED, {**WRITES, "idle": 0.5, "machine": {"vm.dirty_bytes": text}})
        for text in ("0", str((64 << 20) + 1), "n/a")
    },
    "no readahead, with bios of a quarter of a window": ("no readahead", INFERRED, SMALL_BIOS),
    "readahead, with bios of a quarter of a window": ("readahead", OUT, SMALL_BIOS),
    "no readahead, with larger bios": ("no readahead", OUT, LARGER_BIOS),
    "readahead, with larger bios": ("readahead", INFERRED, LARGER_BIOS),
    "small bios out of order": ("no readahead", OUT, {**SMALL_BIOS, "order": 0.49}),
    "small bios past the cache": ("no readahead", OUT, {**SMALL_BIOS, "direct": 0.51}),
    "readahead is off": ("no readahead", OUT, {**SMALL_BIOS, "settings": {"readahead_sectors": "0"}}),
    "small bios that write": ("no readahead", OUT, {**SMALL_BIOS, **WRITES}),
    "small bios of ext4": ("no readahead", OPEN, {**SMALL_BIOS, "settings": {"fstype": "ext4"}}),
    "pieces end where little metadata is read": ("pieces", INFERRED, {**PIECES, "metadata": 49}),
    "pieces end where metadata is read, may be of one file": ("pieces", OPEN, {**PIECES, "metadata": 50}),
    "a deep queue that is full": ("queue depth", OPEN, DEEP),
    "slots that are full without a wait": ("request slots", OPEN, FULL_SLOTS),
    "slots that are not full": ("request slots", OUT, {**FULL_SLOTS, "depth": 3.4}),
    "a large readahead": ("readahead", OPEN, {"depth": 20.0, "settings": {"readahead_sectors": "4096"}}),
    "computing takes no simulated time": ("program", INFERRED, {"meta": SIMULATED, "idle": 0.5, "kernel": {"kcryptd": 0.4}}),
    # QEMU limited a disk to 41 of 100 IOPS: 0.38 of a processor, and 60 % of the time without a request
    "computing explains a wait in part": ("program", OPEN, HALF_COMPUTED),
    "the kernel's time on a disk by itself": ("program", INFERRED, {"meta": {"host_available": "cpu command-cpu"}, **SYSTEM}),
    "the kernel's time in the lab": ("program", INFERRED, {"meta": {**BELOW, **SIMULATED}, **SYSTEM}),
    "a change at the begin that gains little": ("changed", OPEN, at_begin(0.07)),
    "a change at the begin that gains more": ("changed", INFERRED, at_begin(0.05)),
    "a change before the first sample ended": (
        "changed", OPEN, {"changes": [(10**9, "scheduler", "none", "bfq")], "samples": TWO_RATES}),
    "parity of a disk that is not md": ("parity", UNKNOWN, {**WRITES, **PARITY}),
    "one flush": ("sync", OPEN, {**WRITES, "flushes": (1, 960.0)}),
    "flushes next to reads": ("sync", OUT, {"flushes": (100, 9.6)}),
    # requests that found the disk idle, of 1,000: below 5 % the fastest one says nothing
    "others that are not always there": ("competing", OUT, {**ALWAYS_THERE, "at_issue": {0: 51, 1: 949}}),
    "others may delay the fastest request, too": ("competing", OPEN, {**ALWAYS_THERE, "at_issue": {0: 49, 1: 951}}),
    "a scheduler that holds back": ("scheduler", INFERRED, BFQ),
    "a scheduler may hold back the others": ("scheduler", OPEN, {**BFQ, **RSYNC}),
    "the largest request was not recorded": (
        "request size", UNKNOWN, {**CUT, "settings": {"max_sectors_kb": "8", "max_hw_sectors_kb": ""}}),
    "the size of requests was not recorded": ("request size", UNKNOWN, {**CUT, "settings": {"max_sectors_kb": ""}}),
    "the limit of the hardware was not recorded": ("request size", UNKNOWN, {"settings": {"max_hw_sectors_kb": None}}),
    "the scheduler is empty": ("scheduler", UNKNOWN, {**HELD, "settings": {"scheduler": "", "queue_depth": "9"}}),
    "the scheduler was not recorded": ("scheduler", UNKNOWN, {"settings": {"scheduler": None}}),
    "pieces, and readahead was not recorded": ("pieces", UNKNOWN, {"settings": {"readahead_sectors": None}}),
    "readahead was not recorded": ("readahead", UNKNOWN, {"settings": {"readahead_sectors": None}}),
    "the queue depth was not recorded": ("queue depth", OUT, {"settings": {"queue_depth": None}}),
    "direct, and nothing was in flight": ("direct", UNKNOWN, {"idle": 1.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", VERDICTS)
def test_open_ruled_out_or_not_known(name):
    key, expected, facts = VERDICTS[name]
    assert verdict(NAMES.get(key, (key,)), **facts) is expected


STATEMENTS = {
    "resets are counted": ("reset", "2 times", {"changes": RESETS}),
    "resets that took time": ("reset", "reset its controller 2 times", {"changes": RESETS, "samples": SILENT}),
    "silence without a reset": ("reset", "the recording does not show the reason", {"samples": SILENT}),
    "a flush while it is silent": ("reset", "a flush was in flight", {**WRITES, "samples": SILENT, "flushes": (1, 1500.0)}),
    "requests of the largest size": ("request size", "100.0% of the requests have the largest size", {}),
    "no request of the largest size": ("request size", "; 0.0% of the requests have the largest size", {"sectors": 8}),
    "streams take turns": ("seeks", "with 24.0 requests in flight", TURNS),
    "the table of streams is full": ("seeks", "may be more streams than the table", {**TURNS, "streams": 16}),
    "the table of streams has room": ("seeks", Without("may be more streams than the table"), TURNS),
    "errors are counted": ("errors", "3 reads failed", {"errors": 3}),
    "one error is one read": ("errors", "1 read failed", {"errors": 1}),
    "what a controller reported": (
        "degraded", 'the controller reported: "Degraded unit"; its cost',
        {"settings": MISSING}),
    "how much may be unwritten": ("program", "65536 KiB", {**WRITES, **FEW_DIRTY}),
    "readahead has no part past the cache": ("readahead", "bypassed the page cache", {"direct": 0.6}),
    "readahead has no part out of order": ("readahead", "continue a stream", {"order": 0.4}),
    "readahead has no part where little is read ahead": ("readahead", "read ahead", {"ahead": 0.4}),
    "readahead has no part in writes": ("readahead", "does not apply to writes", WRITES),
    "several streams": ("readahead", "each of up to 4 streams", {"streams": 4, "depth": 7.0}),
    "one stream is not called several": ("readahead", Without("streams"), {}),
    "in flight twice what the setting predicts": ("readahead", "POSIX_FADV_SEQUENTIAL", {"depth": 4.0}),
    "in flight as the setting predicts": ("readahead", Without("POSIX_FADV_SEQUENTIAL"), {"depth": 2.0}),
    "a wait before it queues": ("request slots", "before it queues", FULL_SLOTS),
    "a queue that ran empty does not contradict a busy disk": (
        "device", "the queue ran empty 120 times: the disk had at most one request for", {**EMPTIES, "dry": 120}),
    "dm-crypt computed more": ("processor", "dm-crypt", {"idle": 0.5, "cpu": 0.3, "kernel": {"kcryptd": 0.4}}),
    "the command computed more": ("processor", "the command", {"idle": 0.5, "cpu": 0.3, "kernel": {"kcryptd": 0.29}}),
    "how much was computed": ("program", "0.38 of a processor", HALF_COMPUTED),
    "one change has none after it": ("changed", Without("others after it"), {"changes": CHANGE, "samples": TWO_RATES}),
    "of two changes the second is named": (
        "changed", "others after it", {"changes": [*CHANGE, (3 * 10**9, "scheduler", "none", "bfq")], "samples": TWO_RATES}),
    "how many were late": ("slow part", "10% of the sequential reads", {"d2c": SLOW}),
    "the rate of one disk in requests": (
        "device", "250 reads a second: with about 2 in flight instead of 1 the rate is 0% higher, so a higher depth", CAPPED),
    "rows of eight are enough to look for a ceiling": (
        "device", "with 8 or more in flight the throughput is",
        {"depth": 9.0, "rows": {(4, 12): 100, (8, 12): 900}, "at_issue": {4: 100, 8: 900}}),
    "pieces are not short": ("pieces", "so the runs are not shorter", {**PIECES, "order": 0.99}),
    "pieces that no stream continues": ("pieces", "but only 49.0% of the bios continue", {**PIECES, "order": 0.49}),
    "pieces on a disk without a file system": (
        "pieces", "but no file system was mounted", {**PIECES, "settings": {"readahead_sectors": "16384"}}),
    "pieces with a window in flight": ("pieces", "but a whole readahead window", {**PIECES, "depth": 64.0}),
    "pieces, and the disk waited": ("pieces", "but the disk waited", {**PIECES, "idle": 0.16}),
    "a depth that varies by less than twice": (
        "device", "the depth varied too little", {"depth": 5.0, "rows": {(4, 12): 1000}, "at_issue": {4: 1000}}),
    "who writes next to reads": ("competing", "queued by jbd2/sda-8", {
        **CONCURRENT, "other": (400, 9.0), "submitters": [(7, "dd", 10, 1, 0), (3, "jbd2/sda-8", 5, 9, 0)]}),
    "concurrent reads of an unknown process": ("competing", Without("queued by"), {
        **WRITES, "other": (400, 9.0), "submitters": [(3, "jbd2/sda-8", 5, 9, 0)]}),
    "who the others are": ("competing", "mostly updatedb (pid 9)", {**NOT_OURS, "others": (9,)}),
    "flushes next to writes": (
        "sync", "200 flushes for 1000 writes were in flight for 24% of the time", {**WRITES, "flushes": (200, 4.8)}),
    "one flush": ("sync", "1 flush was in flight for 24% of the time, after 125.0 MiB", {**WRITES, "flushes": (1, 960.0)}),
}  # fmt: skip
WIDE = {"max_hw_sectors_kb": "65536", "readahead_sectors": "256"}
FULL = {"driver": "virtio-pci", "d2c": {1.0: 10, 8.0: 990}, "sectors": 2560}
TAGS = {**FULL_SLOTS, "q2c_ms": 99.0, "settings": {"nr_requests": "4", "scheduler": "none"}}
SHORT = {"depth": 2.0, "i2d_ms": 10.0}
REMEDIES = {
    "the largest request that the disk takes": ("request size", "echo 128 >", CUT),
    "the largest request that another disk takes": (
        "request size", "echo 96 >", {**CUT, "settings": {"max_sectors_kb": "8", "max_hw_sectors_kb": "96"}}),
    "small direct reads may be larger": ("direct", "read in larger pieces", {**DIRECT, "sectors": 127}),
    "large direct reads need not be larger": ("direct", Without("read in larger pieces"), {**DIRECT, "sectors": 128}),
    "a missing drive": ("degraded", "replace the drive", {"settings": MISSING}),
    "larger requests on a throttled volume": (
        "throttled", "max_sectors_kb", {**FULL, "settings": {**WIDE, "max_sectors_kb": "1279"}}),
    "larger requests are not the present setting": (
        "throttled", Without("max_sectors_kb"), {**FULL, "settings": {**WIDE, "max_sectors_kb": "1280"}}),
    "flushes of a drive, which has no battery": ("sync", "power-loss", {**WRITES, "driver": "nvme", "flushes": (130, 5.0)}),
    "flushes of a controller, which has a battery": ("sync", "battery", {**WRITES, "flushes": (130, 5.0)}),
    "threads of md": ("processor", "group_thread_cnt", {"idle": 0.5, "cpu": 0.3, "kernel": {"md": 0.4}}),
    "the file of a queue depth": (
        "queue depth", "echo 32 >/sys/block/sda/device/queue_depth", {**SHORT, "settings": {"queue_depth": "2"}}),
    "the file of request slots": (
        "request slots", "echo 256 >/sys/block/sda/queue/nr_requests", {**SHORT, "settings": {"nr_requests": "2"}}),
    "readahead for one reader": ("readahead", "setra 16384 /dev/sda", {}),
    "less readahead for many readers together": ("readahead", "setra 4096 /dev/sda", {"streams": 4, "depth": 7.0}),
    "without a scheduler as many requests as may be": ("request slots", "echo 256 >", {**TAGS, "tags": 300}),
    "without a scheduler no more than tags": ("request slots", "echo 32 >", {**TAGS, "tags": 32}),
    "with a scheduler more requests than tags": (
        "request slots", "echo 256 >", {**TAGS, "tags": 32, "settings": {"nr_requests": "4", "scheduler": "mq-deadline"}}),
    # limits whose remedy may help at the rate of one disk
    "less readahead at the rate of a disk": ("device", "Readahead is 4 MiB and may fetch data that the program does not use", {
        **CAPPED, "settings": {"readahead_sectors": "8192"}}),
    "larger requests where readahead is smaller": ("device", "larger requests move more", {
        **CAPPED, "settings": {"readahead_sectors": "8190", "max_hw_sectors_kb": "128"}}),
    "larger requests where little is read ahead": (
        "device", "larger requests move more", {**CAPPED, "ahead": 0.4, "settings": {"readahead_sectors": "8192"}}),
    "requests of the size that the hardware takes": ("device", "echo 512 >/sys/block/sda/queue/max_sectors_kb", {
        **CAPPED, "sectors": 256, "settings": {"max_hw_sectors_kb": "512"}}),
    "requests no larger than Linux makes": ("device", "echo 1280 >/sys/block/sda/queue/max_sectors_kb", {
        **CAPPED, "sectors": 256, "settings": {"max_hw_sectors_kb": "4096"}}),
    "more readahead for small reads": ("device", "larger requests move more: blockdev --setra 4096", {
        **CAPPED, "sectors": 64, "settings": {"max_hw_sectors_kb": "128"}}),
    "larger reads where readahead does not make them": ("device", "counts requests, larger requests move more", {
        **CAPPED, "sectors": 65, "settings": {"max_hw_sectors_kb": "128"}}),
}  # fmt: skip


@pytest.mark.parametrize(("chunk_kib", "expected"), [(16, OUT), (34, OPEN), (0, OPEN)])
def test_md_may_be_why_requests_of_a_member_are_small(chunk_kib, expected):
    """They have 32 KiB, or the size of a chunk."""
    above = phase(settings={"readahead_sectors": "1024", "md_chunk_bytes": str(chunk_kib << 10)})
    every_limit = limits.limits(Reading("A", phase(**SMALL_BIOS), above), "read", {})
    limit = next(limit for limit in every_limit if limit.key == "no readahead")
    assert limit.verdict is expected and "divides" in limit.statement


@pytest.mark.parametrize(("reissued", "expected"), [(0, INFERRED), (40, OUT)])
def test_a_request_that_is_issued_again_is_no_other_load(reissued, expected):
    """160 of 1,160 requests are below 15 %, 200 of 1,200 are not."""
    observed = phase(**CONCURRENT, other=(200, 9.0))
    observed.span.flow["write"]["reissued"] = reissued
    every_limit = limits.limits(Reading("A", observed), "read", {})
    assert next(limit for limit in every_limit if limit.key == "competing").verdict is expected


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_says(name):
    key, text, facts = STATEMENTS[name]
    statement = judged(NAMES.get(key, (key,)), **arguments(facts)).statement
    assert fits(text, statement), statement


@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_says(name):
    key, text, facts = REMEDIES[name]
    remedy = judged(NAMES.get(key, (key,)), **facts).remedy
    assert fits(text, remedy), remedy


def test_the_parts_around_a_change_count_from_the_beginning_of_the_recording():
    for meta, at in (({"start_ns": str(-3 * 10**9)}, "5.0"), ({}, "2.0")):
        result = judged("changed", meta, changes=CHANGE, samples=TWO_RATES)
        assert result.remedy.endswith(f"raidctl explain --to {at}, and --from {at}")
        assert "2.0 s into the phase" in result.statement


def test_what_took_most_of_the_time_comes_first():
    assert first(**DIRECT, idle=0.51) == "program"
    assert first(**DIRECT, idle=0.49) == "direct"


@pytest.mark.parametrize("direction", ["read", "write"])
def test_where_nothing_ended_that_is_the_longest_time(direction):
    silent, usual = (
        chain.longest(Reading("A", phase(direction=direction, **more)), direction) for more in ({"samples": SILENT}, {})
    )
    assert silent == "; no request completed for 1.60 s from 2.00 s on"
    assert usual == "; slowest request 1 to 2 ms, completed 2.00 s into the phase"


def test_a_name_of_a_value_is_of_one_quantity():
    """The bytes of calls, and those with pages of mappings, differ by the pages of the program itself."""
    observed = phase(**arguments(AMPLIFIED), faults=100)
    text = chain.single(Reading("A", observed), "read", {})
    values = [value for one in (*text.links, *text.limits) for value in one.values]
    result = {value.name: {other.value for other in values if other.name == value.name} for value in values}
    assert {name for name, several in result.items() if len(several) > 1} == set()
    assert result["asked"] == {25 << 20} and result["asked-with-faults"] == {(25 << 20) + 100 * 4096}


def test_the_rate_of_one_disk_is_not_called_an_array_s():
    limit = judged("device", **CAPPED)
    assert limit.title == "Rate of the disk" and "array" not in limit.statement + limit.remedy


CEILINGS = ("controller", "drives", "device")


def test_the_ceiling_of_the_first_simulated_device_is_not_another_ones():
    assert judged(CEILINGS, LAB, **{**CAPPED, "requests": 13824}).key == "device"


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("controller.read_kib_s", 4425000, "drives"),  # 824 MiB/s of 12 drives, where 375 come
        ("array.drives", 5, "drives"),  # 343 MiB/s
        ("array.drives", 7, "controller"),  # 481 MiB/s, more than the controller's 432
    ],
)
def test_the_ceiling_is_that_of_what_was_simulated_and_not_of_the_profile_of_its_name(key, value, named):
    pairs = [pair if pair.partition("=")[0] != key else f"{key}={value}" for pair in LAB["lab_config"].split(",")]
    limit = judged(CEILINGS, {"lab_config": ",".join(pairs)}, requests=12000)
    if key == "controller.read_kib_s":
        assert limit.verdict is not INFERRED
    else:
        assert (limit.key, limit.verdict) == (named, INFERRED)


@pytest.mark.parametrize("lost", ["array.drives", "controller.read_kib_s", "drive.media_outer_kib_s", "array.level"])
def test_what_is_not_recorded_has_no_ceiling(lost):
    known = ",".join(pair for pair in LAB["lab_config"].split(",") if not pair.startswith(lost))
    for meta in ({"lab_config": known}, {"simulated": "yes", "lab_profile": "9500s-12-raid0"}):
        assert judged(CEILINGS, meta, requests=12000).verdict is not INFERRED


@pytest.mark.parametrize(
    ("level", "sectors", "expected"), [("raid5", 255, INFERRED), ("raid5", 256, OUT), ("raid0", 8, OUT)]
)
def test_parity_is_of_the_md_above_where_there_is_one(level, sectors, expected):
    """A member of an md of three disks with chunks of 64 KiB, which is written in parts of so many sectors."""
    above = phase(settings={"md_level": level, "md_raid_disks": "3", "md_chunk_bytes": "65536"})
    observed = phase(direction="write", depth=4.0, sectors=sectors, seeks=1.0)
    every_limit = limits.limits(Reading("A", observed, above), "write", {})
    assert next(limit.verdict for limit in every_limit if limit.key == "parity") is expected


def test_time_that_something_took_bounds_what_is_to_gain():
    up, down = (
        judged("changed", changes=CHANGE, samples=[(0, 0.5, 1, part), (0.5, 1, 1, 1 - part)]) for part in (0.4, 0.6)
    )
    assert up.gain == (pytest.approx(1.2), pytest.approx(1.2)) and down.gain is None
    assert judged("program", idle=0.5).gain == (1.0, pytest.approx(2.0))
    assert judged("program", idle=0.5, **BY_BYTES).gain is None  # the disk was busy for others, too
    assert judged("reset", samples=SILENT).gain == (pytest.approx(1 / 0.6), pytest.approx(1 / 0.6))


@pytest.mark.parametrize(
    ("other", "reported"),
    [({}, True), ({"order": 0.86}, True), ({"order": 0.84}, False), ({"seeks": 0.06}, False), (WRITES, False),
     ({"requests": 30}, False)],
)  # fmt: skip
def test_what_the_disk_gives_in_order_is_reported_where_another_phase_shows_it(other, reported):
    every_limit = limits.limits(Reading("A", phase(**READER)), "read", {}, (phase(**other),))
    statement = next(limit for limit in every_limit if limit.key == "seeks").statement
    assert ("Sequential reads of this disk reached" in statement) is reported


@pytest.mark.parametrize(
    "lacks", [*limits.GROUPS_OF_BIOS, *limits.GROUPS_OF_REQUESTS, "d2c_sum_ns", "settings", "host"]
)
def test_without_what_the_rules_compare_nothing_is_inferred(lacks):
    whole = phase(idle=0.5)
    span, meta = whole.span, {"host_available": "command-io"} if lacks in ("settings", "host") else {}
    span = dataclasses.replace(span, groups=span.groups - {lacks}, unknown=frozenset({lacks}))
    stripped = dataclasses.replace(whole, span=span, **({lacks: {}} if meta else {}))
    found = limits.limits(Reading("A", stripped), "read", meta)
    assert not [limit for limit in found if limit.verdict is INFERRED]
    assert any(f"{lacks.replace('_', '-')}" in limit.statement or meta for limit in found)
    assert [limit for limit in limits.limits(Reading("A", whole), "read", {}) if limit.verdict is INFERRED]


@pytest.mark.parametrize(("sectors", "seconds", "title"), [
    (512, 4.0, "IOPS cap"), (512, 8.0, "Bandwidth cap"), (500, 4.0, "Throttling"), (512, 6.0, "Throttling"),
])  # fmt: skip
def test_another_phase_with_requests_of_twice_the_size_shows_the_kind_of_a_limit(sectors, seconds, title):
    """Both phases have an even rate; the other one has as many requests a second, or as many bytes."""
    other = phase(**{**THROTTLED, "sectors": sectors, "seconds": seconds})
    every_limit = limits.limits(Reading("A", phase(**THROTTLED)), "read", {}, (other,))
    limit = next(limit for limit in every_limit if limit.key == "throttled")
    assert (limit.verdict, limit.title) == (INFERRED, title)
