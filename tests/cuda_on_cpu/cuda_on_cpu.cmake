# The device code of the CUDA engine, run on the CPU: the kernels of tables (test_warps.cpp), as
# cuda_on_cpu_TABLE, and those of sorted pairs, as cuda_on_cpu_TEST_KIND.

# One table of every kind of slot, and tiles of one, two, four and eight lanes.
set(emulated_tables 32_0_1 64_0_4 32_32_8 32_64_16 64_32_4 64_64_8 64_64_16)
set(emulated_open 32_0_16 32_32_8 64_32_8 64_64_8)
set(emulated_iceberg 32_0_32 32_32_16 64_32_16 64_64_16)
set(emulated_multis 32_32_8 32_32_16 32_64_16 64_32_8 64_64_8)
set(emulated_graphs 32_32 64_64 64_0 32_64)
set(emulated_joins 32_32 64_64)
set(emulated_sorts 32_0 32_32 32_64 64_32 64_64)

# A program of tests/cuda_on_cpu/SOURCE. PARAMETERS: bits of keys and values, and slots of a bucket.
function(heddle_add_emulated name source parameters)
    string(REPLACE "_" ";" parameters ${parameters})
    list(GET parameters 0 key_bits)
    list(GET parameters 1 value_bits)
    list(GET parameters 2 bucket)
    set(target test_cuda_on_cpu_${name})
    add_executable(${target} cuda_on_cpu/${source} cuda_on_cpu/warps.cpp)
    # Words of a slot are read as several types, which nvcc allows.
    target_compile_options(${target} PRIVATE -fno-strict-aliasing)
    target_compile_definitions(${target} PRIVATE
        HD_KEY_BITS=${key_bits} HD_VALUE_BITS=${value_bits} HD_BUCKET=${bucket} ${ARGN})
    # Its cuda/load.h and CUB come first.
    target_include_directories(${target} BEFORE PRIVATE cuda_on_cpu)
    target_link_libraries(${target} PRIVATE heddle_internal OpenMP::OpenMP_C)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
    add_test(NAME cuda_on_cpu_${name} COMMAND ${target})
    set_tests_properties(cuda_on_cpu_${name} PROPERTIES TIMEOUT 300)
endfunction()

# The thread sanitizer knows nothing of fibers, and there is but one thread.
if(NOT "thread" IN_LIST heddle_sanitizers)
    foreach(table IN LISTS emulated_tables)
        heddle_add_emulated(${table} test_warps.cpp ${table})
    endforeach()
    foreach(table IN LISTS emulated_open)
        heddle_add_emulated(open_${table} test_warps.cpp ${table} HD_SCHEME_HEADER="scheme/open.h")
    endforeach()
    foreach(table IN LISTS emulated_iceberg)
        heddle_add_emulated(iceberg_${table} test_warps.cpp ${table}
            HD_SCHEME_HEADER="scheme/iceberg.h")
    endforeach()
    foreach(table IN LISTS emulated_multis)
        heddle_add_emulated(multi_${table} test_multi.cpp ${table})
    endforeach()
    # Newer devices claim a wide slot by one 128-bit CAS.
    heddle_add_emulated(64_64_8_sm90 test_warps.cpp 64_64_8 __CUDA_ARCH__=900)
    foreach(kind IN LISTS emulated_graphs)
        heddle_add_emulated(graph_${kind} test_graph.cpp ${kind}_1)
    endforeach()
    foreach(kind IN LISTS emulated_joins)
        heddle_add_emulated(join_${kind} test_join.cpp ${kind}_1)
    endforeach()
    foreach(kind IN LISTS emulated_sorts)
        heddle_add_emulated(partition_${kind} test_partition.cpp ${kind}_1)
    endforeach()
    foreach(kind 32_0 64_0)
        heddle_add_emulated(filter_${kind} test_filter.cpp ${kind}_1)
    endforeach()
    heddle_add_emulated(grouped test_grouped.cpp 32_32_1)
    foreach(value_bits 32 64)
        heddle_add_emulated(lists_${value_bits} test_lists.cpp 32_${value_bits}_1)
    endforeach()
    foreach(kind 32_0 32_32 32_64 64_32 64_64)
        heddle_add_emulated(slab_${kind} test_slab.cpp ${kind}_1)
    endforeach()
    # They name their tables themselves.
    foreach(test device device_iceberg device_multi device_lists)
        heddle_add_emulated(${test} test_${test}.cpp 32_32_1)
        set_target_properties(test_cuda_on_cpu_${test} PROPERTIES COMPILE_DEFINITIONS LOAD_ELEMENT=8)
    endforeach()
endif()
