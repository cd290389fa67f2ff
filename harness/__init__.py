"""What holds a run together: the stream, the journal, metrics, statistics, tables and figures."""
