/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands in the controller, responses and events on their way to the driver. */
#ifndef TW_QUEUE_H
#define TW_QUEUE_H

#include "controller.h"

/* Return: whether every request id is in use. */
bool tw_queue_full(const struct tw_model *model);

/* Return: the running request that is due first, NULL if none runs. */
struct tw_request *tw_queue_next(struct tw_model *model);

/* Put what is due by @now into the response queue, in order of time. */
void tw_queue_answer_due(struct tw_model *model, u64 now);

/* Return: the oldest response as the register shows it, 0 if there is none. Frees its request id. */
u32 tw_queue_take(struct tw_model *model);

/* Add an event; the last one becomes "queue full" when there are too many. */
void tw_queue_event(struct tw_model *model, u16 code, u8 severity);

/* Running commands are forgotten: the driver takes them as failed. One event says so. */
void tw_queue_reset(struct tw_model *model);

#endif
