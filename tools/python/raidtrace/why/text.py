# SPDX-License-Identifier: GPL-2.0-or-later
"""The table and the verdict of an experiment, as text of 80 columns and as JSON."""

import dataclasses
import json
import shlex
import textwrap
from typing import Any

from raidtrace.quantity import size
from raidtrace.why import metric, store
from raidtrace.why.changes import Kind
from raidtrace.why.experiment import Row, Table
from raidtrace.why.verdict import Verdict, layers

COLUMNS = 80
NAME, TIMES, LATE = 30, 17, 12  # columns


def word(row: Row, table: Table) -> str:
    """The verdict of a row."""
    if row.wrong:
        return "does not count"
    factor, least = row.factor(), table.least()
    if 1 / least < factor < least:
        return "no effect"
    direction = "faster" if factor >= 1 else "slower"
    return direction if row.shown else f"{direction}, once" if len(row.costs) == 1 else f"{direction}, not sure"


def lines(table: Table, verdict: Verdict, simulated: bool) -> list[str]:
    """What is printed: the verdict first, then the table."""
    out = textwrap.wrap(verdict.sentence, COLUMNS)
    if verdict.commands:
        out += ["Type:", *(f"  {command}" for command in verdict.commands)]
    out += ["", f"{'change':<{NAME}} {'times as fast':>{TIMES}}  {'p99 ms':>{LATE}}  verdict"] if table.rows else []
    order = list(Kind)
    for row in sorted(table.rows, key=lambda row: (bool(row.wrong), -row.factor(), order.index(row.change.kind))):
        out.append(_row(row, table))
        if row.wrong:
            out += textwrap.wrap(row.wrong, COLUMNS, initial_indent="    ", subsequent_indent="    ")
        if row.moved:
            out += textwrap.wrap(f"with it changed: {', '.join(row.moved)}", COLUMNS, initial_indent="    ",
                                 subsequent_indent="    ")  # fmt: skip
    out.append("")
    costs = table.costs
    spread = 100 * (max(costs) / min(costs) - 1)
    within = f"{len(costs)} runs within {size.significant(spread)} %" if len(costs) > 1 else "1 run"
    sentence = f"As it is: {metric.text_of(table.metric, sum(costs) / len(costs))}, {within}."
    sentence += f" {table.runs} run{'s' if table.runs != 1 else ''} in all." + (
        " Simulated: the lab's model of the disk and of time." if simulated else ""
    )
    out += textwrap.wrap(sentence, COLUMNS)
    if table.layer.pairs and not table.layer.costs():
        out += textwrap.wrap(f"{layers(table.layer)}: {table.layer.kind} costs nothing beyond chance.", COLUMNS)
    if table.layer.untried:
        out += textwrap.wrap(f"Not tried: the layer {table.layer.untried}.", COLUMNS)
    if table.unfinished:
        ended = f" ({table.ended} ended the search)" if table.ended else ""
        out += textwrap.wrap(f"Not finished{ended}: {'; '.join(dict.fromkeys(table.unfinished))}.", COLUMNS)
    if not verdict.causes and table.baseline.recording:
        out += ["To infer a cause from the first run:", f"  raidctl explain {shlex.quote(table.baseline.recording)}"]
    return out


def _row(row: Row, table: Table) -> str:
    name = row.change.name if len(row.change.name) <= NAME else row.change.name[: NAME - 1] + "…"
    effect = row.effect
    times = "-"
    if effect and effect.low is not None and effect.high is not None:
        times = f"{_times(effect.factor)} ({_times(effect.low)}-{_times(effect.high)})"
    elif effect:
        times = _times(effect.factor)
    late = " > ".join(map(size.significant, row.p99_ms[0])) if row.p99_ms else "-"
    return f"{name:<{NAME}} {times:>{TIMES}}  {late:>{LATE}}  {word(row, table)}"


def _times(factor: float) -> str:
    return f"{factor:.2f}" if factor < 10 else f"{factor:.1f}" if factor < 100 else size.significant(factor)


def as_json(table: Table, verdict: Verdict, about: dict[str, Any]) -> str:
    """One object: what was run, the baseline, every row, the verdict."""
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
            "format": store.FORMAT,
            **about,
            "metric": table.metric,
            "baseline": {"costs": table.costs, "settings": dict(table.baseline.read_back), "noise": table.noise},
            "rows": rows,
            "runs": table.runs,
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
