// The methods in Python: a class for each group, once for calls that block and once for those that are awaited.

import type { Api, Operation } from './operations.ts'
import { sdkOf } from './operations.ts'
import {
  docstring,
  HEADER,
  isNullable,
  literal,
  type PythonTypes,
  pythonName,
  snakeName,
  wrapped,
} from './python-types.ts'
import type { Member, Shape } from './shapes.ts'

export interface Flavour {
  isAsync: boolean
  /** `Async` before the names of classes. */
  prefix: '' | 'Async'
}

export const FLAVOURS: readonly Flavour[] = [
  { isAsync: false, prefix: '' },
  { isAsync: true, prefix: 'Async' },
]

interface GroupNode {
  /** Without the prefix. */
  className: string
  operations: Operation[]
  groups: Map<string, GroupNode>
}

interface Argument {
  name: string
  annotation: string
  /** undefined: it must be given. */
  absent: 'None' | 'NOT_GIVEN' | undefined
  description?: string | undefined
}

// Arguments of every method, so that no operation may have one of these names.
const OPTIONS = ['timeout', 'idempotency_key', 'on_progress', 'content_type', 'body', 'items', 'self']

export function pythonMethods(
  api: Api,
  operations: readonly Operation[],
  types: PythonTypes,
  flavour: Flavour,
): string {
  const { prefix } = flavour
  const root: GroupNode = { className: 'Groups', operations: [], groups: new Map() }
  for (const operation of operations) nodeOf(root, operation.group).operations.push(operation)
  const classes = [...root.groups.values()].flatMap((node) => classesOf(node, types, flavour))
  const about = flavour.isAsync ? 'Methods that are awaited.' : 'Methods that block.'
  return `${HEADER}"""${about}"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

from . import literals, models, params
from ._given import NOT_GIVEN, NotGiven, given
from ._group import ${prefix}Group, path
from ._pages import ${prefix}Pages
from ._request import random_key
from ._streams import ${prefix}Download, ${prefix}Lines
from ._transport import ${prefix}Transport
from ._uploads import ${prefix}Items, ${prefix}Source, Progress

${classes.join('\n\n')}

class ${prefix}Groups:
    """All groups of methods."""

${groupsText(root, flavour, api.groups)}`
}

function nodeOf(root: GroupNode, group: readonly string[]): GroupNode {
  let node = root
  for (const [index, name] of group.entries()) {
    const words = group.slice(0, index + 1).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    const next = node.groups.get(name) ?? { className: `${words.join('')}Methods`, operations: [], groups: new Map() }
    node.groups.set(name, next)
    node = next
  }
  return node
}

function classesOf(node: GroupNode, types: PythonTypes, flavour: Flavour): string[] {
  const inner = [...node.groups.values()].flatMap((group) => classesOf(group, types, flavour))
  const methods = node.operations.map((operation) => methodText(operation, types, flavour))
  const parts = [...(node.groups.size > 0 ? [groupsText(node, flavour, new Map())] : []), ...methods]
  return [...inner, `class ${flavour.prefix}${node.className}(${flavour.prefix}Group):\n${parts.join('\n')}`]
}

// Only the root has no parent that keeps the transport.
function groupsText(node: GroupNode, { prefix }: Flavour, notes: ReadonlyMap<string, string>): string {
  const parent = node.className === 'Groups' ? '' : '        super().__init__(transport)\n'
  const members = [...node.groups].map(([name, { className }]) => {
    const note = notes.get(name)
    return `        self.${snakeName(name)} = ${prefix}${className}(transport)\n${docstring(note, '        ')}`
  })
  return `    def __init__(self, transport: ${prefix}Transport) -> None:\n${parent}${members.join('')}`
}

function methodText(operation: Operation, types: PythonTypes, { isAsync, prefix }: Flavour): string {
  const { answer, summary, description, query, headers } = operation
  const positional = [
    ...operation.arguments.map(({ name, shape }) => `${pythonName(name)}: ${types.annotationOf(shape, 'argument')}`),
    ...bodyArgument(operation, types, prefix),
  ]
  const own = [
    ...query.map((member) => argumentOf(member, queryAnnotation(member.shape, types))),
    ...headers.map((header) => argumentOf(header, types.annotationOf(header.shape, 'argument'))),
    ...membersOfBody(operation).map((member) => argumentOf(member, types.argumentOf(member.shape))),
  ]
  const taken = own.find(({ name }) => OPTIONS.includes(name))
  if (taken !== undefined) throw new Error(`${sdkOf(operation)} has an argument ${taken.name}, which is an option`)
  // What must be given first, for those who read the signature.
  const named = [...own.filter(({ absent }) => !absent), ...own.filter(({ absent }) => absent), ...optionsOf(operation)]
  const signature = [
    '        self,\n',
    ...positional.map((text) => `        ${text},\n`),
    '        *,\n',
    ...named.map(({ name, annotation, absent }) => `        ${name}: ${annotation}${absent ? ` = ${absent}` : ''},\n`),
  ]
  const { returned, text } = callText(operation, types, { isAsync, prefix })
  const isAwaited = isAsync && (answer.kind === 'json' || answer.kind === 'bytes')
  const documented = docOf(`${summary}.\n\n${description}`.replace('..', '.'), own)
  return `    ${isAwaited ? 'async ' : ''}def ${snakeName(operation.name)}(\n${signature.join('')}    ) -> ${returned}:\n${documented}${text}`
}

function membersOfBody({ body }: Operation): readonly Member[] {
  return body?.kind === 'json' ? (body.members ?? []) : []
}

function bodyArgument({ body }: Operation, types: PythonTypes, prefix: string): string[] {
  if (body?.kind === 'bytes') return [`body: ${prefix}Source`]
  if (body?.kind === 'lines') return [`items: ${prefix}Items[${types.argumentOf(body.item)}]`]
  if (body?.kind === 'json' && body.members === undefined) return [`body: ${types.argumentOf(body.shape)}`]
  return []
}

// null means something where a member may be null; elsewhere None is an argument that is not given.
function argumentOf({ name, shape, isRequired, description }: Member, annotation: string): Argument {
  if (isRequired) return { name: pythonName(name), annotation, absent: undefined, description }
  const isNull = isNullable(shape)
  const type = `${annotation} | ${isNull ? 'NotGiven' : 'None'}`
  return { name: pythonName(name), annotation: type, absent: isNull ? 'NOT_GIVEN' : 'None', description }
}

function queryAnnotation(shape: Shape, types: PythonTypes): string {
  const annotation = types.annotationOf(shape, 'argument')
  // One value needs no list.
  return shape.kind === 'list' ? `${types.annotationOf(shape.item, 'argument')} | ${annotation}` : annotation
}

function optionsOf({ body, takesIdempotencyKey }: Operation): Argument[] {
  const upload: Argument[] =
    body?.kind === 'bytes'
      ? [
          {
            name: 'content_type',
            annotation: `Literal[${body.contentTypes.map(literal).join(', ')}] | None`,
            absent: 'None',
          },
          { name: 'on_progress', annotation: 'Progress | None', absent: 'None' },
        ]
      : []
  const key: Argument[] = takesIdempotencyKey
    ? [{ name: 'idempotency_key', annotation: 'str | None', absent: 'None' }]
    : []
  return [...upload, ...key, { name: 'timeout', annotation: 'float | None', absent: 'None' }]
}

function callText(operation: Operation, types: PythonTypes, { isAsync, prefix }: Flavour) {
  const { answer, body, method, query, headers, wait, effect, takesIdempotencyKey } = operation
  const lines = [`${literal(method)}`, pathText(operation)]
  const isUpload = body?.kind === 'bytes'
  if (isUpload) lines.push('body')
  if (body?.kind === 'lines') lines.push('items')
  if (answer.kind === 'page') lines.push(types.modelOf(answer.shape).text)
  if (answer.kind === 'json') lines.push(types.modelOf(answer.shape).text)
  if (answer.kind === 'lines') lines.push(types.modelOf(answer.item).text)
  if (query.length > 0) lines.push(`query=${givenText(query)}`)
  const named = headers.filter(({ header }) => header !== 'Prefer')
  if (named.length > 0) {
    lines.push(`headers={${named.map(({ header, name }) => `${literal(header)}: ${pythonName(name)}`).join(', ')}}`)
  }
  if (body?.kind === 'json') lines.push(`body=${body.members === undefined ? 'body' : givenText(body.members)}`)
  if (answer.kind === 'bytes') lines.push(`accept=${literal(answer.contentTypes.join(', '))}`)
  if (wait === 'prefer') lines.push('prefer_wait=wait')
  // A read may be sent again, and so may a change whose repetition the service recognizes.
  if (method !== 'GET' && !takesIdempotencyKey && effect !== 'read') lines.push('is_repeatable=False')
  if (isUpload) lines.push('content_type=content_type', 'on_progress=on_progress')
  if (takesIdempotencyKey) lines.push('idempotency_key=idempotency_key or random_key()')
  lines.push('timeout=timeout')
  const call = (name: string) => `self._${name}(\n${lines.map((line) => `            ${line},\n`).join('')}        )`
  const awaited = isAsync ? 'await ' : ''
  if (answer.kind === 'page') {
    const returned = `${prefix}Pages[${types.annotationOf(answer.item, 'answer')}, ${types.modelOf(answer.shape).text}]`
    return { returned, text: `        return ${call('pages')}\n` }
  }
  if (answer.kind === 'lines') {
    return { returned: `${prefix}Lines[${types.modelOf(answer.item).text}]`, text: `        return ${call('lines')}\n` }
  }
  if (answer.kind === 'bytes')
    return { returned: `${prefix}Download`, text: `        return ${awaited}${call('download')}\n` }
  const { text: returned, isClass } = types.modelOf(answer.shape)
  const name = isUpload ? 'upload' : body?.kind === 'lines' ? 'batch' : isClass ? 'json' : 'json_union'
  if (isClass) return { returned, text: `        return ${awaited}${call(name)}\n` }
  return { returned, text: `        answer: ${returned} = ${awaited}${call(name)}\n        return answer\n` }
}

function pathText({ path, arguments: names }: Operation): string {
  if (names.length === 0) return literal(path)
  return `path(${literal(path.replaceAll(/\{\w+\}/g, '{}'))}, ${names.map(({ name }) => pythonName(name)).join(', ')})`
}

/** The arguments that were given, with their names of the interface. */
function givenText(members: readonly Member[]): string {
  const entries = members.map(({ name }) => `${literal(name)}: ${pythonName(name)}`)
  const nullable = members.filter(({ shape }) => isNullable(shape)).map(({ name }) => `, ${literal(name)}`)
  const one = `given({${entries.join(', ')}}${nullable.join('')})`
  if (one.length < 80) return one
  const lines = entries.map((entry) => `                    ${entry},\n`)
  return `given(\n                {\n${lines.join('')}                }${nullable.join('')}\n            )`
}

const WIDTH = 104

function docOf(text: string, own: readonly Argument[]): string {
  const described = own.flatMap(({ name, description }) => {
    if (description === undefined) return []
    return wrapped(`${name}: ${description.replaceAll('\n', ' ')}`, WIDTH).map(
      (line, index) => `${index === 0 ? '    ' : '        '}${line}`,
    )
  })
  return docstring(
    [text.trimEnd(), ...(described.length === 0 ? [] : ['', 'Args:', ...described])].join('\n'),
    '        ',
  )
}
