# `make package`: Debian packages and a tarball, by CPack.
#
#   libheddle1      libheddle.so.1                     the ABI version is in the name
#   libheddle-dev   headers, libheddle.a, CMake package, pkg-config, device functions
#   heddle          the tool, its manual pages and completions
#   libheddle-mpi1, libheddle-mpi-dev, heddle-mpi      the same over MPI, where MPI was found
#
# The tarball has all of it. The components are those of install() in install.cmake and device.cmake.

set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR Heddle)
set(CPACK_PACKAGE_CONTACT "The Heddle developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
# A tarball is unpacked anywhere, so its folders are bin/, lib/ and so on.
file(CONFIGURE OUTPUT package_config.cmake @ONLY CONTENT [[
if(CPACK_GENERATOR STREQUAL "TGZ")
    set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
]])
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package_config.cmake)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_FILE_NAME heddle-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_COMPONENTS_ALL library dev tool)
if(heddle_has_mpi)
    list(APPEND CPACK_COMPONENTS_ALL mpi_library mpi_dev mpi_tool)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

# heddle_debian_package(COMPONENT NAME DEPENDS TEXT)
macro(heddle_debian_package component name depends text)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${text}")
endmacro()
set(same "(= ${PROJECT_VERSION})")
set(library libheddle${heddle_abi_version})
set(mpi_library libheddle-mpi${heddle_abi_version})
heddle_debian_package(library ${library} "" "hash tables for GPU and CPU: shared library")
heddle_debian_package(dev libheddle-dev "${library} ${same}" "hash tables for GPU and CPU: headers and static library")
# The tool uses private functions of the very same library.
heddle_debian_package(tool heddle "${library} ${same}" "hash tables for GPU and CPU: measure, choose, tables in files")
heddle_debian_package(mpi_library ${mpi_library} "${library} ${same}" "hash tables over MPI: shared library")
heddle_debian_package(mpi_dev libheddle-mpi-dev "${mpi_library} ${same}, libheddle-dev ${same}, libopenmpi-dev"
    "hash tables over MPI: header")
heddle_debian_package(mpi_tool heddle-mpi "${library} ${same}, ${mpi_library} ${same}"
    "hash tables over MPI: measure a cluster of ranks")
foreach(component DEV MPI_DEV)
    set(CPACK_DEBIAN_${component}_PACKAGE_SECTION libdevel)
endforeach()
foreach(component TOOL MPI_TOOL)
    set(CPACK_DEBIAN_${component}_PACKAGE_SECTION utils)
endforeach()
include(CPack)
