"""arm_sim/__init__.pyi: what tools/stub.py writes, so that editors complete every call."""

from scripts import load_script


def test_the_stub_has_every_call_with_its_first_arguments_and_its_result():
    stub = load_script('tools/stub.py')
    assert stub.FILE.read_text() == stub.stub(), 'run ./ws python tools/stub.py'
