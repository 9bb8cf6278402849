"""Files for GitHub and GitLab, against the published schemas of their forms."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORMS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-actions": "examples/ci/action.yml",
    "vendor.gitlab-ci": "examples/ci/gitlab-ci.yml",
}


def _check(schema: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *paths]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("schema", FORMS)
def test_files_have_the_form_of_their_service(schema: str) -> None:
    paths = sorted(ROOT.glob(FORMS[schema]))
    assert paths
    checked = _check(schema, *paths)
    assert checked.returncode == 0, checked.stdout


def test_a_workflow_without_jobs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "workflow.yml"
    path.write_text("on: push\n")
    assert _check("vendor.github-workflows", path).returncode == 1
