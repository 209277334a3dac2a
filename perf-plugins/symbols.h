/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions in guests: those that perf finds, and those of a guest's kallsyms.
 */
#ifndef _KVM_TRACE_SYMBOLS_H
#define _KVM_TRACE_SYMBOLS_H

#include <stddef.h>
#include <linux/types.h>

/**
 * struct kvm_trace_place - an address, and whose
 * @ip: the address, 0 if nothing is there
 * @name: of a function, or NULL
 * @offset: of @ip in it
 */
struct kvm_trace_place {
	__u64 ip;
	const char *name;
	__u64 offset;
};

struct kvm_trace_symbol;

/**
 * struct kvm_trace_symbols - functions by address; all 0 if there are none
 * @list: sorted by address
 * @n: how many
 * @text: where their names are
 * @kept: a hash of names that were kept, at most half full
 * @slots: its size
 * @used: how many are in it
 */
struct kvm_trace_symbols {
	struct kvm_trace_symbol *list;
	size_t n;
	char *text;
	char **kept;
	size_t slots, used;
};

/**
 * kvm_trace_symbols_read() - read functions from a file
 * @symbols: where to put them
 * @path: a guest's /proc/kallsyms
 *
 * Return: NULL, or what is wrong and what to do about it
 */
const char *kvm_trace_symbols_read(struct kvm_trace_symbols *symbols, const char *path);

/**
 * kvm_trace_symbols_name() - name an address, if it has no name yet
 * @symbols: the functions
 * @place: the address; a name that perf has found is left
 *
 * Return: the place with its name, which is NULL before the first function.
 */
struct kvm_trace_place kvm_trace_symbols_name(const struct kvm_trace_symbols *symbols,
					      struct kvm_trace_place place);

/**
 * kvm_trace_symbols_keep() - keep a name, which perf may forget
 * @symbols: where
 * @name: the name
 *
 * Return: the same name, the same address for the same one; NULL without memory
 */
const char *kvm_trace_symbols_keep(struct kvm_trace_symbols *symbols, const char *name);

/**
 * kvm_trace_symbols_free() - forget all
 * @symbols: as without any then
 */
void kvm_trace_symbols_free(struct kvm_trace_symbols *symbols);

#endif /* _KVM_TRACE_SYMBOLS_H */
