"""Makes the files that the rows of bad_inputs.py name: good ones, and for each kind of file the ways to break it."""

import base64
import gzip
import io
import json
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import zipfile
import zlib

JPEG = base64.b64decode(
    "/9j/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////////////////wAALCAAQABABAREA"
    "/8QAFQABAQAAAAAAAAAAAAAAAAAAAQD/xAAfEAABAgYDAAAAAAAAAAAAAAABAGERITGR4fBxgcH/2gAIAQEAAD8AKBrZLpY70Jw5VscnxFA1sl1/"
    "/9k=")


def npy(shape, values=None, kind="<f4"):
    count = 1
    for size in shape:
        count *= size
    code = {"<f4": "f", "<f8": "d", "<i8": "q", "|u1": "B"}.get(kind)
    body = b""
    if code:
        values = values or [(i * 37 % 101) / 101 if code in "fd" else i * 37 % 3 for i in range(count)]
        body = struct.pack(f"<{count}{code}", *values)
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), array)
    return out.getvalue()


def png(width, height, channels=1, seed=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = bytes((i * 31 + seed * 17) % 256 for i in range(width * channels))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for _ in range(height)))) + chunk(b"IEND", b""))


def safetensors(**tensors):
    header, body = {}, b""
    for name, (shape, values) in tensors.items():
        data = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def table(rows=40, end=""):
    return "a,b,c,label\n" + "".join(f"{i % 7},{i * i % 11},{i % 5}.5,{i % 3}\n" for i in range(rows)) + end


class Maker:
    def __init__(self, folder, program):
        self.folder, self.program = folder, program

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def run(self, *words):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"cannot prepare the files: trireme {' '.join(words)}: {done.stderr}")

    def tables(self):
        self.write("good.csv", table())
        self.write("four.csv", "a,b,c,label\n" + "".join(f"{i},1,2,{i % 2}\n" for i in range(4)))
        self.write("floats.csv", "a,b,y\n" + "".join(f"{i},{i % 3},{i * 0.25}\n" for i in range(40)))
        self.write("word.csv", table(end="1,two,3,1\n"))
        self.write("short-row.csv", table(end="1,2\n"))
        self.write("long-row.csv", table(end="1,2,3,4,5\n"))
        self.write("missing.csv", table(end="1,,3,1\n"))
        self.write("nan.csv", table(end="1,nan,3,1\n"))
        self.write("inf.csv", table(end="1,inf,3,1\n"))
        self.write("overflow.csv", table(end="1,1e999,3,1\n"))
        self.write("header-only.csv", "a,b,label\n")
        self.write("one-column.csv", "1\n2\n3\n")
        self.write("one-row.csv", "1,2,0\n")
        self.write("one-class.csv", "a,b,label\n" + "1,2,0\n3,4,0\n" * 20)
        self.write("comments.csv", "# nothing\n# at all\n")
        self.write("binary.csv", bytes(range(256)) * 4)
        self.write("empty.csv", "")
        self.write("blank.csv", "\n\n\n")
        self.write("utf16.csv", table().encode("utf-16"))
        self.write("cut.csv.gz", gzip.compress(table(400).encode())[:-20])
        self.write("garbage.csv.gz", b"\x1f\x8b" + b"garbage" * 9)
        self.write("cut.csv.xz", lzma.compress(table(400).encode())[:-20])
        self.write("garbage.csv.xz", b"\xfd7zXZ\x00" + b"garbage" * 9)
        self.write("garbage.csv.zst", b"\x28\xb5\x2f\xfd" + b"garbage" * 9)
        self.write("empty.csv.gz", b"")

    def arrays(self):
        x, y = npy((40, 1, 8, 8)), npy((40,), [i % 3 for i in range(40)], "<i8")
        good = npz(x=x, y=y)
        self.write("good.npz", good)
        self.write("text.npz", "not a zip file\n")
        self.write("empty.npz", b"")
        self.write("cut.npz", good[:len(good) // 2])
        self.write("no-directory.npz", good[:-30])
        flipped = bytearray(good)
        flipped[len(good) // 3] ^= 0xFF
        self.write("flipped.npz", bytes(flipped))
        self.write("no-arrays.npz", npz())
        self.write("no-y.npz", npz(x=x))
        self.write("no-x.npz", npz(y=y))
        self.write("names.npz", npz(foo=x, bar=y))
        self.write("counts.npz", npz(x=x, y=npy((39,), None, "<i8")))
        self.write("negative-class.npz", npz(x=x, y=npy((40,), [i - 3 for i in range(40)], "<i8")))
        self.write("huge-class.npz", npz(x=x, y=npy((40,), [i << 40 for i in range(40)], "<i8")))
        self.write("float-labels.npz", npz(x=x, y=npy((40,), [i / 7 for i in range(40)], "<f8")))
        self.write("nan-values.npz", npz(x=x, y=npy((40,), [float("nan")] * 40, "<f8")))
        self.write("nan-inputs.npz", npz(x=npy((40, 1, 8, 8), [float("nan")] * 2560), y=y))
        self.write("no-samples.npz", npz(x=npy((0, 1, 8, 8)), y=npy((0,), [], "<i8")))
        self.write("scalar.npz", npz(x=npy(()), y=y))
        self.write("zero-size.npz", npz(x=npy((40, 0, 8)), y=y))
        self.write("many-dimensions.npz", npz(x=npy((40, 1, 1, 1, 2, 2, 2)), y=y))
        self.write("objects.npz", npz(x=npy((40, 1, 8, 8), kind="|O"), y=y))
        self.write("complex.npz", npz(x=npy((40, 2), kind="<c8"), y=y))
        self.write("strings.npz", npz(x=x, y=npy((40,), kind="<U3")))
        self.write("huge.npz", npz(x=npy((1 << 40, 1 << 40), [0.0], "<c16"), y=y))
        self.write("overflow.npz", npz(x=npy((40, 8), [0.0] * 320).replace(b"(40, 8)", b"(40, 9)"), y=y))
        self.write("header.npz", npz(x=b"\x93NUMPY\x01\x00\x10\x00{'descr': ", y=y))
        self.write("text-array.npz", npz(x=b"1 2 3\n", y=y))
        self.write("sizes.npz", npz(x_train=x, y_train=y, x_test=npy((40, 1, 4, 4)), y_test=y))
        self.write("two-inputs.npz", npz(x1=x, x2=npy((40, 10)), y=y))
        self.write("wrong.safetensors", good)
        os.makedirs(self.folder / "npy")
        self.write("npy/x.npy", x[:-7])
        self.write("npy/y.npy", y)

    def images(self):
        for index in range(6):
            self.write(f"photos/a/{index}.png", png(16, 16, seed=index))
            self.write(f"photos/b/{index}.jpg", JPEG)
        broken = {
            "cut-png": png(16, 16)[:60], "cut-jpeg": JPEG[:100], "text-png": b"no image", "empty-png": b"",
            "empty-jpeg": b"", "gif": b"GIF89a" + bytes(40), "huge-png": None, "crc-png": None, "soi-jpeg": JPEG[:2],
        }
        flipped = bytearray(png(16, 16))
        flipped[45] ^= 0xFF
        broken["crc-png"] = bytes(flipped)
        header = b"IHDR" + struct.pack(">IIBBBBB", 1 << 30, 1 << 30, 8, 2, 0, 0, 0)
        broken["huge-png"] = png(16, 16)[:8] + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
        for name, content in broken.items():
            shutil.copytree(self.folder / "photos", self.folder / name)
            self.write(f"{name}/a/7." + ("jpg" if "jpeg" in name else "png"), content)
        self.write("one-class/a/1.png", png(8, 8))
        self.write("one-class/a/2.png", png(8, 8))
        os.makedirs(self.folder / "empty-classes/a")
        os.makedirs(self.folder / "empty-classes/b")
        self.write("notes/a/readme.md", "no image")
        self.write("sizes/a/1.png", png(8, 8))
        self.write("sizes/b/1.png", png(9, 8))
        self.write("flat/1.png", png(8, 8))
        self.write("train-only/train/a/1.png", png(8, 8))
        self.write("train-only/test/c/1.png", png(8, 8))
        self.write("list.txt", "photos/a/1.png\nphotos/a/nowhere.png\n")
        self.write("empty.txt", "")

    def packed(self):
        self.run("data", "pack", "--data", "./good.npz", "--to", "good.trireme")
        good = (self.folder / "good.trireme").read_bytes()
        self.write("empty.trireme", b"")
        self.write("text.trireme", "not packed\n")
        self.write("cut.trireme", good[:len(good) // 2])
        self.write("cut-head.trireme", good[:40])
        self.write("longer.trireme", good + b"x")
        self.write("other-version.trireme", good[:8] + b"\xff" + good[9:])
        for name, place in (("flipped-head", 60), ("flipped-first", -len(good) // 2), ("flipped-last", -3)):
            flipped = bytearray(good)
            flipped[place] ^= 0x10
            self.write(f"{name}.trireme", bytes(flipped))

    def special_files(self):
        os.makedirs(self.folder / "empty-folder")
        os.makedirs(self.folder / "folder.csv")
        os.makedirs(self.folder / "folder.toml")
        os.makedirs(self.folder / "folder.npz")
        os.makedirs(self.folder / "folder.trireme")
        os.makedirs(self.folder / "folder.safetensors")
        os.mkfifo(self.folder / "pipe.csv")
        os.symlink("nowhere", self.folder / "broken.csv")
        os.symlink("loop.csv", self.folder / "loop.csv")
        for name in ("secret.csv", "secret.toml", "secret.npz", "secret.safetensors"):
            self.write(name, table())
            os.chmod(self.folder / name, 0)
        os.makedirs(self.folder / "secret-folder")
        os.chmod(self.folder / "secret-folder", 0)
        self.write("there.png", b"keep me")
        self.write("there.trireme", b"keep me")
        self.write("there.csv", b"keep me")
        self.write("there.svg", b"keep me")
        self.write("there.dot", b"keep me")
        self.write("there.json", b"keep me")
        self.write("there.table", b"keep me")
        self.write("full/note", "keep me")
        for name, content in (("cells", "avx2 | conv\n"), ("isa", "sse9 | conv | direct\n"), ("binary", bytes(99))):
            self.write(f"{name}.table", content)

    def weights(self):
        weights = next(self.folder.glob("run/checkpoints/step-*/weights.safetensors")).read_bytes()
        self.write("good.safetensors", weights)
        self.write("empty.safetensors", b"")
        self.write("text.safetensors", "no tensors here\n")
        self.write("cut.safetensors", weights[:-9])
        self.write("cut-head.safetensors", weights[:20])
        self.write("huge-head.safetensors", struct.pack("<Q", 1 << 60) + weights[8:])
        self.write("no-json.safetensors", struct.pack("<Q", 40) + b"{" * 40)
        self.write("array.safetensors", struct.pack("<Q", 2) + b"[]")
        self.write("other.safetensors", safetensors(something=([2], [1.0, 2.0])))
        self.write("offsets.safetensors",
                   safetensors(x=([2], [1.0, 2.0])).replace(b'"data_offsets": [0, 8]', b'"data_offsets": [8, 0]'))
        self.write("shape.safetensors", safetensors(x=([3], [1.0, 2.0])))
        self.write("type.safetensors", safetensors(x=([2], [1.0, 2.0])).replace(b"F32", b"Q99"))
        self.write("deep.safetensors", struct.pack("<Q", 100000) + b"[" * 100000)
        for ending, head in (("pt", b"PK\x03\x04"), ("pth", b"\x80\x02."), ("h5", b"\x89HDF\r\n\x1a\n"),
                             ("keras", b"PK\x03\x04"), ("onnx", b"\x08\x07"), ("bin", b"PK\x03\x04"),
                             ("pkl", b"\x80\x04"), ("ckpt", b"\x80\x02.")):
            self.write(f"theirs.{ending}", head + bytes(64))
        self.write("theirs.npz", npz(**{"theirs.weight": npy((3, 3)), "theirs.bias": npy((3,))}))

    def runs(self):
        self.run("train", "--model", "net.toml", "--data", "./good.csv", "--batch", "8", "--epochs", "1", "--threads",
                 "1", "--run", "run")
        step = sorted(self.folder.glob("run/checkpoints/step-*"))[-1].name

        def copy(name):
            shutil.copytree(self.folder / "run", self.folder / name)
            return self.folder / name

        def edited(name, file, change):
            path = copy(name) / file
            path.write_bytes(change(path.read_bytes()))

        def without(name, file):
            path = copy(name) / file
            shutil.rmtree(path) if path.is_dir() else path.unlink()

        without("run-no-json", "run.json")
        without("run-no-network", "network.json")
        without("run-no-checkpoints", "checkpoints")
        without("run-no-weights", f"checkpoints/{step}/weights.safetensors")
        without("run-no-state", f"checkpoints/{step}/state.json")
        without("run-no-optimizer", f"checkpoints/{step}/optimizer.safetensors")
        for file, name in (("run.json", "json"), ("network.json", "network"), (f"checkpoints/{step}/state.json",
                                                                                "state")):
            edited(f"run-empty-{name}", file, lambda content: b"")
            edited(f"run-cut-{name}", file, lambda content: content[:len(content) // 2])
            edited(f"run-garbage-{name}", file, lambda content: b"\xff\x00garbage\x80")
            edited(f"run-array-{name}", file, lambda content: b"[1, 2]")
            edited(f"run-object-{name}", file, lambda content: b"{}")
            edited(f"run-deep-{name}", file, lambda content: b"[" * 100000)
        edited("run-edited-json", "run.json", lambda content: content.replace(b'"seed"', b'"sead"'))
        edited("run-edited-seed", "run.json", lambda content: content.replace(b'"seed": "1"', b'"seed": "2"'))
        edited("run-edited-network", "network.json", lambda content: content.replace(b"relu", b"tanh"))
        edited("run-cut-weights", f"checkpoints/{step}/weights.safetensors", lambda content: content[:-5])
        edited("run-flipped-weights", f"checkpoints/{step}/weights.safetensors",
               lambda content: content[:-5] + b"\x55" + content[-4:])
        edited("run-empty-weights", f"checkpoints/{step}/weights.safetensors", lambda content: b"")
        edited("run-cut-optimizer", f"checkpoints/{step}/optimizer.safetensors", lambda content: content[:-5])
        (copy("run-garbage-best") / "checkpoints/best").write_bytes(b"../../..")
        (copy("run-json-folder") / "run.json").unlink()
        os.makedirs(self.folder / "run-json-folder/run.json")

    def certificates(self):
        for name, content in (("text", "no certificate"), ("array", "[]"), ("object", "{}"), ("form", '{"form": 9}'),
                              ("deep", "[" * 100000)):
            self.write(f"{name}-certificate.json", content)


def make_files(folder, program):
    import networks  # beside this file
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    maker = Maker(folder, program)
    maker.tables()
    maker.arrays()
    maker.images()
    maker.packed()
    networks.write_networks(maker.write)
    maker.runs()
    maker.weights()
    maker.certificates()
    maker.special_files()
