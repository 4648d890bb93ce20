#!/bin/sh
# Every function of the system on files that the library calls is one that tests/support/failing_files.c stands before,
# so that no call can fail without a test that fails it. Names of _FORTIFY_SOURCE (__read_chk) and of large files (pread64)
# are other functions: they count by themselves.
set -eu
build=$(dirname "$HEDDLE")
library=$build/libheddle.a
object=$(find "$build/tests" -path '*test_file_faults.dir*' -name 'failing_files.c.o' | head -n 1)
command -v nm > /dev/null || exit 77
[ -f "$library" ] && [ -n "$object" ] || { echo "libheddle.a or failing_files.c.o is not built" >&2; exit 77; }

# What POSIX, Linux and glibc have on files, by their plain names.
functions='open openat openat2 creat close closefrom close_range dup dup2 dup3 read readv pread preadv preadv2 write writev
pwrite pwritev pwritev2 copy_file_range sendfile splice tee vmsplice lseek fsync fdatasync sync syncfs sync_file_range
truncate ftruncate fallocate posix_fallocate posix_fadvise readahead rename renameat renameat2 link linkat symlink
symlinkat readlink readlinkat unlink unlinkat remove rmdir mkdir mkdirat mkfifo mkfifoat mknod mknodat mktemp mkstemp
mkostemp mkstemps mkostemps mkdtemp tmpfile tmpnam tempnam stat fstat lstat fstatat statx statfs fstatfs statvfs
fstatvfs access faccessat eaccess chmod fchmod fchmodat chown fchown lchown fchownat umask utime utimes futimes
futimens utimensat fcntl flock lockf ioctl mmap mremap msync madvise posix_madvise opendir fdopendir readdir readdir_r
closedir rewinddir seekdir telldir dirfd scandir scandirat nftw ftw glob realpath canonicalize_file_name chdir fchdir
getcwd chroot memfd_create shm_open shm_unlink aio_read aio_write aio_fsync lio_listio fopen fdopen freopen fclose
fflush fread fwrite fgetc getc fgets fputc putc fputs ungetc getline getdelim fscanf fprintf vfprintf vfscanf printf
vprintf puts putchar perror fseek fseeko ftell ftello rewind fgetpos fsetpos setvbuf setbuf fileno ferror feof clearerr
popen pclose fmemopen open_memstream __xstat __fxstat __lxstat __fxstatat __open_2 __openat_2'
# dirfd calls no system. memfd_create makes memory, not a file: hd_fault_arm (src/base/error.h) fails it.
known='dirfd memfd_create'

wanted=$(for name in $functions; do printf '%s\n%s64\n__%s_chk\n__%s64_2\n' "$name" "$name" "$name" "$name"; done | sort -u)
used=$(nm -u "$library" 2> /dev/null | awk '$1 == "U" { print $2 }' | sed 's/@.*//' | sort -u)
there=$(nm "$object" | awk '$2 == "T" { print $3 }'; printf '%s\n' $known)
missing=
count=0
for name in $used; do
    printf '%s\n' "$wanted" | grep -qx "$name" || continue
    count=$((count + 1))
    printf '%s\n' "$there" | grep -qx "$name" || missing="$missing $name"
done
[ "$count" -ge 20 ] || { echo "only $count functions on files were found in $library" >&2; exit 1; }
[ -z "$missing" ] || {
    echo "the library calls$missing, which tests/support/failing_files.c does not stand before" >&2
    exit 1
}
