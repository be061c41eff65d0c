"""Configuration kinds: what `PUT /configuration` can apply. One file per kind, in its area's `kinds/` folder."""

import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

import msgspec

from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.wire import WireMeta, document_name
from penstock.store.write import Write


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Spec(msgspec.Struct, metaclass=WireMeta, rename=document_name, forbid_unknown_fields=True):
    """Base of the `spec` part of configuration documents; field names are camelCase there.

    Docstrings of the fields (msgspec.Meta descriptions) are the kind's documentation.
    """


class Metadata(Spec):
    """Which object a document is about.

    name: unique per kind, compared without case.
    state: `present` (default) or `absent`, which removes it.
    """

    name: str
    description: str | None = None
    category: str | None = None
    state: str = "present"


S = TypeVar("S", bound=Spec)
Step = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Need:
    """An object that does not exist yet and that another document of the same text must make.

    kind, name: of that document. field: which names it, such as `spec.channel`.
    """

    kind: str
    name: str
    field: str


@dataclass(frozen=True)
class Plan:
    """What applying one document will do.

    action: create, change, remove or keep (nothing differs).
    before, after: the object as configuration shows it, without secrets, for differences.
    writes: committed together with those of all other documents.
    needs: what the writes take for granted; nothing is applied unless the same text makes it.
    makes: what others may need the object by, besides its name, such as its route.
    prepare: run before the commit; must be idempotent and harmless when the commit then fails.
    finish: run after the commit; must be repeated by the area on start, should the process die in between.
    """

    action: str
    before: Any = None
    after: Any = None
    writes: Sequence[Write] = ()
    needs: Sequence[Need] = ()
    makes: Sequence[str] = ()
    prepare: Sequence[Step] = ()
    finish: Sequence[Step] = ()

    @classmethod
    def of_put(
        cls,
        before: Any,
        after: Any,
        writes: Sequence[Write],
        *,
        needs: Sequence[Need] = (),
        makes: Sequence[str] = (),
        prepare: Sequence[Step] = (),
        finish: Sequence[Step] = (),
    ) -> Self:
        """Of making an object, without `before`, or changing one; nothing is done when there is nothing to write."""
        if not writes:
            return cls("keep", before=before, after=before, makes=makes)
        action = "create" if before is None else "change"
        return cls(action, before, after, writes, needs=needs, makes=makes, prepare=prepare, finish=finish)


def in_document(error: Invalid, places: Mapping[str, str]) -> Invalid:
    """The error of an operation as one of a document: `CronExpression` is `spec.cronExpression` there.

    places: of the fields that are called otherwise, such as Name -> metadata.name.
    """

    def placed(field: str) -> str:
        name = re.match(r"\w*", field)
        first = name[0] if name is not None else ""
        return places.get(first, f"spec.{first[:1].lower()}{first[1:]}") + field[len(first) :]

    return Invalid(msgspec.structs.replace(each, field=placed(each.field)) for each in error.errors)


class ConfigurationKind(ABC, Generic[S]):
    """One kind of configuration document. Subclasses are found in the `kinds/` folder of their area.

    kind: the document's `kind`; spec: the Struct of its `spec`.
    """

    kind: ClassVar[str]
    spec: type[S]

    @abstractmethod
    async def plan(self, metadata: Metadata, spec: S, actor: Actor) -> Plan:
        """What applying the document would do; changes nothing.

        Raises Invalid with fields named from the document's root, such as `spec.cron` or `metadata.name`.
        """

    @abstractmethod
    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        """What removing the object would do; `keep` when there is none."""

    async def conflicts(self, own: Sequence[Plan], text: Sequence[Plan]) -> Sequence[Sequence[FieldError]]:
        """What is wrong with documents of this kind once all of their text are taken together.

        own: plans of this kind; text: all plans. The answer has errors for each of `own`, fields named as for `plan`.
        Raises InUse for an object that cannot be removed.
        """
        return [()] * len(own)
