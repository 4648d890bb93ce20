/* totals.c: see totals.h. */
#include "table/totals.h"

void hd_totals_sum(heddle_totals *totals, const heddle_totals *more)
{
    totals->inserted += more->inserted;
    totals->updated += more->updated;
    totals->kept += more->kept;
    totals->failed += more->failed;
    totals->found += more->found;
    totals->absent += more->absent;
    totals->probes += more->probes;
    totals->evictions += more->evictions;
}
