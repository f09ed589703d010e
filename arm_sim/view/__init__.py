"""What shows an arm live on a page in the browser, and takes orders there; viser serves it."""
