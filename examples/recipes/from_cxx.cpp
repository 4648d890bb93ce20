// from_cxx.cpp: Heddle from C++: handles that destroy themselves, and std::vector.
#include "../check.h"
#include <memory>
#include <vector>

struct destroy {
    void operator()(heddle_device *device) const { heddle_device_close(device); }
    void operator()(heddle_table *table) const { heddle_table_destroy(table); }
};
template <typename T> using handle = std::unique_ptr<T, destroy>;

static handle<heddle_device> open_device(const char *name)
{
    heddle_device *device = nullptr;
    check(heddle_device_open(name, &device));
    return handle<heddle_device>(device);
}

static handle<heddle_table> make_table(heddle_device *device, const heddle_table_options &options)
{
    heddle_table *table = nullptr;
    check(heddle_table_create(device, &options, &table));
    return handle<heddle_table>(table);
}

int main()
{
    const std::vector<uint64_t> keys = {5, 6, 7}, asked = {7, 8, 5};
    const std::vector<double> values = {0.5, 0.6, 0.7};
    std::vector<double> answers(asked.size(), -1.0);
    const heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, double);

    const auto device = open_device("auto"); // destroyed last
    const auto map = make_table(device.get(), options);
    check(heddle_map_build(map.get(), keys.data(), values.data(), keys.size(), nullptr, nullptr,
                           nullptr));
    check(heddle_map_find(map.get(), asked.data(), asked.size(), answers.data(), nullptr, nullptr,
                          nullptr));
    for (const double answer : answers) printf("%.1f\n", answer);
    // An array of short instead of double would not compile.
}
