"""A kernel of Numba's looks keys up in a HashMap, by the library's PTX. Needs a GPU, Numba and cffi.

Numba's functions give their result through their first argument, so a few lines of CUDA C++ stand between.
"""

import os
import tempfile

import cffi
import heddle
import numpy
from numba import cuda, types

table = heddle.HashMap(numpy.arange(1000), numpy.arange(1000) * 10, device="cuda")
view = table.kernel_view()

between = """
extern "C" __device__ int %(prefix)s_find(const void *view, unsigned long long key, unsigned long long *value);
extern "C" __device__ int look_up(long long *result, const void *view, long long key)
{
    unsigned long long value = 0;
    *result = %(prefix)s_find(view, key, &value) ? (long long)value : -1;
    return 0;
}
""" % {"prefix": view.prefix}

folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "between.cu")
with open(path, "w") as file:
    file.write(between)

look_up = cuda.declare_device("look_up", types.int64(types.CPointer(types.uint8), types.int64))
ffi = cffi.FFI()


@cuda.jit(link=[path, heddle.device_code("ptx")])
def look_all_up(view, keys, values):
    i = cuda.grid(1)
    if i < keys.size:
        values[i] = look_up(ffi.from_buffer(view), keys[i])


keys, values = cuda.to_device(numpy.arange(990, 1010)), cuda.device_array(20, numpy.int64)
look_all_up[1, 32](cuda.to_device(numpy.frombuffer(view.bytes, numpy.uint8).copy()), keys, values)
print(values.copy_to_host()[[0, 9, 10]].tolist())
