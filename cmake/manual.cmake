# manual.cmake: the tool's own help as manual pages, and completions for bash and zsh, made by the tool itself.
#
#   cmake -DTOOL=heddle -DDIRECTORY=build/manual [-DEMULATOR=qemu-aarch64] -P manual.cmake
#
# Included by install.cmake it has that done after the tool is built, and installs what comes of it.

if(CMAKE_SCRIPT_MODE_FILE)
    # heddle_says(FILE ARGUMENTS...): what `heddle help ARGUMENTS` prints becomes that file
    function(heddle_says file)
        execute_process(COMMAND ${EMULATOR} ${TOOL} help ${ARGN}
            OUTPUT_FILE ${DIRECTORY}/${file} COMMAND_ERROR_IS_FATAL ANY)
    endfunction()

    file(REMOVE_RECURSE ${DIRECTORY})
    file(MAKE_DIRECTORY ${DIRECTORY}/man1 ${DIRECTORY}/bash ${DIRECTORY}/zsh)
    execute_process(COMMAND ${EMULATOR} ${TOOL} help --list OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "\n$" "" commands "${commands}")
    string(REPLACE "\n" ";" commands "${commands}")
    foreach(command IN LISTS commands) # the first is "", the tool itself
        separate_arguments(words UNIX_COMMAND "heddle ${command}")
        list(JOIN words "-" page)
        list(REMOVE_AT words 0)
        heddle_says(man1/${page}.1 --man ${words})
    endforeach()
    # heddle-mpi has the options of `heddle bench dist`.
    file(READ ${DIRECTORY}/man1/heddle-bench-dist.1 page)
    string(REPLACE "HEDDLE\\-BENCH\\-DIST" "HEDDLE\\-MPI" page "${page}")
    string(REPLACE "heddle\\-bench\\-dist" "heddle\\-mpi" page "${page}")
    string(REPLACE "heddle bench dist\\fR" "mpirun heddle-mpi\\fR" page "${page}")
    file(WRITE ${DIRECTORY}/mpi/heddle-mpi.1 "${page}")
    heddle_says(bash/heddle --completion bash)
    heddle_says(zsh/_heddle --completion zsh)
    return()
endif()

if(NOT TARGET heddle_tool OR heddle_sanitizers)
    return()
endif()
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "Manual pages and completions: left out (the tool cannot be run here)")
    return()
endif()
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/zsh/_heddle
    COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:heddle_tool> -DDIRECTORY=${manual}
            "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}" -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS heddle_tool ${CMAKE_CURRENT_LIST_FILE} COMMENT "Manual pages and completions" VERBATIM)
add_custom_target(heddle_manual ALL DEPENDS ${manual}/zsh/_heddle)
if(heddle_has_mpi)
    install(FILES ${manual}/mpi/heddle-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi_tool)
endif()
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
install(DIRECTORY ${manual}/bash/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
# Debian's zsh looks elsewhere for what packages bring than for what is in /usr/local.
install(CODE "
    set(folder site-functions)
    if(\"\${CMAKE_INSTALL_PREFIX}\" MATCHES \"/usr\$\")
        set(folder vendor-completions)
    endif()
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\" TYPE FILE
         FILES \"${manual}/zsh/_heddle\")" COMPONENT tool)
