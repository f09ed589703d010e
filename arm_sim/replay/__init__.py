"""What is made of recordings afterwards: reports, the same run again, pictures."""
