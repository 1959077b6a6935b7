"""The protocol with Trireme: one JSON object per line on standard input, one answer per line on standard output."""

import json
import math
import os
import sys


class Refused(Exception):
    """What was asked for does not exist in this system: the user's choice, not a failure."""


def finite(answer):
    """JSON has neither NaN nor infinity: they travel as null."""
    if isinstance(answer, dict):
        return {key: finite(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [finite(value) for value in answer]
    return None if isinstance(answer, float) and not math.isfinite(answer) else answer


def serve(answer):
    """Calls answer(what, request) for every request, whose "do" is `what`; None means that there is no such command."""
    # Whatever a library prints goes to standard error; the answers keep the pipe for themselves.
    pipe = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        for line in sys.stdin:
            request = json.loads(line)
            what = request.pop("do")
            try:
                reply = answer(what, request)
            except Refused as refusal:
                reply = {"refused": str(refusal)}
            print(json.dumps({"error": f"there is no command '{what}'"} if reply is None else finite(reply)),
                  file=pipe,
                  flush=True)
    except Exception as error:  # noqa: BLE001: whatever it is, the other side must read it
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=pipe, flush=True)
        raise
