"""The closed loop: sensors, law, drives and plant of one arm or of many arms, period by period."""
