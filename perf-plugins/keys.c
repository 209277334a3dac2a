// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of a report: from records to values, and from values to text.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "keys.h"

#define PAGE_MASK	0xfffull

#define NAME_AND_WIDTH(key, width)	{ #key, width },
static const struct {
	const char *name;
	int width;
} keys[] = { KVM_TRACE_KEYS(NAME_AND_WIDTH) };

static_assert(sizeof(struct kvm_trace_key) == 56, "a key must not have padding");

enum kvm_trace_key_kind kvm_trace_key_find(const char *name, size_t len)
{
	enum kvm_trace_key_kind kind;

	for (kind = 0; kind < KVM_TRACE_KEY_COUNT; kind++)
		if (strlen(keys[kind].name) == len && !memcmp(keys[kind].name, name, len))
			break;
	return kind;
}

const char *kvm_trace_key_name(enum kvm_trace_key_kind kind)
{
	return keys[kind].name;
}

int kvm_trace_key_width(enum kvm_trace_key_kind kind)
{
	return keys[kind].width;
}

static __u32 port_of(const struct kvm_trace_vmexit *v)
{
	return v->io >> KVM_TRACE_IO_PORT_SHIFT << 1 | !(v->io & KVM_TRACE_IO_IN);
}

static bool set_gpa(struct kvm_trace_key *key, const struct kvm_trace_vmexit *v)
{
	if (!(v->have & (KVM_TRACE_W_GPA | KVM_TRACE_W_MMIO_GPA)))
		return false;
	key->gpa = (v->have & KVM_TRACE_W_GPA ? v->gpa : v->mmio_gpa) & ~PAGE_MASK;
	return true;
}

static bool set(struct kvm_trace_key *key, enum kvm_trace_key_kind kind,
		const struct kvm_trace_vmexit *v, __u64 hypercall)
{
	switch (kind) {
	case KVM_TRACE_KEY_vm:
		key->vm = v->vm;
		return true;
	case KVM_TRACE_KEY_vcpu:
		key->vcpu = v->vcpu;
		return true;
	case KVM_TRACE_KEY_class:
		key->class = v->class;
		return true;
	case KVM_TRACE_KEY_reason:
		key->code = kvm_trace_vmexit_code(v);
		key->isa = v->isa;
		return true;
	case KVM_TRACE_KEY_hypercall:
		key->hypercall = hypercall ? hypercall : v->hypercall;
		return key->hypercall;
	case KVM_TRACE_KEY_msr:
		key->msr = v->msr;
		return v->have & KVM_TRACE_W_MSR;
	case KVM_TRACE_KEY_port:
		key->port = port_of(v);
		return v->have & KVM_TRACE_W_IO;
	case KVM_TRACE_KEY_gpa:
		return set_gpa(key, v);
	case KVM_TRACE_KEY_cpuid:
		key->cpuid = v->cpuid_leaf;
		return v->have & KVM_TRACE_W_CPUID_LEAF;
	case KVM_TRACE_KEY_vector:
		key->vector = v->host_vector;
		return v->have & KVM_TRACE_W_HOST_VECTOR;
	case KVM_TRACE_KEY_rip:
		key->rip = v->rip;
		return v->have & KVM_TRACE_W_RIP;
	case KVM_TRACE_KEY_COUNT:
		break;
	}
	return false;
}

bool kvm_trace_key_of(struct kvm_trace_key *key, unsigned int by,
		      const struct kvm_trace_vmexit *v, __u64 hypercall)
{
	memset(key, 0, sizeof(*key));
	for (; by; by &= by - 1)
		if (!set(key, __builtin_ctz(by), v, hypercall))
			return false;
	return true;
}

static void put_reason(const struct kvm_trace_key *key, char *buf)
{
	__u64 code = key->code;
	const char *name;

	if (key->isa == KVM_TRACE_ISA_VMX)
		code &= 0xffff;
	name = kvm_trace_reason_name(key->isa, code);
	if (name && code == key->code)
		snprintf(buf, KVM_TRACE_KEY_TEXT, "%s", name);
	else
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%llx", key->code);
}

static void put_hypercall(const struct kvm_trace_key *key, char *buf)
{
	unsigned int abi = key->hypercall >> KVM_TRACE_HYPERCALL_ABI_SHIFT & 0xff;
	__u32 nr = key->hypercall;
	const char *name = kvm_trace_call_name(abi, nr);
	const char *whose = kvm_trace_abi_name(abi);

	if (!whose)
		whose = "?";
	if (name)
		snprintf(buf, KVM_TRACE_KEY_TEXT, "%s %s", whose, name);
	else
		snprintf(buf, KVM_TRACE_KEY_TEXT, "%s 0x%x", whose, nr);
}

void kvm_trace_key_text(const struct kvm_trace_key *key, enum kvm_trace_key_kind kind, char *buf)
{
	const char *name = NULL;

	switch (kind) {
	case KVM_TRACE_KEY_vm:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "%u", key->vm);
		return;
	case KVM_TRACE_KEY_vcpu:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "%u", key->vcpu);
		return;
	case KVM_TRACE_KEY_class:
		name = kvm_trace_class_name(key->class);
		if (name)
			snprintf(buf, KVM_TRACE_KEY_TEXT, "%s", name);
		else
			snprintf(buf, KVM_TRACE_KEY_TEXT, "%u", key->class);
		return;
	case KVM_TRACE_KEY_reason:
		put_reason(key, buf);
		return;
	case KVM_TRACE_KEY_hypercall:
		put_hypercall(key, buf);
		return;
	case KVM_TRACE_KEY_msr:
		name = kvm_trace_msr_name(key->msr);
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%x%s%s", key->msr, name ? " " : "",
			 name ? name : "");
		return;
	case KVM_TRACE_KEY_port:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%x %s", key->port >> 1,
			 key->port & 1 ? "out" : "in");
		return;
	case KVM_TRACE_KEY_gpa:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%llx", key->gpa);
		return;
	case KVM_TRACE_KEY_cpuid:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%x", key->cpuid);
		return;
	case KVM_TRACE_KEY_vector:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%x", key->vector);
		return;
	case KVM_TRACE_KEY_rip:
		snprintf(buf, KVM_TRACE_KEY_TEXT, "0x%llx", key->rip);
		return;
	case KVM_TRACE_KEY_COUNT:
		break;
	}
	*buf = '\0';
}
