"""Names of parts of viser, the server of the page, which is read without its types."""

from typing import Any

PageServer = Any  # of one page, with its scene and its controls
PageClient = Any  # a browser that shows the page
Gui = Any  # the controls of a page
Handle = Any  # a control or a shape on a page
PageEvent = Any  # what a browser has done
