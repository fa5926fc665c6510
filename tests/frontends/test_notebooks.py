"""The scripts of models in other languages as notebooks: they print the same, without any guard."""

from __future__ import annotations

import pytest

from tests.support.model_scripts import SCRIPTS, check_lines
from tests.support.scripts import PATIENCE, running_script


def output_of_notebook(folder, code):
    """What the only cell prints, line by line; an error of it is raised.

    Not what libraries say of the notebook to its stderr, of widgets that are not installed say.
    """
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    cell = nbformat.v4.new_code_cell(code)
    place = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(cells=[cell]), timeout=PATIENCE, resources=place
    )
    (done,) = client.execute().cells
    said = [one["text"] for one in done["outputs"] if one.get("name") == "stdout"]
    return "".join(said).splitlines()


@pytest.mark.filterwarnings("ignore")  # of what loads the kernel
@pytest.mark.parametrize("language", SCRIPTS)
def test_a_notebook_prints_what_the_script_prints(language, tmp_path):
    pytest.importorskip("nbclient")
    with running_script(tmp_path, SCRIPTS[language]) as script:
        expected = script.output()
    check_lines(expected)
    assert output_of_notebook(tmp_path, SCRIPTS[language]) == expected
    # A cell with another model prints something else.
    changed = SCRIPTS[language].replace("[2.0, 4.0]", "[2.0, 5.0]")
    assert output_of_notebook(tmp_path, changed) != expected
