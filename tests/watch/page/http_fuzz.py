"""Throws malformed requests at the real page server for a while: every answer must be HTTP with a known status, and the
server must go on to serve the page. Usage: http_fuzz.py --program build/trireme [--seconds 20] [--seed 1]"""

import argparse
import json
import os
import pathlib
import random
import re
import select
import socket
import subprocess
import tempfile
import time

STATUSES = {200, 204, 303, 304, 400, 401, 403, 404, 405, 408, 413, 414, 416, 417, 431, 503, 505}
TARGETS = ["/", "/api/runs", "/api/page", "/api/live?run=a&detail=a", "/assets/main.js", "/assets/chart.min.js",
           "/assets/../x", "/%2e%2e/%2e%2e/etc/passwd", "/api/control?do=stop", "/metrics", "/favicon.ico", "/nothing"]
METHODS = ["GET", "HEAD", "POST", "PUT", "OPTIONS", "CONNECT", "TRACE", "PRI", "get", "G\0T", ""]
HEADERS = ["Host: localhost", "Host: evil.example", "Origin: http://localhost", "Origin: null", "Range: bytes=0-1,2-3",
           "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 0",
           "Transfer-Encoding: chunked", "Expect: 100-continue", "Connection: keep-alive, Upgrade",
           "Upgrade: websocket", "Cookie: trireme_token_8743=x; ;=;;", "Authorization: Bearer " + "x" * 300,
           "If-None-Match: \"", "Accept-Encoding: gzip, br, *;q=0", "Accept: " + "*/*," * 200, ": empty", "No colon",
           " folded", "X-\x80: \xff", "X: " + "y" * 9000, "Content-Type: multipart/form-data; boundary=" + "b" * 300,
           "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: cross-site"]


def request(rng):
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.randrange(1, 3000))
    lines = [f"{rng.choice(METHODS[:3] if rng.random() < 0.7 else METHODS)} {target(rng)} "
             f"{rng.choice(['HTTP/1.1'] * 8 + ['HTTP/1.0', 'HTTP/9.9', ''])}"]
    if rng.random() < 0.8:
        lines.append("Host: localhost")
    lines += rng.choices(HEADERS, k=rng.choice([0, 0, 1, 1, 2, 3, 5, 80]))
    text = rng.choice(["\r\n"] * 9 + ["\n"]).join(lines).encode("latin-1") + rng.choice([b"\r\n\r\n"] * 9 + [b"\r\n"])
    if rng.random() < 0.2:
        text += rng.randbytes(rng.randrange(0, 20000))
    for _ in range(rng.choice([0, 0, 0, 1, 2, 8])):  # mutations
        at = rng.randrange(len(text))
        what = rng.randrange(4)
        if what == 0:
            text = text[:at] + rng.randbytes(1) + text[at + 1:]
        elif what == 1:
            text = text[:at] + text[at + rng.randrange(1, 20):]
        elif what == 2:
            text = text[:at] + text[at:at + 50] * rng.randrange(2, 200) + text[at:]
        else:
            text = text[:at]
        text = text or b"x"
    return text


def target(rng):
    made = rng.choice(TARGETS)
    if rng.random() < 0.3:
        made += rng.choice(["?", "&", "%", "%zz", "%00", "?run=" * 300, "/" * 50, "?token=" + "t" * 500, "#",
                            "\\", "..;/",
                            "?" + "&".join(f"run={i}" for i in range(200))])
    return made


def exchange(port, rng):
    """Sends one request, perhaps in pieces or without waiting for the answer; returns the answer's head."""
    text = request(rng)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
        try:
            pieces = rng.choice([1, 1, 1, 2, 5])
            size = max(1, len(text) // pieces)
            for first in range(0, len(text), size):
                link.sendall(text[first:first + size])
            if rng.random() < 0.15:
                return text, b""  # gone
            if rng.random() < 0.3 or b"\r\n\r\n" not in text:
                link.shutdown(socket.SHUT_WR)
            link.settimeout(20)
            answer = b""
            while len(answer) < 300:
                got = link.recv(4096)
                if not got:
                    break
                answer += got
            return text, answer
        except (ConnectionResetError, BrokenPipeError):
            return text, b""


def make_run(folder):
    run = folder / "a"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"configuration": {"model": "lenet5"}, "resolved": {"total_steps": 9}}))
    with open(run / "metrics.jsonl", "w", encoding="ascii") as out:
        for step in range(1, 500):
            out.write(json.dumps({"type": "step", "step": step, "loss": 1 / step}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="trireme-http-fuzz-") as name:
        make_run(pathlib.Path(name) / "runs")
        with subprocess.Popen([options.program, "watch", name + "/runs", "--port", "0"], stdout=subprocess.PIPE,
                              text=True, env={**os.environ, "TRIREME_DATA": ""}) as server:
            try:
                assert select.select([server.stdout], [], [], 60)[0], "the server did not start"
                line = server.stdout.readline()
                port = int(re.search(r":(\d+)/", line).group(1))
                count = throw(port, rng, server, options)
            finally:
                server.terminate()
            code = server.wait(60)
            assert code == 0, f"the server ended with {code}"
    print(f"{count} requests in {options.seconds:g} s, seed {options.seed}: no finding")


def throw(port, rng, server, options):
    count = 0
    seen = {}
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        text, answer = exchange(port, rng)
        count += 1
        assert server.poll() is None, f"the server died ({server.returncode}) after {text[:300]!r}"
        if answer:
            match = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
            assert match and int(match.group(1)) in STATUSES, f"{answer[:200]!r} to {text[:300]!r}"
            status = int(match.group(1))
            seen[status] = seen.get(status, 0) + 1
            assert b"root:" not in answer, f"a file of the host to {text[:300]!r}"
        if count % 200 == 0:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
                link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert link.recv(100).startswith(b"HTTP/1.1 200"), "the page is not served any more"
    print("answers by status:", dict(sorted(seen.items())))
    return count


if __name__ == "__main__":
    main()
