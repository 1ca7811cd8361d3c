"""Embeddings of topics: offline from character n-grams, from any OpenAI-compatible endpoint, or a local model.

All of them give one row of unit length a text, so that a dot product is the cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from harness.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Kind = Literal["ngrams", "endpoint", "sentence-transformers"]

_FEATURES = 4096
"""Dense rows of 16 KiB: a thousand topics take 16 MiB, and collisions among a few hundred n-grams a text are rare."""
_BATCH = 64


def embed(
    texts: Sequence[str], kind: Kind = "ngrams", *, model: str | None = None, base_url: str | None = None
) -> Vectors:
    """One unit vector a text.

    Args:
        kind: `ngrams` needs no model and no network.
        model: Name at the endpoint, or of the sentence-transformers model.
        base_url: Endpoint, where it is not OpenAI's; its key comes from `OPENAI_API_KEY`.
    Raises:
        SettingError: If what the kind needs is not installed, not named, or not answering.
    """
    if kind == "ngrams":
        return _ngrams(texts)
    if model is None:
        raise SettingError(f"embeddings '{kind}' need the name of a model (--embedding-model)")
    return _unit(_endpoint(texts, model, base_url) if kind == "endpoint" else _local(texts, model))


def _ngrams(texts: Sequence[str]) -> Vectors:
    import numpy as np

    try:
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
    except ImportError as error:
        raise SettingError("scikit-learn is not installed; install envscaler[synth]") from error
    hashing = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), n_features=_FEATURES, alternate_sign=False, norm=None, dtype=np.float32
    )
    counts = hashing.transform(texts)
    # Weighted by rarity, since all introductions share the words of their form.
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return np.asarray(weighted.toarray(), dtype=np.float32)


def _endpoint(texts: Sequence[str], model: str, base_url: str | None) -> list[list[float]]:
    import openai

    try:
        client = openai.OpenAI(base_url=base_url, max_retries=4)
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            answer = client.embeddings.create(
                model=model, input=list(texts[start : start + _BATCH]), encoding_format="float"
            )
            rows += [entry.embedding for entry in sorted(answer.data, key=lambda entry: entry.index)]
    except openai.OpenAIError as error:
        raise SettingError(f"embeddings of {base_url or 'the OpenAI endpoint'}: {error}") from error
    if len(rows) != len(texts):
        raise SettingError(f"embeddings of {base_url or 'the OpenAI endpoint'}: {len(rows)} for {len(texts)} texts")
    return rows


def _local(texts: Sequence[str], model: str) -> list[list[float]]:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise SettingError("sentence-transformers is not installed; use embeddings 'ngrams' or 'endpoint'") from error
    try:
        rows: list[list[float]] = SentenceTransformer(model).encode(list(texts)).tolist()
    except (OSError, ValueError) as error:
        raise SettingError(f"embeddings of {model}: {error}") from error
    return rows


def _unit(rows: list[list[float]]) -> Vectors:
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.finfo(np.float32).tiny), dtype=np.float32)
