"""Arms measured: experiments, comparisons, tuning, judging, certificates, environments."""
