"""The nodes of window and page, and launch actions for RViz and rqt_plot."""
