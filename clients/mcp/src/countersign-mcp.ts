#!/usr/bin/env node
// The command `countersign-mcp`. Standard output belongs to the protocol; what people read is written to standard error.

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { checkBaseUrl, checkKey } from '../../typescript/src/core/options.ts'
import { createCaller } from './calls/caller.ts'
import { readCredential } from './calls/credential.ts'
import { isLoopback, serveHttp } from './http.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { createServer } from './server.ts'
import { createCatalog } from './tools/catalog.ts'

const say = (line: string) => void process.stderr.write(`countersign-mcp: ${line}\n`)

try {
  await main()
} catch (error) {
  say(error instanceof Error ? error.message : 'it could not start')
  process.exitCode = 2
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') {
    process.stderr.write(USAGE)
    return
  }
  const { COUNTERSIGN_API_KEY, COUNTERSIGN_BASE_URL } = process.env
  const baseUrl = checkBaseUrl(COUNTERSIGN_BASE_URL)
  const apiKey = checkKey(COUNTERSIGN_API_KEY, {})
  if (options.transport === 'stdio') await startStdio(options, { baseUrl, apiKey })
  else await startHttp(options, { baseUrl, apiKey })
}

interface Access {
  baseUrl: string
  apiKey: string | undefined
}

async function startStdio(options: Options, { baseUrl, apiKey }: Access): Promise<void> {
  if (apiKey === undefined) throw new TypeError('COUNTERSIGN_API_KEY is missing')
  const caller = createCaller({ baseUrl, apiKey })
  const catalog = createCatalog(await readCredential({ options, caller, say }))
  const handle = serveStdio(() => createServer({ catalog, caller }), { onerror: ({ message }) => say(message) })
  endBySignals(() => handle.close())
}

async function startHttp(options: Options, access: Access): Promise<void> {
  const { host, port } = options
  const { baseUrl } = access
  const apiKey = isLoopback(host) ? access.apiKey : undefined
  const catalog = createCatalog(options)
  const own =
    apiKey === undefined
      ? catalog
      : createCatalog(await readCredential({ options, caller: createCaller({ baseUrl, apiKey }), say }))
  const server = await serveHttp({
    host,
    port,
    apiKey,
    serverFor: (key) =>
      createServer({ catalog: key === apiKey ? own : catalog, caller: createCaller({ baseUrl, apiKey: key }) }),
    onError: ({ message }) => say(message),
  })
  say(`listens on ${server.url}`)
  endBySignals(() => server.close())
}

function endBySignals(close: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().then(() => process.exit(0)))
}
