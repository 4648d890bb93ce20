# The libraries as others meet them: their exported names, and a program outside this tree that is
# built against an installed copy.

add_test(NAME exports COMMAND
    sh ${CMAKE_CURRENT_LIST_DIR}/exports.sh $<TARGET_FILE:heddle> ${heddle_abi_version})
if(NOT CMAKE_CROSSCOMPILING) # it runs what it builds
    add_test(NAME install COMMAND
        sh ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND}
           ${CMAKE_C_COMPILER} "$<$<BOOL:${heddle_has_mpi}>:${MPI_C_COMPILER}>")
    # pkg-config is needed by this test alone; exit code 77 says that it is not there.
    set_tests_properties(install PROPERTIES SKIP_RETURN_CODE 77)
endif()
