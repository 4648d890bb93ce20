# Makes the compiled tables of src/instances.def: one small source file for every table and every
# tile, which names the table's parameters and includes the engine's instance file.
#
# Likewise one for every kind of pair and everything that works on sorted pairs (model/partition.h).
#
# Sets heddle_instance_sources and heddle_instance_dir, which also holds
#   instances.h         HD_INSTANCE(name) for every table, to be included with that macro defined
#   instances_config.h  HD_HAVE_AVX2 and so on: the tiles and engines that are compiled
#
# HEDDLE_INSTANCES, where it is given, says which lines of the file are compiled. Else HEDDLE_TABLES
# does: the lines marked `default`, or all of them.
#
# file(CONFIGURE) touches a file only when its content changes, so a new line in instances.def
# compiles that line alone.

set(heddle_instance_dir ${PROJECT_BINARY_DIR}/instances)
set(heddle_instance_sources)
set(heddle_instance_names)
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

# One source file: what `included` does for one kind of pair, with the flags of a tile where one is named.
function(heddle_add_pair_kind name key_bits value_bits included tile)
    set(tile_line)
    if(tile)
        string(TOUPPER ${tile} TILE)
        set(tile_line "#define HD_TILE_${TILE} 1\n")
    endif()
    get_filename_component(extension ${included} EXT)
    set(file ${heddle_instance_dir}/${name}${extension})
    file(CONFIGURE OUTPUT ${file} CONTENT [[
/* Made by cmake/instances.cmake. */
#define HD_KEY_BITS @key_bits@
#define HD_VALUE_BITS @value_bits@
#define HD_BUCKET 1
#define HD_SYMBOL @name@
@tile_line@#include "@included@"
]] @ONLY)
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${tile_flags_${tile}}")
    set(heddle_instance_sources ${heddle_instance_sources} ${file} PARENT_SCOPE)
endfunction()

file(STRINGS ${instances_def} lines)
foreach(line IN LISTS lines)
    string(REGEX REPLACE "#.*" "" line "${line}")
    string(STRIP "${line}" line)
    if(line STREQUAL "")
        continue()
    endif()
    if(NOT line MATCHES "^([a-z_]+) +(32|64) +(0|32|64) +([0-9]+)( +default)?$")
        message(FATAL_ERROR "src/instances.def: '${line}' is not: scheme, key bits, value bits, bucket [default]")
    endif()
    set(by_default ${CMAKE_MATCH_5})
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

# The kinds of HD_PAIR_KINDS and, for relations, HD_RELATE_KINDS.
foreach(key_bits 32 64)
    foreach(value_bits 0 32 64)
        foreach(part partition slab_runs graph relate slabs)
            set(name hd_${part}_k${key_bits}_v${value_bits})
            set(file ${part}/${part})
            if(part STREQUAL slab_runs)
                set(file slabs/slab_runs)
            endif()
            if(part STREQUAL relate)
                if(value_bits EQUAL 0)
                    continue()
                endif()
                set(name hd_${part}_k${key_bits}_r${value_bits})
            endif()
            if(part STREQUAL partition OR part STREQUAL slab_runs)
                foreach(tile IN LISTS heddle_tiles)
                    heddle_add_pair_kind(${name}_${tile} ${key_bits} ${value_bits} cpu/${file}.c
                        ${tile})
                endforeach()
            else()
                heddle_add_pair_kind(${name}_cpu ${key_bits} ${value_bits} cpu/${file}.c "")
            endif()
            if(heddle_has_cuda AND NOT part STREQUAL slab_runs)
                heddle_add_pair_kind(${name}_cuda ${key_bits} ${value_bits} cuda/${part}/${part}.cu "")
            endif()
        endforeach()
    endforeach()
endforeach()
# Bloom filters know keys alone.
foreach(key_bits 32 64)
    heddle_add_pair_kind(hd_filter_k${key_bits}_cpu ${key_bits} 0 cpu/filter/filter.c "")
    if(heddle_has_cuda)
        heddle_add_pair_kind(hd_filter_k${key_bits}_cuda ${key_bits} 0 cuda/filter/filter.cu "")
    endif()
endforeach()
# The owners of keys know keys alone, too.
foreach(key_bits 32 64)
    heddle_add_pair_kind(hd_owners_k${key_bits}_cpu ${key_bits} 0 cpu/route/owners.c "")
    foreach(tile IN LISTS heddle_tiles)
        heddle_add_pair_kind(hd_owner_steps_k${key_bits}_${tile} ${key_bits} 0 cpu/route/owner_steps.c ${tile})
    endforeach()
    if(heddle_has_cuda)
        heddle_add_pair_kind(hd_owners_k${key_bits}_cuda ${key_bits} 0 cuda/route/owners.cu "")
    endif()
endforeach()
# Lists know values alone; the name has a key width for the sake of the others'.
foreach(value_bits 32 64)
    heddle_add_pair_kind(hd_lists_k32_v${value_bits}_cpu 32 ${value_bits} cpu/lists/lists.c "")
    if(heddle_has_cuda)
        heddle_add_pair_kind(hd_lists_k32_v${value_bits}_cuda 32 ${value_bits} cuda/lists/lists.cu "")
    endif()
endforeach()
list(LENGTH heddle_instance_names instance_count)
if(instance_count EQUAL 0)
    message(FATAL_ERROR "No line of src/instances.def matches HEDDLE_INSTANCES=${HEDDLE_INSTANCES}")
endif()
list(JOIN heddle_tiles " " tile_text)
message(STATUS "Compiled tables: ${instance_count}, CPU tiles: ${tile_text}")

list(TRANSFORM heddle_instance_names REPLACE "(.+)" "HD_INSTANCE(\\1)\n" OUTPUT_VARIABLE list_text)
list(JOIN list_text "" list_text)
file(CONFIGURE OUTPUT ${heddle_instance_dir}/instances.h CONTENT "@list_text@" @ONLY)

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
