# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of two phases went, side by side: a bar for each, and the states that make the difference."""

from collections.abc import Iterator, Mapping

from raidtrace.compare.spans import Comparison, Pair
from raidtrace.explain.breakdown import MARKS, drawn
from raidtrace.explain.evidence import wrap
from raidtrace.quantity import units
from raidtrace.quantity.shown import visible

LABEL = 20  # columns of a letter and a length
MIN_BAR, MAX_BAR = 10, 50
SHOWN = 0.005  # of the longer phase: a smaller difference of a state is not named


def lines(comparison: Comparison, width: int) -> Iterator[str]:
    """The bars and differences of all pairs, in lines of at most `width` columns. Both bars have one scale: the longer
    phase fills its line."""
    for pair in comparison.pairs:
        states = pair.states() if isinstance(pair, Pair) and not pair.outside() else None
        if not isinstance(pair, Pair) or not states:
            continue
        whole, room = max(sum(one.values()) for one in states), min(max(width - LABEL, MIN_BAR), MAX_BAR)
        yield from wrap(visible(f"Time of phase {pair.a.phase}, {pair.disks()}:"), width)
        for letter, one in zip("AB", states, strict=True):
            length = sum(one.values())
            bar = drawn({state: seconds / length for state, seconds in one.items()}, round(length / whole * room))
            yield f"  {letter}  {units.ns(length * 1e9):<{LABEL - 6}} {bar}".rstrip()
        yield from wrap(_legend(states), width, "  ", "  ")
        if not pair.other_times:
            yield from wrap(changed(*states), width, "  ", "  ")
        yield ""


def _legend(states: tuple[Mapping[str, float], ...]) -> str:
    return ", ".join(f"{MARKS[state]} {state}" for state in states[0] if any(one[state] > 0 for one in states))


def changed(a: Mapping[str, float], b: Mapping[str, float]) -> str:
    """How much longer or shorter B is, and by which states, the largest difference first. a, b: state -> seconds."""
    before, after = sum(a.values()), sum(b.values())
    least = SHOWN * max(before, after)
    differences = sorted(((b[state] - a[state], state) for state in a), key=lambda one: -abs(one[0]))
    parts = [f"{_seconds(by)} {state}" for by, state in differences if abs(by) >= least]
    if not parts:
        return "B takes as long as A, in each state."
    whole = f"B is {units.ns(abs(after - before) * 1e9)} {'longer' if after > before else 'shorter'}"
    return f"{whole if abs(after - before) >= least else 'B is as long as A'}: {', '.join(parts)}."


def _seconds(by: float) -> str:
    return f"{'+' if by > 0 else '-'}{units.ns(abs(by) * 1e9)}"
