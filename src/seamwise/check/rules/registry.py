"""Registry of all rules by code."""

from types import MappingProxyType

from seamwise.check.rules import (
    broad_except,
    class_capture,
    committed_failure,
    compared_result,
    deadline_across_yield,
    escaping_scope,
    impossible_error,
    layer_violation,
    lost_cause,
    nested_result,
    no_producer,
    open_channel,
    open_seam,
    pointless_retry,
    raise_in_result_function,
    refused_class,
    repeated_request,
    result_as_condition,
    secret_in_message,
    silent_default,
    unchecked_unwrap,
    uncovered_dependency,
    unhandled_guard_error,
    unreachable_arm,
    unused_result,
    unused_suppression,
)

RULES = MappingProxyType({
    module.RULE.code: module.RULE
    for module in (
        unused_suppression,
        unused_result,
        raise_in_result_function,
        broad_except,
        unchecked_unwrap,
        impossible_error,
        open_channel,
        open_seam,
        unreachable_arm,
        layer_violation,
        escaping_scope,
        no_producer,
        secret_in_message,
        pointless_retry,
        unhandled_guard_error,
        silent_default,
        committed_failure,
        result_as_condition,
        lost_cause,
        nested_result,
        refused_class,
        uncovered_dependency,
        repeated_request,
        class_capture,
        compared_result,
        deadline_across_yield,
    )
})  # fmt: skip
