/* site.h: where a step runs, which every step of engine/columns.h and engine/lists.h is told first. */
#ifndef HD_MODEL_SITE_H
#define HD_MODEL_SITE_H

#include <heddle/heddle.h>

typedef struct hd_site {
    heddle_device *device;
    void *work; /* device memory for the steps that ask for it; else NULL */
    void *stream;
} hd_site;

static inline hd_site hd_on(heddle_device *device, void *work, void *stream)
{
    const hd_site site = {device, work, stream};
    return site;
}

#endif
