// Requests as bytes, and every answer as it came. No HTTP client in between: a client would repair broken requests.

import { connect } from 'node:net'
import { FAILURES } from '#src/failure.ts'
import { hold } from './parser.ts'

export interface Head {
  method?: string
  path: string
  headers?: readonly (readonly [name: string, value: string])[]
}

/** One request as bytes (latin1). Length and connection are set unless the headers have them. */
export function requestBytes({ method = 'GET', path, headers = [] }: Head, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const has = (name: string) => headers.some(([one]) => one.toLowerCase() === name)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...(has('host') ? [] : ['Host: hostile.test']),
    ...(has('connection') ? [] : ['Connection: close']),
    ...(has('content-length') || has('transfer-encoding') || body.length === 0
      ? []
      : [`Content-Length: ${body.length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

const GIVE_UP_MS = 10_000

/**
 * Every byte until the connection ended. After `silenceMs` without a byte we end our side, so that a request
 * that waits for more of itself ends too.
 */
export function exchange(
  port: number,
  bytes: Uint8Array,
  { silenceMs = 4_000, giveUpMs = GIVE_UP_MS }: { silenceMs?: number; giveUpMs?: number } = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    // Half-open: after the end of what we send we still receive.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let silence: NodeJS.Timeout | undefined
    const total = setTimeout(() => finish(new Error(`no end of the connection after ${giveUpMs} ms`)), giveUpMs)
    const listen = () => {
      clearTimeout(silence)
      silence = setTimeout(() => socket.end(), silenceMs)
    }
    function finish(error?: Error): void {
      clearTimeout(total)
      clearTimeout(silence)
      socket.destroy()
      if (error === undefined) resolve(Buffer.concat(chunks))
      else reject(error)
    }
    socket.on('connect', () => {
      socket.write(bytes)
      listen()
    })
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      listen()
    })
    // A reset is an end as well: the server closed the connection.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      finish(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : error)
    })
    socket.on('end', () => finish())
    socket.on('close', () => finish())
  })
}

export interface Told {
  status: number
  headers: ReadonlyMap<string, string>
  body: Buffer
}

const STATUS = /^HTTP\/1\.1 (\d{3}) /

/** The first final answer; undefined when there is none. */
export function readAnswer(bytes: Buffer): Told | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(STATUS.exec(first)?.[1] ?? 0)
  if (status === 100) return readAnswer(bytes.subarray(end + 4))
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  return { status, headers, body: bytes.subarray(end + 4) }
}

/**
 * The rules for every answer of the public port: below 500, and above 399 a problem with a known code.
 * @returns the code, `accepted`, or `cut` when the connection was ended without an answer.
 */
export function judgeAnswer(bytes: Buffer): string {
  // Each of several answers on one connection is checked.
  for (const [, status] of bytes.toString('latin1').matchAll(/(?:^|\n)HTTP\/1\.1 (\d{3}) /g)) {
    hold(Number(status) < 500, `no answer is ${status}: ${bytes.toString('latin1', 0, 1_500)}`)
  }
  const answer = readAnswer(bytes)
  if (answer === undefined) return 'cut'
  const { status, headers, body } = answer
  if (status < 400) return 'accepted'
  const shown = `${status} ${[...headers].join('; ')} ${body.toString('utf8', 0, 300)}`
  hold(headers.get('content-type') === 'application/problem+json', `a refusal is a problem: ${shown}`)
  // A HEAD has no body; several answers have one up to the next answer.
  const text = body.subarray(0, Number(headers.get('content-length') ?? body.length)).toString()
  if (text === '') return 'without a body'
  const problem: { code?: string; status?: number; title?: string; request_id?: string } = JSON.parse(text)
  const known = Object.entries(FAILURES).find(([code]) => code === problem.code)?.[1]
  hold(known?.status === status && problem.status === status, `its code is known and fits: ${shown}`)
  return problem.code ?? ''
}
