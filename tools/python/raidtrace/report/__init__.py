# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report of recordings and of sweeps."""
