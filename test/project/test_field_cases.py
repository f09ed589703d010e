"""The page of field cases is what its tool writes; each case has a report, and there are many."""

from repository import ROOT
from scripts import load_script


def test_the_page_is_generated_and_each_case_names_one_report_and_what_to_do():
    tool = load_script('tools/field_cases.py')
    assert tool.PAGE.read_text() == tool.page(), './ws python tools/field_cases.py'
    files = sorted((ROOT / 'test' / 'field').glob('test_*.py'))
    found = [case for file in files for case in tool.cases(file)]
    names = [name for name, *_ in found]
    assert len(names) == len({*names}) >= 60
    assert all(len(remedy.split()) >= 2 for _, _, remedy in found)
