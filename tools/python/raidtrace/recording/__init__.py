# SPDX-License-Identifier: GPL-2.0-or-later
"""The one reader of recordings: rows, sums of a phase, series over time, and the numbers that follow from them."""
