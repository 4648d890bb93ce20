/*
 * totals.h: what calls report, added up by those who make one call of many: clusters and shelves.
 */
#ifndef HD_TOTALS_H
#define HD_TOTALS_H

#include <heddle/heddle.h>

/* Adds every number of `more`. */
void hd_totals_sum(heddle_totals *totals, const heddle_totals *more);

#endif
