# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a cell. --dry-run prints the same list that a guest of the lab or this machine runs."""

import dataclasses
import shlex
from collections.abc import Sequence

from raidtrace.benchmark import registry as benchmark
from raidtrace.quantity import units
from raidtrace.quantity.shown import UserError
from raidtrace.sweep import plan

MD = "md127"  # the first number that mdadm itself would choose
ARRAY_NAME = "raidtrace-sweep"  # in the superblock, so that no array of others is stopped
IDENTITY = "00000000-7261-6964-7472-616365000001"  # of file systems in the lab: fixed, because it affects their layout
VM_KEYS = ("dirty_bytes", "dirty_background_bytes", "dirty_ratio", "dirty_background_ratio", "dirty_expire_centisecs",
           "dirty_writeback_centisecs")  # fmt: skip
MODULES = {"jfs": "jfs", "reiserfs": "reiserfs"}  # file systems that are modules in the lab
JOB_FILE = "job.fio"  # the copy in the cell's directory: a guest has no access to other files of the host
LEVEL_MODULES = {"raid0": "raid0", "raid1": "raid1", "raid5": "raid456", "raid10": "raid10"}


@dataclasses.dataclass(frozen=True)
class Step:
    """One action: run argv, or write value to the file `path`.

    destroys: disks that it overwrites. measured: it is the benchmark, run under raidctl record. undo: the command that
    undoes it if the sweep ends here. claims: devices that the command or the kernel opens exclusively, so we must
    release them. leaves: devices that are not claimed after its end.
    """

    purpose: str
    argv: tuple[str, ...] = ()
    path: str = ""
    value: str = ""
    destroys: tuple[str, ...] = ()
    measured: bool = False
    undo: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()

    def brief(self) -> str:
        """The command for messages, at most 160 characters."""
        text = self.text()
        return text if len(text) <= 160 else f"{text[:157]}..."

    def text(self) -> str:
        """The command as text for a shell."""
        return shlex.join(self.argv) if self.argv else f"echo {shlex.quote(self.value)} >{shlex.quote(self.path)}"


@dataclasses.dataclass(frozen=True)
class Place:
    """The place of a cell: disks (names without /dev/), mount point, and bytes of RAM. host: in the lab, with this
    machine's programs. source: words of raidctl record that choose the source of counters, or none."""

    disks: tuple[str, ...]
    mount: str
    ram_bytes: int
    lab: bool
    record: bool = True
    settle_s: int = 0
    host: bool = False
    source: tuple[str, ...] = ()


UNLIMITED = ("nvme", "vd")  # disks of drivers without device/queue_depth


def members(cell: plan.Cell, place: Place) -> tuple[str, ...]:
    """The disks that the cell uses: all members of an md, else one. Raises UserError: too few."""
    needed = cell.number("md_members") or 1
    if len(place.disks) < needed:
        raise UserError(
            f"{needed} disks are needed, but only {len(place.disks)} {'is' if len(place.disks) == 1 else 'are'} named"
        )
    return place.disks[:needed]


def top(cell: plan.Cell, place: Place) -> str:
    """The measured disk."""
    return MD if has_md(cell) else members(cell, place)[0]


def has_md(cell: plan.Cell) -> bool:
    """Whether there is an md between the file system and the disks."""
    return cell.text("md_level", plan.NO_MD) != plan.NO_MD


def job(cell: plan.Cell, the_plan: plan.Plan, place: Place) -> tuple[benchmark.Benchmark, benchmark.Job]:
    """The benchmark of a cell and its job. Raises UserError."""
    kind, parameters = the_plan.workload(cell.text("workload"))
    chosen = benchmark.find(kind)
    if kind == "fio" and not str(parameters.get("job_file", "/")).startswith("/"):
        raise UserError(
            f"fio: job_file {parameters['job_file']}: give an absolute path, because each cell runs in its own "
            "directory"
        )
    if kind == "iozone" and place.lab and not place.host:
        if parameters.get("program") == "iozone":
            raise UserError("the lab has no iozone of its own; to use this machine's: --host")
        parameters = {**parameters, "program": "fio"}
    raw = cell.text("filesystem") == plan.RAW
    data = units.parse_size(cell.text("data_size"), place.ram_bytes)
    return chosen, chosen.job("" if raw else place.mount, f"/dev/{top(cell, place)}" if raw else "", data, parameters)


def steps(cell: plan.Cell, the_plan: plan.Plan, place: Place) -> list[Step]:
    chosen, what = job(cell, the_plan, place)
    disk = top(cell, place)
    destroyed = members(cell, place) if chosen.destroys(what) else ()
    steps = _array(cell, place) + _settings(cell, place, disk) + _filesystem(cell, place, disk)
    steps += [
        Step("write dirty pages back", ("sync",)),
        Step("drop the page cache", path="/proc/sys/vm/drop_caches", value="3"),
    ]
    if the_plan.cool_down_s or place.settle_s:
        steps.append(
            Step("let caches drain and disks cool down", ("sleep", str(the_plan.cool_down_s or place.settle_s)))
        )
    command = chosen.command(what)
    if place.lab and what.parameters.get("job_file"):
        command = [JOB_FILE if word == what.text("job_file") else word for word in command]
    steps.append(Step("measure", _recorded(cell, place, command), destroys=destroyed, measured=True))
    if cell.text("filesystem") != plan.RAW:
        steps.append(Step("unmount", ("umount", place.mount), leaves=(disk,)))
    if has_md(cell):
        stop = ("mdadm", "--quiet", "--stop", f"/dev/{MD}")
        steps.append(Step("stop the array", stop, claims=(MD,), leaves=members(cell, place)))
        if not place.lab:
            disks = members(cell, place)
            forget = ("mdadm", "--quiet", "--zero-superblock", *(f"/dev/{name}" for name in disks))
            steps.append(Step("forget the array", forget, destroys=disks, claims=disks, leaves=disks))
    return steps


def destroyed(steps: Sequence[Step]) -> list[str]:
    """The disks that the steps overwrite, sorted by name."""
    return sorted({name for step in steps for name in step.destroys})


def _array(cell: plan.Cell, place: Place) -> list[Step]:
    if not has_md(cell):
        return []
    level, chunk, disks = cell.text("md_level"), cell.number("md_chunk_kib"), members(cell, place)
    # The data on the disks does not matter, but a resync would disturb the benchmark. So md must treat the array as
    # clean.
    command = ["mdadm", "--create", f"/dev/{MD}", "--run", "--quiet", "--metadata=1.2", f"--name={ARRAY_NAME}"]
    command.append(f"--level={level.removeprefix('raid')}")
    command += [f"--chunk={chunk}K"] if chunk else []
    command += [f"--raid-devices={len(disks)}"] + (["--assume-clean"] if level != "raid0" else [])
    command += ["--bitmap=none"] if level != "raid0" else []
    loaded = [Step("load the modules of md", ("modprobe", LEVEL_MODULES[level]))]
    stop = ("mdadm", "--quiet", "--stop", f"/dev/{MD}")
    command += [f"/dev/{name}" for name in disks]
    made = Step("make the array", tuple(command), destroys=disks, undo=stop, claims=disks, leaves=(MD,))
    return loaded + [made]


def _settings(cell: plan.Cell, place: Place, disk: str) -> list[Step]:
    steps = []
    for name in members(cell, place):
        if cell.get("queue_depth") is not None and name.startswith(UNLIMITED):
            raise UserError(
                f"{name} has no queue_depth, because only SCSI disks have this setting; set nr_requests instead"
            )
        queue = f"/sys/block/{name}/queue"
        for axis, path in (("scheduler", f"{queue}/scheduler"), ("nr_requests", f"{queue}/nr_requests"),
                           ("max_sectors_kib", f"{queue}/max_sectors_kb"), ("nomerges", f"{queue}/nomerges"),
                           ("queue_depth", f"/sys/block/{name}/device/queue_depth")):  # fmt: skip
            if cell.get(axis) is not None:
                steps.append(Step(f"{axis} of {name}", path=path, value=cell.text(axis)))
    sectors = cell.number("readahead_sectors")
    if sectors is not None:
        path = f"/sys/block/{disk}/queue/read_ahead_kb"
        steps.append(Step(f"readahead of {disk}: {sectors} sectors", path=path, value=str(sectors // 2)))
    for axis in VM_KEYS:
        if cell.get(axis) is not None:
            steps.append(Step(f"vm.{axis}", path=f"/proc/sys/vm/{axis}", value=cell.text(axis)))
    return steps


def _filesystem(cell: plan.Cell, place: Place, disk: str) -> list[Step]:
    kind = cell.text("filesystem")
    if kind == plan.RAW:
        return []
    steps = []
    if kind in MODULES:
        steps.append(Step(f"load {kind}", ("modprobe", MODULES[kind])))
    extra = shlex.split(cell.text("mkfs_options"))
    command = [*_mkfs(kind, cell.number("fs_block_kib"), place.lab), *extra, f"/dev/{disk}"]
    steps.append(
        Step("make a fresh file system", tuple(command), destroys=members(cell, place), claims=(disk,), leaves=(disk,))
    )
    mount = ["mount", "-t", kind] + (["-o", cell.text("mount_options")] if cell.text("mount_options") else [])
    mount += [f"/dev/{disk}", place.mount]
    return steps + [Step("mount it", tuple(mount), undo=("umount", place.mount), claims=(disk,))]


def _mkfs(kind: str, block_kib: int | None, lab: bool) -> list[str]:
    block = str(block_kib * 1024) if block_kib else ""
    if kind == "xfs":
        command = ["mkfs.xfs", "-q", "-f", "-K"] + (["-b", f"size={block}"] if block else [])
        return command + (["-m", f"uuid={IDENTITY}"] if lab else [])
    if kind in ("ext2", "ext3", "ext4"):
        # mkfs must not leave work that the kernel does during the benchmark; a fresh disk of the lab contains zeros
        extended = "nodiscard," + ("assume_storage_prezeroed=1" if lab else "lazy_itable_init=0")
        extended += ",lazy_journal_init=0" if kind != "ext2" and not lab else ""
        command = [f"mkfs.{kind}", "-q", "-F"] + (["-b", block] if block else [])
        command += ["-U", IDENTITY] if lab else []
        return command + ["-E", extended + (f",hash_seed={IDENTITY}" if lab else "")]
    if kind == "jfs":
        return ["mkfs.jfs", "-q"]
    return ["mkfs.reiserfs", "-q", "-f", "-f"] + (["-u", IDENTITY] if lab else [])


def _recorded(cell: plan.Cell, place: Place, command: list[str]) -> tuple[str, ...]:
    if not place.record:
        return tuple(command)
    disks = list(dict.fromkeys((top(cell, place), *(members(cell, place) if has_md(cell) else ()))))
    words = ["raidctl", "record", "-q", "-f", *place.source, "-o", "run.rtdb"]
    # in the lab, ten samples a second take no simulated time; real disks should not be disturbed
    words += ["-i", "100ms" if place.lab else "1s"]
    return (*words, *(word for name in disks for word in ("-d", name)), "--", *command)
