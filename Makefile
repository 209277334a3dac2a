# SPDX-License-Identifier: GPL-2.0-only
# Thin front for people: builds and installs the module, the decoder plugin
# and the selftests for the kernel that runs, or the one that KDIR names.

KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
CC ?= cc

# kbuild wants its own answer to CC, and DESTDIR under the name it knows.
KBUILD = $(MAKE) -C $(KDIR) M=$(CURDIR) CONFIG_KVM_TRACE=m CC=$(CC) \
	 INSTALL_MOD_DIR=updates INSTALL_MOD_STRIP=1 \
	 $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) \
	 $(KBUILD_OPTIONS)
# Debian's headers bring the BTF of vmlinux or not; pahole may be missing.
KBUILD_OPTIONS ?= $(if $(and $(wildcard $(KDIR)/vmlinux),$(shell command -v pahole)),,CONFIG_DEBUG_INFO_BTF_MODULES=)

all: modules tools selftests

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
	$(if $(DESTDIR),,depmod $$(cat $(KDIR)/include/config/kernel.release))

uninstall:
	$(MAKE) -C perf-plugins DESTDIR=$(DESTDIR) uninstall
	rm -f $(DESTDIR)/lib/modules/*/updates/kvm-trace/kvm_trace.ko*
	$(if $(DESTDIR),,depmod)

demo:
	scripts/demo

check:
	scripts/check

bench:
	scripts/bench

clean:
	$(MAKE) -C perf-plugins clean
	$(MAKE) -C selftests clean
	if test -e $(KDIR)/Makefile; then $(KBUILD) clean; fi

.PHONY: all headers modules tools selftests install modules_install uninstall demo check bench clean
