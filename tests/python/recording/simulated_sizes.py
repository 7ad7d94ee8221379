# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk whose time depends on size and distance, simulated as a witness of the breakdown that shares no code with it.

A request takes `fixed` + `per_mib` x MiB alone, and `seek` more unless it is in order. It waits for one of `servers`, the
oldest first. Times are in ns, sizes in sectors.
"""

import collections
import heapq
import random


class Disk:
    """drawn: the factor of each time, at random."""

    def __init__(self, seed, fixed=100_000, per_mib=1_000_000, seek=0, servers=1, spread=0.1):
        self.random = random.Random(seed)
        self.fixed, self.per_mib, self.seek, self.servers, self.spread = fixed, per_mib, seek, servers, spread

    def alone(self, sectors, distance):
        """The mean time of a request when no other is in flight: the truth."""
        return self.fixed + self.per_mib * sectors / 2048 + (self.seek if distance else 0)

    def run(self, requests, depth):
        """Serve (sectors, distance) with so many in flight: (sectors, distance, found, start, end) of each."""
        free, flying, done = [0] * self.servers, [], []
        heapq.heapify(free)
        now = 0
        for sectors, distance in requests:
            if len(flying) == depth:
                now = heapq.heappop(flying)
            found = len(flying)
            start = max(now, heapq.heappop(free))
            end = start + round(self.alone(sectors, distance) * self.random.uniform(1 - self.spread, 1 + self.spread))
            heapq.heappush(free, end)
            heapq.heappush(flying, end)
            done.append((sectors, distance, found, now, end))
        return done


def depth_times(done):
    """ns at each number in flight."""
    events = sorted([(start, 1) for *_, start, _ in done] + [(end, -1) for *_, end in done])
    times, depth, last = collections.Counter(), 0, 0
    for at, step in events:
        times[depth] += at - last
        depth, last = depth + step, at
    return dict(times)
