// Clients of the SDK, in both eras of the protocol.

import {
  Client,
  type ElicitResult,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

/** `legacy` speaks 2025-11-25, `modern` 2026-07-28. */
export type Era = 'legacy' | 'modern'
export const ERAS: readonly Era[] = ['legacy', 'modern']

export interface Connected {
  client: Client
  /** What the host was asked on behalf of the server. */
  asked: string[]
  close(): Promise<void>
}

export interface HostOptions {
  /** How the person answers; a host without it can't ask. */
  answer?: () => ElicitResult
}

/** A server over the wire of stdio, in this process. */
export async function connect(factory: () => McpServer, era: Era, host: HostOptions = {}): Promise<Connected> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const handle = serveStdio(factory, { transport: far })
  const made = makeClient(era, host)
  await made.client.connect(near)
  return {
    ...made,
    async close() {
      await made.client.close()
      await handle.close()
    },
  }
}

export async function connectHttp(
  url: string,
  era: Era,
  { headers = {}, ...host }: HostOptions & { headers?: Record<string, string> } = {},
): Promise<Connected> {
  const made = makeClient(era, host)
  await made.client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return { ...made, close: () => made.client.close() }
}

export function makeClient(era: Era, { answer }: HostOptions): { client: Client; asked: string[] } {
  const asked: string[] = []
  const client = new Client(
    { name: 'test-host', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  )
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', (request) => {
      asked.push(request.params.message)
      return answer()
    })
  }
  return { client, asked }
}
