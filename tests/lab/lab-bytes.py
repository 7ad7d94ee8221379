#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1
"""The same bytes on every machine: a short run of each profile has its committed digests: lab-bytes.py [--write | RUN...]

same-bytes.json has them for one kernel package and one root. Where the archive has another version of either by now, that is
reported, and each run must take as long as it did, within the spread of seeds (Documentation/lab.rst). The same
goes for other bytes on another processor than theirs: that these cannot be is not shown yet.
--write takes this machine's, after a change of the model, of the kernel's configuration or of the root.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish, lab, skip  # noqa: E402

KEPT = Path(__file__).with_name("same-bytes.json")
MOUNT = "mount /dev/sda /run/lab/mnt && cd /run/lab/mnt &&"
FIO = "fio --name=a --filename=/dev/sda --direct=1 --clocksource=clock_gettime --randseed=7 --ioengine=psync --output=/dev/null"
WRITES = "dd if=/dev/zero of=/dev/sda bs=64k count=300 conv=fsync"
PAIR = "dd if={0} of=/dev/null bs=256k count=64 & dd if={1} of=/dev/null bs=64k count=256; wait"
# name -> options of lab run, what to run, by how much chance can change its length (same-bytes.json has the length)
RUNS: dict[str, tuple[tuple[str, ...], str, float]] = {
    "dd": ((), "dd if=/dev/sda of=/dev/null bs=1M count=256", 0.02),
    "dd-tuned": ((), "blockdev --setra 16384 /dev/sda; dd if=/dev/sda of=/dev/null bs=1M count=512", 0.05),
    "ext2": (
        (),
        f"mke2fs -q -t ext2 /dev/sda 2G && {MOUNT} dd if=/dev/zero of=f bs=1M count=200; cat f f >/dev/null",
        1.5,
    ),
    "ext4": (
        (),
        f"mkfs.ext4 -q /dev/sda 2G && {MOUNT} tar -C /usr/lib --sort=name -c python3.11 | tar x && sync && tar c . | wc -c",
        0.5,
    ),
    "xfs": ((), f"mkfs.xfs -q /dev/sda && {MOUNT} bonnie++ -d . -s 192 -r 48 -n 0 -u 0 -f -b", 0.15),
    "random": ((), f"{FIO} --rw=randrw --bs=8k --size=64m --io_size=16m", 0.1),
    "raid5": (("--profile", "9500s-12-raid5"), "dd if=/dev/zero of=/dev/sda bs=64k count=3000 conv=fsync", 0.1),
    "nvme": (
        ("--profile", "nvme-970pro"),
        "mkfs.ext4 -q /dev/nvme0n1 && mount /dev/nvme0n1 /run/lab/mnt && cd /run/lab/mnt && "
        "dd if=/dev/zero of=f bs=64k count=800 conv=fsync; cat f f >/dev/null",
        0.2,
    ),
    "sata": (("--profile", "sata-hdd-7200"), f"{FIO} --rw=randrw --bs=8k --size=64m --io_size=4m", 0.2),
    "sata-ssd": (
        ("--profile", "sata-ssd"),
        "mkfs.ext4 -q /dev/sda 4G && mount -o discard /dev/sda /run/lab/mnt && cd /run/lab/mnt && "
        "dd if=/dev/zero of=f bs=64k count=800 conv=fsync; cat f f >/dev/null; rm f; sync",
        0.2,
    ),
    "virtio": (
        ("--profile", "virtio-capped"),
        "dd if=/dev/vda of=/dev/null bs=1M count=64; blkdiscard -l 1M /dev/vda",
        0.1,
    ),
    # The other profiles, each for a moment.
    "raid5-9650se": (("--profile", "9650se-8-raid5"), WRITES, 0.1),
    "slow-drive": (("--profile", "slow-drive"), WRITES, 0.1),
    "jbod": (("--profile", "jbod-4"), PAIR.format("/dev/sda", "/dev/sdd"), 0.1),
    "two-controllers": (("--profile", "two-controllers"), PAIR.format("/dev/sda", "/dev/sdb"), 0.1),
    "nvme-4": (("--profile", "nvme-4"), PAIR.format("/dev/nvme0n1", "/dev/nvme3n1"), 0.1),
    "nvme-azure": (("--profile", "nvme-azure"), "dd if=/dev/nvme0n1 of=/dev/null bs=1M count=64", 0.5),
    "reset": (("--set", "fault.lose_command=40"), "dd if=/dev/sda of=/dev/null bs=1M count=64", 0.05),
}
PROFILES = {path.stem for path in (TOP / "tools/lab/profiles").glob("*.toml")}
Truth = dict[str, Any]


def truth(name: str, directory: Path) -> tuple[str, Truth]:
    """Which kernel and root it was, and what came of a run: digests of the log and of what was printed."""
    options, script, _ = RUNS[name]
    out = directory / name
    done = lab("run", "-q", "--kernel", "6.1", "--no-raidtrace", "--mem", "48M", "--out", str(out), *options, "--",
               "sh", "-c", script, LAB_ROOT="")  # fmt: skip
    check(f"{name} runs", done.returncode == 0, done.stderr)
    facts = json.loads((out / "lab.json").read_text(encoding="utf-8"))
    logs = sorted(out.glob("ground-truth*.csv"))  # one for each controller
    digest = {
        "ground_truth": hashlib.sha256(b"".join(log.read_bytes() for log in logs)).hexdigest(),
        "output": hashlib.sha256((done.stdout + done.stderr).encode()).hexdigest(),
        "commands": facts["commands"],
        "simulated_seconds": facts["simulated_seconds"],
    }
    return f"linux-source {facts['kernel']}, root {facts['root']}", digest


def processor() -> str:
    """Which processor this is, by what it can do."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    keys = ("vendor_id", "cpu family", "model", "stepping", "flags")
    facts = [line for line in lines if line.partition("\t")[0].strip() in keys]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def compare(name: str, key: str, now: Truth, kept: dict[str, Any]) -> None:
    """To the byte where kernel and root are those of the file; else within what chance does."""
    then = kept["runs"][name]
    if key == kept["of"]:
        if now == then or processor() == kept["processor"]:
            check(f"{name}: ground truth and output are the committed bytes", now == then, f"{now}\n{then}")
            return
        skip(f"{name}: the committed bytes", "this processor gives others, and is not the one that gave them")
    spread, ratio = RUNS[name][2], now["simulated_seconds"] / then["simulated_seconds"]
    check(f"{name}: takes as long within chance ({spread:.0%})", 1 / (1 + spread) <= ratio <= 1 + spread, ratio)


def main() -> None:
    if not (TOP / "tools/bin/raidctl").exists():  # a guest without raidctl has a mount less, and so more memory
        sys.exit("lab-bytes.py: raidctl is not built, and a guest without it gives other bytes. Build it: make tools")
    write = sys.argv[1:] == ["--write"]
    ran = {options[1] for options, _, _ in RUNS.values() if options[:1] == ("--profile",)}
    check("every profile has a run", PROFILES == ran | {"9500s-12-raid0"}, PROFILES - ran)  # without --profile
    names = list(RUNS) if write else sys.argv[1:] or list(RUNS)
    with tempfile.TemporaryDirectory(prefix="lb-", dir="/var/tmp") as directory:
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            results = dict(zip(names, pool.map(lambda name: truth(name, Path(directory)), names)))
    keys = {key for key, _ in results.values()}
    check("all runs were of one kernel and one root", len(keys) == 1, keys)
    key, now = keys.pop(), {name: result for name, (_, result) in results.items()}
    if write:
        KEPT.write_text(
            json.dumps({"of": key, "processor": processor(), "runs": now}, indent=1) + "\n", encoding="utf-8"
        )
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    if key != kept["of"]:
        skip("the committed bytes", f"they are of {kept['of']}; this is {key}: compared within the spread of chance")
    for name in names:
        compare(name, key, now[name], kept)
    finish()


main()
