// What the generated methods call: arguments to a request, answers to values with the names of this library.

import { Call } from './call.ts'
import { camelOf, snakeOf } from './case.ts'
import { UnexpectedResponseError } from './errors.ts'
import { fromJson, toJson, VERBATIM } from './names.ts'
import { type CallOptions, isBrowser, type UploadOptions } from './options.ts'
import { Lines, type PageOf, Pages } from './pages.ts'
import type { Body, Request, Transport } from './transport.ts'
import { bodyOfBytes, bodyOfLines, type Items, type Uploadable } from './uploads.ts'
import { VERSION } from './version.ts'

/** What a method says of its operation. */
export interface Spec {
  /** The object of arguments. */
  args?: object | undefined
  /** Arguments that are headers: their names here and there. */
  headers?: Record<string, string>
  /** The shape of a JSON body. Without it the arguments are the query. */
  body?: string
  /** The shape of the answer, of a line, or of an item of a list. */
  answer?: string
  accept?: string
  /** The argument `wait` is the header Prefer; else it is of the query. */
  wait?: 'prefer'
  /** A change that takes no Idempotency-Key. */
  isOnce?: true
}

const JSON_TYPE = 'application/json'
const SECOND_MS = 1_000
// How long the service waits when nothing is said.
const DEFAULT_WAIT_SECONDS = 10

export class Group {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  protected callJson<Answer>(method: string, path: string, spec: Spec, options: CallOptions = {}): Call<Answer> {
    const request = this.#request(method, path, spec, options)
    return new Call(this.#transport.send(request, (response) => readJson<Answer>(response, spec.answer), options))
  }

  protected callPages<Item, Page extends PageOf<Item>>(
    path: string,
    spec: Spec,
    options: CallOptions = {},
  ): Pages<Item, Page> {
    return new Pages<Item, Page>(async (cursor) => {
      const args = cursor === undefined ? spec.args : { ...spec.args, cursor }
      const request = this.#request('GET', path, { ...spec, args }, options)
      const { answer } = await this.#transport.send(
        request,
        (response) => readPage<Page>(response, spec.answer),
        options,
      )
      return answer
    })
  }

  protected callLines<Item>(path: string, spec: Spec, options: CallOptions = {}): Lines<Item> {
    const accept = 'application/x-ndjson'
    return new Lines<Item>({
      open: () => this.callBytes(path, { ...spec, accept }, options),
      parse: (line) => fromJson(parse(line, 200), spec.answer ?? VERBATIM) as Item,
      failed: (cause) => this.#transport.connectionError(cause),
    })
  }

  /** The answer itself: its body is read by the caller. */
  protected callBytes(path: string, spec: Spec, options: CallOptions = {}): Call<Response> {
    const request = { ...this.#request('GET', path, spec, options), isStreamed: true }
    return new Call(this.#transport.send(request, (response) => response, options))
  }

  protected callUpload<Answer>(
    [method, path]: [method: string, path: string],
    source: Uploadable,
    { args, ...spec }: Spec,
    options: UploadOptions = {},
  ): Call<Answer> {
    const { contentType, ...others } = (args ?? {}) as { contentType?: string }
    const { onProgress } = options
    const send = async () => {
      const body = await bodyOfBytes(source, contentType, onProgress)
      const request = { ...this.#request(method, path, { ...spec, args: others }, options), body, onProgress }
      return this.#transport.send(request, (response) => readJson<Answer>(response, spec.answer), options)
    }
    return new Call(send())
  }

  protected callBatch<Answer>(
    path: string,
    items: Items<unknown>,
    { body: shape = VERBATIM, ...spec }: Spec,
    options: CallOptions = {},
  ): Call<Answer> {
    const request = { ...this.#request('POST', path, spec, options), body: bodyOfLines(items, shape) }
    return new Call(this.#transport.send(request, (response) => readJson<Answer>(response, spec.answer), options))
  }

  #request(method: string, path: string, spec: Spec, options: CallOptions): Request {
    const { headers, rest } = this.#split(spec, options)
    if (!isBrowser()) headers['User-Agent'] = `countersign-typescript/${VERSION}`
    headers.Accept = spec.accept ?? JSON_TYPE
    const isRead = method === 'GET'
    if (!isRead && spec.isOnce !== true) headers['Idempotency-Key'] = options.idempotencyKey ?? randomKey()
    const request: Request = { method, path, headers, isRepeatable: isRead || spec.isOnce !== true }
    if (spec.body === undefined) return { ...request, path: path + queryOf(rest) }
    return { ...request, body: jsonBody(toJson(rest, spec.body)) }
  }

  /** Headers apart from the other arguments. */
  #split({ args = {}, headers: named = {}, wait, body }: Spec, options: CallOptions) {
    const headers: Record<string, string> = {}
    let rest = args as Record<string, unknown>
    const take = (name: string) => {
      const { [name]: value, ...others } = rest
      rest = others
      return value
    }
    for (const [name, header] of Object.entries(named)) {
      const value = take(name)
      if (value !== undefined) headers[header] = String(value)
    }
    // The service answers before the attempt is over.
    const longest = Math.max(0, Math.floor(this.#transport.timeoutMsOf(options) / SECOND_MS) - 1)
    if (wait === 'prefer') {
      const wanted = take('wait')
      if (wanted !== undefined || longest < DEFAULT_WAIT_SECONDS) {
        headers.Prefer = `wait=${Math.min(Number(wanted ?? DEFAULT_WAIT_SECONDS), longest)}`
      }
    } else if (body === undefined && typeof rest.wait === 'number')
      rest = { ...rest, wait: Math.min(rest.wait, longest) }
    return { headers, rest }
  }
}

/** A path with its arguments escaped. @throws {TypeError} for one that is empty or would change the path. */
export function path(texts: TemplateStringsArray, ...values: (string | number)[]): string {
  return texts.reduce((whole, text, index) => {
    const value = values[index - 1]
    if (value === undefined || value === '' || value === '.' || value === '..') {
      throw new TypeError(`argument ${index} of the path is missing`)
    }
    return `${whole}${encodeURIComponent(value)}${text}`
  })
}

function queryOf(args: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(args)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null)
        query.append(snakeOf(name), one instanceof Date ? one.toISOString() : String(one))
    }
  }
  return query.size === 0 ? '' : `?${query}`
}

function jsonBody(value: unknown): Body {
  const text = JSON.stringify(value)
  return { contentType: JSON_TYPE, isRepeatable: true, open: () => text }
}

async function readJson<Answer>(response: Response, shape = VERBATIM): Promise<Answer> {
  return fromJson(parse(await response.text(), response.status), shape) as Answer
}

async function readPage<Page>(response: Response, shape = VERBATIM): Promise<Page> {
  const list = parse(await response.text(), response.status)
  const page = Object.fromEntries(Object.entries(list as object).map(([name, value]) => [camelOf(name), value]))
  if (!Array.isArray(page.data)) throw unexpected(response.status, 'it has no data')
  return { ...page, data: fromJson(page.data, shape) } as Page
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unexpected(status, 'the body is no JSON')
  }
}

function unexpected(status: number, detail: string): UnexpectedResponseError {
  return new UnexpectedResponseError(status, { code: 'unexpected_response', detail })
}

// Pages without TLS have no crypto.randomUUID.
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `auto_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
