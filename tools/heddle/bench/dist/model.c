/* model.c: see model.h. */
#include "bench/dist/model.h"

#include <heddle/heddle.h>
#include <string.h>

#include "route/spread.h"

_Static_assert(MODEL_PARTITION == HEDDLE_PHASE_PARTITION &&
                   MODEL_REORGANISE == HEDDLE_PHASE_REORGANISE &&
                   MODEL_EXCHANGE == HEDDLE_PHASE_EXCHANGE && MODEL_BUILD == HEDDLE_PHASE_WORK &&
                   MODEL_PHASES == HEDDLE_PHASES,
               "phases are told by the numbers of the library");

model_row model_row_of(uint32_t key_bytes, uint32_t value_bytes, bool counts, bool direct)
{
    const double key = key_bytes, pair = (double)key_bytes + value_bytes;
    model_row row;
    memset(&row, 0, sizeof row);
    row.memory[MODEL_PARTITION] = counts ? 2 * key : key;
    row.memory[MODEL_REORGANISE] = 2 * pair;
    row.memory[MODEL_EXCHANGE] = direct ? 0 : 2 * pair;
    row.sent = direct ? 0 : pair;
    return row;
}

double model_uneven(uint32_t members)
{
    const uint32_t bins = UINT32_C(1) << hd_spread_bits(members);
    const uint32_t most = (bins + members - 1) / members;
    return (double)most * members / bins - 1;
}

/* Of `sent` bytes a row, those for the sender's own end do not go over a link. */
static double link_seconds(const model_row *row, const model_machine *machine, double rows)
{
    const double ends = machine->ends;
    if (machine->ends <= 1) return 0;
    return rows / ends * row->sent * (ends - 1) / ends / machine->link;
}

model_times model_build(const model_row *row, const model_machine *machine, double rows)
{
    const double copy = machine->copy * machine->devices;
    const double link = link_seconds(row, machine, rows);
    model_times times;
    times.all = 0;
    for (int i = 0; i < MODEL_BUILD; i++) times.seconds[i] = rows * row->memory[i] / copy;
    times.seconds[MODEL_BUILD] = rows / (machine->build * machine->devices);
    if (times.seconds[MODEL_EXCHANGE] < link) times.seconds[MODEL_EXCHANGE] = link;
    /* What the fullest member is sent and builds beyond the mean: others wait, which counts as exchange. */
    times.seconds[MODEL_EXCHANGE] +=
        machine->uneven * (times.seconds[MODEL_EXCHANGE] + times.seconds[MODEL_BUILD]);
    for (int i = 0; i < MODEL_PHASES; i++) times.all += times.seconds[i];
    return times;
}

bool model_scale(const model_machine *here, uint32_t devices, double link, model_machine *there)
{
    if (devices == 0 || devices > HEDDLE_CLUSTER_MEMBERS_MAX) return false;
    *there = *here;
    there->devices = there->ends = devices;
    there->link = link;
    there->uneven = model_uneven(devices);
    return true;
}
