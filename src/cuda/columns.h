/* columns.h: the steps over arrays (engine/columns.h) on CUDA devices. */
#ifndef HD_CUDA_COLUMNS_H
#define HD_CUDA_COLUMNS_H

#include "cuda/engine_cuda.h"

extern "C" const hd_column_ops hd_columns_cuda;

heddle_status hd_reduce_cuda(heddle_device *device, const hd_grouped *grouped,
                             const hd_reduce *reduce, void *work, void *stream);

#endif
