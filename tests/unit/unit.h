/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What every unit test includes: cmocka and what it needs before it. */

#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
