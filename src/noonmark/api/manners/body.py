"""Request bodies: decoded by msgspec straight into the handler's type, strictly, and seen by OpenAPI as that type."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from litestar.dto import AbstractDTO, DTOFieldDefinition
from litestar.typing import FieldDefinition

if TYPE_CHECKING:
    from litestar._openapi.schema_generation import SchemaCreator
    from litestar.dto._backend import DTOBackend
    from litestar.openapi.spec import Reference, Schema

MAX_BODY_BYTES = 16 * 1024 * 1024


class JsonBody(AbstractDTO[Any]):
    """Litestar's own way goes through plain dicts and lax conversion, which loses `msgspec.Raw` and JSON paths."""

    _decoders: ClassVar[dict[str, msgspec.json.Decoder[Any]]] = {}

    def decode_bytes(self, value: bytes) -> Any:
        return self._decoders[self.asgi_connection.route_handler.handler_id].decode(value)

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: "type[DTOBackend] | None" = None
    ) -> None:
        cls._decoders[handler_id] = msgspec.json.Decoder(field_definition.annotation)

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: "SchemaCreator"
    ) -> "Reference | Schema":
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Generator[DTOFieldDefinition, None, None]:
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        return False
