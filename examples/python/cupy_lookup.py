"""A kernel of CuPy's looks keys up in a HashMap, by the library's PTX. Needs a GPU and CuPy.

NVRTC compiles the kernel with an open reference, and the driver links it with heddle_device.ptx.
"""

import ctypes
import os
import tempfile

import cupy
import heddle

table = heddle.HashMap(cupy.arange(1000), cupy.arange(1000) * 10)
view = table.kernel_view()

source = """
extern "C" __device__ int %(prefix)s_find(const void *view, unsigned long long key, unsigned long long *value);
extern "C" __global__ void look_up(const void *view, const unsigned long long *keys, unsigned long long *sums, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long value = 0, sum = 0;
    for (int step = 0; step < 3; step++)
        if (%(prefix)s_find(view, keys[i] + step, &value)) sum += value;
    sums[i] = sum;
}
""" % {"prefix": view.prefix}


def linked(ptx):
    """The kernel and the library's functions as one cubin."""
    driver, link = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()

    def check(status):
        if status:
            raise RuntimeError(f"the CUDA driver says {status}")

    check(driver.cuLinkCreate_v2(0, None, None, ctypes.byref(link)))
    with open(heddle.device_code("ptx"), "rb") as file:
        functions = file.read() + b"\0"
    for code, name in ((ptx, b"look_up"), (functions, b"heddle")):
        kind = 0 if code[:4] == b"\x7fELF" else 1  # CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_PTX
        check(driver.cuLinkAddData_v2(link, kind, code, ctypes.c_size_t(len(code)), name, 0, None, None))
    image, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(driver.cuLinkComplete(link, ctypes.byref(image), ctypes.byref(size)))
    made = ctypes.string_at(image, size.value)
    check(driver.cuLinkDestroy(link))
    return made


cupy.zeros(1)  # the driver's context is there now
ptx, _ = cupy.cuda.compiler.compile_using_nvrtc(source, options=("-rdc=true",))
cubin = linked(ptx if isinstance(ptx, bytes) else ptx.encode() + b"\0")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "look_up.cubin")
    with open(path, "wb") as file:
        file.write(cubin)
    kernel = cupy.RawModule(path=path).get_function("look_up")

keys, sums = cupy.arange(100), cupy.zeros(100, "int64")
on_device = cupy.asarray(bytearray(view.bytes))
kernel((1,), (128,), (on_device, keys, sums, cupy.int32(100)))
print("sums of three values each:", bool((sums == 30 * cupy.arange(100) + 30).all()))
