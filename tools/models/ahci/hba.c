// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers of the controller and its port, frames from the disk, the interrupt. */
#include "ahci.h"

static u32 ah_capabilities(const struct ah_model *model)
{
	u32 value = (AH_SLOTS - 1) << AH_CAP_SLOTS_SHIFT | AH_CAP_AHCI_ONLY | AH_CAP_GEN3 |
		    AH_CAP_CLO | AH_CAP_64;

	return model->config.queue_depth > 1 ? value | AH_CAP_NCQ : value;
}

static u32 ah_port_status(const struct ah_model *model)
{
	u32 value = model->port_is;

	if (model->serr & AH_SERR_EXCHANGED)
		value |= AH_IS_CONNECT;
	if (model->serr & AH_SERR_PHY)
		value |= AH_IS_PHY;
	return value;
}

/* Tell the host what changed: the interrupt line and the next wish for time. */
static void ah_settle(struct ah_model *model)
{
	u64 wake = rl_min(ah_disk_wake_ns(model), ah_fault_wake_ns(model));
	u32 i;

	for (i = 0; i < AH_SLOTS; i++)
		if (model->command[i].state == AH_RUNNING)
			wake = rl_min(wake, model->command[i].due_ns);
	rl_device_wake_at(&model->device, wake);
	if (ah_port_status(model) & model->port_ie)
		model->is |= 1;
	rl_device_set_irq(&model->device, model->ghc & AH_GHC_INTERRUPTS && model->is);
}

/* Put a frame where the driver looks for it. */
static void ah_receive(struct ah_model *model, u32 at, const u8 *fis, u32 bytes)
{
	if (model->cmd & AH_CMD_FIS && !rl_dma_write(&model->device, model->frames + at, fis, bytes))
		model->port_is |= AH_IS_BUS_FATAL;
}

/* A register frame: the state of the disk as the task file shows it. */
static void ah_register_frame(struct ah_model *model, u8 status, u8 error, u64 lba, u32 count)
{
	u8 fis[AH_FIS_BYTES] = { AH_FIS_D2H, AH_FIS_INTERRUPT, status, error };
	u32 i;

	for (i = 0; i < 3; i++) {
		fis[4 + i] = (u8)(lba >> 8 * i);
		fis[8 + i] = (u8)(lba >> (8 * i + 24));
	}
	fis[7] = AH_ATA_READY;
	rl_put16(fis + 12, count);
	model->tfd = status | (u32)error << 8;
	ah_receive(model, AH_FIS_D2H_AT, fis, sizeof(fis));
	model->port_is |= AH_IS_D2H;
}

static void ah_pio_frame(struct ah_model *model)
{
	u8 fis[AH_FIS_BYTES] = { AH_FIS_PIO, AH_FIS_INTERRUPT | AH_FIS_PIO_IN, AH_ATA_IDLE | AH_ATA_DATA };

	fis[7] = AH_ATA_READY;
	fis[15] = AH_ATA_IDLE;
	rl_put16(fis + 16, RL_SECTOR_BYTES);
	model->tfd = AH_ATA_IDLE;
	ah_receive(model, AH_FIS_PIO_AT, fis, sizeof(fis));
	model->port_is |= AH_IS_PIO;
}

static void ah_bits_frame(struct ah_model *model, u8 status, u8 error, u32 ended)
{
	u8 fis[8] = { AH_FIS_SDB, AH_FIS_INTERRUPT, status & 0x77, error };

	rl_put32(fis + 4, ended);
	model->tfd = (model->tfd & AH_ATA_BUSY) | status | (u32)error << 8;
	model->sact &= ~ended;
	ah_receive(model, AH_FIS_SDB_AT, fis, sizeof(fis));
	model->port_is |= AH_IS_SDB;
}

/* A disk that failed a queued command ends the others with it; the driver asks for the tag. */
static void ah_answer_failed(struct ah_model *model, u32 slot, u64 now)
{
	const struct ah_command *command = &model->command[slot];
	u8 status = AH_ATA_IDLE | AH_ATA_ERROR;

	model->port_is |= AH_IS_TASK_FILE;
	model->stopped = true;
	if (command->answer != AH_ANSWER_SDB) {
		ah_register_frame(model, status, command->error, command->lba, command->sectors);
		return;
	}
	ah_forget(model, now);
	model->failed = true;
	model->failed_tag = (u8)slot;
	model->failed_error = command->error;
	ah_bits_frame(model, status, command->error, 0);
}

void ah_answer(struct ah_model *model, u32 slot, u64 now)
{
	struct ah_command *command = &model->command[slot];

	rl_log_finish(&model->device.log, command->log, command->error ? RL_LOG_FAILED : RL_LOG_GOOD, now);
	command->state = AH_FREE;
	if (command->error) {
		/* The controller stops with the command that failed. */
		ah_answer_failed(model, slot, now);
		return;
	}
	model->ci &= ~(1U << slot);
	if (command->answer == AH_ANSWER_SDB)
		ah_bits_frame(model, AH_ATA_IDLE, 0, 1U << slot);
	else if (command->answer == AH_ANSWER_PIO)
		ah_pio_frame(model);
	else
		ah_register_frame(model, AH_ATA_IDLE, 0, command->lba, 0);
}

void ah_bus_failed(struct ah_model *model)
{
	model->device.nr_refused++;
	model->port_is |= AH_IS_BUS_FATAL;
	model->stopped = true;
}

void ah_forget(struct ah_model *model, u64 now)
{
	u32 i;

	for (i = 0; i < AH_SLOTS; i++) {
		struct ah_command *command = &model->command[i];

		if (command->state != AH_FREE && command->state != AH_LOST)
			rl_log_finish(&model->device.log, command->log, RL_LOG_RESET, now);
		command->state = AH_FREE;
	}
}

void ah_link_down(struct ah_model *model, bool comes_back)
{
	model->ssts = comes_back ? AH_SSTS_UP : 0;
	model->serr |= AH_SERR_PHY | AH_SERR_EXCHANGED;
	model->tfd = comes_back ? AH_ATA_IDLE : 0x7f;
}

/* The disk is there again after a reset of the link. */
static void ah_link_up(struct ah_model *model)
{
	model->failed = false;
	if (model->gone)
		return;
	model->ssts = AH_SSTS_UP;
	model->serr |= AH_SERR_PHY | AH_SERR_EXCHANGED;
	model->sig = AH_SIGNATURE_DISK;
	ah_register_frame(model, AH_ATA_IDLE, 1, 1, 1);
	model->port_is &= ~AH_IS_D2H;
}

static void ah_port_reset(struct ah_model *model)
{
	model->cmd = AH_CMD_SPIN_UP | AH_CMD_POWER;
	model->stopped = false;
	model->port_is = 0;
	model->port_ie = 0;
	model->sact = 0;
	model->ci = 0;
	model->sctl = 0;
	model->serr = 0;
	model->ssts = 0;
	model->sig = ~0U;
	model->tfd = 0x7f;
	ah_link_up(model);
}

static void ah_reset(struct ah_model *model)
{
	ah_forget(model, rl_now_ns(&model->device));
	model->ghc = AH_GHC_AHCI;
	model->is = 0;
	ah_port_reset(model);
}

/* Commands that the port may begin. A queued one leaves CI when the disk has it, the others when they end. */
static void ah_start(struct ah_model *model)
{
	u64 now = rl_now_ns(&model->device);
	u32 slot;

	for (slot = 0; slot < AH_SLOTS; slot++)
		if (model->cmd & AH_CMD_START && model->ci & 1U << slot &&
		    model->command[slot].state == AH_FREE && !model->gone && !model->stopped)
			ah_begin(model, slot, now);
}

static void ah_write_command(struct ah_model *model, u32 value)
{
	if (model->cmd & AH_CMD_START && !(value & AH_CMD_START)) {
		ah_forget(model, rl_now_ns(&model->device));
		model->ci = 0;
		model->sact = 0;
		model->stopped = false;
	}
	if (value & AH_CMD_OVERRIDE)
		model->tfd &= ~(u32)(AH_ATA_BUSY | AH_ATA_DATA);
	model->cmd = value & AH_CMD_WRITABLE;
	if (value & AH_CMD_START)
		model->cmd |= AH_CMD_RUNNING;
	if (value & AH_CMD_FIS)
		model->cmd |= AH_CMD_FIS_RUNNING;
}

static void ah_write_control(struct ah_model *model, u32 value)
{
	u32 before = model->sctl & AH_SCTL_DET;

	model->sctl = value;
	if ((value & AH_SCTL_DET) == 1 && before != 1) {
		ah_forget(model, rl_now_ns(&model->device));
		model->ssts = 0;
		model->tfd = 0x7f;
	} else if (!(value & AH_SCTL_DET) && before == 1) {
		ah_link_up(model);
	}
}

static u64 ah_with_low(u64 address, u32 value, u32 mask)
{
	return (address & ~0xffffffffULL) | (value & ~mask);
}

static u64 ah_with_high(u64 address, u32 value)
{
	return (address & 0xffffffffULL) | (u64)value << 32;
}

static u32 ah_port_read(const struct ah_model *model, u32 offset)
{
	switch (offset) {
	case AH_PORT_CLB:
		return (u32)model->list;
	case AH_PORT_CLBU:
		return (u32)(model->list >> 32);
	case AH_PORT_FB:
		return (u32)model->frames;
	case AH_PORT_FBU:
		return (u32)(model->frames >> 32);
	case AH_PORT_IS:
		return ah_port_status(model);
	case AH_PORT_IE:
		return model->port_ie;
	case AH_PORT_CMD:
		return model->cmd;
	case AH_PORT_TFD:
		return model->tfd;
	case AH_PORT_SIG:
		return model->sig;
	case AH_PORT_SSTS:
		return model->ssts;
	case AH_PORT_SCTL:
		return model->sctl;
	case AH_PORT_SERR:
		return model->serr;
	case AH_PORT_SACT:
		return model->sact;
	case AH_PORT_CI:
		return model->ci;
	}
	return 0;
}

static void ah_port_write(struct ah_model *model, u32 offset, u32 value)
{
	switch (offset) {
	case AH_PORT_CLB:
		model->list = ah_with_low(model->list, value, 0x3ff);
		break;
	case AH_PORT_CLBU:
		model->list = ah_with_high(model->list, value);
		break;
	case AH_PORT_FB:
		model->frames = ah_with_low(model->frames, value, 0xff);
		break;
	case AH_PORT_FBU:
		model->frames = ah_with_high(model->frames, value);
		break;
	case AH_PORT_IS:
		model->port_is &= ~value;
		break;
	case AH_PORT_IE:
		model->port_ie = value;
		break;
	case AH_PORT_CMD:
		ah_write_command(model, value);
		break;
	case AH_PORT_SCTL:
		ah_write_control(model, value);
		break;
	case AH_PORT_SERR:
		model->serr &= ~value;
		break;
	case AH_PORT_SACT:
		model->sact |= model->cmd & AH_CMD_START ? value : 0;
		break;
	case AH_PORT_CI:
		model->ci |= model->cmd & AH_CMD_START ? value : 0;
		break;
	}
	ah_start(model);
}

static struct ah_model *ah_model_of(struct rl_device *device)
{
	return (struct ah_model *)device;
}

static const struct ah_model *ah_model_const(const struct rl_device *device)
{
	return (const struct ah_model *)device;
}

static u64 ah_read_register(struct rl_device *device, u32 offset, u32 size)
{
	const struct ah_model *model = ah_model_const(device);

	if (size != 4)
		return ~0ULL;
	if (offset >= AH_PORT)
		return ah_port_read(model, offset - AH_PORT);
	switch (offset) {
	case AH_REG_CAP:
		return ah_capabilities(model);
	case AH_REG_GHC:
		return model->ghc;
	case AH_REG_IS:
		return model->is;
	case AH_REG_PI:
		return 1;
	case AH_REG_VS:
		return AH_VERSION;
	}
	return 0;
}

static void ah_write_register(struct rl_device *device, u32 offset, u32 size, u64 wide)
{
	struct ah_model *model = ah_model_of(device);
	u32 value = (u32)wide;

	if (size != 4)
		return;
	if (offset >= AH_PORT)
		ah_port_write(model, offset - AH_PORT, value);
	else if (offset == AH_REG_GHC && value & AH_GHC_RESET)
		ah_reset(model);
	else if (offset == AH_REG_GHC)
		model->ghc = (value & AH_GHC_INTERRUPTS) | AH_GHC_AHCI;
	else if (offset == AH_REG_IS)
		model->is &= ~value;
	ah_settle(model);
}

static void ah_tick(struct rl_device *device)
{
	struct ah_model *model = ah_model_of(device);
	u64 now = rl_now_ns(device);
	u32 i;

	device->wake_ns = RL_NEVER;
	ah_fault_advance(model, now);
	ah_disk_advance(model, now);
	for (i = 0; i < AH_SLOTS; i++)
		if (model->command[i].state == AH_RUNNING && model->command[i].due_ns <= now)
			ah_answer(model, i, now);
	ah_start(model);
	ah_settle(model);
}

static void ah_power_on(struct rl_device *device)
{
	ah_reset(ah_model_of(device));
	ah_settle(ah_model_of(device));
}

static bool ah_create(struct rl_device *device, const struct rl_config *base,
		      const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc)
{
	const struct ah_config *config = (const struct ah_config *)base;
	struct ah_model *model = ah_model_of(device);

	rl_device_init(device, &ah_kind, ops, host);
	model->config = *config;
	model->write_cache = config->write_cache_kib;
	ah_disk_create(&model->disk, &model->config);
	if (!ah_flash_create(model, alloc, host))
		return false;
	ah_reset(model);
	ah_fault_create(model);
	return rl_store_create(&model->store, config->drive.sectors, base->store_mib, alloc, host) &&
	       rl_log_create(&device->log, base->log_entries, alloc, host);
}

static void ah_pci(const struct rl_device *device, struct rl_pci *pci)
{
	(void)device;
	pci->vendor = AH_PCI_VENDOR;
	pci->device = AH_PCI_DEVICE;
	pci->class = AH_PCI_CLASS_SATA;
	pci->interface = AH_PCI_AHCI;
	pci->bar = AH_BAR;
	pci->vectors = 0;
	pci->bar_bytes = AH_BAR_BYTES;
}

static u64 ah_cached_sectors(const struct ah_model *model)
{
	const struct rl_flash *flash = model->flash ? &model->flash->flash : NULL;

	return flash ? (u64)rl_flash_cached(flash, rl_now_ns(&model->device)) * flash->config.page_kib * 2 :
		       model->disk.dirty_sectors;
}

static void ah_status(const struct rl_device *device, struct rl_text *text, const char *prefix)
{
	const struct ah_model *model = ah_model_const(device);

	rl_text_add(text, prefix);
	rl_text_add(text, "disk: ");
	rl_text_add(text, model->config.model);
	rl_text_add(text, "\n");
	rl_text_pair(text, prefix, "sectors", model->config.drive.sectors);
	rl_text_pair(text, prefix, "cached_sectors", ah_cached_sectors(model));
	rl_text_add(text, prefix);
	rl_text_add(text, model->gone ? "link: down\n" : "link: up\n");
}

static const struct rl_store *ah_contents(const struct rl_device *device)
{
	return &ah_model_const(device)->store;
}

static const struct rl_config *ah_config(const struct rl_device *device)
{
	return &ah_model_const(device)->config.base;
}

const struct rl_kind ah_kind = {
	.keys = &ah_keys,
	.device_bytes = sizeof(struct ah_model),
	.create = ah_create,
	.identify = ah_pci,
	.read = ah_read_register,
	.write = ah_write_register,
	.tick = ah_tick,
	.reset = ah_power_on,
	.status = ah_status,
	.contents = ah_contents,
	.config = ah_config,
	.command_name = ah_command_name,
};
