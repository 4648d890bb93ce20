/*
 * commit.c: the parts of a call that changes the shelf: how they are gathered, and how they become those of the
 * shelf, all at once (manifest.c), or are discarded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shelf/shelf.h"

/* Of neighbours that are empty one is enough. */
static bool adds_nothing(const hd_shelf_parts *made, const hd_shelf_part *part)
{
    return made->count != 0 && part->count == 0 && made->at[made->count - 1].count == 0;
}

heddle_status hd_parts_keep(hd_shelf_parts *made, hd_shelf_part *old)
{
    old->kept = true;
    return adds_nothing(made, old) ? HEDDLE_OK : hd_parts_append(made, old);
}

heddle_status hd_parts_add(heddle_shelf *shelf, hd_shelf_parts *made, hd_shelf_part *part)
{
    heddle_status status;
    if (adds_nothing(made, part)) return HEDDLE_OK;
    status = hd_parts_append(made, part);
    if (status != HEDDLE_OK) {
        hd_part_remove_file(shelf, part->file);
        hd_part_unload(shelf, part);
    }
    return status;
}

void hd_parts_discard(heddle_shelf *shelf, hd_shelf_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (!parts->at[i].kept) {
            hd_part_remove_file(shelf, parts->at[i].file);
            hd_part_unload(shelf, &parts->at[i]);
        }
    for (uint32_t i = 0; i < shelf->parts.count; i++) shelf->parts.at[i].kept = false;
    free(parts->at);
    memset(parts, 0, sizeof *parts);
}

/* The old parts that do not stay are gone, with their files. */
static void forget_old(heddle_shelf *shelf)
{
    for (uint32_t i = 0; i < shelf->parts.count; i++) {
        hd_shelf_part *old = &shelf->parts.at[i];
        if (old->kept) continue;
        hd_part_unload(shelf, old);
        hd_part_remove_file(shelf, old->file);
    }
    free(shelf->parts.at);
}

/* The manifest that counts names the new parts; when this fails it is the old one. */
static heddle_status write_manifest(heddle_shelf *shelf, const hd_shelf_parts *parts)
{
    HD_TRY(hd_shelf_progress(shelf, HEDDLE_SHELF_COMMIT, 0, 1));
    return hd_manifest_write(shelf, parts);
}

/* A crash may bring the old manifest back, which needs its files: these stay. */
static void unload_old(heddle_shelf *shelf)
{
    char why[512];
    (void)snprintf(why, sizeof why, "%s", heddle_last_error());
    for (uint32_t i = 0; i < shelf->parts.count; i++)
        if (!shelf->parts.at[i].kept) hd_part_unload(shelf, &shelf->parts.at[i]);
    free(shelf->parts.at);
    (void)hd_fail(HEDDLE_ERROR_IO,
                  "the call has changed the shelf, but the disk does not confirm it: %s", why);
}

heddle_status hd_parts_commit(heddle_shelf *shelf, hd_shelf_parts *parts)
{
    heddle_status status = write_manifest(shelf, parts);
    if (status != HEDDLE_OK) {
        hd_parts_discard(shelf, parts);
        return status;
    }
    status = hd_directory_sync(shelf->directory);
    if (status == HEDDLE_OK) forget_old(shelf);
    else unload_old(shelf);
    shelf->parts = *parts;
    for (uint32_t i = 0; i < shelf->parts.count; i++) shelf->parts.at[i].kept = false;
    memset(parts, 0, sizeof *parts);
    if (status == HEDDLE_OK) (void)hd_shelf_progress(shelf, HEDDLE_SHELF_COMMIT, 1, 1);
    return status;
}
