# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulated 3ware beside a virtual machine: a model of tools/models behind a vfio-user socket, in real time."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidlab.array.profile import Profile
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress

SERVER = cache.MODELS / "host" / "vfio-user"
FLAGS = ("-D_GNU_SOURCE", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Werror")
GROUND_TRUTH = "ground-truth.csv"
END_S = 30.0
STORE_FULL = 3  # exit status of a server that has no room for what is written; its ground truth is whole


@dataclass(frozen=True)
class Controller:
    """A server that waits for its one client. `devices` are QEMU's options."""

    process: subprocess.Popen[bytes]
    devices: tuple[str, ...]
    status: pathlib.Path

    def end(self) -> dict[str, str]:
        """Wait until it has written its ground truth; what it says of itself. Call it when QEMU has gone."""
        try:
            failed = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            failed = 1
        if failed not in (0, STORE_FULL) or not self.status.exists():
            raise LabError("the simulated controller", f"its server failed, status {failed}", "See what it said above.")
        pairs = (line.partition(":") for line in self.status.read_text(encoding="utf-8").splitlines())
        return {key.strip(): value.strip() for key, _, value in pairs}


def build(progress: Progress) -> pathlib.Path:
    """The server's program, in the cache."""
    sources = [*sorted(SERVER.glob("*.c")), *cache.model_files(".c")]
    headers = [*sorted(SERVER.glob("*.h")), *cache.model_files(".h")]
    entry = cache.root() / "vm" / f"vfio-user-{cache.digest(path.read_bytes() for path in (*sources, *headers))}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            if shutil.which("gcc") is None:
                raise LabError("building the simulated controller", "no gcc here", "apt-get install gcc libc6-dev")
            words = ["gcc", *FLAGS, f"-I{cache.MODELS}", "-o", str(entry / "vfio-user"), *map(str, sources)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise LabError("building the simulated controller", done.stderr.strip(), "Is the checkout complete?")
    return entry / "vfio-user"


@contextlib.contextmanager
def serving(
    program: pathlib.Path, profile: Profile, out: pathlib.Path, work: pathlib.Path, number: int = 0
) -> Iterator[Controller]:
    """Controller `number` of `profile`, its ground truth into `out`. `work` is a directory for the socket."""
    path = work / f"vfio-user-{number}.sock"
    status = work / f"raidlab-status-{number}"
    log = out / (f"ground-truth-{number}.csv" if number else GROUND_TRUTH)
    log.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        words = ["setpriv", "--pdeathsig", "KILL", str(program), "--config", flat(profile)]
        words += ["--log", str(log), "--status", str(status), "--number", str(number)]
        process = subprocess.Popen(words, stdin=listener.fileno(), start_new_session=True)
    device = {"driver": "vfio-user-pci", "socket": {"type": "unix", "path": str(path)}}
    try:
        yield Controller(process, ("-device", json.dumps(device)), status)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def total(said: Sequence[dict[str, str]]) -> dict[str, str]:
    """What several controllers say, as one: numbers are sums, and what is true of one is true."""
    whole: dict[str, str] = {}
    for one in said:
        for key, value in one.items():
            before = whole.setdefault(key, "0" if value.isdigit() else value)
            if value.isdigit():
                whole[key] = str(int(before) + int(value))
            elif value == "yes":
                whole[key] = value
    return whole


def flat(profile: Profile) -> str:
    """key=value,... as the model reads it."""
    return profile.parameter().removeprefix("config=").strip('"')
