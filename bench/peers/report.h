// The results as a table for people and as CSV for programs.
#pragma once

#include "measure.h"

#include <cstdio>

void print_table(FILE *out, const Settings &settings, const Results &results);
void print_csv(FILE *out, const Settings &settings, const Results &results);
