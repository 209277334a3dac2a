# SPDX-License-Identifier: GPL-2.0-only
# Thin front for people: builds and installs the module, the decoder plugin
# and the selftests for the kernel that runs, or the one that KDIR names.

KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
CC ?= cc

# kbuild wants DESTDIR under the name it knows. Headers may name the kernel's own compiler.
KBUILD = $(MAKE) -C $(KDIR) M=$(CURDIR) CONFIG_KVM_TRACE=m \
	 $(if $(filter-out default file,$(origin CC)),CC=$(CC)) \
	 INSTALL_MOD_DIR=updates INSTALL_MOD_STRIP=1 \
	 $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) \
	 $(KBUILD_OPTIONS)
# Debian's headers bring the BTF of vmlinux or not; pahole may be missing.
KBUILD_OPTIONS ?= $(if $(and $(wildcard $(KDIR)/vmlinux),$(shell command -v pahole)),,CONFIG_DEBUG_INFO_BTF_MODULES=)

all: modules tools selftests

# What modules are built and installed for. In Debian's headers of 6.1, kernel.release
# is something else.
RELEASE = $(shell sed -n 's/.* UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)

headers:
	@test -e $(KDIR)/Makefile || { \
		echo "kvm-trace: no kernel headers in $(KDIR): install linux-headers-$$(uname -r), or let KDIR name those of another kernel" >&2; exit 1; }

modules: headers
	$(KBUILD) modules

tools:
	$(MAKE) -C perf-plugins CC=$(CC)

selftests: headers
	$(MAKE) -C selftests CC=$(CC) KDIR=$(KDIR)

install: modules_install
	$(MAKE) -C perf-plugins CC=$(CC) DESTDIR=$(DESTDIR) install

# Debian's headers lack System.map, without which kbuild skips depmod.
modules_install: headers
	$(KBUILD) modules_install
	$(if $(DESTDIR),,depmod $(RELEASE))
	$(if $(DESTDIR),,kvm-trace/dkms/secure-boot $(RELEASE))

uninstall:
	$(MAKE) -C perf-plugins DESTDIR=$(DESTDIR) uninstall
	for module in $(DESTDIR)/lib/modules/*/updates/kvm-trace; do \
		[ -d "$$module" ] || continue; \
		release=$${module%/updates/kvm-trace}; \
		rm -f "$$module"/kvm_trace.ko*; \
		rmdir --ignore-fail-on-non-empty "$$module" "$${module%/*}"; \
		$(if $(DESTDIR),,depmod "$${release##*/}";) \
	done

demo:
	scripts/demo

check:
	scripts/check

check-sanitize:
	scripts/check --kernel sanitize $(if $(PATTERN),'$(PATTERN)')

check-packages:
	KVM_TRACE_PACKAGES=all scripts/check '^scripts/packages$$'

coverage:
	scripts/coverage

deb:
	scripts/deb

bench:
	scripts/bench

clean:
	$(MAKE) -C perf-plugins clean
	$(MAKE) -C selftests clean
	if test -e $(KDIR)/Makefile; then $(KBUILD) clean; fi

.PHONY: all headers modules tools selftests install modules_install uninstall demo check check-packages check-sanitize coverage deb bench clean
