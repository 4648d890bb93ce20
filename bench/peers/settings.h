// What the command line decides.
#pragma once

#include <cstdint>
#include <string>

struct Settings {
    uint64_t n = uint64_t(1) << 25;
    int threads = 0; // 0: as many as this process may use
    int key_bits = 32;
    int repeat = 5;
    double load = 0.8;  // Heddle's
    bool huge = true;   // huge pages for malloc
    bool fresh = false; // one table at a time, made anew in every round
    std::string only;   // parts of names, separated by commas; empty: all
    std::string csv;    // file to write, besides the table
    std::string command;
};
