# SPDX-License-Identifier: GPL-2.0-or-later
"""make misconceptions: run the experiments, keep what they counted, write the page and its figures."""

import argparse
import hashlib
import json
import pathlib
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paper2004.misconceptions import EXPERIMENTS, LAB, MACHINE, ROUND, Experiment, measure, medians
from paper2004.reproduction import heading, table
from raidtrace.demo.demo import run_in_guest
from raidtrace.plot import style as plot
from raidtrace.quantity.shown import UserError
from raidtrace.recording import observation, results
from raidtrace.recording.columns import RecordingError

TOP = pathlib.Path(__file__).resolve().parents[3]
RAIDCTL = TOP / "tools" / "bin" / "raidctl"
CELL = pathlib.Path(__file__).resolve().parents[1] / "guest" / "misconceptions-cell"
DOCUMENTATION = TOP / "Documentation"
STATE = "misconceptions.json"
MEMORY = {"cache-2": "40M", "cache-40": "40M"}  # of a guest of the lab; small, so that 40 times of it is soon written
USUAL = "96M"
MACHINE_SERIES = "6.12"
ROUNDS = 5  # of the virtual machine's runs: times there are real, and the host's other work is in them
TIMEOUT_S, MACHINE_TIMEOUT_S = 300, 1200


def names(where: str) -> list[str]:
    """Runs of the lab or of the virtual machine, each once."""
    return list(dict.fromkeys(run for one in EXPERIMENTS if one.where == where for run in one.runs))


def digest() -> str:
    """The digest of the script with the commands of the runs."""
    return hashlib.sha256(CELL.read_bytes()).hexdigest()


def guest(out: pathlib.Path, runs: Sequence[str], options: Sequence[str], timeout_s: int) -> None:
    """One guest for some runs. Its files are in out, which is made empty if it is ours."""
    results.fresh(out, "make misconceptions")
    words = ["--host", *options, "--timeout", str(timeout_s)]
    run_in_guest(RAIDCTL, " ".join(runs), out, words, [str(CELL), *runs], simulated=False)


def in_rounds(runs: Sequence[str]) -> list[str]:
    """All runs in each round, each time beginning with another one, so that none is always after the same."""
    turned = ((at, [*runs[at % len(runs) :], *runs[: at % len(runs)]]) for at in range(ROUNDS))
    return [f"{run}{ROUND}{at + 1}" for at, order in turned for run in order]


def machine_runs(out: pathlib.Path) -> tuple[dict[str, Any], str]:
    """The runs of the virtual machine, all rounds in one guest: the counts of each round, their medians, and its kernel."""
    requested = in_rounds(names(MACHINE))
    guest(out / "machine", requested, ["--vm", "--kernel", MACHINE_SERIES], MACHINE_TIMEOUT_S)
    loaded = {name: observation.load(out / "machine" / f"{name}.rtdb") for name in requested}
    runs: dict[str, Any] = {name: measure(observed) for name, observed in loaded.items()}
    for run in names(MACHINE):
        runs[run] = medians([runs[f"{run}{ROUND}{at + 1}"] for at in range(ROUNDS)])
    return runs, loaded[requested[0]].meta["kernel"]


def lab_run(name: str, out: pathlib.Path) -> dict[str, dict[str, float | None]]:
    """One run in a guest of its own: what it counted."""
    guest(out / name, [name], ["--profile", "9500s-12-raid0", "--mem", MEMORY.get(name, USUAL)], TIMEOUT_S)
    return measure(observation.load(out / name / f"{name}.rtdb"))


def run(out: pathlib.Path, before: dict[str, Any], machine: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """All runs. before: an earlier state. Its runs of the virtual machine are kept when `machine` is False."""
    runs: dict[str, Any] = {}
    todo = names(LAB)
    for at, name in enumerate(todo, 1):
        say(f"  {name} ({at} of {len(todo)} in the lab)")
        runs[name] = lab_run(name, out)
    kernel = observation.load(out / todo[-1] / f"{todo[-1]}.rtdb").meta["kernel"].removesuffix("-lab")
    if machine:
        say(f"  {' '.join(names(MACHINE))} (virtual machine, {ROUNDS} rounds, some minutes)")
        machine_state, series = machine_runs(out)
        runs |= machine_state
    else:
        machines = (*names(MACHINE), *in_rounds(names(MACHINE)))
        runs |= {name: before["runs"][name] for name in machines if name in before["runs"]}
        series = before["machine"]
    return {"kernel": kernel, "machine": series, "script": digest(), "runs": runs}


def write(state: dict[str, Any], to: pathlib.Path) -> None:
    """misconceptions.json, .rst and the figures."""
    text = json.dumps(_rounded(state), indent=1, sort_keys=True) + "\n"
    (to / STATE).write_text(text, encoding="utf-8")
    state = json.loads(text)  # what the page is made of is what is kept
    (to / "misconceptions.rst").write_text(page(state), encoding="utf-8")
    (to / "figures").mkdir(exist_ok=True)
    for one in EXPERIMENTS:
        path = to / "figures" / f"misconception-{one.number}.svg"
        judgement = one.judge(state["runs"])
        bars(path, judgement.axis, judgement.bars, one.where == LAB)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


# Documentation/misconceptions.rst: made of what the runs counted, every number of it.

WIDTH = 120
TITLE = """\
.. SPDX-License-Identifier: GPL-2.0-or-later
.. Made by "make misconceptions"; do not edit.

====================
Eight misconceptions
====================
"""
ABOUT = """For everybody who measures disks. AMCC's white paper (:doc:`reproduction`) names eight common misconceptions about
benchmarks of disks. After this page you know an experiment for each of them, and its result. ``make misconceptions`` runs
the experiments and computes each verdict from the counters of raidtrace."""
HOW = """Most experiments run in the lab: the real Linux {kernel} and its driver, with a model of controller and drives
(profile 9500s-12-raid0). Times are simulated, so a second run gives bit-identical results. Experiments about processor time,
which is free in the lab, run in a virtual machine (:doc:`lab`) with Linux {machine}. Times of an emulated machine depend on
the host. Therefore these runs are repeated in rounds of rotated order. Numbers are medians of the rounds, ratios medians of
the ratios of the rounds. A verdict needs the same result in each round. Compare only the ratios. A question that neither
can answer is *out of reach*. ``tools/paper-2004/guest/misconceptions-cell`` has the commands,
``misconceptions.json`` the counters."""


def page(state: Mapping[str, Any]) -> str:
    """The whole page from misconceptions.json."""
    lines = [TITLE, *wrap(ABOUT), "", *wrap(HOW.format(kernel=state["kernel"], machine=state["machine"])), ""]
    lines += heading("Results")
    judged = [(one, one.judge(state["runs"])) for one in EXPERIMENTS]
    lines += table(("", "misconception", "verdict", "where"),
                   [(str(one.number), one.claim, judgement.verdict, one.where) for one, judgement in judged])  # fmt: skip
    for one, _ in judged:
        lines += section(one, state)
    return "\n".join(lines).rstrip() + "\n"


def section(one: Experiment, state: Mapping[str, Any]) -> list[str]:
    """One misconception: its verdict, the table, the figure, and the limits of the experiment."""
    judgement = one.judge(state["runs"])
    lines = heading(f'{one.number}. "{one.claim}"')
    lines += [*wrap(f"**{judgement.verdict.capitalize()}.** {' '.join(judgement.sentences)}"), ""]
    lines += [f".. figure:: figures/misconception-{one.number}.svg", f"   :alt: {alt(one, state)}", ""]
    lines += table(judgement.header, judgement.rows)
    if one.where == MACHINE:
        lines += ["Measured in the virtual machine.", ""]
    if one.limits:
        lines += [*wrap(one.limits), ""]
    return lines


def alt(one: Experiment, state: Mapping[str, Any]) -> str:
    """The values of the figure as a text, for readers who cannot see it."""
    judgement = one.judge(state["runs"])
    values = ", ".join(f"{name} {label(value)}" for name, value in judgement.bars)
    return f"{judgement.axis}: {values}"


def wrap(text: str) -> list[str]:
    """Lines of a paragraph."""
    return textwrap.wrap(" ".join(text.split()), WIDTH, break_on_hyphens=False, break_long_words=False)


# The figures of Documentation/misconceptions.rst: a bar for each run, with its value.


def label(value: float) -> str:
    """A count as it is, else with a decimal below 100."""
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"


def bars(path: pathlib.Path, axis: str, rows: Sequence[tuple[str, float]], simulated: bool) -> None:
    """Draw (run, value) pairs. axis: what the values are."""
    picture = plot.figure(0.75 + 0.38 * len(rows))
    panel = picture.subplots()
    values = [value for _, value in rows]
    style = plot.STYLES[0]
    shown = panel.barh([name for name, _ in rows], values, height=0.62, color=style.fill)
    panel.bar_label(shown, list(map(label, values)), padding=4)
    panel.invert_yaxis()
    panel.set_xlim(0, 1.12 * max(values) or 1)
    panel.set_xlabel(f"{axis}{', simulated' if simulated else ', virtual machine, real time'}")
    panel.tick_params(left=False)
    plot.save(picture, [path])


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 written, 1 failed, 2 usage."""
    top = argparse.ArgumentParser(
        "misconceptions", description="The eight misconceptions of the white paper, measured."
    )
    top.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("misconceptions-out"), help="directory of the runs"
    )
    top.add_argument("--to", type=pathlib.Path, default=DOCUMENTATION, help="where page, figures and numbers go")
    top.add_argument("--no-machine", action="store_true", help="keep what the virtual machine measured before")
    top.add_argument(
        "--page", action="store_true", help="run nothing: write page and figures of the numbers that are there"
    )
    options = top.parse_args(arguments)
    file = options.to / STATE
    try:
        state = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        if not options.page:
            state = run(options.out, state, not options.no_machine, lambda line: print(line, flush=True))
        write(state, options.to)
    except (UserError, RecordingError, OSError, KeyError, ValueError) as error:
        print(f"misconceptions: {error}", file=sys.stderr)
        return 1
    print(f"Written: {options.to}/misconceptions.rst, {STATE}, figures/misconception-*.svg")
    return 0
