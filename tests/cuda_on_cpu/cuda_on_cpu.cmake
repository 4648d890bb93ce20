# The device code of the CUDA engine, run on the CPU (test_warps.cpp), as cuda_on_cpu_TABLE. One table
# of every kind of slot, and tiles of one, two, four and eight lanes.

set(emulated_tables 32_0_1 64_0_4 32_32_8 32_64_16 64_32_4 64_64_8 64_64_16)
set(emulated_sources cuda_on_cpu/test_warps.cpp cuda_on_cpu/warps.cpp)

function(heddle_add_emulated name parameters)
    string(REPLACE "_" ";" parameters ${parameters})
    list(GET parameters 0 key_bits)
    list(GET parameters 1 value_bits)
    list(GET parameters 2 bucket)
    set(target test_cuda_on_cpu_${name})
    add_executable(${target} ${emulated_sources})
    # Words of a slot are read as several types, which nvcc allows.
    target_compile_options(${target} PRIVATE -fno-strict-aliasing)
    target_compile_definitions(${target} PRIVATE
        HD_KEY_BITS=${key_bits} HD_VALUE_BITS=${value_bits} HD_BUCKET=${bucket} ${ARGN})
    target_include_directories(${target} BEFORE PRIVATE cuda_on_cpu) # its cuda/load.h comes first
    target_link_libraries(${target} PRIVATE heddle_internal OpenMP::OpenMP_C)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
    add_test(NAME cuda_on_cpu_${name} COMMAND ${target})
    set_tests_properties(cuda_on_cpu_${name} PROPERTIES TIMEOUT 300)
endfunction()

# The thread sanitizer knows nothing of fibers, and there is but one thread.
if(NOT "thread" IN_LIST heddle_sanitizers)
    foreach(table IN LISTS emulated_tables)
        heddle_add_emulated(${table} ${table})
    endforeach()
    # Newer devices claim a wide slot by one 128-bit CAS.
    heddle_add_emulated(64_64_8_sm90 64_64_8 __CUDA_ARCH__=900)
endif()
