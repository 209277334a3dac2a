/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xen's hypercalls, as include/kvm_trace/hypercalls.h says. Numbers, arguments
 * and offsets are those of Xen's public headers (xen/include/public), of which
 * Linux has a part in include/xen/interface; which widths an argument has is in
 * Xen's xen/include/hypercall-defs.c.
 */
#ifndef _KVM_TRACE_HYPERCALLS_XEN_H
#define _KVM_TRACE_HYPERCALLS_XEN_H

#include <kvm_trace/hypercalls.h>

/* mca is arch_0, which x86 has for it; arch_1 to arch_7 are not described. */
#define KVM_TRACE_XEN_CALLS(X, A)							\
	X(0, set_trap_table, 0, A(PTR, "traps"))					\
	X(1, mmu_update, 0, A(PTR, "ureqs"), A(COUNT, "count"), A(PTR, "pdone"),	\
	  A(ID, "foreigndom"))								\
	X(2, set_gdt, 0, A(PTR, "frame_list"), A(COUNT, "entries"))			\
	X(3, stack_switch, 0, A(VALUE, "ss"), A(GVA, "esp"))				\
	X(4, set_callbacks, 64, A(GVA, "event_address"),				\
	  A(GVA, "failsafe_address"), A(GVA, "syscall_address"))			\
	X(4, set_callbacks, 32, A(VALUE, "event_selector"),				\
	  A(GVA, "event_address"), A(VALUE, "failsafe_selector"),			\
	  A(GVA, "failsafe_address"))							\
	X(5, fpu_taskswitch, 0, A(VALUE, "set"))					\
	X(6, sched_op_compat, 0, A(SUB, "cmd"), A(VALUE, "arg"))			\
	X(7, platform_op, 0, A(PTR, "op"))						\
	X(8, set_debugreg, 0, A(ID, "reg"), A(VALUE, "value"))				\
	X(9, get_debugreg, 0, A(ID, "reg"))						\
	X(10, update_descriptor, 64, A(GPA, "gaddr"), A(VALUE, "desc"))			\
	X(10, update_descriptor, 32, A(VALUE, "pa_lo"), A(VALUE, "pa_hi"),		\
	  A(VALUE, "desc_lo"), A(VALUE, "desc_hi"))					\
	X(12, memory_op, 0, A(SUB, "cmd"), A(PTR, "arg"))				\
	X(13, multicall, 0, A(PTR, "call_list"), A(COUNT, "nr_calls"))			\
	X(14, update_va_mapping, 64, A(GVA, "va"), A(VALUE, "val"),			\
	  A(FLAGS, "flags"))								\
	X(14, update_va_mapping, 32, A(GVA, "va"), A(VALUE, "val_lo"),			\
	  A(VALUE, "val_hi"), A(FLAGS, "flags"))					\
	X(15, set_timer_op, 64, A(NS, "timeout"))					\
	X(15, set_timer_op, 32, A(VALUE, "timeout_lo"),					\
	  A(VALUE, "timeout_hi"))							\
	X(16, event_channel_op_compat, 0, A(PTR, "op"))					\
	X(17, xen_version, 0, A(SUB, "cmd"), A(PTR, "arg"))				\
	X(18, console_io, 0, A(SUB, "cmd"), A(COUNT, "count"),				\
	  A(PTR, "buffer"))								\
	X(19, physdev_op_compat, 0, A(PTR, "op"))					\
	X(20, grant_table_op, 0, A(SUB, "cmd"), A(PTR, "uop"),				\
	  A(COUNT, "count"))								\
	X(21, vm_assist, 0, A(SUB, "cmd"), A(ID, "type"))				\
	X(22, update_va_mapping_otherdomain, 64, A(GVA, "va"), A(VALUE, "val"),		\
	  A(FLAGS, "flags"), A(ID, "domid"))						\
	X(22, update_va_mapping_otherdomain, 32, A(GVA, "va"),				\
	  A(VALUE, "val_lo"), A(VALUE, "val_hi"), A(FLAGS, "flags"),			\
	  A(ID, "domid"))								\
	X(23, iret, 0)									\
	X(24, vcpu_op, 0, A(SUB, "cmd"), A(ID, "vcpuid"),				\
	  A(PTR, "extra_args"))								\
	X(25, set_segment_base, 0, A(SUB, "which"), A(VALUE, "base"))			\
	X(26, mmuext_op, 0, A(PTR, "uops"), A(COUNT, "count"), A(PTR, "pdone"),		\
	  A(ID, "foreigndom"))								\
	X(27, xsm_op, 0, A(PTR, "op"))							\
	X(28, nmi_op, 0, A(SUB, "cmd"), A(PTR, "arg"))					\
	X(29, sched_op, 0, A(SUB, "cmd"), A(PTR, "arg"))				\
	X(30, callback_op, 0, A(SUB, "cmd"), A(PTR, "arg"))				\
	X(31, xenoprof_op, 0, A(SUB, "op"), A(PTR, "arg"))				\
	X(32, event_channel_op, 0, A(SUB, "cmd"), A(PTR, "arg"))			\
	X(33, physdev_op, 0, A(SUB, "cmd"), A(PTR, "arg"))				\
	X(34, hvm_op, 0, A(SUB, "op"), A(PTR, "arg"))					\
	X(35, sysctl, 0, A(PTR, "op"))							\
	X(36, domctl, 0, A(PTR, "op"))							\
	X(37, kexec_op, 0, A(SUB, "op"), A(PTR, "uarg"))				\
	X(38, tmem_op, 0, A(PTR, "op"))							\
	X(39, argo_op, 0, A(SUB, "cmd"), A(PTR, "arg1"), A(PTR, "arg2"),		\
	  A(VALUE, "arg3"), A(VALUE, "arg4"))						\
	X(40, xenpmu_op, 0, A(SUB, "op"), A(PTR, "arg"))				\
	X(41, dm_op, 0, A(ID, "domid"), A(COUNT, "nr_bufs"), A(PTR, "bufs"))		\
	X(42, hypfs_op, 0, A(SUB, "cmd"), A(PTR, "arg1"), A(COUNT, "arg2"),		\
	  A(PTR, "arg3"), A(COUNT, "arg4"))						\
	X(48, mca, 0, A(PTR, "u_xen_mc"))						\
	X(49, arch_1, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))				\
	X(50, arch_2, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))				\
	X(51, arch_3, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))				\
	X(52, arch_4, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))				\
	X(53, arch_5, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))				\
	X(54, arch_6, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))				\
	X(55, arch_7, 0, A(VALUE, "a0"), A(VALUE, "a1"), A(VALUE, "a2"),		\
	  A(VALUE, "a3"), A(VALUE, "a4"), A(VALUE, "a5"))

#define KVM_TRACE_XEN_ARGS	6
/* The call whose first argument is a list of calls, the second their number. */
#define KVM_TRACE_XEN_MULTICALL	13

#define KVM_TRACE_XEN_SUBS(X)				\
	X(6, 0, yield)					\
	X(6, 1, block)					\
	X(6, 2, shutdown)				\
	X(7, 17, settime32)				\
	X(7, 31, add_memtype)				\
	X(7, 32, del_memtype)				\
	X(7, 33, read_memtype)				\
	X(7, 35, microcode_update)			\
	X(7, 39, platform_quirk)			\
	X(7, 48, get_cpu_version)			\
	X(7, 49, efi_runtime_call)			\
	X(7, 50, firmware_info)				\
	X(7, 51, enter_acpi_sleep)			\
	X(7, 52, change_freq)				\
	X(7, 53, getidletime)				\
	X(7, 54, set_processor_pminfo)			\
	X(7, 55, get_cpuinfo)				\
	X(7, 56, cpu_online)				\
	X(7, 57, cpu_offline)				\
	X(7, 58, cpu_hotadd)				\
	X(7, 59, mem_hotadd)				\
	X(7, 60, core_parking)				\
	X(7, 61, resource_op)				\
	X(7, 62, settime64)				\
	X(7, 63, get_symbol)				\
	X(7, 64, get_dom0_console)			\
	X(12, 0, increase_reservation)			\
	X(12, 1, decrease_reservation)			\
	X(12, 2, maximum_ram_page)			\
	X(12, 3, current_reservation)			\
	X(12, 4, maximum_reservation)			\
	X(12, 5, machphys_mfn_list)			\
	X(12, 6, populate_physmap)			\
	X(12, 7, add_to_physmap)			\
	X(12, 9, memory_map)				\
	X(12, 10, machine_memory_map)			\
	X(12, 11, exchange)				\
	X(12, 12, machphys_mapping)			\
	X(12, 13, set_memory_map)			\
	X(12, 14, maximum_gpfn)				\
	X(12, 15, remove_from_physmap)			\
	X(12, 16, set_pod_target)			\
	X(12, 17, get_pod_target)			\
	X(12, 18, get_sharing_freed_pages)		\
	X(12, 19, get_sharing_shared_pages)		\
	X(12, 20, paging_op)				\
	X(12, 21, access_op)				\
	X(12, 22, sharing_op)				\
	X(12, 23, add_to_physmap_batch)			\
	X(12, 24, claim_pages)				\
	X(12, 25, machphys_compat_mfn_list)		\
	X(12, 26, get_vnumainfo)			\
	X(12, 27, reserved_device_memory_map)		\
	X(12, 28, acquire_resource)			\
	X(16, 0, bind_interdomain)			\
	X(16, 1, bind_virq)				\
	X(16, 2, bind_pirq)				\
	X(16, 3, close)					\
	X(16, 4, send)					\
	X(16, 5, status)				\
	X(16, 6, alloc_unbound)				\
	X(16, 7, bind_ipi)				\
	X(16, 8, bind_vcpu)				\
	X(16, 9, unmask)				\
	X(17, 0, version)				\
	X(17, 1, extraversion)				\
	X(17, 2, compile_info)				\
	X(17, 3, capabilities)				\
	X(17, 4, changeset)				\
	X(17, 5, platform_parameters)			\
	X(17, 6, get_features)				\
	X(17, 7, pagesize)				\
	X(17, 8, guest_handle)				\
	X(17, 9, commandline)				\
	X(17, 10, build_id)				\
	X(17, 11, extraversion2)			\
	X(17, 12, capabilities2)			\
	X(17, 13, changeset2)				\
	X(17, 14, commandline2)				\
	X(18, 0, write)					\
	X(18, 1, read)					\
	X(19, 4, irq_unmask_notify)			\
	X(19, 5, irq_status_query)			\
	X(19, 6, set_iopl)				\
	X(19, 7, set_iobitmap)				\
	X(19, 8, apic_read)				\
	X(19, 9, apic_write)				\
	X(19, 10, alloc_irq_vector)			\
	X(19, 11, free_irq_vector)			\
	X(20, 0, map_grant_ref)				\
	X(20, 1, unmap_grant_ref)			\
	X(20, 2, setup_table)				\
	X(20, 3, dump_table)				\
	X(20, 4, transfer)				\
	X(20, 5, copy)					\
	X(20, 6, query_size)				\
	X(20, 7, unmap_and_replace)			\
	X(20, 8, set_version)				\
	X(20, 9, get_status_frames)			\
	X(20, 10, get_version)				\
	X(20, 11, swap_grant_ref)			\
	X(20, 12, cache_flush)				\
	X(21, 0, enable)				\
	X(21, 1, disable)				\
	X(24, 0, initialise)				\
	X(24, 1, up)					\
	X(24, 2, down)					\
	X(24, 3, is_up)					\
	X(24, 4, get_runstate_info)			\
	X(24, 5, register_runstate_memory_area)		\
	X(24, 6, set_periodic_timer)			\
	X(24, 7, stop_periodic_timer)			\
	X(24, 8, set_singleshot_timer)			\
	X(24, 9, stop_singleshot_timer)			\
	X(24, 10, register_vcpu_info)			\
	X(24, 11, send_nmi)				\
	X(24, 12, get_physid)				\
	X(24, 13, register_vcpu_time_memory_area)	\
	X(24, 14, register_runstate_phys_area)		\
	X(24, 15, register_vcpu_time_phys_area)		\
	X(25, 0, fs)					\
	X(25, 1, gs_user)				\
	X(25, 2, gs_kernel)				\
	X(25, 3, gs_user_sel)				\
	X(28, 0, register_callback)			\
	X(28, 1, unregister_callback)			\
	X(29, 0, yield)					\
	X(29, 1, block)					\
	X(29, 2, shutdown)				\
	X(29, 3, poll)					\
	X(29, 4, remote_shutdown)			\
	X(29, 5, shutdown_code)				\
	X(29, 6, watchdog)				\
	X(29, 7, pin_override)				\
	X(30, 0, register)				\
	X(30, 1, unregister)				\
	X(31, 0, init)					\
	X(31, 1, reset_active_list)			\
	X(31, 2, reset_passive_list)			\
	X(31, 3, set_active)				\
	X(31, 4, set_passive)				\
	X(31, 5, reserve_counters)			\
	X(31, 6, counter)				\
	X(31, 7, setup_events)				\
	X(31, 8, enable_virq)				\
	X(31, 9, start)					\
	X(31, 10, stop)					\
	X(31, 11, disable_virq)				\
	X(31, 12, release_counters)			\
	X(31, 13, shutdown)				\
	X(31, 14, get_buffer)				\
	X(31, 15, set_backtrace)			\
	X(31, 16, get_ibs_caps)				\
	X(31, 17, ibs_counter)				\
	X(32, 0, bind_interdomain)			\
	X(32, 1, bind_virq)				\
	X(32, 2, bind_pirq)				\
	X(32, 3, close)					\
	X(32, 4, send)					\
	X(32, 5, status)				\
	X(32, 6, alloc_unbound)				\
	X(32, 7, bind_ipi)				\
	X(32, 8, bind_vcpu)				\
	X(32, 9, unmask)				\
	X(32, 10, reset)				\
	X(32, 11, init_control)				\
	X(32, 12, expand_array)				\
	X(32, 13, set_priority)				\
	X(33, 4, irq_unmask_notify)			\
	X(33, 5, irq_status_query)			\
	X(33, 6, set_iopl)				\
	X(33, 7, set_iobitmap)				\
	X(33, 8, apic_read)				\
	X(33, 9, apic_write)				\
	X(33, 10, alloc_irq_vector)			\
	X(33, 11, free_irq_vector)			\
	X(33, 12, eoi)					\
	X(33, 13, map_pirq)				\
	X(33, 14, unmap_pirq)				\
	X(33, 15, manage_pci_add)			\
	X(33, 16, manage_pci_remove)			\
	X(33, 17, pirq_eoi_gmfn_v1)			\
	X(33, 19, restore_msi)				\
	X(33, 20, manage_pci_add_ext)			\
	X(33, 21, setup_gsi)				\
	X(33, 22, get_nr_pirqs)				\
	X(33, 23, get_free_pirq)			\
	X(33, 24, pci_mmcfg_reserved)			\
	X(33, 25, pci_device_add)			\
	X(33, 26, pci_device_remove)			\
	X(33, 27, restore_msi_ext)			\
	X(33, 28, pirq_eoi_gmfn_v2)			\
	X(33, 29, dbgp_op)				\
	X(33, 30, prepare_msix)				\
	X(33, 31, release_msix)				\
	X(33, 32, pci_device_reset)			\
	X(34, 0, set_param)				\
	X(34, 1, get_param)				\
	X(34, 2, set_pci_intx_level)			\
	X(34, 3, set_isa_irq_level)			\
	X(34, 4, set_pci_link_route)			\
	X(34, 5, flush_tlbs)				\
	X(34, 9, pagetable_dying)			\
	X(34, 10, get_time)				\
	X(34, 11, xentrace)				\
	X(34, 12, set_mem_access)			\
	X(34, 13, get_mem_access)			\
	X(34, 15, get_mem_type)				\
	X(34, 23, set_evtchn_upcall_vector)		\
	X(34, 24, guest_request_vm_event)		\
	X(34, 25, altp2m)				\
	X(35, 1, readconsole)				\
	X(35, 2, tbuf_op)				\
	X(35, 3, physinfo)				\
	X(35, 4, sched_id)				\
	X(35, 5, perfc_op)				\
	X(35, 6, getdomaininfolist)			\
	X(35, 7, debug_keys)				\
	X(35, 8, getcpuinfo)				\
	X(35, 9, availheap)				\
	X(35, 10, get_pmstat)				\
	X(35, 11, cpu_hotplug)				\
	X(35, 12, pm_op)				\
	X(35, 14, page_offline_op)			\
	X(35, 15, lockprof_op)				\
	X(35, 16, cputopoinfo)				\
	X(35, 17, numainfo)				\
	X(35, 18, cpupool_op)				\
	X(35, 19, scheduler_op)				\
	X(35, 20, coverage_op)				\
	X(35, 21, psr_cmt_op)				\
	X(35, 22, pcitopoinfo)				\
	X(35, 23, psr_alloc)				\
	X(35, 25, get_cpu_levelling_caps)		\
	X(35, 26, get_cpu_featureset)			\
	X(35, 27, livepatch_op)				\
	X(35, 29, get_cpu_policy)			\
	X(36, 1, createdomain)				\
	X(36, 2, destroydomain)				\
	X(36, 3, pausedomain)				\
	X(36, 4, unpausedomain)				\
	X(36, 5, getdomaininfo)				\
	X(36, 9, setvcpuaffinity)			\
	X(36, 10, shadow_op)				\
	X(36, 11, max_mem)				\
	X(36, 12, setvcpucontext)			\
	X(36, 13, getvcpucontext)			\
	X(36, 14, getvcpuinfo)				\
	X(36, 15, max_vcpus)				\
	X(36, 16, scheduler_op)				\
	X(36, 17, setdomainhandle)			\
	X(36, 18, setdebugging)				\
	X(36, 19, irq_permission)			\
	X(36, 20, iomem_permission)			\
	X(36, 21, ioport_permission)			\
	X(36, 22, hypercall_init)			\
	X(36, 23, soft_reset_cont)			\
	X(36, 24, settimeoffset)			\
	X(36, 25, getvcpuaffinity)			\
	X(36, 26, real_mode_area)			\
	X(36, 27, resumedomain)				\
	X(36, 28, sendtrigger)				\
	X(36, 29, subscribe)				\
	X(36, 33, gethvmcontext)			\
	X(36, 34, sethvmcontext)			\
	X(36, 35, set_address_size)			\
	X(36, 36, get_address_size)			\
	X(36, 37, assign_device)			\
	X(36, 38, bind_pt_irq)				\
	X(36, 39, memory_mapping)			\
	X(36, 40, ioport_mapping)			\
	X(36, 42, set_ext_vcpucontext)			\
	X(36, 43, get_ext_vcpucontext)			\
	X(36, 44, set_opt_feature)			\
	X(36, 45, test_assign_device)			\
	X(36, 46, set_target)				\
	X(36, 47, deassign_device)			\
	X(36, 48, unbind_pt_irq)			\
	X(36, 50, get_device_group)			\
	X(36, 54, debug_op)				\
	X(36, 55, gethvmcontext_partial)		\
	X(36, 56, vm_event_op)				\
	X(36, 57, mem_sharing_op)			\
	X(36, 59, gettscinfo)				\
	X(36, 60, settscinfo)				\
	X(36, 61, getpageframeinfo3)			\
	X(36, 62, setvcpuextstate)			\
	X(36, 63, getvcpuextstate)			\
	X(36, 64, set_access_required)			\
	X(36, 65, audit_p2m)				\
	X(36, 66, set_virq_handler)			\
	X(36, 67, set_broken_page_p2m)			\
	X(36, 68, setnodeaffinity)			\
	X(36, 69, getnodeaffinity)			\
	X(36, 71, cacheflush)				\
	X(36, 72, get_vcpu_msrs)			\
	X(36, 73, set_vcpu_msrs)			\
	X(36, 74, setvnumainfo)				\
	X(36, 75, psr_cmt_op)				\
	X(36, 77, monitor_op)				\
	X(36, 78, psr_alloc)				\
	X(36, 79, soft_reset)				\
	X(36, 81, vuart_op)				\
	X(36, 82, get_cpu_policy)			\
	X(36, 83, set_cpu_policy)			\
	X(36, 84, vmtrace_op)				\
	X(36, 85, get_paging_mempool_size)		\
	X(36, 86, set_paging_mempool_size)		\
	X(36, 1000, gdbsx_guestmemio)			\
	X(36, 1001, gdbsx_pausevcpu)			\
	X(36, 1002, gdbsx_unpausevcpu)			\
	X(36, 1003, gdbsx_domstatus)			\
	X(37, 0, kexec)					\
	X(37, 1, kexec_load_v1)				\
	X(37, 2, kexec_unload_v1)			\
	X(37, 3, kexec_get_range)			\
	X(37, 4, kexec_load)				\
	X(37, 5, kexec_unload)				\
	X(37, 6, kexec_status)				\
	X(38, 1, new_pool)				\
	X(38, 2, destroy_pool)				\
	X(38, 3, new_page)				\
	X(38, 4, put_page)				\
	X(38, 5, get_page)				\
	X(38, 6, flush_page)				\
	X(38, 7, flush_object)				\
	X(38, 8, read)					\
	X(38, 9, write)					\
	X(38, 10, xchg)					\
	X(38, 101, auth)				\
	X(38, 102, restore_new)				\
	X(39, 1, register_ring)				\
	X(39, 2, unregister_ring)			\
	X(39, 3, sendv)					\
	X(39, 4, notify)				\
	X(40, 0, mode_get)				\
	X(40, 1, mode_set)				\
	X(40, 2, feature_get)				\
	X(40, 3, feature_set)				\
	X(40, 4, init)					\
	X(40, 5, finish)				\
	X(40, 6, lvtpc_set)				\
	X(40, 7, flush)					\
	X(42, 0, get_version)				\
	X(42, 1, read)					\
	X(42, 2, write_contents)			\
	X(48, 1, fetch)					\
	X(48, 2, notifydomain)				\
	X(48, 3, physcpuinfo)				\
	X(48, 4, msrinject)				\
	X(48, 5, mceinject)				\
	X(48, 6, inject_v2)

#define KVM_TRACE_XEN_FIELDS(X)					\
	X(7, -1, 0, 6, 0, 0, 4, SUB, "cmd")			\
	X(12, 0, 1, 6, 4, 8, 0, COUNT, "nr_extents")		\
	X(12, 0, 1, 7, 8, 16, 4, COUNT, "extent_order")		\
	X(12, 1, 1, 6, 4, 8, 0, COUNT, "nr_extents")		\
	X(12, 1, 1, 7, 8, 16, 4, COUNT, "extent_order")		\
	X(12, 3, 1, 6, 0, 0, 2, ID, "domid")			\
	X(12, 4, 1, 6, 0, 0, 2, ID, "domid")			\
	X(12, 5, 1, 6, 0, 0, 4, COUNT, "max_extents")		\
	X(12, 6, 1, 6, 4, 8, 0, COUNT, "nr_extents")		\
	X(12, 6, 1, 7, 8, 16, 4, COUNT, "extent_order")		\
	X(12, 7, 1, 6, 4, 4, 4, VALUE, "space")			\
	X(12, 7, 1, 7, 12, 16, 0, VALUE, "gpfn")		\
	X(12, 9, 1, 6, 0, 0, 4, COUNT, "nr_entries")		\
	X(12, 10, 1, 6, 0, 0, 4, COUNT, "nr_entries")		\
	X(12, 11, 1, 6, 4, 8, 0, COUNT, "in_nr_extents")	\
	X(12, 11, 1, 7, 24, 40, 0, COUNT, "out_nr_extents")	\
	X(12, 13, 1, 6, 0, 0, 2, ID, "domid")			\
	X(12, 13, 1, 7, 4, 8, 4, COUNT, "nr_entries")		\
	X(12, 14, 1, 6, 0, 0, 2, ID, "domid")			\
	X(12, 15, 1, 6, 0, 0, 2, ID, "domid")			\
	X(12, 15, 1, 7, 4, 8, 0, VALUE, "gpfn")			\
	X(12, 16, 1, 6, 0, 0, 8, COUNT, "target_pages")		\
	X(12, 16, 1, 7, 32, 32, 2, ID, "domid")			\
	X(12, 17, 1, 6, 32, 32, 2, ID, "domid")			\
	X(12, 20, 1, 6, 2, 2, 2, ID, "domain")			\
	X(12, 20, 1, 7, 16, 16, 8, VALUE, "gfn")		\
	X(12, 21, 1, 6, 2, 2, 2, ID, "domid")			\
	X(12, 21, 1, 7, 8, 8, 8, VALUE, "pfn")			\
	X(12, 22, 1, 6, 0, 0, 1, VALUE, "op")			\
	X(12, 22, 1, 7, 2, 2, 2, ID, "domain")			\
	X(12, 23, 1, 6, 2, 2, 2, VALUE, "space")		\
	X(12, 23, 1, 7, 4, 4, 2, COUNT, "size")			\
	X(12, 24, 1, 6, 4, 8, 0, COUNT, "nr_extents")		\
	X(12, 24, 1, 7, 16, 24, 2, ID, "domid")			\
	X(12, 25, 1, 6, 0, 0, 4, COUNT, "max_extents")		\
	X(12, 26, 1, 6, 0, 0, 2, ID, "domid")			\
	X(12, 27, 1, 6, 0, 0, 4, FLAGS, "flags")		\
	X(12, 27, 1, 7, 4, 4, 4, COUNT, "nr_entries")		\
	X(12, 28, 1, 6, 2, 2, 2, VALUE, "type")			\
	X(12, 28, 1, 7, 4, 4, 4, VALUE, "id")			\
	X(16, -1, 0, 6, 0, 0, 4, SUB, "cmd")			\
	X(17, 6, 1, 6, 0, 0, 4, ID, "submap_idx")		\
	X(19, -1, 0, 6, 0, 0, 4, SUB, "cmd")			\
	X(24, 5, 2, 6, 0, 0, 0, GVA, "addr")			\
	X(24, 6, 2, 6, 0, 0, 8, NS, "period")			\
	X(24, 8, 2, 6, 0, 0, 8, NS, "timeout_abs")		\
	X(24, 8, 2, 7, 8, 8, 4, FLAGS, "flags")			\
	X(24, 10, 2, 6, 0, 0, 8, VALUE, "mfn")			\
	X(24, 10, 2, 7, 8, 8, 4, VALUE, "offset")		\
	X(24, 13, 2, 6, 0, 0, 0, GVA, "addr")			\
	X(24, 14, 2, 6, 0, 0, 8, GPA, "addr")			\
	X(24, 15, 2, 6, 0, 0, 8, GPA, "addr")			\
	X(28, 0, 1, 6, 0, 0, 0, GVA, "handler_address")		\
	X(29, 2, 1, 6, 0, 0, 4, VALUE, "reason")		\
	X(29, 3, 1, 6, 4, 8, 4, COUNT, "nr_ports")		\
	X(29, 3, 1, 7, 8, 16, 8, NS, "timeout")			\
	X(29, 4, 1, 6, 0, 0, 2, ID, "domain_id")		\
	X(29, 4, 1, 7, 4, 4, 4, VALUE, "reason")		\
	X(29, 5, 1, 6, 0, 0, 4, VALUE, "reason")		\
	X(29, 6, 1, 6, 0, 0, 4, ID, "id")			\
	X(29, 6, 1, 7, 4, 4, 4, COUNT, "timeout")		\
	X(29, 7, 1, 6, 0, 0, 4, VALUE, "pcpu")			\
	X(30, 0, 1, 6, 0, 0, 2, VALUE, "type")			\
	X(30, 0, 1, 7, 2, 2, 2, FLAGS, "flags")			\
	X(30, 1, 1, 6, 0, 0, 2, VALUE, "type")			\
	X(32, 0, 1, 6, 0, 0, 2, ID, "remote_dom")		\
	X(32, 0, 1, 7, 4, 4, 4, ID, "remote_port")		\
	X(32, 1, 1, 6, 0, 0, 4, ID, "virq")			\
	X(32, 1, 1, 7, 4, 4, 4, ID, "vcpu")			\
	X(32, 2, 1, 6, 0, 0, 4, ID, "pirq")			\
	X(32, 2, 1, 7, 4, 4, 4, FLAGS, "flags")			\
	X(32, 3, 1, 6, 0, 0, 4, ID, "port")			\
	X(32, 4, 1, 6, 0, 0, 4, ID, "port")			\
	X(32, 5, 1, 6, 0, 0, 2, ID, "dom")			\
	X(32, 5, 1, 7, 4, 4, 4, ID, "port")			\
	X(32, 6, 1, 6, 0, 0, 2, ID, "dom")			\
	X(32, 6, 1, 7, 2, 2, 2, ID, "remote_dom")		\
	X(32, 7, 1, 6, 0, 0, 4, ID, "vcpu")			\
	X(32, 8, 1, 6, 0, 0, 4, ID, "port")			\
	X(32, 8, 1, 7, 4, 4, 4, ID, "vcpu")			\
	X(32, 9, 1, 6, 0, 0, 4, ID, "port")			\
	X(32, 10, 1, 6, 0, 0, 2, ID, "dom")			\
	X(32, 11, 1, 6, 0, 0, 8, VALUE, "control_gfn")		\
	X(32, 11, 1, 7, 12, 12, 4, ID, "vcpu")			\
	X(32, 12, 1, 6, 0, 0, 8, VALUE, "array_gfn")		\
	X(32, 13, 1, 6, 0, 0, 4, ID, "port")			\
	X(32, 13, 1, 7, 4, 4, 4, ID, "priority")		\
	X(33, 5, 1, 6, 0, 0, 4, ID, "irq")			\
	X(33, 6, 1, 6, 0, 0, 4, ID, "iopl")			\
	X(33, 7, 1, 6, 4, 8, 4, COUNT, "nr_ports")		\
	X(33, 8, 1, 6, 4, 8, 4, VALUE, "reg")			\
	X(33, 9, 1, 6, 4, 8, 4, VALUE, "reg")			\
	X(33, 9, 1, 7, 8, 12, 4, VALUE, "value")		\
	X(33, 10, 1, 6, 0, 0, 4, ID, "irq")			\
	X(33, 11, 1, 6, 0, 0, 4, ID, "irq")			\
	X(33, 11, 1, 7, 4, 4, 4, VALUE, "vector")		\
	X(33, 12, 1, 6, 0, 0, 4, ID, "irq")			\
	X(33, 13, 1, 6, 0, 0, 2, ID, "domid")			\
	X(33, 13, 1, 7, 8, 8, 4, VALUE, "index")		\
	X(33, 14, 1, 6, 0, 0, 2, ID, "domid")			\
	X(33, 14, 1, 7, 4, 4, 4, ID, "pirq")			\
	X(33, 15, 1, 6, 0, 0, 1, VALUE, "bus")			\
	X(33, 15, 1, 7, 1, 1, 1, VALUE, "devfn")		\
	X(33, 16, 1, 6, 0, 0, 1, VALUE, "bus")			\
	X(33, 16, 1, 7, 1, 1, 1, VALUE, "devfn")		\
	X(33, 17, 1, 6, 0, 0, 0, VALUE, "gmfn")			\
	X(33, 19, 1, 6, 0, 0, 1, VALUE, "bus")			\
	X(33, 19, 1, 7, 1, 1, 1, VALUE, "devfn")		\
	X(33, 20, 1, 6, 0, 0, 1, VALUE, "bus")			\
	X(33, 20, 1, 7, 1, 1, 1, VALUE, "devfn")		\
	X(33, 21, 1, 6, 0, 0, 4, ID, "gsi")			\
	X(33, 21, 1, 7, 4, 4, 1, VALUE, "triggering")		\
	X(33, 23, 1, 6, 0, 0, 4, VALUE, "type")			\
	X(33, 24, 1, 6, 0, 0, 8, GPA, "address")		\
	X(33, 24, 1, 7, 12, 12, 4, FLAGS, "flags")		\
	X(33, 25, 1, 6, 2, 2, 1, VALUE, "bus")			\
	X(33, 25, 1, 7, 3, 3, 1, VALUE, "devfn")		\
	X(33, 26, 1, 6, 2, 2, 1, VALUE, "bus")			\
	X(33, 26, 1, 7, 3, 3, 1, VALUE, "devfn")		\
	X(33, 27, 1, 6, 2, 2, 1, VALUE, "bus")			\
	X(33, 27, 1, 7, 3, 3, 1, VALUE, "devfn")		\
	X(33, 28, 1, 6, 0, 0, 0, VALUE, "gmfn")			\
	X(33, 29, 1, 6, 0, 0, 1, VALUE, "op")			\
	X(33, 29, 1, 7, 1, 1, 1, VALUE, "bus")			\
	X(33, 30, 1, 6, 2, 2, 1, VALUE, "bus")			\
	X(33, 30, 1, 7, 3, 3, 1, VALUE, "devfn")		\
	X(33, 31, 1, 6, 2, 2, 1, VALUE, "bus")			\
	X(33, 31, 1, 7, 3, 3, 1, VALUE, "devfn")		\
	X(33, 32, 1, 6, 2, 2, 1, VALUE, "bus")			\
	X(33, 32, 1, 7, 3, 3, 1, VALUE, "devfn")		\
	X(34, 0, 1, 6, 4, 4, 4, ID, "index")			\
	X(34, 0, 1, 7, 8, 8, 8, VALUE, "value")			\
	X(34, 1, 1, 6, 4, 4, 4, ID, "index")			\
	X(34, 9, 1, 6, 0, 0, 2, ID, "domid")			\
	X(34, 9, 1, 7, 8, 8, 8, GPA, "gpa")			\
	X(34, 11, 1, 6, 0, 0, 2, VALUE, "event")		\
	X(34, 11, 1, 7, 2, 2, 2, COUNT, "extra_bytes")		\
	X(34, 15, 1, 6, 0, 0, 2, ID, "domid")			\
	X(34, 15, 1, 7, 8, 8, 8, VALUE, "pfn")			\
	X(34, 23, 1, 6, 0, 0, 4, ID, "vcpu")			\
	X(34, 23, 1, 7, 4, 4, 1, VALUE, "vector")		\
	X(34, 25, 1, 6, 4, 4, 4, VALUE, "altp2m_cmd")		\
	X(34, 25, 1, 7, 8, 8, 2, ID, "domain")			\
	X(35, -1, 0, 6, 0, 0, 4, SUB, "cmd")			\
	X(36, -1, 0, 6, 0, 0, 4, SUB, "cmd")			\
	X(36, -1, 0, 7, 8, 8, 2, ID, "domain")			\
	X(37, 0, 1, 6, 0, 0, 4, VALUE, "type")			\
	X(38, -1, 0, 6, 0, 0, 4, SUB, "cmd")			\
	X(38, -1, 0, 7, 4, 4, 4, VALUE, "pool_id")		\
	X(40, 1, 1, 6, 8, 8, 8, VALUE, "val")			\
	X(40, 3, 1, 6, 8, 8, 8, VALUE, "val")			\
	X(40, 4, 1, 6, 8, 8, 8, VALUE, "val")			\
	X(40, 4, 1, 7, 16, 16, 4, ID, "vcpu")			\
	X(40, 5, 1, 6, 16, 16, 4, ID, "vcpu")			\
	X(48, -1, 0, 6, 0, 0, 4, SUB, "cmd")

#define KVM_TRACE_XEN_FLAGS(X)		\
	X(12, 6, 0x1, "all")		\
	X(14, 2, 0x1, "tlb_flush")	\
	X(14, 2, 0x2, "invlpg")		\
	X(14, 2, 0x4, "all")		\
	X(14, 3, 0x1, "tlb_flush")	\
	X(14, 3, 0x2, "invlpg")		\
	X(14, 3, 0x4, "all")		\
	X(22, 2, 0x1, "tlb_flush")	\
	X(22, 2, 0x2, "invlpg")		\
	X(22, 2, 0x4, "all")		\
	X(22, 3, 0x1, "tlb_flush")	\
	X(22, 3, 0x2, "invlpg")		\
	X(22, 3, 0x4, "all")		\
	X(24, 7, 0x1, "future")		\
	X(30, 7, 0x1, "mask_events")	\
	X(32, 7, 0x1, "will_share")	\
	X(33, 7, 0x1, "reserved")

#endif /* _KVM_TRACE_HYPERCALLS_XEN_H */
