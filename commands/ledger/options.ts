import { parseArgs } from 'node:util'
import { usageError } from '../sentence.ts'

export const HELP = `Checks an export of the decision ledger (GET /v1/decisions/export) offline: that each entry has its hash, that the leaves are
complete and in order, that every checkpoint is signed and is of exactly the leaves before it.

  npm run ledger -- verify FILE [FILE...] [options]

  --keys FILE         the service's public keys, as /.well-known/jwks.json shows them
  --url URL           takes them from the service instead, for example http://127.0.0.1:8080
  --checkpoint FILE   a checkpoint that you kept, as GET /v1/decisions/checkpoints shows it, or its jws alone; may be repeated
  --json              one JSON object instead of the table
  --help              this text

Several files are parts of one export, in their order. A log that was replaced as a whole is found by a checkpoint that you kept
elsewhere. Without --keys or --url signatures are UNPROVEN. Exit code: 0 everything holds, 1 something does not or is unproven,
2 wrong words.
`

export interface LedgerOptions {
  files: string[]
  keys: string | undefined
  url: string | undefined
  checkpoints: string[]
  isJson: boolean
}

/** Undefined: help was requested. @throws a usage error. */
export function readOptions(args: string[]): LedgerOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      keys: { type: 'string' },
      url: { type: 'string' },
      checkpoint: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const [word, ...files] = positionals
  if (word !== 'verify')
    throw usageError(word === undefined ? 'What to do? verify FILE.' : `${word}: only verify is known.`)
  if (files.length === 0) throw usageError('Which export? Name one file, or its parts in their order.')
  if (values.keys !== undefined && values.url !== undefined) throw usageError('Give --keys or --url, not both.')
  if (values.url !== undefined && !/^https?:$/.test(URL.parse(values.url)?.protocol ?? '')) {
    throw usageError(`--url: not an http or https address: ${values.url}`)
  }
  const { keys, url, checkpoint: checkpoints, json: isJson } = values
  return { files, keys, url, checkpoints, isJson }
}
