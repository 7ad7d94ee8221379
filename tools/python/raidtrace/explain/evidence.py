# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of raidctl explain: a chain of links, each with its numbers, their sources, and a verdict.

Text, JSON and the HTML report use only these values. No function here reads a file.

    Explanation                     of one recording, of two, or of a sweep
      subjects: Subject, ...        the recordings in the order given; tables name each by a letter
      chains: Chain, ...            one for each phase (of each disk) that moved enough data; the one with the
                                    largest effect first
        links: Link, ...            cause before effect, keys in the order of LINKS
          values: Value, ...        a number with unit and Source (recording, disk, phase, counters), maybe predicted
          distributions             how often each range of values occurred
        limits: Limit, ...          each possible limit of the throughput; inferred limits come first
        story: a verdict            whether readahead explains the throughput, or its difference
        effect: a number            the importance of the chain. Of one recording: the phase's share of the time of
                                    all phases. Of two recordings or a sweep: the factor between the rates, at least 1.
                                    None: not known
        summary: sentences          the same in plain words, the most important first
      summary: sentences            those of all chains, in their order
      opening: (name, sentence)     of a recording with several phases: a row for each, in order of time
      breakdowns: Breakdown, ...    where the time of each phase of each disk went, before any cause

The verdicts:

- "shown": the counters show it.
- "inferred": the counters have the signature of this cause and of no other. No counter shows a cause itself; only an
  experiment can test it.
- "not shown": the recording could have shown it, but does not.
- "contradicted": the counters show the opposite.
- "not available": it was not recorded; the text gives the reason. The value is None, never zero.

A statement about two recordings has a line for each, "A: ..." and "B: ...", or one line if both are alike.
"""

import dataclasses
import enum
import json
import textwrap
from collections.abc import Iterable, Sequence

from raidtrace.explain import breakdown as breakdown_text
from raidtrace.quantity.shown import Json
from raidtrace.recording import breakdown
from raidtrace.recording.breakdown import Breakdown

VERSION = (
    2  # of the JSON. New members keep the number; a removed member or a new meaning raises it. 2: causes are "inferred"
)
# keys of links, in the order of the chain
LINKS = ("changed", "work", "setting", "window", "bios", "splits", "size", "depth", "busy", "throughput", "seeks", "blame",
         "cost", "cache", "classes", "difference")  # fmt: skip


class Verdict(enum.StrEnum):
    """The relation of a link, a limit or a story to the counters."""

    SHOWN = "shown"
    INFERRED = "inferred"
    NOT_SHOWN = "not shown"
    CONTRADICTED = "contradicted"
    NOT_AVAILABLE = "not available"


@dataclasses.dataclass(frozen=True)
class Subject:
    """An explained recording or sweep. facts: (name, text) pairs to print with it."""

    letter: str
    path: str
    simulated: bool
    facts: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Source:
    """The origin of a number. counters: names in counters.rst, or settings. subject: letter of the recording. cell:
    name of the cell of a sweep; of a number from several cells, the first."""

    subject: str
    disk: str
    phase: str
    counters: tuple[str, ...]
    cell: str = ""


@dataclasses.dataclass(frozen=True)
class Value:
    """One number. predicted: lower and upper bound, in the same unit. If the value is not available (None), note gives
    the reason."""

    name: str
    value: float | None
    unit: str
    source: Source
    predicted: tuple[float, float] | None = None
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Distribution:
    """How often, or how long, a quantity was in each bin. bins: (low, high, weight); high is not part of the bin."""

    name: str
    unit: str
    weight_unit: str
    source: Source
    bins: tuple[tuple[float, float, float], ...]


@dataclasses.dataclass(frozen=True)
class Link:
    """One step from cause to effect."""

    key: str
    title: str
    statement: str
    verdict: Verdict
    values: tuple[Value, ...] = ()
    distributions: tuple[Distribution, ...] = ()


Gain = tuple[tuple[float, float] | None, str]  # members gain and gain_of of a Limit
NO_GAIN: Gain = (None, "")


@dataclasses.dataclass(frozen=True)
class Limit:
    """A possible limit of the throughput. verdict INFERRED: the counters indicate it; CONTRADICTED: they rule it out.

    remedy: the advice, if inferred. state: the states of the disk's time that it explains (Case.shares). share: the share of
    the time that it took, from 0 to 1, or at most took, if its part of the state is not counted; None: not inferred. gain:
    the factor between the rates with and without a change, as lower and upper bound. Both are equal if the recording
    gives a figure; else only the second is meaningful. gain_of: the change, such as "with twice the limit"; empty: only
    the cause is removed.
    """

    key: str
    title: str
    statement: str
    verdict: Verdict
    values: tuple[Value, ...] = ()
    remedy: str = ""
    share: float | None = None
    gain: tuple[float, float] | None = None
    gain_of: str = ""
    state: str = ""

    def figure(self) -> float | None:
        """The expected gain as one number. None: the recording does not give one."""
        return self.gain[1] if self.gain is not None and self.gain[0] == self.gain[1] else None

    def expected(self) -> str:
        """The sentence about the gain of the remedy. The bound holds only for the removed time: without a wait,
        requests may also come in another order."""
        if self.gain is None:
            return "To measure the gain: raidctl why."
        factor = f"{self.gain[1]:.2g}" if self.gain[1] < 100 else f"{self.gain[1]:.0f}"
        if self.figure() is None:
            return f"Without this time the command is at most about {factor} times as fast."
        change = f" {self.gain_of}" if self.gain_of else ""
        return f"Expected{change}: {'no gain' if self.gain[1] == 1 else f'about {factor} times as fast'}."


@dataclasses.dataclass(frozen=True)
class Chain:
    """The links of one phase of one disk, in one recording or side by side in two."""

    title: str
    disk: str
    phase: str
    direction: str
    story: Verdict
    links: tuple[Link, ...]
    limits: tuple[Limit, ...]
    summary: tuple[str, ...]
    effect: float | None = None

    def link(self, key: str) -> Link:
        """The link with a key. Raises KeyError if the chain has none."""
        return {link.key: link for link in self.links}[key]

    def text(self) -> str:
        """The title and the summary as one text."""
        return f"{self.title}: {' '.join(self.summary)}"

    def limited_by(self) -> tuple[str, ...]:
        """Keys of the inferred limits, in their order."""
        return tuple(limit.key for limit in self.limits if limit.verdict is Verdict.INFERRED)


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The explanation of the subjects. kind: recording, pair or sweep. notes: facts that limit the conclusions. tested:
    the result of an experiment of raidctl why with the first subject; empty: everything is inferred. opening: the
    phases of a recording in order of time, each with its first sentence; empty: a single phase, or no recording.
    breakdowns: of each phase and disk, in order of time; empty: of a sweep.
    """

    kind: str
    subjects: tuple[Subject, ...]
    chains: tuple[Chain, ...]
    summary: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tested: str = ""
    opening: tuple[tuple[str, str], ...] = ()
    breakdowns: tuple[Breakdown, ...] = ()

    def to_json(self) -> str:
        """The explanation as JSON. The members are those of the classes above."""
        times: list[dict[str, Json]] = [
            {"subject": one.subject or "A", "disk": one.disk, "phase": one.phase, **breakdown.document(one)}
            for one in self.breakdowns
        ]
        members = dataclasses.asdict(dataclasses.replace(self, breakdowns=()))
        return json.dumps({"version": VERSION, **members, "breakdowns": times}, indent=1, ensure_ascii=False)


def by_effect(chains: Iterable[Chain]) -> tuple[Chain, ...]:
    """Sort chains by effect, the largest first. Chains with the same or an unknown effect keep their order."""
    return tuple(sorted(chains, key=lambda chain: (chain.effect is None, -(chain.effect or 0.0))))


def opening(phases: Sequence[str], chains: Sequence[Chain]) -> tuple[tuple[str, str], ...]:
    """The opening rows (name, sentence) of a recording with several phases; empty: fewer than two phases. Each disk
    contributes its first direction. phases: names in order of time."""
    rows: dict[tuple[str, str], str] = {}
    for phase in phases:
        for chain in chains:
            if chain.phase == phase:
                rows.setdefault((phase, chain.disk), chain.summary[0].partition(" Open: ")[0])
    if len({phase for phase, _ in rows}) < 2:
        return ()
    several = len({disk for _, disk in rows}) > 1
    return tuple((f"{phase} {disk}" if several else phase, sentence) for (phase, disk), sentence in rows.items())


def lower_initial(title: str) -> str:
    """A title within a sentence. Its first letter becomes small, except in an abbreviation (IOPS limit)."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst verdict of several. NOT_AVAILABLE is the result only if no link has another verdict."""
    known = [verdict for verdict in verdicts if verdict is not Verdict.NOT_AVAILABLE]
    for verdict in (Verdict.CONTRADICTED, Verdict.NOT_SHOWN, Verdict.INFERRED, Verdict.SHOWN):
        if verdict in known:
            return verdict
    return Verdict.NOT_AVAILABLE


# The text of an explanation for a terminal.


MIN_WIDTH, MAX_WIDTH = 60, 120  # columns of readable text
MARKS = {
    Verdict.SHOWN: "+",
    Verdict.INFERRED: "*",
    Verdict.NOT_SHOWN: "-",
    Verdict.CONTRADICTED: "x",
    Verdict.NOT_AVAILABLE: "?",
}
TITLE_WIDTH = 18  # columns of a link's title
RULED_OUT = "Ruled out"


def text(explanation: Explanation, columns: int, verbose: bool = False) -> list[str]:
    """The lines of an explanation: the summary, then the evidence of each chain, then the notes. Without `verbose` one
    row names all limits that the recording rules out, and breakdowns are short."""
    width = min(max(columns, MIN_WIDTH), MAX_WIDTH)
    lines = []
    for subject in explanation.subjects:
        facts = ", ".join(f"{name} {value}" for name, value in subject.facts)
        letter = f"{subject.letter}: " if len(explanation.subjects) > 1 else ""
        lines += wrap(f"{letter}{subject.path}" + (f" ({facts})" if facts else ""), width, "", "   ")
    times = breakdown_text.text(explanation.breakdowns, width, verbose)
    lines += ["", *times] if times else []
    if explanation.tested:
        lines += [
            "",
            *wrap(f"Tested by experiment (raidctl why): {explanation.tested}", width),
            "Inferred from the recording:",
        ]
    if explanation.opening:
        lines += ["", *rows(explanation.opening, width)]
    elif len(explanation.chains) != 1:
        for sentence in explanation.summary:
            lines += ["", *wrap(sentence, width)]
    answered = not explanation.opening and len(explanation.chains) > 1
    for chain in explanation.chains:
        lines += ["", *_chain(chain, width, () if answered else chain.summary, verbose)]
    if explanation.notes:
        lines += ["", "Keep in mind:"]
        for note in explanation.notes:
            lines += wrap(note, width, "  ", "  ")
    return lines + [
        "",
        *wrap(
            "+ shown, * inferred, - not shown (limit: open), x contradicted (limit: ruled out), ? not available", width
        ),
    ]


def _chain(chain: Chain, width: int, summary: Sequence[str], verbose: bool) -> list[str]:
    lines = [chain.title, "-" * min(len(chain.title), width)]
    for sentence in summary:
        lines += wrap(sentence, width)
    lines += [""] if summary else []
    for link in chain.links:
        lines += _row(link, width)
    limits = [limit for limit in chain.limits if limit.verdict is not Verdict.NOT_AVAILABLE]
    ruled_out = [] if verbose else [limit for limit in limits if limit.verdict is Verdict.CONTRADICTED]
    if limits:
        lines += ["", "What limits it:"]
        for limit in limits:
            if limit not in ruled_out:
                lines += _row(limit, width)
    if ruled_out:
        names = ", ".join(lower_initial(limit.title) for limit in ruled_out)
        lines += _row(
            Limit("", RULED_OUT, f"{names} (raidctl explain -v shows the evidence)", Verdict.CONTRADICTED), width
        )
    return lines


def _row(row: Link | Limit, width: int) -> list[str]:
    mark = MARKS[row.verdict]
    lines = []
    for at, part in enumerate(row.statement.split("\n")):
        head = f"{mark} {row.title:<{TITLE_WIDTH}} " if at == 0 else " " * (TITLE_WIDTH + 3)
        lines += wrap(part, width, head, " " * (TITLE_WIDTH + 3))
    return lines


def rows(named: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Lines of (name, sentence) pairs. A name that is too long gets its own line."""
    column = min(max(len(name) for name, _ in named), TITLE_WIDTH) + 2
    lines = []
    for name, sentence in named:
        lines += [name] if len(name) > TITLE_WIDTH else []
        lines += wrap(sentence, width, f"{'' if len(name) > TITLE_WIDTH else name:{column}}", " " * column)
    return lines


def wrap(sentence: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """The lines of one paragraph, at least one. first, rest: the indents."""
    return textwrap.wrap(sentence, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [
        first
    ]
