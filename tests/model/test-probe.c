// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers, interrupts, resets, events: the conversation that 3w-9xxx has with the controller. */
#include <string.h>

#include "host.h"

#define SOFT_RESET (TW_CONTROL_SOFT_RESET | TW_CONTROL_CLEAR_HOST | TW_CONTROL_CLEAR_ATTENTION | \
		    TW_CONTROL_MASK_COMMAND | TW_CONTROL_MASK_RESPONSE | TW_CONTROL_CLEAR_ERROR | \
		    TW_CONTROL_DISABLE_INTERRUPTS)
#define GO (TW_CONTROL_CLEAR_ATTENTION | TW_CONTROL_UNMASK_RESPONSE | TW_CONTROL_ENABLE_INTERRUPTS)

static u32 status(struct host *host)
{
	return tw_model_read(&host->model, TW_REG_STATUS);
}

TEST(power_on_is_ready_and_quiet)
{
	struct host *host = host_create("store_mib=4,log_entries=10");

	assert_int_equal(status(host), TW_STATUS_READY | TW_STATUS_RESPONSE_EMPTY | TW_STATUS_COMMAND_EMPTY);
	assert_int_equal(tw_model_read(&host->model, TW_REG_DRAIN), 0xffff);
	assert_int_equal(tw_model_read(&host->model, 0x44), 0);
	assert_false(host->irq);
}

HOST_TEST(init_connection_negotiates)
{
	struct tw_init_connection *init = driver_packet(host, 7);

	driver_init(host, 7, TW_INIT_64BIT | TW_INIT_EXTENDED, 35);
	assert_int_equal(driver_finish(host, 7), 0);
	assert_int_equal(tw_get16(init->srl), 24);
	assert_int_equal(tw_get16(init->arch), 5);
	assert_int_equal(tw_get32(init->result), TW_INIT_COMPATIBLE);
	driver_init(host, 7, TW_INIT_64BIT | TW_INIT_EXTENDED, 20);
	assert_int_equal(driver_finish(host, 7), 0);
	assert_int_equal(tw_get32(init->result), 0);
	/* Shutting down: not extended, the rest stays as it is. */
	driver_init(host, 7, TW_INIT_64BIT, 99);
	assert_int_equal(driver_finish(host, 7), 0);
	assert_int_equal(tw_get16(init->srl), 99);
	/* A host with 32-bit addresses would lay its packets out differently. */
	driver_init(host, 7, TW_INIT_EXTENDED, 35);
	assert_int_equal(driver_finish(host, 7), 1);
}

TEST(parameters_are_those_of_the_profile)
{
	struct host *host = host_create("store_mib=4,log_entries=10,controller.firmware=FE9X_2.02.00.009,"
					"controller.bios=BE9X_2.02.01.037,controller.ports=12");
	const struct tw_param *param = host_at(host, HOST_DATA);

	driver_param(host, 1, TW_OP_GET_PARAM, TW_TABLE_VERSION, TW_PARAM_FIRMWARE, 16);
	assert_int_equal(driver_finish(host, 1), 0);
	assert_memory_equal(param->data, "FE9X 2.02.00.009", 16);
	assert_int_equal(tw_get16(param->actual_size_bytes), 16);
	driver_param(host, 1, TW_OP_GET_PARAM, TW_TABLE_VERSION, TW_PARAM_BIOS, 16);
	assert_int_equal(driver_finish(host, 1), 0);
	assert_memory_equal(param->data, "BE9X 2.02.01.037", 16);
	driver_param(host, 1, TW_OP_GET_PARAM, TW_TABLE_INFORMATION, TW_PARAM_PORTS, 1);
	assert_int_equal(driver_finish(host, 1), 0);
	assert_memory_equal(param->data, "\x0c\0\0\0", 4);
	driver_param(host, 1, TW_OP_SET_PARAM, TW_TABLE_TIMEKEEP, 3, 4);
	assert_int_equal(driver_finish(host, 1), 0);
}

HOST_TEST(wrong_parameters_fail_with_their_reason)
{
	static const struct { u8 opcode; u16 table, index, bytes, error; } bad[] = {
		{ TW_OP_GET_PARAM, 0x777, 3, 16, TW_ERROR_PARAM_TABLE },
		{ TW_OP_GET_PARAM, TW_TABLE_VERSION, 77, 16, TW_ERROR_PARAM_INDEX },
		{ TW_OP_GET_PARAM, TW_TABLE_VERSION, TW_PARAM_BIOS, 15, TW_ERROR_PARAM_SIZE },
		{ TW_OP_SET_PARAM, TW_TABLE_VERSION, 3, 4, TW_ERROR_PARAM_TABLE },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(bad); i++) {
		driver_param(host, 2, bad[i].opcode, bad[i].table, bad[i].index, bad[i].bytes);
		assert_int_equal(driver_finish(host, 2), 1);
		assert_int_equal(tw_get16(driver_header(host, 2)->error), bad[i].error);
	}
}

/* A driver that polls sleeps 50 ms between looks. */
HOST_TEST(a_polling_driver_is_answered_at_once)
{
	u64 before;

	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_DISABLE_INTERRUPTS);
	before = host->clock;
	driver_init(host, 0, TW_INIT_64BIT, 35);
	assert_false(status(host) & TW_STATUS_RESPONSE_EMPTY);
	assert_int_equal(driver_finish(host, 0), 0);
	assert_int_equal(host->clock, before);
	assert_false(host->irq);
}

HOST_TEST(the_line_is_up_while_there_is_something_to_do)
{
	driver_transfer(host, 5, false, 0, 8, 0);
	assert_false(host->irq);
	assert_true(host->wake > host->clock && host->wake != RL_NEVER);
	host->clock = host->wake - 1;
	tw_model_tick(&host->model);
	assert_false(host->irq);
	assert_int_equal(host->wake, host->clock + 1);
	host->clock++;
	tw_model_tick(&host->model);
	assert_true(host->irq);
	assert_true(status(host) & TW_STATUS_RESPONSE);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_MASK_RESPONSE);
	assert_false(host->irq);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_UNMASK_RESPONSE);
	assert_true(host->irq);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_DISABLE_INTERRUPTS);
	assert_false(host->irq);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_ENABLE_INTERRUPTS);
	assert_true(host->irq);
	assert_int_equal(tw_model_read(&host->model, TW_REG_RESPONSE), 5 << 4);
	assert_false(host->irq);
	assert_true(status(host) & TW_STATUS_RESPONSE_EMPTY);
}

HOST_TEST(host_and_command_interrupts)
{
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_HOST_INTERRUPT);
	assert_true(host->irq && status(host) & TW_STATUS_HOST);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_HOST);
	assert_false(host->irq);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_UNMASK_COMMAND);
	assert_true(host->irq && status(host) & TW_STATUS_COMMAND);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_MASK_COMMAND);
	assert_false(host->irq);
}

HOST_TEST(events_come_in_order_and_raise_attention)
{
	tw_model_event(&host->model, 0x0002, TW_SEVERITY_ERROR);
	tw_model_event(&host->model, 0x000b, TW_SEVERITY_INFO);
	assert_true(host->irq && status(host) & TW_STATUS_ATTENTION);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_ATTENTION);
	assert_false(host->irq);
	assert_int_equal(driver_event(host), 0x0002);
	assert_int_equal(((struct tw_header *)host_at(host, HOST_DATA))->severity, TW_SEVERITY_ERROR);
	assert_int_equal(driver_event(host), 0x000b);
	assert_int_equal(driver_event(host), TW_AEN_EMPTY);
}

HOST_TEST(too_many_events_end_in_queue_full)
{
	u32 i;

	for (i = 0; i < TW_MAX_EVENTS + 5; i++)
		tw_model_event(&host->model, (u16)(0x10 + i), TW_SEVERITY_INFO);
	for (i = 0; i < TW_MAX_EVENTS - 1; i++)
		assert_int_equal(driver_event(host), 0x10 + i);
	assert_int_equal(driver_event(host), 0xff);
	assert_int_equal(driver_event(host), TW_AEN_EMPTY);
}

/* The actions of the driver after a command timed out. */
HOST_TEST(reset_forgets_commands_and_says_so)
{
	u32 i;

	for (i = 0; i < 20; i++)
		driver_transfer(host, i, false, i * 100, 8, 0);
	/* One is done and not yet fetched. */
	host->clock = host->wake;
	tw_model_tick(&host->model);
	assert_true(host->irq);
	tw_model_write(&host->model, TW_REG_CONTROL, SOFT_RESET);
	assert_false(host->irq);
	assert_int_equal(host->wake, RL_NEVER);
	assert_true(status(host) & TW_STATUS_ATTENTION);
	assert_true(status(host) & TW_STATUS_RESPONSE_EMPTY);
	driver_init(host, 0, TW_INIT_64BIT | TW_INIT_EXTENDED, 35);
	assert_int_equal(driver_finish(host, 0), 0);
	assert_int_equal(driver_event(host), TW_AEN_RESET);
	assert_int_equal(driver_event(host), TW_AEN_EMPTY);
	tw_model_write(&host->model, TW_REG_CONTROL, GO);
	assert_false(host->irq);
	/* All ids are free again, and the unit's depth starts from nothing. */
	for (i = 0; i < 20; i++)
		driver_transfer(host, i, false, i * 100, 8, 0);
	assert_int_equal(host->model.device.nr_refused, 0);
	assert_int_equal(rl_log_at(&host->model.device.log, host->model.device.log.count - 1)->depth, 19);
	for (i = 0; i < 20; i++)
		assert_int_equal(((u8 *)driver_packet(host, driver_response(host)))[4], 0);
}

HOST_TEST(packets_that_no_answer_could_reach_set_error_bits)
{
	/* No memory there. */
	tw_model_write(&host->model, TW_REG_COMMAND_LOW, 0x1000);
	tw_model_write(&host->model, TW_REG_COMMAND_HIGH, 0x7777);
	assert_true(status(host) & TW_STATUS_PCI_ABORT);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_PCI_ABORT);
	assert_false(status(host) & TW_STATUS_PCI_ABORT);
	/* Not aligned; below the header's length. */
	tw_model_write(&host->model, TW_REG_COMMAND_LOW, (u32)HOST_DATA + 4);
	tw_model_write(&host->model, TW_REG_COMMAND_HIGH, HOST_DATA >> 32);
	assert_true(status(host) & TW_STATUS_QUEUE_ERROR);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_QUEUE_ERROR);
	assert_false(status(host) & TW_STATUS_QUEUE_ERROR);
	tw_model_write(&host->model, TW_REG_COMMAND, 16);
	assert_true(status(host) & TW_STATUS_QUEUE_ERROR);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_CLEAR_ERROR);
	/* The same id twice. */
	driver_transfer(host, 9, false, 0, 8, 0);
	driver_transfer(host, 9, false, 0, 8, 0);
	assert_true(status(host) & TW_STATUS_QUEUE_ERROR);
	assert_int_equal(driver_finish(host, 9), 0);
	assert_int_equal(host->wake, RL_NEVER);
	assert_int_equal(host->model.device.nr_refused, 4);
}

HOST_TEST(every_id_can_be_in_use)
{
	u32 i;

	for (i = 0; i < TW_MAX_REQUESTS; i++) {
		assert_false(status(host) & TW_STATUS_COMMAND_FULL);
		driver_transfer(host, i, false, i * 64, 8, 0);
	}
	assert_true(status(host) & TW_STATUS_COMMAND_FULL);
	tw_model_write(&host->model, TW_REG_CONTROL, TW_CONTROL_UNMASK_COMMAND);
	assert_false(status(host) & TW_STATUS_COMMAND);
	driver_response(host);
	assert_true(host->irq && status(host) & TW_STATUS_COMMAND);
	for (i = 1; i < TW_MAX_REQUESTS; i++)
		driver_response(host);
	assert_true(status(host) & TW_STATUS_RESPONSE_EMPTY);
}

TEST(too_little_memory_is_no_controller)
{
	struct host *host;
	u32 chunks;

	/* Two chunks of store, one of log, and a table of chunks for each. */
	for (chunks = 0; chunks < 5; chunks++)
		assert_null(host_create_short("store_mib=8,log_entries=100", chunks));
	host = host_create_short("store_mib=8,log_entries=100", chunks);
	assert_non_null(host);
}
