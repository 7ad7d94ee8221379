# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of an experiment: baselines, the bound, single changes, changes together, and repetitions of the best.

A Place makes the runs, so all decisions here can be tested with made-up runs.
"""

import abc
import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from raidtrace.quantity.shown import UserError
from raidtrace.recording.source import Source
from raidtrace.why import candidates, chance, changes, figures, mapping, rate
from raidtrace.why.changes import Change, Kind
from raidtrace.why.figures import TOOK_TOO_LONG, Run, also_changed, invalid

MIN_GROUP_FACTOR = 1.1  # a group counts if it is faster than the best single change by this factor
MIN_MEMBER = 1.1  # a member belongs to a group if the group without it is slower by this factor
MIN_EXPLAINED = 0.5  # of the bound's logarithm: if the changes explain less, changes of the lab are tried
MIN_CLEAR_GAIN = 2.0  # a smaller gain may only avoid a limit of the disk
CONFIRMED = 3
MAX_P99_FACTOR = 0.5  # of the p99 latency: a larger improvement is reported in a sentence
NOT_TRIED = "not tried: "
MIN_COLD_SHARE = 0.1  # of the bytes: if a run read more, the data was not in memory


@dataclasses.dataclass(kw_only=True)
class Place(abc.ABC):
    """The place of the runs, and the runs and seconds that an experiment may take there.

    each: runs of one change. jobs: concurrent runs. runs: made so far; wall_s: their durations. late: a measurement
    other than a run was left out for lack of time. sources: of the counters of all runs. looks: evaluations of a test.
    most_pairs: of one change.
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
    sources: list[Source] = dataclasses.field(default_factory=list)

    @abc.abstractmethod
    def baselines(self) -> Iterator[Run]:
        """The unchanged command, several times. Each run is returned as soon as it completes."""

    @abc.abstractmethod
    def pairs(self, planned: Sequence[tuple[Change, int]], cap_s: float) -> Iterator[tuple[Run, Run]]:
        """For each change and trial, in order, the unchanged and the changed run, as soon as both are complete. Ends
        early if no runs are left."""

    @abc.abstractmethod
    def bound(self) -> Change | None:
        """The change that tests whether the disk is the limit at all. None: there is none."""

    @abc.abstractmethod
    def others(self, observed: frozenset[str]) -> list[Change]:
        """The changes that are not settings: of the program, the concurrent load, faults."""

    def last(self) -> list[Change]:
        """The changes of the model's physics. They explain, but no setting makes them."""
        return []

    def rates(self) -> rate.Rates:
        """The rates of the disk, measured by our own reads. Empty: a change measures them better."""
        return rate.Rates()

    def layer(self) -> mapping.Layer:
        """The cost of a mapping through which the command reads. Empty: there is none."""
        return mapping.Layer()

    def left(self) -> int:
        """Number of changes that can still be run once."""
        return max(0, min((self.most_runs - self.runs) // self.each, self._in_time()))

    def seconds_left(self) -> float:
        """The duration of all remaining runs in s, at most the rest of the budget."""
        return min(self.left() * self._change_s(), max(self._left_s(), 0.0))

    def has(self, seconds: float) -> bool:
        """Whether a measurement of this length fits into the rest of the budget. Once one does not, none does."""
        self.late = self.late or self._left_s() < seconds
        return not self.late

    def ended(self, missing: int) -> tuple[str, str]:
        """The option that ended the experiment, and its value for `missing` more changes."""
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
class Tried:
    """A change and the results of its runs. costs: (unchanged, changed) of each pair that counts. p99_ms: p99 latencies
    of the pairs that have both; of reads or writes, the longer one. wrong: the reason why it does not count. moved:
    other settings that changed with it."""

    change: Change
    costs: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    p99_ms: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    wrong: str = ""
    moved: tuple[str, ...] = ()
    effect: chance.Effect | None = None
    shown: bool = False

    def factor(self) -> float:
        """The factor by which the change is faster. 1: nothing was measured."""
        return self.effect.factor if self.effect else 1.0

    def p99_within(self, low: float, high: float) -> bool:
        """Whether the p99 latency of every pair changed by a factor from low to high. If all of a few pairs agree, it
        is not chance."""
        return bool(self.p99_ms) and all(low <= after / before <= high for before, after in self.p99_ms)


@dataclasses.dataclass
class Table:
    """All results. noise, late: standard deviation of the logarithm of the baselines' cost, and of their p99 latency.
    together: settings of a group, and the factor that was lost without each. rates: of the disk, for any kind of
    request. layer: a mapping through which the command reads. ended: the option that ended the experiment, or empty;
    more: the option that continues it. source: of the counters of all runs, and its losses."""

    baseline: Run
    costs: list[float]
    metric: str
    noise: float
    rows: list[Tried] = dataclasses.field(default_factory=list)
    together: dict[str, float] = dataclasses.field(default_factory=dict)
    runs: int = 0
    unfinished: list[str] = dataclasses.field(default_factory=list)
    stopped: bool = False
    rates: rate.Rates = rate.Rates()
    late: float = 0.0
    layer: mapping.Layer = mapping.Layer()
    ended: str = ""
    more: str = ""
    source: Source = Source()

    def row(self, change: Change) -> Tried | None:
        return next((row for row in self.rows if row.change == change), None)

    def least(self) -> float:
        """The smallest factor that counts: worth a change, and twice the noise of a pair."""
        return math.exp(max(chance.MIN_EFFECT, 2 * math.sqrt(2) * self.noise))

    def shorter(self) -> list[Tried]:
        """Rows of settings that shorten the p99 latency in all pairs, at least by half and beyond the noise of a pair,
        and that are not slower; the shortest first."""
        most = min(MAX_P99_FACTOR, math.exp(-2 * math.sqrt(2) * self.late))
        rows = [row for row in self.rows if row.change.settings and not row.wrong and row.factor() >= 1 / self.least()
                and row.p99_within(0.0, most)]  # fmt: skip
        return sorted(rows, key=lambda row: row.p99_ms[0][1] / row.p99_ms[0][0])

    def helpful(self, *kinds: Kind) -> list[Tried]:
        """Rows of these kinds that are faster, the fastest first."""
        rows = [row for row in self.rows if not row.wrong and row.change.kind in kinds and row.factor() >= self.least()]
        return sorted(rows, key=lambda row: -row.factor())


Say = Callable[[str, int, int, float], None]  # name of the runs, runs made, runs allowed, s that the rest takes at most
MORE_PAIRS = chance.MIN_PAIRS - 1  # pairs that a change needs after its first to be confirmed


class Experiment:
    """Leads a Place through the stages. say: called before each batch of runs. forecast: called with the baselines."""

    def __init__(self, place: Place, what: str, say: Say, forecast: Callable[[Table], None] = lambda _: None) -> None:
        self.place, self.metric, self.say, self.forecast = place, what, say, forecast
        self.table: Table
        self.untried: list[Change] = []

    def run(self) -> Table:
        """Run all stages and return the table. After a signal it has the runs made so far; without any,
        KeyboardInterrupt is raised."""
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
        every = [*self.place.others(self.table.baseline.observed), *changes.singles(now, limits)]
        ordered = candidates.most_likely_first(every, *candidates.judged(self.table.baseline.recording))
        first = [*([bound] if bound else []), *ordered]
        self._try(first)
        if recommended(self.table) is None:
            self._try(first)  # no best change needs the reserved runs, so try those that were left out
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
                if not self.table.layer.costs():  # else the layer's rates are used
                    self.table.rates = self.place.rates()
                if self.place.late:
                    self._ended("the rates of the disk were not measured", 0)
            if not best:
                self._confirm(self.table.helpful(Kind.LAB)[:1])
                if not self.table.helpful(Kind.LAB, Kind.FREE):  # then the verdict is that the disk is not the limit
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
        """Whether a change that only the lab has helps, or the disk is not the limit."""
        free = [row for row in self.table.rows if row.change.kind is Kind.FREE and not row.wrong]
        return bool(self.table.helpful(Kind.LAB)) or any(row.factor() < chance.MIN_EFFECT_FACTOR for row in free)

    def _top(self, count: int) -> list[Tried]:
        return self.table.helpful(Kind.SETTING, Kind.LIMIT, Kind.GROUP, Kind.LOAD, Kind.PROGRAM, Kind.FAULT)[:count]

    def _together(self, opened: Mapping[str, str]) -> None:
        """Try all settings together, then without each one: only this shows a setting that masks another."""
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

    def _confirm(self, rows: Sequence[Tried]) -> None:
        """Run more pairs of the best changes until the verdict is settled, no runs are left, or the place makes no more
        pairs."""
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
        """Run one pair of each change that was not tried before."""
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
        """Pairs that are still needed to confirm the best change. Before any change was tried, one is assumed."""
        best = recommended(self.table)
        if best is None:
            return 0 if self.table.rows else max(min(MORE_PAIRS, self.place.most_pairs - 1, self.place.left() - 1), 0)
        return max(min(chance.MIN_PAIRS, self.place.most_pairs) - len(best.costs), 0)

    def _ended(self, what: str, changes_left: int) -> None:
        """Note the reason why runs are missing, and the option that would allow them. changes_left: changes that were
        not tried."""
        self.table.ended, self.table.more = self.place.ended(changes_left + CONFIRMED * self.place.most_pairs)
        self.table.unfinished.append(what)

    def _measure(self, planned: Sequence[tuple[Change, int]]) -> None:
        names = ", ".join(dict.fromkeys(change.name for change, _ in planned))
        self._say(names)
        typical = statistics.median(self.table.costs) if self.metric == figures.SECONDS else self.table.baseline.seconds
        for (change, _), (before, after) in zip(planned, self.place.pairs(planned, typical)):
            row = self.table.row(change)
            if row is None:
                row = Tried(change)
                self.table.rows.append(row)
            self._add(row, before, after)

    def _say(self, what: str) -> None:
        self.say(what, self.place.runs, self.place.most_runs, self.place.seconds_left())

    def _add(self, row: Tried, before: Run, after: Run) -> None:
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
        """Mark the changes whose effect is beyond chance. Only those with enough pairs are judged."""
        tested = [row for row in self.table.rows if row.effect and len(row.costs) >= chance.MIN_PAIRS]
        for row, shown in zip(tested, chance.holm([row.effect.chance for row in tested if row.effect])):
            row.shown = shown and abs(math.log(row.factor())) >= math.log(self.table.least())


def baseline_table(runs: Sequence[Run], what: str) -> Table:
    """The table of the baselines. Raises UserError: the unchanged command fails, or its runs are not comparable."""
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


def recommended(table: Table, shown: bool = False) -> Tried | None:
    """The smallest change within 5 % of the best: easier kinds first, then smaller values. None: none helps. shown:
    only confirmed changes."""
    remedies = (Kind.SETTING, Kind.LIMIT, Kind.GROUP, Kind.LOAD, Kind.PROGRAM, Kind.FAULT)
    rows = [row for row in table.helpful(*remedies) if row.shown or not shown]
    rows = [row for row in rows if not row.moved] or rows  # another setting may be the cause of the gain
    if not rows:
        return None
    near = [row for row in rows if row.factor() >= rows[0].factor() / math.exp(chance.MIN_EFFECT)]
    order = list(Kind)

    def size(row: Tried) -> tuple[int, int, float]:
        numbers = [int(value) for _, value in row.change.settings if value.isdigit()]
        return order.index(row.change.kind), len(row.change.settings), sum(numbers)

    return min(near, key=size)
