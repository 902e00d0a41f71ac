// The words of the command. No key is among them: process lists and configuration files that are shared would show it.

import { parseArgs } from 'node:util'
import { OPERATIONS } from './generated/operations.ts'
import { type Selection, TOOLSETS } from './tools/catalog.ts'

export interface Options extends Selection {
  transport: 'stdio' | 'http'
  host: string
  port: number
}

/** What a person wrote wrongly, in a sentence that repeats no value. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const SCOPES = [...new Set(OPERATIONS.flatMap(({ scope }) => scope ?? []))].toSorted()

export const USAGE = `countersign-mcp: tools of Countersign for models (Model Context Protocol)

  COUNTERSIGN_API_KEY   the key; over HTTP on another address than loopback each request brings its own
  COUNTERSIGN_BASE_URL  the address of the service, such as https://api.example.com

  --toolsets a,b  adds the operations of groups as tools: ${TOOLSETS.join(', ')}
  --tools a,b     adds single tools, such as list_devices
  --read-only     leaves out what changes something
  --scopes a,b    leaves out what needs another scope; without it the scopes of the key count
  --http          serves HTTP on /mcp in place of stdio
  --host, --port  where (127.0.0.1 and 3000 when absent)
`

const STRINGS = ['toolsets', 'tools', 'scopes', 'host', 'port'] as const
const FLAGS = ['read-only', 'http', 'help'] as const

/** @throws {UsageError} */
export function readOptions(words: readonly string[]): Options | 'help' {
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    options: Object.fromEntries([
      ...STRINGS.map((name) => [name, { type: 'string' }] as const),
      ...FLAGS.map((name) => [name, { type: 'boolean' }] as const),
    ]),
  })
  const known: readonly string[] = [...STRINGS, ...FLAGS]
  if (positionals.length > 0 || tokens.some((token) => token.kind === 'option' && !known.includes(token.name))) {
    throw new UsageError(`unknown option; known are ${known.map((name) => `--${name}`).join(', ')}`)
  }
  for (const name of STRINGS) {
    if (values[name] !== undefined && typeof values[name] !== 'string') throw new UsageError(`--${name} needs a value`)
  }
  if (values.help === true) return 'help'
  const isHttp = values.http === true
  if (!isHttp && (values.host !== undefined || values.port !== undefined))
    throw new UsageError('--host and --port go with --http')
  return {
    transport: isHttp ? 'http' : 'stdio',
    host: (values.host as string | undefined) ?? '127.0.0.1',
    port: portOf(values.port as string | undefined),
    toolsets: namesOf('toolset', values.toolsets, TOOLSETS),
    tools: namesOf(
      'tool',
      values.tools,
      OPERATIONS.map(({ tool }) => tool),
    ),
    isReadOnly: values['read-only'] === true,
    scopes: values.scopes === undefined ? undefined : namesOf('scope', values.scopes, SCOPES),
  }
}

function namesOf(kind: string, value: string | boolean | undefined, known: readonly string[]): string[] {
  if (typeof value !== 'string') return []
  const names = value.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return names
  // What looks like a key is not repeated.
  const shown = unknown.map((name) => (/^[a-z_.]{1,40}$/i.test(name) && !name.startsWith('svc_') ? name : '...'))
  throw new UsageError(`unknown ${kind} ${shown.join(', ')}; known are ${known.join(', ')}`)
}

function portOf(value: string | undefined): number {
  if (value === undefined) return 3_000
  const port = Number(value)
  if (!/^\d+$/.test(value) || port > 65_535) throw new UsageError('--port is a number up to 65535')
  return port
}
