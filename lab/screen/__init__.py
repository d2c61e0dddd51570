"""What a terminal shows: the answers of the commands, and a run's progress."""
