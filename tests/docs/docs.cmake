# The pages beside the code: what they show of examples/ is what the files say and the programs print, their other code
# compiles, their links lead somewhere, and the reference of the web site has every name. The examples themselves are
# tests too: examples/CMakeLists.txt.

find_package(Python3 COMPONENTS Interpreter)
if(heddle_sanitizers)
    # They would say the same of the pages again.
elseif(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME docs_examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/pages.py
        ${PROJECT_BINARY_DIR}/examples $<TARGET_FILE:heddle_tool>)
    add_test(NAME docs_snippets COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/snippets.py
        ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
    add_test(NAME docs_interface COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/interface.py)
    add_test(NAME docs_links COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/links.py)
    set_tests_properties(docs_examples docs_snippets docs_interface docs_links PROPERTIES TIMEOUT 900 LABELS docs)
else()
    message(STATUS "Tests of the documents: left out (no python3, or cross-compiling)")
endif()
