# The tests run with the widest tile of the machine; here the ones that matter most run with the
# narrower ones too, as tile_TILE_NAME. Skipped where the CPU does not have the tile.

set(tiled_tests insert find erase)
foreach(tile avx2 scalar)
    if(NOT tile IN_LIST heddle_tiles OR NOT TARGET heddle_tool)
        continue()
    endif()
    foreach(name IN LISTS tiled_tests)
        add_test(NAME tile_${tile}_${name} COMMAND
            sh ${CMAKE_CURRENT_LIST_DIR}/with_tile.sh ${tile} $<TARGET_FILE:test_${name}>)
        set_tests_properties(tile_${tile}_${name} PROPERTIES LABELS tiles TIMEOUT 900 SKIP_RETURN_CODE 77
            ENVIRONMENT "HEDDLE=$<TARGET_FILE:heddle_tool>")
    endforeach()
endforeach()
