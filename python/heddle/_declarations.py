"""What include/heddle declares, for ctypes. Written by python/generate.py: change the headers, not this."""

from ctypes import (
    CFUNCTYPE, Structure, c_char, c_char_p, c_double, c_int32, c_uint8, c_uint32, c_uint64, c_void_p,
)
from typing import Any

VERSION_MAJOR = 0
VERSION_MINOR = 1
VERSION_PATCH = 0
VERSION_STRING = '0.1.0'
ABI_VERSION = 1
OK = 0
ERROR_INVALID = 1
ERROR_UNSUPPORTED = 2
ERROR_TOO_SMALL = 3
ERROR_CANCELLED = 4
ERROR_NO_MEMORY = 20
ERROR_FULL = 21
ERROR_NO_DEVICE = 40
ERROR_DEVICE = 41
ERROR_PEER = 42
ERROR_IO = 60
ERROR_FORMAT = 61
ERROR_CORRUPT = 62
DEVICE_CPU = 1
DEVICE_CUDA = 2
CONTAINER_MAP = 1
CONTAINER_SET = 2
CONTAINER_MULTIMAP = 3
CONTAINER_COUNTER = 4
SCHEME_AUTO = 0
SCHEME_CUCKOO = 1
SCHEME_HASHGRAPH = 2
SCHEME_OPEN = 3
SCHEME_ICEBERG = 4
SCHEME_BUCKET_LIST = 5
SCHEME_SLAB = 6
FLAG_FIXED = 1
FLAG_ORDERED = 2
POLICY_KEEP = 0
POLICY_REPLACE = 1
POLICY_ADD = 2
POLICY_MIN = 3
POLICY_MAX = 4
OUTCOME_INSERTED = 1
OUTCOME_UPDATED = 2
OUTCOME_KEPT = 3
OUTCOME_FAILED = 4
OUTCOME_FOUND = 5
OUTCOME_ABSENT = 6
WORKSPACE_ALIGNMENT = 256
OPERATION_INSERT = 0
OPERATION_ERASE = 1
OPERATION_FIND = 2
PROBES_MAX = 8
NO_SLOT = 18446744073709551615
KEY_COLUMNS_MAX = 16
ROW_NONE_32 = 4294967295
ROW_NONE_64 = 18446744073709551615
JOIN_INNER = 1
JOIN_LEFT = 2
JOIN_RIGHT = 3
JOIN_FULL = 4
JOIN_SEMI = 5
JOIN_ANTI = 6
GROUPS_UNORDERED = 0
GROUPS_BY_FIRST = 1
GROUPS_ANYTHING = 0
GROUPS_KEYS = 1
GROUPS_SIZES = 2
GROUPS_FIRST = 4
GROUPS_ROWS = 8
TYPE_U32 = 1
TYPE_I32 = 2
TYPE_F32 = 3
TYPE_U64 = 4
TYPE_I64 = 5
TYPE_F64 = 6
AGGREGATE_COUNT = 1
AGGREGATE_SUM = 2
AGGREGATE_MIN = 3
AGGREGATE_MAX = 4
AGGREGATE_MEAN = 5
AGGREGATES_MAX = 16
SET_UNION = 1
SET_INTERSECTION = 2
SET_DIFFERENCE = 3
FILTER_DIRECT = 1
CLUSTER_MEMBERS_MAX = 1024
BALANCE_AUTO = 0
BALANCE_KEYS = 1
BALANCE_ROWS = 2
MODE_DISTRIBUTED = 0
MODE_INDEPENDENT = 1
PHASE_PARTITION = 0
PHASE_REORGANISE = 1
PHASE_EXCHANGE = 2
PHASE_WORK = 3
PHASES = 4
ELEMENT_UNKNOWN = 0
ELEMENT_UNSIGNED = 1
ELEMENT_SIGNED = 2
ELEMENT_FLOAT = 3
ELEMENT_BOOL = 4
COLUMN_FILE_READ = 0
COLUMN_FILE_WRITE = 1
ADVICE_SEQUENTIAL = 0
ADVICE_RANDOM = 1
ADVICE_SOON = 2
ADVICE_DONE = 3
SHELF_COUNT = 0
SHELF_SORT = 1
SHELF_WORK = 2
SHELF_DELIVER = 3
SHELF_COMMIT = 4
SHELF_PHASES = 5
SHELF_READ_ONLY = 1

Visitor: Any = CFUNCTYPE(c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, c_uint64)
Progress: Any = CFUNCTYPE(c_uint32, c_void_p, c_uint32, c_uint64, c_uint64)


class DeviceInfo(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_uint32),
        ("index", c_int32),
        ("threads", c_uint32),
        ("memory_total", c_uint64),
        ("memory_free", c_uint64),
        ("name", c_char * 128),
        ("features", c_char * 128),
    ]


class TableOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("container", c_uint32),
        ("scheme", c_uint32),
        ("key_bits", c_uint32),
        ("value_bits", c_uint32),
        ("bucket", c_uint32),
        ("hashes", c_uint32),
        ("flags", c_uint32),
        ("capacity", c_uint64),
        ("seed", c_uint64),
        ("load", c_double),
        ("vertices", c_double),
        ("threshold", c_double),
        ("list_first", c_uint64),
        ("list_growth", c_double),
    ]


class InsertOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("policy", c_uint32),
        ("outcomes", c_void_p),
        ("failed", c_void_p),
        ("failed_capacity", c_uint64),
        ("workspace", c_void_p),
        ("workspace_bytes", c_uint64),
    ]


class Totals(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("reserved", c_uint32),
        ("inserted", c_uint64),
        ("updated", c_uint64),
        ("kept", c_uint64),
        ("failed", c_uint64),
        ("found", c_uint64),
        ("absent", c_uint64),
        ("probes", c_uint64),
        ("evictions", c_uint64),
    ]


class TableStats(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("regions", c_uint32),
        ("keys", c_uint64),
        ("slots", c_uint64),
        ("marks", c_uint64),
        ("buckets", c_uint64),
        ("full", c_uint64),
        ("bytes_slots", c_uint64),
        ("bytes_total", c_uint64),
        ("growths", c_uint64),
        ("evictions", c_uint64),
        ("probes", c_uint64 * 8),
        ("load", c_double),
        ("chains", c_uint64 * 8),
        ("memory_use", c_double),
    ]


class Column(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("valid", c_void_p),
        ("width", c_uint32),
        ("reserved", c_uint32),
    ]


class JoinOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_uint32),
        ("row_bits", c_uint32),
        ("flags", c_uint32),
        ("seed", c_uint64),
    ]


class Aggregate(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("aggregate", c_uint32),
        ("type", c_uint32),
        ("flags", c_uint32),
        ("values", c_void_p),
        ("valid", c_void_p),
    ]


class GroupsOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("order", c_uint32),
        ("row_bits", c_uint32),
        ("flags", c_uint32),
        ("seed", c_uint64),
        ("aggregates", c_void_p),
        ("aggregate_count", c_uint32),
        ("reserved", c_uint32),
    ]


class FilterOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("key_bits", c_uint32),
        ("hashes", c_uint32),
        ("flags", c_uint32),
        ("capacity", c_uint64),
        ("bits_per_key", c_double),
        ("seed", c_uint64),
    ]


class FilterStats(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("hashes", c_uint32),
        ("bits", c_uint64),
        ("bits_set", c_uint64),
        ("keys_added", c_uint64),
        ("rate_expected", c_double),
        ("rate_found", c_double),
    ]


class ClusterOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("timeout_ms", c_uint32),
        ("slice", c_uint64),
    ]


class ClusterInfo(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("members", c_uint32),
        ("first_member", c_uint32),
        ("local_members", c_uint32),
        ("slice", c_uint64),
    ]


class SpreadOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("balance", c_uint32),
        ("seed", c_uint64),
        ("mode", c_uint32),
        ("reserved", c_uint32),
    ]


class ClusterStats(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("members", c_uint32),
        ("keys", c_uint64),
        ("keys_least", c_uint64),
        ("keys_most", c_uint64),
        ("slots", c_uint64),
        ("bytes_total", c_uint64),
        ("imbalance", c_double),
        ("rows", c_uint64),
        ("row_imbalance", c_double),
        ("seconds", c_double * 4),
    ]


class RelationStats(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("members", c_uint32),
        ("rows", c_uint64),
        ("first_row", c_uint64 * 2),
        ("rows_worked", c_uint64),
        ("rows_most", c_uint64),
        ("rows_stayed", c_uint64),
        ("imbalance", c_double),
        ("results", c_uint64),
        ("results_most", c_uint64),
        ("seconds", c_double * 4),
    ]


class ShelfOptions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("memory", c_uint64),
        ("seed", c_uint64),
        ("scratch", c_char_p),
        ("progress", Progress),
        ("context", c_void_p),
    ]


class ShelfStats(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("parts", c_uint32),
        ("parts_filled", c_uint32),
        ("parts_loaded", c_uint32),
        ("keys", c_uint64),
        ("keys_most", c_uint64),
        ("keys_limit", c_uint64),
        ("memory", c_uint64),
        ("bytes_loaded", c_uint64),
        ("bytes_files", c_uint64),
        ("bytes_read", c_uint64),
        ("bytes_written", c_uint64),
        ("bytes_spilled", c_uint64),
        ("divided", c_uint64),
        ("seconds", c_double * 5),
    ]


# C names of the structs above, and the result and the arguments of every function.
STRUCTS = {
    "heddle_device_info": DeviceInfo,
    "heddle_table_options": TableOptions,
    "heddle_insert_options": InsertOptions,
    "heddle_totals": Totals,
    "heddle_table_stats": TableStats,
    "heddle_column": Column,
    "heddle_join_options": JoinOptions,
    "heddle_aggregate": Aggregate,
    "heddle_groups_options": GroupsOptions,
    "heddle_filter_options": FilterOptions,
    "heddle_filter_stats": FilterStats,
    "heddle_cluster_options": ClusterOptions,
    "heddle_cluster_info": ClusterInfo,
    "heddle_spread_options": SpreadOptions,
    "heddle_cluster_stats": ClusterStats,
    "heddle_relation_stats": RelationStats,
    "heddle_shelf_options": ShelfOptions,
    "heddle_shelf_stats": ShelfStats,
}
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "heddle_version": (c_uint32, []),
    "heddle_version_string": (c_char_p, []),
    "heddle_abi_version": (c_uint32, []),
    "heddle_status_string": (c_char_p, [c_int32]),
    "heddle_last_error": (c_char_p, []),
    "heddle_device_open": (c_int32, [c_char_p, c_void_p]),
    "heddle_device_close": (None, [c_void_p]),
    "heddle_device_get_info": (c_int32, [c_void_p, c_void_p]),
    "heddle_cuda_device_count": (c_uint32, []),
    "heddle_cuda_is_built": (c_uint32, []),
    "heddle_device_trim": (c_int32, [c_void_p]),
    "heddle_device_synchronize": (c_int32, [c_void_p, c_void_p]),
    "heddle_memory_allocate": (c_int32, [c_void_p, c_uint64, c_void_p]),
    "heddle_memory_free": (c_int32, [c_void_p, c_void_p]),
    "heddle_memory_copy": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_memory_fill": (c_int32, [c_void_p, c_void_p, c_uint8, c_uint64, c_void_p]),
    "heddle_table_create": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_table_destroy": (None, [c_void_p]),
    "heddle_table_get_options": (c_int32, [c_void_p, c_void_p]),
    "heddle_table_instance": (c_char_p, [c_void_p]),
    "heddle_table_device": (c_void_p, [c_void_p]),
    "heddle_table_insert": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_table_build": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_table_build_workspace": (c_int32, [c_void_p, c_uint64, c_void_p]),
    "heddle_table_find": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_table_contains": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_table_erase": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_table_count": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_table_retrieve": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_table_export": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_table_clear": (c_int32, [c_void_p, c_void_p]),
    "heddle_table_size": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_table_check_widths": (c_int32, [c_void_p, c_uint32, c_uint32]),
    "heddle_table_reserve": (c_int32, [c_void_p, c_uint64, c_void_p]),
    "heddle_table_rehash": (c_int32, [c_void_p, c_uint64, c_void_p]),
    "heddle_table_take_totals": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_table_peek_totals": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_table_get_stats": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_table_validate": (c_int32, [c_void_p, c_void_p]),
    "heddle_table_save": (c_int32, [c_void_p, c_char_p, c_void_p]),
    "heddle_table_load": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "heddle_table_mixed": (c_int32, [
        c_void_p, c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p,
    ]),
    "heddle_table_flush": (c_int32, [c_void_p, c_void_p]),
    "heddle_table_retrieve_all": (c_int32, [
        c_void_p, c_void_p, c_void_p, c_void_p, c_uint64, c_uint64, c_void_p, c_void_p, c_void_p,
    ]),
    "heddle_table_locate": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_table_at": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_table_for_all": (c_int32, [c_void_p, Visitor, c_void_p, c_void_p]),
    "heddle_table_for_each": (c_int32, [c_void_p, c_void_p, c_uint64, Visitor, c_void_p, c_void_p]),
    "heddle_join_create": (c_int32, [
        c_void_p, c_void_p, c_void_p, c_uint32, c_uint64, c_uint64, c_void_p, c_void_p, c_void_p,
    ]),
    "heddle_join_tables": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_join_count": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_join_fetch": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_join_rewind": (c_int32, [c_void_p]),
    "heddle_join_destroy": (None, [c_void_p]),
    "heddle_groups_create": (c_int32, [c_void_p, c_void_p, c_uint32, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_groups_destroy": (None, [c_void_p]),
    "heddle_groups_count": (c_int32, [c_void_p, c_void_p]),
    "heddle_groups_first": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_groups_keys": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    "heddle_groups_sizes": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_groups_of_rows": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_groups_rows": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_groups_top": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_groups_aggregate": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_groups_aggregated": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    "heddle_set_operation": (c_int32, [
        c_void_p, c_uint32, c_uint32, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_void_p,
    ]),
    "heddle_filter_create": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_filter_destroy": (None, [c_void_p]),
    "heddle_filter_get_options": (c_int32, [c_void_p, c_void_p]),
    "heddle_filter_check_width": (c_int32, [c_void_p, c_uint32]),
    "heddle_filter_device": (c_void_p, [c_void_p]),
    "heddle_filter_add": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_filter_contains": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_filter_select": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_filter_merge": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_filter_clear": (c_int32, [c_void_p, c_void_p]),
    "heddle_filter_get_stats": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_filter_validate": (c_int32, [c_void_p, c_void_p]),
    "heddle_filter_save": (c_int32, [c_void_p, c_char_p, c_void_p]),
    "heddle_filter_load": (c_int32, [c_void_p, c_char_p, c_void_p]),
    "heddle_cluster_open": (c_int32, [c_char_p, c_void_p, c_void_p]),
    "heddle_cluster_close": (None, [c_void_p]),
    "heddle_cluster_get_info": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_device": (c_void_p, [c_void_p, c_uint32]),
    "heddle_cluster_table_create": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_cluster_table_get_options": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_cluster_table_check_widths": (c_int32, [c_void_p, c_uint32, c_uint32]),
    "heddle_cluster_table_destroy": (None, [c_void_p]),
    "heddle_cluster_table_part": (c_void_p, [c_void_p, c_uint32]),
    "heddle_cluster_table_build": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_cluster_table_insert": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_cluster_table_find": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_cluster_table_contains": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_cluster_table_erase": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_cluster_table_count": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_cluster_table_retrieve": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_cluster_table_export": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_cluster_table_for_all": (c_int32, [c_void_p, Visitor, c_void_p]),
    "heddle_cluster_table_clear": (c_int32, [c_void_p]),
    "heddle_cluster_table_size": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_table_get_stats": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_table_validate": (c_int32, [c_void_p]),
    "heddle_cluster_join_create": (c_int32, [
        c_void_p, c_void_p, c_void_p, c_uint32, c_uint64, c_uint64, c_void_p, c_void_p,
    ]),
    "heddle_cluster_join_count": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_cluster_join_fetch": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_cluster_join_rewind": (c_int32, [c_void_p]),
    "heddle_cluster_join_get_stats": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_join_destroy": (None, [c_void_p]),
    "heddle_cluster_groups_create": (c_int32, [c_void_p, c_void_p, c_uint32, c_uint64, c_void_p, c_void_p]),
    "heddle_cluster_groups_destroy": (None, [c_void_p]),
    "heddle_cluster_groups_count": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "heddle_cluster_groups_first": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_groups_keys": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "heddle_cluster_groups_sizes": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_groups_of_rows": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_groups_aggregate": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p]),
    "heddle_cluster_groups_get_stats": (c_int32, [c_void_p, c_void_p]),
    "heddle_cluster_set_operation": (c_int32, [
        c_void_p, c_uint32, c_uint32, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p,
    ]),
    "heddle_column_file_open": (c_int32, [c_char_p, c_uint32, c_uint32, c_void_p]),
    "heddle_column_file_create": (c_int32, [c_char_p, c_uint32, c_uint64, c_void_p]),
    "heddle_column_file_create_as": (c_int32, [c_char_p, c_uint32, c_uint32, c_uint64, c_void_p]),
    "heddle_column_file_data": (c_void_p, [c_void_p]),
    "heddle_column_file_count": (c_uint64, [c_void_p]),
    "heddle_column_file_element_bits": (c_uint32, [c_void_p]),
    "heddle_column_file_element_kind": (c_uint32, [c_void_p]),
    "heddle_column_file_advise": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint32]),
    "heddle_column_file_flush": (c_int32, [c_void_p]),
    "heddle_column_file_close": (None, [c_void_p]),
    "heddle_shelf_create": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "heddle_shelf_open": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "heddle_shelf_close": (None, [c_void_p]),
    "heddle_shelf_get_options": (c_int32, [c_void_p, c_void_p]),
    "heddle_shelf_check_widths": (c_int32, [c_void_p, c_uint32, c_uint32]),
    "heddle_shelf_build": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_shelf_insert": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_shelf_find": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "heddle_shelf_contains": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_shelf_count": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_shelf_erase": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "heddle_shelf_retrieve": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_shelf_export": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p]),
    "heddle_shelf_for_all": (c_int32, [c_void_p, Visitor, c_void_p]),
    "heddle_shelf_clear": (c_int32, [c_void_p]),
    "heddle_shelf_size": (c_int32, [c_void_p, c_void_p]),
    "heddle_shelf_get_stats": (c_int32, [c_void_p, c_void_p]),
    "heddle_shelf_validate": (c_int32, [c_void_p]),
}
