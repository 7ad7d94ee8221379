# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the white paper's tests in guests of the lab: a finished one is kept for as long as nothing that decides its
figures has changed."""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import tomllib
from raidlab.base import progress
from raidlab.userland import compiler

from paper2004 import amcc
from raidtrace.benchmark import parsers
from raidtrace.demo.demo import run_in_guest, simulated_time
from raidtrace.quantity.shown import UserError
from raidtrace.recording import invariants, results
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import Recorded
from raidtrace.sweep.run.cells import Forecast

HERE = pathlib.Path(__file__).resolve().parents[1]
GUEST = HERE / "guest"
LAB = HERE.parent / "lab"
MODELS = HERE.parent / "models"
RAIDCTL = HERE.parent / "bin" / "raidctl"
KERNEL = "6.1"
MEMORY_MIB = 512  # the paper's
# Files of the models that decide when a command is done; what only decides what it does is not among them.
TIMING = ("media/drive.[ch]", "3w-9xxx/timing/*.[ch]")
PROGRAMS = ("reproduce-cell", "bonnie-batch.c", "bonnie-seeks.c")
PRELOADED = "bonnie-batch"
SEEKS = "bonnie-seeks"  # a program
SCHEDULER = "anticipatory"  # of 2.6.5, a module of ours for the lab's kernel
TIMEOUT_S = 7200
# The same model, begun a microsecond later, finds the platters turned a little further: that much of a short run's figure.
# Three builds of one day, which differed in calls of the recorder alone, came to 494.7, 503.7 and 524.3 seeks/s.
ALIKE, ALIKE_SEEKS = 0.02, 0.08
SECONDS_PER_GIB = {"dd": 1.0, "bonnie++": 4.0, "iozone": 3.5}  # first guess, until a run of its kind has ended


class ReproduceError(UserError):
    """A run did not come to a figure; the text says which, why and where to look."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A test of the paper, of its own size or smaller, as published or with one thing changed.

    settings: KEY=VALUE for the model; environment: NAME=VALUE for reproduce-cell and what it runs.
    seeks: bonnie++ 1.02c's seeks alone, with this seed; 0 for all else. draw: of chance (raidlab.uml.machine).
    """

    name: str
    test: amcc.Test
    mib: int = amcc.PUBLISHED_MIB
    memory_mib: int = MEMORY_MIB
    settings: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    seeks: int = 0
    draw: int = 0

    def drawn(self, draw: int) -> "Run":
        """The same under another draw of chance."""
        return dataclasses.replace(self, name=f"{self.name}-draw-{draw}", draw=draw) if draw else self

    def profile(self) -> str:
        """The lab's profile of the published array."""
        return f"9500s-12-{self.test.array}"

    def command(self) -> list[str]:
        """The commands in the guest, in a directory with the results of build()."""
        kind, job = amcc.job(self.test, self.mib)
        words = kind.command(job)
        if self.seeks:
            words = [f"./{SEEKS}", "seek", amcc.MOUNT, str(self.mib), str(self.seeks)]
        elif self.test.tool == "bonnie++":
            words = ["env", f"LD_PRELOAD=./{PRELOADED}.so", *words]
        return [str(GUEST / "reproduce-cell"), self.test.filesystem or "raw", str(self.test.setra_sectors), *words]


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a run. figures: by metric, as published. phases: the counts of raidtrace, see count()."""

    figures: dict[str, float]
    phases: dict[str, dict[str, float]]
    kernel: str


def _text(path: pathlib.Path) -> str:
    """Contents; of C without comments, which decide nothing."""
    text = path.read_text(encoding="utf-8")
    if path.suffix not in (".c", ".h"):
        return text
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL))


def profile_values(profile: str) -> dict[str, Any]:
    """A profile as it is written."""
    values: dict[str, Any] = tomllib.loads((LAB / "profiles" / f"{profile}.toml").read_text(encoding="utf-8"))
    return values


def inputs(profile: str) -> dict[str, str]:
    """Everything that decides a run's figures but its command and the kernel: name -> digest."""
    values = profile_values(profile)
    values.pop("fit", None)  # how its constants came about
    texts = {f"profile {profile}": json.dumps(values, sort_keys=True)}
    files = (path for pattern in TIMING for path in sorted(MODELS.glob(pattern)))
    texts |= {f"tools/models/{path.relative_to(MODELS)}": _text(path) for path in files}
    texts |= {f"tools/paper-2004/guest/{name}": _text(GUEST / name) for name in PROGRAMS}
    texts |= {
        f"tools/paper-2004/{SCHEDULER}/{path.name}": _text(path) for path in sorted((HERE / SCHEDULER).glob("*.[ch]"))
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def _digest(what: object) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def key(run: Run, kernel: str) -> str:
    """The digest of the inputs of a run: command, guest, array, kernel."""
    command = run.command()[1:]
    files = inputs(run.profile())
    digests = [
        files[f"profile {run.profile()}"],
        command,
        run.memory_mib,
        run.settings,
        run.environment,
        kernel,
        run.draw,
    ]
    if run.seeks:  # the short runs that speak for other sources have none
        digests += [text for name, text in files.items() if SEEKS in name or SCHEDULER in name]
    return _digest(digests)


def sources(run: Run) -> str:
    """The digest of the files that determine when a command completes."""
    return _digest(inputs(run.profile()))


Behaviour = dict[str, dict[str, float]]  # of the short runs: name -> metric -> figure


def behaviour(short: dict[str, Result]) -> Behaviour:
    """The behaviour of the model in the short runs. Sources may differ and behave the same."""
    return {name: result.figures for name, result in short.items()}


def differences(one: Behaviour, other: Behaviour) -> list[str]:
    """A text for each figure that differs by more than that. Empty: the models do the same."""
    different = []
    for name in sorted(one.keys() | other.keys()):
        for metric in sorted(one.get(name, {}).keys() | other.get(name, {}).keys()):
            a, b = one.get(name, {}).get(metric), other.get(name, {}).get(metric)
            if a is None or b is None or abs(a / b - 1) > (ALIKE_SEEKS if metric == "seeks" else ALIKE):
                different.append(f"{name} {metric}: {a} and {b}")
    return different


def build(out: pathlib.Path) -> str:
    """Make the lab, and the programs of the guests in `out`. Return: the kernel's version."""
    command = [str(RAIDCTL), "lab", "build", "--kernel", KERNEL]  # its progress is on stderr
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False,
                          env=simulated_time())  # fmt: skip
    if done.returncode != 0:
        raise ReproduceError("the lab could not be built; the reason is above")
    out.mkdir(parents=True, exist_ok=True)
    built_by = os.environ | compiler.get(progress.Progress(quiet=True)).environment()
    _compile(PRELOADED, out.resolve() / f"{PRELOADED}.so", ("-shared", "-fPIC"), built_by)
    _compile(SEEKS, out.resolve() / SEEKS, (), built_by)
    _, kernel, tree = done.stdout.splitlines()[0].split("\t")
    _build_scheduler(out, tree, built_by)
    return kernel


def _compile(name: str, made: pathlib.Path, options: tuple[str, ...], environment: dict[str, str]) -> None:
    source, new = str(GUEST / f"{name}.c"), f"{made}.new"
    done = subprocess.run(["gcc", "-O2", *options, "-o", new, source], capture_output=True, text=True, check=False,
                          env=environment)  # fmt: skip
    if done.returncode != 0:
        raise ReproduceError(f"{source} does not compile: {done.stderr.strip()}")
    pathlib.Path(new).rename(made)


def _build_scheduler(out: pathlib.Path, tree: str, environment: dict[str, str]) -> None:
    """Build the I/O scheduler for the lab's kernel, in a directory of `out`."""
    directory = out.resolve() / SCHEDULER
    shutil.copytree(HERE / SCHEDULER, directory, dirs_exist_ok=True)
    made = subprocess.run(
        ["make", "-s", "-C", tree, "ARCH=um", f"M={directory}", "W=1", "modules"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if made.returncode != 0:
        raise ReproduceError(f"{HERE / SCHEDULER} does not compile: {made.stderr.strip()}")


def kept(run: Run, directory: pathlib.Path, kernel: str, model: Behaviour | None) -> Result | None:
    """The result of an earlier run, if the same files made it or the short runs have the same results as then."""
    try:
        stored = json.loads((directory / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = stored.get("sources") == sources(run)
    if not same and model and stored.get("behaviour"):
        same = not differences(model, stored["behaviour"])
    if stored["key"] != key(run, kernel) or not same:
        return None
    return Result(stored["figures"], stored["phases"], stored["kernel"])


def perform(run: Run, directory: pathlib.Path, kernel: str, model: Behaviour | None) -> Result:
    """Boot a guest with a fresh array and run the test in it."""
    results.fresh(directory, "make reproduce")
    out = directory.parent
    for made in (out / f"{PRELOADED}.so", out / SEEKS, out / SCHEDULER / f"{SCHEDULER}.ko"):
        shutil.copy(made, directory)  # all that a guest sees
    options = ["--kernel", KERNEL, "--profile", run.profile(), "--seed", str(run.draw), "--mem", f"{run.memory_mib}M"]
    options += ["--timeout", str(TIMEOUT_S), *(word for setting in run.settings for word in ("--set", setting))]
    options += [word for pair in run.environment for word in ("--env", pair)]
    if any(f"scheduler={SCHEDULER}" in pair for pair in run.environment):
        options += ["--env", f"INSERT={SCHEDULER}.ko"]
    run_in_guest(RAIDCTL, run.name, directory, options, run.command())
    (directory / "ground-truth.csv").unlink()  # a hundred megabytes that nothing here reads
    return evaluate(run, directory, kernel, model)


def evaluate(run: Run, directory: pathlib.Path, kernel: str, model: Behaviour | None) -> Result:
    """The result of a finished run, which is stored."""
    recorded = invariants.load(directory / "run.rtdb")
    if recorded.meta.get("end") != "complete" or recorded.meta.get("invariants") != "hold":
        raise ReproduceError(f"{run.name}: the recording is not whole, see raidctl report {directory}/run.rtdb")
    try:
        if run.seeks:
            figures = {"seeks": seeks_per_second(recorded.output)}
        else:
            figures = amcc.figures(run.test, run.mib, recorded.output)
        result = Result(figures, count(recorded), kernel)
    except (parsers.ParseError, ValueError, KeyError) as error:
        raise ReproduceError(f"{run.name}: {error}; more in {directory}") from error
    made = {"key": key(run, kernel), "sources": sources(run), "behaviour": model}
    text = json.dumps({**made, **dataclasses.asdict(result)}, indent=1)
    (directory / "result.json").write_text(text + "\n", encoding="utf-8")
    return result


def count(recorded: Recorded) -> dict[str, dict[str, float]]:
    """By phase of the benchmark and direction: requests, MiB, small requests (up to 4 KiB), in flight on average."""
    by_phase = {}
    for phase in dict.fromkeys(p.name for p in recorded.phases):
        span = recorded.whole(phase)
        numbers: dict[str, float] = {"seconds": span.length() / 1e9}
        for direction in ("read", "write"):
            figures = Figures(span, direction)
            numbers[f"{direction}s"] = span.count(direction, "completed")
            numbers[f"{direction}_mib"] = span.count(direction, "bytes_completed") / amcc.MIB
            sizes = span.histogram(direction, "size")
            numbers[f"small_{direction}s"] = sum(n for sectors, n in sizes.items() if sectors <= 8)
            numbers[f"{direction}s_in_flight"] = 0.0 if figures.depth_is_bound() else figures.depth() or 0.0
            waited_ms = span.count(direction, "d2c_sum_ns") / 1e6
            numbers[f"{direction}_wait_ms"] = waited_ms / max(numbers[f"{direction}s"], 1)
        by_phase[phase] = numbers
    return by_phase


def seeks_per_second(output: str) -> float:
    """Seeks per second in the output of bonnie-seeks. ValueError: it has none."""
    match = re.search(r"^(\d+) seeks in ([\d.]+) s$", output, re.MULTILINE)
    if match is None:
        raise ValueError("it does not say how long the seeks took")
    return int(match[1]) / float(match[2])


def run_all(
    runs: Sequence[Run], out: pathlib.Path, jobs: int, say: Callable[[str], None], model: Behaviour | None = None
) -> dict[str, Result]:
    """All runs, the long ones first, so many guests at once; name -> result. What an earlier call finished is kept.

    model: behaviour() of the short runs; None for these themselves.
    """
    kernel = build(out)
    results = {run.name: result for run in runs if (result := kept(run, out / run.name, kernel, model))}
    todo = {run.name: run for run in runs if run.name not in results}
    expected = {name: run.mib / 1024 * SECONDS_PER_GIB[run.test.tool] for name, run in todo.items()}
    forecast = Forecast(expected, {name: run.test.tool for name, run in todo.items()}, jobs)

    def ended(run: Run, how: str) -> None:
        done = f"{len(runs) - len(todo) + len(forecast.seconds)} of {len(runs)}"
        say(f"  {run.name:<22} {run.test.title():<30} {how:>7}; {done}, about {forecast.left() / 60:.0f} min left")

    for run in runs:
        if run.name in results:
            ended(run, "kept")

    def one(run: Run) -> tuple[Run, Result]:
        forecast.begin(run.name)
        return run, perform(run, out / run.name, kernel, model)

    order = sorted(todo.values(), key=lambda run: -expected[run.name])
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, run) for run in order]
        try:
            for future in concurrent.futures.as_completed(waiting):
                run, results[run.name] = future.result()
                forecast.end(run.name)
                ended(run, f"{forecast.seconds[run.name]:.0f} s")
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
    return results
