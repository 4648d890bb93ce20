/* columns.h: the steps over arrays (engine/columns.h) on CUDA devices. */
#ifndef HD_CUDA_COLUMNS_H
#define HD_CUDA_COLUMNS_H

#include "cuda/device/engine.h"

extern "C" const hd_column_ops hd_columns_cuda;

heddle_status hd_reduce_cuda(heddle_device *device, const hd_grouped *grouped,
                             const hd_reduce *reduce, void *work, void *stream);

heddle_status hd_deliver_lists_cuda(heddle_device *device, const hd_answer_lists *lists,
                                    void *stream);
heddle_status hd_renumber_cuda(heddle_device *device, const void *rows, uint32_t row_bits,
                               uint64_t n, const void *names, uint64_t base, void *out,
                               uint32_t out_bits, void *stream);
heddle_status hd_mark_few_cuda(heddle_device *device, const hd_few *few, const void *keys,
                               uint64_t n, uint8_t *flags, uint64_t *count, void *stream);

#endif
