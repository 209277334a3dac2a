/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starts L1's kernel under Bochs, as an option ROM that the BIOS calls: Debian's
 * own 16-bit setup code, then the kernel, which lies uncompressed in memory. What
 * puts both there, and the values from outside, is in scripts/lib/bochs.sh.
 */

	.set	TABLES, 0x40000		/* page tables, six pages */
	.set	LARGE_PAGES, 2048	/* of 2 MB each: the first 4 GB */

	.code16
	.globl	_start
_start:
	.byte	0x55, 0xaa, ROM_SIZE / 512
	cli
	cld
	movw	$SETUP >> 4, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %fs
	movw	%ax, %gs
	movw	%ax, %ss
	movw	$COMMAND_LINE - SETUP - 16, %sp
	ljmp	$(SETUP >> 4) + 0x20, $0

	/* From setup: flat 32-bit segments, %esi points to the boot parameters. */
	.org	CODE32
	.code32
	movl	%esi, %ebp
	movl	$TABLES, %edi
	xorl	%eax, %eax
	movl	$6 * 1024, %ecx
	rep stosl
	movl	$TABLES + 0x1003, TABLES
	movl	$TABLES + 0x2003, TABLES + 0x1000
	movl	$TABLES + 0x3003, TABLES + 0x1008
	movl	$TABLES + 0x4003, TABLES + 0x1010
	movl	$TABLES + 0x5003, TABLES + 0x1018
	movl	$TABLES + 0x2000, %edi
	movl	$0x83, %eax
	movl	$LARGE_PAGES, %ecx
1:	movl	%eax, (%edi)
	addl	$8, %edi
	addl	$0x200000, %eax
	decl	%ecx
	jnz	1b
	movl	$TABLES, %eax
	movl	%eax, %cr3
	movl	$0x20, %eax		/* PAE */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx	/* EFER.LME */
	rdmsr
	orl	$0x100, %eax
	wrmsr
	lgdt	gdt_pointer
	movl	$0x80000011, %eax	/* PG, ET, PE */
	movl	%eax, %cr0
	ljmp	$0x10, $long_mode

	.code64
long_mode:
	movl	$0x18, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$SETUP + 0xd000, %esp
	movl	%ebp, %esi
	movl	$ENTRY, %eax
	jmp	*%rax

	.balign	8
gdt:
	.quad	0, 0
	.quad	0x00af9a000000ffff	/* 64-bit code */
	.quad	0x00cf92000000ffff	/* data */
gdt_pointer:
	.word	. - gdt - 1
	.long	gdt

	.org	ROM_SIZE
