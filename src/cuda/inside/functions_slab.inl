/*
 * functions_slab.inl: slab hashes among the tables of device_functions.cu, which includes it. Slabs have room
 * for as many pairs as their widths allow, so no number of slots is in the names.
 */

#define HEDDLE_NAME slab_k32_v32
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME slab_k32_v64
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 10
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME slab_k64_v32
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 10
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME slab_k64_v64
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME slab_k32
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 30
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME slab_k64
#define HEDDLE_SCHEME slab
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 0
#define HEDDLE_BUCKET 15
#include "cuda/inside/functions.inl"

#define HEDDLE_NAME slab_multimap_k32_v32
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 15
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME slab_multimap_k32_v64
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 32
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 10
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME slab_multimap_k64_v32
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 32
#define HEDDLE_BUCKET 10
#include "cuda/inside/functions_multi.inl"

#define HEDDLE_NAME slab_multimap_k64_v64
#define HEDDLE_SCHEME slab
#define HEDDLE_MULTIMAP
#define HEDDLE_KEY_BITS 64
#define HEDDLE_VALUE_BITS 64
#define HEDDLE_BUCKET 7
#include "cuda/inside/functions_multi.inl"
