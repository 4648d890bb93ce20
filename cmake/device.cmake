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

if(heddle_has_cuda)
    set(functions ${PROJECT_SOURCE_DIR}/src/cuda/inside/device_functions.cu)
    set(flags -std=c++17 -O3 -rdc=true -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
    set(made)
    foreach(form ptx ltoir)
        set(out ${PROJECT_BINARY_DIR}/heddle_device.${form})
        set(how -arch=compute_75 -ptx)
        if(form STREQUAL ltoir)
            set(how -arch=lto_75 -dlto -ltoir)
        endif()
        add_custom_command(OUTPUT ${out}
            COMMAND ${CMAKE_CUDA_COMPILER} ${flags} ${how} -MD -MF ${out}.d -MT ${out} ${functions} -o ${out}
            DEPENDS ${functions} DEPFILE ${out}.d COMMENT "Device functions as ${form}" VERBATIM)
        list(APPEND made ${out})
    endforeach()
    add_custom_target(heddle_device_code ALL DEPENDS ${made})
    install(FILES ${made} DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle)
endif()
