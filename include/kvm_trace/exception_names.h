/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the processor's exceptions, for the decoders. Numbers and names are
 * those of Intel's SDM vol. 3A, table 6-1, and of AMD's APM vol. 2, table 8-1.
 * Vectors that are no exception (NMI, interrupts) are not here.
 */
#ifndef _KVM_TRACE_EXCEPTION_NAMES_H
#define _KVM_TRACE_EXCEPTION_NAMES_H

/* X(vector, name), by vector */
#define KVM_TRACE_EXCEPTIONS(X)	\
	X(0, DE)		\
	X(1, DB)		\
	X(3, BP)		\
	X(4, OF)		\
	X(5, BR)		\
	X(6, UD)		\
	X(7, NM)		\
	X(8, DF)		\
	X(10, TS)		\
	X(11, NP)		\
	X(12, SS)		\
	X(13, GP)		\
	X(14, PF)		\
	X(16, MF)		\
	X(17, AC)		\
	X(18, MC)		\
	X(19, XM)		\
	X(20, VE)		\
	X(21, CP)		\
	X(28, HV)		\
	X(29, VC)		\
	X(30, SX)

#endif /* _KVM_TRACE_EXCEPTION_NAMES_H */
