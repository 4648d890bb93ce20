# What the compiler alone can check: the public header in both languages, and that the tables'
# sources stay in the common part of C11 and C++17 (nvcc compiles the schemes as C++).

set(strict -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I${PROJECT_SOURCE_DIR}/include)
set(alone ${CMAKE_CURRENT_LIST_DIR}/alone.c)
add_test(NAME header_c11 COMMAND ${CMAKE_C_COMPILER} -std=c11 ${strict} ${alone})
add_test(NAME header_cxx17 COMMAND ${CMAKE_CXX_COMPILER} -std=c++17 ${strict} -x c++ ${alone})

# Every public header alone, twice, in both languages.
file(GLOB public_headers RELATIVE ${PROJECT_SOURCE_DIR}/include
     ${PROJECT_SOURCE_DIR}/include/heddle/*.h)
list(REMOVE_ITEM public_headers heddle/mpi.h) # which needs MPI's
foreach(header IN LISTS public_headers)
    get_filename_component(name ${header} NAME_WE)
    set(arguments ${strict} -DHEDDLE_UNSTABLE -DHEADER=<${header}>)
    add_test(NAME header_${name}_c11 COMMAND
        ${CMAKE_C_COMPILER} -std=c11 ${arguments} ${CMAKE_CURRENT_LIST_DIR}/alone_any.c)
    add_test(NAME header_${name}_cxx17 COMMAND
        ${CMAKE_CXX_COMPILER} -std=c++17 ${arguments} -x c++ ${CMAKE_CURRENT_LIST_DIR}/alone_any.c)
    add_test(NAME header_${name}_in_extern_c COMMAND
        ${CMAKE_CXX_COMPILER} -std=c++17 ${arguments} -DIN_EXTERN_C -x c++ ${CMAKE_CURRENT_LIST_DIR}/alone_any.c)
endforeach()
add_test(NAME header_unstable_needs_its_macro COMMAND ${CMAKE_C_COMPILER} -std=c11 ${strict}
    -DHEADER=<heddle/unstable.h> ${CMAKE_CURRENT_LIST_DIR}/alone_any.c)
set_tests_properties(header_unstable_needs_its_macro PROPERTIES WILL_FAIL TRUE)

# Arrays of wrong types do not compile.
add_test(NAME header_types COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/types.sh
    ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})

add_test(NAME header_abi COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/abi.sh ${CMAKE_C_COMPILER}
    $<TARGET_FILE:heddle>)
set(mpi_library)
if(heddle_has_mpi)
    set(mpi_library $<TARGET_FILE:heddle_mpi>)
endif()
add_test(NAME header_abi_mpi COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/abi_mpi.sh ${mpi_library})
# A program of this ABI's first day runs with the library of today.
if(NOT heddle_sanitizers) # a plain program cannot link a library that needs a sanitizer
    add_executable(old_program ${CMAKE_CURRENT_LIST_DIR}/old_program.c)
    target_compile_definitions(old_program PRIVATE OLD_INTERFACE="interface_${heddle_abi_version}.h")
    target_link_libraries(old_program PRIVATE $<TARGET_FILE:heddle>) # the file: without its include folders
    add_dependencies(old_program heddle)
    set_target_properties(old_program PROPERTIES BUILD_RPATH ${PROJECT_BINARY_DIR})
    add_test(NAME old_program COMMAND old_program)
    set_tests_properties(old_program PROPERTIES TIMEOUT 300)
endif()

# One table of each scheme, key width and value width: the bucket size changes no syntax.
set(seen)
foreach(name IN LISTS heddle_instance_names)
    string(REGEX REPLACE "_b[0-9]+$" "" widths ${name})
    if(NOT widths IN_LIST seen)
        list(APPEND seen ${widths})
        add_test(NAME syntax_${widths} COMMAND
            ${CMAKE_CXX_COMPILER} -std=c++17 -fsyntax-only -Wall ${OpenMP_C_FLAGS}
            -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -I${heddle_instance_dir}
            -x c++ ${heddle_instance_dir}/${name}_scalar.c)
    endif()
endforeach()

# Private headers stand alone, fragments say who includes them, and no room includes one above it.
add_test(NAME headers_alone COMMAND ${CMAKE_CURRENT_LIST_DIR}/private.sh ${CMAKE_C_COMPILER} ${PROJECT_BINARY_DIR})
add_test(NAME rooms COMMAND ${PROJECT_SOURCE_DIR}/scripts/rooms.sh)

# Every folder of src/ has a page that lists its files.
add_test(NAME room_pages COMMAND ${CMAKE_CURRENT_LIST_DIR}/pages.sh)

# Every allocation can be made to fail.
add_test(NAME allocations COMMAND ${CMAKE_CURRENT_LIST_DIR}/allocations.sh)

# The environment changes what the library does where a page says so, and nowhere else.
add_test(NAME environment COMMAND ${CMAKE_CURRENT_LIST_DIR}/environment.sh)

# The sources are formatted.
add_test(NAME format COMMAND ${CMAKE_CURRENT_LIST_DIR}/format.sh)
set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77)
