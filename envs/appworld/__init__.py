"""AppWorld: tasks of everyday apps, solved by code (Trivedi et al., 2024).

The engine lives in a virtual environment of its own and is never imported here; inside this package `appworld`
means the installed benchmark only in the two scripts that its own Python runs (server.py, mini_build.py).
"""

from envs.appworld.environment import AppWorld

__all__ = ["AppWorld"]
