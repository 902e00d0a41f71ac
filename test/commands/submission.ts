// Runs the command as a user does, against a real system, through a proxy that can fail on purpose.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'

const COMMAND = fileURLToPath(new URL('../../commands/submit.ts', import.meta.url))

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Started {
  child: ChildProcess
  ended: Promise<Ended>
}

export function start(args: readonly string[], key: string | undefined): Started {
  const { COUNTERSIGN_KEY: _, ...environment } = process.env
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: key === undefined ? environment : { ...environment, COUNTERSIGN_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data) => {
    stdout += data
  })
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const ended = new Promise<Ended>((done) => {
    child.on('close', (code, signal) => done({ code, signal, stdout, stderr }))
  })
  return { child, ended }
}

/** One row of results.csv, by column. */
export type ResultRow = Record<string, string>

export function readRows(out: string): ResultRow[] {
  return parse(readFileSync(join(out, 'results.csv')), { bom: true, columns: true })
}

export function readRecords(out: string): { file: string; status: string; result?: { attestation_id: string } }[] {
  return readFileSync(join(out, 'results.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export function makeFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'submit-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The fate of a request: passed on, cut before or after the service has done its work, or answered by the proxy. */
export type Fate = 'pass' | 'cut' | 'cut_answer' | { status: number; headers?: Record<string, string>; body?: string }

export interface Gate {
  url: string
  /** Every request so far: method and path without its query. */
  seen: string[]
  /** The status of each answer of the service. */
  statuses: number[]
  close(): Promise<void>
}

/** @param decide Called for each request before it is passed on; `count` is that of this method and path, from 1. */
export async function startGate(
  target: string,
  decide: (call: string, count: number, incoming: IncomingMessage) => Fate,
): Promise<Gate> {
  const seen: string[] = []
  const statuses: number[] = []
  const server = createServer((incoming, outgoing) => {
    const call = `${incoming.method} ${incoming.url?.replace(/\?.*/, '').replaceAll(/bat_[a-z0-9_]+/g, ':id')}`
    seen.push(call)
    const fate = decide(call, seen.filter((one) => one === call).length, incoming)
    if (fate === 'cut') incoming.socket.destroy()
    else if (typeof fate === 'object') answer(incoming, outgoing, fate)
    else forward(target, incoming, outgoing, { isCut: fate === 'cut_answer', statuses })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    statuses,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse, fate: Exclude<Fate, string>): void {
  incoming.resume()
  incoming.on('end', () => outgoing.writeHead(fate.status, fate.headers).end(fate.body))
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { isCut, statuses }: { isCut: boolean; statuses: number[] },
): void {
  const { host: _, ...headers } = incoming.headers
  const passed = request(new URL(incoming.url ?? '/', target), { method: incoming.method, headers }, (response) => {
    statuses.push(response.statusCode ?? 0)
    if (isCut) {
      response.resume()
      response.on('end', () => incoming.socket.destroy())
      return
    }
    outgoing.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(outgoing)
  })
  passed.on('error', () => incoming.socket.destroy())
  incoming.pipe(passed)
}
