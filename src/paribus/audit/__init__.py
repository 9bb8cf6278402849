"""Published advice about settings, held against the facts of a machine.

In: rules as data, and facts by name. Out: for each setting what is in force and what is advised, on what evidence.
"""

from paribus.audit.advice_rules import (
    AdviceRule,
    AdviceRules,
    AdviceSource,
    Evidence,
    all_rules,
    built_in_rules,
)
from paribus.audit.assessment import AdviceItem, AdviceStatus, SettingAdvice, assess
from paribus.audit.expression import Expression, Scalar
from paribus.audit.facts import AuditFacts, Lack, LocalMeasurement, SettingInForce

__all__ = [
    "AdviceItem",
    "AdviceRule",
    "AdviceRules",
    "AdviceSource",
    "AdviceStatus",
    "AuditFacts",
    "Evidence",
    "Expression",
    "Lack",
    "LocalMeasurement",
    "Scalar",
    "SettingAdvice",
    "SettingInForce",
    "all_rules",
    "assess",
    "built_in_rules",
]
