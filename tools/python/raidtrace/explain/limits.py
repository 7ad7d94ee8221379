# SPDX-License-Identifier: GPL-2.0-or-later
"""The possible limits of the throughput of a phase, each with the counters for and against it.

A cause is inferred only if the counters have its signature and not that of similar causes. Otherwise its text names the
missing evidence. Each inferred cause explains a share of a state of the time. One whose counted share is the larger part of
the time comes first, the largest at the top: without it, the phase is at least twice as fast. The others keep the order of
MAKERS, from the program to the disk: a disk that waits for its program is not at its ceiling.
"""

import dataclasses
from collections.abc import Callable, Container, Mapping, Sequence

from raidtrace.explain import constants as k
from raidtrace.explain import gain, limits_device, limits_events, limits_host, limits_queue, limits_rate, limits_state
from raidtrace.explain.case import Case
from raidtrace.explain.evidence import Limit, Verdict
from raidtrace.explain.limits_device import about_ms
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import Reading

# A higher depth or larger requests remove these causes.
DEPTH_CAUSES = ("readahead", "no readahead", "direct", "seeks", "request size")
HOST_CAUSES = ("program", "processor")
CEILING_CAUSES = ("device", "controller", "drives")
ORDERED_CAUSES = ("readahead", "direct")  # the counters show none of these for sequential reads of one disk
# These are no causes while a limit of the volume determines the rate.
CAUSES_UNDER_LIMIT = (*DEPTH_CAUSES, "program", "device", "request slots", "queue depth", "scheduler")
VERDICT_ORDER = (Verdict.INFERRED, Verdict.NOT_SHOWN, Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE)
# Counters that the rules compare. Without one of them, a cause cannot be distinguished from the others.
GROUPS_OF_BIOS = ("flow", "stream", "origin", "submitter", "readahead")
GROUPS_OF_REQUESTS = ("size", "seek", "depth", "latency")
OF_BIOS = ("queued", "bytes_queued", "stream_queued", "bytes_ahead_queued")
OF_REQUESTS = ("issued", "completed", "bytes_completed", "d2c_sum_ns", "i2d_sum_ns", "q2c_sum_ns")
MAKERS: tuple[Callable[[Case], Limit], ...] = (
    limits_events.reset,
    limits_events.changed,
    limits_rate.io_max,
    limits_state.held,
    limits_state.layer,
    limits_events.degraded,
    limits_host.sync,
    limits_host.discards,
    limits_host.competing,
    limits_rate.rereads,
    limits_rate.amplification,
    limits_rate.throttled,
    limits_events.slow_part,
    limits_device.parity,
    limits_queue.queue,
    limits_queue.scheduler,
    limits_queue.positioning,
    limits_queue.direct,
    limits_host.host,
    limits_host.pieces,
    limits_host.filesystem,
    limits_queue.request_size,
    limits_queue.merges,
    limits_queue.advice,
    limits_queue.readahead,
    limits_device.device,
    limits_events.errors,
)


def limits(
    reading: Reading, direction: str, meta: Mapping[str, str], siblings: Sequence[Observation] = ()
) -> tuple[Limit, ...]:
    """All limits: inferred ones first, the most important at the top; then open questions, contradicted,
    not available."""
    case = Case(reading, direction, meta, siblings)
    made = [make(case) for make in MAKERS]

    def inferred(*keys: str) -> bool:
        return any(limit.key in keys and limit.verdict is Verdict.INFERRED for limit in made)

    def leave_open(keys: Container[str], reason: str) -> None:
        made[:] = [_open(limit, reason) if limit.key in keys else limit for limit in made]

    if any(limits_rate.reached(limit) for limit in made):  # then no other cause needs a change first
        leave_open({limit.key for limit in made} - {"io.max", "reset"}, "io.max allows little more")
    if inferred("throttled"):
        leave_open(CAUSES_UNDER_LIMIT, "the limit of the volume explains this")
    if (idle := case.idle() or 0.0) >= 1 - k.WORTH:
        leave_open(DEPTH_CAUSES, f"the disk was idle for {q.percent(idle)} of the time")
    if inferred(*CEILING_CAUSES):
        leave_open(("pieces",), "the disk is at its rate")
    if limits_device.link_near(case):
        leave_open((*DEPTH_CAUSES, "pieces", "file system"), "the rate is near that of the fastest SATA link")
    if limits_device.platter(case) or (case.one_disk() and case.rotates() and case.streams() > 1):
        text = "a rotating disk reads ahead by itself: only an experiment can show whether more is faster"
        leave_open(ORDERED_CAUSES, text)
    if case.one_disk() and (crowd := limits_device.crowd(case)) and _wait_for_each_other(case, crowd):
        # On a disk with heads each request still needs its seek, however many wait.
        text = (
            f"with {crowd.many:.0f} in flight a request takes {about_ms(crowd.many_ms)}, with {crowd.few:.0f} in "
            f"flight {about_ms(crowd.few_ms)}: requests already wait for each other"
        )
        leave_open(set(DEPTH_CAUSES) - ({"seeks"} if case.rotates() else set()), text)
    if (waiting := limits_device.waiting(case)) and not (gain.alone(case) and waiting[0] < k.MIN_NETWORK_MS):
        text = f"the fastest took {waiting[0]:.3g} ms, the mean is {waiting[1]:.3g} ms"
        leave_open(DEPTH_CAUSES, f"{text}: requests already wait for each other")

    if lacks := lacking(case):  # any other cause may hold as well
        leave_open({limit.key for limit in made}, f"{lacks} not recorded, so other causes are not ruled out")

    def place(limit: Limit) -> tuple[int, float]:
        share = limit.share or 0.0
        return VERDICT_ORDER.index(limit.verdict), -share if share >= k.HALF else 0.0

    return tuple(_with_share(case, limit) for limit in sorted(made, key=place))


def _with_share(case: Case, limit: Limit) -> Limit:
    """A limit with the share of the time that it took. If this is not counted, it is at most that of its state."""
    if limit.verdict is not Verdict.INFERRED or limit.share is not None:
        return limit
    return dataclasses.replace(limit, share=case.share_of(limit.state))


def lacking(case: Case) -> str:
    """The names of what the rules compare and the recording lacks, with a verb; empty: nothing."""
    span, requests = case.phase.span, not case.phase.disk.bio_based
    groups = (*GROUPS_OF_BIOS, *(GROUPS_OF_REQUESTS if requests else ()))
    counters = (*OF_BIOS, *(OF_REQUESTS if requests else ()))
    lacks = [f"counters of group {group}" for group in groups if not span.counts(group)]
    lacks = lacks or [name.replace("_", "-") for name in counters if name in span.unknown]
    real = "source" in case.meta or "host_available" in case.meta
    lacks += ["settings"] if real and not case.phase.settings else []
    lacks += ["calls of the command"] if real and not case.phase.host else []
    return f"{', '.join(lacks)} {'were' if len(lacks) > 1 or lacks[0].endswith('s') else 'was'}" if lacks else ""


def of_a_small_part(limits: Sequence[Limit], whole: Case, seconds: float) -> tuple[Limit, ...]:
    """The limits of a direction that took so few seconds of its phase that its limits do not matter. All but computing
    become open questions; computing may have taken the rest of the phase. whole: the phase with its idle time.
    """
    text = f"{whole.direction}s took {seconds:.2g} s of the phase's {whole.phase.seconds():.3g} s"
    host = limits_host.host(whole)
    rest = tuple(_open(limit, text) for limit in limits if limit.key not in HOST_CAUSES)
    return (host if host.key == "processor" else _open(host, text), *rest)


def _wait_for_each_other(case: Case, crowd: limits_device.Crowd) -> bool:
    """Whether requests of one disk already wait for each other, so that a higher depth would not help."""
    longer = crowd.many_ms / crowd.few_ms if crowd.few_ms else 0.0
    return limits_device.full(case) is not None or (longer >= k.SLOWER and crowd.growth < k.MATTERS)


def _open(limit: Limit, reason: str) -> Limit:
    """Turn an inferred limit into an open question, with this reason. Other limits are returned unchanged."""
    if limit.verdict is not Verdict.INFERRED:
        return limit
    text = f"{limit.statement}; but {reason}"
    return dataclasses.replace(
        limit, statement=text, verdict=Verdict.NOT_SHOWN, remedy="", share=None, gain=None, gain_of=""
    )
