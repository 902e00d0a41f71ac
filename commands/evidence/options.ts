import { parseArgs } from 'node:util'
import { usageError } from '../sentence.ts'

export const HELP = `Checks an evidence packet (JSON or PDF) offline: its signature, each part of it, each signed result, the points, the
signatures and certificates of the devices, the chains of videos, and the pages of a PDF.

  npm run evidence -- verify FILE [options]

  --keys FILE   the service's public keys, as /.well-known/jwks.json shows them
  --url URL     takes them from the service instead, for example http://127.0.0.1:8080
  --media DIR   folder with the original photos and videos: their fingerprints are compared, those of a video's chunks too
  --long        show every check, not only those that failed
  --json        one JSON object instead of the table
  --help        this text

Without --keys or --url the packet's own keys are used. A forger can put keys into a packet, so it is then
UNPROVEN at best. Exit code: 0 everything holds, 1 something does not or is unproven, 2 wrong words.
`

export interface Options {
  file: string
  keys: string | undefined
  url: string | undefined
  media: string | undefined
  isLong: boolean
  isJson: boolean
}

/** Undefined: help was requested. @throws a usage error. */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      keys: { type: 'string' },
      url: { type: 'string' },
      media: { type: 'string' },
      long: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const [word, file, ...others] = positionals
  if (word !== 'verify')
    throw usageError(word === undefined ? 'What to do? verify FILE.' : `${word}: only verify is known.`)
  if (file === undefined) throw usageError('Which packet? Name one file.')
  if (others.length > 0) throw usageError(`One packet at a time: ${others.join(', ')} is too much.`)
  if (values.keys !== undefined && values.url !== undefined) throw usageError('Give --keys or --url, not both.')
  if (values.url !== undefined && !/^https?:$/.test(URL.parse(values.url)?.protocol ?? '')) {
    throw usageError(`--url: not an http or https address: ${values.url}`)
  }
  const { keys, url, media, long: isLong, json: isJson } = values
  return { file, keys, url, media, isLong, isJson }
}
