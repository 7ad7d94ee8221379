#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1
"""Nothing of the host shows in a guest: another directory, environment and language, the same bytes; another seed, others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import LIMIT_S, TOP, check, finish  # noqa: E402

ID = "00000000-7261-6964-7472-616365000001"
SCRIPT = f"""
mkfs.ext2 -q -F -U {ID} -E hash_seed={ID},nodiscard /dev/sda && mount -t ext2 /dev/sda /run/lab/mnt &&
raidctl record -q -d sda -o run.rtdb -- dd if=/dev/zero of=/run/lab/mnt/f bs=64k count=1500 &&
python3 -c 'print(hash("a"))' && env && cat /proc/meminfo && exec ls -l /
"""
# of programs that the root is there for: any that is missing, and any library that is
LIBRARIES = """for name in fio bonnie++ dd xfs_io mkfs.xfs mkfs.ext4 mdadm python3 raidctl blockdev addpart; do
path=$(command -v $name) || echo "no $name"; ldd "$path"; done 2>&1 | grep -E "not found|^no "; echo end"""
AGAIN = "for i in 1 2; do raidctl record -q -d sda -- true; done && ls *.rtdb && raidctl unload && raidctl load"
TURN = """a=$(date +%s%N)
for n in 1 2 3; do dd if=/dev/sda of=/dev/null bs=4k count=1 skip=${n}00000 iflag=direct 2>/dev/null; done
echo $(($(date +%s%N) - a))"""
NAMES = ["raidtrace-20260101-000000-2.rtdb", "raidtrace-20260101-000000.rtdb"]
PARTS = ("Kbuild", "kmod", "tools")


def copied(checkout: Path) -> Path:
    """A copy of the files of the project that a guest needs, in another place."""
    checkout.mkdir(parents=True)
    for part in PARTS:
        if (TOP / part).is_dir():
            shutil.copytree(TOP / part, checkout / part, symlinks=True, ignore=shutil.ignore_patterns("build"))
        else:
            shutil.copy2(TOP / part, checkout / part)
    return checkout


def ran(checkout: Path, out: Path, *options: str, script: str = SCRIPT, **environment: str) -> tuple[bytes, ...]:
    """Output, ground truth and kernel log; root and seed of lab.json."""
    words = [str(checkout / "tools/lab/raidctl-lab"), "run", "-q", "--kernel", "6.1", "--mem", "48M", "--out", str(out)]
    done = subprocess.run([*words, *options, "--", "sh", "-c", script], capture_output=True, check=False, timeout=LIMIT_S,
                          env=os.environ | {"LAB_ROOT": ""} | environment)  # fmt: skip
    check(f"{out.name} runs", done.returncode == 0, done)
    facts = json.loads((out / "lab.json").read_text(encoding="utf-8"))
    environment = f"{facts['root']} {facts['seed']}".encode()
    return done.stdout, (out / "ground-truth.csv").read_bytes(), (out / "kernel.log").read_bytes(), environment


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lh-", dir="/var/tmp") as name:
        near, far = copied(Path(name, "a")), copied(Path(name, "b" * 200, "c"))
        plain = ran(near, Path(name, "plain"))
        moved = ran(far, Path(name, "moved-to-a-longer-name"), LANG="de_DE.UTF-8", PADDING="x" * 500)
        for what, one, other in zip(("output", "ground truth", "kernel log", "root and seed"), plain, moved):
            check(f"{what}: the same bytes from another directory", one == other and one)
        check("the root is the lab's own", not plain[3].startswith(b"host"), plain[3])
        seeded = ran(near, Path(name, "seeded"), "--seed", "7")
        check("another seed is another run", seeded[1] != plain[1] and seeded[0] != plain[0])
        check("that is repeatable", ran(far, Path(name, "seeded-again"), "--seed", "7")[:3] == seeded[:3])
        turned = [ran(near, Path(name, f"turn-{seed}"), "--seed", seed, script=TURN)[0] for seed in "0123"]
        check("under each seed the platters are elsewhere", len(set(turned)) == 4, turned)
        missing = ran(near, Path(name, "libraries"), script=LIBRARIES)[0]
        check("programs of the root find their libraries", missing == b"end\n", missing)
        again = ran(near, Path(name, "again"), script=AGAIN)[0].decode().split()
        check("a second recording has a name of its own", again[:2] == NAMES, again)
        check("load finds the module that was unloaded", "/raidtrace.ko" in again[-1], again)
        host = ran(near, Path(name, "host"), "--host")
        check("with --host lab.json has the host as root", host[3] == b"host 0", host[3])
    finish()


main()
