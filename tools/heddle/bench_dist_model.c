/*
 * bench_dist_model.c: a model of how builds scale. Of P members with R rows each, a member sends (P - 1) / P of its
 * rows over its link, whose bytes a second are known, and does all else as it does here:
 *
 *   seconds = rows * (here / rows of a member here + bytes of a row * (P - 1) / P / link)
 *
 * where `here` is the time of all phases but waiting and copying, measured. Exchange and work do not overlap.
 */
#include <stdio.h>

#include "bench_dist.h"

static const struct machine {
    const char *name;
    uint32_t members;
    double link; /* bytes a second of a member, one way */
} machines[] = {
    {"8 GPUs, NVLink 4", 8, 450e9},
    {"72 GPUs, NVLink 5", 72, 900e9},
    {"1000 nodes of 8 GPUs, 400 Gbit/s each GPU", 8000, 50e9},
};

void dist_model(const dist_options *o, const dist_row *build, uint32_t members)
{
    const double here = build->phases[HEDDLE_PHASE_PARTITION] +
                        build->phases[HEDDLE_PHASE_REORGANISE] + build->phases[HEDDLE_PHASE_WORK];
    const double a_row = here * members / (double)build->rows;
    const double bytes =
        (o->key_bits + (o->container == HEDDLE_CONTAINER_SET ? 0 : o->value_bits)) / 8.0;
    const double sum = here + build->phases[HEDDLE_PHASE_EXCHANGE];
    (void)printf("\nmodel of builds: %.3f ns a row on a member, %.0f bytes over its link\n",
                 1e9 * a_row, bytes);
    (void)printf(
        "  here, %u members: %.1f million rows/s without exchange, %.1f with it measured\n",
        members, 1e-6 * (double)build->rows / here, 1e-6 * (double)build->rows / sum);
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        const double p = machines[i].members;
        const double seconds = a_row + bytes * (p - 1) / p / machines[i].link;
        (void)printf("  %s: %.1f billion rows/s, %.0f %% of it in the exchange\n", machines[i].name,
                     1e-9 * p / seconds, 100 * (seconds - a_row) / seconds);
    }
}
