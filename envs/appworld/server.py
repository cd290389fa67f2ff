"""AppWorld's own environment server, on loopback only. A script for its own Python: it imports nothing of ours.

    PYTHON -I server.py ROOT LIMIT      ROOT holds `data/`; prints `port N` once it listens

`appworld serve environment` binds 0.0.0.0 at a fixed port. This serves the same application on a port of
127.0.0.1 that the system chose, so that parallel runs cannot clash, and adds two routes. POST /step executes a
block and says whether the task is completed, in one round trip, with the seconds that the engine itself took.
POST /score evaluates as the engine's /evaluate does, and leaves no report behind.

Agents' code runs in this process. The engine's guard lets it read files and import the engine, and so read the
answers; here, until /score, no ground truth is in main memory, none can be opened, and the engine cannot be imported.
"""

import json
import os
import socket
import sys
import time
from typing import Any

# With a world open the engine replaces every other clock by a frozen one.
CLOCK = time.CLOCK_MONOTONIC
KEEP_ALIVE = 7 * 24 * 3600
"""Seconds that an idle connection stays open: a language model may think for long between two steps."""
HIDDEN = "ground_truth"
"""The folder of a task that holds its answer and tests."""
WATCHED = ("open", "os.listdir", "os.scandir", "os.link", "os.symlink", "os.rename", "os.chdir")
AGENTS_FAULT = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the engine raises, rather than reports, for some code: null bytes, lone surrogates, deep nesting."""


class Truth:
    """Keeps ground truth out of reach except while it is needed."""

    def __init__(self) -> None:
        self._open = False
        # Nothing can take an audit hook away again, and it sees every way of opening a file.
        sys.addaudithook(self._watch)

    def __enter__(self) -> None:
        self._open = True

    def __exit__(self, *_: object) -> None:
        self._open = False

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in WATCHED and not self._open and any(HIDDEN in _text(value) for value in arguments):
            raise PermissionError("ground truth is not to be read")


def _text(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else ""


def execute(world: Any, code: str) -> str:
    """The engine's answer to a block, in words also where the engine itself trips over the code."""
    before = len(world.environment_io)
    try:
        return str(world.execute(code))
    except UnicodeEncodeError as error:
        world.safety_guard.disable()
        # A lone surrogate in the log would break the writing of it now and at every later block.
        for entry in world.environment_io[before:]:
            entry.update({key: text.encode(errors="replace").decode() for key, text in entry.items()})
        world.save_logs()
        if len(world.environment_io) > before:
            return str(world.environment_io[-1]["output"])
        return _explained(error)
    except AGENTS_FAULT as error:
        # The guard stays in force if the engine raises, and would then hinder the engine itself.
        world.safety_guard.disable()
        return _explained(error)


def _explained(error: BaseException) -> str:
    return f"Execution failed. Traceback:\n{type(error).__name__}: {error}"


def application(limit: int) -> Any:
    """The engine's application with /step and /score. `limit`: characters of output that are sent."""
    from appworld.common.safety_guard import ALLOWED_MODULE_NAMES
    from appworld.evaluator import evaluate_task
    from appworld.serve import environment as serve
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def step(request: Request) -> Response:
        code = json.loads(await request.body())["code"]
        began = time.clock_gettime(CLOCK)
        output = execute(serve.world, code)
        done = serve.world.task_completed()
        seconds = time.clock_gettime(CLOCK) - began
        answer = json.dumps({"output": output[:limit], "done": done, "seconds": seconds})
        return Response(answer, media_type="application/json")

    async def score(request: Request) -> Response:
        world = serve.world
        with truth:
            tracker = evaluate_task(
                world.task_id, world.experiment_name, suppress_errors=True, save_report=False
            )
        return Response(json.dumps(tracker.to_dict()), media_type="application/json")

    ALLOWED_MODULE_NAMES.discard("appworld")
    truth = Truth()
    for path, route in (("/step", step), ("/score", score)):
        serve.app.router.routes.insert(0, Route(path, route, methods=["POST"]))
    return serve.app


def main(root: str, limit: int) -> None:
    import dotenv

    # The engine reads the nearest .env when imported: keys have no business where an agent's code runs.
    dotenv.load_dotenv = lambda *_, **__: False
    os.environ["APPWORLD_ROOT"] = root
    import uvicorn
    from appworld import update_root

    update_root(root)
    app = application(limit)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_keep_alive=KEEP_ALIVE, lifespan="off"
    )
    print(f"port {listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
