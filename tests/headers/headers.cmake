# What the compiler alone can check: the public header in both languages, and that the tables'
# sources stay in the common part of C11 and C++17 (nvcc compiles the schemes as C++).

set(strict -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I${PROJECT_SOURCE_DIR}/include)
set(alone ${CMAKE_CURRENT_LIST_DIR}/alone.c)
add_test(NAME header_c11 COMMAND ${CMAKE_C_COMPILER} -std=c11 ${strict} ${alone})
add_test(NAME header_cxx17 COMMAND ${CMAKE_CXX_COMPILER} -std=c++17 ${strict} -x c++ ${alone})

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
