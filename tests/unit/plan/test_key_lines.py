"""Lines of keys in a plan, and of the mistakes at them."""

import pytest
from plan_samples import checked

from paribus.errors import PlanError
from paribus.plan.form.key_lines import lines_of
from paribus.plan.form.parse import parse

DOCUMENT = '''\
a = """
b = 1
[not.a.table]
"""
c = \'\'\'
d = "\'\'\'
e = """x\\""" = 1
f = 1""""
"g.h" = [ # [i]
  1,
  "]",
  [ 2 ], { j = 3, "k\\u0031" = "}", l.m = 4 },
]
n . "o" = 1979-05-27 07:32:00 # p = 1

[q.r] # [s]
t = ""
[[u]]
v = {}
  [[u.w]]
  x = 1
  [ u . y ]
  z = 1
[[u]]
w = [\'\'\'
x = 2\'\'\', 3]
[q]
'''


def test_every_key_has_the_line_where_it_stands() -> None:
    assert lines_of(DOCUMENT) == {
        ("a",): 1,
        ("c",): 5,
        ("e",): 7,
        ("g.h",): 9,
        ("g.h", 0): 10,
        ("g.h", 1): 11,
        ("g.h", 2): 12,
        ("g.h", 2, 0): 12,
        ("g.h", 3): 12,
        ("g.h", 3, "j"): 12,
        ("g.h", 3, "k1"): 12,
        ("g.h", 3, "l"): 12,
        ("g.h", 3, "l", "m"): 12,
        ("n",): 14,
        ("n", "o"): 14,
        ("q",): 27,
        ("q", "r"): 16,
        ("q", "r", "t"): 17,
        ("u",): 18,
        ("u", 0): 18,
        ("u", 0, "v"): 19,
        ("u", 0, "w"): 20,
        ("u", 0, "w", 0): 20,
        ("u", 0, "w", 0, "x"): 21,
        ("u", 0, "y"): 22,
        ("u", 0, "y", "z"): 23,
        ("u", 1): 24,
        ("u", 1, "w"): 25,
        ("u", 1, "w", 0): 25,
        ("u", 1, "w", 1): 26,
    }


@pytest.mark.parametrize(
    "text",
    [
        'question = """\nIs it\nfast?"""\nnmae = 1',  # a multi-line string above the mistake
        "question = '''\nnmae = 0\n'''\nnmae = 1",  # the name of the key inside a string
        'question = "one\u2028line"\n\nfactors."vm.swappiness" = [1, 2]\nnmae = 1',  # no line end of TOML
        "factors.'vm.swappiness' = [\n  1,\n  2]\nnmae = 1",
    ],
)
def test_a_mistake_below_values_of_several_lines_has_its_own_line(text: str) -> None:
    with pytest.raises(PlanError) as caught:
        checked(f'name = "n"\n{text}\n[[workload]]\nkind = "fileio"\n')
    assert [problem.line for problem in caught.value.problems if problem.message == "unknown key"] == [5]


def test_a_wrong_level_has_the_line_of_the_level() -> None:
    with pytest.raises(PlanError) as caught:
        checked('name = "n"\n[factors]\n"vm.swappiness" = [\n  60,\n  300,\n]\n[[workload]]\nkind = "fileio"\n')
    assert [str(problem) for problem in caught.value.problems] == [
        'line 5, factors."vm.swappiness"[1]: 300 is above 200'
    ]


def test_problems_name_the_arguments_that_stand_for_keys() -> None:
    text = 'name = "n"\n[factors]\n"vm.swappiness" = [1, 2]\n[[workload]]\nkind = "fileio"\nthreads = ["x"]\n'
    places = {("factors", "vm.swappiness"): "vm.swappiness", ("workload", 0, "threads"): "--threads"}
    parsed = parse("try", text, {}, places)
    assert [problem.location for problem in parsed.problems] == ["--threads"]
    assert parsed.problem(("factors", "vm.swappiness", 1), "wrong").location == "vm.swappiness"
    assert parsed.problem(("workload", 0, "mode"), "wrong").location == "workload[0].mode"
