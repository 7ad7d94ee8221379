# SPDX-License-Identifier: GPL-2.0-or-later
"""make misconceptions: run the experiments, keep what they counted, write their part of reproduction.rst."""

import argparse
import hashlib
import json
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paper2004.misconceptions import EXPERIMENTS, LAB, MACHINE, ROUND, measure, medians
from paper2004.reproduction import DOCUMENTATION, heading, put, table, wrap
from raidtrace.demo.demo import run_in_guest
from raidtrace.quantity.shown import UserError
from raidtrace.recording import observation, results
from raidtrace.recording.columns import RecordingError

TOP = pathlib.Path(__file__).resolve().parents[3]
RAIDCTL = TOP / "tools" / "bin" / "raidctl"
CELL = pathlib.Path(__file__).resolve().parents[1] / "guest" / "misconceptions-cell"
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
    """misconceptions.json, and its part of reproduction.rst."""
    text = json.dumps(_rounded(state), indent=1, sort_keys=True) + "\n"
    (to / STATE).write_text(text, encoding="utf-8")
    put(to, "misconceptions", page(json.loads(text)))  # what the page is made of is what is kept


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


# A part of Documentation/reproduction.rst: made of what the runs counted, every number of it.

HOW = """The white paper names eight common misconceptions about benchmarks of disks. ``make misconceptions`` tests each with
an experiment, and computes the verdict from the counters of raidtrace. Most experiments run in the lab: Linux {kernel},
profile 9500s-12-raid0, simulated times. Processor time is free in the lab, so three run in QEMU (:doc:`lab`) with Linux
{machine}, whose times depend on the host: numbers are medians of rounds, and a verdict needs the same result in each round.
Compare only their ratios. A question that neither can answer is *out of reach*.
``tools/paper-2004/guest/misconceptions-cell`` has the commands, ``misconceptions.json`` the counters."""


def page(state: Mapping[str, Any]) -> list[str]:
    """The part of the page, from misconceptions.json."""
    lines = [*heading("Eight misconceptions"), *wrap(HOW.format(kernel=state["kernel"], machine=state["machine"])), ""]
    for one in EXPERIMENTS:
        judgement = one.judge(state["runs"])
        lines += [*wrap(f'**{one.number}. "{one.claim}": {judgement.verdict}** ({one.where}). '
                        f"{' '.join((*judgement.sentences, one.limits))}"), ""]  # fmt: skip
        if len(judgement.rows) > 2:  # the sentences have the numbers of two rows
            lines += table(judgement.header, judgement.rows)
    return lines


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 written, 1 failed, 2 usage."""
    top = argparse.ArgumentParser(
        "misconceptions", description="The eight misconceptions of the white paper, measured."
    )
    top.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("misconceptions-out"), help="directory of the runs"
    )
    top.add_argument("--to", type=pathlib.Path, default=DOCUMENTATION, help="where page and numbers go")
    top.add_argument("--no-machine", action="store_true", help="keep what the virtual machine measured before")
    top.add_argument("--page", action="store_true", help="run nothing: write the page from the numbers that are there")
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
    print(f"Written: {options.to}/reproduction.rst, {STATE}")
    return 0
