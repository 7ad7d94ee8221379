# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict on a table of runs: the cause, the remedy, and its gain. The remedy need not remove the cause."""

import dataclasses
import json
import math
import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from raidtrace.explain import runs
from raidtrace.quantity import units
from raidtrace.recording import source
from raidtrace.why import chance, changes, figures, mapping, rate
from raidtrace.why.changes import PROGRAM, Change, Kind
from raidtrace.why.experiment import MAX_P99_FACTOR, MIN_MEMBER, Table, Tried, recommended
from raidtrace.why.figures import MIB

IOPS, BANDWIDTH = "IOPS limit", "bandwidth limit"  # of the disk
LIMITS = {
    IOPS: "Fewer and larger requests move more bytes; otherwise only a higher limit of the volume helps.",
    BANDWIDTH: "Only less data, or a higher limit of the volume, helps.",
}
SETTLE = "A longer command or a quieter machine gives a clear result."
MIN_LIMIT_SHARE = 0.8  # of a limit: a smaller share is not printed
MIN_WAIT_FACTOR = 1.1  # by the time of a request alone at the disk: a slower request waits for others or for a limit
PART = (0.5, 1.25)  # of a command's time that its bytes take at the rate of our own reads, if these represent it
MORE = {
    "dm-crypt": (
        " Several concurrent readers use several processors; cryptsetup benchmark prints the rate of one processor."
    )
}
MIN_SPREAD_FACTOR = 3.0  # by the spread of the unchanged runs: a larger gain of a pair is hardly chance
MAX_NO_EFFECT = 1.1  # a lower bound shows that the disk is not the limit
MAX_LOWER, MIN_HIGHER = 0.8, 1.25  # of the p99 latency: the best change's is printed outside this range
REMEDIES = (Kind.SETTING, Kind.LIMIT, Kind.GROUP, Kind.LOAD, Kind.PROGRAM, Kind.FAULT)


@dataclasses.dataclass(frozen=True)
class Answer:
    """The verdict. causes: the limits, in the words of the tool; empty: no experiment shows one. change: the row that
    shows it. factor, low, high: expected gain of the remedy and its interval. commands: to type. sentence: everything
    as text."""

    causes: tuple[str, ...]
    change: str
    kind: Kind | None
    factor: float
    low: float | None
    high: float | None
    shown: bool
    commands: tuple[str, ...]
    sentence: str


def judge(table: Table, disk: str, program: Sequence[str] = (), preload: str = "") -> Answer:
    """The verdict on a finished table. program: the measured command. preload: the library that omits calls."""
    best = recommended(table, shown=True)
    if best is None:
        return _nothing_shown(table, recommended(table))
    causes = _causes(table, best)
    effect = best.effect
    assert effect  # a recommended row was measured
    settable = best if best.change.settings else _best_setting(table)
    commands = tuple(changes.command(name, value, disk) for name, value in settable.change.settings) if settable else ()
    if best.change.unlimited:
        commands = tuple(changes.unlimit(*limit, disk) for limit in best.change.unlimited)
    elif not settable and program:
        commands = changes.without(best.change.program, program, preload)
    sentences = [_what(table, best), _rest(table, best)]
    if settable and settable is not best:
        pairs = "" if settable.shown else f" in {_count(settable)}"
        sentences.append(
            f"The best setting is {settable.change.name}: {settable.factor():.2f}x{pairs}. The command below sets it."
        )
    if best.change.kind is Kind.PROGRAM:
        sentences.append(f"To do: {PROGRAM[best.change.program][2]}.")
    sentences += [_latency(table, best), _physics(table, best)]
    kind, limit = _held(table)
    if kind:
        causes, sentences = (kind, *causes), [f"{kind[0].upper()}{kind[1:]}: {limit[0].lower()}{limit[1:]}", *sentences]
    else:
        sentences.append(limit)
    return Answer(causes, best.change.name, best.change.kind, effect.factor, effect.low, effect.high, True, commands,
                  " ".join(part for part in sentences if part))  # fmt: skip


def _causes(table: Table, best: Tried) -> tuple[str, ...]:
    if best.change.kind is not Kind.GROUP:
        return (best.change.cause,)
    kept = [name for name, _ in best.change.settings if table.together.get(name, MIN_MEMBER) >= MIN_MEMBER]
    return tuple(changes.CAUSES[name] for name in kept)


def _best_setting(table: Table) -> Tried | None:
    rows = table.helpful(Kind.SETTING, Kind.GROUP)
    return rows[0] if rows else None


def _what(table: Table, best: Tried) -> str:
    before, after = (_mean([pair[at] for pair in best.costs]) for at in (0, 1))
    times = f"{best.factor():.2f}x, {_count(best)}"
    which = figures.metric_verb(table.metric)
    what = (
        f"{which} {figures.text_of(table.metric, after)} instead of {figures.text_of(table.metric, before)} ({times})"
    )
    head = ", ".join(_causes(table, best))
    head = head[0].upper() + head[1:]
    if best.change.kind is Kind.GROUP:
        alone = [_alone(table, name) for name, _ in best.change.settings]
        if len(alone) > 1:
            settings = " and ".join(changes.label(*pair) for pair in best.change.settings)
            return f"{head} together: with {settings} {what}. Alone: {', '.join(alone)}."
    if best.change.kind is Kind.SETTING:
        (name, _), *_ = best.change.settings
        was = table.baseline.read_back.get(name, "?")
        return f"{head}: with {best.change.name} instead of {changes.label(name, was).split()[-1]} {what}."
    return f"{head}: {_with(best.change)} {what}."


def _with(change: Change) -> str:
    return change.name if change.kind is Kind.PROGRAM else f"with {change.name}"


def _alone(table: Table, name: str) -> str:
    rows = [row for row in table.rows
            if row.change.kind is Kind.SETTING and row.change.settings[0][0] == name and not row.wrong]  # fmt: skip
    best = max(rows, key=lambda row: row.factor(), default=None)
    return f"{changes.CAUSES[name]} {best.factor():.2f}x" if best else f"{changes.CAUSES[name]} not tried"


def _rest(table: Table, best: Tried) -> str:
    """A sentence about the other changes, and about the latency with the best one."""
    others = [row for row in table.rows if row.change.kind in REMEDIES and not row.wrong and row is not best
              and not (row.moved and row.factor() >= table.least()) and not _same_cause(row.change, best.change)]  # fmt: skip
    top = max(others, key=lambda row: row.factor(), default=None)
    bound = max(
        (row for row in table.rows if row.change.kind is Kind.FREE and not row.wrong), key=Tried.factor, default=None
    )
    best_other = f"{max(top.factor(), 1.0):.2f}x" if top else ""
    which = "The other change" if len(others) == 1 else f"The best of the other {len(others)} changes"
    named = f", {top.change.name}," if top and len(others) > 1 and top.factor() >= table.least() else ""
    text = f"{which}{named} gave {best_other}" if top else ""
    if top and bound and bound.factor() >= best.factor() * table.least():
        text += f"; the bound, {bound.change.name}, is {bound.factor():.2f}x"
    text += ". " if top else ""
    noise = math.exp(2 * math.sqrt(2) * table.late)
    if (
        table.metric != figures.P99
        and len(best.p99_ms) >= chance.MIN_PAIRS
        and (best.p99_within(0.0, min(MAX_LOWER, 1 / noise)) or best.p99_within(max(MIN_HIGHER, noise), math.inf))
    ):
        before, after = map(units.significant, best.p99_ms[0])
        text += f"The p99 latency of a request goes from {before} to {after} ms."
    return text.strip()


def _latency(table: Table, best: Tried | None) -> str:
    """A sentence about the setting that shortens the p99 latency most. Empty: it costs time, has too few pairs, or is
    not much better than the best change."""
    row = next((row for row in table.shorter() if len(row.p99_ms) >= chance.MIN_PAIRS), None)
    if row is None or row is best or (best and best.p99_ms and row.p99_ms[0][1] > MAX_P99_FACTOR * best.p99_ms[0][1]):
        return ""
    before, after = map(units.significant, row.p99_ms[0])
    pairs = f"{len(row.p99_ms)} of {len(row.p99_ms)} pairs"
    return f"For latency: {row.change.name}, p99 {before} to {after} ms ({pairs}) at {row.factor():.2f}x the speed."


def _same_cause(one: Change, other: Change) -> bool:
    return bool({name for name, _ in one.settings} & {name for name, _ in other.settings}) or one.cause == other.cause


def _physics(table: Table, best: Tried | None) -> str:
    rows = table.helpful(Kind.LAB)
    if not rows or (best and rows[0].factor() < best.factor()):
        return ""
    return f"In the model, {_with(rows[0].change)}: {rows[0].factor():.2f}x."


def _nothing_shown(table: Table, best: Tried | None) -> Answer:
    """The verdict without a confirmed change: a cause that only the lab can test, that the disk is not the limit, or
    nothing. best: a change that gained, perhaps by chance."""
    tried = [row for row in table.rows if row.change.kind in REMEDIES and not row.wrong]
    top = max((row.factor() for row in tried), default=1.0)
    late = _latency(table, None)
    none, more = "No change was measured", f"To test further: {table.more}." if table.more else ""
    if best:
        gain = f"{best.change.name} was {compared(table.metric)[0]} in {_count(best)} ({best.factor():.2f}x)"
        sure = best.factor() > 1 + MIN_SPREAD_FACTOR * _spread(table.costs) and len(table.costs) > 1
        doubt = "but more pairs must confirm this" if sure else f"but this may be chance{_differ(table.costs)}"
        none = f"No change is confirmed to help: {gain}, {doubt}"
        more = more or SETTLE
    elif tried and top >= chance.MIN_EFFECT_FACTOR:
        least = f"a gain below {table.least():.2f}x may be chance"
        none = f"No change helps beyond chance (the best of {len(tried)} gave {top:.2f}x; {least})"
    elif tried:
        none = f"No setting helps: none of {len(tried)} changes gave more than {max(top, 1.0):.2f}x"
    physics = [row for row in table.helpful(Kind.LAB) if row.shown]
    if physics:
        row = physics[0]
        effect = row.effect
        assert effect
        return Answer((row.change.cause,), row.change.name, Kind.LAB, effect.factor, effect.low, effect.high, row.shown, (),
                      f"{none}; {_with(row.change)} the command is {row.factor():.2f}x as fast ({_count(row)}). "
                      f"Its limit: {row.change.cause}. {late}".strip())  # fmt: skip
    bounds = [row for row in table.rows if row.change.kind is Kind.FREE and not row.wrong]
    bound = ""
    if bounds and bounds[0].factor() < chance.MIN_EFFECT_FACTOR and not best:
        high = bounds[0].effect.high if bounds[0].effect else None
        bound = f"with {bounds[0].change.name} the command takes as long ({bounds[0].factor():.2f}x)"
        if high is not None and high < MAX_NO_EFFECT:
            return Answer(("not the disk",), bounds[0].change.name, Kind.FREE, 1.0, None, None, True, (),
                          f"The disk is not the limit: {bound}. The program computes or waits for other things.")  # fmt: skip
        pairs = f"{len(bounds[0].costs)} pair{units.plural(len(bounds[0].costs))}"
        bound = f"The disk may not be the limit, or this is chance: {bound}, in {pairs}."
        more = more or SETTLE
    kind, limit = _held(table)
    causes = (kind,) if kind else ()
    head = (
        f"{kind[0].upper()}{kind[1:]}: {none[0].lower()}{none[1:]}."
        if kind
        else f"{none}."
        if best
        else f"{none}. The experiments do not confirm a cause."
    )
    sentence = " ".join(
        part for part in (head, limit, bound, "" if kind else more, late, _physics(table, None)) if part
    )
    return Answer(causes, "", None, 1.0, None, None, bool(kind), (), sentence)


def _spread(costs: list[float]) -> float:
    """The difference of the largest and the smallest cost, by the smallest."""
    return max(costs) / min(costs) - 1


def _differ(costs: list[float]) -> str:
    percent = 100 * _spread(costs)
    return (
        f", because the runs of the unchanged command differ by {units.significant(percent)} %" if percent >= 1 else ""
    )


def _held(table: Table) -> tuple[str, str]:
    """The layer or the limit of the disk that limits the command, and the sentence about it, as _limit()
    returns them."""
    return _layer(table) if table.layer.costs() else _limit(table)


def _layer(table: Table) -> tuple[str, str]:
    """The layer as the cause, or empty, and the sentence about it. It is the cause if the reads represent the command:
    its bytes take most of its time at their rate."""
    run, layer = table.baseline, table.layer
    through, below = layer.bytes_per_s()
    mine = sum(run.disk_bytes.values()) / (run.seconds or float("inf"))
    measured, share = f"{layers(layer)}; the command {units.octets(mine)}/s", mine / through
    if not PART[0] <= share <= PART[1]:
        return "", f"{measured}. These reads do not represent the command, so the layer is not confirmed as the cause."
    costs = min(share, 1.0) * (1 - through / below)
    more = MORE.get(layer.kind.rpartition(" ")[2], "")
    return (
        f"layer {layer.kind}",
        f"{measured}. Without the layer the command is at most {1 / (1 - costs):.2f}x as fast.{more}",
    )


def layers(layer: mapping.Layer) -> str:
    """A sentence with the measured rates of a layer."""
    effect = layer.effect()
    assert effect
    through, below = (f"{units.octets(rate)}/s" for rate in layer.bytes_per_s())
    what = (
        f"{units.octets(layer.octets)} {'in order' if layer.in_order else 'at random places'}, "
        f"{layer.depth} in flight"
    )
    return (
        f"Reads of {what}, reach {through} through {layer.name} and {below} on {layer.lower} below it "
        f"({effect.factor:.2f}x)"
    )


def _limit(table: Table) -> tuple[str, str]:
    """The limit of the disk that the command reaches, and the sentence about it. The limit is empty if none is reached,
    or no request waits for it. The sentence is empty if no rate is near."""
    run, rates = table.baseline, table.rates
    owner = "the command and its load" if table.row(changes.ALONE) else "the command"
    of = "of {} KiB, at random places or sequential, with 8 or 32 in flight"
    seconds = run.seconds or float("inf")
    reached = []
    if rates.requests:
        mine = run.disk_requests / seconds
        text = f"{_span(rates.requests, 1)} reads a second {of.format('4 or 16')}; {owner} {mine:,.0f}"
        reached.append((IOPS, mine / rates.requests[0], mine / rates.requests[1], text))
    if rates.octets:
        mine = sum(run.disk_bytes.values()) / seconds
        text = f"{_span(rates.octets, MIB)} MiB/s {of.format('64 or 256')}; {owner} {mine / MIB:,.1f}"
        reached.append((BANDWIDTH, mine / rates.octets[0], mine / rates.octets[1], text))
    kind, most, least, text = max(reached, key=lambda one: one[1], default=("", 0.0, 0.0, ""))
    text = f"The disk completes {text}"
    if least > rate.MAX_SAME_FACTOR:
        return "", (
            f"{text}, which is more: this is a burst, so the {kind} is not reached yet. A longer command reaches it."
        )
    if most < rate.MIN_RATE_SHARE:
        return "", f"{text}, {most:.0%} of the {kind}." if most >= MIN_LIMIT_SHARE else ""
    if rates.alone_ms and run.mean_ms < MIN_WAIT_FACTOR * rates.alone_ms:
        alone = f"it takes {units.significant(run.mean_ms)} ms, like a request that is alone at the disk"
        more = "Without the limit nothing changes unless more requests are in flight."
        return "", f"{text}, near the {kind}, but no request waits for this limit: {alone}. {more}"
    return kind, f"{text}: the {kind} is reached. {LIMITS[kind]}"


def _span(rates: tuple[float, float], unit: int) -> str:
    low, high = (f"{one:,.0f}" if round(one) >= 100 else f"{one:.3g}" for one in (rates[0] / unit, rates[1] / unit))
    return low if low == high else f"{low} to {high}"


def _mean(costs: list[float]) -> float:
    return sum(costs) / len(costs)


def _count(row: Tried) -> str:
    better = sum(after < before for before, after in row.costs)
    return f"{better} of {len(row.costs)} pairs"


COLUMNS = 80
TIMES_WIDTH = 16
OTHER_WIDTH = TIMES_WIDTH + len("faster, not sure") + 5  # columns except name and p99, with the blanks between


TIMES, COSTS = ("faster", "slower"), ("better", "worse")
HEADS = {TIMES: "times as fast", COSTS: "cost divided by"}


def compared(metric: str) -> tuple[str, str]:
    """The words for a lower and a higher cost. Only the time of the same work makes a command faster."""
    return TIMES if metric in (figures.SECONDS, figures.RATE) else COSTS


def word(row: Tried, table: Table) -> str:
    if row.wrong:
        return "does not count"
    factor, least = row.factor(), table.least()
    if 1 / least < factor < least:
        return "no effect"
    better, worse = compared(table.metric)
    direction = better if factor >= 1 else worse
    return direction if row.shown else f"{direction}, once" if len(row.costs) == 1 else f"{direction}, not sure"


def lines(table: Table, verdict: Answer, simulated: bool) -> list[str]:
    """The printed lines: the verdict, then the table."""
    out = textwrap.wrap(verdict.sentence, COLUMNS)
    if verdict.commands:
        out += ["Type:", *(f"  {command}" for command in verdict.commands)]
    late_width = max(map(len, ("p99 ms", *map(_late, table.rows))))
    if table.rows:
        out += ["", _columns("change", HEADS[compared(table.metric)], "p99 ms", "verdict", late_width)]
    order = list(Kind)
    for row in sorted(table.rows, key=lambda row: (bool(row.wrong), -row.factor(), order.index(row.change.kind))):
        out.append(_columns(row.change.name, _factors(row), _late(row), word(row, table), late_width))
        if row.wrong:
            out += textwrap.wrap(row.wrong, COLUMNS, initial_indent="    ", subsequent_indent="    ")
        if row.moved:
            out += textwrap.wrap(f"also changed: {', '.join(row.moved)}", COLUMNS, initial_indent="    ",
                                 subsequent_indent="    ")  # fmt: skip
    out.append("")
    costs = table.costs
    spread = 100 * (max(costs) / min(costs) - 1)
    within = f"{len(costs)} runs within {units.significant(spread)} %" if len(costs) > 1 else "1 run"
    sentence = f"Unchanged: {figures.text_of(table.metric, sum(costs) / len(costs))}, {within}."
    sentence += f" {table.runs} run{'s' if table.runs != 1 else ''} in all." + (
        " Simulated: the lab's model of the disk and of time." if simulated else ""
    )
    out += textwrap.wrap(f"{sentence} {source.sentence(table.source)}".strip(), COLUMNS)
    if table.layer.pairs and not table.layer.costs():
        out += textwrap.wrap(f"{layers(table.layer)}: {table.layer.kind} costs nothing beyond chance.", COLUMNS)
    if table.layer.untried:
        out += textwrap.wrap(f"Not tried: the layer {table.layer.untried}.", COLUMNS)
    if table.unfinished:
        ended = f" (the search ended at {table.ended})" if table.ended else ""
        out += textwrap.wrap(f"Not finished{ended}: {'; '.join(dict.fromkeys(table.unfinished))}.", COLUMNS)
    if not verdict.causes and table.baseline.recording:
        out += ["To infer a cause from the first run:", f"  raidctl explain {shlex.quote(table.baseline.recording)}"]
    return out


def _columns(name: str, times: str, late: str, last: str, late_width: int) -> str:
    width = COLUMNS - OTHER_WIDTH - late_width
    name = name if len(name) <= width else name[: width - 1] + "…"
    return f"{name:<{width}} {times:>{TIMES_WIDTH}}  {late:>{late_width}}  {last}"


def _factors(row: Tried) -> str:
    effect = row.effect
    if effect and effect.low is not None and effect.high is not None:
        return f"{_times(effect.factor)} ({_times(effect.low)}-{_times(effect.high)})"
    return _times(effect.factor) if effect else "-"


def _late(row: Tried) -> str:
    return " -> ".join(map(units.significant, row.p99_ms[0])) if row.p99_ms else "-"


def _times(factor: float) -> str:
    return f"{factor:.2f}" if factor < 10 else f"{factor:.1f}" if factor < 100 else units.significant(factor)


def as_json(table: Table, verdict: Answer, about: dict[str, Any]) -> str:
    """The JSON object: the command, the baseline, every row, the verdict."""
    rows = [
        {
            "change": row.change.name,
            "kind": row.change.kind.value,
            "cause": row.change.cause,
            "settings": dict(row.change.settings),
            "lab": dict(row.change.lab),
            "program": row.change.program or None,
            "alone": row.change.alone,
            "kernel": row.change.kernel or None,
            "factor": row.effect.factor if row.effect else None,
            "low": row.effect.low if row.effect else None,
            "high": row.effect.high if row.effect else None,
            "pairs": [list(pair) for pair in row.costs],
            "p99_ms": list[float | None](row.p99_ms[0] if row.p99_ms else (None, None)),
            "verdict": word(row, table),
            "shown": row.shown,
            "invalid": row.wrong or None,
            "also_changed": list(row.moved),
        }
        for row in table.rows
    ]
    return json.dumps(
        {
            "format": runs.FORMAT,
            **about,
            "metric": table.metric,
            "baseline": {"costs": table.costs, "settings": dict(table.baseline.read_back), "noise": table.noise},
            "rows": rows,
            "runs": table.runs,
            **source.as_json(table.source),
            "unfinished": table.unfinished,
            "ended_by": table.ended or None,
            "rates": {
                "requests_per_s": table.rates.requests,
                "bytes_per_s": table.rates.octets,
                "alone_ms": table.rates.alone_ms,
            },
            "layer": dataclasses.asdict(table.layer) if table.layer.name else None,
            "verdict": {
                "causes": list(verdict.causes),
                "change": verdict.change,
                "kind": verdict.kind.value if verdict.kind else None,
                "factor": verdict.factor,
                "low": verdict.low,
                "high": verdict.high,
                "shown": verdict.shown,
                "commands": list(verdict.commands),
                "sentence": verdict.sentence,
            },
        },
        indent=1,
    )
