"""Our own small look-alikes of WebArena's sites: what `webarena_mini` and the tests play on.

Pages, paths and marks that the benchmark's evaluators look for are as on the real sites; the contents are a
few entries each.
"""
