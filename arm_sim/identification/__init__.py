"""What `identify` finds, told and written."""
