# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of each phase went, on the page: a bar and the sentences of the text for each phase and disk.

The bar is SVG that stretches with the page. All words are HTML.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import markupsafe

from raidtrace.explain import breakdown
from raidtrace.recording.breakdown import Breakdown
from raidtrace.report.rows import printable

SHOWN = 4  # rows before the others are folded
HIGH = 8.0  # of a bar that is 100 wide


@dataclasses.dataclass(frozen=True)
class TimeRow:
    """One phase of one disk. name: both, and the length. rates: of each direction. shares: of the states, as text; empty:
    not available. bar: their picture; label: the same for screen readers. sentences: the other figures."""

    name: str
    rates: str
    shares: Sequence[tuple[str, str]]
    bar: markupsafe.Markup
    label: str
    sentences: Sequence[str]


def build(some: Iterable[Breakdown]) -> list[TimeRow]:
    """The rows of all breakdowns, in their order."""
    return [_row(one) for one in some]


def _row(one: Breakdown) -> TimeRow:
    name, some = printable(breakdown.name(one), 200), [*breakdown.states(one)]
    named = [(state, f"{state} {text}{', ' if remark else ''}{remark}") for state, text, _, remark in some]
    label = f"Share of the time of {name}: {'; '.join(text for _, text in named)}"
    sentences = [
        printable(f"{label}{'' if label.endswith(' takes') or not label else ':'} {text}".strip())
        for label, text in (*breakdown.rows(one), *breakdown.series(one))
    ]
    return TimeRow(name, printable(breakdown.rates(one), 400), named, _svg(one.states), label,
                   [f"{text[:1].upper()}{text[1:]}" for text in sentences])  # fmt: skip


def _svg(states: Mapping[str, float]) -> markupsafe.Markup:
    """The bar. Empty: the shares are not known."""
    if not states:
        return markupsafe.Markup("")
    parts, at = [], 0.0
    for state, share in states.items():
        if share > 0:
            parts.append(
                f'<rect class="{state}" x="{round(at, 2):g}" width="{round(100 * share, 2):g}" height="{HIGH:g}"/>'
            )
        at += 100 * share
    return markupsafe.Markup(
        f'<svg viewBox="0 0 100 {HIGH:g}" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
    )
