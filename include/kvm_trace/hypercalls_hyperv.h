/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hyper-V's hypercalls, as include/kvm_trace/hypercalls.h says. Call codes and
 * their input are those of the Hyper-V Top-Level Functional Specification
 * (TLFS) and of Linux's hyperv headers; names are the TLFS's without HvCall, of
 * extended calls with Ext instead of HvExtCall.
 */
#ifndef _KVM_TRACE_HYPERCALLS_HYPERV_H
#define _KVM_TRACE_HYPERCALLS_HYPERV_H

#include <kvm_trace/hypercalls.h>

/*
 * The arguments of a fast call are the first and the second 8 bytes of its input.
 * Where these have more than one part, the name is that of the lowest. Of calls
 * whose input none of those sources describes, they are called a0 and a1.
 */
#define KVM_TRACE_HYPERV_CALLS(X, A)							\
	X(0x0001, SwitchVirtualAddressSpace, 0, A(VALUE, "address_space"))		\
	X(0x0002, FlushVirtualAddressSpace, 1, A(VALUE, "address_space"),		\
	  A(FLAGS, "flags"))								\
	X(0x0003, FlushVirtualAddressList, 1, A(VALUE, "address_space"),		\
	  A(FLAGS, "flags"))								\
	X(0x0004, GetLogicalProcessorRunTime, 0, A(ID, "lp_index"))			\
	X(0x0008, NotifyLongSpinWait, 0, A(COUNT, "spins"))				\
	X(0x000b, SendSyntheticClusterIpi, 0, A(VALUE, "vector"),			\
	  A(MASK, "vps"))								\
	X(0x000c, ModifyVtlProtectionMask, 1, A(VALUE, "partition_id"),			\
	  A(FLAGS, "map_flags"))							\
	X(0x000d, EnablePartitionVtl, 0, A(VALUE, "partition_id"),			\
	  A(VALUE, "target_vtl"))							\
	X(0x000e, DisablePartitionVtl, 0, A(VALUE, "a0"), A(VALUE, "a1"))		\
	X(0x000f, EnableVpVtl, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x0010, DisableVpVtl, 0, A(VALUE, "a0"), A(VALUE, "a1"))			\
	X(0x0011, VtlCall, 0)								\
	X(0x0012, VtlReturn, 0)								\
	X(0x0013, FlushVirtualAddressSpaceEx, 1, A(VALUE, "address_space"),		\
	  A(FLAGS, "flags"))								\
	X(0x0014, FlushVirtualAddressListEx, 1, A(VALUE, "address_space"),		\
	  A(FLAGS, "flags"))								\
	X(0x0015, SendSyntheticClusterIpiEx, 1, A(VALUE, "vector"),			\
	  A(VALUE, "set_format"))							\
	X(0x0040, CreatePartition, 1, A(VALUE, "flags"),				\
	  A(VALUE, "domain_id"))							\
	X(0x0041, InitializePartition, 0, A(VALUE, "partition_id"))			\
	X(0x0042, FinalizePartition, 0, A(VALUE, "partition_id"))			\
	X(0x0043, DeletePartition, 0, A(VALUE, "partition_id"))				\
	X(0x0044, GetPartitionProperty, 0, A(VALUE, "partition_id"),			\
	  A(VALUE, "property"))								\
	X(0x0045, SetPartitionProperty, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "property"))								\
	X(0x0046, GetPartitionId, 0)							\
	X(0x0048, DepositMemory, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "gpa_page"))								\
	X(0x0049, WithdrawMemory, 0, A(VALUE, "partition_id"),				\
	  A(VALUE, "domain_id"))							\
	X(0x004b, MapGpaPages, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "gpa_page"))								\
	X(0x004c, UnmapGpaPages, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "gpa_page"))								\
	X(0x004d, InstallIntercept, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "access_type"))							\
	X(0x004e, CreateVp, 1, A(VALUE, "partition_id"), A(VALUE, "vp_index"))		\
	X(0x004f, DeleteVp, 0, A(VALUE, "partition_id"), A(VALUE, "vp_index"))		\
	X(0x0050, GetVpRegisters, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x0051, SetVpRegisters, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x0052, TranslateVirtualAddress, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x0056, ClearVirtualInterrupt, 0, A(VALUE, "a0"), A(VALUE, "a1"))		\
	X(0x0058, DeletePort, 0, A(VALUE, "partition_id"),				\
	  A(VALUE, "port_id"))								\
	X(0x005b, DisconnectPort, 0, A(VALUE, "partition_id"),				\
	  A(VALUE, "connection_id"))							\
	X(0x005c, PostMessage, 1, A(VALUE, "connection_id"),				\
	  A(VALUE, "message_type"))							\
	X(0x005d, SignalEvent, 0, A(VALUE, "connection_id"))				\
	X(0x0069, PostDebugData, 1, A(VALUE, "count"), A(VALUE, "data"))		\
	X(0x006a, RetrieveDebugData, 0, A(VALUE, "count"),				\
	  A(VALUE, "timeout"))								\
	X(0x006b, ResetDebugSession, 0, A(VALUE, "a0"), A(VALUE, "a1"))			\
	X(0x006c, MapStatsPage, 1, A(VALUE, "type"), A(VALUE, "identity"))		\
	X(0x006d, UnmapStatsPage, 1, A(VALUE, "type"), A(VALUE, "identity"))		\
	X(0x006f, SetSystemProperty, 1, A(VALUE, "property"),				\
	  A(VALUE, "value"))								\
	X(0x0071, OutputDebugCharacter, 0, A(VALUE, "a0"), A(VALUE, "a1"))		\
	X(0x0076, AddLogicalProcessor, 0, A(VALUE, "lp_index"),				\
	  A(VALUE, "domain_id"))							\
	X(0x007b, GetSystemProperty, 0, A(VALUE, "property"),				\
	  A(VALUE, "value"))								\
	X(0x007c, MapDeviceInterrupt, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "device_id"))							\
	X(0x007d, UnmapDeviceInterrupt, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "device_id"))							\
	X(0x007e, RetargetDeviceInterrupt, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "device_id"))							\
	X(0x0084, EnterSleepState, 0, A(VALUE, "sleep_state"))				\
	X(0x0087, NotifyPartitionEvent, 0, A(VALUE, "event"))				\
	X(0x008b, NotifyPortRingEmpty, 0, A(ID, "sint_index"))				\
	X(0x0091, RegisterInterceptResult, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x0094, AssertVirtualInterrupt, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "interrupt_type"))							\
	X(0x0095, CreatePort, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "port_id"))								\
	X(0x0096, ConnectPort, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "connection_id"))							\
	X(0x0099, StartVirtualProcessor, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x009a, GetVpIndexFromApicId, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "target_vtl"))							\
	X(0x00ac, TranslateVirtualAddressEx, 1, A(VALUE, "partition_id"),		\
	  A(VALUE, "vp_index"))								\
	X(0x00ad, CheckForIoIntercept, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x00af, FlushGuestPhysicalAddressSpace, 0, A(VALUE, "address_space"),		\
	  A(VALUE, "flags"))								\
	X(0x00b0, FlushGuestPhysicalAddressList, 1, A(VALUE, "address_space"),		\
	  A(VALUE, "flags"))								\
	X(0x00c0, SignalEventDirect, 0, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x00c1, PostMessageDirect, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x00c2, DispatchVp, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x00c9, GetGpaPagesAccessStates, 1, A(VALUE, "partition_id"),			\
	  A(FLAGS, "flags"))								\
	X(0x00d4, CheckSparseGpaPageVtlAccess, 0, A(VALUE, "a0"),			\
	  A(VALUE, "a1"))								\
	X(0x00d7, AcquireSparseSpaPageHostAccess, 1, A(VALUE, "host_access"),		\
	  A(VALUE, "partition_id"))							\
	X(0x00d8, ReleaseSparseSpaPageHostAccess, 1, A(VALUE, "host_access"),		\
	  A(VALUE, "partition_id"))							\
	X(0x00d9, AcceptGpaPages, 0, A(VALUE, "a0"), A(VALUE, "a1"))			\
	X(0x00db, ModifySparseGpaPageHostVisibility, 1, A(VALUE, "partition_id"),	\
	  A(VALUE, "visibility"))							\
	X(0x00e1, MapVpStatePage, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x00e2, UnmapVpStatePage, 0, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x00e3, GetVpState, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x00e4, SetVpState, 1, A(VALUE, "partition_id"),				\
	  A(VALUE, "vp_index"))								\
	X(0x00f4, GetVpCpuidValues, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "vp_index"))								\
	X(0x0101, GetPartitionPropertyEx, 1, A(VALUE, "partition_id"),			\
	  A(VALUE, "property"))								\
	X(0x0106, MemoryMappedIoRead, 0, A(GPA, "gpa"), A(COUNT, "size"))		\
	X(0x0107, MemoryMappedIoWrite, 1, A(GPA, "gpa"), A(COUNT, "size"))		\
	X(0x010f, DisableHypervisorEx, 0, A(VALUE, "rip"), A(VALUE, "arg"))		\
	X(0x0112, PinGpaPageRanges, 0, A(VALUE, "a0"), A(VALUE, "a1"))			\
	X(0x0113, UnpinGpaPageRanges, 0, A(VALUE, "a0"), A(VALUE, "a1"))		\
	X(0x011c, QuerySparseGpaPageHostVisibility, 0, A(VALUE, "a0"),			\
	  A(VALUE, "a1"))								\
	X(0x0131, MapStatsPage2, 1, A(VALUE, "type"), A(VALUE, "identity"))		\
	X(0x8001, ExtQueryCapabilities, 0)						\
	X(0x8002, ExtGetBootZeroedMemory, 0)						\
	X(0x8003, ExtMemoryHeatHint, 1, A(VALUE, "heat_type"),				\
	  A(VALUE, "first_range"))							\
	X(0x8004, ExtEpfSetup, 0, A(VALUE, "a0"), A(VALUE, "a1"))			\
	X(0x8006, ExtMemoryHeatHintAsync, 0, A(VALUE, "a0"), A(VALUE, "a1"))

#define KVM_TRACE_HYPERV_ARGS	2

#define KVM_TRACE_HYPERV_FLAGS(X)				\
	X(0x0002, 1, 0x1, "all_processors")			\
	X(0x0002, 1, 0x2, "all_address_spaces")			\
	X(0x0002, 1, 0x4, "non_global_only")			\
	X(0x0002, 1, 0x8, "extended_ranges")			\
	X(0x0002, 6, 0x1, "all_processors")			\
	X(0x0002, 6, 0x2, "all_address_spaces")			\
	X(0x0002, 6, 0x4, "non_global_only")			\
	X(0x0002, 6, 0x8, "extended_ranges")			\
	X(0x0003, 1, 0x1, "all_processors")			\
	X(0x0003, 1, 0x2, "all_address_spaces")			\
	X(0x0003, 1, 0x4, "non_global_only")			\
	X(0x0003, 1, 0x8, "extended_ranges")			\
	X(0x0003, 6, 0x1, "all_processors")			\
	X(0x0003, 6, 0x2, "all_address_spaces")			\
	X(0x0003, 6, 0x4, "non_global_only")			\
	X(0x0003, 6, 0x8, "extended_ranges")			\
	X(0x000c, 1, 0x1, "readable")				\
	X(0x000c, 1, 0x2, "writable")				\
	X(0x000c, 1, 0x4, "kernel_executable")			\
	X(0x000c, 1, 0x8, "user_executable")			\
	X(0x000c, 6, 0x1, "readable")				\
	X(0x000c, 6, 0x2, "writable")				\
	X(0x000c, 6, 0x4, "kernel_executable")			\
	X(0x000c, 6, 0x8, "user_executable")			\
	X(0x000d, 7, 0x1, "mbec")				\
	X(0x0013, 1, 0x1, "all_processors")			\
	X(0x0013, 1, 0x2, "all_address_spaces")			\
	X(0x0013, 1, 0x4, "non_global_only")			\
	X(0x0013, 1, 0x8, "extended_ranges")			\
	X(0x0013, 6, 0x1, "all_processors")			\
	X(0x0013, 6, 0x2, "all_address_spaces")			\
	X(0x0013, 6, 0x4, "non_global_only")			\
	X(0x0013, 6, 0x8, "extended_ranges")			\
	X(0x0014, 1, 0x1, "all_processors")			\
	X(0x0014, 1, 0x2, "all_address_spaces")			\
	X(0x0014, 1, 0x4, "non_global_only")			\
	X(0x0014, 1, 0x8, "extended_ranges")			\
	X(0x0014, 6, 0x1, "all_processors")			\
	X(0x0014, 6, 0x2, "all_address_spaces")			\
	X(0x0014, 6, 0x4, "non_global_only")			\
	X(0x0014, 6, 0x8, "extended_ranges")			\
	X(0x004b, 7, 0x1, "readable")				\
	X(0x004b, 7, 0x2, "writable")				\
	X(0x004b, 7, 0x4, "kernel_executable")			\
	X(0x004b, 7, 0x8, "user_executable")			\
	X(0x004b, 7, 0x8000, "adjustable")			\
	X(0x004b, 7, 0x10000, "no_access")			\
	X(0x004b, 7, 0x200000, "not_cached")			\
	X(0x004b, 7, 0x80000000, "large_page")			\
	X(0x004c, 7, 0x2, "large_page")				\
	X(0x00c2, 7, 0x01, "clear_intercept_suspend")		\
	X(0x00c2, 7, 0x02, "enable_caller_interrupts")		\
	X(0x00c2, 7, 0x04, "set_caller_spec_ctrl")		\
	X(0x00c2, 7, 0x08, "skip_vp_spec_flush")		\
	X(0x00c2, 7, 0x10, "skip_caller_spec_flush")		\
	X(0x00c2, 7, 0x20, "skip_caller_user_spec_flush")	\
	X(0x00c2, 7, 0x40, "scan_interrupt_injection")		\
	X(0x00c9, 1, 0x1, "clear_accessed")			\
	X(0x00c9, 1, 0x2, "set_accessed")			\
	X(0x00c9, 1, 0x4, "clear_dirty")			\
	X(0x00c9, 1, 0x8, "set_dirty")				\
	X(0x00c9, 6, 0x1, "clear_accessed")			\
	X(0x00c9, 6, 0x2, "set_accessed")			\
	X(0x00c9, 6, 0x4, "clear_dirty")			\
	X(0x00c9, 6, 0x8, "set_dirty")				\
	X(0x00d7, 7, 0x1, "make_exclusive")			\
	X(0x00d7, 7, 0x2, "make_shared")			\
	X(0x00d7, 7, 0x4, "large_page")				\
	X(0x00d7, 7, 0x8, "huge_page")				\
	X(0x00d8, 7, 0x1, "make_exclusive")			\
	X(0x00d8, 7, 0x2, "make_shared")			\
	X(0x00d8, 7, 0x4, "large_page")				\
	X(0x00d8, 7, 0x8, "huge_page")

/* Input in memory is always that of a 64-bit machine: both offsets are equal. */
#define KVM_TRACE_HYPERV_FIELDS(X)				\
	X(0x0001, -1, 0, 6, 0, 0, 8, VALUE, "address_space")	\
	X(0x0002, -1, 0, 6, 8, 8, 8, FLAGS, "flags")		\
	X(0x0002, -1, 0, 7, 16, 16, 8, MASK, "vps")		\
	X(0x0003, -1, 0, 6, 8, 8, 8, FLAGS, "flags")		\
	X(0x0003, -1, 0, 7, 16, 16, 8, MASK, "vps")		\
	X(0x0004, -1, 0, 6, 0, 0, 4, ID, "lp_index")		\
	X(0x0008, -1, 0, 6, 0, 0, 4, COUNT, "spins")		\
	X(0x000b, -1, 0, 6, 0, 0, 4, VALUE, "vector")		\
	X(0x000b, -1, 0, 7, 8, 8, 8, MASK, "vps")		\
	X(0x000c, -1, 0, 6, 8, 8, 4, FLAGS, "map_flags")	\
	X(0x000c, -1, 0, 7, 12, 12, 1, VALUE, "target_vtl")	\
	X(0x000d, -1, 0, 6, 8, 8, 1, VALUE, "target_vtl")	\
	X(0x000d, -1, 0, 7, 9, 9, 1, FLAGS, "flags")		\
	X(0x000f, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x000f, -1, 0, 7, 12, 12, 1, VALUE, "target_vtl")	\
	X(0x0013, -1, 0, 6, 8, 8, 8, FLAGS, "flags")		\
	X(0x0013, -1, 0, 7, 24, 24, 8, MASK, "banks")		\
	X(0x0014, -1, 0, 6, 8, 8, 8, FLAGS, "flags")		\
	X(0x0014, -1, 0, 7, 24, 24, 8, MASK, "banks")		\
	X(0x0015, -1, 0, 6, 0, 0, 4, VALUE, "vector")		\
	X(0x0015, -1, 0, 7, 16, 16, 8, MASK, "banks")		\
	X(0x0040, -1, 0, 6, 0, 0, 8, VALUE, "flags")		\
	X(0x0040, -1, 0, 7, 8, 8, 4, ID, "domain_id")		\
	X(0x0041, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0042, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0043, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0044, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0044, -1, 0, 7, 8, 8, 4, VALUE, "property")		\
	X(0x0045, -1, 0, 6, 8, 8, 4, VALUE, "property")		\
	X(0x0045, -1, 0, 7, 16, 16, 8, VALUE, "value")		\
	X(0x0048, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0049, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0049, -1, 0, 7, 8, 8, 4, ID, "domain_id")		\
	X(0x004b, -1, 0, 6, 8, 8, 8, VALUE, "gpa_page")		\
	X(0x004b, -1, 0, 7, 16, 16, 4, FLAGS, "map_flags")	\
	X(0x004c, -1, 0, 6, 8, 8, 8, VALUE, "gpa_page")		\
	X(0x004c, -1, 0, 7, 16, 16, 4, FLAGS, "unmap_flags")	\
	X(0x004d, -1, 0, 6, 8, 8, 4, VALUE, "access_type")	\
	X(0x004d, -1, 0, 7, 12, 12, 4, VALUE, "intercept_type")	\
	X(0x004e, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x004e, -1, 0, 7, 8, 8, 4, ID, "vp_index")		\
	X(0x004f, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x004f, -1, 0, 7, 8, 8, 4, ID, "vp_index")		\
	X(0x0050, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x0050, -1, 0, 7, 16, 16, 4, VALUE, "first_register")	\
	X(0x0051, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x0051, -1, 0, 7, 16, 16, 4, VALUE, "first_register")	\
	X(0x0052, -1, 0, 6, 16, 16, 8, VALUE, "control_flags")	\
	X(0x0052, -1, 0, 7, 24, 24, 8, VALUE, "gva_page")	\
	X(0x0058, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x0058, -1, 0, 7, 8, 8, 4, ID, "port_id")		\
	X(0x005b, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x005b, -1, 0, 7, 8, 8, 4, ID, "connection_id")	\
	X(0x005c, -1, 0, 6, 0, 0, 4, ID, "connection_id")	\
	X(0x005c, -1, 0, 7, 12, 12, 4, COUNT, "payload_size")	\
	X(0x005d, -1, 0, 6, 0, 0, 4, ID, "connection_id")	\
	X(0x005d, -1, 0, 7, 4, 4, 2, ID, "flag_number")		\
	X(0x0069, -1, 0, 6, 0, 0, 4, COUNT, "count")		\
	X(0x0069, -1, 0, 7, 4, 4, 4, VALUE, "options")		\
	X(0x006a, -1, 0, 6, 0, 0, 4, COUNT, "count")		\
	X(0x006a, -1, 0, 7, 8, 8, 8, VALUE, "timeout")		\
	X(0x006c, -1, 0, 6, 0, 0, 4, VALUE, "type")		\
	X(0x006c, -1, 0, 7, 8, 8, 8, VALUE, "identity")		\
	X(0x006d, -1, 0, 6, 0, 0, 4, VALUE, "type")		\
	X(0x006d, -1, 0, 7, 8, 8, 8, VALUE, "identity")		\
	X(0x006f, -1, 0, 6, 0, 0, 4, VALUE, "property")		\
	X(0x006f, -1, 0, 7, 8, 8, 8, VALUE, "value")		\
	X(0x0076, -1, 0, 6, 0, 0, 4, ID, "lp_index")		\
	X(0x0076, -1, 0, 7, 4, 4, 4, ID, "apic_id")		\
	X(0x007b, -1, 0, 6, 0, 0, 4, VALUE, "property")		\
	X(0x007b, -1, 0, 7, 8, 8, 8, VALUE, "value")		\
	X(0x007c, -1, 0, 6, 8, 8, 8, VALUE, "device_id")	\
	X(0x007c, -1, 0, 7, 56, 56, 4, VALUE, "vector")		\
	X(0x007d, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x007d, -1, 0, 7, 8, 8, 8, VALUE, "device_id")	\
	X(0x007e, -1, 0, 6, 8, 8, 8, VALUE, "device_id")	\
	X(0x007e, -1, 0, 7, 40, 40, 4, VALUE, "vector")		\
	X(0x0084, -1, 0, 6, 0, 0, 4, VALUE, "sleep_state")	\
	X(0x0087, -1, 0, 6, 0, 0, 4, VALUE, "event")		\
	X(0x0087, -1, 0, 7, 4, 4, 4, VALUE, "input")		\
	X(0x008b, -1, 0, 6, 0, 0, 4, ID, "sint_index")		\
	X(0x0091, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x0091, -1, 0, 7, 12, 12, 4, VALUE, "intercept_type")	\
	X(0x0094, -1, 0, 6, 16, 16, 8, VALUE, "dest_addr")	\
	X(0x0094, -1, 0, 7, 24, 24, 4, VALUE, "vector")		\
	X(0x0095, -1, 0, 6, 8, 8, 4, ID, "port_id")		\
	X(0x0095, -1, 0, 7, 24, 24, 4, VALUE, "port_type")	\
	X(0x0096, -1, 0, 6, 8, 8, 4, ID, "connection_id")	\
	X(0x0096, -1, 0, 7, 24, 24, 4, ID, "port_id")		\
	X(0x0099, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x0099, -1, 0, 7, 12, 12, 1, VALUE, "target_vtl")	\
	X(0x009a, -1, 0, 6, 8, 8, 1, VALUE, "target_vtl")	\
	X(0x009a, -1, 0, 7, 16, 16, 4, ID, "first_apic_id")	\
	X(0x00ac, -1, 0, 6, 16, 16, 8, VALUE, "control_flags")	\
	X(0x00ac, -1, 0, 7, 24, 24, 8, VALUE, "gva_page")	\
	X(0x00ad, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00ad, -1, 0, 7, 14, 14, 2, VALUE, "port")		\
	X(0x00af, -1, 0, 6, 0, 0, 8, VALUE, "address_space")	\
	X(0x00af, -1, 0, 7, 8, 8, 8, VALUE, "flags")		\
	X(0x00b0, -1, 0, 6, 0, 0, 8, VALUE, "address_space")	\
	X(0x00b0, -1, 0, 7, 8, 8, 8, VALUE, "flags")		\
	X(0x00c0, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00c0, -1, 0, 7, 14, 14, 2, ID, "flag_number")	\
	X(0x00c1, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00c1, -1, 0, 7, 13, 13, 1, ID, "sint_index")	\
	X(0x00c2, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00c2, -1, 0, 7, 12, 12, 4, FLAGS, "flags")		\
	X(0x00c9, -1, 0, 6, 8, 8, 8, FLAGS, "flags")		\
	X(0x00c9, -1, 0, 7, 16, 16, 8, VALUE, "gpa_page")	\
	X(0x00d7, -1, 0, 6, 0, 0, 4, VALUE, "host_access")	\
	X(0x00d7, -1, 0, 7, 4, 4, 4, FLAGS, "flags")		\
	X(0x00d8, -1, 0, 6, 0, 0, 4, VALUE, "host_access")	\
	X(0x00d8, -1, 0, 7, 4, 4, 4, FLAGS, "flags")		\
	X(0x00db, -1, 0, 6, 0, 0, 8, VALUE, "partition_id")	\
	X(0x00db, -1, 0, 7, 8, 8, 4, VALUE, "visibility")	\
	X(0x00e1, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00e1, -1, 0, 7, 12, 12, 2, VALUE, "type")		\
	X(0x00e2, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00e2, -1, 0, 7, 12, 12, 2, VALUE, "type")		\
	X(0x00e3, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00e3, -1, 0, 7, 16, 16, 4, VALUE, "type")		\
	X(0x00e4, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00e4, -1, 0, 7, 16, 16, 4, VALUE, "type")		\
	X(0x00f4, -1, 0, 6, 8, 8, 4, ID, "vp_index")		\
	X(0x00f4, -1, 0, 7, 12, 12, 4, VALUE, "flags")		\
	X(0x0101, -1, 0, 6, 8, 8, 4, VALUE, "property")		\
	X(0x0101, -1, 0, 7, 16, 16, 8, VALUE, "arg")		\
	X(0x0106, -1, 0, 6, 0, 0, 8, GPA, "gpa")		\
	X(0x0106, -1, 0, 7, 8, 8, 4, COUNT, "size")		\
	X(0x0107, -1, 0, 6, 0, 0, 8, GPA, "gpa")		\
	X(0x0107, -1, 0, 7, 8, 8, 4, COUNT, "size")		\
	X(0x010f, -1, 0, 6, 0, 0, 8, VALUE, "rip")		\
	X(0x010f, -1, 0, 7, 8, 8, 8, VALUE, "arg")		\
	X(0x0131, -1, 0, 6, 0, 0, 4, VALUE, "type")		\
	X(0x0131, -1, 0, 7, 8, 8, 8, VALUE, "identity")		\
	X(0x8003, -1, 0, 6, 0, 0, 8, VALUE, "heat_type")	\
	X(0x8003, -1, 0, 7, 8, 8, 8, VALUE, "first_range")

/*
 * Lists in the input: X(call code, offset of a sparse set of virtual processors
 * or 0, offset of the list of addresses or 0). A set is {format, valid bank mask,
 * banks}, and has as many banks as the variable header has units; a list behind
 * it starts where its banks end, and its offset is that for no banks.
 */
#define KVM_TRACE_HYPERV_LISTS(X)	\
	X(0x0003, 0, 24)		\
	X(0x0013, 16, 0)		\
	X(0x0014, 16, 32)		\
	X(0x0015, 8, 0)

#endif /* _KVM_TRACE_HYPERCALLS_HYPERV_H */
