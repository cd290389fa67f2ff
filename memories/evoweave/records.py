"""EvoWeave's documents: one a state, an operation, a capability, an episode's concrete history."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from memories.base import DocumentError
from memories.documents import Record, Value, read_record, read_records, write_record, write_records
from memories.evoweave.capabilities import Code, RoleRecord, Usage
from memories.evoweave.contracts import Failure, Operation, Parameter, Source, State

STATES, OPERATIONS, CODE, ROLES, USAGE, HISTORY = (
    "states/",
    "operations/",
    "code/",
    "roles/",
    "usage/",
    "history/",
)
_PARAMETER = re.compile(r"\{(\w+)\}: (\w+)( \(expected\))?")
_SOURCE = re.compile(r"version (\d+): task (\d+), rounds ([\d ]*), (worked|failed)")


def document_name(folder: str, id: str) -> str:
    """The name of a document; characters that a path cannot hold are quoted."""
    return f"{folder}{quote(id, safe=' ')}.txt"


def state_text(state: State) -> str:
    return write_record({"id": state.id, "predicates": state.predicates})


def read_state(document: str, text: str) -> State:
    record = read_record(document, text)
    return State(_id(record, "st"), tuple(sorted(record.texts("predicates"))))


def operation_text(operation: Operation) -> str:
    fields: dict[str, Value] = {
        "id": operation.id,
        "version": operation.version,
        "description": operation.description,
        "source": operation.source,
        "target": operation.target,
        "inputs": [str(p) for p in operation.inputs],
        "outputs": [str(p) for p in operation.outputs],
        "conditions": operation.conditions,
        "effects": operation.effects,
        "api": operation.api,
        "code": operation.code,
        "roles": operation.roles,
        "variant_of": operation.variant_of,
        "superseded_by": operation.superseded_by,
        "provenance": [
            f"version {s.version}: task {s.task}, rounds {' '.join(map(str, s.steps))}, "
            f"{'worked' if s.worked else 'failed'}"
            for s in operation.provenance
        ],
    }
    failures: list[Mapping[str, Value]] = [
        {"failure": f.task, "error": f.error, "recovery": f.recovery} for f in operation.failures
    ]
    return write_records([fields, *failures])


def read_operation(document: str, text: str) -> Operation:
    record, *failures = read_records(document, text) or [Record(document, 1)]
    return Operation(
        id=_id(record, "op"),
        version=record.whole("version"),
        source=record.text("source"),
        target=record.text("target"),
        description=record.text("description"),
        inputs=_parameters(record, "inputs"),
        outputs=_parameters(record, "outputs"),
        conditions=record.texts("conditions"),
        effects=record.texts("effects"),
        api=record.text("api"),
        code=record.texts("code"),
        roles=record.texts("roles"),
        provenance=tuple(_source(record, line) for line in record.texts("provenance")),
        failures=tuple(Failure(f.whole("failure"), f.text("error"), f.text("recovery")) for f in failures),
        variant_of=record.text("variant_of"),
        superseded_by=record.text("superseded_by"),
    )


def _id(record: Record, prefix: str) -> str:
    id = record.text("id")
    if not re.fullmatch(rf"{prefix}\d+", id, re.ASCII):
        raise record.error(f"'id' is {id!r}, not {prefix} and a number", "id")
    return id


def _parameters(record: Record, field: str) -> tuple[Parameter, ...]:
    found = []
    for line in record.texts(field):
        match = _PARAMETER.fullmatch(line)
        if not match:
            raise record.error(f"{line!r} is no parameter: wanted is e.g. {{recipient}}: person", field)
        found.append(Parameter(match[1], match[2], not match[3]))
    return tuple(found)


def _source(record: Record, line: str) -> Source:
    match = _SOURCE.fullmatch(line)
    if not match:
        raise record.error(
            f"{line!r} is no provenance: wanted is e.g. 'version 1: task 3, rounds 2 4, worked'", "provenance"
        )
    return Source(int(match[1]), int(match[2]), tuple(map(int, match[3].split())), match[4] == "worked")


def code_text(code: Code) -> str:
    return write_record(
        {
            "id": code.id,
            "kind": code.kind,
            "summary": code.summary,
            "body": code.body,
            "parameters": code.parameters,
            "calls": code.calls,
            "test": code.test,
            "validated": code.validated,
            "tasks": [str(task) for task in code.tasks],
        }
    )


def read_code(document: str, text: str) -> Code:
    record = read_record(document, text)
    tasks = record.texts("tasks")
    if not all(task.isdigit() for task in tasks):
        raise record.error(f"'tasks' must hold numbers, not {', '.join(tasks)}", "tasks")
    return Code(
        id=record.text("id"),
        kind="macro" if record.choice("kind", ("macro", "function")) == "macro" else "function",
        summary=record.text("summary"),
        body=record.text("body"),
        parameters=record.texts("parameters"),
        calls=record.texts("calls"),
        test=record.text("test"),
        validated=record.text("validated"),
        tasks=tuple(map(int, tasks)),
    )


def role_text(role: RoleRecord) -> str:
    return write_record(
        {"id": role.id, "domain": role.domain, "version": role.version, "advice": role.advice}
    )


def read_role(document: str, text: str) -> RoleRecord:
    record = read_record(document, text)
    return RoleRecord(
        record.text("id"), record.text("domain"), record.texts("advice"), record.whole("version")
    )


def usage_text(usage: Usage) -> str:
    return write_record({"api": usage.api, "notes": usage.notes})


def read_usage(document: str, text: str) -> Usage:
    record = read_record(document, text)
    return Usage(record.text("api"), record.texts("notes"))


def history_text(
    task: int,
    instruction: str,
    outcome: str,
    events: Sequence[str],
    references: Sequence[str],
    published: Sequence[str],
    rejected: Sequence[str],
) -> str:
    """The concrete artefact of one reflection: what happened, with real values, and what became of it."""
    return write_record(
        {
            "task": task,
            "instruction": instruction,
            "outcome": outcome,
            "events": events,
            "references": references,
            "published": published,
            "rejected": rejected,
        }
    )


def check_history(document: str, text: str) -> None:
    """Raises DocumentError if a history does not parse. Histories are kept as they are."""
    record = read_record(document, text)
    record.whole("task")
    for field in ("events", "references", "published", "rejected"):
        record.texts(field)


def refuse(document: str) -> DocumentError:
    """The error for a document that EvoWeave does not know."""
    return DocumentError(
        f"{document}: no document of the memory 'evoweave', whose folders are "
        f"{', '.join((STATES, OPERATIONS, CODE, ROLES, USAGE, HISTORY))}"
    )
