import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseKey } from '#src/account/keys/format.ts'
import type { Environment } from '#src/platform/ids.ts'
import { KEY_VARIABLE, readKey } from '../key.ts'
import { usageError } from '../sentence.ts'
import { directoryOf } from './manifest.ts'

export const HELP = `Submits a folder of captures, or those that a manifest names, and writes what was found.

  npm run submit -- DIR [options]
  npm run submit -- [DIR] --manifest FILE [options]

In a folder each photo has its JSON beside it, photo.jpg and photo.json, in folders of any depth: an attest body, or
{"bundle", "signature", "certificate_chain"}. A manifest is a CSV with the column file, and body, external_id, reference,
line, loss_at, loss_lat, loss_lng as there are, or NDJSON with an attest body per line and "media": {"file": "photo.jpg"}.
Its photos are inside of DIR, by default the manifest's folder. After an interruption the same command continues.

  --url URL           address of the service (http://localhost:8080)
  --key-file FILE     a file with an API key that has the scope attest
  --key KEY           the key itself, which other users of the machine can see while this runs
                      without either, the environment's COUNTERSIGN_KEY
  --manifest FILE     .csv, .tsv, .ndjson or .jsonl
  --out DIR           where results.csv and results.ndjson go (./countersign-results)
  --state FILE        what was done so far (submit-state.ndjson in --out)
  --check             only checks the input; sends nothing, needs no key
  --allow-unsigned    submit photos without a bundle too: each is found unattested, no_manifest
  --fail-on STATUS    review or failed: exit with 4 when a capture got that, or worse
  --concurrency N     uploads at a time, 1 to 64 (8)
  --batch N           lines per batch, 1 to 10000 (1000)
  --patience SECONDS  how long the service may be away (300)
  --quiet             neither progress nor summary
  --json              the summary as one JSON object on standard output, all else on standard error
  --help              this text

Exit codes: 0 all evaluated; 1 some lines refused or without a result; 2 wrong usage; 3 stopped before the end, by the
network, the key or this machine; 4 by --fail-on; 130 interrupted. After 3 and 130 the same command continues.
`

const OPTIONS = {
  url: { type: 'string', default: 'http://localhost:8080' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  manifest: { type: 'string' },
  out: { type: 'string', default: 'countersign-results' },
  state: { type: 'string' },
  check: { type: 'boolean', default: false },
  'allow-unsigned': { type: 'boolean', default: false },
  'fail-on': { type: 'string' },
  concurrency: { type: 'string', default: '8' },
  batch: { type: 'string', default: '1000' },
  patience: { type: 'string', default: '300' },
  quiet: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export interface Options {
  input: { directory: string; manifest: string | undefined }
  url: string
  /** Undefined only with `isCheck`. */
  key: string | undefined
  /** The environment in the key's prefix. */
  environment: Environment | undefined
  out: string
  state: string
  isCheck: boolean
  allowsUnsigned: boolean
  failOn: 'review' | 'failed' | undefined
  concurrency: number
  batchLines: number
  patienceMs: number
  isQuiet: boolean
  isJson: boolean
}

/** undefined: help was requested. @throws a usage error. */
export function readOptions(args: string[], environment: NodeJS.ProcessEnv): Options | undefined {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
  if (values.help) return undefined
  const key = readKey({
    option: 'key',
    value: values.key,
    file: values['key-file'],
    fallback: environment[KEY_VARIABLE],
  })
  if (key === undefined && !values.check) {
    throw usageError('Which key? Name a file with --key-file, or set COUNTERSIGN_KEY.')
  }
  const failOn = values['fail-on']
  if (failOn !== undefined && failOn !== 'review' && failOn !== 'failed')
    throw usageError(`--fail-on: review or failed, not ${failOn}`)
  return {
    input: readInput(positionals, values.manifest),
    url: readUrl(values.url),
    key,
    environment: key === undefined ? undefined : parseKey(key)?.environment,
    out: resolve(values.out),
    state: resolve(values.state ?? join(values.out, 'submit-state.ndjson')),
    isCheck: values.check,
    allowsUnsigned: values['allow-unsigned'],
    failOn,
    concurrency: readNumber('--concurrency', values.concurrency, 1, 64),
    batchLines: readNumber('--batch', values.batch, 1, 10_000),
    patienceMs: readNumber('--patience', values.patience, 0, 86_400) * 1_000,
    isQuiet: values.quiet,
    isJson: values.json,
  }
}

function readInput([first, ...others]: string[], manifest: string | undefined): Options['input'] {
  if (others.length > 0) throw usageError(`One folder at a time: ${others.join(', ')} is too much.`)
  if (first === undefined && manifest === undefined) throw usageError('Which folder? Name one, or a --manifest.')
  const isFile = first !== undefined && statOf(first).isFile()
  if (isFile && manifest !== undefined) throw usageError(`${first} is not a folder.`)
  const table = isFile ? first : manifest
  if (table === undefined) return { directory: resolve(first ?? ''), manifest: undefined }
  if (!statOf(table).isFile()) throw usageError(`${table} is not a file.`)
  if (!/\.(?:csv|tsv|ndjson|jsonl)$/i.test(table))
    throw usageError(`${table}: a manifest ends in .csv, .tsv, .ndjson or .jsonl`)
  const directory = isFile || first === undefined ? directoryOf(table) : first
  return { directory: resolve(directory), manifest: resolve(table) }
}

function statOf(path: string) {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) throw usageError(`There is no ${path}.`)
  return facts
}

function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw usageError(`--url: not an http or https address: ${text}`)
  if (url.username !== '' || url.password !== '')
    throw usageError('--url: a key goes into --key-file, not into the address.')
  return text
}

function readNumber(option: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most))
    throw usageError(`${option}: a whole number from ${least} to ${most}, not ${text}`)
  return number
}
