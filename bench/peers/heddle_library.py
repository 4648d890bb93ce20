"""The relational part of libheddle for Python, by ctypes: as much as the comparisons here need."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_uint32, c_uint64, c_void_p

import numpy

JOIN_INNER = 1
AGGREGATE_SUM = 2
TYPES = {"uint32": 1, "int32": 2, "float32": 3, "uint64": 4, "int64": 5, "float64": 6}
SUM_TYPES = {"uint32": "uint64", "int32": "int64", "float32": "float64",
             "uint64": "uint64", "int64": "int64", "float64": "float64"}


class Column(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("valid", c_void_p), ("width", c_uint32),
                ("reserved", c_uint32)]


class JoinOptions(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("kind", c_uint32), ("row_bits", c_uint32),
                ("flags", c_uint32), ("seed", c_uint64)]


class GroupsOptions(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("order", c_uint32), ("row_bits", c_uint32),
                ("flags", c_uint32), ("seed", c_uint64)]


SIGNATURES = {
    "heddle_device_open": [c_char_p, POINTER(c_void_p)],
    "heddle_join_create": [c_void_p, POINTER(Column), c_uint64, POINTER(Column), c_uint64, c_uint32,
                           POINTER(JoinOptions), POINTER(c_void_p), c_void_p],
    "heddle_join_count": [c_void_p, POINTER(c_uint64), POINTER(c_uint64)],
    "heddle_join_fetch": [c_void_p, c_void_p, c_void_p, c_uint64, POINTER(c_uint64), c_void_p],
    "heddle_groups_create": [c_void_p, POINTER(Column), c_uint32, c_uint64, POINTER(GroupsOptions),
                             POINTER(c_void_p), c_void_p],
    "heddle_groups_count": [c_void_p, POINTER(c_uint64)],
    "heddle_groups_keys": [c_void_p, c_uint32, c_void_p, c_void_p, c_void_p],
    "heddle_groups_aggregate": [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_void_p,
                                c_void_p, c_void_p],
}


def column(array):
    """A column of a numpy array, which must outlive it."""
    return Column(array.ctypes.data, None, array.itemsize, 0)


class Heddle:
    """A device. Every failure is an exception with the library's own sentence."""

    def __init__(self, path, device):
        self.library = ctypes.CDLL(path)
        self.library.heddle_last_error.restype = c_char_p
        for name in ("heddle_device_close", "heddle_join_destroy", "heddle_groups_destroy"):
            function = getattr(self.library, name, None)
            if function is not None:
                function.argtypes, function.restype = [c_void_p], None
        self.device = c_void_p()
        self.call("heddle_device_open", device.encode(), byref(self.device))

    def has(self, name):
        return hasattr(self.library, name)

    def call(self, name, *arguments):
        function = getattr(self.library, name)
        function.argtypes = SIGNATURES[name]
        if function(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.library.heddle_last_error().decode()}")

    def close(self):
        self.library.heddle_device_close(self.device)

    def join(self, left, right, fetch=False):
        """The number of matches of two arrays of keys and, where wanted, the row numbers of all."""
        options = JoinOptions(ctypes.sizeof(JoinOptions), JOIN_INNER, 32, 0, 0)
        join, count, rows = c_void_p(), c_uint64(), None
        self.call("heddle_join_create", self.device, byref(column(left)), len(left),
                  byref(column(right)), len(right), 1, byref(options), byref(join), None)
        self.call("heddle_join_count", join, byref(count), None)
        if fetch:
            rows = [numpy.empty(count.value, numpy.uint32) for _ in range(2)]
            self.call("heddle_join_fetch", join, rows[0].ctypes.data, rows[1].ctypes.data,
                      count.value, byref(count), None)
        self.library.heddle_join_destroy(join)
        return count.value, rows

    def group_sum(self, keys, values):
        """The distinct keys and the sum of the values of each."""
        options = GroupsOptions(ctypes.sizeof(GroupsOptions), 0, 32, 0, 0)
        groups, count = c_void_p(), c_uint64()
        self.call("heddle_groups_create", self.device, byref(column(keys)), 1, len(keys),
                  byref(options), byref(groups), None)
        self.call("heddle_groups_count", groups, byref(count))
        distinct = numpy.empty(count.value, keys.dtype)
        sums = numpy.empty(count.value, SUM_TYPES[values.dtype.name])
        self.call("heddle_groups_keys", groups, 0, distinct.ctypes.data, None, None)
        self.call("heddle_groups_aggregate", groups, AGGREGATE_SUM, TYPES[values.dtype.name],
                  values.ctypes.data, None, sums.ctypes.data, None, None)
        self.library.heddle_groups_destroy(groups)
        return distinct, sums
