// Sends an operation with the arguments of a model. Names stay as in the interface; retries, time-outs and errors are those of the
// client library, which shows the key nowhere.

import type { CallOptions, ClientOptions } from '../../../typescript/src/core/options.ts'
import { createTransport, type Request } from '../../../typescript/src/core/transport.ts'
import type { Operation } from '../operation.ts'
import { VERSION } from '../version.ts'

export type Answer = Record<string, unknown>

export interface Caller {
  /** @throws {InvalidArgument} {CountersignError} */
  call(operation: Operation, args: Answer, signal?: AbortSignal): Promise<Answer>
  /** A GET at the start, without arguments. @throws {CountersignError} */
  get(path: string): Promise<Answer>
  /** A file of the service. @throws {InvalidArgument} {CountersignError} */
  download(segments: readonly string[], signal?: AbortSignal): Promise<{ mimeType: string; bytes: Uint8Array }>
}

/** An argument that passes its schema and still makes no request. */
export class InvalidArgument extends Error {
  override readonly name = 'InvalidArgument'
}

/** Rows of a list: more cost a model tokens that a filter saves. */
export const ROWS = 20
// A host gives a call up after a minute, and a model does not wait for the fourth attempt.
const TIMEOUT_MS = 30_000
const MAX_RETRIES = 2
const MAX_WAIT_SECONDS = 25
// A host waits for the start of its servers.
const START_MS = 5_000
const MAX_DOWNLOAD_BYTES = 8_000_000

export function createCaller(options: ClientOptions): Caller {
  const transport = createTransport({ timeoutMs: TIMEOUT_MS, maxRetries: MAX_RETRIES, ...options })

  async function send(request: Request, options: CallOptions): Promise<Answer> {
    const { answer } = await transport.send(request, async (response) => (await response.json()) as Answer, options)
    return answer
  }

  return {
    async call(operation, args, signal) {
      const answer = await send(requestOf(operation, args), { signal })
      return operation.isPage && !isPagedByService(operation) ? pageOf(answer, args.cursor) : answer
    },

    get: (path) =>
      send({ method: 'GET', path, headers: headersOf(), isRepeatable: true }, { timeoutMs: START_MS, maxRetries: 0 }),

    async download(segments, signal) {
      const request = { method: 'GET', path: pathOf(segments), headers: headersOf('*/*'), isRepeatable: true }
      const read = async (response: Response) => {
        const length = Number(response.headers.get('Content-Length') ?? Number.POSITIVE_INFINITY)
        if (length > MAX_DOWNLOAD_BYTES) {
          await response.body?.cancel()
          throw new InvalidArgument('the file is too large for a model: read its thumbnail')
        }
        const mimeType = response.headers.get('Content-Type') ?? 'application/octet-stream'
        return { mimeType, bytes: new Uint8Array(await response.arrayBuffer()) }
      }
      return (await transport.send(request, read, { signal })).answer
    },
  }
}

/** Lists that the service answers at once are cut here. */
export function isPagedByService({ query }: Operation): boolean {
  return query.includes('cursor')
}

function requestOf(operation: Operation, args: Answer): Request {
  const { method, query, headers: named, body, isPage, isWaiting } = operation
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => segmentOf(args[name], name))
  const values: Answer = { ...args }
  if (isPage && query.includes('limit')) values.limit = ROWS
  if (isWaiting && args.wait !== undefined) values.wait = Math.min(Number(args.wait), MAX_WAIT_SECONDS)
  const headers = headersOf()
  for (const [name, header] of Object.entries(named)) {
    if (values[name] !== undefined) headers[header] = headerOf(header, values[name])
  }
  const isRead = method === 'GET'
  if (!isRead && operation.takesIdempotencyKey) headers['Idempotency-Key'] = `mcp_${crypto.randomUUID()}`
  const request: Request = {
    method,
    path: path + queryOf(query.map((name) => [name, values[name]])),
    headers,
    isRepeatable: isRead || operation.takesIdempotencyKey,
  }
  if (body === null) return request
  const contentType = body === 'lines' ? 'application/x-ndjson' : 'application/json'
  const text = bodyOf(operation, args)
  return { ...request, body: { contentType, isRepeatable: true, open: () => text } }
}

function bodyOf({ body, pathArguments, query, headers }: Operation, args: Answer): string {
  if (body === 'whole') return JSON.stringify(args.body)
  if (body === 'lines') return (args.items as unknown[]).map((item) => `${JSON.stringify(item)}\n`).join('')
  const elsewhere = new Set([...pathArguments, ...query, ...Object.keys(headers)])
  return JSON.stringify(Object.fromEntries(Object.entries(args).filter(([name]) => !elsewhere.has(name))))
}

function headersOf(accept = 'application/json'): Record<string, string> {
  return { Accept: accept, 'User-Agent': `countersign-mcp/${VERSION}` }
}

function pathOf(segments: readonly string[]): string {
  return segments.map((segment) => `/${segmentOf(segment, 'id')}`).join('')
}

function segmentOf(value: unknown, name: string): string {
  const text = String(value ?? '')
  // They would change the path.
  if (text === '' || text === '.' || text === '..') throw new InvalidArgument(`${name} is no id`)
  return encodeURIComponent(text)
}

function headerOf(header: string, value: unknown): string {
  if (header === 'Prefer') return `wait=${Number(value)}`
  const text = String(value)
  if (!/^[\t -~]*$/.test(text)) throw new InvalidArgument('a header has printable ASCII characters only')
  return text
}

function queryOf(values: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams()
  for (const [name, value] of values) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one))
  }
  return query.size === 0 ? '' : `?${query}`
}

function pageOf(answer: Answer, cursor: unknown): Answer {
  const rows = Array.isArray(answer.data) ? answer.data : []
  const start = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isSafeInteger(start) || start < 0) throw new InvalidArgument('cursor is not of this list')
  const end = start + ROWS
  const hasMore = end < rows.length
  return { ...answer, data: rows.slice(start, end), has_more: hasMore, next_cursor: hasMore ? String(end) : null }
}
