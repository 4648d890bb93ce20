# The fuzzers; see fuzz.h. The tests fuzz_NAME run plain_main.c over the corpora. With HEDDLE_FUZZ the programs have
# libFuzzer's main instead, and scripts/fuzz.sh runs them: `fuzzers` builds them all.

set(fuzz_dir ${CMAKE_CURRENT_LIST_DIR})

# Every width and bucket, as each tile of the CPU's sees it.
set(tile_sources)
set(tile_externs)
set(tile_names)
foreach(k 32 64)
    foreach(v 0 32 64)
        foreach(b 4 8 16 32)
            foreach(tile IN LISTS heddle_tiles) # scalar is the first
                set(symbol fuzz_tile_k${k}_v${v}_b${b}_${tile})
                string(TOUPPER ${tile} TILE)
                set(file ${CMAKE_CURRENT_BINARY_DIR}/tile_kinds/${symbol}.c)
                file(CONFIGURE OUTPUT ${file} CONTENT [[
#define HD_KEY_BITS @k@
#define HD_VALUE_BITS @v@
#define HD_BUCKET @b@
#define HD_TILE_@TILE@ 1
#define HD_TILE_NAME "@tile@"
#define HD_TILE_SYMBOL @symbol@
#include "fuzz/tile_queries.inl"
]] @ONLY)
                set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${tile_flags_${tile}}")
                list(APPEND tile_sources ${file})
                string(APPEND tile_externs "extern const tile_kind ${symbol};\n")
                string(APPEND tile_names "    &${symbol},\n")
            endforeach()
        endforeach()
    endforeach()
endforeach()
set(file ${CMAKE_CURRENT_BINARY_DIR}/tile_kinds/fuzz_tile_kinds.c)
file(CONFIGURE OUTPUT ${file} CONTENT [[
#include "fuzz/tile_queries.h"
@tile_externs@
const tile_kind *const tile_kinds[] = {
@tile_names@};
const uint32_t tile_kind_count = sizeof tile_kinds / sizeof tile_kinds[0];
]] @ONLY)
list(APPEND tile_sources ${file})

add_library(fuzz_support STATIC ${fuzz_dir}/fuzz.c ${fuzz_dir}/mend.c ${fuzz_dir}/use_table.c)
target_link_libraries(fuzz_support PUBLIC heddle_internal OpenMP::OpenMP_C)
target_include_directories(fuzz_support PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${fuzz_dir})
add_custom_target(fuzzers)

# One program, and the test that makes so many changes of its corpus.
function(heddle_add_fuzzer name runs)
    add_executable(fuzz_${name} ${fuzz_dir}/fuzz_${name}.c ${ARGN})
    target_link_libraries(fuzz_${name} PRIVATE fuzz_support)
    add_dependencies(fuzzers fuzz_${name})
    if(HEDDLE_FUZZ)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    target_sources(fuzz_${name} PRIVATE ${fuzz_dir}/plain_main.c)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -runs=${runs} ${fuzz_dir}/corpus/${name})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 900)
endfunction()

heddle_add_fuzzer(table_file 4000)
heddle_add_fuzzer(filter_file 8000)
heddle_add_fuzzer(shelf 1500)
heddle_add_fuzzer(column_file 20000)
heddle_add_fuzzer(npy 1000000)
heddle_add_fuzzer(tiles 500000 ${tile_sources})
if(TARGET test_support_code)
    heddle_add_fuzzer(operations 1500)
    target_link_libraries(fuzz_operations PRIVATE test_support_code)
endif()

# The tool without what it does: all of its files except those that measure and that make the calls of shelves, whose
# first functions are in the fuzzer; its main under another name.
if(TARGET heddle_tool)
    file(GLOB_RECURSE fuzz_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/heddle/*.c)
    list(FILTER fuzz_tool_sources EXCLUDE REGEX "/heddle/(shelf/calls|bench/bench)\\.c$")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/tools/heddle/main.c PROPERTIES
        COMPILE_DEFINITIONS main=heddle_tool_main)
    heddle_add_fuzzer(command_line 100000 ${fuzz_tool_sources})
    target_include_directories(fuzz_command_line PRIVATE ${PROJECT_SOURCE_DIR}/tools/heddle)
    target_link_libraries(fuzz_command_line PRIVATE heddle_bench)
endif()

# Writes the files with which the corpora began.
add_executable(fuzz_seeds ${fuzz_dir}/seeds.c)
target_link_libraries(fuzz_seeds PRIVATE fuzz_support)
add_dependencies(fuzzers fuzz_seeds)
