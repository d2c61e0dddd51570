"""From records to a decision: pure functions, without any input or output."""
