"""A verb: a function of a model and a request that takes the request's fields as keywords too."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any, TypeVar

from ..progress import Progress, progress_of
from .request import Asked, OptionField, Request

Returned = TypeVar("Returned")


def verb(
    request_type: type[Asked], second: str = ""
) -> Callable[[Callable[[Any, Asked, Progress], Returned]], Callable[..., Returned]]:
    """Make `verb(subject, request=None, *, progress=None, **options)` of a function.

    The function takes what the verb is about, the request and somebody to tell progress to. Options
    are fields of the request; together with a request they change it. `progress=False` is silent.
    The field called `second` may stand in the place of the request.
    """

    def decorate(work: Callable[[Any, Asked, Progress], Returned]) -> Callable[..., Returned]:
        subject = next(iter(signature(work).parameters.values()))

        @wraps(work)
        def call(
            *subjects: Any, progress: Progress | bool | None = None, **options: Any
        ) -> Returned:
            if not subjects and subject.name in options:
                subjects = (options.pop(subject.name),)
            request = options.pop("request", None)
            about, request, *more = (*subjects, request) if len(subjects) < 2 else subjects
            if second and request is not None and not isinstance(request, request_type):
                options, request = {second: request, **options}, None
            if not subjects or more or not isinstance(request, request_type | None):
                raise TypeError(
                    f"{work.__name__}() takes {subject.name}, a {request_type.__name__} or its "
                    "fields as keywords, and progress."
                )
            return work(about, request_type.of(request, options), progress_of(progress))

        options = request_type.option_fields()
        call.__signature__ = _signature(subject, request_type, options, work)  # pyright: ignore[reportAttributeAccessIssue]
        call.__doc__ = _documented(work, options)
        return call

    return decorate


def _signature(
    subject: Parameter, request_type: type[Request], options: list[OptionField], work: Any
) -> Signature:
    """What help() and notebooks show: every option with its type and default."""
    request = Parameter(
        "request",
        Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=request_type | None,
    )
    keywords = [
        Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if option.required else option.default,
            annotation=option.type,
        )
        for option in options
    ]
    progress = Parameter("progress", Parameter.KEYWORD_ONLY, default=None)
    returned = signature(work).return_annotation
    return Signature([subject, request, *keywords, progress], return_annotation=returned)


def _documented(work: Any, options: list[OptionField]) -> str:
    """The function's own words, and one line for every option."""
    lines = [f"    {each.name}: {each.option.help}{_default(each)}" for each in options]
    shown = "    progress: Somebody to tell how far it is; False for silence."
    return "\n".join([cleandoc(work.__doc__ or ""), "", "Options:", *lines, shown])


def _default(option: OptionField) -> str:
    """The default, where it says something."""
    if option.required or option.default is None or option.default is False:
        return ""
    return f" (default: {option.default})"
