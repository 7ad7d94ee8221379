// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs all groups. */
#include "suites.h"

int main(void)
{
	return config_suite() + store_suite() + array_suite() + drive_suite() + parity_suite() + timing_suite() +
	       gather_suite() + probe_suite() + command_suite() + fault_suite() + rebuild_suite() + integrity_suite() + opcodes_suite() + log_suite() + cache_suite() ? 1 : 0;
}
