# Tests of libheddle_mpi: each program is run by several numbers of ranks, on the CPU.

if(NOT heddle_has_mpi)
    return()
endif()

# With the static library and the sources of libheddle_mpi: one copy of everything.
foreach(name mpi mpi_relations mpi_lost mpi_faults mpi_long)
    add_executable(test_${name} mpi/test_${name}.c ${PROJECT_SOURCE_DIR}/src/mpi/mpi_transport.c)
    target_link_libraries(test_${name} PRIVATE test_support_code MPI::MPI_C)
endforeach()

# Open MPI asks that running as root and with more ranks than cores be meant.
set(mpi_environment "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_mpi_yield_when_idle=1")
function(heddle_add_mpi_test name ranks)
    add_test(NAME ${name}_${ranks}
        COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_${name}>)
    set_tests_properties(${name}_${ranks} PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${mpi_environment}")
endfunction()

foreach(ranks 1 2 3 5)
    heddle_add_mpi_test(mpi ${ranks})
    heddle_add_mpi_test(mpi_relations ${ranks})
endforeach()
foreach(ranks 2 3)
    heddle_add_mpi_test(mpi_lost ${ranks})
    heddle_add_mpi_test(mpi_faults ${ranks})
endforeach()
# Of these most time is waiting.
set_tests_properties(mpi_lost_2 mpi_lost_3 PROPERTIES PROCESSORS 1)
heddle_add_mpi_test(mpi_long 2)
set_tests_properties(mpi_long_2 PROPERTIES SKIP_RETURN_CODE 77)

# The tool: groups of the first ranks while the others wait, the model by all of them, and what is refused by all.
add_test(NAME mpi_tool COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:heddle_mpi_tool>
    --members 3,2 --scaling strong,weak --distribution hot --keys 2^13 --repeat 1 --model --op build,find,group)
add_test(NAME mpi_tool_refuses COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:heddle_mpi_tool> --members 2,3 --keys 2^12 --repeat 1)
set_tests_properties(mpi_tool mpi_tool_refuses PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${mpi_environment}")
set_tests_properties(mpi_tool_refuses PROPERTIES PASS_REGULAR_EXPRESSION "--members 3 is more than the 2 ranks")
