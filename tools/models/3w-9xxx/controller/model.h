/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated 3ware 9000 controller: registers in, interrupts and DMA out.
 * Knows neither kernel nor clock; a host gives it both through rl_host_ops.
 */
#ifndef TW_MODEL_H
#define TW_MODEL_H

#include "controller.h"

/**
 * tw_model_create() - power on
 * @model: memory for it, contents undefined
 * @config: copied
 * @ops: must outlive the model
 * @host: passed to @ops and @alloc
 * @alloc: see rl_arena_create(); not used after creation
 *
 * Return: false when there is not enough memory.
 */
bool tw_model_create(struct tw_model *model, const struct tw_config *config,
		     const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc);

/* 32-bit registers at byte @offset; unknown ones read as 0 and ignore writes. */
u32 tw_model_read(struct tw_model *model, u32 offset);
void tw_model_write(struct tw_model *model, u32 offset, u32 value);

/* The time given to wake_at has come; calling it at any other time is harmless. */
void tw_model_tick(struct tw_model *model);

/* What a host uses of it. */
extern const struct rl_kind tw_kind;

/* Queue an asynchronous event and draw the driver's attention to it. */
void tw_model_event(struct tw_model *model, u16 code, u8 severity);

#endif
