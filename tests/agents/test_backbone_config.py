"""Configurations: every file builds, and what a user can get wrong is named with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from agents import backbone_config
from agents.backbone import Model, build, load_config
from agents.backbone_checks import check
from agents.backbone_config import read_config
from agents.base import ROLES
from agents.client import unrecorded
from agents.litellm_client import LiteLLMClient
from agents.prices import load_prices
from agents.prompts import user
from agents.scripted import ScriptedClient
from envs.base import SetupError
from tests.agents.openai_server import OpenAIServer

KEYS = ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


def litellm(**fields: Any) -> dict[str, Any]:
    return {"kind": "litellm", "name": "mine", "model": "openai/x", "api_key_env": "", **fields}


def client_of(model: Model, role: Any = "act") -> LiteLLMClient:
    client = model.clients[role]
    assert isinstance(client, LiteLLMClient)
    return client


@pytest.mark.parametrize("name", ["deepseek-v3.2", "gpt-4.1-mini", "qwen", "pro", "flash", "local"])
def test_every_configuration_builds_once_its_model_is_named(name: str) -> None:
    config = load_config(name)
    if config["model"] == "???":
        config["model"] = "openai/gpt-4.1"
    model = build(config, seed=3, require_keys=False)
    assert model.name == name
    assert model.seed == 3
    assert model.context_tokens and model.context_tokens >= 32_768
    assert client_of(model).paid
    assert set(config) >= {
        "label",
        "api_base",
        "api_key_env",
        "temperature",
        "max_tokens",
        "timeout",
        "retries",
    }
    assert set(config) >= {"roles", "calls"}


@pytest.mark.parametrize("name", ["pro", "flash", "local"])
def test_an_unset_model_says_how_to_name_one(name: str) -> None:
    with pytest.raises(SetupError, match=rf"backbone {name} has no model\. Remedy: .*backbone\.model="):
        build(load_config(name))


@pytest.mark.parametrize(
    ("name", "variable"), [("deepseek-v3.2", "OPENROUTER_API_KEY"), ("gpt-4.1-mini", "OPENAI_API_KEY")]
)
def test_a_missing_key_is_named_when_building(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match=variable):
        build(load_config(name))
    build({**load_config(name), "calls": "replay"})
    monkeypatch.setenv(variable, "  ")
    with pytest.raises(SetupError, match=variable):
        build(load_config(name))
    monkeypatch.setenv(variable, "sk-1")
    build(load_config(name))


def test_the_keys_variable_follows_the_models_provider() -> None:
    config = {**load_config("pro"), "model": "deepseek/deepseek-v4-pro"}
    with pytest.raises(SetupError, match="DEEPSEEK_API_KEY"):
        build(config)
    with pytest.raises(SetupError, match="MY_KEY"):
        build({**config, "api_key_env": "MY_KEY"})
    with pytest.raises(SetupError, match=r"backbone\.model=PROVIDER/some-model"):
        build({**config, "model": "some-model"})


def test_a_local_server_needs_no_key_and_gets_the_configured_call() -> None:
    with OpenAIServer(["hello"]) as server:
        config = {**load_config("qwen"), "api_base": server.url, "temperature": 0.5, "max_tokens": 9}
        reply = build(config, unrecorded, seed=4).complete([user("u")], role="act")
    assert reply.text == "hello"
    assert reply.usage.cost is None
    body = server.requests[0]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("Qwen/Qwen3-32B", 0.5, 9)
    assert body["seed"] == 4


def test_roles_may_name_a_configuration_or_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    other = {"kind": "scripted", "name": "writer", "replies": ["w"], "temperature": 1.0, "max_tokens": 5}
    model = build(litellm(roles={"judge": "gpt-4.1-mini", "write": other}))
    assert client_of(model, "judge").model == "openai/gpt-4.1-mini"
    assert client_of(model).model == "openai/x"
    assert model.clients["plan"] is model.clients["act"] is model.clients["retrieve"]
    assert model.complete([user("u")], role="write").text == "w"
    writer = model.clients["write"]
    assert isinstance(writer, ScriptedClient)
    assert (writer.requests[0].temperature, writer.requests[0].max_tokens) == (1.0, 5)
    assert model.name == "mine"


def test_roles_are_given_on_the_command_line_by_name_alone() -> None:
    """Through Hydra, which refuses keys that a file does not have."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(backbone_config.FOLDER.parent), version_base=None):
        by_name = ["backbone.roles.judge=local", "backbone.roles.write={like: local, model: by-hand}"]
        composed = compose("backbone/qwen", overrides=[*by_name, "backbone.timeout=9"])
    config = OmegaConf.to_container(composed.backbone)
    assert isinstance(config, dict)
    with pytest.raises(SetupError, match="backbone local has no model"):
        build(config)  # type: ignore[arg-type]
    config["roles"]["judge"] = None
    model = build(config)  # type: ignore[arg-type]
    assert client_of(model).timeout == 9
    assert client_of(model, "write").model == "by-hand"
    assert client_of(model, "write").api_base == load_config("local")["api_base"]
    assert model.unpriced == ["Qwen/Qwen3-32B", "by-hand"]


def test_known_prices_and_free_replies_leave_nothing_unpriced() -> None:
    assert build(load_config("gpt-4.1-mini"), require_keys=False).unpriced == []
    assert build({"kind": "scripted", "name": "s"}).unpriced == []
    assert build(litellm(price={"input": 0, "output": 0})).unpriced == []
    assert build(litellm()).unpriced == ["openai/x"]


def test_a_role_with_a_missing_key_is_noticed_too() -> None:
    with pytest.raises(SetupError, match="OPENAI_API_KEY"):
        build(litellm(roles={"judge": "gpt-4.1-mini"}))


def test_a_key_that_no_role_uses_is_not_asked_for() -> None:
    roles = {role: {"kind": "scripted", "replies": ["x"]} for role in ROLES}
    config = litellm(api_key_env="OPENAI_API_KEY", roles=roles)
    read_config(config).require_keys()
    assert isinstance(build(config).clients["act"], ScriptedClient)
    with pytest.raises(SetupError, match="OPENAI_API_KEY"):
        read_config({**config, "roles": {**roles, "act": None}}).require_keys()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"kind": "litelm"}, "unknown kind 'litelm'; one of litellm, reader, scripted"),
        ({"temprature": 1}, r"unknown field 'temprature'\. Did you mean temperature"),
        ({"roles": {"jugde": None}}, r"unknown role 'jugde'"),
        ({"roles": {"jugde": "qwen"}}, r"unknown role 'jugde'\. Did you mean judge"),
        (
            {"roles": {"judge": "qwne"}},
            r"unknown backbone 'qwne'\. Did you mean qwen\? There are: .*deepseek",
        ),
        ({"roles": {"judge": 3}}, r"backbone\.roles\.judge=3: give the name"),
        ({"roles": {"judge": {"kind": "scripted", "roles": {"act": "qwen"}}}}, "cannot have roles itself"),
        ({"max_tokens": 0}, "max_tokens=0 is no int of at least 1"),
        ({"max_tokens": 1.5}, r"max_tokens=1\.5"),
        ({"temperature": "hot"}, "temperature='hot' is no float of at least 0"),
        ({"temperature": float("nan")}, "temperature=nan"),
        ({"retries": -1}, "retries=-1"),
        ({"api_base": "localhost:8000/v1"}, "begins with http:// or https://"),
        ({"extra": {"timeout": 3}}, r"backbone\.extra\.timeout .* backbone\.timeout gives it"),
        ({"extra": {"seed": 3}}, r"backbone\.extra\.seed .*: seed gives it"),
        ({"drop": ["stop"]}, "only temperature, max_tokens and seed"),
        ({"price": {"input": 1}}, r"backbone\.price has the price .*give `input` and `output`"),
    ],
)
def test_mistakes_are_named_with_what_there_is(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(SetupError, match=told):
        build(litellm(**fields))


def test_fields_of_the_file_reach_the_client() -> None:
    told: list[str] = []
    config = litellm(
        timeout=7,
        retries=2,
        drop=["seed"],
        extra={"reasoning_effort": "low"},
        price={"input": 1, "output": 3},
    )
    client = client_of(build(config, tell=told.append))
    assert (client.timeout, client.retry.retries, client.drop) == (7.0, 2, ("seed",))
    assert client.extra == {"reasoning_effort": "low"}
    client.tell("waiting")
    assert told == ["waiting"]
    # no cached rate: cached input costs the same
    assert client.prices.cost("openai/x", 1_000_000, 2_000_000, 500_000) == 7.0


def test_the_reader_is_built_with_the_runs_seed() -> None:
    model = build(load_config("reader"), seed=11)
    assert not model.paid
    assert {model.clients[role].model for role in ROLES} == {"reader"}


# Prices


def test_cost_counts_cached_input_at_its_own_rate() -> None:
    prices = load_prices()
    # 1 M read, 400 k of it cached, 100 k written: 0.6 x 0.40 + 0.4 x 0.10 + 0.1 x 1.60
    assert prices.cost("openai/gpt-4.1-mini", 1_000_000, 100_000, 400_000) == pytest.approx(0.44)
    assert prices.cost("no-such-model", 1, 1) is None


def test_the_priced_backbones_are_in_the_table_and_the_table_has_its_date() -> None:
    prices = load_prices()
    for name in ("deepseek-v3.2", "gpt-4.1-mini"):
        assert load_config(name)["model"] in prices.prices
    assert prices.date.startswith("20") and len(prices.date) == 10


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("models: {}", "needs the keys `date` and `models`"),
        ("date: 2026-01-01\nmodels: {m: {input: 1}}", "'m': give `input` and `output`"),
        ("date: 2026-01-01\nmodels: {m: {input: -1, output: 1}}", "none may be negative"),
        ("date: [", "not valid YAML"),
    ],
)
def test_a_damaged_price_table_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(SetupError, match=told):
        load_prices(path)
    with pytest.raises(SetupError, match="cannot be read"):
        load_prices(tmp_path / "none.yaml")


# Checks


def ok(config: dict[str, Any]) -> dict[str, bool]:
    return {entry.name: entry.ok for entry in check(config)}


def test_a_live_endpoint_passes_and_is_asked_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_TEST_KEY", "sk-12345678")
    with OpenAIServer(models=["x", "y"]) as server:
        found = check(litellm(api_base=server.url, api_key_env="MEMTRIAL_TEST_KEY"))
    assert [(entry.name, entry.ok) for entry in found] == [
        ("backbone mine: key", True),
        ("backbone mine: endpoint", True),
    ]
    assert "serves x" in found[1].detail
    assert server.headers[0]["authorization"] == "Bearer sk-12345678"
    assert "sk-12345678" not in repr(found)
    assert server.requests == []


def test_a_server_that_lists_other_models_is_told_of() -> None:
    with OpenAIServer(models=["y", "z"]) as server:
        found = check(litellm(api_base=server.url))
    assert found[0].ok
    assert "x is not among its models (y, z)" in found[0].detail


def test_a_dead_endpoint_a_wrong_key_and_a_missing_key_fail_with_a_remedy() -> None:
    with OpenAIServer() as server:
        address = server.url
        server.models_status = 401
        (refused,) = check(litellm(api_base=address))
    (dead,) = check(litellm(api_base=address))
    (keyless,) = check(litellm(api_base=address, api_key_env="NO_SUCH_KEY_HERE"))
    assert not refused.ok and "401" in refused.detail
    assert not dead.ok and address in dead.detail and "start the server" in dead.remedy
    assert not keyless.ok and keyless.remedy == "export NO_SUCH_KEY_HERE=..."


def test_an_unset_model_and_the_backbones_of_roles_are_checked() -> None:
    (unset,) = check(load_config("pro"))
    assert not unset.ok and "backbone.model=" in unset.detail
    assert ok({"kind": "scripted", "name": "s", "roles": {"judge": "gpt-4.1-mini"}}) == {
        "backbone s": True,
        "backbone gpt-4.1-mini: key": False,
    }


def test_the_files_are_plain_yaml_with_one_place_for_each_field() -> None:
    """They are read by Hydra and, for roles, on their own: no interpolation, no defaults list."""
    for name in backbone_config.names():
        text = (backbone_config.FOLDER / f"{name}.yaml").read_text()
        assert "${" not in text
        assert "defaults" not in yaml.safe_load(text)
        assert yaml.safe_load(text)["name"] == name
