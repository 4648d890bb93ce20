# Warnings and sanitizers, for everything in this tree.

add_compile_options(
    "$<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>"
    # Line tables cost nothing at run time and make profiles and crash reports readable.
    "$<$<AND:$<COMPILE_LANGUAGE:C>,$<CONFIG:Release>>:-g1>")
# -std=c11 hides what POSIX and Linux add (mmap, clock_gettime, madvise); this shows it again. Empty,
# so that a file that says the same does not redefine it.
add_compile_definitions("$<$<COMPILE_LANGUAGE:C>:_DEFAULT_SOURCE=>")
if(HEDDLE_WERROR)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Werror>"
                        "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>")
endif()

# gcc 12 for aarch64 may add up comparisons as a vector in which true is -1, and take that for their
# sum: seen with 12.2 in census.h, gone with 13.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND
   CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fno-tree-slp-vectorize>")
endif()

string(REPLACE "," ";" heddle_sanitizers "${HEDDLE_SANITIZE}")
# An overrun that gets past all checks ends the process instead of going on. -U: some systems have an older level on.
if(HEDDLE_HARDEN AND NOT heddle_sanitizers)
    set(harden -fstack-protector-strong)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        list(APPEND harden -fcf-protection)
    endif()
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug") # which fortified functions need optimisation for
        set(fortified 3)
        if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 12)
            set(fortified 2) # the C library warns of 3 there
        endif()
        list(APPEND harden -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortified})
    endif()
    list(JOIN harden "," harden_for_host)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${harden}>"
                        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${harden_for_host}>")
    add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)
endif()
# The same sources give the same bytes, wherever they lie.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.;-ffile-prefix-map=${PROJECT_BINARY_DIR}=build>"
                    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.,-ffile-prefix-map=${PROJECT_BINARY_DIR}=build>")
if(heddle_sanitizers)
    list(JOIN heddle_sanitizers "," joined)
    # -O1: the tests finish in reasonable time and stack traces stay true.
    add_compile_options(-fsanitize=${joined} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer -g -O1)
    add_link_options(-fsanitize=${joined})
endif()

# What fuzzers learn from, and what the table of coverage is made of.
if(HEDDLE_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "HEDDLE_FUZZ needs clang: -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
    endif()
    add_compile_options($<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>
                        $<$<COMPILE_LANGUAGE:C>:-fprofile-instr-generate>
                        $<$<COMPILE_LANGUAGE:C>:-fcoverage-mapping>)
    add_link_options(-fprofile-instr-generate)
endif()

# The thread sanitizer understands atomic loads, not vector loads of slots that others CAS: it sees
# the scalar tile alone.
set(heddle_only_scalar 0)
if("thread" IN_LIST heddle_sanitizers)
    set(heddle_only_scalar 1)
    add_compile_definitions(HD_ONLY_SCALAR=1)
endif()
