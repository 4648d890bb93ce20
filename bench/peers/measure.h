// Runs the contestants and keeps what was measured.
#pragma once

#include "contestant.h"
#include "settings.h"

#include <string>
#include <vector>

enum Op { op_build, op_insert, op_find, op_miss, op_count };
extern const char *const op_names[op_count];

struct Row {
    std::string name, note;
    Kind kind;
    std::vector<double> rates[op_count]; // million a second, one for each round; empty: has no such
    double bytes = 0;                    // a key, as the table or malloc counts
    double resident = 0;                 // a key, as the system counts, with what building needed
    double huge = 0;                     // share of the latter in huge pages
    bool verified = true;                // every answer of every round
    std::string error;                   // why the contestant left the race

    double rate(Op op) const; // the median; 0 without one
};

struct Results {
    std::vector<Row> rows;
    std::vector<double> roofs; // million 64-byte reads a second, measured before every turn
    double roof_bytes;
    bool fresh;

    double roof() const;
};

double median(std::vector<double> numbers);

// All contestants, round-robin, `repeat` times: the noise of a shared machine hits all alike.
template <class K> Results measure(const Settings &settings);
