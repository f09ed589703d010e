"""What launch files share: arguments, an arm's nodes, tasks, other processes, the shutdown."""
