# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a cell in a guest of the lab. Its steps become a shell script; the guest has fresh disks at each boot."""

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence

from raidtrace.benchmark import parsers
from raidtrace.benchmark import registry as benchmark
from raidtrace.quantity import trials, units
from raidtrace.quantity.shown import UserError
from raidtrace.recording import breakdown, database, sample_rows, spans
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import DATA, OUTSIDE, Recorded, merged
from raidtrace.sweep import plan, steps
from raidtrace.sweep.index import Outcome
from raidtrace.sweep.journal import MARKER

# The rows of a sweep's table `queue`: counters of each disk, phase and direction of a cell, from its recording. With
# md, both levels have rows. A disk without requests (md) has no `issued` and no figure derived from it: None.

QueueRow = tuple[object, ...]


def read_queues(path: pathlib.Path) -> tuple[str, str, tuple[QueueRow, ...]]:
    """Standard output and standard error of the command, and the rows without the cell. Raises RecordingError."""
    with sample_rows.opened(path) as rows:
        texts, recorded = database.output(rows.db), spans.read(path, rows)
        return texts["stdout"], texts["stderr"], tuple(_queue_rows(recorded, rows))


def _queue_rows(recorded: Recorded, rows: sample_rows.SampleRows) -> Iterator[QueueRow]:
    names = list(dict.fromkeys(phase.name for phase in recorded.phases if phase.name != OUTSIDE))
    for target in recorded.targets:
        ahead = next((int(one.value) for one in recorded.settings
                      if (one.target, one.name) == (target.target, "readahead_sectors")), None)  # fmt: skip
        for name in names:
            mine = [span for span in recorded.spans if (span.target, span.phase) == (target.target, name)]
            samples = rows.of(target.target, [span.number for span in mine])
            seconds = sum(end - start for *_, start, end in samples) / 1e9
            times = breakdown.of(merged(mine)) if mine else None
            shares = (times.busy_share, times.held_share, times.backlog_share) if times else (None,) * 3
            for direction in (direction for direction in DATA if any(direction in span.flow for span in mine)):
                f = Figures(merged(mine), direction)
                octets = rows.flow(direction, "bytes_queued") or rows.filled(0)
                steady = trials.steadiness(trials.windows([(start, end, octets[at]) for at, *_, start, end in samples]))
                requests = (None, None, None) if target.bio_based else tuple(
                    f.known(counter) for counter in ("issued", "bytes_issued", "sequential"))  # fmt: skip
                depth = None if target.bio_based or f.depth_is_bound() else f.depth()
                yield (target.disk, name, direction, seconds, f.known("queued"), f.known("splits"),
                       f.known("back_merges"), requests[0], f.known("bytes_queued"), *requests[1:], depth, ahead,
                       *(steady or (None, None)), *shares)  # fmt: skip


MOUNT = "/run/lab/mnt"
SCRIPT, STEP, SETUP = "cell.sh", "step", "setup.log"
FILES = (SCRIPT, STEP, SETUP, steps.JOB_FILE)  # of a cell, written by this module
MEMORY = "256M"
NAMES = {"nvme": "nvme{number}n1", "virtio-blk": "vd{letter}"}  # of disks, by the device of a profile
STORE_FULL = "the simulated disks' contents did not fit"  # in the output of raidctl lab run
TIMEOUT_S = 3600
# The memory of a guest that is left to the page cache is not known before the run. RAM is the size after --mem.
SETTLE_S = 60  # simulated s, which take no real time: the controller's cache still contains data of mkfs


@dataclasses.dataclass
class Lab:
    """How guests are started. kernel: a series, or empty for the default. out: directory of the cells. store: size for
    the contents of simulated disks; empty: as in the plan. host: use this machine's programs instead of the lab's.
    stopped: stop() was called."""

    raidctl: pathlib.Path
    out: pathlib.Path
    kernel: str
    the_plan: plan.Plan
    store: str = ""
    host: bool = False
    stopped: bool = False
    _guests: list[subprocess.Popen[str]] = dataclasses.field(default_factory=list)
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def memory(self) -> int:
        """The memory of a guest in bytes, which is RAM in a plan."""
        return units.parse_size(str(self.the_plan.lab.get("memory", MEMORY)))

    def place(self, cell: plan.Cell) -> steps.Place:
        """The place of a cell, as it appears in the guest. The number of disks is not known here."""
        disks = disk_names(self.raidctl, cell.text("array"))
        return steps.Place(disks, MOUNT, self.memory(), lab=True, settle_s=SETTLE_S, host=self.host)

    def command(self, cell: plan.Cell, directory: pathlib.Path) -> list[str]:
        lab = self.the_plan.lab
        command = [str(self.raidctl), "lab", "run", "-q", "--profile", cell.text("array"), "--out", str(directory)]
        command += ["--host"] if self.host else []
        command += ["--mem", str(lab.get("memory", MEMORY)), "--timeout", str(lab.get("timeout_s", TIMEOUT_S))]
        store = self.store or str(lab.get("store", ""))
        command += ["--store", store] if store else []
        command += [word for setting in lab.get("set", []) for word in ("--set", setting)]
        command += ["--kernel", self.kernel] if self.kernel else []
        # The same seed would repeat the first run exactly, so each trial has its own.
        command += ["--seed", str(cell.trial - 1)] if cell.trial > 1 else []
        return [*command, "--", "sh", SCRIPT]

    def run(self, cell: plan.Cell, name: str) -> Outcome:
        """Boot a guest, run the cell and return its outcome. A failure in the guest raises no exception."""
        directory = self.out / name
        clear(directory)
        cell_steps = steps.steps(cell, self.the_plan, self.place(cell))
        (directory / SCRIPT).write_text(script(cell_steps), encoding="utf-8")
        job_file = self.the_plan.workload(cell.text("workload"))[1].get("job_file")
        if job_file:
            shutil.copyfile(str(job_file), directory / steps.JOB_FILE)
        begin = time.monotonic()
        with (directory / "stdout").open("wb") as out, (directory / "stderr").open("wb") as err:
            # with this marker, the next sweep in this directory can end the processes that a kill left
            environment = dict(os.environ, **{MARKER: marker(self.out)})
            guest = subprocess.Popen(self.command(cell, directory), stdin=subprocess.DEVNULL, stdout=out, stderr=err, text=True,
                                     start_new_session=True, env=environment)  # fmt: skip
            with self._lock:
                self._guests.append(guest)
            if self.stopped:
                stop([guest])
            status = guest.wait()
        seconds = time.monotonic() - begin
        recording = directory / "run.rtdb"
        kept = str(recording.relative_to(self.out)) if recording.is_file() else None
        if status:
            stderr = (directory / "stderr").read_text(encoding="utf-8", errors="replace")
            full = STORE_FULL in stderr
            return Outcome(why(directory, cell_steps, status), recording=kept, wall_seconds=seconds, ends=full)
        try:
            chosen, what = steps.job(cell, self.the_plan, self.place(cell))
            figures, rows = results(chosen, what, recording)
            lab = json.loads((directory / "lab.json").read_text(encoding="utf-8"))
        except (UserError, OSError, ValueError, KeyError) as error:
            return Outcome(str(error), recording=kept, wall_seconds=seconds)
        if lab.get("log_lost"):
            return Outcome("the controller's log is incomplete", recording=kept, wall_seconds=seconds)
        return Outcome("", figures, rows, kept, seconds, str(lab.get("kernel")))

    def stop(self) -> None:
        """End the guests. A signal handler calls this."""
        self.stopped = True
        with self._lock:
            stop(self._guests)


@functools.cache
def disk_names(raidctl: pathlib.Path, profile: str) -> tuple[str, ...]:
    """The names of a profile's disks in a guest, by the kind of device. Those of SCSI if the profile names none."""
    command = [str(raidctl), "lab", "show", profile]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    device = re.search(r'^ *device +"([a-z0-9-]+)"', done.stdout, re.MULTILINE)
    name = NAMES.get(device[1] if device else "", "sd{letter}")
    return tuple(name.format(number=at, letter=chr(97 + at)) for at in range(26))


def marker(out: pathlib.Path) -> str:
    """The marker in the environment of all processes of the sweep in a directory."""
    return f"lab:{out.resolve()}"


def results(
    chosen: benchmark.Benchmark, what: benchmark.Job, recording: pathlib.Path
) -> tuple[tuple[parsers.Figure, ...], tuple[tuple[object, ...], ...]]:
    """The figures that the benchmark printed, and the rows of its recording."""
    out, err, rows = read_queues(recording)
    return chosen.parse(err if chosen.name == "dd" else out, what), rows


def script(cell_steps: Sequence[steps.Step]) -> str:
    """The steps as a shell script. The file `step` contains the number of the running step."""
    lines = [
        "#!/bin/sh",
        "# made by raidctl sweep for a guest of the lab; on another machine it would overwrite disks",
        "set -eu",
    ]
    lines.append("grep -q '^simulated: yes' /proc/raidlab/status")
    for at, step in enumerate(cell_steps, 1):
        lines.append(f"echo {at} >{STEP}  # {step.purpose}")
        lines.append(step.text() if step.measured or step.path else f"{step.text()} >>{SETUP} 2>&1")
    return "\n".join(lines) + "\n"


def clear(directory: pathlib.Path) -> None:
    """Make an empty directory. Files of an earlier run are removed. Raises OSError for any other file."""
    directory.mkdir(parents=True, exist_ok=True)
    kept = (*FILES, "stdout", "stderr", "run.rtdb", "run.rtdb-journal", "lab.json", "kernel.log")
    for path in directory.iterdir():
        if path.name not in kept and not path.name.startswith("ground-truth"):
            raise OSError(f"{path} was not made by a sweep; name another directory with --out")
        path.unlink()


def why(directory: pathlib.Path, cell_steps: Sequence[steps.Step], status: int) -> str:
    """A text with the step that failed, from the files of the guest."""
    try:
        at = int((directory / STEP).read_text(encoding="ascii"))
        where = f"step {at}, {cell_steps[at - 1].purpose}: {cell_steps[at - 1].brief()}"
    except (OSError, ValueError, IndexError):
        where = "before the first step"
    last = []
    for name in (SETUP, "stderr"):
        path = directory / name
        if path.is_file():
            last += path.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-2:]
    meaning = {
        124: ", not finished in time",
        125: ", the lab failed",
        126: ", the guest's kernel printed a warning",
    }.get(status, "")
    return f"{where}: exit status {status}{meaning}: " + " | ".join(last)


def stop(guests: Sequence[subprocess.Popen[str]]) -> None:
    """End guests. Each has its own session, so its processes end with it."""
    for guest in guests:
        if guest.poll() is None:
            os.killpg(guest.pid, signal.SIGTERM)
    for guest in guests:
        guest.wait()


def build_command(raidctl: pathlib.Path, kernel: str) -> list[str]:
    """The command that builds the lab, unless it is built."""
    return [str(raidctl), "lab", "build"] + (["--kernel", kernel] if kernel else [])


def build(raidctl: pathlib.Path, kernel: str) -> None:
    """Build the lab, once for all guests, with its progress on standard error. Raises OSError."""
    command = build_command(raidctl, kernel)
    if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False).returncode:
        raise OSError("the lab could not be built; the reason is above")
