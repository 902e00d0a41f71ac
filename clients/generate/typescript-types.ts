// The types of the document in TypeScript: camelCase where names are renamed, as they are below what is verbatim. Enumerations of
// answers are open, since a later service may add values; those of requests are closed.

import { camelOf } from '#client/core/case.ts'
import { type Api, type Operation, sdkOf } from './operations.ts'
import { getType, type Member, membersOf, type NamedType, type Shape } from './shapes.ts'

export const HEADER = '// Written by `npm run clients` from the routes of the service: change those.\n'

interface Context {
  isVerbatim: boolean
  isOpen: boolean
}

export interface TypeNames {
  /** The type of a value in TypeScript. */
  textOf(shape: Shape, context: Context): string
  /** All declarations of `types.ts`. */
  declarations(): string
}

const REQUEST: Context = { isVerbatim: false, isOpen: false }

export function createTypeNames({ types, operations }: Api): TypeNames {
  const differing = new Map<string, boolean>()

  function textOf(shape: Shape, context: Context): string {
    if (shape.kind === 'integer') return 'number'
    if (shape.kind === 'text') return 'string'
    if (shape.kind === 'anything') return 'unknown'
    if (shape.kind === 'literal') return quote(shape.value)
    if (shape.kind === 'enumeration') return opened(shape.values.map(quote).join(' | '), context)
    if (shape.kind === 'list') return listOf(textOf(shape.item, context))
    if (shape.kind === 'map') return `Record<string, ${textOf(shape.value, { ...context, isVerbatim: true })}>`
    if (shape.kind === 'verbatim') return textOf(shape.shape, { ...context, isVerbatim: true })
    if (shape.kind === 'union') return [...new Set(shape.options.map((option) => textOf(option, context)))].join(' | ')
    if (shape.kind === 'object') return `{ ${shape.members.map((member) => memberText(member, context)).join('; ')} }`
    if (shape.kind !== 'named') return shape.kind
    const type = getType(shape.name, types)
    const name = nameOf(type, context.isVerbatim)
    return type.shape.kind === 'enumeration' ? opened(name, context) : name
  }

  // Below what is verbatim, a type that is renamed elsewhere has a twin with its own names.
  function nameOf(type: NamedType, isVerbatim: boolean): string {
    const hasTwin = isVerbatim && !type.isVerbatim && type.isRenamedSomewhere && differs(type)
    return hasTwin ? `${type.name}Verbatim` : type.name
  }

  function differs(type: NamedType): boolean {
    const known = differing.get(type.name)
    if (known !== undefined) return known
    differing.set(type.name, false)
    const found = shapeDiffers(type.shape)
    differing.set(type.name, found)
    return found
  }

  function shapeDiffers(shape: Shape): boolean {
    if (shape.kind === 'named') {
      const type = getType(shape.name, types)
      return !type.isVerbatim && differs(type)
    }
    if (shape.kind === 'list') return shapeDiffers(shape.item)
    if (shape.kind === 'union') return shape.options.some(shapeDiffers)
    if (shape.kind !== 'object') return false
    return membersOf(shape, types).some((member) => camelOf(member.name) !== member.name || shapeDiffers(member.shape))
  }

  function memberText({ name, shape, isRequired, description }: Member, context: Context): string {
    const own = context.isVerbatim ? name : camelOf(name)
    const text = textOf(shape, context)
    // A request may carry what a caller does not have.
    const optional = isRequired ? '' : '?'
    const absent = isRequired || context.isOpen || text === 'unknown' ? '' : ' | undefined'
    const key = /^[A-Za-z_$][\w$]*$/.test(own) ? own : quote(own)
    return `${comment(description, '  ')}${key}${optional}: ${text}${absent}`
  }

  function declare(type: NamedType, isVerbatim: boolean): string {
    const { shape, description } = type
    const context = { isVerbatim, isOpen: type.isAnswered }
    const name = nameOf(type, isVerbatim)
    const note = comment(description, '')
    if (shape.kind !== 'object') {
      // Where it is used says whether it is open.
      return `${note}export type ${name} = ${textOf(shape, shape.kind === 'enumeration' ? REQUEST : context)}\n`
    }
    const own = new Set(shape.members.map((member) => member.name))
    const bases = shape.bases.map((base) => {
      const inherited = membersOf({ kind: 'named', name: base }, types).filter((member) => own.has(member.name))
      const baseName = nameOf(getType(base, types), isVerbatim)
      const names = inherited.map((member) => quote(isVerbatim ? member.name : camelOf(member.name)))
      return names.length === 0 ? baseName : `Omit<${baseName}, ${names.join(' | ')}>`
    })
    const extension = bases.length === 0 ? '' : ` extends ${bases.join(', ')}`
    const members = shape.members.map((member) => `  ${memberText(member, context)}\n`)
    return `${note}export interface ${name}${extension} {\n${members.join('')}}\n`
  }

  function declareQuery(operation: Operation): string {
    const members = operation.query.map((member) => {
      const { shape } = member
      const text = textOf(shape, REQUEST)
      // One value needs no array.
      const several = shape.kind === 'list' ? `${textOf(shape.item, REQUEST)} | readonly ${text}` : text
      const optional = member.isRequired ? '' : '?'
      const absent = member.isRequired ? '' : ' | undefined'
      return `  ${comment(member.description, '  ')}${camelOf(member.name)}${optional}: ${several}${absent}\n`
    })
    return `/** The arguments of ${sdkOf(operation)}. */\nexport interface ${queryName(operation)} {\n${members.join('')}}\n`
  }

  function declarations(): string {
    const declared = [...types.values()].flatMap((type) => {
      const hasTwin = nameOf(type, true) !== type.name
      const isOwn = type.isVerbatim || (!type.isRenamedSomewhere && type.isVerbatimSomewhere)
      return [declare(type, isOwn), ...(hasTwin && type.isVerbatimSomewhere ? [declare(type, true)] : [])]
    })
    const queries = operations.filter((operation) => isQueried(operation)).map(declareQuery)
    const open =
      '/** A value that this version knows, or one that a later service added. */\nexport type Open<Known extends string> = Known | (string & {})\n'
    return [HEADER, open, ...declared, ...queries].join('\n')
  }

  return { textOf, declarations }
}

/** An operation with two methods has one query. */
function isQueried({ id, query }: Operation): boolean {
  return query.length > 0 && !id.includes(':')
}

export function queryName({ id }: Pick<Operation, 'id'>): string {
  const name = id.replace(/:.*/, '')
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Query`
}

function opened(text: string, { isOpen }: Context): string {
  return isOpen ? `Open<${text}>` : text
}

function listOf(item: string): string {
  return /[ |{]/.test(item) && !/^(?:Open|Record)<[^<>]*>$/.test(item) ? `(${item})[]` : `${item}[]`
}

export function quote(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

const WIDTH = 116

/** A comment before a declaration, with the indent of what follows. */
export function comment(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return ''
  const lines = text.replaceAll('*/', '*\\/').split('\n').flatMap(wrap)
  if (lines.length === 1 && indent.length + (lines[0]?.length ?? 0) < WIDTH) return `/** ${lines[0]} */\n${indent}`
  return `/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n${indent}`
}

function wrap(paragraph: string): string[] {
  const lines: string[] = []
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
