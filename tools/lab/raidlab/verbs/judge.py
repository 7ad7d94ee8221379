# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab ab --workload: two kernels over a set of workloads, and a verdict on each.

The figure is the time of the command. What gave the controller the same commands at the same times under the first draw of
chance is identical, and needs no other. The rest run under more draws: a difference must show at 95 %, and show again, to the
same side, under as many fresh ones. Of workloads that chance alone tells apart one in eight hundred passes both.
"""

from __future__ import annotations

import argparse
import json
import math
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from raidlab.kernel.patched import Pair
from raidlab.verbs import measures, seeds
from raidlab.verbs.recorded import Recorded
from raidlab.verbs.seeds import Draws
from raidlab.verbs.workloads import Workload

IDENTICAL, EQUAL, CHANCE, FASTER, SLOWER = "identical", "equal", "chance", "faster", "slower"
_EQUAL = 0.005  # the whole interval is nearer to 1 than this
_MOVED = 0.01  # of a ratio: what changed less is no mechanism
# What a kernel decides; the time of a request follows from these, and from what lies in the queue beside it.
_MECHANISMS = (
    ("request_bytes_mean", "size", 1 / 1024, "{:.0f}", " KiB"),
    ("in_flight_mean", "in flight", 1.0, "{:.1f}", ""),
    ("bytes", "moved", 1 / 2**20, "{:.0f}", " MiB"),
    ("sequential_share", "sequential", 100.0, "{:.0f}", " %"),
    ("back_merges", "merges", 1.0, "{:.0f}", ""),
    ("splits", "splits", 1.0, "{:.0f}", ""),
)
_MAIL = 72  # columns
_EFFECT = ("d2c_mean_ms", "only the time of a request", 1.0, "{:.2f}", " ms")

Runs = Callable[[Iterable[tuple[Workload, int, int]]], list[Recorded]]  # workload, kernel (0 or 1), draw


@dataclass(frozen=True)
class Verdict:
    """One workload. `seconds` are means of both kernels, `speed` how many times as fast the second is, `between` where that
    lies at 95 % (None with one draw), `draws` how many of each were run, `mechanism` what else changed, most first."""

    workload: Workload
    seconds: tuple[float, float]
    speed: float
    between: tuple[float, float] | None
    draws: int
    verdict: str
    mechanism: tuple[str, ...]


def judged(workloads: Iterable[Workload], draws: int, run: Runs) -> list[Verdict]:
    """Run what it takes: `draws` (2 or more) of each kernel before a difference is believed, as many again to confirm it."""
    every = list(workloads)
    found: dict[str, list[list[Recorded]]] = {one.name: [[], []] for one in every}

    def draw(some: list[Workload], which: range) -> None:
        wanted = [(one, kernel, seed) for one in some for seed in which for kernel in (0, 1)]
        for (one, kernel, _), got in zip(wanted, run(wanted)):
            found[one.name][kernel].append(got)

    draw(every, range(1))
    unlike = [one for one in every if found[one.name][0][0].truth != found[one.name][1][0].truth]
    draw(unlike, range(1, draws))
    shown = [one for one in unlike if not seeds.is_chance(_between(found[one.name]))]
    draw(shown, range(draws, 2 * draws))
    return [_verdict(one, found[one.name], draws) for one in every]


def _verdict(workload: Workload, runs: list[list[Recorded]], draws: int) -> Verdict:
    a, b = (seeds.mean(_seconds(side)) for side in runs)
    speed = (a or 0.0) / (b or 1.0)
    between = _between(runs)
    if len(runs[0]) == 1:
        said = IDENTICAL
    elif between and 1 - _EQUAL < between[0] and between[1] < 1 + _EQUAL:
        said = EQUAL
    elif len(runs[0]) <= draws or not _confirmed(runs, draws):
        said = CHANCE
    else:
        said = FASTER if speed > 1 else SLOWER
    mechanism = _mechanism(runs) if said in (FASTER, SLOWER) else ()
    return Verdict(workload, (a or 0.0, b or 0.0), speed, between, len(runs[0]), said, mechanism)


def _confirmed(runs: list[list[Recorded]], draws: int) -> bool:
    """Whether the fresh draws say the same as the first ones."""
    first, fresh = _between([side[:draws] for side in runs]), _between([side[draws:] for side in runs])
    if not first or not fresh or seeds.is_chance(fresh):
        return False
    return (first[0] > 1) == (fresh[0] > 1)


def _between(runs: list[list[Recorded]]) -> tuple[float, float] | None:
    """Where the second's speed lies, in the first's."""
    a, b = (_seconds(side) for side in runs)
    return seeds.interval(b, a)


def _seconds(side: list[Recorded]) -> list[measures.Value]:
    return [one.spans[0].seconds for one in side]


def _mechanism(runs: list[list[Recorded]]) -> tuple[str, ...]:
    """What changed beyond chance in the direction that moved more, the largest change first; if nothing did, that the time of a
    request alone changed."""
    a, b = (Draws(tuple(one.spans[0] for one in side)) for side in runs)
    direction = max(measures.DIRECTIONS, key=lambda one: max(side.value(one, "bytes") or 0.0 for side in (a, b)))
    changed: list[tuple[float, str]] = []
    for what in (*_MECHANISMS, _EFFECT):
        name, label, factor, form, unit = what
        if what == _EFFECT and changed:
            break
        before, after = a.value(direction, name), b.value(direction, name)
        if before is None or after is None or before == after:
            continue
        moved = math.log(after / before) if before and after else math.inf
        if abs(moved) < _MOVED or seeds.is_chance(seeds.interval(a.values(direction, name), b.values(direction, name))):
            continue
        changed.append((abs(moved), f"{label} {form.format(before * factor)} -> {form.format(after * factor)}{unit}"))
    return tuple(text for _, text in sorted(changed, reverse=True))


def covered(pair: Pair) -> list[str]:
    """What of the patches ran, in sentences."""
    said = []
    if not pair.compiled and not pair.included:
        said.append("NOTHING of the patch is compiled in the lab's kernel: this comparison says nothing about it.")
    if pair.elsewhere:
        said.append(f"Not in the lab's kernel, so not judged: {' '.join(pair.elsewhere)}.")
    return said


def told(arguments: argparse.Namespace, names: list[str], pair: Pair | None, found: list[Verdict]) -> str:
    """All of it, as the options want it."""
    if arguments.json:
        return json.dumps(_as_json(arguments, names, pair, found), indent=2)
    if arguments.ktap:
        return "\n".join(_as_ktap(found))
    if arguments.mail:
        return "\n".join(_as_mail(arguments, names, pair, found))
    return "\n".join(_as_text(arguments, names, pair, found))


def summary(found: list[Verdict]) -> str:
    """One line."""
    parts = []
    for verdict in (SLOWER, FASTER, CHANCE, EQUAL, IDENTICAL):
        count = sum(one.verdict == verdict for one in found)
        if count:
            parts.append(f"{count} {'told apart by chance alone' if verdict == CHANCE else verdict}")
    return f"{len(found)} workloads: " + ", ".join(parts)


def _as_text(arguments: argparse.Namespace, names: list[str], pair: Pair | None, found: list[Verdict]) -> list[str]:
    said = [summary(found) + ".", *(covered(pair) if pair else [])]
    said += ["", *(f"{letter}          {name}" for letter, name in zip("AB", names))]
    said += [f"simulated  profile {arguments.profile}: the controller and all times are of the lab's model", ""]
    return said + _table(found)


def _table(found: list[Verdict]) -> list[str]:
    """At most 72 columns wide: what stands in a mail."""
    said = [f"{'workload':17}{'A, s':>8}{'B, s':>8}{'speed':>8}  {'95 %':13}{'draws':>5}  verdict"]
    for one in found:
        between = f"{one.between[0]:.3f}-{one.between[1]:.3f}" if one.between else ""
        said.append(
            f"{one.workload.name:17}{one.seconds[0]:8.3f}{one.seconds[1]:8.3f}{one.speed:8.3f}  {between:13}{one.draws:5}"
            f"  {one.verdict}"
        )
        if one.mechanism:
            said += textwrap.wrap("; ".join(one.mechanism), 68, initial_indent="    ", subsequent_indent="    ")
    return said


def _as_mail(arguments: argparse.Namespace, names: list[str], pair: Pair | None, found: list[Verdict]) -> list[str]:
    said = textwrap.wrap(
        f"Judged by raidtrace's lab, a simulated 3ware array (profile {arguments.profile}) under the real 3w-9xxx driver "
        "in User Mode Linux: times are the model's, one processor. Speed is that of B, in A's; draws are of what is chance "
        "on a machine.",
        _MAIL,
    )
    said += [
        "",
        f"A: {names[0]}",
        *textwrap.wrap(f"B: {names[1]}", _MAIL),
        "",
        *_table(found),
        "",
        summary(found) + ".",
    ]
    for line in covered(pair) if pair else []:
        said += textwrap.wrap(line, _MAIL)
    words = ["raidctl lab ab", *(f"--kernel {name}" for name in arguments.kernels)]
    words += [f"--patch {name}" for name in arguments.patch] + [f"--series {name}" for name in arguments.series]
    words += [f"--set {one}" for one in arguments.set] + [
        f"--profile {arguments.profile}",
        f"--seeds {arguments.seeds}",
    ]
    return said + [
        "",
        "To repeat it:",
        *(f"  {line}" for line in _continued([*words, f"--workload {arguments.workload}"])),
    ]


def _continued(words: list[str]) -> list[str]:
    """A command in lines of a mail."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 5 > _MAIL:
            lines[-1] += " \\"
            lines.append("  " + word)
        else:
            lines[-1] += " " + word
    return lines


def _as_ktap(found: list[Verdict]) -> list[str]:
    said = ["KTAP version 1", f"1..{len(found)}"]
    for number, one in enumerate(found, 1):
        said += [
            f"# {one.workload.name}: {one.verdict}, {one.speed:.3f} times as fast {'; '.join(one.mechanism)}".rstrip()
        ]
        said += [f"{'not ok' if one.verdict == SLOWER else 'ok'} {number} {one.workload.name}"]
    return said


def _as_json(
    arguments: argparse.Namespace, names: list[str], pair: Pair | None, found: list[Verdict]
) -> dict[str, object]:
    return {
        "simulated": True,
        "profile": arguments.profile,
        "kernels": names,
        "patch": {"compiled": pair.compiled, "included": pair.included, "elsewhere": pair.elsewhere} if pair else None,
        "workloads": [
            {
                "name": one.workload.name,
                "does": one.workload.does,
                "command": one.workload.command,
                "prepare": one.workload.prepare,
                "seconds": one.seconds,
                "speed": one.speed,
                "interval": one.between,
                "draws": one.draws,
                "verdict": one.verdict,
                "mechanism": one.mechanism,
            }
            for one in found
        ],
    }
