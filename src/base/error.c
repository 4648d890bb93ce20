/* error.c: versions, status texts, the last error of a thread. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[512];

uint32_t heddle_version(void)
{
    return HEDDLE_VERSION_MAJOR * 1000000 + HEDDLE_VERSION_MINOR * 1000 + HEDDLE_VERSION_PATCH;
}

const char *heddle_version_string(void) { return HEDDLE_VERSION_STRING; }

uint32_t heddle_abi_version(void) { return HEDDLE_ABI_VERSION; }

const char *heddle_status_string(heddle_status status)
{
    switch (status) {
    case HEDDLE_OK: return "success";
    case HEDDLE_ERROR_INVALID: return "invalid argument";
    case HEDDLE_ERROR_NO_MEMORY: return "out of memory";
    case HEDDLE_ERROR_FULL: return "table is full";
    case HEDDLE_ERROR_NO_DEVICE: return "no such device";
    case HEDDLE_ERROR_UNSUPPORTED: return "not supported";
    case HEDDLE_ERROR_TOO_SMALL: return "an output array is too small";
    case HEDDLE_ERROR_IO: return "input or output failed";
    case HEDDLE_ERROR_FORMAT: return "the file is damaged, or of another kind";
    case HEDDLE_ERROR_CORRUPT: return "table is corrupt";
    case HEDDLE_ERROR_DEVICE: return "device error";
    case HEDDLE_ERROR_PEER: return "another member of the cluster is lost";
    case HEDDLE_ERROR_CANCELLED: return "cancelled";
    default: return "unknown status";
    }
}

const char *heddle_last_error(void) { return last_error; }

heddle_status hd_fail(heddle_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}
