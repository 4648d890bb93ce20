# What the two libraries are called, what they are linked with and what they show.
#
# The shared library keeps its needs to itself: the CUDA runtime and libstdc++ (which nvcc's objects
# may refer to) are linked in statically and hidden by the symbol map, so a C program needs only
# -lheddle. The static library hands its needs on.

foreach(library heddle heddle_static)
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(${library} PROPERTIES
        OUTPUT_NAME heddle
        LINKER_LANGUAGE C
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endforeach()

configure_file(${PROJECT_SOURCE_DIR}/cmake/libheddle.map.in libheddle.map @ONLY)
set(symbol_map ${PROJECT_BINARY_DIR}/libheddle.map)
set_target_properties(heddle PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${heddle_abi_version} LINK_DEPENDS ${symbol_map})
target_link_options(heddle PRIVATE LINKER:--version-script=${symbol_map})
if(NOT heddle_sanitizers) # clang leaves the sanitizers' symbols to the program
    target_link_options(heddle PRIVATE LINKER:--no-undefined)
endif()

# Names instead of paths where the need goes into installed files: libgomp belongs to the compiler
# that made the objects, not to the one that links them.
set(system_libraries Threads::Threads ${CMAKE_DL_LIBS} rt m)
set(heddle_private_libraries ${OpenMP_C_LIB_NAMES} pthread ${CMAKE_DL_LIBS} rt m)
list(REMOVE_DUPLICATES heddle_private_libraries)
target_link_libraries(heddle PRIVATE OpenMP::OpenMP_C ${system_libraries})
target_link_libraries(heddle_static
    PUBLIC "$<BUILD_INTERFACE:OpenMP::OpenMP_C;${system_libraries}>"
    INTERFACE "$<INSTALL_INTERFACE:${heddle_private_libraries}>")

if(heddle_has_cuda)
    set_target_properties(heddle heddle_static PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(heddle PRIVATE CUDA::cudart_static)
    target_link_options(heddle PRIVATE -static-libstdc++ -static-libgcc)
    target_link_libraries(heddle_static PUBLIC CUDA::cudart_static INTERFACE stdc++)
endif()
