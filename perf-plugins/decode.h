/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder of kvm_trace's records, for every tool: bytes to a struct, and
 * the struct to the line that people read. It knows nothing of libtraceevent
 * or perf, and allocates nothing.
 */
#ifndef _KVM_TRACE_DECODE_H
#define _KVM_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <linux/kvm_trace.h>
#include <kvm_trace/exit_reasons.h>

/* A buffer of this size holds the line of any record. */
#define KVM_TRACE_TEXT_SIZE	2048

/*
 * Fields that have no value for "not known". A reader of fields by name that
 * does not find one says so in lacks; it is 0 for records of the known layout.
 */
#define KVM_TRACE_LACKS_VCPU		0x001
#define KVM_TRACE_LACKS_REASON		0x002
#define KVM_TRACE_LACKS_HOST_NS		0x004
#define KVM_TRACE_LACKS_NR		0x008
#define KVM_TRACE_LACKS_CALLER		0x010
#define KVM_TRACE_LACKS_TSC_OFFSET	0x020
#define KVM_TRACE_LACKS_TSC_RATIO	0x040
#define KVM_TRACE_LACKS_SEQ		0x080
#define KVM_TRACE_LACKS_GENERATION	0x100
#define KVM_TRACE_LACKS_COUNT		0x200
#define KVM_TRACE_LACKS_SINCE		0x400
#define KVM_TRACE_LACKS_INDEX		0x800

/**
 * struct kvm_trace_vmexit - a decoded vmexit record
 * @host_ns: from the exit to the entry, in ns
 * @words: the first two masks of the tail, as stored
 * @have: words that were read, KVM_TRACE_W_*
 * @rip: guest RIP at the exit
 * @gpa: faulting guest-physical address
 * @info1: SVM EXITINFO1, VMX exit qualification
 * @info2: SVM EXITINFO2, VMX IDT-vectoring information
 * @reason_hi: native reason >> 16
 * @entry_ns: local_clock() at the entry
 * @guest_ns: time in the guest before the exit, in ns, of GUEST_NS_64 or GUEST_NS
 * @user_ns: part of @host_ns outside KVM_RUN, of either size as @guest_ns
 * @halt_ns: part of @host_ns halted in KVM, likewise
 * @poll_ns: part of @halt_ns in which KVM polled, likewise
 * @runnable_ns: ns of @host_ns in which the thread waited for a CPU, likewise
 * @msr_value: value that was read or written
 * @mmio_gpa: guest-physical address of @mmio, if it is not @gpa
 * @mmio_value: what @mmio read or wrote
 * @cr_value: value moved to or from @cr
 * @exception: exception that caused the exit, KVM_TRACE_EXCEPTION_*
 * @injected_exception: exception that the entry injects, in the same form
 * @cpuid_ax_bx: results, EBX in bits 63:32, EAX in bits 31:0
 * @cpuid_cx_dx: results, EDX in bits 63:32, ECX in bits 31:0
 * @hypercall: hypercall of the exit, KVM_TRACE_ABI_* in bits 39:32, number in bits 31:0
 * @vm: number of the VM, 0 if not known
 * @seq: record counter of the vCPU
 * @intr_info: what was being delivered at the exit, or caused it
 * @error_code: error code of @intr_info
 * @untraced: exits that KVM counted beyond the recorded one
 * @flags_hi: KVM_TRACE_F2_*
 * @msr: index of the MSR
 * @io: I/O instruction, KVM_TRACE_IO_*
 * @cpuid_leaf: EAX of CPUID
 * @cpuid_index: ECX of CPUID
 * @injected: interrupts and NMIs, KVM_TRACE_INJECTED_*
 * @user_reason: why KVM_RUN returned, KVM_TRACE_USER_REASON_*
 * @io_value: value of @io
 * @io_count: elements that INS or OUTS moved
 * @mmio: last access of MMIO, KVM_TRACE_MMIO_*
 * @cr: access of a control register, KVM_TRACE_CR_*
 * @host_vector: vector of the host's interrupt
 * @lacks: KVM_TRACE_LACKS_*
 * @unknown: number of words that this decoder stepped over
 * @vcpu: vCPU id
 * @reason: bits 15:0 of the native reason
 * @flags: KVM_TRACE_F_*
 * @isa: KVM_TRACE_ISA_*, 0 if not known
 * @class: KVM_TRACE_CLASS_*
 * @truncated: the tail ends before its last word
 *
 * A field of a word has the word's name in lower case, and is 0 if the record
 * does not have the word.
 */
struct kvm_trace_vmexit {
	__u64 host_ns;
	__u64 words;
	__u64 have;
	__u64 rip;
	__u64 gpa;
	__u64 info1;
	__u64 info2;
	__u64 reason_hi;
	__u64 entry_ns;
	__u64 guest_ns;
	__u64 user_ns;
	__u64 halt_ns;
	__u64 poll_ns;
	__u64 runnable_ns;
	__u64 msr_value;
	__u64 mmio_gpa;
	__u64 mmio_value;
	__u64 cr_value;
	__u64 exception;
	__u64 injected_exception;
	__u64 cpuid_ax_bx;
	__u64 cpuid_cx_dx;
	__u64 hypercall;
	__u32 vm;
	__u32 seq;
	__u32 intr_info;
	__u32 error_code;
	__s32 untraced;
	__u32 flags_hi;
	__u32 msr;
	__u32 io;
	__u32 cpuid_leaf;
	__u32 cpuid_index;
	__u32 injected;
	__u32 user_reason;
	__u32 io_value;
	__u32 io_count;
	__u32 mmio;
	__u32 cr;
	__u32 host_vector;
	__u32 lacks;
	__u32 unknown;
	__u16 vcpu;
	__u16 reason;
	__u16 flags;
	__u8 isa;
	__u8 class;
	bool truncated;
};

/**
 * struct kvm_trace_hypercall - a decoded hypercall record
 * @nr: number of the hypercall
 * @arg: arguments, those that @have names
 * @result: result, of RESULT_64 or RESULT
 * @rip: guest RIP of the instruction
 * @ret: where the caller goes on behind the hypercall page, of RETURN
 * @ns: how long the call took, in ns, of NS_64 or NS
 * @vm: number of the VM, 0 if not known
 * @seq: record counter of the vmexit record of the same round trip
 * @present: what the record has, as stored
 * @have: what was read, in the form of @present; also RESULT if @caller says ZERO
 * @lacks: KVM_TRACE_LACKS_*
 * @unknown: number of words that this decoder stepped over
 * @hv_control: part of Hyper-V's input value, see KVM_TRACE_HC_W_HV_CONTROL
 * @hv_reps: the rest of it, see KVM_TRACE_HC_W_HV_REPS
 * @sub: what reading guest memory came to, KVM_TRACE_SUB_*
 * @vcpu: vCPU id
 * @abi: KVM_TRACE_ABI_*, 0 if not known
 * @caller: KVM_TRACE_CALLER_*
 * @truncated: the tail ends before its last word
 * @reserved: an argument of unknown size ended the decoding
 *
 * What the record does not have is 0.
 */
struct kvm_trace_hypercall {
	__u64 nr;
	__u64 arg[KVM_TRACE_HC_ARGS];
	__s64 result;
	__u64 rip;
	__u64 ret;
	__u64 ns;
	__u32 vm;
	__u32 seq;
	__u32 present;
	__u32 have;
	__u32 lacks;
	__u32 unknown;
	__u32 hv_control;
	__u32 hv_reps;
	__u32 sub;
	__u16 vcpu;
	__u8 abi;
	__u8 caller;
	bool truncated;
	bool reserved;
};

/**
 * struct kvm_trace_hypercall_sub - a decoded hypercall_sub record
 * @nr: number of the inner call, or of the call whose list it is
 * @arg: arguments, those that @have names; 0 if absent
 * @vm: number of the VM, 0 if not known
 * @seq: that of the hypercall record to which it belongs
 * @index: place in the batch or list, from 0
 * @present: what the record has, as stored
 * @have: what was read, in the form of @present
 * @lacks: KVM_TRACE_LACKS_*
 * @unknown: number of words that this decoder stepped over
 * @vcpu: vCPU id
 * @abi: KVM_TRACE_ABI_*, 0 if not known
 * @kind: KVM_TRACE_SUB_KIND_*, 0 if not known
 * @truncated: the tail ends before its last word
 * @reserved: an argument of unknown size ended the decoding
 */
struct kvm_trace_hypercall_sub {
	__u64 nr;
	__u64 arg[KVM_TRACE_HC_ARGS];
	__u32 vm;
	__u32 seq;
	__u32 index;
	__u32 present;
	__u32 have;
	__u32 lacks;
	__u32 unknown;
	__u16 vcpu;
	__u8 abi;
	__u8 kind;
	bool truncated;
	bool reserved;
};

/**
 * struct kvm_trace_string - a string inside a record
 * @at: its first byte, in the memory that was decoded; not terminated
 * @len: its length without the terminating NUL, which may be missing
 */
struct kvm_trace_string {
	const char *at;
	size_t len;
};

/**
 * struct kvm_trace_vcpu - a decoded vcpu record
 * @tsc_offset: guest TSC = host TSC * ratio + offset
 * @tsc_ratio: fixed point, SVM 8.32, VMX 16.48
 * @name: KVM's debugfs directory "PID-FD"
 * @vmm: name of the VMM's main thread
 * @vm: number of the VM, 0 if not known
 * @seq: record counter of the next vmexit record
 * @vmm_pid: process that created the VM, 0 if not known
 * @vmm_tid: thread that runs the vCPU, 0 if not known
 * @generation: count of consumers
 * @lacks: KVM_TRACE_LACKS_*
 * @vcpu: vCPU id
 * @isa: KVM_TRACE_ISA_*, 0 if not known
 * @abi_version: version of the layout, 0 if not known
 */
struct kvm_trace_vcpu {
	__s64 tsc_offset;
	__u64 tsc_ratio;
	struct kvm_trace_string name;
	struct kvm_trace_string vmm;
	__u32 vm;
	__u32 seq;
	__u32 vmm_pid;
	__u32 vmm_tid;
	__u32 generation;
	__u32 lacks;
	__u16 vcpu;
	__u8 isa;
	__u8 abi_version;
};

/**
 * struct kvm_trace_lost - a decoded lost record
 * @count: round trips or hypercalls without a record
 * @since: local_clock() of the first of them
 * @vm: number of the VM, 0 if not known
 * @lacks: KVM_TRACE_LACKS_*
 * @vcpu: vCPU id
 * @why: KVM_TRACE_LOST_*, 0 if not known
 */
struct kvm_trace_lost {
	__u64 count;
	__u64 since;
	__u32 vm;
	__u32 lacks;
	__u16 vcpu;
	__u8 why;
};

/**
 * kvm_trace_vmexit_word() - note a word of a vmexit record
 * @v: the record
 * @bit: number of the word's presence bit
 * @value: the word; of one of 4 bytes, bits 31:0 count
 *
 * One that is not known is counted.
 */
void kvm_trace_vmexit_word(struct kvm_trace_vmexit *v, unsigned int bit, __u64 value);

/**
 * kvm_trace_vmexit_tail() - read the tail of a vmexit record
 * @v: record whose fixed fields are set and whose other fields are 0
 * @tail: the tail's bytes, of any alignment
 * @len: how many there are
 *
 * Unknown words are stepped over and counted. A tail that ends too early gives
 * the words that are there whole, and sets @v->truncated.
 */
void kvm_trace_vmexit_tail(struct kvm_trace_vmexit *v, const void *tail, size_t len);

/**
 * kvm_trace_vmexit_record() - decode a raw vmexit record
 * @v: result
 * @record: the record with its 8 common bytes, in the layout of uapi
 *	    linux/kvm_trace.h, of any alignment
 * @size: bytes at @record; padding behind the record may count
 *
 * Return: false if @size is less than the fixed fields need, and @v is not
 * of use.
 */
bool kvm_trace_vmexit_record(struct kvm_trace_vmexit *v, const void *record, size_t size);

/**
 * kvm_trace_vmexit_code() - the whole native exit reason
 * @v: decoded record
 *
 * Return: SVM's 64-bit exit code, or VMX's 32-bit exit reason with its
 * modifiers in bits 31:16.
 */
__u64 kvm_trace_vmexit_code(const struct kvm_trace_vmexit *v);

/**
 * kvm_trace_vmexit_handling_ns() - the part of host_ns that KVM and the host took
 * @v: decoded record
 *
 * What remains without user space and without halts; all of it if the words
 * USER_NS and HALT_NS were not among those that the record may have.
 *
 * Return: nanoseconds; 0 if damaged parts are more than the whole.
 */
__u64 kvm_trace_vmexit_handling_ns(const struct kvm_trace_vmexit *v);

/**
 * kvm_trace_vmexit_msr_faulted() - did an RDMSR or WRMSR end with #GP
 * @v: decoded record
 *
 * Return: true if the exit is of such an instruction, and the entry injects a
 * general-protection fault; by the flag INJECTED_EXCEPTION alone where the
 * word that tells the vector is absent.
 */
bool kvm_trace_vmexit_msr_faulted(const struct kvm_trace_vmexit *v);

/**
 * kvm_trace_vmexit_text() - the line of a vmexit record
 * @v: decoded record
 * @pid: process id of the VMM, 0 if not known
 * @buf: where to write; the text is always terminated if @size is not 0
 * @size: bytes at @buf, KVM_TRACE_TEXT_SIZE is enough
 *
 * Return: length of the whole text, as snprintf() does.
 */
size_t kvm_trace_vmexit_text(const struct kvm_trace_vmexit *v, __u32 pid,
			     char *buf, size_t size);

/**
 * kvm_trace_hypercall_tail() - read the tail of a hypercall record
 * @h: record whose fixed fields are set, @h->nr from nr, and whose other
 *     fields are 0
 * @tail: the tail's bytes, of any alignment
 * @len: how many there are
 *
 * As kvm_trace_vmexit_tail(). An argument of the reserved size ends the
 * decoding, and sets @h->reserved: where the next word starts is not known.
 */
void kvm_trace_hypercall_tail(struct kvm_trace_hypercall *h, const void *tail, size_t len);

/**
 * kvm_trace_hypercall_record() - decode a raw hypercall record
 * @h: result
 * @record: as for kvm_trace_vmexit_record()
 * @size: as for kvm_trace_vmexit_record()
 *
 * Return: as kvm_trace_vmexit_record().
 */
bool kvm_trace_hypercall_record(struct kvm_trace_hypercall *h, const void *record, size_t size);

/**
 * kvm_trace_hypercall_text() - the line of a hypercall record
 * @h: decoded record
 * @pid: as for kvm_trace_vmexit_text()
 * @buf: as for kvm_trace_vmexit_text()
 * @size: as for kvm_trace_vmexit_text()
 *
 * Return: as kvm_trace_vmexit_text().
 */
size_t kvm_trace_hypercall_text(const struct kvm_trace_hypercall *h, __u32 pid,
				char *buf, size_t size);

/**
 * kvm_trace_hypercall_sub_tail() - read the tail of a hypercall_sub record
 * @s: record whose fixed fields are set, @s->nr from nr, and whose other
 *     fields are 0
 * @tail: the tail's bytes, of any alignment
 * @len: how many there are
 *
 * As kvm_trace_hypercall_tail(). Words that only hypercall records have are
 * stepped over like those that are not known.
 */
void kvm_trace_hypercall_sub_tail(struct kvm_trace_hypercall_sub *s, const void *tail, size_t len);

/**
 * kvm_trace_hypercall_sub_record() - decode a raw hypercall_sub record
 * @s: result
 * @record: as for kvm_trace_vmexit_record()
 * @size: as for kvm_trace_vmexit_record()
 *
 * Return: as kvm_trace_vmexit_record().
 */
bool kvm_trace_hypercall_sub_record(struct kvm_trace_hypercall_sub *s, const void *record,
				    size_t size);

/**
 * kvm_trace_hypercall_sub_text() - the line of a hypercall_sub record
 * @s: decoded record
 * @pid: as for kvm_trace_vmexit_text()
 * @buf: as for kvm_trace_vmexit_text()
 * @size: as for kvm_trace_vmexit_text()
 *
 * Return: as kvm_trace_vmexit_text().
 */
size_t kvm_trace_hypercall_sub_text(const struct kvm_trace_hypercall_sub *s, __u32 pid,
				    char *buf, size_t size);

/**
 * kvm_trace_vcpu_record() - decode a raw vcpu record
 * @c: result; its strings point into @record
 * @record: as for kvm_trace_vmexit_record()
 * @size: as for kvm_trace_vmexit_record()
 *
 * Return: as kvm_trace_vmexit_record().
 */
bool kvm_trace_vcpu_record(struct kvm_trace_vcpu *c, const void *record, size_t size);

/**
 * kvm_trace_vcpu_text() - the line of a vcpu record
 * @c: decoded record
 * @buf: as for kvm_trace_vmexit_text()
 * @size: as for kvm_trace_vmexit_text()
 *
 * The ratio has nine decimals, cut off, not rounded; it is in hex, as stored,
 * if the ISA and so its format is not known. Control characters in
 * names are shown as '?'.
 *
 * Return: as kvm_trace_vmexit_text().
 */
size_t kvm_trace_vcpu_text(const struct kvm_trace_vcpu *c, char *buf, size_t size);

/**
 * kvm_trace_lost_record() - decode a raw lost record
 * @l: result
 * @record: as for kvm_trace_vmexit_record()
 * @size: as for kvm_trace_vmexit_record()
 *
 * Return: as kvm_trace_vmexit_record().
 */
bool kvm_trace_lost_record(struct kvm_trace_lost *l, const void *record, size_t size);

/**
 * kvm_trace_lost_text() - the line of a lost record
 * @l: decoded record
 * @pid: as for kvm_trace_vmexit_text()
 * @buf: as for kvm_trace_vmexit_text()
 * @size: as for kvm_trace_vmexit_text()
 *
 * Return: as kvm_trace_vmexit_text().
 */
size_t kvm_trace_lost_text(const struct kvm_trace_lost *l, __u32 pid, char *buf, size_t size);

/**
 * kvm_trace_time_text() - a length of time as people read it
 * @ns: nanoseconds
 * @buf: as for kvm_trace_vmexit_text()
 * @size: as for kvm_trace_vmexit_text()
 *
 * Below 1000 ns the number is exact and has no decimals ("999ns"). Above, it
 * is rounded to the nearest hundredth of us, ms or s, a half upwards. The unit
 * is the largest in which the rounded number is at least 1: 999994 ns are
 * "999.99us", 999995 ns are "1.00ms". There is no unit above the second.
 *
 * Return: as kvm_trace_vmexit_text().
 */
size_t kvm_trace_time_text(__u64 ns, char *buf, size_t size);

/**
 * kvm_trace_reason_name() - name of an exit reason
 * @isa: KVM_TRACE_ISA_*
 * @code: SVM's 64-bit exit code, or VMX's basic exit reason
 *
 * Return: the name, or NULL if the code is not known.
 */
const char *kvm_trace_reason_name(unsigned int isa, __u64 code);

/**
 * kvm_trace_class_name() - name of a class of exits
 * @class: KVM_TRACE_CLASS_*
 *
 * Return: the name, or NULL if the class is not known.
 */
const char *kvm_trace_class_name(unsigned int class);

/**
 * kvm_trace_msr_name() - name of an MSR
 * @index: what ECX of RDMSR and WRMSR is
 *
 * Return: the name, or NULL if the MSR is none of the well-known ones.
 */
const char *kvm_trace_msr_name(__u32 index);

/**
 * kvm_trace_exception_name() - name of an exception
 * @vector: its vector
 *
 * Return: the name ("GP"), or NULL if the vector is none of an exception.
 */
const char *kvm_trace_exception_name(unsigned int vector);

/**
 * kvm_trace_user_exit_name() - name of a reason to return to user space
 * @reason: KVM_EXIT_* of uapi linux/kvm.h
 *
 * Return: the name ("MMIO"), or NULL if the reason is not known.
 */
const char *kvm_trace_user_exit_name(unsigned int reason);

/**
 * kvm_trace_abi_name() - name of an ABI of hypercalls
 * @abi: KVM_TRACE_ABI_*
 *
 * Return: the name ("Xen"), or NULL if the ABI is not known.
 */
const char *kvm_trace_abi_name(unsigned int abi);

/**
 * kvm_trace_call_name() - name of a hypercall
 * @abi: KVM_TRACE_ABI_*
 * @nr: its number, of Hyper-V the call code
 *
 * Return: the name ("sched_op"), or NULL if the number is in no table.
 */
const char *kvm_trace_call_name(unsigned int abi, __u64 nr);

#endif /* _KVM_TRACE_DECODE_H */
