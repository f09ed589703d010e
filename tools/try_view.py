"""Opens the page of `view:=true` in a real browser without a window, and uses it.

    ./ws python tools/try_view.py [--chromium /usr/bin/chromium] [--picture view.png]

An arm is brought up; the page opens; a slider and Move move a joint, on joint_states and in the
picture; an order that is refused is read on the page with its reason. It needs viser, Playwright
(`pip install viser playwright`) and Chromium (`sudo apt install chromium`); where one of them is
missing it says so, and ends with exit code 77. Without a graphics card it takes minutes.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Any

# Also without a graphics card, and as root.
FLAGS = (
    '--no-sandbox',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist',
)
PATIENCE = 240.0  # of a step [s]
JOINT, WANTED, NEAR = 'elbow_joint', 0.9, 0.01
MISSING = 77
LAUNCH = ['ros2', 'launch', 'arm_sim', 'arm.launch.py', 'view:=true', 'mode:=realtime']


def missing(chromium: str) -> str:
    """Return what is not here; '' where all is."""
    for name in ('viser', 'playwright'):
        if find_spec(name) is None:
            return f'{name} is not installed: pip install {name}'
    return '' if shutil.which(chromium) else f'no {chromium}: sudo apt install chromium'


def address(launch: subprocess.Popen) -> str:
    """Return the page's address, which the launch prints."""
    for line in launch.stdout:
        found = re.search(r'open (http://\S+)', line)
        if found:
            return found[1]
    raise SystemExit('the launch has ended without a page')


def row(page: Any, joint: str) -> Any:
    """Return what stands beside a joint's name."""
    label = f'//label[normalize-space()="{joint}"]'
    return page.locator(f'xpath={label}/ancestor::div[.//*[@role="slider"]][1]')


def value(page: Any, joint: str) -> float:
    """Return where a joint's slider stands."""
    return float(row(page, joint).locator('[role=slider]').get_attribute('aria-valuenow'))


def wait(condition: Any, what: str) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f'no {what} within {PATIENCE:g} s')
        time.sleep(0.2)


def use(page: Any, url: str, picture: str) -> None:
    """Open the page, move a joint, have an order refused; print what was seen."""
    page.set_default_timeout(1e3 * PATIENCE)
    page.goto(url)
    page.get_by_text(re.compile(r't = \d')).first.wait_for(state='attached')
    print('the page is open, the arm is there', flush=True)
    area = {'x': 0, 'y': 0, 'width': 480, 'height': 560}  # beside the panel
    before = page.screenshot(clip=area)
    page.get_by_role('tab', name='Move').click(force=True)
    row(page, JOINT).wait_for(state='attached')
    start = value(page, JOINT)
    entry = row(page, JOINT).locator('input[type=text]')
    entry.fill(str(WANTED))
    entry.press('Enter')
    page.get_by_role('button', name='Move', exact=True).click(force=True)
    page.get_by_text(re.compile('goal: .* done')).first.wait_for(state='attached')
    # From here on the slider follows the arm again.
    wait(lambda: abs(value(page, JOINT) - WANTED) < NEAR, f'{JOINT} at {WANTED} rad')
    print(f'{JOINT}: from {start:.3f} to {value(page, JOINT):.3f} rad', flush=True)
    wait(lambda: page.screenshot(clip=area) != before, 'other picture')
    print('the arm moved in the picture', flush=True)
    page.get_by_text('Step', exact=True).first.click(force=True)
    refusal = page.get_by_text('step: not paused: pause first').first
    refusal.wait_for(state='attached')
    print(f'refused, as it should be: {refusal.inner_text()!r}', flush=True)
    if picture:
        page.get_by_role('tab', name='Watch').click(force=True)
        page.wait_for_timeout(3000)
        page.screenshot(path=picture)


def main() -> int:
    """Bring the arm up, and use its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--chromium', default='chromium', help='the browser')
    parser.add_argument('--picture', default='', help='file for what the page looks like (PNG)')
    options = parser.parse_args()
    lacking = missing(options.chromium)
    if lacking:
        print(f'try_view: skipped, {lacking}', file=sys.stderr)
        return MISSING
    from playwright.sync_api import sync_playwright

    launch = subprocess.Popen(
        LAUNCH, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        url = address(launch)
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=shutil.which(options.chromium), args=[*FLAGS]
            )
            size = {'width': 900, 'height': 560}
            scale = 1.0 if options.picture else 0.5  # a quarter of the pixels to draw
            use(browser.new_page(viewport=size, device_scale_factor=scale), url, options.picture)
            browser.close()
    finally:
        os.killpg(launch.pid, signal.SIGINT)
        launch.communicate()
    print('all as it should be')
    return 0


if __name__ == '__main__':
    sys.exit(main())
