"""What is asked: tasks, sources, runs, preference studies."""
