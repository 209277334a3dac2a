// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads if RDMSR and WRMSR of Intel PT leave EFLAGS alone. Linux sees it where an
 * interrupt comes right behind one and saves what are no flags.
 */
#include <linux/irqflags.h>
#include <linux/module.h>
#include <asm/msr-index.h>

/* POPF sets the flags, a shift of a register with all bits set changes them. */
#define FLAGS_BEHIND(insn, flags)						\
	do {									\
		unsigned long zero = 0;						\
										\
		asm volatile("pushq $2\n\t"					\
			     "popfq\n\t"					\
			     "mov $-1, %%rdx\n\t"				\
			     "shr $1, %%rdx\n\t"				\
			     "mov $0, %%edx\n\t"				\
			     insn "\n\t"					\
			     "pushfq\n\t"					\
			     "pop %0"						\
			     : "=r" (flags), "+a" (zero) : "c" (MSR_IA32_RTIT_CTL)	\
			     : "rdx", "cc", "memory");				\
	} while (0)

static int __init pt_flags_init(void)
{
	unsigned long irq, expected, rdmsr, wrmsr;

	local_irq_save(irq);
	FLAGS_BEHIND("", expected);
	FLAGS_BEHIND("wrmsr", wrmsr);
	FLAGS_BEHIND("rdmsr", rdmsr);
	local_irq_restore(irq);
	if (rdmsr == expected && wrmsr == expected)
		return 0;
	pr_err("flags 0x%lx are 0x%lx behind RDMSR and 0x%lx behind WRMSR\n", expected, rdmsr,
	       wrmsr);
	return -EIO;
}

static void __exit pt_flags_exit(void)
{
}

module_init(pt_flags_init);
module_exit(pt_flags_exit);

MODULE_DESCRIPTION("Looks at the flags behind MSR accesses, for a test of Intel PT");
MODULE_LICENSE("GPL");
