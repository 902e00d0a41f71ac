// What a host reads by address, and attaches for a model: claims, decisions, the policy, and the media that results link to.

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { CountersignError } from '../../typescript/src/core/errors.ts'
import { type Caller, InvalidArgument } from './calls/caller.ts'
import type { Catalog } from './tools/catalog.ts'

const JSON_TYPE = 'application/json'

/** Objects with an id, and the operations that read them. */
const OBJECTS = [
  { name: 'claim', place: 'claims', operation: 'claims.retrieve', argument: 'claim_id', title: 'A claim' },
  {
    name: 'decision',
    place: 'decisions',
    operation: 'decisions.retrieve',
    argument: 'decision_id',
    title: 'A decision',
  },
] as const

export function addResources(server: McpServer, { catalog, caller }: { catalog: Catalog; caller: Caller }): void {
  for (const { name, place, operation: wanted, argument, title } of OBJECTS) {
    const operation = catalog.find(wanted)
    if (operation === undefined) continue
    const template = new ResourceTemplate(`countersign://${place}/{${argument}}`, { list: undefined })
    server.registerResource(name, template, { title, mimeType: JSON_TYPE }, (uri, values, { mcpReq }) =>
      reading(uri, async () =>
        textOf(uri, await caller.call(operation, { [argument]: values[argument] }, mcpReq.signal)),
      ),
    )
  }
  const policy = catalog.find('policy.retrieve')
  if (policy !== undefined) {
    const about = {
      title: 'The policy',
      description: 'Which actions may run under which conditions.',
      mimeType: JSON_TYPE,
    }
    server.registerResource('policy', 'countersign://policy', about, (uri, { mcpReq }) =>
      reading(uri, async () => textOf(uri, await caller.call(policy, {}, mcpReq.signal))),
    )
  }
  if (catalog.find('media.retrieve') === undefined) return
  for (const [name, title, rest] of [
    ['media', 'A photo or a video', []],
    ['thumbnail', 'A picture of 320 pixels', ['thumbnail']],
  ] as const) {
    const template = new ResourceTemplate(['countersign://media/{media_id}', ...rest].join('/'), { list: undefined })
    server.registerResource(name, template, { title }, (uri, { media_id: id }, { mcpReq }) =>
      reading(uri, async () => {
        const { mimeType, bytes } = await caller.download(['v1', 'media', String(id), ...rest], mcpReq.signal)
        return { contents: [{ uri: uri.href, mimeType, blob: Buffer.from(bytes).toString('base64') }] }
      }),
    )
  }
}

function textOf(uri: URL, answer: object): ReadResourceResult {
  return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(answer) }] }
}

async function reading(uri: URL, read: () => Promise<ReadResourceResult>): Promise<ReadResourceResult> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof InvalidArgument) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
    if (!(error instanceof CountersignError)) throw error
    if (error.status === 404) throw new ResourceNotFoundError(uri.href)
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${error.code}: ${error.detail}`, { code: error.code })
  }
}
