/* multimap.c: all values of a key. Authors and the books that they wrote. */
#include "../check.h"
#include <inttypes.h>

#define BOOKS 6

int main(void)
{
    const uint32_t author[BOOKS] = {3, 1, 3, 2, 3, 1}, book[BOOKS] = {60, 20, 10, 40, 30, 50};
    const uint32_t asked[3] = {3, 9, 1};
    uint64_t offsets[3 + 1], count;

    heddle_device *device;
    heddle_table *books;
    heddle_table_options options = HEDDLE_MULTIMAP_OPTIONS(uint32_t, uint32_t);
    options.flags =
        HEDDLE_FLAG_ORDERED; /* the values of a key ascend; without it they come in any order */
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &books));
    check(heddle_map_build(books, author, book, BOOKS, NULL, NULL, NULL));

    /* Once to learn how many values there are, once to get them. */
    check(heddle_table_retrieve(books, asked, 3, offsets, NULL, 0, &count, NULL));
    uint32_t *values = malloc((count + 1) * sizeof *values);
    if (values == NULL) return 1;
    check(heddle_map_retrieve(books, asked, 3, offsets, values, count, &count, NULL));
    for (int i = 0; i < 3; i++) {
        printf("author %u:", asked[i]);
        for (uint64_t v = offsets[i]; v < offsets[i + 1]; v++) printf(" %u", values[v]);
        printf("\n");
    }

    free(values);
    heddle_table_destroy(books);
    heddle_device_close(device);
    return 0;
}
