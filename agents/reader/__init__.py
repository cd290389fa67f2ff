"""The offline reader: answers every role from the prompt's text alone, with no language model."""
