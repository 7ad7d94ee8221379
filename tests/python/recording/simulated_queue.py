# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk and its load, simulated event by event, as a witness of the breakdown that shares no code with it.

A request first waits for one of `servers` (0: there is no wait), each of which serves it for a service time; or all requests
share one server (`shared`). Then it takes `latency` in addition, next to others. Times are in ms.
"""

import heapq
import itertools
import random


class Disk:
    """servers: requests served at once, the oldest first; 0: any number. shared: they share the rate of one server."""

    def __init__(self, seed, servers=0, service=1.0, latency=0.0, spread=0.1, shared=False):
        self.random = random.Random(seed)
        self.servers, self.service, self.latency, self.spread, self.shared = servers, service, latency, spread, shared

    def drawn(self, mean):
        return mean * self.random.uniform(1 - self.spread, 1 + self.spread)

    def run(self, arrivals, closed=0, think=0.0, until=2000.0):
        """Requests as (depth found, start, end). arrivals: times; closed: so many requests, each issued again after its end
        and a random time to think."""
        events, order = [], itertools.count()
        for at in arrivals:
            heapq.heappush(events, (at, next(order), "issue", None))
        for _ in range(closed):
            heapq.heappush(events, (self.random.random() * think, next(order), "issue", None))
        flying, waiting, free, done = {}, [], self.servers, []
        work, last, version = {}, 0.0, 0  # of a shared server: remaining work of each request

        def shift(now):
            nonlocal last
            if work:
                for key in work:
                    work[key] -= (now - last) / len(work)
            last = now

        def plan(now):
            nonlocal version
            version += 1
            if work:
                key = min(work, key=work.get)
                heapq.heappush(events, (now + max(work[key], 0) * len(work), next(order), "served", (version, key)))

        number = itertools.count()
        while events:
            now, _, what, which = heapq.heappop(events)
            if now > until and what == "issue":
                continue
            if what == "issue":
                key = next(number)
                flying[key] = (len(flying), now)
                if self.shared:
                    shift(now)
                    work[key] = self.drawn(self.service)
                    plan(now)
                elif not self.servers:
                    heapq.heappush(events, (now + self.drawn(self.latency), next(order), "end", key))
                else:
                    waiting.append(key)
            elif what == "served":
                if self.shared:
                    planned, key = which
                    if planned != version:
                        continue
                    shift(now)
                    del work[key]
                    plan(now)
                else:
                    key, free = which, free + 1
                heapq.heappush(events, (now + self.drawn(self.latency), next(order), "end", key))
            else:
                found, start = flying.pop(which)
                done.append((found, start, now))
                if closed:
                    pause = self.random.expovariate(1 / think) if think else 0.0
                    heapq.heappush(events, (now + pause, next(order), "issue", None))
            while waiting and free and not self.shared:
                free -= 1
                key = waiting.pop(0)
                heapq.heappush(events, (now + self.drawn(self.service), next(order), "served", key))
        return done

    def rate(self, depth, until=500.0):
        """Requests per ms with so many always in flight: the truth."""
        done = self.run((), closed=depth, until=until)
        return sum(end <= until for _, _, end in done) / until


def depth_times(requests):
    """Time at each depth, from the begin of the first request to the end of the last."""
    events = sorted([(start, 1) for _, start, _ in requests] + [(end, -1) for _, _, end in requests])
    times, depth, last = {}, 0, events[0][0]
    for at, step in events:
        times[depth] = times.get(depth, 0.0) + at - last
        depth, last = depth + step, at
    return times
