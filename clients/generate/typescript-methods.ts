// The methods in TypeScript: a class for each group, whose methods say what to send and what comes back.

import { camelOf } from '#client/core/case.ts'
import type { Api, Operation } from './operations.ts'
import type { Shape } from './shapes.ts'
import { comment, HEADER, queryName, quote, type TypeNames } from './typescript-types.ts'

interface GroupNode {
  className: string
  operations: Operation[]
  groups: Map<string, GroupNode>
}

export function methodsText(api: Api, names: TypeNames, entryOf: (shape: Shape) => string): string {
  const root: GroupNode = { className: 'Groups', operations: [], groups: new Map() }
  for (const operation of api.operations) nodeOf(root, operation.group).operations.push(operation)
  const types = new Set<string>()
  const writer = createMethodWriter(names, entryOf, types)
  const classes = [...root.groups.values()].flatMap((node) => classesOf(node, writer))
  const imports = [
    "import type { Call } from '../core/call.ts'",
    "import { Group, path } from '../core/group.ts'",
    "import type { CallOptions, UploadOptions } from '../core/options.ts'",
    "import type { Lines, Pages } from '../core/pages.ts'",
    "import type { Transport } from '../core/transport.ts'",
    "import type { Items, Uploadable } from '../core/uploads.ts'",
    `import type {\n${[...types]
      .toSorted()
      .map((name) => `  ${name},\n`)
      .join('')}} from './types.ts'\n`,
  ]
  return [HEADER, imports.join('\n'), ...classes, rootText(root, api)].join('\n')
}

function nodeOf(root: GroupNode, group: readonly string[]): GroupNode {
  let node = root
  for (const [index, name] of group.entries()) {
    const className = `${group
      .slice(0, index + 1)
      .map(capital)
      .join('')}Methods`
    const next = node.groups.get(name) ?? { className, operations: [], groups: new Map() }
    node.groups.set(name, next)
    node = next
  }
  return node
}

function classesOf(node: GroupNode, writer: (operation: Operation) => string): string[] {
  const inner = [...node.groups.values()].flatMap((group) => classesOf(group, writer))
  const methods = node.operations.map(writer)
  return [
    ...inner,
    `export class ${node.className} extends Group {\n${groupsText(node, new Map())}${methods.join('\n')}}\n`,
  ]
}

function rootText(root: GroupNode, { groups }: Api): string {
  return `/** All groups of methods. */\nexport class Groups {\n${groupsText(root, groups)}}\n`
}

// Only the root has no parent to be told of the transport.
function groupsText(node: GroupNode, notes: ReadonlyMap<string, string>): string {
  if (node.groups.size === 0) return ''
  const members = [...node.groups].map(
    ([name, { className }]) => `  ${comment(notes.get(name), '  ')}readonly ${name}: ${className}\n`,
  )
  const made = [...node.groups].map(([name, { className }]) => `    this.${name} = new ${className}(transport)\n`)
  const parent = node.className === 'Groups' ? '' : '    super(transport)\n'
  return `${members.join('')}\n  constructor(transport: Transport) {\n${parent}${made.join('')}  }\n\n`
}

function createMethodWriter({ textOf }: TypeNames, entryOf: (shape: Shape) => string, imported: Set<string>) {
  const typed = (shape: Shape, isOpen: boolean): string => {
    const text = textOf(shape, { isVerbatim: false, isOpen })
    for (const [name] of text.matchAll(/\b[A-Z]\w*\b/g)) if (name !== 'Record') imported.add(name)
    return text
  }

  function argumentsOf(operation: Operation): { text: string; isRequired: boolean } | undefined {
    const { query, headers, body } = operation
    const parts: string[] = []
    let isRequired = headers.some((header) => header.isRequired) || query.some((member) => member.isRequired)
    if (query.length > 0) {
      imported.add(queryName(operation))
      parts.push(queryName(operation))
    }
    if (body?.kind === 'json') {
      parts.push(typed(body.shape, false))
      isRequired ||= body.isRequired && (body.members === undefined || body.members.some((member) => member.isRequired))
    }
    const named = headers.map(({ name, shape, isRequired, description }) => {
      return `${comment(description, '      ')}${camelOf(name)}${isRequired ? '' : '?'}: ${typed(shape, false)}${isRequired ? '' : ' | undefined'}`
    })
    if (body?.kind === 'bytes') named.unshift(`contentType?: ${body.contentTypes.map(quote).join(' | ')} | undefined`)
    if (named.length > 0) parts.push(`{\n${named.map((one) => `      ${one}\n`).join('')}    }`)
    if (parts.length === 0) return undefined
    return {
      text: parts
        .map((part) => (parts.length > 1 && / \| /.test(part) && !part.startsWith('{') ? `(${part})` : part))
        .join(' & '),
      isRequired,
    }
  }

  return (operation: Operation): string => {
    const { body, summary, description } = operation
    const args = argumentsOf(operation)
    const parameters = operation.arguments.map(({ name, shape }) => `${camelOf(name)}: ${typed(shape, false)}`)
    if (body?.kind === 'bytes') parameters.push('body: Uploadable')
    if (body?.kind === 'lines') parameters.push(`items: Items<${typed(body.item, false)}>`)
    if (args !== undefined) parameters.push(`args${args.isRequired ? '' : '?'}: ${args.text}`)
    parameters.push(`options?: ${body?.kind === 'bytes' ? 'UploadOptions' : 'CallOptions'}`)
    const { type, call } = sendingOf(operation)
    const spec = specOf(operation, args !== undefined)
    const note = comment(`${summary}.\n\n${description}`.replace('..', '.'), '  ')
    const returned = `return this.${call}${spec}, options)`
    return `  ${note}${operation.name}(${parameters.join(', ')}): ${type} {\n    ${returned}\n  }\n`
  }

  function sendingOf(operation: Operation): { type: string; call: string } {
    const { answer, body, method } = operation
    const place = operation.arguments.length === 0 ? quote(operation.path) : `path\`${pathText(operation)}\``
    if (answer.kind === 'page') {
      const types = `${typed(answer.item, true)}, ${typed(answer.shape, true)}`
      return { type: `Pages<${types}>`, call: `callPages<${types}>(${place}, ` }
    }
    if (answer.kind === 'lines') {
      const type = typed(answer.item, true)
      return { type: `Lines<${type}>`, call: `callLines<${type}>(${place}, ` }
    }
    if (answer.kind === 'bytes') return { type: 'Call<Response>', call: `callBytes(${place}, ` }
    const type = typed(answer.shape, true)
    if (body?.kind === 'bytes')
      return { type: `Call<${type}>`, call: `callUpload<${type}>([${quote(method)}, ${place}], body, ` }
    if (body?.kind === 'lines') return { type: `Call<${type}>`, call: `callBatch<${type}>(${place}, items, ` }
    return { type: `Call<${type}>`, call: `callJson<${type}>(${quote(method)}, ${place}, ` }
  }

  function specOf(operation: Operation, hasArgs: boolean): string {
    const { body, answer, headers, wait, method, takesIdempotencyKey } = operation
    const parts: string[] = hasArgs ? ['args'] : []
    const named = headers.filter(({ header }) => header !== 'Prefer')
    if (named.length > 0) {
      parts.push(`headers: { ${named.map(({ name, header }) => `${camelOf(name)}: ${quote(header)}`).join(', ')} }`)
    }
    if (body?.kind === 'json') parts.push(`body: ${quote(entryOf(body.shape))}`)
    if (body?.kind === 'lines') parts.push(`body: ${quote(entryOf(body.item))}`)
    if (answer.kind === 'json') parts.push(`answer: ${quote(entryOf(answer.shape))}`)
    if (answer.kind === 'page' || answer.kind === 'lines') parts.push(`answer: ${quote(entryOf(answer.item))}`)
    if (answer.kind === 'bytes') parts.push(`accept: ${quote(answer.contentTypes.join(', '))}`)
    if (wait === 'prefer') parts.push("wait: 'prefer'")
    if (method !== 'GET' && !takesIdempotencyKey) parts.push('isOnce: true')
    return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
  }
}

function pathText({ path }: Operation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => `\${${camelOf(name)}}`)
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
