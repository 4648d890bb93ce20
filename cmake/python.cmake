# The Python package is python/heddle and, in a wheel, the library beside it under the one name that loaders ask for:
# a wheel has no symbolic links. Only scikit-build-core (pyproject.toml) asks for this component.

if(DEFINED SKBUILD)
    target_link_options(heddle PRIVATE LINKER:--strip-all)
    install(PROGRAMS $<TARGET_FILE:heddle> RENAME libheddle.so.${heddle_abi_version} DESTINATION heddle/lib
            COMPONENT python)
endif()
