# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl why: causes by experiment. What decides (changes, chance, experiment, verdict) knows no machine; lab and disk do."""
