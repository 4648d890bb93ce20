# Makes everything that is compiled more than once: the tables of src/instances.def, for every tile, and what
# works on keys and values of one width, for every pair of widths and, where vectors matter, for every tile. Each
# is one small source file that names its parameters and includes the file of the engine.
#
# Sets heddle_instance_sources, heddle_compiled_often (the files that are included so), heddle_device_tables (lines
# that are marked: SCHEME_KEYBITS_VALUEBITS_BUCKET) and heddle_instance_dir, which also holds
#   instances.h         what was compiled: HD_TABLE(symbol, target) for every table and HD_COMPILED(type, symbol, key
#                       bits, value bits, target) for everything else. engine/registry.c alone includes it
#   instances_config.h  HD_HAVE_AVX2 and so on: the tiles and engines that are compiled
# A target is a tile of the CPU's, "cpu" where the tile does not matter, or "cuda".
#
# HEDDLE_INSTANCES, where it is given, says which lines of the file are compiled. Else HEDDLE_TABLES
# does: the lines marked `default`, or all of them.
#
# file(CONFIGURE) touches a file only when its content changes, so a new line in instances.def
# compiles that line alone.

set(heddle_instance_dir ${PROJECT_BINARY_DIR}/instances)
set(heddle_instance_sources)
set(heddle_instance_names)
set(heddle_compiled_often)
set(heddle_device_tables)
set(compiled_lines)
if(NOT HEDDLE_TABLES MATCHES "^(default|full)$")
    message(FATAL_ERROR "HEDDLE_TABLES=${HEDDLE_TABLES} is neither default nor full")
endif()
set(instances_def ${PROJECT_SOURCE_DIR}/src/instances.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${instances_def})

set(heddle_tiles scalar)
if(NOT heddle_only_scalar)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
        list(APPEND heddle_tiles avx2)
        # gcc 12 out of registers, as sanitizers make it, keeps pointers in mask registers and copies
        # 32 bits of them: seen at -O1 with 64-bit pairs in buckets of 8.
        if(NOT (heddle_sanitizers AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND
                CMAKE_C_COMPILER_VERSION VERSION_LESS 13))
            list(APPEND heddle_tiles avx512)
        endif()
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
        list(APPEND heddle_tiles neon)
    endif()
endif()
if(HEDDLE_TILES)
    list(FILTER heddle_tiles INCLUDE REGEX "${HEDDLE_TILES}")
endif()
set(tile_flags_avx2 -mavx2 -mbmi -mbmi2)
set(tile_flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl ${tile_flags_avx2})

# One source file: the table `name` for one tile ("cuda" is one more tile, in another language).
function(heddle_add_instance name scheme key_bits value_bits bucket tile included)
    string(TOUPPER ${tile} TILE)
    get_filename_component(extension ${included} EXT)
    set(file ${heddle_instance_dir}/${name}_${tile}${extension})
    file(CONFIGURE OUTPUT ${file} CONTENT [[
/* Made from src/instances.def by cmake/instances.cmake. */
#define HD_SCHEME @scheme@
#define HD_SCHEME_HEADER "scheme/@scheme@.h"
#define HD_KEY_BITS @key_bits@
#define HD_VALUE_BITS @value_bits@
#define HD_BUCKET @bucket@
#define HD_INSTANCE_NAME "@name@"
#define HD_SYMBOL @name@_@tile@
#define HD_TILE_@TILE@ 1
#include "@included@"
]] @ONLY)
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${tile_flags_${tile}}")
    set(heddle_instance_sources ${heddle_instance_sources} ${file} PARENT_SCOPE)
endfunction()

# What `included` does for keys and values of one width: one source file for each of the targets, NAME_TARGET, which
# exports a record of this type under its name.
function(heddle_add_kind type name key_bits value_bits included)
    get_filename_component(extension ${included} EXT)
    foreach(target IN LISTS ARGN)
        set(symbol ${name}_${target})
        set(tile_line)
        if(target IN_LIST heddle_tiles)
            string(TOUPPER ${target} TILE)
            set(tile_line "#define HD_TILE_${TILE} 1\n")
        endif()
        set(file ${heddle_instance_dir}/${symbol}${extension})
        file(CONFIGURE OUTPUT ${file} CONTENT [[
/* Made by cmake/instances.cmake. */
#define HD_KEY_BITS @key_bits@
#define HD_VALUE_BITS @value_bits@
#define HD_BUCKET 1
#define HD_SYMBOL @symbol@
@tile_line@#include "@included@"
]] @ONLY)
        set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${tile_flags_${target}}")
        list(APPEND heddle_instance_sources ${file})
        string(APPEND compiled_lines
            "HD_COMPILED(${type}, ${symbol}, ${key_bits}, ${value_bits}, ${target})\n")
    endforeach()
    set(heddle_instance_sources ${heddle_instance_sources} PARENT_SCOPE)
    set(compiled_lines "${compiled_lines}" PARENT_SCOPE)
    set(heddle_compiled_often ${heddle_compiled_often} ${included} PARENT_SCOPE)
endfunction()

file(STRINGS ${instances_def} lines)
foreach(line IN LISTS lines)
    string(REGEX REPLACE "#.*" "" line "${line}")
    string(STRIP "${line}" line)
    if(line STREQUAL "")
        continue()
    endif()
    if(NOT line MATCHES "^([a-z_]+) +(32|64) +(0|32|64) +([0-9]+)( +default)?( +device)?$")
        message(FATAL_ERROR
            "src/instances.def: '${line}' is not: scheme, key bits, value bits, bucket [default] [device]")
    endif()
    set(by_default ${CMAKE_MATCH_5})
    if(CMAKE_MATCH_6)
        list(APPEND heddle_device_tables
            ${CMAKE_MATCH_1}_${CMAKE_MATCH_2}_${CMAKE_MATCH_3}_${CMAKE_MATCH_4})
    endif()
    set(parameters ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3} ${CMAKE_MATCH_4})
    set(name ${CMAKE_MATCH_1}_k${CMAKE_MATCH_2}_v${CMAKE_MATCH_3}_b${CMAKE_MATCH_4})
    string(REPLACE "_v0_" "_" name ${name})
    if(HEDDLE_INSTANCES AND NOT name MATCHES "${HEDDLE_INSTANCES}")
        continue()
    elseif(NOT HEDDLE_INSTANCES AND HEDDLE_TABLES STREQUAL "default" AND NOT by_default)
        continue()
    endif()
    list(APPEND heddle_instance_names ${name})
    foreach(tile IN LISTS heddle_tiles)
        heddle_add_instance(${name} ${parameters} ${tile} cpu/slots/instance.c)
    endforeach()
    if(heddle_has_cuda)
        heddle_add_instance(${name} ${parameters} cuda cuda/slots/instance.cu)
    endif()
endforeach()

set(cuda)
if(heddle_has_cuda)
    set(cuda cuda)
endif()
foreach(k 32 64)
    foreach(v 0 32 64)
        set(pair k${k}_v${v})
        heddle_add_kind(hd_partition_cpu hd_partition_${pair} ${k} ${v} cpu/partition/partition.c
            ${heddle_tiles})
        heddle_add_kind(hd_partition_cuda hd_partition_${pair} ${k} ${v} cuda/partition/partition.cu
            ${cuda})
        heddle_add_kind(hd_graph_ops hd_graph_${pair} ${k} ${v} cpu/graph/graph.c cpu)
        heddle_add_kind(hd_graph_ops hd_graph_${pair} ${k} ${v} cuda/graph/graph.cu ${cuda})
        heddle_add_kind(hd_slab_ops hd_slabs_${pair} ${k} ${v} cpu/slabs/slabs.c cpu)
        heddle_add_kind(hd_slab_runs hd_slab_runs_${pair} ${k} ${v} cpu/slabs/slab_runs.c
            ${heddle_tiles})
        heddle_add_kind(hd_slab_ops hd_slabs_${pair} ${k} ${v} cuda/slabs/slabs.cu ${cuda})
        if(NOT v EQUAL 0) # the numbers of rows
            set(rows k${k}_r${v})
            heddle_add_kind(hd_relate_ops hd_relate_${rows} ${k} ${v} cpu/relate/relate.c cpu)
            heddle_add_kind(hd_relate_ops hd_relate_${rows} ${k} ${v} cuda/relate/relate.cu ${cuda})
        endif()
    endforeach()
    # What knows keys alone.
    heddle_add_kind(hd_filter_ops hd_filter_k${k} ${k} 0 cpu/filter/filter.c cpu)
    heddle_add_kind(hd_filter_ops hd_filter_k${k} ${k} 0 cuda/filter/filter.cu ${cuda})
    heddle_add_kind(hd_owners_ops hd_owners_k${k} ${k} 0 cpu/route/owners.c cpu)
    heddle_add_kind(hd_owner_steps hd_owner_steps_k${k} ${k} 0 cpu/route/owner_steps.c
        ${heddle_tiles})
    heddle_add_kind(hd_owners_ops hd_owners_k${k} ${k} 0 cuda/route/owners.cu ${cuda})
endforeach()
# Lists know values alone; they have a width of keys for the sake of the headers they include.
foreach(v 32 64)
    heddle_add_kind(hd_list_ops hd_lists_k32_v${v} 32 ${v} cpu/lists/lists.c cpu)
    heddle_add_kind(hd_list_ops hd_lists_k32_v${v} 32 ${v} cuda/lists/lists.cu ${cuda})
endforeach()
list(APPEND heddle_compiled_often cpu/slots/instance.c cuda/slots/instance.cu)
list(REMOVE_DUPLICATES heddle_compiled_often)

list(LENGTH heddle_instance_names instance_count)
if(instance_count EQUAL 0)
    message(FATAL_ERROR "No line of src/instances.def matches HEDDLE_INSTANCES=${HEDDLE_INSTANCES}")
endif()
list(JOIN heddle_tiles " " tile_text)
message(STATUS "Compiled tables: ${instance_count}, CPU tiles: ${tile_text}")

# The tables of a target follow each other: the registry gives them out as one array.
foreach(target IN LISTS heddle_tiles cuda)
    foreach(name IN LISTS heddle_instance_names)
        string(APPEND compiled_lines "HD_TABLE(${name}_${target}, ${target})\n")
    endforeach()
endforeach()
string(APPEND compiled_lines "#undef HD_TABLE\n#undef HD_COMPILED\n")
file(CONFIGURE OUTPUT ${heddle_instance_dir}/instances.h CONTENT "@compiled_lines@" @ONLY)

set(config_text "#define HD_HAVE_CUDA ${heddle_has_cuda}\n")
foreach(tile avx2 avx512 neon)
    string(TOUPPER ${tile} TILE)
    set(have 0)
    if(tile IN_LIST heddle_tiles)
        set(have 1)
    endif()
    string(APPEND config_text "#define HD_HAVE_${TILE} ${have}\n")
endforeach()
file(CONFIGURE OUTPUT ${heddle_instance_dir}/instances_config.h CONTENT "@config_text@" @ONLY)
