/*
 * partition_list.inl: declares the partitions compiled with the flags of one vector tile and lists them.
 * Included once for each tile, with HD_SUFFIX defined as its name; makes the array partitions_<suffix>.
 */
#define HD_PASTE_(a, b) a##_##b
#define HD_PASTE(a, b) HD_PASTE_(a, b)
#define HD_KIND(key_bits, value_bits) HD_PASTE(hd_partition_k##key_bits##_v##value_bits, HD_SUFFIX)

#define DECLARE(key_bits, value_bits) extern const hd_partition_cpu HD_KIND(key_bits, value_bits);
HD_PAIR_KINDS(DECLARE)
#undef DECLARE

#define ADDRESS(key_bits, value_bits) &HD_KIND(key_bits, value_bits),
static const hd_partition_cpu *const HD_PASTE(partitions, HD_SUFFIX)[] = {HD_PAIR_KINDS(ADDRESS)};
#undef ADDRESS

#undef HD_KIND
#undef HD_PASTE
#undef HD_PASTE_
#undef HD_SUFFIX
