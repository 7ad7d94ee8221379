// SPDX-License-Identifier: GPL-2.0-or-later
/* Identify pages and log pages. */
#include "model.h"

#define NV_FIRMWARE	"1.0"
#define NV_KELVIN	310U	/* 37 degrees Celsius */
#define NV_KELVIN_WARM	343U
#define NV_KELVIN_HOT	353U
#define NV_ATOMIC_BYTES	4096U
#define NV_EUI64_BYTES	8U

/* Text in a field, padded with spaces. */
static void nv_put_text(u8 *at, const char *text, u32 bytes)
{
	for (; bytes--; at++)
		*at = *text ? (u8)*text++ : ' ';
}

void nv_serial(const struct nv_config *config, struct rl_text *text)
{
	const char *serial = config->controller.serial;

	/* As much of the name as leaves room for the number. */
	rl_text_part(text, serial[0] ? serial : config->base.name,
		     config->base.count > 1 ? text->size - sizeof("-15") : text->size);
	if (config->base.count == 1)
		return;
	rl_text_add(text, "-");
	rl_text_number(text, config->base.number);
}

/* A hash of the serial number (FNV-1a), marked as locally administered: drives with different serial numbers differ. */
static void nv_put_eui64(u8 *at, const struct nv_config *config)
{
	u64 hash = 0xcbf29ce484222325ULL;
	struct rl_text text;
	char serial[21];
	size_t i;

	rl_text_init(&text, serial, sizeof(serial));
	nv_serial(config, &text);
	for (i = 0; i < text.used; i++)
		hash = (hash ^ (u8)serial[i]) * 0x100000001b3ULL;
	rl_put(at, hash, NV_EUI64_BYTES);
	at[0] = (u8)((at[0] & 0xfc) | 2);
}

static u32 nv_log2(u32 value)
{
	u32 bits = 0;

	while (value >>= 1)
		bits++;
	return bits;
}

/* Return: @bytes in blocks, less one, as the specification stores it. */
static u32 nv_blocks_less_one(const struct nv_config *config, u64 bytes)
{
	return (u32)(rl_max(bytes / config->controller.lba_bytes, 1) - 1);
}

static void nv_put_controller(const struct nv_config *config, u8 *page)
{
	const struct nv_controller_config *controller = &config->controller;
	struct rl_text text;
	char serial[21], nqn[64];

	rl_text_init(&text, serial, sizeof(serial));
	nv_serial(config, &text);
	rl_put(page + NV_ID_VENDOR, NV_PCI_VENDOR, 2);
	rl_put(page + NV_ID_SUBVENDOR, NV_PCI_VENDOR, 2);
	nv_put_text(page + NV_ID_SERIAL, serial, 20);
	nv_put_text(page + NV_ID_MODEL, controller->model, 40);
	nv_put_text(page + NV_ID_FIRMWARE, NV_FIRMWARE, 8);
	if (controller->max_transfer_kib)
		page[NV_ID_MDTS] = (u8)nv_log2(controller->max_transfer_kib * 1024 / NV_PAGE_BYTES);
	rl_put(page + NV_ID_CONTROLLER, config->base.number + 1, 2);
	rl_put(page + NV_ID_VERSION, NV_VERSION, 4);
	page[NV_ID_TYPE] = 1;	/* a controller for I/O */
	page[NV_ID_ABORTS] = 3;	/* less one, as the next */
	page[NV_ID_EVENTS] = NV_MAX_EVENT_REQUESTS - 1;
	page[NV_ID_SLOTS] = 1 << 1 | 1;	/* one slot for firmware, which cannot be written */
	rl_put(page + NV_ID_WARM, NV_KELVIN_WARM, 2);
	rl_put(page + NV_ID_HOT, NV_KELVIN_HOT, 2);
	page[NV_ID_SQ_ENTRY] = NV_COMMAND_SHIFT << 4 | NV_COMMAND_SHIFT;
	page[NV_ID_CQ_ENTRY] = NV_COMPLETION_SHIFT << 4 | NV_COMPLETION_SHIFT;
	rl_put(page + NV_ID_NAMESPACES, 1, 4);
	rl_put(page + NV_ID_COMMANDS, NV_ID_HAS_DATASET | NV_ID_HAS_WRITE_ZEROES, 2);
	page[NV_ID_CACHE] = (u8)(NV_ID_FLUSHES_ALL | (controller->write_cache ? NV_ID_HAS_CACHE : 0));
	rl_put(page + NV_ID_ATOMIC, nv_blocks_less_one(config, NV_ATOMIC_BYTES), 2);
	rl_put(page + NV_ID_ATOMIC_POWER, nv_blocks_less_one(config, NV_ATOMIC_BYTES), 2);
	rl_text_init(&text, nqn, sizeof(nqn));
	rl_text_add(&text, "nqn.2026-11.invalid.raidtrace:");
	rl_text_add(&text, serial);
	rl_copy(page + NV_ID_NQN, nqn, text.used);
}

static void nv_put_namespace(const struct nv_config *config, u8 *page)
{
	const struct nv_controller_config *controller = &config->controller;
	u64 blocks = config->sectors * RL_SECTOR_BYTES / controller->lba_bytes;
	u32 atomic = nv_blocks_less_one(config, NV_ATOMIC_BYTES);

	rl_put(page + NV_NS_SIZE, blocks, 8);
	rl_put(page + NV_NS_CAPACITY, blocks, 8);
	rl_put(page + NV_NS_USED, blocks, 8);
	page[NV_NS_FEATURES] = NV_NS_HAS_ATOMIC;
	page[NV_NS_DEALLOCATED] = NV_NS_READS_ZERO;
	/* Linux 7.2 does not look at the controller's any more. */
	rl_put(page + NV_NS_ATOMIC, atomic, 2);
	rl_put(page + NV_NS_ATOMIC_POWER, atomic, 2);
	nv_put_eui64(page + NV_NS_EUI64, config);
	page[NV_NS_FORMAT + 2] = (u8)nv_log2(controller->lba_bytes);
	if (!nv_optimal_kib(config))
		return;
	page[NV_NS_FEATURES] |= NV_NS_HAS_OPTIMAL;
	rl_put(page + NV_NS_WRITE_GRANULARITY, atomic, 2);
	rl_put(page + NV_NS_WRITE_ALIGNMENT, atomic, 2);
	rl_put(page + NV_NS_FREE_GRANULARITY, atomic, 2);
	rl_put(page + NV_NS_FREE_ALIGNMENT, atomic, 2);
	rl_put(page + NV_NS_OPTIMAL_WRITE,
	       nv_blocks_less_one(config, (u64)nv_optimal_kib(config) * 1024), 2);
}

/* The part that does not depend on the command set: whether the namespace rotates. */
static void nv_put_common(u8 *page)
{
	page[NV_COMMON_FEATURES] = NV_COMMON_ROTATES;
	page[NV_COMMON_STATE] = NV_COMMON_READY;
}

/* The list of the names of the namespace has one entry, its EUI-64. */
static void nv_put_names(const struct nv_config *config, u8 *page)
{
	page[0] = 1;
	page[1] = NV_EUI64_BYTES;
	nv_put_eui64(page + 4, config);
}

u16 nv_identify(struct nv_model *model, const u8 *command)
{
	u32 nsid = rl_get32(command + NV_COMMAND_NSID), cns = command[NV_CDW10];
	u8 *page = (u8 *)model->page;

	rl_fill(page, 0, NV_PAGE_BYTES);
	switch (cns) {
	case NV_IDENTIFY_CONTROLLER:
		nv_put_controller(&model->config, page);
		return NV_GOOD;
	case NV_IDENTIFY_ACTIVE:
		if (nsid >= NV_NSID_ALL - 1)
			return NV_BAD_NAMESPACE;
		if (nsid < NV_NSID)
			rl_put(page, NV_NSID, 4);
		return NV_GOOD;
	case NV_IDENTIFY_SET_CONTROLLER:
		/* Zeros: no limits of its own. For the NVM command set alone, as the next. */
		return command[NV_CDW11 + 3] ? NV_BAD_FIELD : NV_GOOD;
	case NV_IDENTIFY_NAMESPACE:
	case NV_IDENTIFY_NAMES:
	case NV_IDENTIFY_SET_NAMESPACE:
		break;
	case NV_IDENTIFY_COMMON:
		if (model->config.rotational)
			break;
		return NV_BAD_FIELD;
	default:
		return NV_BAD_FIELD;
	}
	if (nsid != NV_NSID)
		return NV_BAD_NAMESPACE;
	if (cns == NV_IDENTIFY_NAMESPACE)
		nv_put_namespace(&model->config, page);
	else if (cns == NV_IDENTIFY_COMMON)
		nv_put_common(page);
	else if (cns == NV_IDENTIFY_NAMES)
		nv_put_names(&model->config, page);
	else if (command[NV_CDW11 + 3])
		return NV_BAD_FIELD;
	return NV_GOOD;
}

/* Thousands of sectors, rounded up. */
static u64 nv_units(u64 sectors)
{
	return (sectors + 999) / 1000;
}

static void nv_put_health(const struct nv_health *health, u8 *page)
{
	rl_put(page + NV_HEALTH_TEMPERATURE, NV_KELVIN, 2);
	page[NV_HEALTH_SPARE] = 100;
	page[NV_HEALTH_SPARE_LEAST] = 10;
	rl_put(page + NV_HEALTH_UNITS_READ, nv_units(health->sectors_read), 8);
	rl_put(page + NV_HEALTH_UNITS_WRITTEN, nv_units(health->sectors_written), 8);
	rl_put(page + NV_HEALTH_READS, health->reads, 8);
	rl_put(page + NV_HEALTH_WRITES, health->writes, 8);
	rl_put(page + NV_HEALTH_MEDIA_ERRORS, health->media_errors, 8);
}

u16 nv_log_page(struct nv_model *model, u8 page, u32 *bytes)
{
	u8 *to = (u8 *)model->page;

	rl_fill(to, 0, NV_PAGE_BYTES);
	*bytes = NV_HEALTH_BYTES;
	switch (page) {
	case NV_LOG_ERRORS:
		*bytes = 64;	/* one entry, which is empty */
		return NV_GOOD;
	case NV_LOG_HEALTH:
		nv_put_health(&model->health, to);
		return NV_GOOD;
	case NV_LOG_FIRMWARE:
		to[0] = 1;	/* slot 1 is in use */
		nv_put_text(to + 8, NV_FIRMWARE, 8);
		return NV_GOOD;
	}
	return NV_BAD_LOG;
}
