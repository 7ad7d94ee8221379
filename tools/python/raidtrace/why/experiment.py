# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of an experiment: baselines, what no setting can do, single changes, changes together, and what the best do again.

Where runs are made is another's business (Place), so all that is decided here can be tested on made-up runs.
"""

import abc
import dataclasses
import math
import pathlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from raidtrace.explain import runs
from raidtrace.quantity.shown import UserError
from raidtrace.recording.columns import RecordingError
from raidtrace.why import chance, changes, figures, mapping, rate
from raidtrace.why.changes import Change, Kind
from raidtrace.why.figures import TOOK_TOO_LONG, Run, also_changed, invalid

# key of a limit of explain -> causes of changes (changes.py)
# The order of changes: those against the causes that explain infers from the recording of the unchanged command come
# first.

CHANGES = {
    "io.max": ("limit of its cgroup",),
    "sync": ("sync",),
    "competing": ("concurrent load",),
    "read amplification": ("readahead of mapped files", "readahead"),
    "queue depth": ("queue depth",),
    "request slots": ("nr_requests",),
    "scheduler": ("scheduler",),
    "direct": ("direct I/O",),
    "program": ("program sleeps",),
    "request size": ("request size",),
    "lost merges": ("lost merges",),
    "no readahead": ("fadvise",),
    "readahead": ("readahead",),
}


def inferred(recording: str) -> tuple[str, ...]:
    """Keys of the limits that explain infers of the phase that took most of the time. Empty: none, or it cannot be read."""
    try:
        chains = runs.one(pathlib.Path(recording)).chains if recording else ()
    except (OSError, RecordingError):
        return ()
    return chains[0].limited_by() if chains else ()


def most_likely_first(candidates: Sequence[Change], limits: Sequence[str]) -> list[Change]:
    """The same changes, those against the limits first, in the order of the limits; the others stay in theirs."""
    causes = [cause for limit in limits for cause in CHANGES.get(limit, ())]
    return sorted(candidates, key=lambda change: causes.index(change.cause) if change.cause in causes else len(causes))


MIN_GROUP_FACTOR = 1.1  # a group counts if it is so much faster than the best single change
MIN_MEMBER = 1.1  # what a group loses without a member that belongs to it
MIN_EXPLAINED = 0.5  # of the bound's logarithm: if less is explained, changes that only the lab can make are tried
MIN_CLEAR_GAIN = 2.0  # of a change: a smaller gain may only avoid a limit of the disk
CONFIRMED = 3
MAX_P99_FACTOR = 0.5  # of the p99 latency: a larger improvement has its own sentence
NOT_TRIED = "not tried: "
MIN_COLD_SHARE = 0.1  # of the bytes: a run that read more was not from memory


@dataclasses.dataclass(kw_only=True)
class Place(abc.ABC):
    """The place where runs are made, and how many runs and seconds an experiment may take there.

    each: runs of one change; jobs: runs at once. runs: so far; wall_s: their durations. late: a measurement other than a run
    was left out for lack of time. looks: how often a test is evaluated. most_pairs: of one change.
    """

    looks = chance.LOOKS
    most_pairs = chance.MAX_PAIRS

    most_runs: int
    budget_s: float = math.inf
    each: int = 1
    jobs: int = 1
    runs: int = 0
    wall_s: list[float] = dataclasses.field(default_factory=list)
    begun: float = dataclasses.field(default_factory=time.monotonic)
    late: bool = False

    @abc.abstractmethod
    def baselines(self) -> Iterator[Run]:
        """The command as it is, several times, each as soon as it was measured."""

    @abc.abstractmethod
    def pairs(self, planned: Sequence[tuple[Change, int]], cap_s: float) -> Iterator[tuple[Run, Run]]:
        """For each change and trial, in order, the unchanged run that belongs to it and the changed one, each pair as soon as
        it is complete. It ends early when there is no room for more."""

    @abc.abstractmethod
    def bound(self) -> Change | None:
        """The change that shows whether the disk is the limit at all."""

    @abc.abstractmethod
    def others(self, observed: frozenset[str]) -> list[Change]:
        """Changes that are no settings: of the program, the concurrent load, faults."""

    def last(self) -> list[Change]:
        """Changes of the model's physics: they explain, and no setting makes them."""
        return []

    def rates(self) -> rate.Rates:
        """The rates of the disk, measured by our own reads; empty where a change measures them better."""
        return rate.Rates()

    def layer(self) -> mapping.Layer:
        """The cost of a mapping through which the command reads; empty where there is none."""
        return mapping.Layer()

    def left(self) -> int:
        """Changes that can still be run once."""
        return max(0, min((self.most_runs - self.runs) // self.each, self._in_time()))

    def seconds_left(self) -> float:
        """The duration of all remaining runs, at most the budget."""
        return min(self.left() * self._change_s(), max(self._left_s(), 0.0))

    def has(self, seconds: float) -> bool:
        """Whether a measurement of this length still fits."""
        self.late = self.late or self._left_s() < seconds
        return not self.late

    def ended(self, missing: int) -> tuple[str, str]:
        """The option that leaves no room, and the one that leaves it for so many changes more."""
        if self.late or self._in_time() < (self.most_runs - self.runs) // self.each:
            minutes = math.ceil((self.budget_s + missing * self._change_s()) / 60)
            return f"--budget {self.budget_s:g}", f"--budget {60 * minutes}"
        return f"--runs {self.most_runs}", f"--runs {self.most_runs + missing * self.each}"

    def _left_s(self) -> float:
        return self.budget_s - (time.monotonic() - self.begun)

    def _change_s(self) -> float:
        return self.each * statistics.fmean(self.wall_s) / self.jobs if self.wall_s else 0.0

    def _in_time(self) -> int:
        change_s, left_s = self._change_s(), self._left_s()
        return int(left_s / change_s) if change_s and left_s < math.inf else self.most_runs


@dataclasses.dataclass
class Row:
    """A change and what its runs gave. costs: as it is and changed, of each pair that counts. p99_ms: the same of reads or
    writes, whichever is longer, of the pairs that have both. wrong: why it does not count. moved: settings that changed along
    with it."""

    change: Change
    costs: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    p99_ms: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    wrong: str = ""
    moved: tuple[str, ...] = ()
    effect: chance.Effect | None = None
    shown: bool = False

    def factor(self) -> float:
        """How many times faster; 1 where nothing was measured."""
        return self.effect.factor if self.effect else 1.0

    def p99_within(self, low: float, high: float) -> bool:
        """Whether the p99 latency of every pair changed by a factor between these. A few pairs are no chance if all agree."""
        return bool(self.p99_ms) and all(low <= after / before <= high for before, after in self.p99_ms)


@dataclasses.dataclass
class Table:
    """All results. noise: standard deviation of the logarithm of the baselines' cost. late: the same of their p99
    latency. together: settings that were opened in a group, and what was lost without each. rates: of the disk, whatever is
    requested. layer: a mapping through which the command reads. ended: the option that ended it, empty if none did; more: the
    one that lets it go on."""

    baseline: Run
    costs: list[float]
    metric: str
    noise: float
    rows: list[Row] = dataclasses.field(default_factory=list)
    together: dict[str, float] = dataclasses.field(default_factory=dict)
    runs: int = 0
    unfinished: list[str] = dataclasses.field(default_factory=list)
    stopped: bool = False
    rates: rate.Rates = rate.Rates()
    late: float = 0.0
    layer: mapping.Layer = mapping.Layer()
    ended: str = ""
    more: str = ""

    def row(self, change: Change) -> Row | None:
        return next((row for row in self.rows if row.change == change), None)

    def least(self) -> float:
        """The factor from which on an effect is looked at: worth acting on, and twice the noise of a pair."""
        return math.exp(max(chance.MIN_EFFECT, 2 * math.sqrt(2) * self.noise))

    def shorter(self) -> list[Row]:
        """Rows of settings that cost no time and shorten the p99 latency in all their pairs, by half and beyond the noise of a
        pair; the shortest first."""
        most = min(MAX_P99_FACTOR, math.exp(-2 * math.sqrt(2) * self.late))
        rows = [row for row in self.rows if row.change.settings and not row.wrong and row.factor() >= 1 / self.least()
                and row.p99_within(0.0, most)]  # fmt: skip
        return sorted(rows, key=lambda row: row.p99_ms[0][1] / row.p99_ms[0][0])

    def helpful(self, *kinds: Kind) -> list[Row]:
        """Rows that made it faster, the fastest first."""
        rows = [row for row in self.rows if not row.wrong and row.change.kind in kinds and row.factor() >= self.least()]
        return sorted(rows, key=lambda row: -row.factor())


Say = Callable[[str, int, int, float], None]  # what is being run, runs made, runs expected, s that these take at most
MORE_PAIRS = chance.MIN_PAIRS - 1  # that a change needs after its first, to be confirmed


class Experiment:
    """Runs a Place through the stages. say: called before each batch of runs. forecast: called with the baselines."""

    def __init__(self, place: Place, what: str, say: Say, forecast: Callable[[Table], None] = lambda _: None) -> None:
        self.place, self.metric, self.say, self.forecast = place, what, say, forecast
        self.table: Table
        self.untried: list[Change] = []

    def run(self) -> Table:
        """All stages. A signal that ends it leaves the table of the runs that were made; KeyboardInterrupt if there is none."""
        runs: list[Run] = []
        try:
            for run in self.place.baselines():
                self.table = baseline_table([*runs, run], self.metric)
                runs.append(run)
            self.forecast(self.table)
            self._stages()
        except KeyboardInterrupt:
            if not runs:
                raise
            tried = "later changes were not tried" if self.table.rows else "no change was measured"
            self.table.stopped = True
            self.table.unfinished.append(f"stopped by a signal: {tried}")
        self._judge()
        return self.table

    def _stages(self) -> None:
        now, limits = self.table.baseline.read_back, self.table.baseline.limits
        bound = self.place.bound()
        candidates = [*self.place.others(self.table.baseline.observed), *changes.singles(now, limits)]
        ordered = most_likely_first(candidates, inferred(self.table.baseline.recording))
        first = [*([bound] if bound else []), *ordered]
        self._try(first)
        if recommended(self.table) is None:
            self._try(first)  # what was left out to keep room for confirming the best: there is none
        for row in self.table.helpful(Kind.SETTING)[:1]:
            self._try(changes.finer(row.change, now, True))
        self._together(changes.wide(now, limits))
        best = recommended(self.table)
        if best:
            self._confirm([best])
        if self._unexplained():
            self._try(self.place.last())
            if not self._shown_otherwise() and (best is None or best.factor() < MIN_CLEAR_GAIN):
                self._say("rates of the disk, measured with raidctl's own reads")
                self.table.layer = self.place.layer()
                if not self.table.layer.costs():  # else the rates are those of the layer
                    self.table.rates = self.place.rates()
                if self.place.late:
                    self._ended("the rates of the disk were not measured", 0)
            if not best:
                self._confirm(self.table.helpful(Kind.LAB)[:1])
                if not self.table.helpful(Kind.LAB, Kind.FREE):  # then the sentence is that it is not the disk
                    self._confirm([row for row in self.table.rows if row.change.kind is Kind.FREE])
        self._confirm([*self._top(CONFIRMED), *self.table.shorter()[:1]])

    def _unexplained(self) -> bool:
        bounds = [row.factor() for row in self.table.rows if row.change.kind is Kind.FREE]
        best = max(
            (row.factor() for row in self.table.rows if row.change.kind not in (Kind.FREE, Kind.LAB)), default=1.0
        )
        if not bounds or best < self.table.least():
            return True
        return math.log(max(best, 1.0)) < MIN_EXPLAINED * math.log(max(*bounds, 1.0))

    def _shown_otherwise(self) -> bool:
        """A change that only the lab has, or that it is not the disk."""
        free = [row for row in self.table.rows if row.change.kind is Kind.FREE and not row.wrong]
        return bool(self.table.helpful(Kind.LAB)) or any(row.factor() < chance.MIN_EFFECT_FACTOR for row in free)

    def _top(self, count: int) -> list[Row]:
        return self.table.helpful(Kind.SETTING, Kind.LIMIT, Kind.GROUP, Kind.LOAD, Kind.PROGRAM, Kind.FAULT)[:count]

    def _together(self, opened: Mapping[str, str]) -> None:
        """A group wide, and less one at a time: what masks another shows only so."""
        if len(opened) < 2:
            return
        whole = changes.group(opened)
        self._try([whole])
        row = self.table.row(whole)
        singles = self.table.helpful(Kind.SETTING)
        best = singles[0].factor() if singles else 1.0
        if row is None or row.wrong or row.factor() < max(MIN_GROUP_FACTOR * best, self.table.least()):
            return
        lesser = {name: changes.group(opened, name) for name in opened}
        self._try(list(lesser.values()))
        for name, change in lesser.items():
            without = self.table.row(change)
            if without and not without.wrong and without.effect:
                self.table.together[name] = row.factor() / without.factor()
        members = {name: opened[name] for name in opened if self.table.together.get(name, MIN_MEMBER) >= MIN_MEMBER}
        if members and len(members) < len(opened):
            only = changes.group(members)
            self._try([dataclasses.replace(only, name=" and ".join(changes.label(*pair) for pair in members.items()))])

    def _confirm(self, rows: Sequence[Row]) -> None:
        """More pairs of the best, until chance is settled, the runs end, or there are as many as this place makes."""
        for row in rows:
            while len(row.costs) < self.place.most_pairs and not row.wrong:
                if row.effect and len(row.costs) >= chance.MIN_PAIRS and chance.settled(row.effect, CONFIRMED):
                    break
                want = max(1, min(chance.MIN_PAIRS, self.place.most_pairs) - len(row.costs))
                if self.place.left() < want:
                    self._ended("not every gain is confirmed", 0)
                    return
                self._measure([(row.change, len(row.costs) + step) for step in range(want)])

    def _try(self, candidates: Sequence[Change]) -> None:
        """One pair of each that was not tried before."""
        new = [change for change in dict.fromkeys(candidates) if self.table.row(change) is None]
        room = max(self.place.left() - self._reserved(), 0)
        if new[:room]:
            self._measure([(change, 0) for change in new[:room]])
        self.untried = [change for change in dict.fromkeys([*self.untried, *new]) if self.table.row(change) is None]
        rest = [text for text in self.table.unfinished if not text.startswith(NOT_TRIED)]
        self.table.unfinished = []
        if not rest:
            self.table.ended = self.table.more = ""
        if self.untried:
            self._ended(NOT_TRIED + ", ".join(change.name for change in self.untried), len(self.untried))
        self.table.unfinished += rest

    def _reserved(self) -> int:
        """Pairs that confirming the best change still needs. Before a change was tried: as if there were one."""
        best = recommended(self.table)
        if best is None:
            return 0 if self.table.rows else max(min(MORE_PAIRS, self.place.most_pairs - 1, self.place.left() - 1), 0)
        return max(min(chance.MIN_PAIRS, self.place.most_pairs) - len(best.costs), 0)

    def _ended(self, what: str, changes_left: int) -> None:
        """No room for these changes, and for confirming the best."""
        self.table.ended, self.table.more = self.place.ended(changes_left + CONFIRMED * self.place.most_pairs)
        self.table.unfinished.append(what)

    def _measure(self, planned: Sequence[tuple[Change, int]]) -> None:
        names = ", ".join(dict.fromkeys(change.name for change, _ in planned))
        self._say(names)
        typical = statistics.median(self.table.costs) if self.metric == figures.SECONDS else self.table.baseline.seconds
        for (change, _), (before, after) in zip(planned, self.place.pairs(planned, typical)):
            row = self.table.row(change)
            if row is None:
                row = Row(change)
                self.table.rows.append(row)
            self._add(row, before, after)

    def _say(self, what: str) -> None:
        self.say(what, self.place.runs, self.place.most_runs, self.place.seconds_left())

    def _add(self, row: Row, before: Run, after: Run) -> None:
        untested, moved = also_changed(after, before, row.change)
        row.moved = tuple(dict.fromkeys((*row.moved, *moved)))
        wrong = invalid(before, self.table.baseline, self.metric) or invalid(after, before, self.metric)
        if untested and not after.failure:
            wrong = untested
        cold = sum(after.disk_bytes.values()) > MIN_COLD_SHARE * sum(before.disk_bytes.values())
        if not wrong and row.change.warm and cold:
            wrong = "the data did not stay in memory: the disk read it again"
        if wrong:
            row.wrong, row.effect = wrong, None
            return
        row.costs.append((before.cost(self.metric), after.cost(self.metric)))
        late = before.cost(figures.P99), after.cost(figures.P99)
        row.p99_ms += [late] if all(late) else []
        costs = [cost for cost, _ in row.costs], [cost for _, cost in row.costs]
        row.effect = chance.effect(*costs, self.table.noise, self.place.looks)

    def _judge(self) -> None:
        """Mark the effects beyond chance among the changes with enough runs."""
        tested = [row for row in self.table.rows if row.effect and len(row.costs) >= chance.MIN_PAIRS]
        for row, shown in zip(tested, chance.holm([row.effect.chance for row in tested if row.effect])):
            row.shown = shown and abs(math.log(row.factor())) >= math.log(self.table.least())


def baseline_table(runs: Sequence[Run], what: str) -> Table:
    """UserError: the command as it is fails, or is not the same twice."""
    for run in runs:
        wrong = invalid(run, runs[0], what)
        if run.failure and run.status == TOOK_TOO_LONG and run is not runs[0]:
            raise UserError(
                f"the runs of the unchanged command differ too much: the first took {runs[0].seconds:.3g} s, a "
                "later one more than three times as long. A volume with bursts can cause this: use a longer "
                "command, or wait until the volume has its burst credits again"
            )
        if run.failure or wrong:
            hint = "; if the command runs for a fixed time, use --metric rate" if "requested" in wrong else ""
            raise UserError(f"a run of the unchanged command does not count: {wrong}{hint}")
    if runs[0].status:
        raise UserError(f"the unchanged command failed: exit status {runs[0].status}{runs[0].printed()}")
    costs = [run.cost(what) for run in runs]
    late = chance.noise([cost for run in runs if (cost := run.cost(figures.P99))])
    return Table(runs[0], costs, what, chance.noise(costs), runs=len(runs), late=late)


def recommended(table: Table, shown: bool = False) -> Row | None:
    """The smallest change within 5 % of the best: smaller kinds first, then smaller values. shown: of those beyond chance."""
    remedies = (Kind.SETTING, Kind.LIMIT, Kind.GROUP, Kind.LOAD, Kind.PROGRAM, Kind.FAULT)
    rows = [row for row in table.helpful(*remedies) if row.shown or not shown]
    rows = [row for row in rows if not row.moved] or rows  # another setting may be what made it faster
    if not rows:
        return None
    near = [row for row in rows if row.factor() >= rows[0].factor() / math.exp(chance.MIN_EFFECT)]
    order = list(Kind)

    def size(row: Row) -> tuple[int, int, float]:
        numbers = [int(value) for _, value in row.change.settings if value.isdigit()]
        return order.index(row.change.kind), len(row.change.settings), sum(numbers)

    return min(near, key=size)
