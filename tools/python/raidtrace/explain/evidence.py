# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of raidctl explain: a chain of links, each with its numbers, their sources, and a verdict.

Text, JSON and the HTML report are made of these values alone; nothing below reads a file.

    Explanation                     of one recording, of two, or of a sweep
      subjects: Subject, ...        the recordings, in the order given; a letter names each in tables
      chains: Chain, ...            one for each phase (of each disk) that moved enough data to say something; that
                                    with the largest effect first
        links: Link, ...            cause before effect, keys in the order of LINKS
          values: Value, ...        a number with unit and Source (recording, disk, phase, counters), maybe predicted
          distributions             how often each of a range of values was there
        limits: Limit, ...          everything that may hold the throughput down; those that do come first
        story: a verdict            whether readahead is why the throughput is what it is, or changed as it did
        effect: a number            how much there is to explain: the part of the recorded time that the phase took; of
                                    two recordings or a sweep the factor between the rates, 1 or more; None: not known
        summary: sentences          the same in plain words, the one that matters first
      summary: sentences            of all chains together, in their order
      opening: (name, sentence)     of a recording with several phases: a row each, in order of time

A verdict is one of Verdict. "shown": the counts show it. A cause is never counted: "inferred" means that the counts have its
signature and lack those of the others; only an experiment tests it. "not shown": the recording could have shown it and does
not. "contradicted": the counts show the opposite. "not available": it was not recorded, with the reason. A Value of None is
not available, never zero.
A statement about two recordings has a line for each, "A: ..." and "B: ...", or one line where both are alike.
"""

import dataclasses
import enum
import json
import textwrap
from collections.abc import Iterable, Sequence

VERSION = (
    2  # of the JSON; a change of meaning or a member less is another, a new member is not. 2: causes are "inferred"
)
# keys of links, in the order of the chain
LINKS = ("changed", "setting", "window", "bios", "splits", "size", "depth", "busy", "throughput", "seeks", "blame",
         "cost", "cache", "classes", "difference")  # fmt: skip


class Verdict(enum.StrEnum):
    """How a link or a story stands to what was counted."""

    SHOWN = "shown"
    INFERRED = "inferred"
    NOT_SHOWN = "not shown"
    CONTRADICTED = "contradicted"
    NOT_AVAILABLE = "not available"


@dataclasses.dataclass(frozen=True)
class Subject:
    """A recording or a sweep that is explained. facts: (name, text) pairs to print with it."""

    letter: str
    path: str
    simulated: bool
    facts: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a number is from. counters: names of counters.rst, or of settings. subject: letter of the recording. cell: of a
    sweep, the name of the cell; of a number that several make, the first of them."""

    subject: str
    disk: str
    phase: str
    counters: tuple[str, ...]
    cell: str = ""


@dataclasses.dataclass(frozen=True)
class Value:
    """One number. predicted: from and to, in the same unit. value None: not available, and note says why."""

    name: str
    value: float | None
    unit: str
    source: Source
    predicted: tuple[float, float] | None = None
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Distribution:
    """How often, or how long, a quantity was in each bin. bins: (low, high, weight), high not included."""

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


Gain = tuple[tuple[float, float] | None, str]  # gain and gain_of of a Limit
NO_GAIN: Gain = (None, "")


@dataclasses.dataclass(frozen=True)
class Limit:
    """Something that may hold the throughput down. verdict INFERRED: the counts say so; CONTRADICTED: it is ruled out.

    remedy: what to do, where inferred. share: part of the time that it took, of 1, where that was counted.
    gain: how many times as fast it is after a change. From and to: both are equal where the recording gives a figure; else the
    second is an upper bound. gain_of: the change, as "with twice the limit"; empty: without the cause, nothing else changed.
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

    def figure(self) -> float | None:
        """The expected gain as one number. None: the recording does not give one."""
        return self.gain[1] if self.gain is not None and self.gain[0] == self.gain[1] else None

    def expected(self) -> str:
        """The sentence on the gain of the remedy. A bound is none of the whole gain: without a wait requests may also follow
        each other in another order."""
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
        """A link by its key; KeyError when the chain has none."""
        return {link.key: link for link in self.links}[key]

    def text(self) -> str:
        """The summary as one text, with the title."""
        return f"{self.title}: {' '.join(self.summary)}"

    def limited_by(self) -> tuple[str, ...]:
        """Keys of the limits that were inferred."""
        return tuple(limit.key for limit in self.limits if limit.verdict is Verdict.INFERRED)


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The explanation of the subjects. kind: recording, pair or sweep. notes: facts that limit the conclusions.
    tested: the result of an experiment of raidctl why with the first subject; empty: all is inferred. opening: the phases of a
    recording in order of time, each with its first sentence; empty: there is one phase, or it is no recording.
    """

    kind: str
    subjects: tuple[Subject, ...]
    chains: tuple[Chain, ...]
    summary: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tested: str = ""
    opening: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """The whole of it; Documentation/explain.rst describes the members, which are those of the classes above."""
        return json.dumps({"version": VERSION, **dataclasses.asdict(self)}, indent=1, ensure_ascii=False)


def by_effect(chains: Iterable[Chain]) -> tuple[Chain, ...]:
    """The largest effect first. Chains with the same effect, or an unknown one, stay in their order."""
    return tuple(sorted(chains, key=lambda chain: (chain.effect is None, -(chain.effect or 0.0))))


def opening(phases: Sequence[str], chains: Sequence[Chain]) -> tuple[tuple[str, str], ...]:
    """The rows that the answer opens with where there are several phases, of each disk the direction that comes first. phases:
    names in order of time."""
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
    """A title within a sentence: its first letter is small, except in an abbreviation (IOPS limit)."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the weakest link. A link that is not available counts only if all are."""
    known = [verdict for verdict in verdicts if verdict is not Verdict.NOT_AVAILABLE]
    for verdict in (Verdict.CONTRADICTED, Verdict.NOT_SHOWN, Verdict.INFERRED, Verdict.SHOWN):
        if verdict in known:
            return verdict
    return Verdict.NOT_AVAILABLE


# An explanation as text for a terminal.


MIN_WIDTH, MAX_WIDTH = 60, 120  # columns: narrower cannot be read, wider neither
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
    """The lines of an explanation: the summary, then the evidence of each chain, then the notes. Without `verbose` the limits
    that the recording rules out are named in one row."""
    width = min(max(columns, MIN_WIDTH), MAX_WIDTH)
    lines = []
    for subject in explanation.subjects:
        facts = ", ".join(f"{name} {value}" for name, value in subject.facts)
        letter = f"{subject.letter}: " if len(explanation.subjects) > 1 else ""
        lines += wrap(f"{letter}{subject.path}" + (f" ({facts})" if facts else ""), width, "", "   ")
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
    return lines + ["", *wrap("+ shown, * inferred, - not shown, x contradicted, ? not available", width)]


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
    """A name and a sentence each; a name that is too long has a line of its own."""
    column = min(max(len(name) for name, _ in named), TITLE_WIDTH) + 2
    lines = []
    for name, sentence in named:
        lines += [name] if len(name) > TITLE_WIDTH else []
        lines += wrap(sentence, width, f"{'' if len(name) > TITLE_WIDTH else name:{column}}", " " * column)
    return lines


def wrap(sentence: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """One paragraph."""
    return textwrap.wrap(sentence, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [
        first
    ]
