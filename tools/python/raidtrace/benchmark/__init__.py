# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks that can be run, the terms of their tests, and what they print."""
