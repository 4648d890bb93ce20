/* roof.c: see roof.h. */
#include "roofs/roof.h"

#include "instances_config.h"

heddle_status hd_roof_measure(heddle_device *device, const hd_roof_request *request, double *rate)
{
#if HD_HAVE_CUDA
    if (device->engine->kind == HEDDLE_DEVICE_CUDA)
        return request->kind == HD_ROOF_PARTITION ? hd_roof_partition_cuda(device, request, rate)
                                                  : hd_roof_cuda(device, request, rate);
#endif
    return hd_roof_cpu(device, request, rate);
}
