/* semi_anti.c: which rows of one table are in another one, and which are not. */
#include "../check.h"
#include <inttypes.h>

#define MEMBERS 6
#define PAYMENTS 5

static void print_rows(heddle_device *device, const heddle_column *left, const heddle_column *right,
                       uint32_t kind, const char *name)
{
    uint32_t rows[MEMBERS]; /* never more than left rows */
    uint64_t count;
    heddle_join *join;
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    options.kind = kind;
    options.row_bits = 32; /* rows are numbered by uint32_t */
    check(heddle_join_create(device, left, right, 1, MEMBERS, PAYMENTS, &options, &join, NULL));
    check(heddle_join_fetch_rows(join, rows, (uint32_t *)NULL, MEMBERS, &count, NULL));
    printf("%s:", name);
    for (uint64_t i = 0; i < count; i++) printf(" %u", rows[i]);
    printf("\n");
    heddle_join_destroy(join);
}

int main(void)
{
    const uint64_t member[MEMBERS] = {500, 501, 502, 503, 504, 505};
    const uint64_t paid_by[PAYMENTS] = {503, 501, 503, 999, 504};
    const heddle_column left = HEDDLE_COLUMN_OF(member), right = HEDDLE_COLUMN_OF(paid_by);
    heddle_device *device;
    check(heddle_device_open("auto", &device));
    print_rows(device, &left, &right, HEDDLE_JOIN_SEMI, "rows of members who have paid");
    print_rows(device, &left, &right, HEDDLE_JOIN_ANTI, "rows of members who have not");
    heddle_device_close(device);
    return 0;
}
