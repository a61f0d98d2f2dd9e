"""The 4-bit file, read slowly."""

import struct


def dequantize_slowly(data: bytes) -> list[float]:
    values = []
    for start in range(0, len(data), 18):
        (scale,) = struct.unpack_from("<e", data, start)
        packed = data[start + 2 : start + 18]
        values += [scale * (byte % 16 - 8) for byte in packed]
        values += [scale * (byte // 16 - 8) for byte in packed]
    return values
