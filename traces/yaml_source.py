"""YAML with the line of every key, so that an error can point at it. Safe loader, bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from traces.errors import BadInputError
from traces.text_file import read_text

KeyPath = tuple[str | int, ...]

MAX_FILE_BYTES = 16 * 2**20
MAX_NODES = 1_000_000  # aliases are expanded; this stops a file that expands without end


@dataclass
class YamlSource:
    """Plain data and where each key of it stands."""

    file: Path
    text: str
    data: object
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line_of(self, path: KeyPath) -> int | None:
        """Line of ``path``, or of the nearest parent that the file has."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def read_yaml(file: Path) -> YamlSource:
    """Read ``file``. Raises BadInputError for anything that is not one sound YAML document."""
    text = read_text(file, MAX_FILE_BYTES, "a UTF-8 YAML file of at most 16 MiB")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise BadInputError(
            f"is not YAML: {_reason(error)}",
            allowed="one YAML document",
            file=file,
            line=None if mark is None else mark.line + 1,
        ) from None
    source = YamlSource(file=file, text=text, data=None)
    if root is not None:
        source.data = _Builder(source).build(root, ())
    return source


def _reason(error: yaml.YAMLError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


class _Builder:
    def __init__(self, source: YamlSource) -> None:
        self._source = source
        self._nodes = 0
        self._constructor = yaml.SafeLoader("")

    def _refuse(self, problem: str, allowed: str, node: yaml.Node, path: KeyPath) -> BadInputError:
        key = ".".join(str(part) for part in path)
        return BadInputError(
            problem, allowed=allowed, file=self._source.file, line=node.start_mark.line + 1, key=key
        )

    def build(self, node: yaml.Node, path: KeyPath) -> object:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > 64:
            raise self._refuse("the document expands too far", "1,000,000 values", node, path)
        self._source.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            mapping: dict[str, object] = {}
            for key_node, value_node in node.value:
                key = str(getattr(key_node, "value", ""))
                if not isinstance(key_node, yaml.ScalarNode):
                    raise self._refuse("a key is not a word", "plain keys", key_node, path)
                if key in mapping:
                    raise self._refuse(
                        "the key stands twice", "each key once", key_node, (*path, key)
                    )
                self._source.lines[(*path, key)] = key_node.start_mark.line + 1
                mapping[key] = self.build(value_node, (*path, key))
            return mapping
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            return self._constructor.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise self._refuse(
                f"the value cannot be read: {getattr(error, 'problem', None) or error}",
                "plain scalars, lists and mappings",
                node,
                path,
            ) from None
