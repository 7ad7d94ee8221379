# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of raidctl lab ab --workload: text, mail, or JSON."""

from __future__ import annotations

import argparse
import json
import textwrap
from dataclasses import asdict, dataclass

from raidlab.kernel import coverage
from raidlab.kernel.patched import Pair
from raidlab.verbs.judge import CHANCE, EQUAL, FASTER, IDENTICAL, OTHER, SLOWER, Decided

from raidtrace.quantity import units

_MAIL = 72  # width in columns
_SEEN = 0.1  # width of an interval of the speed; a wider one cannot show a change of this size


@dataclass(frozen=True)
class Judged:
    """The result: the names of both kernels, the part of a change that is in the second, the verdicts, the omitted
    workloads with the options that the kernels lack, whether times are the host's (a variant in real time), and which
    changed lines ran (None without --coverage)."""

    names: tuple[str, ...]
    pair: Pair | None
    verdicts: list[Decided]
    lacking: dict[str, list[str]]
    real_time: bool = False
    ran: list[coverage.Ran] | None = None


def covered(pair: Pair) -> list[str]:
    """Sentences on parts of the patches that are not compiled or not in the lab's kernel."""
    sentences = []
    if not pair.compiled and not pair.included:
        sentences.append("NOTHING of the patch is compiled in the lab's kernel: this comparison says nothing about it.")
    if pair.elsewhere:
        sentences.append(f"Not in the lab's kernel, so not judged: {' '.join(pair.elsewhere)}.")
    return sentences


def text(arguments: argparse.Namespace, judged: Judged) -> str:
    """The whole result in the format that the options select."""
    if arguments.json:
        return json.dumps(_as_json(arguments, judged), indent=2)
    if arguments.mail:
        return "\n".join(_as_mail(arguments, judged))
    return "\n".join(_as_text(arguments, judged))


def summary(verdicts: list[Decided]) -> str:
    """The result in one line."""
    parts = []
    for verdict in (SLOWER, FASTER, OTHER, CHANCE, EQUAL, IDENTICAL):
        count = sum(one.verdict == verdict for one in verdicts)
        if count:
            parts.append(f"{count} {'different only by chance' if verdict == CHANCE else verdict}")
    return f"{len(verdicts)} workload{'s' if len(verdicts) != 1 else ''}: " + ", ".join(parts)


def _is_wide(one: Decided) -> bool:
    return (
        one.verdict == CHANCE
        and one.between is not None
        and not 1 - _SEEN < one.between[0] <= one.between[1] < 1 + _SEEN
    )


def _notes(judged: Judged) -> list[str]:
    """Sentences that a reader needs to interpret the verdicts."""
    sentences = covered(judged.pair) if judged.pair else []
    for missing in sorted({tuple(lack) for lack in judged.lacking.values()}):
        names = [name for name, lack in judged.lacking.items() if tuple(lack) == missing]
        sentences.append(
            f"Skipped, because a kernel lacks {' '.join(f'CONFIG_{one}' for one in missing)}: {' '.join(names)}."
        )
    wide = [one.workload.name for one in judged.verdicts if _is_wide(one)]
    if wide:
        sentences.append(
            f"Undecided, because the interval reaches beyond {_SEEN:.0%}, so a change of that size may be hidden; to narrow it,"
            f" use more --seeds: {' '.join(wide)}."
        )
    if others := [one.workload.name for one in judged.verdicts if one.verdict == OTHER]:
        sentences.append(
            "Other work: the command makes other calls in A than in B, or its calls were not recorded, so neither is"
            f" called faster: {' '.join(others)}."
        )
    if judged.verdicts and all(one.verdict == IDENTICAL for one in judged.verdicts):
        without = "" if judged.ran is not None else " (to check: --coverage)"
        sentences.append(
            "Identical: the disks received the same commands at the same times. The processor time of the patch is not"
            f" measured. A workload that does not run the patched code does not test the patch{without}."
        )
    if judged.real_time:
        spread = sorted(one.spread - 1 for one in judged.verdicts)
        sentences.append(
            "Real time: the disks are simulated, their clock and the processors are this machine's. In A alone, the"
            f" slowest run of a workload took {spread[0]:.1%} to {spread[-1]:.1%} longer than its fastest."
        )
    return sentences


def _as_text(arguments: argparse.Namespace, judged: Judged) -> list[str]:
    lines = [summary(judged.verdicts) + ".", *_notes(judged)]
    lines += ["", *(f"{letter}          {name}" for letter, name in zip("AB", judged.names))]
    times = "the disks are" if judged.real_time else "the disks and all times are"
    return lines + [
        f"simulated  profile {_arrays(arguments, judged)}: {times} of the lab's model",
        "",
        *_table(judged.verdicts),
        *_coverage(judged),
    ]


def _coverage(judged: Judged) -> list[str]:
    return [] if judged.ran is None else ["", *coverage.table(judged.ran)]


def _arrays(arguments: argparse.Namespace, judged: Judged) -> str:
    return ", ".join(dict.fromkeys(one.workload.profile or arguments.profile for one in judged.verdicts))


def _time(seconds: float) -> str:
    return units.ns(seconds * 1e9)


def _table(verdicts: list[Decided]) -> list[str]:
    """The table, at most 72 columns wide so that it fits into a mail."""
    lines = [f"{'workload':18}{'A':>9}{'B':>9}{'speed':>7}  {'95 %':13}{'seeds':>5}  verdict"]
    for one in verdicts:
        between = f"{one.between[0]:.3f}-{one.between[1]:.3f}" if one.between else ""
        lines.append(
            f"{one.workload.name:18}{_time(one.seconds[0]):>9}{_time(one.seconds[1]):>9}{one.speed:7.3f}  {between:13}"
            f"{one.seeds:5}  {one.verdict}"
        )
        if one.mechanism:
            lines += textwrap.wrap("; ".join(one.mechanism), 68, initial_indent="    ", subsequent_indent="    ")
    return lines


def _as_mail(arguments: argparse.Namespace, judged: Judged) -> list[str]:
    times = (
        "its times are this machine's, two processors" if judged.real_time else "times are the model's, one processor"
    )
    lines = textwrap.wrap(
        f"Judged by raidtrace's lab, simulated disks (profile {_arrays(arguments, judged)}) under Linux's own "
        f"drivers in User Mode Linux with {arguments.mem} MiB of memory: {times}. Speed is that of B relative to A. A seed"
        " sets everything that varies by chance.",
        _MAIL,
    )
    lines += [
        "",
        *(line for letter, name in zip("AB", judged.names) for line in textwrap.wrap(f"{letter}: {name}", _MAIL)),
    ]
    lines += ["", *_table(judged.verdicts), *_coverage(judged), "", summary(judged.verdicts) + "."]
    for line in _notes(judged):
        lines += textwrap.wrap(line, _MAIL)
    words = ["raidctl lab ab", *(f"--kernel {name}" for name in arguments.kernels)]
    for option in ("patch", "series", "config", "set"):
        words += [f"--{option} {value}" for value in getattr(arguments, option)]
    for option in ("range", "tree", "variant"):
        words += [f"--{option} {getattr(arguments, option)}"] if getattr(arguments, option) else []
    words += ["--coverage"] if arguments.coverage else []
    words += [
        f"--profile {arguments.profile}",
        f"--seeds {arguments.seeds}",
        f"--workload {arguments.workload}",
    ]
    return lines + ["", "To repeat it:", *(f"  {line}" for line in _continued(words))]


def _continued(words: list[str]) -> list[str]:
    """A command on several lines of a mail."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 5 > _MAIL:
            lines[-1] += " \\"
            lines.append("  " + word)
        else:
            lines[-1] += " " + word
    return lines


def _as_json(arguments: argparse.Namespace, judged: Judged) -> dict[str, object]:
    pair = judged.pair
    return {
        "simulated": True,
        "real_time": judged.real_time,
        "profile": arguments.profile,
        "kernels": judged.names,
        "patch": {"compiled": pair.compiled, "included": pair.included, "elsewhere": pair.elsewhere} if pair else None,
        "workloads": [_figures(one) for one in judged.verdicts],
        "left_out": judged.lacking,
        "coverage": None if judged.ran is None else [asdict(row) for row in judged.ran],
    }


def _figures(one: Decided) -> dict[str, object]:
    kept = ("name", "does", "command", "prepare", "filesystem", "profile")
    return {
        **{key: getattr(one.workload, key) for key in kept},
        "seconds": one.seconds,
        "speed": one.speed,
        "interval": one.between,
        "spread_of_a": one.spread,
        "draws": one.seeds,
        "verdict": one.verdict,
        "mechanism": one.mechanism,
        "measures": one.means,
    }
