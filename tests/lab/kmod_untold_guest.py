#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In a guest of lab-detectors.py: what raidtrace counts of a disk whose driver ends some requests without telling."""

from __future__ import annotations

import pathlib
import sys

import kmod_client as kmod

UNTOLD = pathlib.Path("/sys/module/raidtrace_odd/parameters/untold")


def untold() -> None:
    """Seven requests that end untold: each is abandoned when the next one has its tag"""
    kmod.wait_for("/dev/odd0", pathlib.Path("/dev/odd0").exists)
    pathlib.Path("/sys/block/odd0/queue/scheduler").write_text("none", encoding="ascii")
    names = ("issued", "completed", "abandoned", "in-flight", "unmatched")
    with kmod.Client() as client:
        target = client.add("odd0")
        UNTOLD.write_text("7", encoding="ascii")
        flow = client.counters(target).flow["passthrough"]
        kmod.equal("the last may still come", [flow[name] for name in names], [7, 0, 6, 1, 0])
        disk = kmod.Disk("odd0")
        disk.read(0, 8)
        disk.close()
        counters = client.counters(target)
        flow = counters.flow["passthrough"]
        kmod.equal("after a read with the tag", [flow[name] for name in names], [7, 0, 7, 0, 0])
        kmod.equal("the read", [counters.flow["read"][name] for name in names], [1, 1, 0, 0, 0])
        kmod.equal("in flight", counters.flow["all"]["in-flight"], 0)
        client.delete(target)


if __name__ == "__main__":
    sys.exit(kmod.main([untold]))
