# SPDX-License-Identifier: Apache-2.0
"""Reads the pixels of a PNG with the standard library only (PNG specification, sections 5, 9 and 12)."""

import io
import struct
import zlib


class Pixels:
    """The RGB pixels of a PNG with 8 bits a channel, as Chromium writes screenshots."""

    def __init__(self, png):
        stream = io.BytesIO(png)
        stream.read(8)
        data = b""
        while True:
            length, kind = struct.unpack(">I4s", stream.read(8))
            chunk = stream.read(length)
            stream.read(4)
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", chunk[:10])
                assert depth == 8 and colour in (2, 6)
                self.channels = 3 if colour == 2 else 4
            elif kind == b"IDAT":
                data += chunk
            elif kind == b"IEND":
                break
        self.rows = self._unfilter(zlib.decompress(data))

    def _unfilter(self, raw):
        stride, step = self.width * self.channels, self.channels
        rows, above = [], bytearray(stride)
        for y in range(self.height):
            kind = raw[y * (stride + 1)]
            row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
            for x in range(stride):
                left = row[x - step] if x >= step else 0
                corner = above[x - step] if x >= step else 0
                row[x] = row[x] + self._predict(kind, left, above[x], corner) & 255
            rows.append(row)
            above = row
        return rows

    @staticmethod
    def _predict(kind, left, up, corner):
        if kind < 3:
            return (0, left, up)[kind]
        if kind == 3:
            return (left + up) // 2
        distances = [(abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner)]
        return min(distances)[2]

    def mean(self, x, y, size):
        """The mean colour of a square around (x, y)."""
        total = [0, 0, 0]
        for row in self.rows[int(y - size / 2):int(y + size / 2)]:
            for column in range(int(x - size / 2), int(x + size / 2)):
                at = column * self.channels
                for channel in range(3):
                    total[channel] += row[at + channel]
        return [t / int(size) ** 2 for t in total]
