"""The types of elements that Heddle takes, whatever framework an array is of."""

from . import _declarations as c


class DType:
    """`name` is NumPy's, `kind` NumPy's letter, `width` in bytes, `type` the HEDDLE_TYPE_* of columns of
    values or 0.
    """

    __slots__ = ("name", "kind", "width", "type", "wide")

    def __init__(self, name: str, kind: str, width: int, type_: int = 0, wide: str = ""):
        self.name = name
        self.kind = kind
        self.width = width
        self.type = type_
        self.wide = wide or name  # what it is converted to where 32 or 64 bits are needed

    def __repr__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "f"


DTYPES = {
    kind.name: kind
    for kind in (
        DType("int8", "i", 1, 0, "int32"),
        DType("int16", "i", 2, 0, "int32"),
        DType("int32", "i", 4, c.TYPE_I32),
        DType("int64", "i", 8, c.TYPE_I64),
        DType("uint8", "u", 1, 0, "uint32"),
        DType("uint16", "u", 2, 0, "uint32"),
        DType("uint32", "u", 4, c.TYPE_U32),
        DType("uint64", "u", 8, c.TYPE_U64),
        DType("bool", "b", 1, 0, "uint32"),
        DType("float32", "f", 4, c.TYPE_F32),
        DType("float64", "f", 8, c.TYPE_F64),
    )
}

INT64, UINT64, UINT32, BOOL, UINT8 = (DTYPES[name] for name in ("int64", "uint64", "uint32", "bool", "uint8"))

# The result of an aggregate by the kind of its values.
SUMS = {"i": "int64", "u": "uint64", "b": "uint64", "f": "float64"}


def name_of(kind: str, width: int) -> str:
    """The name of the type for NumPy's letter and width, such as "i" and 8; "" for other letters."""
    names = {"i": f"int{8 * width}", "u": f"uint{8 * width}", "f": f"float{8 * width}", "b": "bool"}
    return names.get(kind, "")


def of_letter(kind: str, width: int) -> DType | None:
    return DTYPES.get(name_of(kind, width))
