"""Arms as they come, tried: what loads, agrees, holds, arrives and is reached."""
