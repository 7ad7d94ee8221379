# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a throughput is what it is: links with their evidence, limits, two runs side by side."""
