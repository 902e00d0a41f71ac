// The types of the document in Python: models for what the service answers, TypedDicts for objects inside arguments, and the
// closed lists of values. A model takes what a later service adds: unknown members, unknown values of a list, and unknown
// kinds of a union that a member tells apart.

import type { Api, Operation } from './operations.ts'
import { getType, type Member, membersOf, type NamedType, partsOf, type Shape } from './shapes.ts'

export const HEADER = '# Written by `npm run clients` from the routes of the service: change those.\n'

/** Where a type is used. An answer is open, an argument closed. */
export type Use = 'answer' | 'argument'

export interface PythonTypes {
  /** An annotation. Names of other modules have their prefix: `models.Claim`. */
  annotationOf(shape: Shape, use: Use): string
  /** Objects of arguments may also be given as the model that an answer had. */
  argumentOf(shape: Shape): string
  /** `models.Claim` for what an answer is read into. */
  modelOf(shape: Shape): { text: string; isClass: boolean }
  /** Texts by the name of their module. */
  modules(): Record<'models' | 'params' | 'literals', string>
}

interface Tags {
  member: string
  values: readonly string[]
}

// Python's own words; a member of such a name has an underscore behind it.
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
)

/** @param operations Those that the library has. */
export function createPythonTypes({ types }: Api, operations: readonly Operation[]): PythonTypes {
  const answered = new Set<string>()
  const requested = new Set<string>()
  for (const { query, headers, body, answer, arguments: path } of operations) {
    for (const { shape } of [...query, ...headers, ...path]) reach(shape, requested)
    if (body?.kind === 'lines') reach(body.item, requested)
    // The members of a body are arguments by themselves.
    if (body?.kind === 'json' && body.members === undefined) reach(body.shape, requested)
    if (body?.kind === 'json') for (const { shape } of body.members ?? []) reach(shape, requested)
    if (answer.kind === 'json' || answer.kind === 'page') reach(answer.shape, answered)
    if (answer.kind === 'lines') reach(answer.item, answered)
  }
  const reached = [...types.values()].filter(({ name }) => answered.has(name) || requested.has(name))
  const isObject = ({ shape }: NamedType) => shape.kind === 'object'
  const isEnumeration = ({ shape }: NamedType) => shape.kind === 'enumeration'
  // An option of a union that a member tells apart: the value of that member is not open.
  const tagOf = new Map<string, string>()
  for (const { shape } of reached) {
    const tags = shape.kind === 'union' ? tagsOf(shape.options) : undefined
    if (tags === undefined || shape.kind !== 'union') continue
    for (const option of shape.options) if (option.kind === 'named') tagOf.set(option.name, tags.member)
  }

  function reach(shape: Shape, found: Set<string>): void {
    if (shape.kind === 'named') {
      if (found.has(shape.name)) return
      found.add(shape.name)
      reach(getType(shape.name, types).shape, found)
    }
    for (const part of partsOf(shape)) reach(part, found)
  }

  /** The member with another text in each option. */
  function tagsOf(options: readonly Shape[]): Tags | undefined {
    if (!options.every((option) => option.kind === 'named' && isObject(getType(option.name, types)))) return undefined
    const literals = options.map((option) =>
      membersOf(option, types).flatMap(({ name, shape }) =>
        shape.kind === 'literal' && typeof shape.value === 'string' ? [[name, shape.value] as const] : [],
      ),
    )
    for (const [member] of literals[0] ?? []) {
      const values = literals.flatMap((own) => own.flatMap(([name, value]) => (name === member ? [value] : [])))
      if (values.length === options.length && new Set(values).size === values.length) return { member, values }
    }
    return undefined
  }

  function annotate(shape: Shape, place: Place): string {
    const { use } = place
    switch (shape.kind) {
      case 'text':
        return 'str'
      case 'integer':
        return 'int'
      case 'number':
        // A whole number stays one.
        return use === 'answer' ? 'int | float' : 'float'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'anything':
        return 'Any'
      case 'bytes':
        return 'bytes'
      case 'literal':
        return opened(`Literal[${literal(shape.value)}]`, typeof shape.value === 'string', use)
      case 'enumeration':
        return opened(`Literal[${shape.values.map(literal).join(', ')}]`, true, use)
      case 'list':
        return `${use === 'answer' ? 'list' : 'Sequence'}[${annotate(shape.item, place)}]`
      case 'map':
        return `${use === 'answer' ? 'dict' : 'Mapping'}[str, ${annotate(shape.value, place)}]`
      case 'verbatim':
        return annotate(shape.shape, place)
      case 'union':
        return [...new Set(shape.options.map((option) => annotate(option, place)))].join(' | ')
      case 'object':
        return place.inline(shape)
      case 'named':
        return annotateNamed(getType(shape.name, types), place)
    }
  }

  function annotateNamed(type: NamedType, { use, prefix }: Place): string {
    if (isEnumeration(type)) return opened(`${prefix('literals')}${type.name}`, true, use)
    if (type.shape.kind === 'map') return annotate(type.shape, { use, prefix, inline: refuseInline })
    return use === 'answer' ? `${prefix('models')}${type.name}` : `${prefix('params')}${type.name}Param`
  }

  const outside = (use: Use): Place => ({ use, prefix: (module) => `${module}.`, inline: refuseInline })

  function modelsText(): string {
    const own = reached.filter(({ name }) => answered.has(name))
    const classes = inOrder(own.filter(isObject)).flatMap((type) => declareModel(type))
    const unions = own.filter(({ shape }) => shape.kind === 'union').map((type) => declareUnion(type))
    return `${HEADER}"""What the service answers. Members that this version does not know are kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag
from typing_extensions import TypeAlias

from . import literals
from ._model import AnswerModel, tag_of

${[...classes, ...unions].join('\n\n')}`
  }

  // A class stands behind those whose members it has.
  function inOrder(own: readonly NamedType[]): NamedType[] {
    const ordered = new Set<NamedType>()
    const add = (type: NamedType) => {
      if (ordered.has(type)) return
      for (const base of basesOf(type)) add(getType(base, types))
      ordered.add(type)
    }
    for (const type of own) add(type)
    return [...ordered]
  }

  function basesOf({ shape }: NamedType): readonly string[] {
    return shape.kind === 'object' ? shape.bases : []
  }

  function declareModel(type: NamedType): string[] {
    return declareClass(type.name, type.shape as Extract<Shape, { kind: 'object' }>, {
      bases: basesOf(type),
      description: type.description,
      tag: tagOf.get(type.name),
    })
  }

  function declareClass(
    name: string,
    shape: Extract<Shape, { kind: 'object' }>,
    {
      bases = [],
      description,
      tag,
    }: { bases?: readonly string[]; description?: string | undefined; tag?: string | undefined },
  ): string[] {
    const inner: string[] = []
    const inherited = new Set(
      bases.flatMap((base) => membersOf({ kind: 'named', name: base }, types).map((one) => one.name)),
    )
    const overridden = shape.members.filter((member) => inherited.has(member.name))
    if (overridden.length > 0)
      throw new Error(`${name} changes ${overridden.map((one) => one.name).join(', ')} of its base`)
    const members = shape.members.map((member) => {
      const place: Place = {
        use: 'answer',
        prefix: (module) => (module === 'models' ? '' : `${module}.`),
        inline(object) {
          const innerName = innerNameOf(name, member)
          inner.push(...declareClass(innerName, object, {}))
          return innerName
        },
      }
      const isTag = member.name === tag && member.shape.kind === 'literal'
      const annotation = isTag
        ? `Literal[${literal((member.shape as { value: string }).value)}]`
        : annotate(member.shape, place)
      return fieldText(member, annotation)
    })
    const text = docstring(description, '    ')
    const body = `${text}${text !== '' && members.length > 0 ? '\n' : ''}${members.join('')}` || '    pass\n'
    return [...inner, `class ${name}(${bases.join(', ') || 'AnswerModel'}):\n${body}`]
  }

  function fieldText({ name, shape, isRequired, description }: Member, annotation: string): string {
    const own = pythonName(name)
    const type = isRequired || isNullable(shape) ? annotation : `${annotation} | None`
    const options = [...(isRequired ? [] : ['default=None']), ...(own === name ? [] : [`alias=${literal(name)}`])]
    const value = own !== name ? ` = Field(${options.join(', ')})` : isRequired ? '' : ' = None'
    return `    ${own}: ${type}${value}\n${docstring(description, '    ')}`
  }

  function declareUnion(type: NamedType): string {
    const { options } = type.shape as Extract<Shape, { kind: 'union' }>
    const tags = tagsOf(options)
    const place: Place = {
      use: 'answer',
      prefix: (module) => (module === 'models' ? '' : `${module}.`),
      inline: refuseInline,
    }
    if (tags === undefined)
      return `${type.name}: TypeAlias = ${annotate(type.shape, place)}\n${docstring(type.description, '')}`
    const unknown = `Unknown${type.name}`
    if (types.has(unknown)) throw new Error(`${unknown} is a type of the document already`)
    const fallback = `class ${unknown}(AnswerModel):\n    """One that a later service added."""\n\n    ${tags.member}: str\n`
    const tagged = [
      ...options.map((option, index) => [annotate(option, place), tags.values[index] ?? ''] as const),
      [unknown, ''] as const,
    ].map(([name, tag]) => `Annotated[${name}, Tag(${literal(tag)})]`)
    const known = [tags.member, ...tags.values].map((value) => `        ${literal(value)},\n`)
    return `${fallback}\n\n${type.name}: TypeAlias = Annotated[
    ${tagged.join('\n    | ')},
    Discriminator(tag_of(\n${known.join('')}    )),
]
${docstring(type.description, '')}`
  }

  function paramsText(): string {
    const own = reached.filter(({ name }) => requested.has(name))
    const classes = own
      .filter(isObject)
      .flatMap(({ name, shape, description }) => declareParam(name, membersOf(shape, types), description))
    const unions = own
      .filter(({ shape }) => shape.kind === 'union' || shape.kind === 'named')
      .map(({ name, shape }) => `${name}Param: TypeAlias = ${quoted(annotate(shape, paramPlace(refuseInline)))}\n`)
    return `${HEADER}"""Objects inside the arguments of methods."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, Union

from typing_extensions import NotRequired, TypeAlias, TypedDict

from . import literals

${[...classes, ...unions].join('\n\n')}`
  }

  const paramPlace = (inline: Place['inline']): Place => ({
    use: 'argument',
    prefix: (module) => (module === 'params' ? '' : `${module}.`),
    inline,
  })

  function declareParam(name: string, members: readonly Member[], description: string | undefined): string[] {
    const inner: string[] = []
    const fields = members.map((member) => {
      const place = paramPlace((object) => {
        const innerName = innerNameOf(name, member)
        inner.push(...declareParam(innerName, object.members, undefined))
        return `${innerName}Param`
      })
      const annotation = annotate(member.shape, place)
      return { ...member, type: member.isRequired ? annotation : `NotRequired[${annotation}]` }
    })
    // A name that is a word of Python can't stand in a class.
    if (fields.some((field) => pythonName(field.name) !== field.name)) {
      const lines = fields.map((field) => `        ${literal(field.name)}: ${quoted(field.type)},\n`)
      const text = `${name}Param = TypedDict(\n    "${name}Param",\n    {\n${lines.join('')}    },\n)\n`
      return [...inner, `${text}${docstring(description, '')}`]
    }
    const lines = fields.map((field) => `    ${field.name}: ${field.type}\n${docstring(field.description, '    ')}`)
    const text = docstring(description, '    ')
    const body = `${text}${text !== '' && lines.length > 0 ? '\n' : ''}${lines.join('')}` || '    pass\n'
    return [...inner, `class ${name}Param(TypedDict):\n${body}`]
  }

  function innerNameOf(name: string, member: Member): string {
    const innerName = `${name}${pascal(member.name)}`
    if (types.has(innerName)) throw new Error(`${innerName} is a type of the document already`)
    return innerName
  }

  function literalsText(): string {
    const lists = reached.filter(isEnumeration).map(({ name, shape, description }) => {
      const values = (shape as Extract<Shape, { kind: 'enumeration' }>).values
      return `${name}: TypeAlias = Literal[\n${values.map((value) => `    ${literal(value)},\n`).join('')}]\n${docstring(description, '')}`
    })
    return `${HEADER}"""Closed lists of values. Answers may have further ones, which a later service added."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypeAlias

${lists.join('\n')}`
  }

  return {
    annotationOf: (shape, use) => annotate(shape, outside(use)),
    argumentOf(shape) {
      const annotation = annotate(shape, outside('argument'))
      const name = shape.kind === 'named' ? shape.name : ''
      const isModel = answered.has(name) && isObject(getType(name, types))
      return isModel ? `${annotation} | models.${name}` : annotation
    },
    modelOf(shape) {
      if (shape.kind !== 'named') throw new Error('an answer needs a name')
      const text = annotate(shape, outside('answer'))
      return { text, isClass: isObject(getType(shape.name, types)) }
    },
    modules: () => ({ models: modelsText(), params: paramsText(), literals: literalsText() }),
  }
}

interface Place {
  use: Use
  /** What stands before a name of a module. */
  prefix(module: 'models' | 'params' | 'literals'): string
  /** The name of an object without one. */
  inline(shape: Extract<Shape, { kind: 'object' }>): string
}

function refuseInline(): never {
  throw new Error('an object without a name stands outside of every type')
}

/** Whether null is one of its values. */
export function isNullable(shape: Shape): boolean {
  return shape.kind === 'null' || (shape.kind === 'union' && shape.options.some(isNullable))
}

function opened(text: string, isText: boolean, use: Use): string {
  return use === 'answer' ? `${text} | ${isText ? 'str' : 'int'}` : text
}

/** The name of an argument, member or method. */
export function pythonName(name: string): string {
  return KEYWORDS.has(name) ? `${name}_` : name
}

/** `rotateSecret` is rotate_secret. */
export function snakeName(name: string): string {
  return pythonName(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_whole, letter: string) => letter.toUpperCase())
}

export function literal(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return JSON.stringify(value)
}

/** What is evaluated when the module is loaded, where names may come later and 3.10 knows no `|` of texts. */
function quoted(annotation: string): string {
  return JSON.stringify(annotation).replaceAll('\\"', "'")
}

const WIDTH = 116

export function docstring(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return ''
  const lines = wrapped(text, WIDTH - indent.length)
  const escaped = lines.map((line) => line.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"'))
  if (escaped.length === 1) {
    const [line = ''] = escaped
    return `${indent}"""${line.endsWith('"') ? `${line} ` : line}"""\n`
  }
  return `${indent}"""${escaped.map((line, index) => (index === 0 || line === '' ? line : `${indent}${line}`)).join('\n')}\n${indent}"""\n`
}

export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    for (const word of paragraph.split(' ')) {
      const last = lines.at(-1)
      if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`
      else lines.push(word)
    }
    return lines
  })
}
