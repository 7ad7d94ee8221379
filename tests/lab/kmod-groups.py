#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Groups of counters against I/O with known numbers: streams, distances at queue, places, inserts, plugs.
"""

import pathlib
import sys
import time

import kmod_client as kmod

FAR = 1 << 20  # sectors between two streams


def test_interleaved_streams() -> None:
    """Two sequential readers taking turns: every request continues a stream, and every one is a seek of known length."""
    with kmod.counted("sda") as (client, target):
        kmod.reads("sda", [start + 8 * i for i in range(50) for start in (0, FAR)])
        counters = client.counters(target)
        flow = counters.flow["read"]
        for queued in ("", "-queued"):
            kmod.equal(f"stream{queued}", flow[f"stream{queued}"], 98)
            kmod.equal(f"sequential{queued}", flow[f"sequential{queued}"], 0)
            seek = f"seek{queued}"
            kmod.equal(f"{seek} forward", flow[f"{seek}-forward-sectors"], 50 * (FAR - 8))
            kmod.equal(f"{seek} backward", flow[f"{seek}-backward-sectors"], 49 * FAR)
            kmod.equal(f"bins of {seek}", counters.bins(seek, "read"), {65 + 19: 50, 63 - 20: 49})
        kmod.equal("streams alive", counters.reply["streams-alive"], 2)
        kmod.equal("streams of bios alive", counters.reply["streams-alive-queued"], 2)
        kmod.equal("none forgotten", counters.reply["streams-forgotten"], 0)
        time.sleep(1.1)
        reply = client.counters(target).reply
        kmod.equal("after a second none is", [reply["streams-alive"], reply["streams-alive-queued"]], [0, 0])


def test_streams_are_as_many_as_asked() -> None:
    """Three readers take turns: two remembered streams follow none of them, three all."""
    with kmod.Client() as client:
        for streams, followed, forgotten in ((2, 0, 28), (3, 27, 0)):
            target = client.add("sda", streams=streams)
            kmod.equal("streams", target["streams"], streams)
            kmod.reads("sda", [start + 8 * i for i in range(10) for start in (0, FAR, 2 * FAR)])
            counters = client.counters(target)
            kmod.equal(f"of {streams} streams", counters.flow["read"]["stream"], followed)
            kmod.equal("forgotten", counters.reply["streams-forgotten"], forgotten)
            kmod.equal("of bios", counters.reply["streams-forgotten-queued"], forgotten)
            client.delete(target)


def test_only_what_was_asked_for() -> None:
    """Groups that were not selected are absent, not zero."""
    with kmod.counted("sda", groups=("size",)) as (client, target):
        kmod.equal("groups", target["groups"], ["flow", "size"])
        kmod.reads("sda", [0, 8, 800])
        counters = client.counters(target)
        kmod.equal("kinds", {kind for kind, _ in counters.histogram}, {"size"})
        for name in ("sequential", "stream", "sequential-queued", "i2d-sum-ns", "seek-forward-sectors"):
            kmod.equal(name, counters.flow["read"].get(name), None)
        for name in ("plugs", "streams-alive", "unplugs-explicit"):
            kmod.equal(name, counters.reply.get(name), None)
        kmod.equal("issued", counters.flow["read"]["issued"], 3)


def test_places_hold_their_bytes() -> None:
    """Bytes are counted at the part of the disk that the request begins in."""
    with kmod.counted("sda") as (client, target):
        part = target["place-sectors"]
        capacity = int(pathlib.Path("/sys/block/sda/size").read_text(encoding="ascii"))
        if not 0 <= part * 256 - capacity <= 256 * 16:
            raise AssertionError(f"{part} sectors are not 1/256 of {capacity}")
        disk = kmod.Disk("sda")
        disk.read(0, 8)
        disk.read(part - 8, 8)
        disk.read(part, 16)
        disk.write(100 * part + 8, 8)
        disk.close()
        counters = client.counters(target)
        kmod.equal("read", counters.bins("place", "read"), {0: 2 * 4096, 1: 8192})
        kmod.equal("written", counters.bins("place", "write"), {100: 4096})


def test_inserts_are_timed() -> None:
    """With a scheduler each request is inserted, and each issue has a time since then."""
    disk = kmod.null_blk(nr_devices=1, queue_mode=2, irqmode=2, completion_nsec=10000)[0]
    pathlib.Path(f"/sys/block/{disk}/queue/scheduler").write_text("mq-deadline", encoding="ascii")
    with kmod.counted(disk) as (client, target):
        kmod.reads(disk, [8 * i for i in range(0, 40, 2)])
        counters = client.counters(target)
        kmod.equal("inserted", counters.flow["read"]["inserted"], 20)
        kmod.equal("issued after an insert", sum(counters.bins("i2d", "read").values()), 20)


def test_plugs_are_seen() -> None:
    """A buffered read of many windows is plugged; each plug is undone, and the requests sent are those got."""
    kmod.run("echo 3 >/proc/sys/vm/drop_caches")
    with kmod.counted("sda") as (client, target):
        kmod.run("dd if=/dev/sda of=/dev/null bs=1M count=8 status=none")
        counters = client.counters(target)
        sent = sum(requests * count for requests, count in counters.bins("unplug", "all").items())
        if not counters.reply["plugs"] or not 0 < sent <= counters.flow["read"]["issued"]:
            raise AssertionError(f"{counters.reply['plugs']} plugs, {sent} requests at unplugs")
        kmod.equal("readahead is done with its plug, it does not sleep", counters.reply["unplugs-explicit"] > 0, True)


def test_member_of_an_array_sees_its_bios() -> None:
    """md hands a bio on to the member: it is queued there, and where a request begins a bio began."""
    disks = kmod.null_blk(nr_devices=2, queue_mode=2, gb=1)
    members = " ".join(f"/dev/{disk}" for disk in disks)
    kmod.run(f"mdadm --build /dev/md9 --run --level=0 --raid-devices=2 --chunk=64 {members}")
    try:
        kmod.Disk("md9").close()  # the first to open it reads its partition table
        with kmod.Client() as client:
            targets = [client.add(disk) for disk in disks] + [client.add("md9")]
            kmod.reads("md9", [0, 128, 256, 384])
            flows = [client.counters(target).flow["read"] for target in targets]
            kmod.equal("queued of the members", [flow["queued"] for flow in flows[:2]], [2, 2])
            kmod.equal("issued of the members", [flow["issued"] for flow in flows[:2]], [2, 2])
            kmod.equal("queued of the array", flows[2]["queued"], 4)
            kmod.equal("issued of the array", flows[2].get("issued"), None)
            for target in targets:
                client.delete(target)
    finally:
        kmod.run("mdadm --stop /dev/md9", check=False)


def test_windows_are_seen() -> None:
    """A file read from its beginning: one window for the missing page, the others for marked ones, or not available."""
    kmod.run("echo 3 >/proc/sys/vm/drop_caches")
    pathlib.Path("/sys/block/sda/queue/read_ahead_kb").write_text("128", encoding="ascii")
    with kmod.Client() as client:
        target = client.add("sda")
        kmod.run("dd if=/dev/sda of=/dev/null bs=64k count=64 status=none")
        counters = client.counters(target)
        client.delete(target)
        missing = client.ask("info-get")[0].get("unavailable", [])
    flow = counters.flow["read"]
    kmod.equal("read ahead", flow["bytes-ahead-queued"] >= 4 << 20 and flow["ahead-queued"] <= flow["queued"], True)
    kmod.equal("windows are counted", "ra-sync-sectors" in counters.reply, "page_cache_ra_order" not in missing)
    if "ra-sync-sectors" in counters.reply:
        windows = counters.bins("ra-async", "all")
        kmod.equal("windows on a missing page", sum(counters.bins("ra-sync", "all").values()), 1)
        kmod.equal("sizes of the others", set(windows) <= {256}, True)
        sectors = counters.reply["ra-sync-sectors"] + counters.reply["ra-async-sectors"]
        kmod.equal("sectors", 8192 <= sectors <= 8192 + 2 * 256, True)


if __name__ == "__main__":
    sys.exit(kmod.main())
