# SPDX-License-Identifier: GPL-2.0-or-later
"""All numbers of the rules. Those of the first part decide verdicts, each with one meaning; test_constants.py counts them.
Where the breakdown of the time has an interval (recording/breakdown.py), a rule should use that instead."""

from raidtrace.recording import breakdown

MIN_FACTOR = breakdown.MIN_FACTOR  # 1.15, of two rates or times: a smaller quotient needs no cause
SLOWER = 1.25  # of the median and the fastest time: the times of equal requests scatter by less
TWICE = 2.0  # as large or as many: the least difference where sizes or depths are counted in octaves
SEVERAL = 4  # times as large, or that many: a difference that needs no exact measurement
HALF = 0.5  # of something: from here on it is the larger part
QUARTER = 0.25  # of something: below this it is a smaller part, and the rest is most of it
FEW = breakdown.MIN_SHARE  # 0.05 of something: fewer may be of another kind, or an error of the measurement
NUMBER = 10  # of events or requests: with fewer, one of them changes the mean by more than a tenth
WIDE = 8  # requests in flight: several drives work at once; twice as many are enough for most disks
EVEN_REQUESTS = 2.0  # by which the sum of completions at an even rate may deviate from a straight line
EVEN_SHARE = 0.005  # of all requests, if that is more: timers of a busy host are late
MIN_SILENT_S = 1.0  # s without a completion: a command that works takes less

# These follow from those above.
WORTH = 1 - 1 / MIN_FACTOR  # 0.13 of the time: without a cause of this share the phase is MIN_FACTOR times as fast
MATTERS = round(MIN_FACTOR - 1, 9)  # 0.15 of a load, or more than a rate: a smaller difference needs no cause
NEARLY_ALL = 1 - MATTERS  # 0.85: the rest does not matter
MOST = 1 - QUARTER  # 0.75 of something
CERTAIN = 1 - FEW  # 0.95 of something
ENOUGH = TWICE * WIDE  # 16 requests in flight: enough for most disks
FULL = SEVERAL * WIDE  # 32 requests in flight: up to so many drives, all of them work
MIN_REQUESTS = breakdown.MIN_REQUESTS  # 20: fewer do not distinguish a limit of the volume from the rate of the disk

# Facts of disks, and of Linux.
SEEK_S = 0.004  # s: the shortest seek to another place, with half a turn
MIN_SEEK_MS = 2.0  # ms from issue to completion: a slower request includes a seek, a faster one is from a cache
TURN_MS = 6.0  # ms: a turn of the platters, at most 10,000 a minute
MIN_DRIVE_WRITE_MS = 5.0  # ms from issue to completion: a slower write waits for drives
MIN_NETWORK_MS = 0.3  # ms of the fastest request: a slower disk without heads is not local
MAX_NEAR_SECTORS = 16384  # mean length of a seek: up to here a head need not move
MAX_SHORT_SECTORS = 1024  # of a contiguous run: up to here the seek takes longer than the read
MAX_FLUSHED_BYTES = 1 << 20  # written for each flush: up to here the flush takes the time, not the data
MAX_DIRTY_LIMIT = 64 << 20  # bytes: with such a low limit of unwritten data writers may wait
SATA_MIB_S = 525.0  # of a link with 6 Gbit/s after coding and protocol; data sheets give 550 to 560 MB/s
MIN_PLATTER_MIB_S = 60.0  # any disk of the last fifteen years reads at least this much sequentially, on any track
MIN_LINK_MIB_S = 2000.0  # a higher rate may be that of a link (PCIe)
MIN_FLASH_IOPS = 50_000.0  # a higher rate may be that of the flash and its controller
PLATTER_KIB_MS = 100.0  # KiB that a disk with heads transfers in a ms, approximately
MAX_SEEK_KIB = 64  # KiB of a random request: for a smaller one, the seek takes nearly all of the time
MAX_PIECE_KIB = 32  # KiB on an array: twice this size still fits into the chunk of one drive
MIN_FAR_KIB = 1 << 16  # KiB, mean distance of seeks: above this, larger pieces do not shorten it
WINDOW_DELAY = 1 / 7  # of a request's time: delay of the next request in its window; from 9500S and 9650SE in the lab
PAGE_BYTES = 4096  # x86
KIB = 1024
UNLIMITED_KIB = 1 << 20  # above this a driver has no limit
LARGE_SECTORS = 128  # of a direct read: above this, larger reads are not advised
LARGE_READAHEAD_KIB = 4096  # programs with random reads may fetch much more than they use
PRESET_REQUEST_KIB = 1280  # the default of Linux
DEFAULT_NR_REQUESTS = 256  # default of Linux for a disk with enough tags
MAX_IOPS_SECTORS = 64  # of a request: for smaller ones the summary gives the rate in requests per second first
MIN_EDGE_IDLE_S = 0.05  # s: shorter idle time at the ends of a phase is not reported
