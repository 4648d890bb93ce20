# Slab hashes, for one of every way in which a slot is claimed: a key, a word of key and value, a key before its
# value, beside it or apart. slab_batch_KEYBITS_VALUEBITS: threads beside each other; slab_orders_...: every order
# of the steps of a few.

function(heddle_add_slab_test name kind)
    string(REPLACE "_" ";" bits ${kind})
    list(GET bits 0 key_bits)
    list(GET bits 1 value_bits)
    set(target test_${name}_${kind})
    add_executable(${target} slab/test_${name}.c ${ARGN})
    target_compile_definitions(${target} PRIVATE HD_KEY_BITS=${key_bits} HD_VALUE_BITS=${value_bits})
    target_include_directories(${target} PRIVATE slab)
    target_link_libraries(${target} PRIVATE test_support_code)
    add_test(NAME ${name}_${kind} COMMAND ${target})
    set_tests_properties(${name}_${kind} PROPERTIES TIMEOUT 600)
endfunction()

foreach(kind 32_0 32_32 64_32 64_64)
    heddle_add_slab_test(slab_batch ${kind})
endforeach()
# Sanitizers do not follow from one stack to another; what they could find the tests above show them.
if(NOT heddle_sanitizers)
    foreach(kind 32_0 32_32 64_64)
        heddle_add_slab_test(slab_orders ${kind} slab/orders.c)
    endforeach()
endif()
