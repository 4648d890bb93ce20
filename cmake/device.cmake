# Tables in kernels of a user's own: heddle/device.cuh with the private headers that it includes, and the
# same functions as PTX and LTO-IR for just-in-time linkers. heddle::device has the include paths.

set(heddle_device_headers base model slot pool tile scheme cuda)
add_library(heddle_device INTERFACE)
add_library(heddle::device ALIAS heddle_device)
set_target_properties(heddle_device PROPERTIES EXPORT_NAME device)
target_include_directories(heddle_device INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heddle/internal>)
target_compile_features(heddle_device INTERFACE cxx_std_17)
install(TARGETS heddle_device EXPORT heddle_shared)
foreach(folder IN LISTS heddle_device_headers)
    install(DIRECTORY src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/internal
            FILES_MATCHING PATTERN "*.h" PATTERN "*.inl")
endforeach()

# instances_device.h: the tables of src/cuda/inside/device_functions.cu, which includes it.
set(device_lines)
# One table, and the file that has its functions.
macro(heddle_add_device_table name scheme key_bits value_bits bucket file)
    string(APPEND device_lines "#define HEDDLE_NAME ${name}\n#define HEDDLE_SCHEME ${scheme}\n"
        "#define HEDDLE_KEY_BITS ${key_bits}\n#define HEDDLE_VALUE_BITS ${value_bits}\n"
        "#define HEDDLE_BUCKET ${bucket}\n#include \"cuda/inside/${file}\"\n\n")
endmacro()

foreach(table IN LISTS heddle_device_tables)
    string(REPLACE "_" ";" table ${table})
    list(GET table 1 key_bits)
    list(GET table 2 value_bits)
    list(GET table 3 bucket)
    list(GET table 0 scheme)
    string(REPLACE "_v0_" "_" widths _k${key_bits}_v${value_bits}_b${bucket})
    heddle_add_device_table(${scheme}${widths} ${table} functions.inl)
    if(scheme STREQUAL open AND NOT value_bits EQUAL 0)
        string(APPEND device_lines "#define HEDDLE_MULTIMAP\n")
        heddle_add_device_table(open_multimap${widths} ${table} functions_multi.inl)
    endif()
endforeach()
foreach(key_bits 32 64)
    foreach(value_bits 0 32 64)
        # A slab has room for as many pairs as its 120 bytes hold, so no number of slots is in the name.
        math(EXPR slots "120 * 8 / (${key_bits} + ${value_bits})")
        string(REPLACE "_v0" "" widths _k${key_bits}_v${value_bits})
        heddle_add_device_table(slab${widths} slab ${key_bits} ${value_bits} ${slots} functions.inl)
        if(NOT value_bits EQUAL 0)
            string(APPEND device_lines "#define HEDDLE_MULTIMAP\n")
            heddle_add_device_table(slab_multimap${widths} slab ${key_bits} ${value_bits} ${slots}
                functions_multi.inl)
            # The bucket is that of their table of keys, an open one.
            heddle_add_device_table(bucket_list${widths}_b8 bucket_list ${key_bits} ${value_bits} 8
                functions_multi.inl)
        endif()
    endforeach()
endforeach()
file(CONFIGURE OUTPUT ${heddle_instance_dir}/instances_device.h CONTENT "@device_lines@" @ONLY)

if(heddle_has_cuda)
    set(functions ${PROJECT_SOURCE_DIR}/src/cuda/inside/device_functions.cu)
    set(flags -std=c++17 -O3 -rdc=true -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
        -I${heddle_instance_dir})
    set(heddle_device_code_files)
    foreach(form ptx ltoir)
        set(out ${PROJECT_BINARY_DIR}/heddle_device.${form})
        set(how -arch=compute_75 -ptx)
        if(form STREQUAL ltoir)
            set(how -arch=lto_75 -dlto -ltoir)
        endif()
        add_custom_command(OUTPUT ${out}
            COMMAND ${CMAKE_CUDA_COMPILER} ${flags} ${how} -MD -MF ${out}.d -MT ${out} ${functions} -o ${out}
            DEPENDS ${functions} DEPFILE ${out}.d COMMENT "Device functions as ${form}" VERBATIM)
        list(APPEND heddle_device_code_files ${out})
    endforeach()
    add_custom_target(heddle_device_code ALL DEPENDS ${heddle_device_code_files})
    install(FILES ${heddle_device_code_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle)
endif()
