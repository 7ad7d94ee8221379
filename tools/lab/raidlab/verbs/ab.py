# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab ab: one command on several kernels, and the differences. In simulated time, as many guests run
concurrently as processors and memory allow. In virtual machines, one runs after the other, and only counts are compared."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import coverage, linux, patched, tree
from raidlab.kernel.linux import Added, Kernel
from raidlab.uml import guest, modules, runner, verdict
from raidlab.verbs import ab_text, compare, judge, measures, workloads
from raidlab.vm import virtual

_FAILED = 1
_MOST = 26


@dataclass(frozen=True)
class Contender:
    """A kernel to compare: its name, the description of its source, and the function that runs a command on it with a seed,
    with results in a directory."""

    name: str
    tree: Path | None
    described: str | None
    run: Callable[[list[str], Path, int, str], measures.Recorded]
    has: frozenset[str] = frozenset()  # options of its configuration that are set, without CONFIG_


# Parameters: command, kernel, directory for results, seed, profile ("" means --profile's).
Place = tuple[Contender, list[str], Path, int, str]


def act(arguments: argparse.Namespace) -> int:
    """Returns 0, or 1 if a repeated run differed or a workload of --workload is slower."""
    names: list[str] = arguments.kernels
    patches = patched.listed(arguments.patch, arguments.series)
    added = Added(arguments.variant, "".join(map(_fragment, arguments.config)))
    alone = bool(arguments.config) and len(names) <= 1 and not (patches or arguments.range or arguments.tree)
    _check(arguments, bool(patches or arguments.range or arguments.tree or alone))
    some = workloads.of_set(arguments.workload) if arguments.workload else ()
    if some:  # a verdict needs two
        arguments.seeds = max(2, arguments.seeds)
    measures.require_tools()
    progress = Progress(arguments.quiet)
    runner.profiles_of(arguments, progress)
    pair = None
    if arguments.range:
        pair = patched.between(names[0] if names else ".", arguments.range, progress, added)
    elif patches:
        pair = patched.obtain(names[0] if names else None, patches, progress, added)
    elif arguments.tree:
        pair = patched.with_tree(names[0] if names else None, arguments.tree, progress, added)
    if arguments.vm:
        contenders = [_virtual(arguments, name) for name in names]
    else:
        if pair:
            kernels = [pair.base, pair.patched]
        elif alone:
            kernels = patched.configured(names[0] if names else None, progress, (Added(arguments.variant), added))
        elif arguments.config:
            kernels = [one for name in names for one in patched.configured(name, progress, (added,))]
        else:
            kernels = [tree.pick(name, progress, kind=arguments.variant) for name in names]
        contenders = [_simulated(arguments, kernel, progress) for kernel in kernels]
    if some:
        return _judge(arguments, contenders, pair, some, progress)
    more = ab_text.covered(pair) if pair else []
    if pair and arguments.coverage:
        command = ["sh", "-c", coverage.watched('"$@"'), "sh", *arguments.command]
        more += coverage.table(_ran(arguments, pair, [("", command, "")], progress))
    return _compare(arguments, contenders, more, progress)


def between(arguments: argparse.Namespace, kernels: list[Kernel], progress: Progress) -> int:
    """Compare one command on kernels that are built."""
    return _compare(arguments, [_simulated(arguments, kernel, progress) for kernel in kernels], [], progress)


def _check(arguments: argparse.Namespace, one: bool) -> None:
    """Refuse contradicting options. `one` kernel is enough if a patch or a range produces the other."""
    count = len(arguments.kernels)
    if sum(map(bool, (arguments.patch or arguments.series, arguments.range, arguments.tree))) > 1:
        raise LabError("ab", "more than one of --patch, --range and --tree", "Commit the patch, or leave one out.")
    if one and count > 1:
        raise LabError("ab", f"{count} kernels given", "Name only the kernel to change, such as --kernel 6.12")
    if not one and not 2 <= count <= _MOST:
        raise LabError(
            "ab",
            f"{count} kernels given",
            f"Name 2 to {_MOST}, such as --kernel 6.1 --kernel DIR; or a change: --patch, --series, --range, --tree, --config",
        )
    if arguments.coverage and not (arguments.patch or arguments.series or arguments.range or arguments.tree):
        raise LabError("ab --coverage", "nothing was changed", "Name a --patch, --series, --range or --tree.")
    if arguments.vm and (one or arguments.workload or arguments.config or arguments.variant):
        raise LabError("ab --vm", "Debian's kernels cannot be changed", "Leave out --vm (and LAB=vm), or the change.")
    if arguments.repeat and linux.needs(arguments.variant).real_time:
        raise LabError("ab --repeat", "no two runs in real time are alike", "Leave out --repeat, or --variant.")
    if arguments.workload and not one and count != 2:
        raise LabError("ab --workload", f"{count} kernels given", "Name two, or one and a --patch.")
    if arguments.vm:
        virtual.require_comparable(arguments.kernels, arguments.repeat)
        if arguments.seeds > 1:
            raise LabError(
                "ab --vm --seeds",
                "the host causes the variation in a virtual machine, not a seed",
                "Leave out --vm or --seeds.",
            )


def _compare(arguments: argparse.Namespace, contenders: list[Contender], more: list[str], progress: Progress) -> int:
    """Compare one command on all kernels. `more` are lines below the verdicts. Returns 1 if a repeated run differed."""
    top = Path(arguments.out).absolute()
    plain = [(one, top / compare.letter(number).lower()) for number, one in enumerate(contenders)]
    places: list[Place] = [
        (one, arguments.command, path.with_name(f"{path.name}-seed-{seed}") if seed else path, seed, "")
        for seed in range(arguments.seeds)
        for one, path in plain
    ]
    if arguments.repeat:
        places += [(one, arguments.command, path.with_name(f"{path.name}-again"), 0, "") for one, path in plain]
    runs = _all(places, arguments, progress)
    count = len(contenders)
    firsts, again = runs[:count], runs[count * arguments.seeds :]
    runs_of = [runs[number : count * arguments.seeds : count] for number in range(count)]
    unlike = [compare.letter(n) for n, (one, other) in enumerate(zip(firsts, again)) if one.truth != other.truth]
    sections = compare.sections([[run.spans for run in one] for one in runs_of], timed=not arguments.vm)
    if not sections:
        raise LabError("ab", "the recordings have no phase in common", f"Look at them: raidctl report {top}/a/*.rtdb")
    verdicts = [] if arguments.vm else _verdicts(runs_of, unlike, bool(again))
    verdicts += more
    if arguments.json:
        print(json.dumps(_as_json(arguments, contenders, firsts, sections, verdicts, unlike), indent=2))
    else:
        _print(arguments, contenders, firsts, sections, verdicts)
    return _FAILED if unlike else 0


def _judge(
    arguments: argparse.Namespace,
    contenders: list[Contender],
    pair: patched.Pair | None,
    some: tuple[workloads.Workload, ...],
    progress: Progress,
) -> int:
    """Print a verdict on each workload. Returns 1 if one is slower."""
    top = Path(arguments.out).absolute()

    def run(jobs: Iterable[tuple[workloads.Workload, int, int]]) -> list[measures.Recorded]:
        places = [
            (
                contenders[kernel],
                one.words(),
                top / one.name / f"{compare.letter(kernel).lower()}-{seed}",
                seed,
                one.profile,
            )
            for one, kernel, seed in jobs
        ]
        return _all(places, arguments, progress) if places else []

    have = contenders[0].has & contenders[1].has
    able = [one for one in some if have.issuperset(one.needs)]
    lacking = {one.name: sorted(set(one.needs) - have) for one in some if one not in able}
    if not able:
        missing = " ".join(sorted({f"CONFIG_{name}" for names in lacking.values() for name in names}))
        raise LabError(f"--workload {arguments.workload}", f"the kernels have no {missing}", "Try: --variant storage")
    verdicts = judge.judged(able, arguments.seeds, run)
    rows = None
    if pair and arguments.coverage:
        watched = [(one.name, replace(one, command=coverage.watched(one.command)).words(), one.profile) for one in able]
        rows = _ran(arguments, pair, watched, progress)
    names = tuple(one.name for one in contenders)
    real_time = linux.needs(arguments.variant).real_time
    print(ab_text.text(arguments, ab_text.Judged(names, pair, verdicts, lacking, real_time, rows)))
    return _FAILED if any(one.verdict == judge.SLOWER for one in verdicts) else 0


def _ran(
    arguments: argparse.Namespace, pair: patched.Pair, some: list[tuple[str, list[str], str]], progress: Progress
) -> list[coverage.Ran]:
    """Run each command (name, command, profile) once on a kernel that counts which changed lines run."""
    added = Added(arguments.variant, "".join(map(_fragment, arguments.config)))
    kernel, lines = patched.telling(pair, progress, added)
    top = Path(arguments.out).absolute()
    contender = _simulated(arguments, kernel, progress)
    places: list[Place] = [(contender, command, top / name / "ran", 0, array) for name, command, array in some]
    runs = _all(places, arguments, progress)
    return coverage.gathered(lines, {name: coverage.ran(run.directory) for (name, _, _), run in zip(some, runs)})


def _fragment(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8") + "\n"
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"--config {name}", str(error), "Name a file of lines such as CONFIG_X=y.") from None


def _at_once(arguments: argparse.Namespace, places: list[Place], progress: Progress) -> int:
    """The number of concurrent guests: as processors and memory allow. One for virtual machines, because they end with the
    thread that started them, and one in real time, because a guest needs the processors for itself."""
    if arguments.vm or linux.needs(arguments.variant).real_time:
        return 1
    profiles = {array or arguments.profile for *_, array in places}
    some = [argparse.Namespace(**vars(arguments) | {"profile": name}) for name in profiles]
    return guest.at_once(max(runner.memory_of(one, runner.profiles_of(one, progress)) for one in some))


def _simulated(arguments: argparse.Namespace, lab_kernel: Kernel, progress: Progress) -> Contender:
    """Build modules, one after the other with all processors, before any guest starts."""
    for module in (modules.RAIDLAB, modules.RAIDTRACE):
        modules.build(module, lab_kernel, progress)
    devices = runner.profiles_of(arguments, progress)
    for name in devices.drivers if devices else ():
        modules.modules_of(name, lab_kernel, progress)

    def run(command: list[str], out: Path, seed: int, array: str) -> measures.Recorded:
        more = {"seed": seed, "command": command, "profile": array or arguments.profile}
        mine = argparse.Namespace(**vars(arguments) | more)
        with open(out / "output", "wb") as output:
            how = runner.How(Progress(quiet=True), (output, output))

            def boot(command: list[str], directory: Path) -> verdict.Exit:
                return runner.boot(mine, lab_kernel, command, directory, how)

            return measures.run(mine, lab_kernel.name, boot, out)

    config = (lab_kernel.build / ".config").read_text(encoding="utf-8")
    has = frozenset(re.findall(r"^CONFIG_(\w+)=[ym]$", config, re.MULTILINE))
    return Contender(lab_kernel.name, lab_kernel.tree, lab_kernel.described, run, has)


def _virtual(arguments: argparse.Namespace, name: str) -> Contender:
    """Debian's own kernel of a series, for QEMU."""

    def run(_command: list[str], out: Path, _seed: int, _array: str) -> measures.Recorded:
        mine = argparse.Namespace(**vars(arguments) | {"kernel": name, "out": str(out), "quiet": True})
        with open(out / "output", "wb") as output:

            def boot(command: list[str], _directory: Path) -> verdict.Exit:
                return virtual.run(mine, command, (output.fileno(), output.fileno()))

            return measures.run(mine, f"Debian's {name}", boot, out)

    return Contender(f"Debian's {name}", None, None, run)


def _all(places: list[Place], arguments: argparse.Namespace, progress: Progress) -> list[measures.Recorded]:
    """Run all, as many concurrently as _at_once() allows."""
    at_once = _at_once(arguments, places, progress)

    def one(place: Place) -> measures.Recorded:
        contender, command, out, seed, array = place
        out.mkdir(parents=True, exist_ok=True)
        return contender.run(command, out, seed, array)

    def collected(coming: Iterable[measures.Recorded]) -> list[measures.Recorded]:
        runs = []
        for run in coming:
            runs.append(run)
            progress.update(len(runs) / len(places))
        progress.end()
        return runs

    progress.begin(f"{len(places)} runs")
    if at_once == 1:
        return collected(map(one, places))
    with ThreadPoolExecutor(at_once) as pool:
        try:
            return collected(pool.map(one, places))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            guest.STOP.set()
            raise


def _verdicts(runs_of: list[list[measures.Recorded]], unlike: list[str], repeated: bool) -> list[str]:
    """Sentences on runs that are equal to the last bit."""
    sentences = []
    seeds = len(runs_of[0])
    for number, runs in enumerate(runs_of[1:], 1):
        if all(run.truth == first.truth for run, first in zip(runs, runs_of[0])):
            commands = runs[0].facts["commands"]
            sentences.append(
                f"{compare.letter(number)} is identical to A{f' with all {seeds} seeds' if seeds > 1 else ''}: "
                f"the controller received the same {commands:,} commands at the same times."
            )
    if seeds == 1 and any(runs[0].truth != runs_of[0][0].truth for runs in runs_of[1:]):
        sentences.append("One run of each kernel: to separate a difference of the kernels from chance, use --seeds 5.")
    if unlike:
        sentences.append(f"NOT deterministic: a second run of {', '.join(unlike)} gave another ground truth.")
    elif repeated:
        sentences.append("Each ran twice with the same ground truth, byte for byte.")
    return sentences


def _print(
    arguments: argparse.Namespace,
    contenders: list[Contender],
    runs: list[measures.Recorded],
    sections: list[compare.Section],
    verdicts: list[str],
) -> None:
    for number, (contender, run) in enumerate(zip(contenders, runs)):
        name = f"Debian's {run.facts['kernel']}" if arguments.vm else contender.name
        print(f"{compare.letter(number)}          {name}")
    if arguments.vm:
        print(
            f"simulated  profile {arguments.profile}: the controller. Times are the host's and vary, so they are omitted"
        )
    else:
        print(f"simulated  profile {arguments.profile}: the disks and all times are of the lab's model")
    print(f"command    {' '.join(arguments.command)}")
    if arguments.seeds > 1:
        print(f"chance     {arguments.seeds} seeds each; figures are geometric means, 95 % is the interval of a ratio")
    for section in sections:
        print(f"\nphase {section.phase}, {section.disk}")
        print("\n".join(compare.lines(section)))
        for line in section.findings:
            print(f"  {line}")
    if verdicts:
        print("\n" + "\n".join(verdicts))
    sys.stdout.flush()


def _as_json(
    arguments: argparse.Namespace,
    contenders: list[Contender],
    runs: list[measures.Recorded],
    sections: list[compare.Section],
    verdicts: list[str],
    unlike: list[str],
) -> dict[str, Any]:
    described = [
        {
            "letter": compare.letter(number),
            "version": run.facts["kernel"],
            "source": str(contender.tree) if contender.tree else None,
            "described": contender.described,
            "directory": str(run.directory),
            "ground_truth_sha256": run.truth,
            "identical_to_a": None if arguments.vm else run.truth == runs[0].truth,
            "simulated_seconds": run.facts["simulated_seconds"],
        }
        for number, (contender, run) in enumerate(zip(contenders, runs))
    ]
    return {
        **virtual.nature(arguments),
        "profile": arguments.profile,
        "command": arguments.command,
        "kernels": described,
        "seeds": arguments.seeds,
        "deterministic": not unlike if arguments.repeat else None,
        "sections": [
            {
                "phase": section.phase,
                "disk": section.disk,
                "direction": section.direction,
                "measures": {row.name: row.values for row in section.rows},
                "ratios": {row.name: [row.ratio(number) for number in range(1, len(runs))] for row in section.rows},
                "intervals": {row.name: row.between for row in section.rows},
                "findings": section.findings,
            }
            for section in sections
        ],
        "verdicts": verdicts,
    }
