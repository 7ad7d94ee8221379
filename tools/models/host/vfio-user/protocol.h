/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the vfio-user protocol, version 0.0, that a PCI function with
 * one interrupt line needs. Fields are in the byte order of the host: both
 * ends of a local socket have the same.
 */
#ifndef VFIO_USER_PROTOCOL_H
#define VFIO_USER_PROTOCOL_H

#include <stdint.h>

#define VU_MAX_FDS	8
#define VU_MAX_DATA	(1U << 20)	/* of one REGION_READ, DMA_WRITE ... */
#define VU_MAX_PAYLOAD	(VU_MAX_DATA + 64)

enum vu_command {
	VU_VERSION		= 1,
	VU_DMA_MAP		= 2,
	VU_DMA_UNMAP		= 3,
	VU_DEVICE_GET_INFO	= 4,
	VU_DEVICE_GET_REGION	= 5,
	VU_DEVICE_GET_IRQ	= 7,
	VU_DEVICE_SET_IRQS	= 8,
	VU_REGION_READ		= 9,
	VU_REGION_WRITE		= 10,
	VU_DMA_READ		= 11,	/* ours: what the device asks of the client */
	VU_DMA_WRITE		= 12,
	VU_DEVICE_RESET		= 13,
};

#define VU_FLAG_TYPE		0x0f
#define VU_FLAG_REPLY		0x01
#define VU_FLAG_NO_REPLY	0x10
#define VU_FLAG_ERROR		0x20

struct vu_header {
	uint16_t id;
	uint16_t command;
	uint32_t size;		/* of the message, this header included */
	uint32_t flags;
	uint32_t error;		/* an errno with VU_FLAG_ERROR */
};

struct vu_version {
	uint16_t major;
	uint16_t minor;
	/* JSON text follows */
};

struct vu_dma_map {
	uint32_t argsz;
	uint32_t flags;		/* VFIO_DMA_MAP_FLAG_ */
	uint64_t offset;	/* in the file of the descriptor that is sent along, if any */
	uint64_t address;
	uint64_t size;
};

struct vu_dma_unmap {
	uint32_t argsz;
	uint32_t flags;		/* VFIO_DMA_UNMAP_FLAG_ */
	uint64_t address;
	uint64_t size;
};

struct vu_region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	/* data follows in a REGION_WRITE and in the reply to a REGION_READ */
};

struct vu_dma_access {
	uint64_t address;
	uint64_t count;
	/* data follows in a DMA_WRITE and in the reply to a DMA_READ */
};

_Static_assert(sizeof(struct vu_header) == 16, "header");
_Static_assert(sizeof(struct vu_dma_map) == 32, "DMA_MAP");
_Static_assert(sizeof(struct vu_dma_unmap) == 24, "DMA_UNMAP");
_Static_assert(sizeof(struct vu_region_access) == 16, "REGION_READ and REGION_WRITE");

#endif
