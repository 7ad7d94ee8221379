/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One group of tests per part of the model; each returns how many failed. */
#ifndef TW_TEST_SUITES_H
#define TW_TEST_SUITES_H

int config_suite(void);
int store_suite(void);
int array_suite(void);
int drive_suite(void);
int parity_suite(void);
int timing_suite(void);
int gather_suite(void);
int probe_suite(void);
int command_suite(void);
int fault_suite(void);
int rebuild_suite(void);
int integrity_suite(void);
int opcodes_suite(void);
int log_suite(void);
int cache_suite(void);

#endif
