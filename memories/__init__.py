"""What is learned: every memory, one module or package a method."""
