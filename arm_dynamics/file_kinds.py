"""What a file that is not the one requested may be, and what to do about it."""

import re

# By the first bytes of files that are no text; [^\0] is any other byte.
_BINARY = {
    rb'\x1f\x8b|PK\x03\x04': 'it is packed, by gzip or zip: unpack it',
    rb'.{257}ustar|BZh|\xfd7zXZ|7z\xbc': 'it is packed: unpack it',
    rb'\xff\xfe|\xfe\xff': 'it is UTF-16: save it as UTF-8',
    rb'([^\0]\0){4}|(\0[^\0]){4}': 'it is UTF-16 without its mark: save it as UTF-8',
    rb'PXR-USDC': 'it is USD: give the URDF that it was made from',
    rb'glTF|ply\s': 'it is a mesh: give the file that names it',
    rb'\x89PNG|\xff\xd8\xff|GIF8|%PDF': 'it is a picture or a PDF, no text',
    rb'\xd0\xcf\x11\xe0|BLENDER|VREP': 'it is of a CAD program or simulator: export a URDF there',
}
_STL_HEAD, _STL_EACH = 84, 50  # bytes of a binary STL, before its triangles and of each one

_MESH = 'it is a mesh: give the URDF that names it'
_BEFORE = 'remove what is before <'
# What is in a text that is no XML, and the remedy; the first one counts.
_HINTS = {
    r'\s*\Z': 'the file is empty',
    r'version https://git-lfs': 'it stands for a file of Git LFS: run `git lfs pull`',
    r'.*\n<{7} ': 'it has the marks of a merge conflict: resolve the conflict',
    r'diff --git |--- .*\n\+\+\+ ': 'it is a patch: apply it, and give the file that it changes',
    r'\s*\S+\.(urdf|xacro|xml)\s*\Z': 'it is the path of another file: give that one',
    r'\d{3}: ': 'it is the answer of a web server: download the file again',
    r'\{.*"message": *"Not Found"': 'it is the answer of a web server: download the file again',
    r'\s*#usda': 'it is USD: give the URDF that it was made from',
    r'ISO-10303': 'it is STEP, a shape without joints: export a URDF from the CAD program',
    r'#VRML_SIM': 'it is of Webots: give the URDF that it was made from',
    r'solid\s|#VRML': _MESH,
    r'(\s|#[^\n]*\n|(mtllib|o|g) [^\n]*\n)*v [-\d]': _MESH,
    r'.*\bLaunchDescription\b': 'it is a launch file: give the file of the robot that it loads',
    r'.*```': 'remove the lines with ```',
    r'\s*data: ': '`ros2 topic echo` has printed it: save the text of the message alone',
    r'.+<\?xml\b': f'{_BEFORE}?xml',
    r'\s*(\{|\[\s*[\[{"\d])': 'it is JSON: give the URDF',
    r'(\s|#[^\n]*\n|---\s)*[\w/.*"\'-]+ ?:\s': 'it is YAML: give the URDF or xacro that uses it',
    r'.*&lt;(robot|link)\b': 'its < is written as &lt;: save the source of the page',
    r'(?!.*xmlns:xacro).*<xacro:': (
        'is it xacro? Write xmlns:xacro="http://www.ros.org/wiki/xacro" in <robot>'
    ),
    r'.*xmlns:xacro.*&(?!#?\w+;)': 'write &amp; for &, or `and`',
    r'.*<xacro:[^>]*="[^"<>]*<': 'write &lt; for <',
    r'.*<xacro:': 'is it xacro? Run `xacro FILE > arm.urdf`',
    r'.*<html\b': 'it is a web page: download the file itself',
    r'(?=[^<]*<robot\b)\s*[^\s<]': f'{_BEFORE}robot',
    r'.*\0': 'it has bytes of value 0: save it again as text',
    r'.*</robot\s*>.*<robot\b': 'it has two <robot>: give one of them',
    r'.*=\s*[\u2018-\u201d]': 'it has typographic quotes: write "',
    r'.*<!--(?:(?!-->).)*(--(?!>)|--->)': 'XML forbids -- within a comment, and ---> at its end',
    r'.*&(?!#?\w+;)': 'write &amp; for &',
    r'.*<\w[^<>"\']*(?:"[^"]*"[^<>"\']*)*=\s*[^"\'\s<>]': 'write " around values of attributes',
    r'.*="[^"<>]*<[^"<>]*"': 'write &lt; for < in an attribute',
    r'(?!.*<(\w+:)?(robot|mujoco)\b)': 'it has no <robot>: give a URDF, a xacro or an MJCF',
    r'.*</robot\s*>\s*[^\s<]': 'remove what is behind </robot>',
    r'(?!.*</(robot|mujoco)\s*>)': 'its end, </robot> or </mujoco>, is missing: is it cut off?',
}


# What is in the text of numbers that are none, and the remedy; the first one counts.
_NUMBER_HINTS = {
    r'.*(\$|pi\b)': 'is it xacro?',
    r'\s*\Z': 'it is empty',
    r'.*\d\s*,\s*\d|.*,\s': 'write a decimal point, and spaces between numbers',
    '.*[\u2010-\u2015\u2212]': 'its minus is another sign: write -',
    r'.*\{': 'is it xacro, without its $ before {?',
    r'.*[\[\]()]': 'write numbers without brackets',
    r'.*\d\s*[*/]': 'write the result of the expression',
    r'.*\d[dD][-+]?\d': 'write e for the exponent',
    r'.*\d\s*(mm|cm|m|kg|g|deg|rad|N|Nm|Nmm)\b|.*\u00b0': 'write numbers without units',
}


def number_hint(text: str) -> str:
    """Return what to do about a text that is no number, behind a semicolon, where it is known."""
    known = next((x for pattern, x in _NUMBER_HINTS.items() if re.match(pattern, text)), '')
    return f'; {known}' if known else ''


def hint(text: str) -> str:
    """Return what to do about a text that is no XML, behind a semicolon, where it is known."""
    how = re.DOTALL | re.IGNORECASE
    of_text = (remedy for pattern, remedy in _HINTS.items() if re.match(pattern, text, how))
    known = binary(text.encode(errors='replace')) or next(of_text, '')
    return f'; {known}' if known else ''


def binary(raw: bytes) -> str:
    """Return what a file of these first bytes is if it is no text, and the remedy; else ''."""
    for pattern, what in _BINARY.items():
        if re.match(pattern, raw, re.DOTALL):
            return what
    count = int.from_bytes(raw[_STL_HEAD - 4 : _STL_HEAD], 'little')
    if len(raw) == _STL_HEAD + _STL_EACH * count:
        return 'it is a mesh, STL: give the file that names it'
    return 'it is no text: is it a binary mesh or model?' if b'\0' in raw[:1000] else ''
