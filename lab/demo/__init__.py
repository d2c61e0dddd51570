"""The demo: real texts, a small model trained on them, and the campaign that measures it like any other."""
