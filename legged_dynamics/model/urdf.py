# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Reads and writes URDF: links with inertials, joints with axes, limits, dynamics and mimics.

Only errors in these elements make a file unreadable. Visuals, collisions, transmissions, comments
and other programs' tags are ignored. The rules are those of ROS's C++ parser, urdfdom; where it
would refuse a file that still has one sensible meaning, there is a note.
"""
from __future__ import annotations

import codecs
import math
import re
import stat
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement
from xml.parsers import expat

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model.parts import Inertia, Joint, Mimic
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy

# -------------------------------------------------------------------------------------------------
# The elements of an XML text that are read, with their lines.
#
# Everything outside their paths is ignored, so that errors in comments, namespaces, meshes and
# other programs' tags do not matter. Names keep their prefix as written, as in ROS's C++ parser,
# so that an undeclared prefix is no error either.


# Tags that are read, with the tags that are read below them.
Wanted = Mapping[str, 'Wanted']


@dataclass
class Element:
    """A start tag with the wanted elements inside it."""

    tag: str  # Name of the element
    attributes: dict[str, str]  # Attributes as text
    line: int  # Line in the text, from 1
    children: list[Element] = field(default_factory=list)  # Elements inside this one that are read
    skipped: set[str] = field(default_factory=set)  # Names of tags inside it that were not wanted

    def all(self, tag: str) -> list[Element]:
        """Return the child elements with a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """Return the first child element with a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def number(self, name: str, default: float | None, where: str) -> float:
        """Return an attribute as a finite number, or the default; None: it must be there."""
        text = self.attributes.get(name)
        if text is None:
            if default is None:
                raise ModelError(f'{where}: <{self.tag}> (line {self.line}) has no {name!r}; '
                                 'expected a number')
            return default
        return _number(text, f'{where}: {name} of <{self.tag}> (line {self.line})')

    def vector(self, name: str, default: tuple[float, ...], where: str) -> tuple[float, ...]:
        """Return an attribute as three finite numbers; ``where`` is for the error's text."""
        text = self.attributes.get(name)
        if text is None:
            return default
        what = f'{where}: {name} of <{self.tag}> (line {self.line})'
        words = text.split()
        if len(words) != 3:
            raise ModelError(f'{what}: expected three numbers, got {_short(text)}')
        return tuple(_number(word, what) for word in words)


def _number(text: str, what: str) -> float:
    try:
        value = math.nan if '_' in text else float(text)
        if math.isfinite(value):
            return value
    except ValueError:
        pass
    raise ModelError(f'{what}: expected a finite number, got {_short(text)}')


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f'{text[:57]}...')


def read_elements(text: str, wanted: Wanted, origin: str) -> Element:
    """
    Return the root of an XML text, with the wanted elements only.

    ``wanted``: tags inside the root, and inside those. ModelError for bad XML or entities.
    """
    reader = _Reader(wanted, origin)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = reader.refuse_entity
    reader.parser = parser
    try:
        parser.Parse(_plain(text), True)
    except expat.ExpatError as error:
        raise ModelError(f'{origin}: this is not a URDF that can be parsed: '
                         f'{expat.errors.messages[error.code]} in line {error.lineno}, column '
                         f'{error.offset + 1}') from error
    except ValueError as error:             # half of a surrogate pair
        raise ModelError(f'{origin}: this is not a URDF that can be parsed: {error}') from error
    assert reader.root is not None          # else the parser has raised 'no element found'
    return reader.root


class _Reader:
    """Keeps what is wanted while the parser walks through the text."""

    def __init__(self, wanted: Wanted, origin: str):
        self._wanted, self._origin = wanted, origin
        # Open tags with what is wanted inside; None for one that is skipped.
        self._open: list[tuple[Element | None, Wanted]] = []
        self.root: Element | None = None
        self.parser: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        parent, wanted = self._open[-1] if self._open else (None, {tag: self._wanted})
        if tag not in wanted:
            if parent is not None:
                parent.skipped.add(tag)
            self._open.append((None, {}))
            return
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self._open.append((element, wanted[tag]))

    def end(self, _tag: str) -> None:
        self._open.pop()

    def refuse_entity(self, name: str, *_rest: Any) -> None:
        # A few lines of entities can expand to gigabytes of text.
        raise ModelError(f'{self._origin}: this is not a URDF that can be parsed: it declares the '
                         f'entity {name!r} (line {self.parser.CurrentLineNumber}); write it out')


# Text before `<?xml`, its encoding (the text is decoded by now), and `--` inside a comment are not
# valid XML, but widely used.
_HEAD = re.compile('[\ufeff \t\r\n]*(<[?]xml.*?[?]>)?', re.DOTALL)
_ASIDE = re.compile(r'<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)', re.DOTALL)


def _plain(text: str) -> str:
    """Return the text without declaration and comments, every line where it was."""
    def lines(found: re.Match[str] | None) -> str:
        """Return the ends of lines alone, of what is left out."""
        return '\n' * (found[0].count('\n') if found else 0)

    def kept(found: re.Match[str]) -> str:
        whole_comment = found[0].startswith('<!--') and found[0].endswith('-->')
        return lines(found) if whole_comment else found[0]
    head = _HEAD.match(text)
    return lines(head) + _ASIDE.sub(kept, text[head.end() if head else 0:])


# -------------------------------------------------------------------------------------------------
# The text of a robot description, read from a file of limited size in the encoding it declares.


# A humanoid with hands is 0.2 MB; a larger file contains meshes, or is not a description.
MAX_SIZE = 16_000_000

# Encodings by how a file begins: with a byte order mark, or with the first letters of UTF-16.
_BEGINNINGS = ((codecs.BOM_UTF8, 'utf-8-sig'), (codecs.BOM_UTF32_LE, 'utf-32'),
               (codecs.BOM_UTF32_BE, 'utf-32'), (codecs.BOM_UTF16_LE, 'utf-16'),
               (codecs.BOM_UTF16_BE, 'utf-16'), (b'<\0?\0', 'utf-16-le'),
               (b'\0<\0?', 'utf-16-be'))
_DECLARED = re.compile(rb'\s*<\?xml[^>]*?encoding\s*=\s*["\']([A-Za-z0-9._-]+)["\']')


def read_description_file(path: str | Path) -> str:
    """
    Return the text of a description file of at most `MAX_SIZE`, or raise ModelError.

    Only a regular file is opened: a named pipe would block for ever, and a device has no
    end.
    """
    path = Path(path)
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            kind = 'a folder' if stat.S_ISDIR(state.st_mode) else 'a pipe or a device'
            raise ModelError(f'cannot read the URDF {path}: expected a file, got {kind}')
        if state.st_size > MAX_SIZE:
            raise ModelError(f'cannot read the URDF {path}: expected at most '
                             f'{MAX_SIZE / 1e6:.0f} MB, got {state.st_size / 1e6:.0f} MB')
        with path.open('rb') as file:
            content = file.read(MAX_SIZE + 1)
    except (OSError, ValueError) as error:      # ValueError: a zero byte in the name
        raise ModelError(f'cannot read the URDF {path}: {error}') from error
    return _checked_text(_decode(content, str(path)), str(path))


def _checked_text(text: str, origin: str) -> str:
    """Return a description's text, known to be small enough and to begin like XML."""
    if len(text) > MAX_SIZE:
        raise ModelError(f'{origin}: expected at most {MAX_SIZE / 1e6:.0f} million characters, '
                         f'got {len(text) / 1e6:.1f} million')
    start = text[:1000].lstrip('\ufeff \t\r\n') or text.lstrip('\ufeff \t\r\n')[:1000]
    if not start:
        raise ModelError(f'{origin}: expected the XML of a URDF, got nothing')
    if not start.startswith('<'):
        binary = any(ord(character) < 32 and character not in '\t\r\n\f' for character in start)
        got = 'binary data' if binary else f'text that begins with {start[:30]!r}'
        raise ModelError(f'{origin}: expected the XML of a URDF, got {got}')
    return text


def _decode(content: bytes, origin: str) -> str:
    """Return XML bytes as text: by byte order mark or declaration, as UTF-8, or as Latin-1."""
    for beginning, encoding in _BEGINNINGS:
        if content.startswith(beginning):
            return _decoded(content, encoding, origin)
    declared = _DECLARED.match(content)
    encoding = declared[1].decode('ascii').lower() if declared else 'utf-8'
    # Readable as ASCII up to here, so the declared encoding must be wrong.
    if encoding.startswith(('utf-16', 'utf16', 'utf-32', 'utf32', 'utf-8', 'utf8')):
        try:
            return content.decode('utf-8')
        except UnicodeDecodeError:
            return content.decode('latin-1')
    return _decoded(content, encoding, origin)


def _decoded(content: bytes, encoding: str, origin: str) -> str:
    try:
        return str(content, encoding)
    except (LookupError, ValueError) as error:      # ValueError: UnicodeDecodeError, and codecs'
        raise ModelError(f'{origin}: expected text in the encoding {encoding!r}, which it '
                         f'declares: {error}') from error


# -------------------------------------------------------------------------------------------------

URDF_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# Masses, lengths and the like above this are implausible, and their products overflow.
LARGEST = 1e12
# A humanoid with hands has 150. Each takes a tenth of a millisecond to read, while a node waits.
MAX_LINKS = 2000

_NOTHING: Wanted = {}
_WANTED: Wanted = {
    'link': {'inertial': {'origin': _NOTHING, 'mass': _NOTHING, 'inertia': _NOTHING}},
    'joint': dict.fromkeys(('parent', 'child', 'origin', 'axis', 'limit', 'dynamics', 'mimic'),
                           _NOTHING),
}
_OTHER_FORMATS = {
    **dict.fromkeys(('sdf', 'model', 'world'), 'SDF, the format of Gazebo. Most SDF robots come '
                    'from a URDF: take that'),
    **dict.fromkeys(('mujoco', 'mujocoinclude'), 'MJCF, the format of MuJoCo. Most MJCF robots '
                    'come from a URDF: take that'),
    'COLLADA': 'a COLLADA mesh',
    'osim': 'OpenSim', 'OpenSimDocument': 'a model of OpenSim',
    'html': 'a web page; the download went wrong',
    'launch': 'a launch file', 'package': 'a package manifest',
}


def read_urdf_text(source: str | Path) -> tuple[str, str]:
    """Return the XML of a URDF (path or text), and its origin for error texts."""
    if isinstance(source, str) and '<' in source:
        return source, 'robot description'
    return read_description_file(source), str(source)


def parse_urdf(text: str, origin: str = 'robot description'
               ) -> tuple[str, dict[str, Inertia], list[Joint], list[str]]:
    """
    Return the robot's name, its links, its joints, and what is odd, from a URDF's XML.

    A path is refused, and nothing is opened.

    Links without ``<inertial>`` are massless. Joint limits are kept as stated, also a zero
    effort, because that is what the hardware would be told.
    """
    robot = read_elements(_checked_text(text, origin), _WANTED, origin)
    _check_format(robot, origin)
    if len(robot.children) > 2 * MAX_LINKS:
        raise ModelError(f'{origin}: expected at most {MAX_LINKS} links and as many joints, got '
                         f'{len(robot.children)} of both')
    notes: list[str] = []
    links: dict[str, Inertia] = {}
    for link in robot.all('link'):
        name = _name(link, origin)
        if name in links:
            raise ModelError(f'{origin}: expected each link name once, got {name!r} again '
                             f'(line {link.line})')
        links[name] = _inertia(link, f'{origin}: link {name!r}')
    joints = [_joint(joint, origin, notes) for joint in robot.all('joint')]
    return robot.attributes.get('name', '') or 'robot', links, joints, notes


def _check_format(robot: Element, origin: str) -> None:
    prefixes = {'xacro'} | {name.partition(':')[2] for name, value in robot.attributes.items()
                            if name.startswith('xmlns:') and 'xacro' in value.lower()}
    if robot.tag.partition(':')[0] in prefixes or _has_xacro(robot, prefixes):
        raise ModelError(f'{origin}: expected URDF, got xacro. Expand it first: '
                         '`xacro robot.xacro > robot.urdf`.')
    if robot.tag != 'robot':
        known = _OTHER_FORMATS.get(robot.tag, f'XML whose root is <{robot.tag[:60]}>')
        raise ModelError(f'{origin}: expected URDF, whose root is <robot>, got {known}.')
    if not robot.all('link'):
        other = sorted(robot.skipped & {'sdf', 'model', 'world', 'worldbody'})
        if other:
            raise ModelError(f'{origin}: expected URDF, got <{other[0]}> inside <robot>: that is '
                             'another format inside a <robot> element.')
        raise ModelError(f'{origin}: expected at least one <link> in <robot>, got none')


def _has_xacro(element: Element, prefixes: set[str]) -> bool:
    """Tell whether what we read would still have to be computed by xacro."""
    return (any(tag.partition(':')[0] in prefixes for tag in element.skipped if ':' in tag)
            or any('${' in value or '$(' in value for value in element.attributes.values())
            or any(_has_xacro(child, prefixes) for child in element.children))


def _name(element: Element, origin: str) -> str:
    name = element.attributes.get('name', '')
    if not name:
        raise ModelError(f'{origin}: the <{element.tag}> in line {element.line} has no name')
    return name


def transform_of(parent: Element, where: str) -> Transform:
    """Return the pose in an element's ``<origin>``; ``where`` is for the error's text."""
    origin = parent.first('origin')
    if origin is None:
        return Transform.identity()
    xyz = origin.vector('xyz', (0.0, 0.0, 0.0), where)
    rpy = origin.vector('rpy', (0.0, 0.0, 0.0), where)
    for name, values in (('xyz', xyz), ('rpy', rpy)):
        for value in values:
            _sane(value, f'{where}: {name} of <origin> (line {origin.line})')
    return Transform(rotation_from_rpy(np.array(rpy)), np.array(xyz))


def _sane(value: float, what: str) -> float:
    if abs(value) > LARGEST:
        raise ModelError(f'{what}: expected a magnitude up to {LARGEST:g}, got {value:g}')
    return value


def _inertia(link: Element, where: str) -> Inertia:
    inertial = link.first('inertial')
    if inertial is None:
        return Inertia()
    mass, moments = inertial.first('mass'), inertial.first('inertia')
    if mass is None or moments is None:
        missing = '<mass>' if mass is None else '<inertia>'
        raise ModelError(f'{where}: its <inertial> (line {inertial.line}) has no {missing}')
    pose = transform_of(inertial, where)
    xx, yy, zz, xy, xz, yz = (
        _sane(moments.number(name, None, where), f'{where}: {name} of <inertia>')
        for name in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'))
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    kilograms = _sane(mass.number('value', None, where), f'{where}: value of <mass>')
    return Inertia(kilograms, pose.p, pose.R @ about_com @ pose.R.T)


def _joint(joint: Element, origin: str, notes: list[str]) -> Joint:
    name = _name(joint, origin)
    where = f'{origin}: joint {name!r}'
    kind = joint.attributes.get('type', '')
    if kind not in URDF_KINDS:
        raise ModelError(f'{where}: expected a type of {", ".join(URDF_KINDS)}; got {kind!r} '
                         f'(line {joint.line})')
    if kind == 'planar':
        raise ModelError(f'{where} is of type planar, which is not supported. Write it as two '
                         'prismatic joints and a revolute one.')
    parent, child = (_end(joint, role, where) for role in ('parent', 'child'))
    placement = transform_of(joint, where)
    if kind in ('fixed', 'floating'):
        return Joint(name, kind, parent, child, placement)
    axis = joint.first('axis')
    direction = (1.0, 0.0, 0.0) if axis is None else axis.vector('xyz', (1.0, 0.0, 0.0), where)
    if max(abs(value) for value in direction) > LARGEST:
        raise ModelError(f'{where}: expected an axis of about unit length, got {direction}')
    physics: dict[str, Any] = _physics(joint, kind, where, notes)
    return Joint(name, kind, parent, child, placement, np.array(direction),
                 mimic=_mimic(joint, where), **physics)


def _end(joint: Element, role: str, where: str) -> str:
    element = joint.first(role)
    link = '' if element is None else element.attributes.get('link', '')
    if not link:
        raise ModelError(f'{where} (line {joint.line}) has no <{role} link="...">')
    return link


def _physics(joint: Element, kind: str, where: str, notes: list[str]) -> dict[str, float]:
    """Return limits and friction; a limit that is not stated is infinite."""
    found: dict[str, float] = {}
    limit, dynamics = joint.first('limit'), joint.first('dynamics')
    if limit is None and kind != 'continuous':
        notes.append(f'joint {joint.attributes["name"]!r} is {kind} and has no <limit>, which '
                     "ROS's own parser refuses; taken as without limits")
    if limit is not None:
        for name in ('effort', 'velocity'):
            if name in limit.attributes:
                found[name] = limit.number(name, None, where)
            else:
                notes.append(f'joint {joint.attributes["name"]!r}: its <limit> has no {name}, '
                             "which ROS's own parser refuses; taken as infinite")
        lower, upper = (limit.number(name, 0.0, where) for name in ('lower', 'upper'))
        if kind != 'continuous':
            found |= {'lower': lower, 'upper': upper}
    if dynamics is not None:
        for name in ('damping', 'friction'):
            found[name] = _sane(dynamics.number(name, 0.0, where),
                                f'{where}: {name} of <dynamics>')
    return found


def _mimic(joint: Element, where: str) -> Mimic | None:
    mimic = joint.first('mimic')
    if mimic is None:
        return None
    master = mimic.attributes.get('joint', '')
    if not master:
        raise ModelError(f'{where}: its <mimic> (line {mimic.line}) names no joint')
    return Mimic(master, *(_sane(mimic.number(name, default, where), f'{where}: {name}')
                           for name, default in (('multiplier', 1.0), ('offset', 0.0))))


# -------------------------------------------------------------------------------------------------
# Links and joints as the text of a URDF.


# URDF requires limits; these represent unlimited joints.
UNLIMITED = {'effort': 1e6, 'velocity': 1e3, 'turn': 2.0 * np.pi, 'slide': 1e3}


def urdf_text(name: str, links: Mapping[str, Inertia], joints: Sequence[Joint]) -> str:
    """Return links and joints as a URDF, omitting armature, springs and zero inertias."""
    robot = ElementTree.Element('robot', name=name)
    for link, inertia in links.items():
        element = SubElement(robot, 'link', name=link)
        if inertia.mass > 0.0:
            element.append(inertial_element(inertia))
    for joint in joints:
        element = SubElement(robot, 'joint', name=joint.name, type=joint.kind)
        SubElement(element, 'parent', link=joint.parent)
        SubElement(element, 'child', link=joint.child)
        SubElement(element, 'origin', xyz=_words(joint.placement.p), rpy=_words(
            _rpy(joint.placement)))
        if joint.kind in ('fixed', 'floating'):
            continue
        SubElement(element, 'axis', xyz=_words(joint.axis))
        wide = UNLIMITED['slide' if joint.kind == 'prismatic' else 'turn']
        limits = {'lower': -wide, 'upper': wide, 'effort': UNLIMITED['effort'],
                  'velocity': UNLIMITED['velocity']}      # where none is stated
        limits.update({key: value for key in limits
                       if math.isfinite(value := getattr(joint, key))})
        SubElement(element, 'limit', {key: _word(value) for key, value in limits.items()})
        if joint.damping or joint.friction:
            SubElement(element, 'dynamics', damping=_word(joint.damping),
                       friction=_word(joint.friction))
        if joint.mimic is not None:
            SubElement(element, 'mimic', joint=joint.mimic.joint,
                       multiplier=_word(joint.mimic.multiplier),
                       offset=_word(joint.mimic.offset))
    ElementTree.indent(robot)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(robot, encoding="unicode")}\n'


def inertial_element(inertia: Inertia) -> ElementTree.Element:
    """Return a link's inertia in its frame as the element of a URDF."""
    part = ElementTree.Element('inertial')
    SubElement(part, 'origin', xyz=_words(inertia.com), rpy='0 0 0')
    SubElement(part, 'mass', value=_word(inertia.mass))
    SubElement(part, 'inertia', {f'i{"xyz"[i]}{"xyz"[k]}': _word(inertia.about_com[i, k])
                                 for i, k in zip(*np.triu_indices(3))})
    return part


def _rpy(pose: Transform) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # slow to import

    with warnings.catch_warnings():     # of an axis at 90 deg any of its angles is right
        warnings.simplefilter('ignore')
        return Rotation.from_matrix(pose.R).as_euler('xyz')


def _words(values: np.ndarray) -> str:
    return ' '.join(_word(value) for value in values)


def _word(value: float) -> str:
    return f'{float(value):.12g}'
