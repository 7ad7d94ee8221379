/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between a driver and a virtio block device on PCI: Virtual I/O Device (VIRTIO) 1.2,
 * split queues.
 */
#ifndef VB_WIRE_H
#define VB_WIRE_H

#include "base/base.h"

#define VB_PCI_VENDOR		0x1af4
#define VB_PCI_DEVICE		0x1042		/* block device, no legacy interface */
#define VB_PCI_CLASS		0x0180		/* mass storage, other */
#define VB_BAR			4
#define VB_BAR_BYTES		4096U

/* Places in the memory behind the base address register. */
#define VB_COMMON		0x000
#define VB_COMMON_BYTES		0x38
#define VB_ISR			0x100
#define VB_DEVICE		0x200
#define VB_DEVICE_BYTES		0x40
#define VB_NOTIFY		0x300
#define VB_NOTIFY_BYTES		4

/* Capabilities in the configuration space. */
#define VB_CAP_VENDOR		0x09
#define VB_CAP_COMMON		1
#define VB_CAP_NOTIFY		2
#define VB_CAP_ISR		3
#define VB_CAP_DEVICE		4

/* Common configuration. */
#define VB_DEVICE_FEATURE_SELECT 0x00
#define VB_DEVICE_FEATURE	0x04
#define VB_DRIVER_FEATURE_SELECT 0x08
#define VB_DRIVER_FEATURE	0x0c
#define VB_CONFIG_VECTOR	0x10
#define VB_NUM_QUEUES		0x12
#define VB_STATUS		0x14
#define VB_GENERATION		0x15
#define VB_QUEUE_SELECT		0x16
#define VB_QUEUE_SIZE		0x18
#define VB_QUEUE_VECTOR		0x1a
#define VB_QUEUE_ENABLE		0x1c
#define VB_QUEUE_NOTIFY		0x1e
#define VB_QUEUE_DESC		0x20
#define VB_QUEUE_DRIVER		0x28
#define VB_QUEUE_DEVICE		0x30

#define VB_NO_VECTOR		0xffff
#define VB_STATUS_FEATURES_OK	0x08
#define VB_STATUS_DRIVER_OK	0x04
#define VB_STATUS_NEEDS_RESET	0x40
#define VB_ISR_QUEUE		0x01
#define VB_ISR_CONFIG		0x02

/* Features. */
#define VB_F_SEG_MAX		0x0000000000000004ULL
#define VB_F_BLK_SIZE		0x0000000000000040ULL
#define VB_F_FLUSH		0x0000000000000200ULL
#define VB_F_TOPOLOGY		0x0000000000000400ULL
#define VB_F_DISCARD		0x0000000000002000ULL
#define VB_F_WRITE_ZEROES	0x0000000000004000ULL
#define VB_F_INDIRECT		0x0000000010000000ULL
#define VB_F_VERSION_1		0x0000000100000000ULL

/* Descriptors and requests. */
#define VB_DESC_BYTES		16U
#define VB_DESC_NEXT		1
#define VB_DESC_WRITE		2
#define VB_DESC_INDIRECT	4
#define VB_AVAIL_NO_INTERRUPT	1
#define VB_REQUEST_BYTES	16U
#define VB_RANGE_BYTES		16U
#define VB_ID_BYTES		20U
#define VB_T_IN			0
#define VB_T_OUT		1
#define VB_T_FLUSH		4
#define VB_T_GET_ID		8
#define VB_T_DISCARD		11
#define VB_T_WRITE_ZEROES	13
#define VB_S_OK			0
#define VB_S_ERROR		1
#define VB_S_UNSUPPORTED	2

#endif
