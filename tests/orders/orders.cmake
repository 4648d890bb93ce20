# Steps of concurrent operations in every order, as NAME_KEYBITS_VALUEBITS. One of every way in which a slot is
# claimed: a key, a word of key and value, a key before its value.

function(heddle_add_orders name parameters)
    string(REPLACE "_" ";" parameters ${parameters})
    list(GET parameters 0 key_bits)
    list(GET parameters 1 value_bits)
    set(target test_${name}_${key_bits}_${value_bits})
    add_executable(${target} orders/test_${name}.c orders/orders.c)
    target_compile_definitions(${target} PRIVATE HD_KEY_BITS=${key_bits} HD_VALUE_BITS=${value_bits})
    target_include_directories(${target} PRIVATE orders)
    target_link_libraries(${target} PRIVATE heddle_internal)
    add_test(NAME ${name}_${key_bits}_${value_bits} COMMAND ${target})
    set_tests_properties(${name}_${key_bits}_${value_bits} PROPERTIES TIMEOUT 600)
endfunction()

# Sanitizers do not follow from one stack to another; what they could find is found by others.
if(NOT heddle_sanitizers)
    foreach(kind 32_0 32_32 64_64)
        heddle_add_orders(slab_orders ${kind})
    endforeach()
endif()
