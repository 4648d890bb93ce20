# Decides whether the CUDA engine is built: sets heddle_has_cuda.

set(heddle_has_cuda 0)
set(reason "HEDDLE_CUDA=OFF")
if(heddle_sanitizers AND HEDDLE_CUDA)
    # The host sanitizers and the CUDA driver contend for the same address ranges.
    set(reason "sanitizer build")
elseif(HEDDLE_CUDA)
    # The toolkit's own installer does not put nvcc on the PATH.
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(HEDDLE_NVCC nvcc PATHS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
                     PATH_SUFFIXES bin)
        mark_as_advanced(HEDDLE_NVCC)
        if(HEDDLE_NVCC)
            set(CMAKE_CUDA_COMPILER ${HEDDLE_NVCC})
        endif()
    endif()
    # PTX of the oldest generation, which the driver compiles for every later chip, and machine code
    # for Hopper, which then starts without that compilation.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        set(CMAKE_CUDA_ARCHITECTURES "75-virtual;90")
    endif()
    if(HEDDLE_CUDA STREQUAL "AUTO")
        include(CheckLanguage)
        check_language(CUDA)
        set(reason "no nvcc")
    endif()
    if(CMAKE_CUDA_COMPILER OR NOT HEDDLE_CUDA STREQUAL "AUTO")
        enable_language(CUDA)
        find_package(CUDAToolkit REQUIRED)
        set(heddle_has_cuda 1)
    endif()
endif()

if(heddle_has_cuda)
    message(STATUS "CUDA engine: nvcc ${CMAKE_CUDA_COMPILER_VERSION} for "
                   "${CMAKE_CUDA_ARCHITECTURES}")
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    # Device code compressed, and without line tables in a release: a fifth of the size.
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xfatbin=-compress-all;-Xcompiler=-Wall,-Wextra>"
                        "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<CONFIG:Release>>>:-lineinfo>")
else()
    message(STATUS "CUDA engine: left out (${reason})")
endif()
