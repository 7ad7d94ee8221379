/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between a driver and an AHCI controller with one SATA disk: Serial ATA AHCI 1.3.1
 * and ATA8-ACS.
 */
#ifndef AH_WIRE_H
#define AH_WIRE_H

#include "base/base.h"

/* PCI identity: nobody's vendor, so that the driver applies no quirks of a real controller. */
#define AH_PCI_VENDOR		0xfff0
#define AH_PCI_DEVICE		0x0002
#define AH_PCI_CLASS_SATA	0x0106
#define AH_PCI_AHCI		0x01
#define AH_BAR			5
#define AH_BAR_BYTES		4096U

/* Registers of the controller. */
#define AH_REG_CAP		0x00
#define AH_REG_GHC		0x04
#define AH_REG_IS		0x08
#define AH_REG_PI		0x0c
#define AH_REG_VS		0x10

#define AH_CAP_SLOTS_SHIFT	8
#define AH_CAP_AHCI_ONLY	0x00040000U
#define AH_CAP_GEN3		0x00300000U
#define AH_CAP_CLO		0x01000000U
#define AH_CAP_NCQ		0x40000000U
#define AH_CAP_64		0x80000000U
#define AH_GHC_RESET		0x00000001U
#define AH_GHC_INTERRUPTS	0x00000002U
#define AH_GHC_AHCI		0x80000000U
#define AH_VERSION		0x00010301U

/* Registers of the port, from 0x100 on. */
#define AH_PORT			0x100
#define AH_PORT_CLB		0x00
#define AH_PORT_CLBU		0x04
#define AH_PORT_FB		0x08
#define AH_PORT_FBU		0x0c
#define AH_PORT_IS		0x10
#define AH_PORT_IE		0x14
#define AH_PORT_CMD		0x18
#define AH_PORT_TFD		0x20
#define AH_PORT_SIG		0x24
#define AH_PORT_SSTS		0x28
#define AH_PORT_SCTL		0x2c
#define AH_PORT_SERR		0x30
#define AH_PORT_SACT		0x34
#define AH_PORT_CI		0x38

#define AH_IS_D2H		0x00000001U
#define AH_IS_PIO		0x00000002U
#define AH_IS_SDB		0x00000008U
#define AH_IS_CONNECT		0x00000040U	/* while SERR says that the disk was exchanged */
#define AH_IS_PHY		0x00400000U	/* while SERR says that the link changed */
#define AH_IS_BUS_FATAL		0x20000000U
#define AH_IS_TASK_FILE		0x40000000U
#define AH_CMD_START		0x00000001U
#define AH_CMD_SPIN_UP		0x00000002U
#define AH_CMD_POWER		0x00000004U
#define AH_CMD_OVERRIDE		0x00000008U
#define AH_CMD_FIS		0x00000010U
#define AH_CMD_FIS_RUNNING	0x00004000U
#define AH_CMD_RUNNING		0x00008000U
#define AH_CMD_WRITABLE		(AH_CMD_START | AH_CMD_SPIN_UP | AH_CMD_POWER | AH_CMD_FIS | 0xfe000000U)
#define AH_SSTS_UP		0x133U		/* disk present, 6 Gbit/s, active */
#define AH_SCTL_DET		0xfU
#define AH_SERR_PHY		0x00010000U
#define AH_SERR_EXCHANGED	0x04000000U
#define AH_SIGNATURE_DISK	0x101U

/* Structures in memory: command list, command table, received frames (FIS). */
#define AH_SLOTS		32U
#define AH_HEADER_BYTES		32U
#define AH_HEADER_WRITE		0x00000040U
#define AH_HEADER_PRDS_SHIFT	16
#define AH_TABLE_PRDS		0x80U
#define AH_PRD_BYTES		16U
#define AH_PRD_COUNT_MASK	0x3fffffU
#define AH_FIS_BYTES		20U
#define AH_FIS_PIO_AT		0x20U
#define AH_FIS_D2H_AT		0x40U
#define AH_FIS_SDB_AT		0x58U
#define AH_FIS_H2D		0x27
#define AH_FIS_D2H		0x34
#define AH_FIS_PIO		0x5f
#define AH_FIS_SDB		0xa1
#define AH_FIS_COMMAND		0x80		/* in byte 1 of a frame to the disk: a command, not control */
#define AH_FIS_INTERRUPT	0x40		/* in byte 1 of a frame from the disk */
#define AH_FIS_PIO_IN		0x20
#define AH_CONTROL_RESET	0x04

/* ATA: status, errors, commands. */
#define AH_ATA_ERROR		0x01
#define AH_ATA_DATA		0x08
#define AH_ATA_SEEK		0x10
#define AH_ATA_READY		0x40
#define AH_ATA_BUSY		0x80
#define AH_ATA_IDLE		(AH_ATA_READY | AH_ATA_SEEK)
#define AH_ATA_ABORTED		0x04
#define AH_ATA_NO_ID		0x10
#define AH_ATA_UNCORRECTABLE	0x40
#define AH_ATA_FUA		0x80		/* in the device byte of a queued write */

#define AH_OP_DATASET		0x06
#define AH_OP_READ_PIO_EXT	0x24
#define AH_OP_READ_DMA_EXT	0x25
#define AH_OP_READ_LOG		0x2f
#define AH_OP_WRITE_PIO_EXT	0x34
#define AH_OP_WRITE_DMA_EXT	0x35
#define AH_OP_WRITE_FUA_EXT	0x3d
#define AH_OP_VERIFY_EXT	0x42
#define AH_OP_READ_LOG_DMA	0x47
#define AH_OP_READ_QUEUED	0x60
#define AH_OP_WRITE_QUEUED	0x61
#define AH_OP_READ_DMA		0xc8
#define AH_OP_WRITE_DMA		0xca
#define AH_OP_STANDBY		0xe0
#define AH_OP_IDLE		0xe1
#define AH_OP_CHECK_POWER	0xe5
#define AH_OP_FLUSH		0xe7
#define AH_OP_FLUSH_EXT		0xea
#define AH_OP_IDENTIFY		0xec
#define AH_OP_SET_FEATURES	0xef

#define AH_FEATURE_CACHE_ON	0x02
#define AH_FEATURE_TRANSFER	0x03
#define AH_FEATURE_AHEAD_OFF	0x55
#define AH_FEATURE_CACHE_OFF	0x82
#define AH_FEATURE_AHEAD_ON	0xaa
#define AH_DATASET_TRIM		0x01
#define AH_RANGE_BYTES		8U		/* of a TRIM: 48 bits of address, 16 of length */
#define AH_LOG_DIRECTORY	0x00
#define AH_LOG_NCQ_ERROR	0x10

#endif
