# Slab hashes, for one of every way in which a slot is claimed: a key, a word of key and value, a key before its
# value, beside it or apart. slab_batch_KEYBITS_VALUEBITS_TILE: threads beside each other; slab_look_...: vector looks
# beside the scalar one, for all widths; slab_orders_...: every order of the steps of a few.

# heddle_add_slab_test(name kind tile [more sources]); no tile is the scalar one.
function(heddle_add_slab_test name kind tile)
    string(REPLACE "_" ";" bits ${kind})
    list(GET bits 0 key_bits)
    list(GET bits 1 value_bits)
    set(test ${name}_${kind})
    if(tile)
        string(APPEND test _${tile})
    endif()
    string(TOUPPER "HD_TILE_${tile}" tile_macro)
    add_executable(test_${test} scheme/test_${name}.c ${ARGN})
    target_compile_definitions(test_${test} PRIVATE
        HD_KEY_BITS=${key_bits} HD_VALUE_BITS=${value_bits} $<$<BOOL:${tile}>:${tile_macro}=1>)
    target_compile_options(test_${test} PRIVATE ${tile_flags_${tile}})
    target_include_directories(test_${test} PRIVATE scheme)
    target_link_libraries(test_${test} PRIVATE test_support_code)
    add_test(NAME ${test} COMMAND test_${test})
    set_tests_properties(${test} PROPERTIES LABELS scheme TIMEOUT 600 SKIP_RETURN_CODE 77)
endfunction()

set(vector_tiles ${heddle_tiles})
list(REMOVE_ITEM vector_tiles scalar)
foreach(kind 32_0 32_32 64_32 64_64)
    heddle_add_slab_test(slab_batch ${kind} "")
    foreach(tile IN LISTS vector_tiles)
        heddle_add_slab_test(slab_batch ${kind} ${tile})
    endforeach()
endforeach()
foreach(kind 32_0 32_32 32_64 64_0 64_32 64_64)
    foreach(tile IN LISTS vector_tiles)
        heddle_add_slab_test(slab_look ${kind} ${tile})
    endforeach()
endforeach()
# Sanitizers do not follow from one stack to another; what they could find the tests above show them.
if(NOT heddle_sanitizers)
    foreach(kind 32_0 32_32 64_64)
        heddle_add_slab_test(slab_orders ${kind} "" scheme/orders.c)
    endforeach()
endif()
