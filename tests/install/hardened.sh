#!/bin/sh
# hardened.sh FILE ...: libraries and programs are built as SECURITY.md says: read-only relocations that are all made at the
# start, no executable stack, the stack protector, and functions of libc that check the sizes they can know.
set -eu
command -v readelf > /dev/null || exit 77
failed=0
lacks() { echo "$file: $1"; failed=1; }
checked=0
for file in "$@"; do
    readelf -lW "$file" | grep -q GNU_RELRO || lacks "relocations stay writable (-z relro)"
    readelf -dW "$file" | grep -qE '\(BIND_NOW\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW' || lacks "relocations are made late (-z now)"
    readelf -lW "$file" | grep GNU_STACK | grep -q ' RW ' || lacks "the stack is executable (-z noexecstack)"
    readelf -lW "$file" | grep -q ' RWE ' && lacks "a segment is writable and executable"
    symbols=$(readelf --dyn-syms -W "$file")
    echo "$symbols" | grep -q '__stack_chk_fail' || lacks "no function has the stack protector"
    checked=$((checked + $(echo "$symbols" | grep -cE 'UND __[a-z]+_chk(@|$| )' || true)))
done
# Which of them are there depends on the compiler; none are when _FORTIFY_SOURCE is off.
[ "$checked" -ge 3 ] || { echo "only $checked checked functions of libc are called (-D_FORTIFY_SOURCE)"; failed=1; }
[ $failed = 0 ] && echo "$# files are hardened, with $checked checked functions"
exit $failed
