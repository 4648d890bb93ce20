/*
 * columns.h: the steps over arrays (engine/columns.h) on CUDA devices. The files:
 *
 *     columns.cu    scan, select, rank and top by CUB; gathers, scatters, keys of rows; the table of all steps
 *     reduce.cu     sums and the like by group (reduce_ways.h); grouped.h cuts rows in groups into equal tiles,
 *                   numbered_kernels.h takes groups known by number
 *     numbered.cu   groups known by number: their numbers for rows, and rows in order
 *     deliver.cu    launches deliver_kernels.h: lists of answers in the order of the questions
 *     mark_few.cu   which rows have one of a few keys
 */
#ifndef HD_CUDA_COLUMNS_H
#define HD_CUDA_COLUMNS_H

#include "cuda/device/engine.h"

extern "C" const hd_column_ops hd_columns_cuda;

heddle_status hd_reduce_cuda(hd_site on, const hd_grouped *grouped, const hd_reduce *reduce);

heddle_status hd_number_numbered_cuda(hd_site on, const hd_grouped *grouped, const void *names,
                                      void *out);
heddle_status hd_order_cuda(hd_site on, const hd_grouped *grouped, uint64_t *starts, void *rows);

heddle_status hd_deliver_lists_cuda(hd_site on, const hd_answer_lists *lists);
heddle_status hd_renumber_cuda(hd_site on, hd_row_numbers rows, hd_names names, void *out);
heddle_status hd_mark_few_cuda(hd_site on, const hd_few *few, const hd_few_search *search);

#endif
