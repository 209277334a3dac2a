// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: Xen's hypercalls that KVM handles itself have the same records as
 * those that user space answers.
 */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "calls.h"
#include "module.h"
#include "tap.h"

#define ALL_WORDS	(KVM_TRACE_HC_W_RIP | KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_RETURN)
#define XEN_MSR		0x40000200
#define XEN_VERSION	0x40011

/* Xen's public headers: numbers of calls, of sub-operations, and of errors. */
#define SET_TIMER_OP	15
#define XEN_VERSION_OP	17
#define VCPU_OP		24
#define SCHED_OP	29
#define EVENT_CHANNEL_OP 32
#define SCHEDOP_YIELD	0
#define SCHEDOP_BLOCK	1
#define SCHEDOP_POLL	3
#define VCPUOP_IS_UP	3
#define VCPUOP_SET_SINGLESHOT 8
#define VCPUOP_STOP_SINGLESHOT 9
#define EVTCHNOP_SEND	4
#define EVTCHNSTAT_INTERDOMAIN 2
#define XEN_EFAULT	14
#define XEN_EINVAL	22

#define PENDING_AT	2048	/* of the ports, in shared_info */
#define TIMER_PORT	3
#define EVENTFD_PORT	11
#define LOOPED_PORT	12	/* what is sent there comes back to QUIET_PORT + 1 */
#define QUIET_PORT	20
#define XEN_VCPU	5	/* Xen's number of the vCPU */
#define TIMEOUT_NS	30000000ull
#define ANSWER		0x5eed5eedull

/* Places in AREA_INPUT. */
#define AT_PORT		0x00
#define AT_POLL		0x20
#define AT_PORTS	0x40
#define AT_TIMER	0x60

static void hvm_attr(struct calls *calls, u16 type, struct kvm_xen_hvm_attr attr)
{
	attr.type = type;
	if (ioctl(calls->vm.fd, KVM_XEN_HVM_SET_ATTR, &attr))
		tap_die("KVM_XEN_HVM_SET_ATTR %u", type);
}

static void vcpu_attr(struct calls *calls, u16 type, struct kvm_xen_vcpu_attr attr)
{
	attr.type = type;
	if (ioctl(calls->vcpu.fd, KVM_XEN_VCPU_SET_ATTR, &attr))
		tap_die("KVM_XEN_VCPU_SET_ATTR %u", type);
}

/* What a VMM sets up so that calls need not come to it. */
static void set_up(struct calls *calls, bool long_mode, int fd)
{
	struct kvm_xen_hvm_config config = {
		.flags = KVM_XEN_HVM_CONFIG_INTERCEPT_HCALL | KVM_XEN_HVM_CONFIG_EVTCHN_SEND,
		.msr = XEN_MSR,
	};
	struct kvm_xen_hvm_attr mode = { .u.long_mode = long_mode };
	struct kvm_xen_hvm_attr shared = { .u.shared_info.gfn = (calls->vcpu.area + AREA_SHARED) /
								PAGE_BYTES };
	struct kvm_xen_hvm_attr version = { .u.xen_version = XEN_VERSION };
	struct kvm_xen_hvm_attr port = { .u.evtchn = {
		.send_port = EVENTFD_PORT, .type = EVTCHNSTAT_INTERDOMAIN,
		.deliver.eventfd.fd = fd,
	} };
	struct kvm_xen_hvm_attr looped = { .u.evtchn = {
		.send_port = LOOPED_PORT, .type = EVTCHNSTAT_INTERDOMAIN,
		.deliver.port = { .port = QUIET_PORT + 1, .vcpu = calls->vcpu.id,
				  .priority = KVM_IRQ_ROUTING_XEN_EVTCHN_PRIO_2LEVEL },
	} };
	/* Without it KVM warns when a port is pending. */
	struct kvm_xen_vcpu_attr info = { .u.gpa = calls->vcpu.area + AREA_SHARED };
	struct kvm_xen_vcpu_attr id = { .u.vcpu_id = XEN_VCPU };
	struct kvm_xen_vcpu_attr timer = { .u.timer = {
		.port = TIMER_PORT, .priority = KVM_IRQ_ROUTING_XEN_EVTCHN_PRIO_2LEVEL,
	} };

	if (ioctl(calls->vm.fd, KVM_XEN_HVM_CONFIG, &config))
		tap_die("KVM_XEN_HVM_CONFIG");
	hvm_attr(calls, KVM_XEN_ATTR_TYPE_LONG_MODE, mode);
	hvm_attr(calls, KVM_XEN_ATTR_TYPE_SHARED_INFO, shared);
	hvm_attr(calls, KVM_XEN_ATTR_TYPE_XEN_VERSION, version);
	hvm_attr(calls, KVM_XEN_ATTR_TYPE_EVTCHN, port);
	hvm_attr(calls, KVM_XEN_ATTR_TYPE_EVTCHN, looped);
	vcpu_attr(calls, KVM_XEN_VCPU_ATTR_TYPE_VCPU_INFO, info);
	vcpu_attr(calls, KVM_XEN_VCPU_ATTR_TYPE_VCPU_ID, id);
	vcpu_attr(calls, KVM_XEN_VCPU_ATTR_TYPE_TIMER, timer);
}

/* One call whose first arguments count; the other registers have marks. */
static void make(struct calls *calls, enum vcpu_mode mode, u64 nr, const u64 arg[3], bool asked,
		 s64 result, u64 at_least_ns)
{
	struct guest_call call = {
		.abi = KVM_TRACE_ABI_XEN, .mode = mode, .nr = nr, .answer = ANSWER,
		.arg = { arg[0], arg[1], arg[2], MARK_A1, MARK_A2, MARK_A3 },
		.at_least_ns = at_least_ns,
	};
	const struct guest_call *made = calls_make(calls, &call);

	if (asked)
		result = ANSWER;
	tap_expect(made->asked == asked, "call %llu(0x%llx): KVM asks user space: %d", nr, arg[0],
		   made->asked);
	tap_expect((u32)made->result == (u32)result, "call %llu(0x%llx): the guest has 0x%llx", nr,
		   arg[0], made->result);
}

#define MAKE(calls, mode, nr, a0, a1, a2, ...) \
	make(calls, mode, nr, (const u64[]){ a0, a1, a2 }, __VA_ARGS__)

static void put(struct calls *calls, unsigned int at, const void *data, size_t bytes)
{
	memcpy(vm_at(&calls->vm, calls->vcpu.area + AREA_INPUT + at), data, bytes);
}

/* struct sched_poll of one port, as each kind of caller has it. */
static void put_poll(struct calls *calls, enum vcpu_mode mode, u32 port, u64 timeout)
{
	const u64 ports = calls->vcpu.area + AREA_INPUT + AT_PORTS;
	struct {
		u64 ports;
		u32 nr_ports, padding;
		u64 timeout;
	} wide = { ports, 1, 0, timeout };
	struct {
		u32 ports, nr_ports;
		u64 timeout;
	} narrow = { ports, 1, timeout };

	put(calls, AT_PORTS, &port, sizeof(port));
	if (mode == MODE_LONG)
		put(calls, AT_POLL, &wide, sizeof(wide));
	else
		put(calls, AT_POLL, &narrow, sizeof(narrow));
}

static void send(struct calls *calls, enum vcpu_mode mode, u32 port, bool asked)
{
	put(calls, AT_PORT, &port, sizeof(port));
	MAKE(calls, mode, EVENT_CHANNEL_OP, EVTCHNOP_SEND,
	     calls->vcpu.area + AREA_INPUT + AT_PORT, MARK_A0, asked, 0, 0);
}

static void check_events(struct calls *calls, enum vcpu_mode mode, int fd)
{
	const u64 *pending = vm_at(&calls->vm, calls->vcpu.area + AREA_SHARED + PENDING_AT);
	eventfd_t count = 0;

	MAKE(calls, mode, XEN_VERSION_OP, 0, MARK_A1, MARK_A2, false, XEN_VERSION, 0);
	MAKE(calls, mode, XEN_VERSION_OP, 6, MARK_A1, MARK_A2, true, 0, 0);
	send(calls, mode, EVENTFD_PORT, false);
	eventfd_read(fd, &count);
	tap_expect(count == 1, "eventfd has %llu", (u64)count);
	send(calls, mode, LOOPED_PORT, false);
	tap_expect(*pending == 1ull << (QUIET_PORT + 1), "pending ports are 0x%llx", *pending);
	send(calls, mode, QUIET_PORT, true);
	MAKE(calls, mode, EVENT_CHANNEL_OP, EVTCHNOP_SEND, VM_MMIO, MARK_A2, false, -XEN_EFAULT, 0);
}

static void check_sched(struct calls *calls, enum vcpu_mode mode)
{
	const u64 poll = calls->vcpu.area + AREA_INPUT + AT_POLL;

	MAKE(calls, mode, SCHED_OP, SCHEDOP_YIELD, MARK_A1, MARK_A2, false, 0, 0);
	MAKE(calls, mode, SCHED_OP, SCHEDOP_BLOCK, MARK_A1, MARK_A2, true, 0, 0);
	put_poll(calls, mode, QUIET_PORT + 1, 0);
	MAKE(calls, mode, SCHED_OP, SCHEDOP_POLL, poll, MARK_A2, false, 0, 0);
	/* KVM counts in ticks, so it may be one shorter. */
	put_poll(calls, mode, QUIET_PORT, TIMEOUT_NS);
	MAKE(calls, mode, SCHED_OP, SCHEDOP_POLL, poll, MARK_A2, false, 0, TIMEOUT_NS / 2);
	MAKE(calls, mode, SCHED_OP, SCHEDOP_POLL, VM_MMIO, MARK_A2, false, -XEN_EFAULT, 0);
}

static void check_timers(struct calls *calls, enum vcpu_mode mode)
{
	const u64 timer = calls->vcpu.area + AREA_INPUT + AT_TIMER;
	const u64 never[2] = { 1ull << 62, 1 };

	put(calls, AT_TIMER, never, sizeof(never));
	MAKE(calls, mode, VCPU_OP, VCPUOP_SET_SINGLESHOT, XEN_VCPU, timer, false, 0, 0);
	MAKE(calls, mode, VCPU_OP, VCPUOP_STOP_SINGLESHOT, XEN_VCPU, MARK_A2, false, 0, 0);
	MAKE(calls, mode, VCPU_OP, VCPUOP_STOP_SINGLESHOT, XEN_VCPU + 1, MARK_A2, false,
	     -XEN_EINVAL, 0);
	MAKE(calls, mode, VCPU_OP, VCPUOP_IS_UP, XEN_VCPU, MARK_A2, true, 0, 0);
	MAKE(calls, mode, SET_TIMER_OP, 1ull << 40, 1, MARK_A2, false, 0, 0);
	MAKE(calls, mode, SET_TIMER_OP, 0, 0, MARK_A2, false, 0, 0);
}

static void check(enum vcpu_mode mode, const char *name)
{
	struct calls calls;
	int fd;

	tap_begin("hypercall_xen: %s caller", name);
	if (!vm_has_xen()) {
		tap_skip("KVM is built without CONFIG_KVM_XEN");
		return;
	}
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		tap_die("eventfd");
	calls_start(&calls, VM_XEN | VM_IRQCHIP, ALL_WORDS, 0);
	set_up(&calls, mode == MODE_LONG, fd);
	check_events(&calls, mode, fd);
	check_sched(&calls, mode);
	check_timers(&calls, mode);
	calls_end(&calls);
	close(fd);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(3);
	check(MODE_LONG, "64-bit");
	check(MODE_PROTECTED, "32-bit");
	check(MODE_COMPAT, "32-bit in long mode");
	return tap_exit();
}
