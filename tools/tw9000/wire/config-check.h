/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules that tie several keys together. */
#ifndef TW_CONFIG_CHECK_H
#define TW_CONFIG_CHECK_H

#include "config.h"

/**
 * tw_config_conflict() - whether values that are allowed each go together
 * @config: all keys are within their bounds
 * @key: filled in: the key to be changed
 *
 * Return: what is wrong with it, NULL if nothing is.
 */
const char *tw_config_conflict(const struct tw_config *config, const char **key);

#endif
