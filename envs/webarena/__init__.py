"""WebArena: tasks on websites (Zhou et al., 2023), through BrowserGym and a real browser.

Inside this package `import webarena` means the installed benchmark.
"""

from envs.webarena.environment import WebArena

__all__ = ["WebArena"]
