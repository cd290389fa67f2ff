"""ScienceWorld: elementary-school science in a text world (Wang et al., 2022)."""

from envs.scienceworld.environment import ScienceWorld

__all__ = ["ScienceWorld"]
