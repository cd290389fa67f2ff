"""What most memories are made of: numbered entries, each one document and found by one text's vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar

from memories.base import DocumentError, Embedder
from memories.documents import Record, Value, read_record, write_record
from memories.index import Hit, VectorIndex

Entry = TypeVar("Entry")

STATE = "state.txt"


class Store(Generic[Entry]):
    """Entries by id (`00001`, `00002`, ... in the order in which they were made, never reused).

    `folder` names their documents, `key` gives the text that an entry is embedded by (None: entries are
    not searched), `write` and `read` turn an entry into the fields of a record and back.
    """

    def __init__(
        self,
        folder: str,
        embedder: Embedder,
        key: Callable[[Entry], str] | None,
        write: Callable[[Entry], Mapping[str, Value]],
        read: Callable[[Record], Entry],
    ) -> None:
        self.folder = folder
        self.made = 0
        """Entries ever made: the next id is one more. Kept with the memory's numbers."""
        self._embedder, self._key, self._write, self._read = embedder, key, write, read
        self._entries: dict[str, Entry] = {}
        self._texts: dict[str, str] = {}
        self._index = VectorIndex(embedder.dimension)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def __getitem__(self, id: str) -> Entry:
        return self._entries[id]

    def last(self, count: int) -> list[Entry]:
        """The newest `count` entries, oldest first."""
        return list(islice(reversed(self._entries.values()), count))[::-1]

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Ids and entries, oldest first."""
        return iter(self._entries.items())

    def add(self, entry: Entry) -> str:
        """Keep a new entry; gives its id."""
        id = f"{self.made + 1:05d}"
        if self._key is not None:
            self._index.add(id, self._embedder.embed([self._key(entry)])[0])
        self.made += 1
        self._set(id, entry)
        return id

    def replace(self, id: str, entry: Entry) -> None:
        """Change an entry; it is embedded again if the text that it is found by changed."""
        if self._key is not None and (key := self._key(entry)) != self._key(self._entries[id]):
            self._index.replace(id, self._embedder.embed([key])[0])
        self._set(id, entry)

    def remove(self, id: str) -> None:
        """Forget an entry."""
        del self._entries[id], self._texts[self._name(id)]
        if self._key is not None:
            self._index.remove(id)

    def search(
        self,
        text: str,
        k: int | None = None,
        *,
        floor: float | None = None,
        without: tuple[str, ...] | set[str] = (),
    ) -> list[Hit]:
        """The `k` entries nearest to `text` by cosine, best first (see VectorIndex.search)."""
        if not self._entries:
            return []
        return self._index.search(self._embedder.embed([text])[0], k, floor=floor, without=without)

    def documents(self) -> dict[str, str]:
        """One document an entry; those of unchanged entries are the same objects."""
        return dict(self._texts)

    def load(self, documents: dict[str, str], made: int) -> None:
        """Take this store's documents out of `documents` and replace all entries by them.

        Raises DocumentError, and then has changed nothing.
        """
        names = sorted(name for name in documents if name.startswith(f"{self.folder}/"))
        entries: dict[str, Entry] = {}
        for name in names:
            id = name.removeprefix(f"{self.folder}/").removesuffix(".txt")
            if name != self._name(id) or not (id.isascii() and id.isdigit() and len(id) >= 5):
                raise DocumentError(f"{name}: a document here is named {self._name('00001')}, by its number")
            entries[id] = self._read(read_record(name, documents[name]))
        # Ids grow beyond 5 digits only after 99,999 entries; by length first they stay in order.
        order = sorted(entries, key=lambda id: (len(id), id))
        index = VectorIndex(self._embedder.dimension)
        if self._key is not None:
            vectors = self._embedder.embed([self._key(entries[id]) for id in order])
            for id, vector in zip(order, vectors, strict=True):
                index.add(id, vector)
        self._index, self._entries, self._texts = index, {}, {}
        for id in order:
            self._set(id, entries[id])
        self.made = max([made, *(int(id) for id in order)])
        for name in names:
            del documents[name]

    def _set(self, id: str, entry: Entry) -> None:
        self._entries[id] = entry
        self._texts[self._name(id)] = write_record(self._write(entry))

    def _name(self, id: str) -> str:
        return f"{self.folder}/{id}.txt"


def write_numbers(numbers: Mapping[str, float]) -> str:
    """A memory's numbers as its document `state.txt`."""
    return write_record(dict(numbers), remark="numbers that this memory keeps")


def take_numbers(documents: dict[str, str]) -> Counter[str]:
    """Take `state.txt` out of `documents` and read it; no numbers if it is not there."""
    if STATE not in documents:
        return Counter()
    record = read_record(STATE, documents.pop(STATE))
    numbers: Counter[str] = Counter()
    for name in record.fields:
        numbers[name] = record.whole(name)
    return numbers
