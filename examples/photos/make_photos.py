#!/usr/bin/env python3
"""Draws "photos" to try Trireme with: circles, triangles and squares of any colour, place, size and angle, with noise.

    make_photos.py TO [--each 100] [--new 30] [--seed 1]

    TO/photos/круг, TO/photos/三角形, TO/photos/Würfel    PNG and JPEG images of different sizes, one folder per class
    TO/new                                                other images in one folder, in no order
    TO/truth.csv                                          what is on them: file,class

Needs Python's standard library; for JPEG the program cjpeg (Debian: libjpeg-turbo-progs). Without it all are PNG.
"""

import argparse
import csv
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import zlib

CORNERS = {"круг": 0, "三角形": 3, "Würfel": 4}


def png(width, height, pixels):
    """A PNG file of RGB bytes."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    rows = b"".join(b"\0" + pixels[3 * width * y:3 * width * (y + 1)] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def jpeg(width, height, pixels):
    return subprocess.run(["cjpeg", "-quality", "90"], input=b"P6 %d %d 255\n" % (width, height) + pixels,
                          stdout=subprocess.PIPE, check=True).stdout


def two_colours(chance):
    """Background and shape, far enough apart to see."""
    while True:
        one, other = ([chance.randrange(20, 236) for _ in range(3)] for _ in range(2))
        if sum(abs(a - b) for a, b in zip(one, other)) > 200:
            return one, other


def span_of_row(corners, y):
    """The first and last x inside a convex polygon at the height y; None outside."""
    found = []
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        if (y0 <= y) != (y1 <= y):
            found.append(x0 + (x1 - x0) * (y - y0) / (y1 - y0))
    return (min(found), max(found)) if found else None


def draw(name, chance):
    """Width, height and RGB bytes of one picture."""
    width, height = chance.randrange(56, 129), chance.randrange(56, 129)
    radius = min(width, height) * chance.uniform(0.28, 0.44)
    x0 = chance.uniform(radius + 2, width - radius - 2)
    y0 = chance.uniform(radius + 2, height - radius - 2)
    count = CORNERS[name] or 48  # a circle has many corners
    # A corner of the triangle is on top, a side of the square; both lean by up to 15 degrees.
    turn = math.radians({3: -90, 4: 45}.get(count, 0) + chance.uniform(-15, 15))
    corners = [(x0 + radius * math.cos(turn + 2 * math.pi * k / count),
                y0 + radius * math.sin(turn + 2 * math.pi * k / count)) for k in range(count)]
    ground, shape = two_colours(chance)
    light = chance.uniform(-40, 40)  # from the left edge to the right one
    noise = [chance.gauss(0, 9) for _ in range(4093)]
    at, row = 0, []
    for y in range(height):
        inside = span_of_row(corners, y + 0.5) or (0, -1)
        for x in range(width):
            colour = shape if inside[0] <= x + 0.5 <= inside[1] else ground
            change = light * (x / width - 0.5) + noise[at % 4093]
            at += 1 + (x & y & 1)
            for value in colour:
                value = int(value + change)
                row.append(0 if value < 0 else 255 if value > 255 else value)
    return width, height, bytes(row)


def write_picture(path, number, name, chance, has_cjpeg):
    """Returns the name of the file: every second one is a JPEG."""
    picture = draw(name, chance)
    is_jpeg = has_cjpeg and number % 2 == 1
    path += ".jpg" if is_jpeg else ".png"
    with open(path, "wb") as file:
        file.write((jpeg if is_jpeg else png)(*picture))
    return os.path.basename(path)


def main():
    parser = argparse.ArgumentParser(description="Draws circles, triangles and squares as PNG and JPEG images.")
    parser.add_argument("to", help="a new folder")
    parser.add_argument("--each", type=int, default=100, help="images of each class to learn from (default 100)")
    parser.add_argument("--new", type=int, default=30, help="other images, to predict (default 30)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if os.path.exists(options.to):
        parser.error(f"{options.to} exists already; name a new folder")
    if options.each < 1 or options.new < 1:
        parser.error("--each and --new must be 1 or more")
    has_cjpeg = shutil.which("cjpeg") is not None
    if not has_cjpeg:
        print("there is no program cjpeg (Debian: libjpeg-turbo-progs), so all images are PNG", file=sys.stderr)
    chance = random.Random(options.seed)
    for name in CORNERS:
        folder = os.path.join(options.to, "photos", name)
        os.makedirs(folder)
        for number in range(options.each):
            write_picture(os.path.join(folder, f"{number:03}"), number, name, chance, has_cjpeg)
    os.makedirs(os.path.join(options.to, "new"))
    with open(os.path.join(options.to, "truth.csv"), "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["file", "class"])
        for number in range(options.new):
            name = chance.choice(list(CORNERS))
            path = os.path.join(options.to, "new", f"{number:03}")
            table.writerow([write_picture(path, number, name, chance, has_cjpeg), name])
    print(f"{options.to}/photos: {3 * options.each} images of {', '.join(CORNERS)}; {options.to}/new: {options.new} others")


if __name__ == "__main__":
    main()
