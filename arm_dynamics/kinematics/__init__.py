"""Where the links of an arm are: chains, Jacobians, singularities, Denavit-Hartenberg rows."""
