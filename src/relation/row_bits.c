/* row_bits.c: whether arrays of row numbers have the width that a join or a group-by was made with. */
#include "base/error.h"
#include "relation/groups/groups.h"
#include "relation/join/join.h"
#include "relation/relation.h"

heddle_status hd_check_row_bits(const char *what, uint32_t has, uint32_t row_bits)
{
    if (row_bits == has) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_INVALID,
                   "the array has row numbers of %u bits, the %s row numbers of %u bits: set "
                   "row_bits of its options",
                   row_bits, what, has);
}

heddle_status heddle_join_check_row_bits(const heddle_join *join, uint32_t row_bits)
{
    if (join == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the join is NULL");
    return hd_check_row_bits("join", join->row_bits, row_bits);
}

heddle_status heddle_groups_check_row_bits(const heddle_groups *groups, uint32_t row_bits)
{
    if (groups == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the groups are NULL");
    return hd_check_row_bits("group-by", hd_row_width(groups) * 8, row_bits);
}
