# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a cell on disks of this machine: only on those named for destruction, with every change in the journal."""

import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence

from raidtrace.quantity import units
from raidtrace.quantity.shown import UserError
from raidtrace.sweep import destruction, device, plan, steps
from raidtrace.sweep.index import NAME, Index, Outcome
from raidtrace.sweep.journal import MARKER, Journal, ends_with_us
from raidtrace.sweep.run import lab as cell_lab


@dataclasses.dataclass
class Disks:
    """The disks of a sweep. arrays: the disks of each array of the plan. source: words of raidctl record."""

    raidctl: pathlib.Path
    out: pathlib.Path
    the_plan: plan.Plan
    arrays: dict[str, tuple[str, ...]]
    permit: destruction.Permit
    journal: Journal
    record: bool
    machine: device.Machine = device.Machine()
    stopped: bool = False
    source: tuple[str, ...] = ()
    _child: subprocess.Popen[str] | None = None

    def place(self, cell: plan.Cell) -> steps.Place:
        return place(self.arrays[cell.text("array")], self.mount(), self.record, self.source)

    def mount(self) -> str:
        """The mount point of file systems: a directory of this sweep only."""
        return str(self.journal.path.with_suffix(".mnt"))

    def run(self, cell: plan.Cell, name: str) -> Outcome:
        """Run one cell. Returns its outcome, with the failure as a text, after undoing its changes."""
        directory = self.out / name
        cell_lab.clear(directory)
        here = self.place(cell)
        cell_steps = steps.steps(cell, self.the_plan, here)
        begin = time.monotonic()
        at = 0
        error = ""
        undo: list[steps.Step] = []
        try:
            self.permit.check(steps.destroyed(cell_steps))
            self.journal.settle(self.machine)
            for at, step in enumerate(cell_steps, 1):
                (directory / cell_lab.STEP).write_text(f"{at}\n", encoding="ascii")
                if self.stopped:
                    raise OSError("stopped")
                self._step(step, directory)
                undo = [made for made in undo if made.undo != step.argv] + ([step] if step.undo else [])
        except (OSError, subprocess.SubprocessError, device.DeviceError) as failure:
            error = f"step {at}, {step.purpose}: {step.brief()}: {failure}" if at else str(failure)
        for made in reversed(undo):
            self.permit.release((steps.MD,))
            subprocess.run(made.undo, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.permit.release((steps.MD,))
        seconds = time.monotonic() - begin
        return self._outcome(cell, here, directory, error, seconds)

    def stop(self) -> None:
        """End the running benchmark. The cell then fails and is undone."""
        self.stopped = True
        child = self._child
        if child and child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)

    def _step(self, step: steps.Step, directory: pathlib.Path) -> None:
        if step.path:
            self.journal.put(step.path, step.value)
            return
        if step.argv[0] == "mount":
            self.journal.note(mount=self.mount())
            pathlib.Path(self.mount()).mkdir(exist_ok=True)
        if step.argv[0] == "mdadm" and "--create" in step.argv:
            if (self.machine.sys / "block" / steps.MD / "md").exists():
                raise device.DeviceError(
                    f"{steps.MD} exists already, but a sweep creates its array with this name; stop it: mdadm "
                    f"--stop {steps.MD}"
                )
            self.journal.note(array=steps.MD, name=steps.ARRAY_NAME)
        self.permit.hand_over(step.claims)
        environment = dict(os.environ, LC_ALL="C.UTF-8", **{MARKER: self.journal.marker})
        environment["PATH"] = f"{self.raidctl.parent}:{environment.get('PATH', '')}"
        log = directory / cell_lab.SETUP
        out, err = (directory / "stdout", directory / "stderr") if step.measured else (log, log)
        with out.open("ab") as stdout, err.open("ab") as stderr:
            self._child = subprocess.Popen(step.argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=directory,
                                           env=environment, start_new_session=True, text=True,
                                           preexec_fn=ends_with_us)  # fmt: skip
            status = self._child.wait()
        if status:
            last = err.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-2:]
            raise OSError(f"exit status {status}: {' | '.join(last)}")
        self.permit.hold(step.leaves)

    def _outcome(
        self, cell: plan.Cell, here: steps.Place, directory: pathlib.Path, error: str, seconds: float
    ) -> Outcome:
        recording = directory / "run.rtdb"
        kept = str(recording.relative_to(self.out)) if recording.is_file() else None
        if error:
            return Outcome(error, recording=kept, wall_seconds=seconds)
        chosen, what = steps.job(cell, self.the_plan, here)
        try:
            if kept:
                figures, rows = cell_lab.results(chosen, what, recording)
            else:
                stream = directory / ("stderr" if chosen.name == "dd" else "stdout")
                figures, rows = chosen.parse(stream.read_text(encoding="utf-8", errors="replace"), what), ()
        except (UserError, OSError, ValueError, KeyError) as failure:
            return Outcome(str(failure), recording=kept, wall_seconds=seconds)
        return Outcome("", figures, rows, kept, seconds, os.uname().release)


def place(disks: tuple[str, ...], mount: str, record: bool, source: tuple[str, ...] = ()) -> steps.Place:
    return steps.Place(disks, mount, ram_bytes(), lab=False, record=record, source=source)


def ram_bytes() -> int:
    """MemTotal in bytes."""
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemTotal:"):
            return units.parse_size(line.split(":")[1].strip().replace("kB", "KiB"))
    raise OSError("/proc/meminfo has no MemTotal")


def arrays_of(
    the_plan: plan.Plan, words: Sequence[str], disks: Sequence[str], machine: device.Machine
) -> dict[str, tuple[str, ...]]:
    """The disks of each array of the plan, from words ARRAY=sdb,sdc. For a plan with one array and no words, all disks.
    Raises UserError."""
    names = list(dict.fromkeys(cell.text("array") for cell in the_plan.cells))
    arrays: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        members = _once(machine, [member for member in value.split(",") if member])
        if not equals or not members or name not in names:
            raise UserError(f"--array {word}: give ARRAY=DISK[,DISK...]; arrays: {', '.join(names)}")
        foreign = [member for member in members if member not in disks]
        if foreign:
            raise UserError(f"--array {word}: {', '.join(foreign)} is not named with --destroy-data or --disk")
        if name in arrays:
            raise UserError(f"--array {word}: {name} is named twice; name each array once")
        arrays[name] = members
    if not words and len(names) == 1:
        arrays = {names[0]: tuple(disks)}
    missing = [name for name in names if name not in arrays]
    if missing:
        raise UserError(f"name the disks of {missing[0]}: --array {missing[0]}=DISK[,DISK...]")
    return arrays


def _once(machine: device.Machine, words: Sequence[str]) -> tuple[str, ...]:
    """The disks that words name. Raises DeviceError if two words name the same disk."""
    disks = tuple(machine.whole(word) for word in words)
    for at, disk in enumerate(disks):
        if disk in disks[:at]:
            raise device.DeviceError(f"disk {disk} is named twice; name each disk once")
    return disks


# The preparation of a sweep on real disks: its disks, the data that it would destroy, and the check of the machine.

MOUNT = "/run/raidtrace/sweep/ID.mnt"  # as --dry-run prints it


@dataclasses.dataclass(frozen=True)
class Selection:
    """The disks of a sweep. disks: all. destroyed: those that cells overwrite. source: words of raidctl record."""

    the_plan: plan.Plan
    disks: tuple[str, ...]
    destroyed: tuple[str, ...]
    arrays: dict[str, tuple[str, ...]]
    record: bool
    source: tuple[str, ...] = ()

    def place(self, cell: plan.Cell) -> steps.Place:
        """The place of a cell, as far as it is known before the run."""
        return place(self.arrays[cell.text("array")], MOUNT, self.record, self.source)

    def least_bytes(self) -> int:
        """The smallest data set of the plan in bytes."""
        ram = ram_bytes()
        return min(units.parse_size(cell.text("data_size"), ram) for cell in self.the_plan.cells)

    def first(self, machine: device.Machine, raidctl: pathlib.Path, known: Sequence[device.Identity]) -> list[str]:
        """The commands before the first cell: a search for signatures, and raidctl check."""
        names = [
            name
            for disk in self.destroyed
            if not machine.identity(disk).among(known)
            for name in (disk, *machine.partitions(disk))
        ]
        commands = [device.signature_command(f"{machine.dev}/{name}") for name in names]
        return [shlex.join(command) for command in (*commands, check_command(raidctl, self.disks, self.least_bytes()))]

    def destruction(
        self, machine: device.Machine, forced: bool, known: Sequence[device.Identity] = ()
    ) -> tuple[list[str], bool]:
        """A text for each disk to be destroyed, and whether any would be refused. known: disks that this sweep has
        overwritten."""
        if not self.destroyed:
            return ["would destroy: nothing"], False
        texts = []
        for disk in self.destroyed:
            identity = machine.identity(disk)
            texts.append(f"would destroy: everything on {disk} ({units.exact_size(512 * identity.sectors)}, "
                         f"{identity.serial or 'without a serial number'})")  # fmt: skip
        try:
            refused = [refusal.text() for refusal in destruction.judge(machine, self.destroyed, forced, known)]
        except device.DeviceError as error:
            refused = [str(error)]
        return texts + [f"would be refused: {reason}" for reason in refused], bool(refused)


def select(
    machine: device.Machine,
    the_plan: plan.Plan,
    destroy: Sequence[str],
    read: Sequence[str],
    arrays: Sequence[str],
    record: bool,
    source: tuple[str, ...] = (),
) -> Selection:
    """The disks of the command line and the plan. Raises DeviceError if a cell would overwrite a disk that was not
    named."""
    to_destroy = [word for words in destroy for word in words.split(",")]
    disks = _once(machine, to_destroy + [word for words in read for word in words.split(",")])
    named = disks[: len(to_destroy)]
    selection = Selection(the_plan, disks, (), arrays_of(the_plan, arrays, disks, machine), record, source)
    once = {cell.axes: cell for cell in the_plan.cells}.values()  # all trials of a cell have the same steps
    overwritten = sorted({
        disk for cell in once for disk in steps.destroyed(steps.steps(cell, the_plan, selection.place(cell)))
    })  # fmt: skip
    missing = [disk for disk in overwritten if disk not in named]
    if missing:
        raise device.DeviceError(
            f"this plan overwrites {', '.join(missing)}; if this is intended, name it with --destroy-data"
        )
    return dataclasses.replace(selection, destroyed=tuple(overwritten))


def stored(identities: Sequence[device.Identity]) -> str:
    """Identities as text for the index."""
    return json.dumps([dataclasses.asdict(identity) for identity in identities])


def known(out: pathlib.Path) -> tuple[device.Identity, ...]:
    """The disks that the sweep in a directory has overwritten."""
    index = Index(out / NAME)
    text = index.meta().get("disks", "[]")
    index.close()
    return tuple(device.Identity(**identity) for identity in json.loads(text))


def same_disks(machine: device.Machine, names: Sequence[str], known: Sequence[device.Identity]) -> None:
    """Raise DeviceError if a sweep would continue on other disks. After a reboot, a disk without a serial number cannot
    be distinguished from another; then a signature refuses it, unless forced."""
    for name in names:
        identity = machine.identity(name)
        if known and identity.serial and not identity.among(known):
            began = ", ".join(other.name for other in known)
            raise device.DeviceError(f"{name} is not one of the disks of this sweep ({began}); for other disks, "
                                     "begin a new sweep with another --out")  # fmt: skip


def check_command(raidctl: pathlib.Path, disks: Sequence[str], data_bytes: int) -> list[str]:
    """The command of the preflight check."""
    return [str(raidctl), "check", "--json", "--data-size", str(data_bytes), *disks]


def preflight(raidctl: pathlib.Path, disks: Sequence[str], data_bytes: int, ignore: bool) -> dict[str, str]:
    """The result of raidctl check for the index. Raises DeviceError if a rule fails, unless ignore."""
    command = check_command(raidctl, disks, data_bytes)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode and not ignore:
        text = subprocess.run(
            [*command[:2], *command[3:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        raise device.DeviceError(
            "raidctl check failed; correct its findings, or continue with "
            f"--ignore-check:\n{text.stdout}{text.stderr}"
        )
    return {"check": done.stdout, "check_status": str(done.returncode)}
