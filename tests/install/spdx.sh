#!/bin/sh
# spdx.sh LIBRARY [LIBRARY_MPI]: heddle.spdx names this version, and what it says the libraries are linked with when they
# run is what they ask the loader for: nothing else, and nothing of its list is missing.
set -eu
tree=$(dirname "$0")/../..
spdx=$tree/heddle.spdx
command -v readelf > /dev/null || exit 77
failed=0

version=$(sed -n 's/^#define HEDDLE_VERSION_STRING "\(.*\)"/\1/p' "$tree/include/heddle/heddle.h")
named=$(awk '/^PackageName:/ { name = $2 } /^PackageVersion:/ && name == "heddle" { print $2 }' "$spdx")
[ "$version" = "$named" ] || { echo "heddle.spdx is of $named, the header of $version"; failed=1; }
grep -q "^DocumentNamespace: urn:heddle:spdx:$version\$" "$spdx" || { echo "DocumentNamespace is not of $version"; failed=1; }

# The package of heddle.spdx that a library the loader is asked for belongs to.
package_of()
{
    case $1 in
    libc.so.* | libm.so.* | ld-linux* | libpthread.so.* | libdl.so.* | librt.so.*) echo glibc ;;
    libgomp.so.* | libomp.so.*) echo libgomp ;;
    libstdc++.so.* | libgcc_s.so.*) echo libstdcxx ;;
    libmpi*.so.*) echo mpi ;;
    libheddle.so.*) echo heddle ;;
    *) echo "nothing that this test knows" ;;
    esac
}
needed_of() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

used=
for library in "$@"; do
    for needed in $(needed_of "$library"); do
        package=$(package_of "$needed")
        used="$used $package"
        grep -q "^SPDXID: SPDXRef-$package\$" "$spdx" ||
            { echo "$library needs $needed, which heddle.spdx does not have: $package"; failed=1; }
    done
done
# Those that every build has. The CUDA engine's are optional there.
for package in $(sed -n 's/^Relationship: SPDXRef-heddle DYNAMIC_LINK SPDXRef-//p' "$spdx"); do
    case " $used " in
    *" $package "*) ;;
    *) echo "heddle.spdx has $package, which no library needs"; failed=1 ;;
    esac
done
[ $failed = 0 ] && echo "heddle.spdx is right:$used"
exit $failed
