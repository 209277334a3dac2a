/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format files of the events, as tracefs has them where the module runs, for recordings
 * that are not made there. What is in their records is in uapi linux/kvm_trace.h.
 */
#ifndef _KVM_TRACE_EVENT_FORMATS_H
#define _KVM_TRACE_EVENT_FORMATS_H

#include <stddef.h>
#include "order.h"

#define KVM_TRACE_EVENTS	(KVM_TRACE_KIND_BATCH + 1)
#define KVM_TRACE_EVENT_FIELDS_MAX	16
#define KVM_TRACE_FORMAT_MAX	4096
/* What is printed of an event if the plugin is not there. */
#define KVM_TRACE_WITHOUT_PLUGIN	"printed without the plugin"

/**
 * struct kvm_trace_event_field - a field of an event
 * @type: as in C; NULL behind the last field
 * @name: with [N] for an array
 * @size: in bytes
 */
struct kvm_trace_event_field {
	const char *type;
	const char *name;
	unsigned int size;
};

/**
 * struct kvm_trace_event_format - an event
 * @name: of the event
 * @system: where it is in tracefs
 * @field: its fields, in their order, behind the 8 bytes that all events have
 */
struct kvm_trace_event_format {
	const char *name;
	const char *system;
	struct kvm_trace_event_field field[KVM_TRACE_EVENT_FIELDS_MAX];
};

/* By enum kvm_trace_kind. */
extern const struct kvm_trace_event_format kvm_trace_event_formats[KVM_TRACE_EVENTS];

/**
 * kvm_trace_event_format() - the text of a format file
 * @kind: of which event
 * @id: number of the event
 * @buf: gets the text, of up to KVM_TRACE_FORMAT_MAX bytes with its end
 * @lacking: name of a field that is left out, or NULL
 * @extra: bytes of other fields before the first, a multiple of 4
 *
 * Return: length of the text
 */
size_t kvm_trace_event_format(enum kvm_trace_kind kind, unsigned int id, char *buf,
			      const char *lacking, unsigned int extra);

#endif /* _KVM_TRACE_EVENT_FORMATS_H */
