"""A key in a configuration is refused by its place and never shown."""

from __future__ import annotations

from typing import Any

import pytest

from envs.base import SetupError
from harness.keys import refuse_secrets

KEY = "sk-proj-4f9a8b7c6d5e"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (
            {"backbone": {"extra": {"api_key": "plain"}}},
            r"backbone\.extra\.api_key holds a key.*api_key_env=NAME",
        ),
        (
            {"backbone": {"extra": {"extra_headers": {"Authorization": "Token x"}}}},
            r"backbone\.extra\.extra_headers\.Authorization=env:NAME",
        ),
        ({"backbone": {"extra": {"extra_headers": {"X-Api-Key": "abc"}}}}, "X-Api-Key"),
        ({"backbone": {"extra": {"aws_secret_access_key": "abc"}}}, "aws_secret_access_key"),
        ({"backbone": {"extra": {"hf_token": "abc"}}}, "hf_token"),
        ({"backbone": {"extra": {"note": KEY}}}, r"backbone\.extra\.note holds a key"),
        ({"backbone": {"roles": {"judge": {"extra": {"x": [f"Bearer {KEY}"]}}}}}, r"roles\.judge\.extra\.x"),
        ({"backbone": {"api_base": f"https://me:{KEY}@host/v1"}}, r"backbone\.api_base is an address with"),
        ({"embedder": {"api_base": f"https://host/v1?api-key={KEY}"}}, r"embedder\.api_base is an address"),
        ({"backbone": {"extra": {"accessToken": "abc"}}}, "accessToken holds a key"),
        ({"backbone": {"extra": {"keys": ["abc"], "x": 1}}}, r"extra\.keys holds a key"),
        ({"backbone": {"extra": {"headers": {"X-Api-Key": 1234567890123}}}}, "X-Api-Key holds a key"),
        ({"backbone": {"extra": {"headers": {"X-Custom": "${oc.env:MINE}"}}}}, r"X-Custom=env:NAME"),
        ({"backbone": {"extra": {"api_key": "env:KEY"}}}, r"give backbone\.api_key_env=NAME"),
        ({"backbone": {"api_base": f"https://host/{KEY}/v1"}}, r"backbone\.api_base is an address with"),
        ({"backbone": {"api_base": "env:WHERE", "api_key": "env:KEY"}}, r"backbone\.api_key holds a key"),
    ],
)
def test_keys_are_refused_by_place(config: dict[str, Any], told: str) -> None:
    with pytest.raises(SetupError, match=told) as raised:
        refuse_secrets(config)
    assert KEY not in str(raised.value)


def test_what_only_looks_like_a_key_passes() -> None:
    refuse_secrets(
        {
            "backbone": {
                "api_key_env": "OPENAI_API_KEY",
                "max_tokens": 5,
                "api_base": "https://host:8000/openai/v1?api-version=2026-01-01",
                "extra": {
                    "max_completion_tokens": "9",
                    "thinking": {"budget_tokens": 100},
                    "reasoning_effort": "high",
                    "extra_headers": {"Authorization": "env:MY_HEADER", "HTTP-Referer": "https://a.org"},
                },
            },
            "memory": {"keywords": "task", "token_limit": "3", "api_key": ""},
            "seed": 0,
        }
    )
