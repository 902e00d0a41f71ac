// Writes an answer. The hard case is an answer to a request that is still being sent (a refused upload). Closing at
// once would reset the connection and lose the answer, so we answer, discard input for a while, and then close.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { Answer } from './endpoint.ts'
import { watchAccess } from './watch-access.ts'

// A client needs this long to notice an early answer; discarding costs only bandwidth.
const LINGER_MS = 30_000
const LINGER_IDLE_MS = 2_000

/**
 * Sends an answer completely, with the answer's own headers. Never rejects because the client went away.
 * @throws what a streamed body threw; the connection is cut then, so that no client takes a part for the whole.
 */
export async function send(req: IncomingMessage, res: ServerResponse, answer: Answer): Promise<void> {
  if (res.headersSent || res.destroyed) {
    if ('stream' in answer) answer.stream.destroy()
    return
  }
  if ('stream' in answer) return sendStream(req, res, answer)
  const { headers } = answer
  // RFC 9110 8.6 and 15.4.5: a 204 and a 304 have no body and so no length.
  if (answer.cookies !== undefined) res.setHeader('Set-Cookie', answer.cookies)
  if (answer.status !== 304 && answer.status !== 204) headers['Content-Length'] = String(Buffer.byteLength(answer.text))
  // A small body is in the same TCP segment as its head, and is only parsed after this turn of the event loop.
  if (isUnread(req)) await setImmediate()
  if (!isUnread(req)) {
    res.writeHead(answer.status, headers)
    res.end(answer.text)
    if (!req.readableEnded) req.resume()
    return
  }
  headers.Connection = 'close'
  res.writeHead(answer.status, headers)
  if (req.method === 'HEAD') res.flushHeaders()
  else res.write(answer.text)
  await linger(req)
  res.end()
}

async function sendStream(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, stream, recheck }: Extract<Answer, { stream: Readable }>,
): Promise<void> {
  // An error before the first byte can still become a proper problem.
  await firstByte(stream)
  // The client left meanwhile: a pipeline into a closed answer never settles, and its source would stay open.
  if (res.destroyed) {
    stream.destroy()
    return
  }
  if (!req.readableEnded) req.resume()
  res.writeHead(status, headers)
  if (req.method === 'HEAD') {
    stream.destroy()
    res.end()
    return
  }
  const endWatch = watchAccess(recheck, (refusal) => stream.destroy(refusal))
  try {
    await pipeline(stream, res)
  } catch (error) {
    if (stream.errored !== null && stream.errored === error && !isPrematureClose(error)) throw error
  } finally {
    endWatch()
  }
}

function firstByte(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.errored !== null) return reject(stream.errored)
    if (stream.readableEnded || stream.readableLength > 0) return resolve()
    const settle = (error?: Error) => {
      for (const name of ['readable', 'end', 'close']) stream.off(name, onReady)
      stream.off('error', settle)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onReady = () => settle()
    for (const name of ['readable', 'end', 'close']) stream.once(name, onReady)
    stream.once('error', settle)
  })
}

function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

function isUnread(req: IncomingMessage): boolean {
  if (req.complete) return false
  const announced = req.headers['content-length']
  return req.headers['transfer-encoding'] !== undefined || (announced !== undefined && announced !== '0')
}

function linger(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(total)
      clearTimeout(idle)
      req.off('data', touch)
      resolve()
    }
    const total = setTimeout(finish, LINGER_MS)
    const idle = setTimeout(finish, LINGER_IDLE_MS)
    const touch = () => idle.refresh()
    req.on('data', touch)
    req.once('end', finish)
    req.once('close', finish)
    req.resume()
  })
}
