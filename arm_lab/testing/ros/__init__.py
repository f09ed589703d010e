"""What tests use over topics: a simulated arm, goals, the wait until an arm is ready."""
