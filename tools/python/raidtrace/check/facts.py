# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts that the rules of raidctl check judge, and their readers. Nothing is changed. None: the machine does not tell."""

import contextlib
import dataclasses
import gzip
import json
import os
import pathlib
import re
import subprocess
import time

from raidtrace.check import activity, disks
from raidtrace.check.activity import Activity
from raidtrace.check.disks import Disk
from raidtrace.sweep.device import Machine

PAUSE_S = 1.0  # between the two looks: the kernel counts processor time in ticks of 10 ms
SYSTEMD = pathlib.Path("/run/systemd/system")
TARGETS = ("graphical.target", "multi-user.target", "rescue.target", "emergency.target")  # the highest first
FREE_CPU = "time-travel=inf-cpu"  # of User Mode Linux: computing takes no time
# Names of makers and products in the firmware of virtual machines.
MAKERS = ("QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Virtual Machine", "Amazon EC2",
          "Google Compute Engine", "OpenStack", "BHYVE")  # fmt: skip
FIRMWARE = ("class/dmi/id/sys_vendor", "class/dmi/id/product_name", "hypervisor/type")


@dataclasses.dataclass(frozen=True)
class Signing:
    """Which modules the kernel takes, as raidctl status prints it. why: what asks for a signature, "" for nothing.
    module: the file that would be loaded. signer: of that file. enrolled: the kernel has a key of the signer."""

    loaded: bool
    why: str
    module: str
    signer: str
    enrolled: bool | None
    advice: str


@dataclasses.dataclass(frozen=True)
class Facts:
    """All that the rules look at. hypervisor: "" where there is none. cpu_is_free: simulated time in which computing takes
    none. profile: of the lab, None outside of its guests. config: the kernel's configuration."""

    activity: Activity
    data_bytes: int | None = None
    ram_bytes: int | None = None
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None
    swap_bytes: int | None = None
    swap_used_bytes: int | None = None
    governors: tuple[str, ...] = ()
    target: str = ""
    cpu_is_free: bool = False
    profile: str | None = None
    hypervisor: str | None = None
    signing: Signing | None = None
    config: str | None = None
    config_source: str = ""


def read(machine: Machine, raidctl: pathlib.Path, looked_at: tuple[Disk, ...], data_bytes: int | None) -> Facts:
    """Look at the machine for a second. What is measured comes first: to read the rest is activity, too."""
    before = activity.look(machine)
    time.sleep(PAUSE_S)
    after = activity.look(machine)
    measured = activity.between(before, after, os.getpid(), os.sysconf("SC_CLK_TCK"))
    measured = dataclasses.replace(measured, modules=activity.unused_modules(machine, before, after, looked_at))
    memory = _memory(machine)
    swap, free = memory.get("SwapTotal"), memory.get("SwapFree")
    config, source = _config(machine)
    return Facts(
        activity=measured,
        data_bytes=data_bytes,
        ram_bytes=memory.get("MemTotal"),
        dirty_bytes=memory.get("Dirty"),
        writeback_bytes=memory.get("Writeback"),
        swap_bytes=swap,
        swap_used_bytes=None if swap is None or free is None else swap - free,
        governors=_governors(machine),
        target=_target(),
        cpu_is_free=FREE_CPU in machine.read(machine.proc / "cmdline"),
        profile=disks.lab_profile(machine),
        hypervisor=_hypervisor(machine),
        signing=_signing(raidctl),
        config=config,
        config_source=source,
    )


def _memory(machine: Machine) -> dict[str, int]:
    """Lines of /proc/meminfo in bytes. The file writes kB for KiB."""
    lines = re.findall(r"^(\w+):\s*(\d+) kB$", machine.read(machine.proc / "meminfo"), re.MULTILINE)
    return {name: int(value) * 1024 for name, value in lines}


def _governors(machine: Machine) -> tuple[str, ...]:
    """The governor of each processor that has one. A processor that is switched off has none."""
    paths = sorted((machine.sys / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return tuple(governor for path in paths if (governor := machine.read(path)))


def _target() -> str:
    """The systemd target, or else the runlevel of System V; "" when neither is known."""
    if SYSTEMD.exists():
        states = _output(["systemctl", "is-active", *TARGETS]).splitlines()
        for target, state in zip(TARGETS, states):
            if state == "active":
                return target
    words = _output(["runlevel"]).split()
    return f"runlevel {words[1]}" if len(words) == 2 else ""


def _output(command: list[str]) -> str:
    with contextlib.suppress(OSError):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout
    return ""


def _config(machine: Machine) -> tuple[str | None, str]:
    """The kernel's configuration and its file."""
    release = os.uname().release
    for path in (machine.proc / "config.gz", pathlib.Path(f"/boot/config-{release}"),
                 pathlib.Path(f"/lib/modules/{release}/config")):  # fmt: skip
        with contextlib.suppress(OSError, EOFError):
            data = path.read_bytes()
            text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")
            if text:
                return text, str(path)
    return None, ""


def _hypervisor(machine: Machine) -> str | None:
    """The hypervisor below this machine by the names in its firmware, "" for none. None: nothing tells."""
    cpu = machine.read(machine.proc / "cpuinfo")
    if re.search(r"^vendor_id\s*:.*User Mode Linux", cpu, re.MULTILINE):  # which sees the processor of its host
        return "User Mode Linux"
    flags = re.search(r"^flags\s*:(.*)$", cpu, re.MULTILINE)
    names = [machine.read(machine.sys / path) for path in FIRMWARE]
    for name in names:
        if any(maker.lower() in name.lower() for maker in MAKERS):
            return name
    if flags and "hypervisor" in flags[1].split():
        return "the processor's hypervisor flag is set"
    return "" if flags or any(names) else None


def _signing(raidctl: pathlib.Path) -> Signing | None:
    with contextlib.suppress(ValueError, KeyError):
        status = json.loads(_output([str(raidctl), "status", "--json"]))
        signing = status["signing"]
        texts = {name: signing[name] or "" for name in ("why", "module", "signer", "advice")}
        return Signing(loaded=status["loaded"], enrolled=signing["enrolled"], **texts)
    return None
