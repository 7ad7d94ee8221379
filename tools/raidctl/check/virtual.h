/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Does this machine run on another one? */

#ifndef CHECK_VIRTUAL_H
#define CHECK_VIRTUAL_H

#include "check/check.h"

/* read_hypervisor - set @facts->hypervisor and virtual_known */
void read_hypervisor(struct facts *facts);

#endif
