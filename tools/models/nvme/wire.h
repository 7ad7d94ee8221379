/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between a driver and an NVMe controller, as the NVM Express base
 * specification, revision 1.4, defines it: registers, commands, completions,
 * status codes, and the fields of the pages that are not zero. All numbers are
 * little-endian; structures are given by the offsets of their fields.
 */
#ifndef NV_WIRE_H
#define NV_WIRE_H

#include "base/base.h"

#define NV_PCI_VENDOR		0xfff0	/* assigned to nobody */
#define NV_PCI_DEVICE		0x0001
#define NV_PCI_CLASS		0x0108	/* non-volatile memory */
#define NV_PCI_INTERFACE	2	/* NVM Express */

enum nv_register {
	NV_REG_CAP	= 0x00,		/* 8 bytes, as ASQ and ACQ */
	NV_REG_VS	= 0x08,
	NV_REG_INTMS	= 0x0c,
	NV_REG_INTMC	= 0x10,
	NV_REG_CC	= 0x14,
	NV_REG_CSTS	= 0x1c,
	NV_REG_AQA	= 0x24,
	NV_REG_ASQ	= 0x28,
	NV_REG_ACQ	= 0x30,
	NV_REG_DOORBELL	= 0x1000,	/* of submission queue 0, completion queue 0, submission queue 1, ... */
	NV_REG_BYTES	= 0x2000,
};

#define NV_VERSION		0x00010400U
/* Queues are contiguous; half a second until ready; NVM command set; pages of 4 KiB and no others. */
#define NV_CAP(entries)		((u64)((entries) - 1) | 1ULL << 16 | 1ULL << 24 | 1ULL << 37)
#define NV_CAP_HAS_COMMON	0x1000000000000000ULL	/* ready before its media: then there is NV_IDENTIFY_COMMON */
#define NV_CC_ENABLE		0x00000001U
#define NV_CC_SET_PAGE_ROUND	0x00003ff0U	/* command set, page size, arbitration: only 0 is there */
#define NV_CC_SHUTDOWN		0x0000c000U
#define NV_CC_SQ_ENTRY(cc)	((cc) >> 16 & 15)
#define NV_CC_CQ_ENTRY(cc)	((cc) >> 20 & 15)
#define NV_CSTS_READY		0x00000001U
#define NV_CSTS_FATAL		0x00000002U
#define NV_CSTS_SHUTDOWN_DONE	0x00000008U

#define NV_PAGE_BYTES		4096U
#define NV_COMMAND_BYTES	64U
#define NV_COMMAND_SHIFT	6
#define NV_COMPLETION_BYTES	16U
#define NV_COMPLETION_SHIFT	4
#define NV_RANGE_BYTES		16U	/* of dataset management */
#define NV_NSID			1U
#define NV_NSID_ALL		0xffffffffU

/* Places in a command. */
enum nv_command_field {
	NV_OPCODE	= 0,
	NV_FLAGS	= 1,
	NV_COMMAND_ID	= 2,
	NV_COMMAND_NSID	= 4,
	NV_PRP1		= 24,
	NV_PRP2		= 32,
	NV_CDW10	= 40,
	NV_CDW11	= 44,
	NV_CDW12	= 48,
	NV_CDW13	= 52,
	NV_CDW14	= 56,
};

#define NV_RW_DIRECTIVE		0x00f00000U	/* in dword 12 */
#define NV_RW_FUA		0x40000000U
#define NV_DSM_DEALLOCATE	0x00000004U	/* in dword 11 */

enum nv_admin_opcode {
	NV_DELETE_SQ	= 0x00,
	NV_CREATE_SQ	= 0x01,
	NV_GET_LOG	= 0x02,
	NV_DELETE_CQ	= 0x04,
	NV_CREATE_CQ	= 0x05,
	NV_IDENTIFY	= 0x06,
	NV_ABORT	= 0x08,
	NV_SET_FEATURES	= 0x09,
	NV_GET_FEATURES	= 0x0a,
	NV_ASYNC_EVENT	= 0x0c,
};

enum nv_io_opcode {
	NV_FLUSH	= 0x00,
	NV_WRITE	= 0x01,
	NV_READ		= 0x02,
	NV_WRITE_ZEROES	= 0x08,
	NV_DATASET	= 0x09,
};

enum nv_feature {
	NV_FEATURE_ARBITRATION	= 0x01,
	NV_FEATURE_WRITE_CACHE	= 0x06,
	NV_FEATURE_QUEUES	= 0x07,
	NV_FEATURE_COALESCING	= 0x08,
	NV_FEATURE_EVENTS	= 0x0b,
	NV_FEATURES		= 0x0c,
};

enum nv_identify_page {
	NV_IDENTIFY_NAMESPACE	= 0x00,
	NV_IDENTIFY_CONTROLLER	= 0x01,
	NV_IDENTIFY_ACTIVE	= 0x02,
	NV_IDENTIFY_NAMES	= 0x03,
	NV_IDENTIFY_SET_NAMESPACE	= 0x05,
	NV_IDENTIFY_SET_CONTROLLER	= 0x06,
	NV_IDENTIFY_COMMON	= 0x08,	/* of a namespace, for every command set */
};

enum nv_log_page {
	NV_LOG_ERRORS	= 0x01,
	NV_LOG_HEALTH	= 0x02,
	NV_LOG_FIRMWARE	= 0x03,
	NV_LOG_CHANGED	= 0x04,
};

/* Status: code, type of code, and "do not retry". */
#define NV_DNR			0x4000U
#define NV_SC(type, code)	((type) << 8 | (code))

enum nv_status {
	NV_GOOD			= 0,
	NV_BAD_OPCODE		= NV_SC(0, 0x01) | NV_DNR,
	NV_BAD_FIELD		= NV_SC(0, 0x02) | NV_DNR,
	NV_BAD_TRANSFER		= NV_SC(0, 0x04) | NV_DNR,	/* the host's memory is not there */
	NV_INTERNAL		= NV_SC(0, 0x06) | NV_DNR,
	NV_QUEUE_DELETED	= NV_SC(0, 0x08),
	NV_BAD_NAMESPACE	= NV_SC(0, 0x0b) | NV_DNR,
	NV_BAD_PRP		= NV_SC(0, 0x13) | NV_DNR,
	NV_BAD_LBA		= NV_SC(0, 0x80) | NV_DNR,
	NV_NO_CQ		= NV_SC(1, 0x00) | NV_DNR,
	NV_BAD_QUEUE		= NV_SC(1, 0x01) | NV_DNR,
	NV_BAD_QUEUE_SIZE	= NV_SC(1, 0x02) | NV_DNR,
	NV_TOO_MANY_EVENTS	= NV_SC(1, 0x05) | NV_DNR,
	NV_BAD_VECTOR		= NV_SC(1, 0x08) | NV_DNR,
	NV_BAD_LOG		= NV_SC(1, 0x09) | NV_DNR,
	NV_QUEUE_IN_USE		= NV_SC(1, 0x0c) | NV_DNR,
	NV_NOT_SAVED		= NV_SC(1, 0x0d) | NV_DNR,
	NV_UNREADABLE		= NV_SC(2, 0x81) | NV_DNR,
};

/* An asynchronous event: type and information. Bits 16 to 23 of its result are the log page with the details. */
#define NV_EVENT(type, info)	((type) | (info) << 8)
#define NV_EVENT_TYPE(event)	((event) & 7)

enum nv_event {
	NV_EVENT_ERROR	= 0,
	NV_EVENT_HEALTH	= 1,
	NV_EVENT_NOTICE	= 2,
	NV_EVENT_BAD_DOORBELL	= NV_EVENT(0, 0),	/* of a queue that is not there */
	NV_EVENT_BAD_VALUE	= NV_EVENT(0, 1),	/* written to a doorbell */
};

/* Places in the page of NV_IDENTIFY_CONTROLLER. */
enum nv_controller_field {
	NV_ID_VENDOR	= 0,
	NV_ID_SUBVENDOR	= 2,
	NV_ID_SERIAL	= 4,	/* 20 bytes */
	NV_ID_MODEL	= 24,	/* 40 bytes */
	NV_ID_FIRMWARE	= 64,	/* 8 bytes */
	NV_ID_BURST	= 72,
	NV_ID_MDTS	= 77,
	NV_ID_CONTROLLER	= 78,
	NV_ID_VERSION	= 80,
	NV_ID_TYPE	= 111,
	NV_ID_ABORTS	= 258,
	NV_ID_EVENTS	= 259,
	NV_ID_SLOTS	= 260,
	NV_ID_WARM	= 266,
	NV_ID_HOT	= 268,
	NV_ID_SQ_ENTRY	= 512,
	NV_ID_CQ_ENTRY	= 513,
	NV_ID_NAMESPACES	= 516,
	NV_ID_COMMANDS	= 520,
	NV_ID_CACHE	= 525,
	NV_ID_ATOMIC	= 526,
	NV_ID_ATOMIC_POWER	= 528,
	NV_ID_NQN	= 768,	/* 256 bytes */
};

#define NV_ID_HAS_DATASET	0x0004U	/* in NV_ID_COMMANDS */
#define NV_ID_HAS_WRITE_ZEROES	0x0008U
#define NV_ID_HAS_CACHE		0x01U	/* in NV_ID_CACHE */
#define NV_ID_FLUSHES_ALL	0x06U	/* a flush of all namespaces is accepted */

/* Places in the page of NV_IDENTIFY_NAMESPACE. */
enum nv_namespace_field {
	NV_NS_SIZE	= 0,
	NV_NS_CAPACITY	= 8,
	NV_NS_USED	= 16,
	NV_NS_FEATURES	= 24,
	NV_NS_DEALLOCATED	= 33,
	NV_NS_ATOMIC	= 34,
	NV_NS_ATOMIC_POWER	= 36,
	NV_NS_WRITE_GRANULARITY	= 64,
	NV_NS_WRITE_ALIGNMENT	= 66,
	NV_NS_FREE_GRANULARITY	= 68,
	NV_NS_FREE_ALIGNMENT	= 70,
	NV_NS_OPTIMAL_WRITE	= 72,
	NV_NS_EUI64	= 120,
	NV_NS_FORMAT	= 128,
};

#define NV_NS_HAS_ATOMIC	0x02U	/* in NV_NS_FEATURES */
#define NV_NS_HAS_OPTIMAL	0x10U
#define NV_NS_READS_ZERO	0x01U	/* in NV_NS_DEALLOCATED */

/* Places in the page of NV_IDENTIFY_COMMON. */
enum nv_common_field {
	NV_COMMON_FEATURES	= 0,
	NV_COMMON_STATE	= 14,
};

#define NV_COMMON_ROTATES	0x10U	/* in NV_COMMON_FEATURES */
#define NV_COMMON_READY		0x01U	/* in NV_COMMON_STATE */

/* Places in the page of NV_LOG_HEALTH. */
enum nv_health_field {
	NV_HEALTH_TEMPERATURE	= 1,
	NV_HEALTH_SPARE		= 3,
	NV_HEALTH_SPARE_LEAST	= 4,
	NV_HEALTH_UNITS_READ	= 32,
	NV_HEALTH_UNITS_WRITTEN	= 48,
	NV_HEALTH_READS		= 64,
	NV_HEALTH_WRITES	= 80,
	NV_HEALTH_MEDIA_ERRORS	= 160,
	NV_HEALTH_BYTES		= 512,
};

#endif
