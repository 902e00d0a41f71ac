// `npm run ledger -- verify`: checks an export of the decision ledger without the service.

import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { styleText } from 'node:util'
import { createLedgerCheck, type HeldCheckpoint, type LedgerReport } from '#client/verify/ledger.ts'
import type { LedgerOutcome } from '#client/verify/ledger-findings.ts'
import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { readLines } from '#src/platform/http/ndjson.ts'
import { readKeysFile } from './evidence/files.ts'
import { fetchKeys } from './evidence/keys.ts'
import { HELP, type LedgerOptions, readOptions } from './ledger/options.ts'
import { exitCodeOf, usageError } from './sentence.ts'

const EXIT = { holds: 0, fails: 1 }
// An entry has a kilobyte or two, and thousands of rule results some hundreds.
const LINE = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 }
const MAX_CHECKPOINT_BYTES = 64 * 1024

const WORDS: Record<LedgerOutcome, string> = {
  ok: styleText('green', 'ok'.padEnd(9)),
  failed: styleText(['red', 'bold'], 'FAILED'.padEnd(9)),
  unproven: styleText('yellow', 'UNPROVEN'.padEnd(9)),
}

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => {})
process.exitCode = await exitCodeOf('ledger', async () => {
  const options = readOptions(process.argv.slice(2))
  if (options !== undefined) return verify(options)
  process.stdout.write(HELP)
  return EXIT.holds
})

async function verify(options: LedgerOptions): Promise<number> {
  const keys = await keysOf(options)
  const check = createLedgerCheck(keys, await Promise.all(options.checkpoints.map(readCheckpoint)))
  await check.begin()
  for (const file of options.files) {
    const found = await stat(file).catch(() => undefined)
    if (found === undefined || !found.isFile()) throw usageError(`${file}: there is no such file.`)
    const limits = { maxLines: Number.POSITIVE_INFINITY, maxLineBytes: LINE.maxBytes }
    for await (const { line, bytes } of readLines(createReadStream(file), limits)) {
      await check.take(bytes === undefined ? null : parsedOf(bytes), `${basename(file)}:${line}`)
    }
  }
  const report = check.finish()
  const holds = report.findings.every(({ outcome }) => outcome === 'ok')
  if (options.isJson) process.stdout.write(`${JSON.stringify({ object: 'ledger_check', holds, ...jsonOf(report) })}\n`)
  else writeTable(report, holds)
  return holds ? EXIT.holds : EXIT.fails
}

async function keysOf({ keys, url }: LedgerOptions): Promise<KeySet | undefined> {
  if (keys !== undefined) return readKeysFile(keys)
  return url === undefined ? undefined : fetchKeys(url)
}

async function readCheckpoint(file: string): Promise<HeldCheckpoint> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined || !found.isFile()) throw usageError(`${file}: there is no such file.`)
  if (found.size > MAX_CHECKPOINT_BYTES) throw usageError(`${file} has ${found.size} bytes: it is no checkpoint.`)
  const text = (await readFile(file, 'utf8')).trim()
  if (!text.startsWith('{')) return { name: basename(file), jws: text }
  const parsed = parsedOf(Buffer.from(text))
  const jws = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed.jws : undefined
  if (typeof jws !== 'string') throw usageError(`${file}: it has no member jws.`)
  return { name: basename(file), jws }
}

// What is no JSON is no line of an export, and is reported as such.
function parsedOf(bytes: Buffer): Json {
  try {
    return parseJson(bytes, LINE)
  } catch {
    return null
  }
}

function jsonOf({ findings, accountId, environment, ...rest }: LedgerReport) {
  return { account_id: accountId ?? null, env: environment ?? null, ...rest, root: rest.root ?? null, findings }
}

function writeTable(report: LedgerReport, holds: boolean): void {
  const { accountId = '-', environment = '-', from, size, entries, gone, checkpoints, root = '-' } = report
  const lines = [
    `ledger       ${accountId} ${environment}`,
    `leaves       ${from} to ${size}: ${entries} with their entries, ${gone} whose retention has ended`,
    `checkpoints  ${checkpoints}`,
    `root         ${root}`,
    ...report.findings.map(
      ({ outcome, check, place, detail }) => `${WORDS[outcome]} ${check.padEnd(11)} ${place}: ${detail}`,
    ),
    `${WORDS[holds ? 'ok' : 'failed']} ${holds ? 'everything holds' : 'not everything holds'}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
