#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where the kernel takes signed modules only, it is said what kvm_trace.ko lacks, and else
# nothing. With files that stand for /sys and /etc, and a modinfo and a mokutil of ours.
set -u

here=$(cd "$(dirname -- "$0")" && pwd)
# shellcheck source=selftests/lib/tap.sh
. "$here/../lib/tap.sh"
secure_boot=$here/../../kvm-trace/dkms/secure-boot

export KVM_TRACE_ROOT="$tap_work/root"
efi=$KVM_TRACE_ROOT/sys/firmware/efi/efivars
lockdown=$KVM_TRACE_ROOT/sys/kernel/security/lockdown
enforce=$KVM_TRACE_ROOT/sys/module/module/parameters/sig_enforce
mkdir -p "$efi" "${lockdown%/*}" "${enforce%/*}" "$tap_work/bin" "$KVM_TRACE_ROOT/etc/dkms" "$KVM_TRACE_ROOT/var/lib/dkms"
export PATH="$tap_work/bin:$PATH"
cat >"$tap_work/bin/modinfo" <<-END
	#!/bin/sh
	case \$* in
	'-k 6.1 -n kvm_trace') echo /lib/modules/6.1/updates/dkms/kvm_trace.ko ;;
	'-F signer /lib/modules/6.1/updates/dkms/kvm_trace.ko') cat "$tap_work/signer" ;;
	*) exit 1 ;;
	esac
END
cat >"$tap_work/bin/mokutil" <<-END
	#!/bin/sh
	[ "\$1" = --test-key ] && [ -r "\$2" ] || exit 1
	echo "\$2 is \$(cat "$tap_work/enrolled") enrolled"
END
chmod +x "$tap_work/bin/"*
echo 'DKMS module signing key' >"$tap_work/signer"
echo not >"$tap_work/enrolled"
: >"$KVM_TRACE_ROOT/var/lib/dkms/mok.pub"
: >"$KVM_TRACE_ROOT/var/lib/dkms/mine.der"
printf '\006\0\0\0\0' >"$efi/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
echo '[none] integrity confidentiality' >"$lockdown"
echo N >"$enforce"

# says WORDS...: one line with each of them.
says() {
	[ "$tap_status" -eq 0 ] && [ "$(wc -l <"$tap_work/out")" -eq 1 ] || return
	for word; do
		grep -F -q -e "$word" "$tap_work/out" || return
	done
}

says_nothing() {
	[ "$tap_status" -eq 0 ] && [ ! -s "$tap_work/out" ]
}

run "$secure_boot" 6.1
ok nothing_is_said_without_secure_boot says_nothing
printf '\006\0\0\0\001' >"$efi/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
run "$secure_boot" 6.1
ok a_key_that_is_not_enrolled_is_told says 'Secure Boot is on' "'DKMS module signing key'" 'mokutil --import /var/lib/dkms/mok.pub'
run "$secure_boot" 6.12
ok nothing_is_said_of_a_kernel_without_the_module says_nothing
echo '#mok_certificate=no' >"$KVM_TRACE_ROOT/etc/dkms/framework.conf"
echo 'mok_certificate="/var/lib/dkms/mine.der"' >>"$KVM_TRACE_ROOT/etc/dkms/framework.conf"
run "$secure_boot" 6.1
ok a_key_of_ones_own_is_found says 'mokutil --import /var/lib/dkms/mine.der'
echo already >"$tap_work/enrolled"
run "$secure_boot" 6.1
ok nothing_is_said_of_an_enrolled_key says_nothing
rm "$KVM_TRACE_ROOT/var/lib/dkms/mine.der"
run "$secure_boot" 6.1
ok a_key_that_is_not_there_is_told says "'DKMS module signing key'" 'apt install mokutil'
: >"$tap_work/signer"
run "$secure_boot" 6.1
ok a_missing_signature_is_told says 'has no signature' kvm-trace-dkms
printf '\006\0\0\0\0' >"$efi/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
echo Y >"$enforce"
run "$secure_boot" 6.1
ok enforced_signatures_are_told says 'enforces signatures'
echo 'none [integrity] confidentiality' >"$lockdown"
run "$secure_boot" 6.1
ok lockdown_is_told says 'locked down'

done_testing
[ "$tap_failed" -eq 0 ]
