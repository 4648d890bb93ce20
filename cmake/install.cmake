# `cmake --install`: header, libraries, tool, pkg-config file and CMake package. All of them find
# each other by relative paths, so the installed tree may be moved.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# mpi.h comes with its library alone.
install(DIRECTORY include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN mpi.h EXCLUDE)
# Two export files: only a program that links the static library has to have what that needs.
install(TARGETS heddle EXPORT heddle_shared LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS heddle_static EXPORT heddle_static)
install(EXPORT heddle_shared NAMESPACE heddle:: FILE heddleTargets.cmake DESTINATION ${package_dir})
install(EXPORT heddle_static NAMESPACE heddle:: FILE heddleStaticTargets.cmake
        DESTINATION ${package_dir})
if(TARGET heddle_tool)
    install(TARGETS heddle_tool COMPONENT tool)
endif()
include(cmake/manual.cmake)
if(heddle_has_mpi)
    install(FILES include/heddle/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle COMPONENT mpi_dev)
    # Likewise: only who links libheddle_mpi has to have MPI. It lies beside libheddle.
    set_target_properties(heddle_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS heddle_mpi EXPORT heddle_mpi
            LIBRARY COMPONENT mpi_library NAMELINK_COMPONENT mpi_dev)
    install(EXPORT heddle_mpi NAMESPACE heddle:: FILE heddleMpiTargets.cmake
            DESTINATION ${package_dir} COMPONENT mpi_dev)
    install(TARGETS heddle_mpi_tool COMPONENT mpi_tool)
endif()

configure_package_config_file(cmake/heddleConfig.cmake.in heddleConfig.cmake
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddleConfig.cmake
              ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake
        DESTINATION ${package_dir})

list(TRANSFORM heddle_private_libraries PREPEND "-l" OUTPUT_VARIABLE private_flags)
list(JOIN private_flags " " private_flags)
if(heddle_has_cuda)
    set(private_flags "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ ${private_flags}")
endif()
file(RELATIVE_PATH up_to_prefix /prefix/${pkgconfig_dir} /prefix)
# heddle-static.pc is for those who want libheddle.a although libheddle.so lies beside it.
set(pc_libraries "-L\${libdir} -lheddle\nLibs.private: ${private_flags}")
configure_file(cmake/heddle.pc.in heddle.pc @ONLY)
set(pc_libraries "\${libdir}/libheddle.a ${private_flags}")
configure_file(cmake/heddle.pc.in heddle-static.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heddle.pc ${PROJECT_BINARY_DIR}/heddle-static.pc
        DESTINATION ${pkgconfig_dir})
if(heddle_has_mpi)
    configure_file(cmake/heddle_mpi.pc.in heddle_mpi.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/heddle_mpi.pc DESTINATION ${pkgconfig_dir} COMPONENT mpi_dev)
endif()

# What `make install` builds: all that is installed, and neither tests nor examples.
add_custom_target(heddle_installed DEPENDS heddle heddle_static)
foreach(target heddle_tool heddle_manual heddle_mpi heddle_mpi_tool heddle_device_code)
    if(TARGET ${target})
        add_dependencies(heddle_installed ${target})
    endif()
endforeach()

include(cmake/package.cmake)
