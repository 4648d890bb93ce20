/*
 * instance_list.inl: declares the compiled tables of one vector tile and lists them. Included once for
 * each tile, with HD_SUFFIX defined as its name; makes the array tables_<suffix>.
 */
#define HD_PASTE_(a, b) a##_##b
#define HD_PASTE(a, b) HD_PASTE_(a, b)

#define HD_INSTANCE(name) extern const hd_table_ops HD_PASTE(name, HD_SUFFIX);
#include "instances.h"
#undef HD_INSTANCE

#define HD_INSTANCE(name) &HD_PASTE(name, HD_SUFFIX),
static const hd_table_ops *const HD_PASTE(tables, HD_SUFFIX)[] = {
#include "instances.h"
};
#undef HD_INSTANCE

#undef HD_PASTE
#undef HD_PASTE_
#undef HD_SUFFIX
