"""Which options make another variant of a run, and what its folder is called."""

from __future__ import annotations

from harness.variant import variant, what_counts

DEFAULT = {
    "env": {"name": "x", "size": 3},
    "backbone": {"name": "b", "model": "m", "api_base": "http://a", "temperature": 0.0, "roles": {}},
    "memory": {"name": "flat", "label": "Flat", "k": 3, "weights": {"tags": 0.3}},
    "stream": {"limit": None, "order": "release", "freeze_after": None, "tasks": None},
    "agent": {"repairs": 3},
    "judge": {"name": "default"},
    "embedder": {"name": "minilm"},
    "budget": {"usd": None},
}


def changed(section: str, **values: object) -> dict[str, object]:
    return {**DEFAULT, section: {**DEFAULT[section], **values}}  # type: ignore[dict-item]


def test_operational_options_do_not_make_another_run() -> None:
    name = variant(DEFAULT, DEFAULT)
    assert name.startswith("default-")
    for same in (
        changed("backbone", api_base="http://b", timeout=3, label="B"),
        changed("stream", limit=5, retries=9),
        changed("budget", usd=3),
        changed("memory", label="Other"),
        {**DEFAULT, "results_dir": "elsewhere"},
    ):
        assert variant(same, DEFAULT) == name


def test_what_changes_results_makes_another_run_with_a_name_that_tells_it() -> None:
    for other, words in (
        (changed("memory", k=5), "k=5-"),
        (changed("memory", weights={"tags": 0.0}), "weights.tags=0.0-"),
        (changed("stream", freeze_after=20), "freeze_after=20-"),
        (changed("stream", order="shuffled(3)"), "order=shuffled(3)-"),
        (changed("stream", tasks=[1, 4]), "tasks=[1-4]-"),
        (changed("backbone", temperature=0.7), "temperature=0.7-"),
    ):
        assert variant(other, DEFAULT).startswith(words)
        assert variant(other, DEFAULT) != variant(DEFAULT, DEFAULT)


def test_options_of_one_name_are_told_apart() -> None:
    both = {
        **changed("agent", context_tokens=8000),
        "backbone": changed("backbone", context_tokens=9000)["backbone"],
    }
    assert variant(both, DEFAULT).startswith("agent.context_tokens=8000,backbone.context_tokens=9000-")


def test_the_order_of_options_does_not_matter() -> None:
    turned = {**DEFAULT, "memory": dict(reversed(DEFAULT["memory"].items()))}
    assert variant(turned, DEFAULT) == variant(DEFAULT, DEFAULT)
    assert what_counts(DEFAULT)["memory.weights.tags"] == 0.3
