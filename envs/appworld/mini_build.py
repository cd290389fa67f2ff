"""Writes the data root of appworld_mini. A script for AppWorld's own environment: it imports nothing of ours.

    PYTHON mini_build.py ROOT < payload.json

The payload (envs.appworld.mini makes it) holds `now`, `apps`, `records` (rows by model), `passwords` and
`tasks`. Api documentation and databases come from the installed engine's code; people and tasks are the payload's.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))


def main(root: Path, payload: dict[str, Any]) -> None:
    os.environ["APPWORLD_ROOT"] = str(root)
    import dotenv

    # The engine reads the nearest .env when imported: nothing there concerns it.
    dotenv.load_dotenv = lambda *_, **__: False
    from appworld import update_root

    update_root(str(root))
    from appworld.apps import get_all_apps
    from appworld.apps.api_lib import set_local_date_and_time, set_local_dbs, unset_local_date_and_time
    from appworld.apps.model_lib import CachedDBHandler
    from appworld.common.constants import DB_VERSION
    from appworld.common.datetime import DateTime
    from appworld.common.utils import import_models_module

    data = root / "data"
    now = DateTime.fromisoformat(payload["now"])
    docs = api_docs(data, get_all_apps(skip_admin=True))
    base = data / "base_dbs"
    base.mkdir(parents=True)
    freezer = set_local_date_and_time(now)
    set_local_dbs(
        to_db_home_path=str(base), from_db_home_path=str(base), app_names=get_all_apps(), create=True
    )
    models = {app: import_models_module(app) for app in get_all_apps()}
    for model, rows in payload["records"].items():
        app, name = model.split(".")
        for row in rows:
            # Models take dates as objects, which JSON has not.
            values = {
                key: DateTime.fromisoformat(row[key]) if key.endswith("_date") else row[key] for key in row
            }
            record = getattr(models[app], name)(**{key: values[key] for key in values if key != "id"})
            record.save()
            if record.id != row["id"]:
                raise SystemExit(f"{model} row {row['id']} was given the id {record.id} by the engine")
    for doc in docs:
        keys = ("path", "method", "description", "parameters", "response_schemas")
        models["api_docs"].ApiDoc(
            app_name_=doc["app_name"], api_name=doc["api_name"], **{key: doc[key] for key in keys}
        ).save()
    CachedDBHandler.reset()
    for task in payload["tasks"]:
        write_task(data, base, now, task, payload["apps"])
        CachedDBHandler.reset()
    unset_local_date_and_time(freezer)
    write(data / "datasets" / "mini.txt", "".join(f"{task['id']}\n" for task in payload["tasks"]))
    write(data / "version.txt", DB_VERSION)


def api_docs(data: Path, apps: list[str]) -> list[dict[str, Any]]:
    """Write the documentation that the engine makes of its own code; all entries."""
    from appworld.collections.api_docs import ApiDocCollection
    from appworld.common.constants import CANARY_STRING

    found: list[dict[str, Any]] = []
    for app, apis in ApiDocCollection.build(load_apps=tuple(apps)).items():
        plain = {name: dict(doc) for name, doc in apis.items()}
        found += plain.values()
        # The engine removes this mark from each entry when it reads them, and fails without it.
        marked = {name: {**doc, "canary_string": CANARY_STRING} for name, doc in plain.items()}
        write(data / "api_docs" / "standard" / f"{app}.json", marked)
    return found


def write_task(data: Path, base: Path, now: Any, task: dict[str, Any], accounts: list[str]) -> None:
    from appworld.apps import get_all_apps
    from appworld.apps.admin.models import MainUserMunch
    from appworld.apps.model_lib import get_db_home_path
    from appworld.collections.models import ModelCollection
    from appworld.common.constants import DB_VERSION
    from appworld.task import Task

    who = task["supervisor"]
    collection = ModelCollection.load(
        from_db_home_path=str(base),
        to_db_home_path=get_db_home_path("memory", "task_input", task["id"]),
        load_apps=get_all_apps(),
    )
    collection.restart_db_tracker()
    supervisor = collection.supervisor.Supervisor(**who)
    supervisor.save()
    collection.supervisor.Task(supervisor_id=supervisor.id, instruction=task["instruction"]).save()
    for app in accounts:
        collection.supervisor.AccountPassword(
            supervisor_id=supervisor.id, account_name=app, password=task["passwords"][app]
        ).save()
    names = ("first_name", "last_name", "email", "phone_number")
    Task(
        id=task["id"],
        instruction=task["instruction"],
        supervisor=MainUserMunch(**{name: who[name] for name in names}),
        datetime=now,
        allowed_apps=get_all_apps(skip_admin=True),
        db_version=DB_VERSION,
        model_collection=collection,
    ).save(delete_if_exists=True, save_ground_truth=False, model_collection_format="changes")
    collection.close()
    truth = data / "tasks" / task["id"] / "ground_truth"
    write(truth / "metadata.json", {"mode": "minimal", **task["metadata"]})
    write(truth / "required_apps.json", task["required_apps"])
    write(truth / "public_data.json", task["public_data"])
    write(truth / "private_data.json", {})
    write(truth / "answer.json", json.dumps(task["answer"]))
    write(truth / "evaluation.py", task["evaluation"])
    write(truth / "test_data.json", task["tests"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.load(sys.stdin))
