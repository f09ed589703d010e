"""Parts of viser, the server of the page, which is read without its types."""

from typing import Any

PageServer = Any  # of one page, with its scene and its controls
PageClient = Any  # a browser that shows the page
Gui = Any  # the controls of a page
Handle = Any  # a control or a shape on a page
PageEvent = Any  # what a browser has done


def set_content(handle: Handle, content: str) -> None:
    """Change a text of the page, if it is another one."""
    if handle.content != content:
        handle.content = content
