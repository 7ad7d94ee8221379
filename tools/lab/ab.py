# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab ab: one command on several kernels, two guests at a time, and what differs."""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import compare
import guest
import modules
import recorded
import runner
import toolchain
import tree
import verdict
import virtual
from failure import LabError
from kernel import Kernel
from progress import Progress

_FAILED = 1
_MOST = 26


def act(arguments: argparse.Namespace) -> int:
    """Status 0; 1 if a repeated run differed."""
    if arguments.vm:
        virtual.refuse_comparison()
    names: list[str] = arguments.kernels
    if not 2 <= len(names) <= _MOST:
        raise LabError("ab", f"{len(names)} kernels given", f"Name 2 to {_MOST}: --kernel 6.1 --kernel DIR")
    recorded.require_tools()
    progress = Progress(arguments.quiet)
    runner.profile_of(arguments, progress)
    kernels = [_ready(name, progress) for name in names]
    top = Path(arguments.out).absolute()
    places = [(number, top / compare.letter(number).lower()) for number in range(len(kernels))]
    if arguments.repeat:
        places += [(number, path.with_name(f"{path.name}-again")) for number, path in places]
    runs = _all(arguments, [(kernels[number], out) for number, out in places], progress)
    firsts, again = runs[: len(kernels)], runs[len(kernels) :]
    unlike = [compare.letter(n) for n, (one, other) in enumerate(zip(firsts, again)) if one.truth != other.truth]
    sections = compare.sections([run.spans for run in firsts])
    if not sections:
        raise LabError("ab", "the recordings have no phase in common", f"Look at them: raidctl report {top}/a/*.rtdb")
    verdicts = _verdicts(firsts, unlike, bool(again))
    if arguments.json:
        print(json.dumps(_as_json(arguments, kernels, firsts, sections, verdicts, unlike), indent=2))
    else:
        _print(arguments, kernels, sections, verdicts)
    return _FAILED if unlike else 0


def _ready(name: str, progress: Progress) -> Kernel:
    """Kernel and modules built, one after the other and with all processors, before any guest starts."""
    lab_kernel = tree.pick(name, progress)
    for module in (modules.TW9000, modules.RAIDTRACE):
        modules.build(module, lab_kernel, progress)
    return lab_kernel


def _all(
    arguments: argparse.Namespace, places: list[tuple[Kernel, Path]], progress: Progress
) -> list[recorded.Recorded]:
    """A guest has one processor: as many side by side as there are, at most two."""

    def one(place: tuple[Kernel, Path]) -> recorded.Recorded:
        lab_kernel, out = place
        out.mkdir(parents=True, exist_ok=True)
        with open(out / "output", "wb") as output:
            how = runner.How(Progress(quiet=True), (output, output))

            def boot(command: list[str], directory: Path) -> verdict.Verdict:
                return runner.boot(arguments, lab_kernel, command, directory, how)

            return recorded.run(arguments, lab_kernel.name, boot, out)

    progress.begin(f"{len(places)} runs")
    with ThreadPoolExecutor(min(2, toolchain.jobs())) as pool:
        try:
            runs = []
            for run in pool.map(one, places):
                runs.append(run)
                progress.update(len(runs) / len(places))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            guest.STOP.set()
            raise
    progress.end()
    return runs


def _verdicts(runs: list[recorded.Recorded], unlike: list[str], repeated: bool) -> list[str]:
    """What is the same down to the last bit."""
    said = []
    for number, run in enumerate(runs[1:], 1):
        if run.truth == runs[0].truth:
            commands = run.facts["commands"]
            said.append(
                f"{compare.letter(number)} is identical to A: "
                f"the controller was given the same {commands:,} commands at the same times."
            )
    if unlike:
        said.append(f"NOT deterministic: {', '.join(unlike)} gave another ground truth when it ran again.")
    elif repeated:
        said.append("Each ran twice with the same ground truth, byte for byte: every difference is the kernels'.")
    return said


def _print(
    arguments: argparse.Namespace, kernels: list[Kernel], sections: list[compare.Section], verdicts: list[str]
) -> None:
    for number, lab_kernel in enumerate(kernels):
        print(f"{compare.letter(number)}          {lab_kernel.name}")
    print(f"simulated  profile {arguments.profile}: the controller and all times are of the lab's model")
    print(f"command    {' '.join(arguments.command)}")
    for section in sections:
        print(f"\nphase {section.phase}, {section.disk}")
        print("\n".join(compare.lines(section)))
        print("\n".join(f"  {line}" for line in section.findings))
    if verdicts:
        print("\n" + "\n".join(verdicts))
    sys.stdout.flush()


def _as_json(
    arguments: argparse.Namespace,
    kernels: list[Kernel],
    runs: list[recorded.Recorded],
    sections: list[compare.Section],
    verdicts: list[str],
    unlike: list[str],
) -> dict[str, Any]:
    described = [
        {
            "letter": compare.letter(number),
            "version": lab_kernel.version,
            "source": str(lab_kernel.tree) if lab_kernel.tree else None,
            "described": lab_kernel.described,
            "directory": str(run.directory),
            "ground_truth_sha256": run.truth,
            "identical_to_a": run.truth == runs[0].truth,
            "simulated_seconds": run.facts["simulated_seconds"],
        }
        for number, (lab_kernel, run) in enumerate(zip(kernels, runs))
    ]
    return {
        "simulated": True,
        "profile": arguments.profile,
        "command": arguments.command,
        "kernels": described,
        "deterministic": not unlike if arguments.repeat else None,
        "sections": [
            {
                "phase": section.phase,
                "disk": section.disk,
                "direction": section.direction,
                "measures": {row.name: row.values for row in section.rows},
                "ratios": {row.name: [row.ratio(number) for number in range(1, len(kernels))] for row in section.rows},
                "findings": section.findings,
            }
            for section in sections
        ],
        "verdicts": verdicts,
    }
