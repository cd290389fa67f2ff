"""The index against brute force: the same answers whatever the order in which entries came and went."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.index import VectorIndex

# Small whole numbers: products are exact, so brute force can be compared to the last digit.
vectors = st.lists(st.integers(-2, 2), min_size=3, max_size=3)
operations = st.lists(
    st.tuples(st.sampled_from(["add", "replace", "remove"]), st.integers(0, 40), vectors), max_size=80
)


@settings(max_examples=60, deadline=None)
@given(operations, vectors, st.one_of(st.none(), st.integers(0, 6)), st.one_of(st.none(), st.integers(-3, 3)))
def test_search_is_what_brute_force_finds(
    changes: list[tuple[str, int, list[int]]], query: list[int], k: int | None, floor: int | None
) -> None:
    index, truth = VectorIndex(3), {}
    for change, number, vector in changes:
        id = f"{number:02d}"
        if change == "add" and id not in truth:
            index.add(id, np.array(vector, np.float32))
        elif change == "replace" and id in truth:
            index.replace(id, np.array(vector, np.float32))
        elif change == "remove" and id in truth:
            index.remove(id)
            del truth[id]
            continue
        else:
            continue
        truth[id] = vector
    hidden = {id for id in truth if int(id) % 5 == 0}
    expected = sorted(
        ((id, float(sum(a * b for a, b in zip(vector, query, strict=True)))) for id, vector in truth.items()),
        key=lambda hit: (-hit[1], hit[0]),
    )
    expected = [hit for hit in expected if hit[0] not in hidden and (floor is None or hit[1] >= floor)]
    asked = np.array(query, np.float32)
    assert index.search(asked, k, floor=floor, without=hidden) == expected[:k]
    both = index.search_many(np.stack([asked, -asked]), k, floor=floor, without=hidden)
    assert both[0] == expected[:k]
    assert len(index) == len(truth)
    assert all(index.vector(id).tolist() == vector for id, vector in truth.items())


def test_equal_scores_come_in_the_order_of_ids_however_they_were_added() -> None:
    for order in (["b", "c", "a"], ["c", "a", "b"]):
        index = VectorIndex(2)
        for id in order:
            index.add(id, np.array([1, 0], np.float32))
        assert index.search(np.array([1, 0], np.float32), 2) == [("a", 1.0), ("b", 1.0)]


def test_scores_do_not_depend_on_the_place_of_an_entry() -> None:
    """A memory that is loaded again holds its entries in other rows: the scores must be the same bits."""
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(400, 384)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    found = []
    for order in (range(400), reversed(range(400)), rng.permutation(400)):
        index = VectorIndex(384)
        for number in order:
            index.add(f"{number:03d}", matrix[number])
        found.append([index.search(query, 20) for query in matrix[:20]])
    assert found[0] == found[1] == found[2]


def test_wrong_use_is_named() -> None:
    index = VectorIndex(2)
    index.add("a", np.array([1, 0], np.float32))
    with pytest.raises(ValueError, match="already holds 'a'"):
        index.add("a", np.array([1, 0], np.float32))
    with pytest.raises(ValueError, match="'b' has shape"):
        index.add("b", np.array([1, 0, 0], np.float32))
    with pytest.raises(ValueError, match="finite"):
        index.replace("a", np.array([np.nan, 0], np.float32))
    with pytest.raises(KeyError):
        index.remove("b")
    with pytest.raises(ValueError, match="dimension 2"):
        index.search(np.array([1, 0, 0], np.float32), 1)
    assert VectorIndex(2).search(np.array([1, 0], np.float32), 3) == []
