# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare raidctl explain with the measured truth: a cause is true where the run without it is faster by GAIN or more."""

from __future__ import annotations

import collections
import dataclasses
import pathlib

from scenario import CEILINGS, GAIN, Scenario

BASE, REMEDY = "base", "remedy"
HOLDS = 0.15  # part by which the gain of a remedy may differ from its figure
GONE = ("", "without them")  # what a figure is for: the run without the cause, not with the change
SILENT = "silent"


def place(out: pathlib.Path, name: str, seed: int, cause: str, chance: int = 0) -> pathlib.Path:
    """Where a recording lies."""
    return out / name / str(seed) / f"{cause.replace(' ', '-')}{f'-{chance}' if chance else ''}.rtdb"


@dataclasses.dataclass(frozen=True)
class Judged:
    """One scenario: the gain without each cause, the causes explain named, and their truth. figure: the gain that it
    expects of its remedy; measured: that gain, None: not tried."""

    profile: str
    family: str
    seed: int
    chance: int
    gains: dict[str, float]
    named: tuple[str, ...]
    verdict: str  # right, wrong, silent or void
    text: str
    figure: float | None = None
    measured: float | None = None

    def holds(self) -> bool:
        """Whether the figure is the gain of the remedy. "No gain" holds where it is slower, too."""
        if not self.figure or not self.measured:
            return False
        high, low = self.measured / self.figure, 0.0 if self.figure == 1 else self.figure / self.measured
        return max(high, low) <= 1 + HOLDS

    def truth(self) -> str:
        """The cause whose absence gains most; of equals the first."""
        true = {cause: gain for cause, gain in self.gains.items() if gain >= GAIN}
        return max(true, key=lambda cause: true[cause]) if true else "none"


def seconds(path: pathlib.Path) -> float | None:
    """How long the command ran."""
    from raidtrace.recording import database

    same = path.with_suffix(".same")
    if same.exists():
        path = path.with_name(same.read_text(encoding="utf-8"))
    if not path.exists() or path.with_suffix(".err").exists():
        return None
    with database.connect(path) as db:
        row = db.execute("SELECT sum(end_ns - start_ns) FROM phase WHERE name = 'run'").fetchone()
    return float(row[0]) / 1e9 if row and row[0] else None


def gain_of(base: float, took: float, paced: float) -> float:
    """How many times as fast a run is as the first."""
    return (base - paced) / max(took - paced, 1e-3)


def judge(out: pathlib.Path, name: str, seed: int, chance: int, scenario: Scenario) -> Judged:
    """Compare explain's causes of one scenario with the measured gains."""
    from raidtrace.explain import runs as explain_runs
    from raidtrace.explain.evidence import Verdict

    base, recording = seconds(place(out, name, seed, BASE)), place(out, name, seed, BASE, chance)
    gains = {}
    for cause in scenario.reliefs:
        took = seconds(place(out, name, seed, cause))
        if base and took:
            gains[cause] = gain_of(base, took, scenario.paced)
    if len(gains) < len(scenario.reliefs) or not seconds(recording):
        return Judged(
            scenario.base.profile, name, seed, chance, gains, (), "void", "not recorded, or its program failed"
        )
    explained = explain_runs.one(recording)
    chain = next((c for c in explained.chains if c.direction == scenario.direction), None)
    if chain is None:
        return Judged(scenario.base.profile, name, seed, chance, gains, (), "silent", " ".join(explained.summary))
    named = tuple(limit.key for limit in chain.limits if limit.verdict is Verdict.INFERRED)
    text = " ".join(chain.summary)
    true = {cause for cause, gain in gains.items() if gain >= GAIN}
    if not named:
        return Judged(scenario.base.profile, name, seed, chance, gains, named, "silent" if true else "right", text)
    both = "device" in true and not true & {"controller", "drives"}  # neither alone is faster, both together are
    right = named[0] in true or (named[0] in CEILINGS and (both or not true))
    verdict = "right" if right else "wrong"
    limit = next(limit for limit in chain.limits if limit.key == named[0])
    figure = limit.figure()
    which = named[0] if limit.gain_of in GONE else f"{REMEDY} {named[0]}"
    took = seconds(place(out, name, seed, which))
    measured = gain_of(base, took, scenario.paced) if base and took else None
    return Judged(scenario.base.profile, name, seed, chance, gains, named, verdict, text, figure, measured)


def matrix(results: list[Judged]) -> str:
    """Counts by truth, cause named and verdict, and the sums."""
    counts = collections.Counter((one.truth(), one.named[0] if one.named else SILENT, one.verdict) for one in results)
    lines = [f"{truth:14} {named:14} {verdict:7} {n:4}" for (truth, named, verdict), n in sorted(counts.items())]
    of: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for one in results:
        of[one.profile][one.verdict] += 1
    lines += [f"{profile:14} {counted(verdicts)}" for profile, verdicts in sorted(of.items())]
    right = [one for one in results if one.verdict == "right" and one.named]
    figured = [one for one in right if one.figure]
    tried = [one for one in figured if one.measured]
    lines.append(f"{len(right)} right causes: {len(figured)} with a figure of the gain, {len(tried)} of them tried, "
                 f"{sum(one.holds() for one in tried)} within {HOLDS:.0%}")  # fmt: skip
    return "\n".join(
        [*lines, f"{len(results)} scenarios: {counted(collections.Counter(one.verdict for one in results))}"]
    )


def counted(verdicts: collections.Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(verdicts.items()))


def expected(one: Judged) -> str:
    """The figure of the gain, and the gain."""
    if one.figure is None:
        return ""
    return f", {one.figure:.2f} expected, " + ("not tried" if one.measured is None else f"{one.measured:.2f} measured")


def told(results: list[Judged], everything: bool) -> str:
    """A line for each that is not right, or whose figure does not hold, or for everything; then the counts."""
    lines = []
    for one in results:
        if one.verdict != "right" or everything or (one.measured and one.figure and not one.holds()):
            gains = ", ".join(f"{cause} {gain:.2f}" for cause, gain in one.gains.items())
            which = f"{one.family} {one.seed}" + (f", chance {one.chance}" if one.chance else "")
            lines.append(f"{one.verdict:7} {which}: [{gains}] named {', '.join(one.named) or '-'}"
                         f"{expected(one)}: {one.text[:230]}")  # fmt: skip
    return "\n".join([*lines, matrix(results)])
