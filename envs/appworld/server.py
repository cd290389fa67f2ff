"""AppWorld's own environment server, on loopback only. A script for its own Python: it imports nothing of ours.

    PYTHON -I server.py ROOT LIMIT      ROOT holds `data/`; prints `port N` once it listens

`appworld serve environment` binds 0.0.0.0 at a fixed port. This serves the same application on a port of
127.0.0.1 that the system chose, so that parallel runs cannot clash, and adds one route: POST /step executes a
block and says whether the task is completed, in one round trip, with the seconds that the engine itself took.
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
AGENTS_FAULT = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the engine raises, rather than reports, for some code: null bytes, lone surrogates, deep nesting."""


def application(limit: int) -> Any:
    """The engine's application with /step. `limit`: characters of output that are sent."""
    from appworld.serve import environment as serve
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def step(request: Request) -> Response:
        code = json.loads(await request.body())["code"]
        began = time.clock_gettime(CLOCK)
        try:
            output = serve.world.execute(code)
        except AGENTS_FAULT as error:
            serve.world.safety_guard.disable()
            output = f"Execution failed. Traceback:\n{type(error).__name__}: {error}"
        done = serve.world.task_completed()
        seconds = time.clock_gettime(CLOCK) - began
        answer = json.dumps({"output": output[:limit], "done": done, "seconds": seconds})
        return Response(answer, media_type="application/json")

    serve.app.router.routes.insert(0, Route("/step", step, methods=["POST"]))
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
