"""The worlds: each benchmark's own engine behind one interface."""
