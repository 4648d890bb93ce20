# The Python package is python/heddle and, in a wheel, the library beside it under the one name that loaders ask for:
# a wheel has no symbolic links; with CUDA also the functions for kernels (cmake/device.cmake). Only scikit-build-core
# (pyproject.toml) asks for this component and for this target.

if(DEFINED SKBUILD)
    target_link_options(heddle PRIVATE LINKER:--strip-all)
    install(PROGRAMS $<TARGET_FILE:heddle> RENAME libheddle.so.${heddle_abi_version} DESTINATION heddle/lib
            COMPONENT python)
    add_custom_target(heddle_wheel DEPENDS heddle)
    if(heddle_has_cuda)
        add_dependencies(heddle_wheel heddle_device_code)
        install(FILES ${heddle_device_code_files} DESTINATION heddle/lib COMPONENT python)
    endif()
endif()
