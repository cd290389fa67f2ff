"""ALFWorld: household tasks in text, on TextWorld's own engine (Shridhar et al., 2020).

Inside this package `import alfworld` means the installed benchmark.
"""

from envs.alfworld.environment import AlfWorld

__all__ = ["AlfWorld"]
