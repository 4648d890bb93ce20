/* device.c: devices by name, and their memory. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/team.h"
#include "engine/blocks.h"
#include "engine/engine.h"
#include "host/host.h"
#include "host/public_struct.h"
#include "instances_config.h"

#define BESIDE_A_GPU 4 /* threads */

static const hd_engine *cuda_engine(void)
{
#if HD_HAVE_CUDA
    return hd_engine_cuda();
#else
    return NULL;
#endif
}

uint32_t heddle_cuda_is_built(void) { return cuda_engine() != NULL; }

uint32_t heddle_cuda_device_count(void)
{
    const hd_engine *engine = cuda_engine();
    return engine != NULL ? engine->count() : 0;
}

/* Reads the number behind "cpu:" or "cuda:"; false when there is anything else. */
static bool parse_number(const char *text, int32_t *number)
{
    int32_t sum = 0;
    if (*text == 0 || strlen(text) > 6) return false;
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9') return false;
        sum = sum * 10 + (*text - '0');
    }
    *number = sum;
    return true;
}

static heddle_status open_cpu(const char *rest, heddle_device **device)
{
    int32_t threads = 0;
    if (*rest != 0 && (!parse_number(rest + 1, &threads) || threads < 1))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "\"cpu:\" must be followed by a number of threads, not \"%s\"", rest + 1);
    return hd_engine_cpu()->open(threads, device);
}

static heddle_status open_cuda(const char *rest, heddle_device **device)
{
    const hd_engine *engine = cuda_engine();
    int32_t index = 0;
    if (*rest != 0 && !parse_number(rest + 1, &index))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "\"cuda:\" must be followed by a device number, not \"%s\"", rest + 1);
    if (engine == NULL)
        return hd_fail(HEDDLE_ERROR_NO_DEVICE, "this library was built without the CUDA engine");
    if ((uint32_t)index >= engine->count())
        return hd_fail(HEDDLE_ERROR_NO_DEVICE, "there is no CUDA device %d (%u found)", index,
                       engine->count());
    return engine->open(index, device);
}

static heddle_status open_auto(heddle_device **device)
{
    const uint32_t count = heddle_cuda_device_count();
    for (uint32_t i = 0; i < count; i++)
        if (cuda_engine()->open((int32_t)i, device) == HEDDLE_OK) return HEDDLE_OK;
    return hd_engine_cpu()->open(0, device);
}

/* Whether `name` is `kind` alone or `kind` and a colon; *rest is then what follows `kind`. */
static bool is_kind(const char *name, const char *kind, const char **rest)
{
    const size_t length = strlen(kind);
    if (strncmp(name, kind, length) != 0) return false;
    *rest = name + length;
    return **rest == 0 || **rest == ':';
}

heddle_status heddle_device_open(const char *name, heddle_device **device)
{
    heddle_device *opened = NULL;
    const char *rest;
    heddle_status status;
    if (name == NULL || device == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_device_open needs a name and a place for the device");
    *device = NULL;
    hd_team_mind_forks();
    if (strcmp(name, "auto") == 0) status = open_auto(&opened);
    else if (is_kind(name, "cpu", &rest)) status = open_cpu(rest, &opened);
    else if (is_kind(name, "cuda", &rest)) status = open_cuda(rest, &opened);
    else
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "no device is called \"%s\": use auto, cpu, cpu:N, cuda or cuda:N", name);
    if (status != HEDDLE_OK) return status;
    pthread_mutex_init(&opened->lock, NULL);
    status = hd_blocks_note(opened);
    if (status == HEDDLE_OK) *device = opened;
    else heddle_device_close(opened);
    return status;
}

void heddle_device_close(heddle_device *device)
{
    if (device == NULL) return;
    hd_blocks_forget(device);
    hd_stages_free(device);
    hd_blocks_drop(device);
    pthread_mutex_destroy(&device->lock);
    device->engine->close(device);
}

heddle_status heddle_device_get_info(heddle_device *device, heddle_device_info *info)
{
    heddle_device_info own = HEDDLE_DEVICE_INFO_INIT;
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the device is NULL");
    HD_TRY(hd_check_struct(info, &hd_device_info_kind));
    HD_TRY(device->engine->get_info(device, &own));
    hd_write_struct(info, &own, &hd_device_info_kind);
    return HEDDLE_OK;
}

int hd_host_threads(heddle_device *device)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    const bool known = heddle_device_get_info(device, &info) == HEDDLE_OK;
    return known && info.kind == HEDDLE_DEVICE_CPU && info.threads != 0 ? (int)info.threads
                                                                        : BESIDE_A_GPU;
}

/* Streams exist on GPUs only. */
static heddle_status check_device(const heddle_device *device, const void *stream)
{
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the device is NULL");
    if (stream != NULL && device->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "the stream must be NULL on the CPU");
    return HEDDLE_OK;
}

heddle_status heddle_device_synchronize(heddle_device *device, void *stream)
{
    HD_TRY(check_device(device, stream));
    return device->engine->synchronize(device, stream);
}

heddle_status heddle_memory_allocate(heddle_device *device, uint64_t bytes, void **memory)
{
    if (device == NULL || memory == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_memory_allocate needs a device and a place for the memory");
    *memory = NULL;
    return device->engine->allocate(device, bytes, memory);
}

heddle_status heddle_memory_free(heddle_device *device, void *memory)
{
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the device is NULL");
    if (memory != NULL) device->engine->free(device, memory);
    return HEDDLE_OK;
}

heddle_status heddle_memory_copy(heddle_device *device, void *to, const void *from, uint64_t bytes,
                                 void *stream)
{
    HD_TRY(check_device(device, stream));
    if (bytes != 0 && (to == NULL || from == NULL))
        return hd_fail(HEDDLE_ERROR_INVALID, "a copy needs two pointers");
    return bytes != 0 ? device->engine->copy(device, to, from, bytes, stream) : HEDDLE_OK;
}

heddle_status heddle_memory_fill(heddle_device *device, void *memory, uint8_t byte, uint64_t bytes,
                                 void *stream)
{
    HD_TRY(check_device(device, stream));
    if (bytes != 0 && memory == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "a fill needs memory");
    return bytes != 0 ? device->engine->fill(device, memory, byte, bytes, stream) : HEDDLE_OK;
}
