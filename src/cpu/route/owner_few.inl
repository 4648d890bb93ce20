/*
 * owner_few.inl: blocks of rows that few members own (owner_steps.c), by vectors that can be packed (tile/pack.h): the rows
 * of a vector that are one owner's are written at once, and answers read at once and spread out again.
 */
#ifndef HD_CAN_PACK
#error "included by owner_steps.c alone"
#endif

/* A vector has half as many wide keys: with more members than this, row after row is faster. */
#define FEW (HD_OWNER_FEW * 32 / HD_KEY_BITS)

static inline bool are_few(const hd_owner_scratch *d) { return d->batch->members <= FEW; }

/* The rows of every member, of the vector with row `i`. */
static inline uint16_t *rows_at(const hd_owner_scratch *d, uint64_t i)
{
    return d->rows + i / ROWS * d->batch->members;
}

/*
 * Finds out whose the rows of a block are and counts them. The number of a row is its bin, if bins are in the
 * order of their owners; else its owner.
 */
static inline void few_count(hd_owner_scratch *d, const uint32_t *numbers, uint64_t first,
                             uint32_t count)
{
    const uint32_t members = d->batch->members;
    for (uint32_t i = 0; i < count; i += ROWS) {
        uint16_t *rows = rows_at(d, first + i);
        uint32_t left = count - i < ROWS ? rows_below(count - i) : rows_below(ROWS);
        for (uint32_t m = 0; m + 1 < members; m++) {
            const uint32_t after =
                rows_from(left, numbers + i, d->in_order ? d->limits[m + 1] : m + 1);
            rows[m] = (uint16_t)(left & ~after);
            d->counts[m] += rows_in(rows[m]);
            left = after;
        }
        rows[members - 1] = (uint16_t)left;
        d->counts[members - 1] += rows_in(left);
    }
}

static inline void few_send(hd_owner_scratch *d, const hd_owners_sent *sent, uint64_t first,
                            uint64_t end, uint32_t width)
{
    const char *keys = (const char *)d->batch->keys, *values = (const char *)sent->values;
    for (uint64_t i = first; i < end; i += ROWS) {
        const uint16_t *rows = rows_at(d, i);
        for (uint32_t m = 0; m < d->batch->members; m++) {
            d->keys[m] = pack(d->keys[m], keys + i * sizeof(hd_key), rows[m], sizeof(hd_key));
            if (width != 0) d->values[m] = pack(d->values[m], values + i * width, rows[m], width);
        }
    }
}

/* The answers of one owner to the rows of a vector; the flags of all are gathered in *flags. */
static inline void few_answers(hd_owner_scratch *d, const hd_owners_answers *a, uint32_t owner,
                               uint64_t row, uint32_t rows, answer_form form, hd_row_flags *flags)
{
    uint32_t set = rows;
    if (form.asks) {
        *flags = flags_join(*flags, spread_flags(d->found[owner], rows, &set));
        d->found[owner] += rows_in(rows);
    }
    if (form.width != 0)
        d->values[owner] = spread((char *)a->values_out + row * form.width, d->values[owner], rows,
                                  set, form.width);
}

static inline void few_fetch(hd_owner_scratch *d, const hd_owners_answers *a, uint64_t first,
                             uint64_t end, answer_form form)
{
    for (uint64_t i = first; i < end; i += ROWS) {
        const uint16_t *rows = rows_at(d, i);
        const uint32_t left = end - i < ROWS ? (uint32_t)(end - i) : ROWS;
        hd_row_flags flags = flags_all(form.asks ? 0 : 1);
        for (uint32_t m = 0; m < d->batch->members; m++)
            few_answers(d, a, m, i, rows[m], form, &flags);
        if (form.tells) flags_store(a->found_out + i, left, flags);
    }
}
