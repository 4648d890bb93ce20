# The cmocka programs; see CMakeLists.txt beside this file.

set(cmocka ${CMOCKA_LIBRARY})
if(HEDDLE_STATIC_CMOCKA)
    find_library(CMOCKA_ARCHIVE NAMES libcmocka.a libcmocka-static.a)
    mark_as_advanced(CMOCKA_ARCHIVE)
    if(CMOCKA_ARCHIVE)
        set(cmocka ${CMOCKA_ARCHIVE})
    else()
        # Debian ships no archive: the shared library goes beside the programs, which look there.
        file(REAL_PATH ${CMOCKA_LIBRARY} cmocka_file)
        configure_file(${cmocka_file} libcmocka.so.0 COPYONLY)
    endif()
endif()

# SQLite is the judge of joins and group-bys where it is there.
# The archive goes into the program, which then runs on machines without SQLite, too.
find_path(SQLITE3_INCLUDE_DIR sqlite3.h)
find_library(SQLITE3_LIBRARY NAMES libsqlite3.a sqlite3)
mark_as_advanced(SQLITE3_INCLUDE_DIR SQLITE3_LIBRARY)

add_library(test_support INTERFACE)
target_link_libraries(test_support INTERFACE heddle_internal OpenMP::OpenMP_C ${cmocka})
target_include_directories(test_support INTERFACE ${CMAKE_CURRENT_SOURCE_DIR} ${CMOCKA_INCLUDE_DIR})
file(GLOB support_sources CONFIGURE_DEPENDS support/*.c)
list(FILTER support_sources EXCLUDE REGEX "/(sqlite_tables|failing_files|striking|counted_memory)\\.c$")
if(support_sources)
    add_library(test_support_code STATIC ${support_sources})
    target_link_libraries(test_support_code PUBLIC test_support)
else()
    add_library(test_support_code ALIAS test_support)
endif()

set(rooms table relation filter cluster shelf host engine tool)
list(TRANSFORM rooms APPEND "/test_*.c" OUTPUT_VARIABLE patterns)
file(GLOB programs CONFIGURE_DEPENDS ${patterns})
if(NOT SQLITE3_INCLUDE_DIR OR NOT SQLITE3_LIBRARY)
    message(STATUS "Tests against SQLite: left out (no sqlite3.h)")
    list(FILTER programs EXCLUDE REGEX "/test_sqlite[a-z_]*\\.c$")
endif()
if(heddle_has_cuda)
    # These use the CUDA runtime themselves.
    file(GLOB cuda_programs CONFIGURE_DEPENDS cuda/test_*.cu)
    list(APPEND programs ${cuda_programs})
    add_custom_target(cuda_tests) # all of them, to see that they compile
endif()
foreach(program IN LISTS programs)
    get_filename_component(target ${program} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${target})
    add_executable(${target} ${program})
    target_link_libraries(${target} PRIVATE test_support_code)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN")
    add_test(NAME ${name} COMMAND ${target})
    get_filename_component(room ${program} DIRECTORY)
    get_filename_component(room ${room} NAME)
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS ${room})
    if(room STREQUAL "cuda")
        add_dependencies(cuda_tests ${target})
    endif()
endforeach()

foreach(target test_sqlite test_sqlite_groups)
    if(TARGET ${target})
        target_sources(${target} PRIVATE support/sqlite_tables.c)
        target_include_directories(${target} PRIVATE ${SQLITE3_INCLUDE_DIR})
        target_link_libraries(${target} PRIVATE ${SQLITE3_LIBRARY} ${CMAKE_DL_LIBS})
    endif()
endforeach()

# These stand between the library and the system's functions on files.
foreach(target test_file_faults test_shelf_faults test_shelf_killed)
    target_sources(${target} PRIVATE support/failing_files.c support/striking.c)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endforeach()

foreach(target test_shelf_memory test_soak)
    target_sources(${target} PRIVATE support/counted_memory.c)
endforeach()

# What only benchmarks need.
target_link_libraries(test_graph_paper PRIVATE heddle_bench heddle_internal)

# Arithmetic of the tool.
target_sources(test_dist_model PRIVATE ${PROJECT_SOURCE_DIR}/tools/heddle/bench/dist/model.c)
target_include_directories(test_dist_model PRIVATE ${PROJECT_SOURCE_DIR}/tools/heddle)

include(cuda_on_cpu/cuda_on_cpu.cmake)
include(scheme/slab.cmake)

if(heddle_has_cuda)
    target_link_libraries(test_device PRIVATE heddle::device)
    target_compile_definitions(test_device PRIVATE
        HEDDLE_DEVICE_PTX="${PROJECT_BINARY_DIR}/heddle_device.ptx")
    add_dependencies(test_device heddle_device_code)
    # These link the functions for other languages with their own kernels.
    foreach(target test_device_iceberg test_device_values test_device_slab)
        target_link_libraries(${target} PRIVATE heddle::device)
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/cuda/inside/device_functions.cu)
        set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ON
            CUDA_RESOLVE_DEVICE_SYMBOLS ON)
    endforeach()
endif()
