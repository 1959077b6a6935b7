"""Answers the requests of `trireme compare`; see the protocol in ../README.md."""

import tensors


class Answers:
    """make(**request) is a new comparison; `about` tells version and blas, and the comparison's about() its settings."""

    def __init__(self, make, about):
        self.make, self.about = make, about
        self.comparison = None

    def __call__(self, what, request):
        if what == "prepare":
            self.comparison = self.make(**request)
            return {**self.about, **self.comparison.about()}
        if what == "hash":
            return {"sha256": tensors.sha256(tensors.read(request["batch"]))}
        if what in ("step", "update", "layers", "probe", "evaluate", "learning_rates", "normalize"):
            return getattr(self.comparison, what)(**request)
        return None
