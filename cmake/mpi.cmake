# libheddle_mpi: clusters over MPI (include/heddle/mpi.h), in a library of its own so that libheddle needs no
# MPI. Sets heddle_has_mpi.

set(heddle_has_mpi FALSE)
if(NOT HEDDLE_MPI STREQUAL "OFF" AND NOT heddle_sanitizers) # MPI's own memory is not the sanitizers' affair
    find_package(MPI COMPONENTS C)
    set(heddle_has_mpi ${MPI_C_FOUND})
endif()
if(NOT heddle_has_mpi)
    if(HEDDLE_MPI STREQUAL "ON")
        message(FATAL_ERROR "MPI is missing: scripts/setup.sh installs it, HEDDLE_MPI=OFF does without")
    endif()
    message(STATUS "libheddle_mpi: left out")
    return()
endif()

add_library(heddle_mpi SHARED src/mpi/mpi_transport.c)
add_library(heddle::heddle_mpi ALIAS heddle_mpi)
target_include_directories(heddle_mpi PRIVATE src)
target_link_libraries(heddle_mpi PUBLIC heddle MPI::MPI_C)
set_target_properties(heddle_mpi PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${heddle_abi_version}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# `heddle bench dist` under mpirun.
file(GLOB dist_sources CONFIGURE_DEPENDS tools/heddle/bench/dist/*.c)
list(FILTER dist_sources EXCLUDE REGEX "/local\\.c$") # clusters of one process
list(APPEND dist_sources tools/heddle/read.c tools/heddle/bench/keys.c tools/heddle/bench/rows.c
     tools/heddle/command/read.c tools/heddle/command/text.c tools/heddle/command/help.c
     tools/heddle/bench/line.c tools/heddle/bench/titles.c tools/heddle/bench/head.c tools/heddle/progress.c)
add_executable(heddle_mpi_tool tools/mpi/bench_mpi.c tools/mpi/tool_words.c ${dist_sources})
target_include_directories(heddle_mpi_tool PRIVATE tools/heddle)
target_link_libraries(heddle_mpi_tool PRIVATE heddle_bench heddle_mpi)
set_target_properties(heddle_mpi_tool PROPERTIES
    OUTPUT_NAME heddle-mpi RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    INSTALL_RPATH "$ORIGIN/${heddle_libraries_from_programs}")
