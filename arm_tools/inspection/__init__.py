"""What the numbers of a recording are: states, units, signs, gravity; a result is `Inspected`.

A new finding is a function that `inspected` or, for states to leave out, `wrong_states` calls.
"""
