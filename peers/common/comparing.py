"""Answers to what `trireme compare` asks; see the protocol in ../README.md."""

import tensors


class Answers:
    """make(**request) is a new comparison, with step, layers and evaluate; `about` tells version and blas."""

    def __init__(self, make, about):
        self.make, self.about = make, about
        self.comparison = None

    def __call__(self, what, request):
        if what == "prepare":
            self.comparison = self.make(**request)
            return self.about
        if what == "hash":
            return {"sha256": tensors.sha256(tensors.read(request["batch"]))}
        if what in ("step", "layers", "evaluate"):
            return getattr(self.comparison, what)(**request)
        return None
