# SPDX-License-Identifier: GPL-2.0-or-later
"""Pure arithmetic: bins of histograms, sizes, statistics of trials, ranks, what seeks cost."""
