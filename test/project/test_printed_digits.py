"""Which digits of a page no command printed."""

import sys

from repository import ROOT

sys.path.insert(0, str(ROOT / 'tools'))

from printed_digits import unprinted

PRINTED = 'path error [mm]  4.315e-12  0.00836\n\x1b[1m12.6849\x1b[0m'


def test_digits_are_compared_as_rounded_by_the_page():
    assert unprinted('4.32e-12, 0.00836, 0.00837 and 12.7 mm', PRINTED) == ['0.00837']


def test_code_commands_and_numbers_of_two_digits_are_not_compared():
    page = """0.25 rad, `limit:=0.0086`

    ./ws ros2 run arm_sim margins --delay 1.234

```python
x = 3.456
```
and [a page of 1.23](https://x.y/7.654)"""
    assert unprinted(page, PRINTED) == ['1.23']
