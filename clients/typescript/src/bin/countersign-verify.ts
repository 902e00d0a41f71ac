#!/usr/bin/env node
// `countersign-verify token|webhook|packet|ledger FILE`: checks what the service signed, without it. It prints one JSON object, and ends
// with 0 where everything holds, 1 where something does not, and 2 for words that it does not know.

import type { RecordKey } from '../verify/records.ts'
import type { Json } from '../verify/strict-json.ts'
import type { PublicKey } from '../verify/verify-intent-token.ts'
import {
  verifyEvidencePacket,
  verifyIntentTokenOffline,
  verifyLedgerExport,
  verifyWebhookSignature,
} from '../verify.ts'

interface Process {
  argv: string[]
  env: Record<string, string | undefined>
  exitCode: number
  stdout: { write(text: string): void }
  stderr: { write(text: string): void }
}

interface Files {
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>
  open(path: string): Promise<{ readLines(): AsyncIterable<string> }>
}

// The library knows browsers and no Node: only this command does.
const { process } = globalThis as unknown as { process: Process }
const load = (name: string): Promise<unknown> => import(`node:${name}`)
const files = (await load('fs/promises')) as Files

const HELP = `countersign-verify token FILE    [--environment live|sandbox] [--audience TEXT] [--issuer TEXT] and keys
countersign-verify webhook FILE  --signature TEXT, the header Service-Signature; the file is the raw body
                                 COUNTERSIGN_WEBHOOK_SECRET is the secret, or two with a space during a rotation
countersign-verify packet FILE   and keys; the file is JSON or PDF
countersign-verify ledger FILE... [--checkpoint FILE] and keys; several files are parts of one export

Keys:  --keys FILE   the key set, as /.well-known/jwks.json shows it
       --url URL     takes it from the service

It prints one JSON object. Exit code: 0 everything holds, 1 something does not or is unproven, 2 wrong words.
`

const OPTIONS = ['keys', 'url', 'environment', 'audience', 'issuer', 'signature', 'checkpoint']
const TIMEOUT_MS = 10_000

class UsageError extends Error {}

interface Words {
  files: string[]
  options: Record<string, string | undefined>
}

type KeySet = { keys: (PublicKey & RecordKey)[] }

const COMMANDS: Record<string, (words: Words) => Promise<{ holds: boolean }>> = { token, webhook, packet, ledger }

try {
  const [word, ...rest] = process.argv.slice(2)
  const command = word === undefined || !Object.hasOwn(COMMANDS, word) ? undefined : COMMANDS[word]
  if (rest.includes('--help') || word === '--help') process.stdout.write(HELP)
  else if (command === undefined)
    throw new UsageError('Name one of token, webhook, packet and ledger; --help says more.')
  else {
    const report = await command(readWords(rest))
    process.stdout.write(`${JSON.stringify(report)}\n`)
    process.exitCode = report.holds ? 0 : 1
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`countersign-verify: ${error.message}\n`)
  process.exitCode = 2
}

async function token({ files: [file = ''], options }: Words) {
  const { environment = 'live', audience, issuer } = options
  if (environment !== 'live' && environment !== 'sandbox') throw new UsageError('--environment is live or sandbox.')
  const keys = await readKeys(options)
  if (keys === undefined) throw new UsageError('A token is checked with --keys or --url.')
  const text = new TextDecoder().decode(await read(file)).trim()
  const verdict = await verifyIntentTokenOffline(text, {
    keys,
    environment,
    ...(audience !== undefined && { audience }),
    ...(issuer !== undefined && { issuer }),
  })
  return { holds: verdict.valid, ...verdict }
}

async function webhook({ files: [file = ''], options: { signature } }: Words) {
  const secrets = (process.env.COUNTERSIGN_WEBHOOK_SECRET ?? '').split(' ').filter((secret) => secret !== '')
  if (secrets.length === 0) throw new UsageError('COUNTERSIGN_WEBHOOK_SECRET is missing.')
  if (signature === undefined) throw new UsageError('Give the header Service-Signature as --signature.')
  const verdict = await verifyWebhookSignature(await read(file), { 'service-signature': signature }, secrets)
  return { holds: verdict.valid, ...verdict }
}

async function packet({ files: [file = ''], options }: Words) {
  const {
    findings,
    holds,
    packet: found,
  } = await verifyEvidencePacket(await read(file), { keys: await readKeys(options) })
  return { holds, packet_id: found?.about.packet_id ?? null, findings }
}

async function ledger({ files: parts, options }: Words) {
  const { checkpoint } = options
  const checkpoints = checkpoint === undefined ? [] : [{ name: checkpoint, jws: jwsOf(await readJson(checkpoint)) }]
  return verifyLedgerExport(linesOf(parts), { keys: await readKeys(options), checkpoints })
}

async function* linesOf(parts: readonly string[]): AsyncGenerator<Json> {
  for (const part of parts) {
    const file = await files.open(part).catch((error) => refuse(part, error))
    for await (const line of file.readLines()) if (line.trim() !== '') yield line
  }
}

function jwsOf(value: unknown): string {
  const jws = typeof value === 'object' && value !== null ? (value as { jws?: unknown }).jws : value
  if (typeof jws !== 'string') throw new UsageError('The checkpoint has no member jws.')
  return jws
}

function readWords(words: readonly string[]): Words {
  const found: Words = { files: [], options: {} }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string
    const name = word.slice(2)
    if (!word.startsWith('--')) found.files.push(word)
    else if (!OPTIONS.includes(name)) throw new UsageError(`${word} is unknown.`)
    else {
      at += 1
      if (words[at] === undefined) throw new UsageError(`${word} needs a value.`)
      found.options[name] = words[at]
    }
  }
  if (found.files.length === 0) throw new UsageError('Name a file.')
  return found
}

async function readKeys({ keys, url }: Words['options']): Promise<KeySet | undefined> {
  if (keys !== undefined && url !== undefined) throw new UsageError('Give --keys or --url, not both.')
  const set = keys !== undefined ? await readJson(keys) : url === undefined ? undefined : await fetchKeys(url)
  if (set === undefined) return undefined
  if (!Array.isArray((set as Partial<KeySet> | null)?.keys))
    throw new UsageError('This is not the key set of the service.')
  return set as KeySet
}

async function fetchKeys(url: string): Promise<unknown> {
  try {
    const address = new URL('/.well-known/jwks.json', url)
    const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    return await response.json()
  } catch (error) {
    throw new UsageError(`${url}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

// A checkpoint may be a file with its jws alone.
async function readJson(file: string): Promise<unknown> {
  const text = new TextDecoder().decode(await read(file)).trim()
  try {
    return text.startsWith('{') ? JSON.parse(text) : text
  } catch {
    throw new UsageError(`${file} is no JSON.`)
  }
}

async function read(file: string): Promise<Uint8Array<ArrayBuffer>> {
  return files.readFile(file).catch((error) => refuse(file, error))
}

function refuse(file: string, error: { code?: string }): never {
  throw new UsageError(`${file}: ${error.code ?? 'it can not be read'}`)
}
