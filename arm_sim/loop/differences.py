"""How arm and model differ, for the title of a report."""

from collections.abc import Mapping


def errors_of(given: Mapping[str, object]) -> str:
    """Return the arguments that make arm and model differ, as the title of a report has them."""
    texts = ((name, str(given[name])) for name in ('plant_error', 'model_error'))
    return ', '.join(f'{name} {text}' for name, text in texts if text.strip(' {}'))
