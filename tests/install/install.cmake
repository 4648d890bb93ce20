# The libraries as others meet them: their exported names, programs outside this tree that are built against
# an installed copy, README's own lines, and packages.

# README's table and picture are what bench/results says.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
    add_test(NAME readme_figure COMMAND
        ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/readme_figure.py --check)
endif()
add_test(NAME exports COMMAND
    sh ${CMAKE_CURRENT_LIST_DIR}/exports.sh $<TARGET_FILE:heddle> ${heddle_abi_version})
# heddle.spdx and SECURITY.md say how the libraries are linked and built.
set(built $<TARGET_FILE:heddle>)
if(heddle_has_mpi)
    list(APPEND built $<TARGET_FILE:heddle_mpi>)
endif()
if(NOT heddle_sanitizers)
    add_test(NAME spdx COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/spdx.sh ${built})
    if(HEDDLE_HARDEN AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        add_test(NAME hardened COMMAND
            sh ${CMAKE_CURRENT_LIST_DIR}/hardened.sh ${built} $<TARGET_FILE:heddle_tool>)
        set_tests_properties(hardened PROPERTIES SKIP_RETURN_CODE 77)
    endif()
    set_tests_properties(spdx PROPERTIES SKIP_RETURN_CODE 77)
endif()
# Of all tables the library may be larger. GPU code for one chip is a quarter of PTX for two and code for one, the default.
if(CMAKE_STRIP AND NOT HEDDLE_TABLES STREQUAL "full" AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(megabytes 8)
    if(heddle_has_cuda)
        set(megabytes 40)
        list(LENGTH CMAKE_CUDA_ARCHITECTURES chips)
        if(chips EQUAL 1)
            set(megabytes 20)
        endif()
    endif()
    add_test(NAME size COMMAND
        sh ${CMAKE_CURRENT_LIST_DIR}/size.sh $<TARGET_FILE:heddle> ${CMAKE_STRIP} ${megabytes})
endif()
if(NOT CMAKE_CROSSCOMPILING) # they run what they build
    add_test(NAME install COMMAND
        sh ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND}
           ${CMAKE_C_COMPILER} "$<$<BOOL:${heddle_has_mpi}>:${MPI_C_COMPILER}>")
    foreach(test readme packages)
        add_test(NAME ${test} COMMAND
            bash ${CMAKE_CURRENT_LIST_DIR}/${test}.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    endforeach()
    # pkg-config is needed by these tests alone; exit code 77 says that it, or what makes packages, is not
    # there. All of them write the build folder's list of installed files.
    set_tests_properties(install readme packages PROPERTIES
        SKIP_RETURN_CODE 77 RESOURCE_LOCK installed_files TIMEOUT 300)
endif()
foreach(test readme_figure exports size install readme packages)
    if(TEST ${test})
        set_tests_properties(${test} PROPERTIES LABELS install)
    endif()
endforeach()
