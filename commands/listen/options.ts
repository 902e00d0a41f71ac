import { hkdfSync } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parseKey } from '#src/account/keys/format.ts'
import { EVENT_TYPES, isEventType } from '#src/catalogue/events.ts'
import { KEY_VARIABLE, readKey } from '../key.ts'
import { usageError } from '../sentence.ts'

export const SECRET_VARIABLE = 'WEBHOOK_SECRET'

export const HELP = `Forwards the events of a sandbox account to a program on this machine, signed like a webhook, and prints a line for each.

  npm run listen -- --url http://localhost:3000/hook [options]
  npm run listen -- --url http://localhost:3000/hook --replay EVENT_ID
  npm run listen -- --print-secret

It reads the pull API, so the service needs no way to this machine. It begins with the events from now on, and goes on where it
was after an interruption of the network. What your program answers decides nothing: a failed event is not sent again.

  --url URL          where your program listens
  --events A,B       only these types of events
  --replay EVENT_ID  sends this one event and ends
  --after POSITION   begins after this position, and not with the events from now on
  --service URL      address of the service (http://localhost:8080)
  --key-file FILE    a file with an API key of the sandbox that has the scope admin
  --key KEY          the key itself, which other users of the machine can see while this runs
                     without either, the environment's ${KEY_VARIABLE}
  --secret-file FILE the signing secret of an endpoint, to sign with; without it, the environment's ${SECRET_VARIABLE},
                     and without that a secret that belongs to the key
  --print-secret     prints the secret that signs, and ends
  --json             a JSON object for each event in place of a line
  --help             this text

Exit codes: 0 ended by Ctrl-C, or the replayed event was accepted; 1 the replayed event was not accepted, or the service refuses the
key; 2 wrong usage.
`

const OPTIONS = {
  url: { type: 'string' },
  events: { type: 'string' },
  replay: { type: 'string' },
  after: { type: 'string' },
  service: { type: 'string', default: 'http://localhost:8080' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  'secret-file': { type: 'string' },
  'print-secret': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export interface ListenOptions {
  /** '' with `isPrintingSecret`. */
  url: string
  /** undefined: all. */
  types: string[] | undefined
  replay: string | undefined
  after: number | undefined
  /** Address without a trailing slash. */
  service: string
  key: string
  secret: string
  isPrintingSecret: boolean
  isJson: boolean
}

/** undefined: help was requested. @throws a usage error. */
export function readListenOptions(args: string[], environment: NodeJS.ProcessEnv): ListenOptions | undefined {
  const { values } = parseArgs({ args, options: OPTIONS })
  if (values.help) return undefined
  const fallback = environment[KEY_VARIABLE]
  const key = readKey({ option: 'key', value: values.key, file: values['key-file'], fallback })
  if (key === undefined) throw usageError(`Which key? Name a file with --key-file, or set ${KEY_VARIABLE}.`)
  if (parseKey(key)?.environment === 'live') throw usageError('A live key: listen forwards events of the sandbox only.')
  if (values.url === undefined && !values['print-secret']) throw usageError('Where to? Name your program with --url.')
  const types = values.events?.split(',')
  for (const type of types ?? []) {
    if (!isEventType(type)) throw usageError(`--events: ${type} is none of ${Object.keys(EVENT_TYPES).join(', ')}`)
  }
  if (values.after !== undefined && !/^\d{1,15}$/.test(values.after)) {
    throw usageError(`--after: a position, which is a whole number, not ${values.after}`)
  }
  return {
    url: values.url === undefined ? '' : readAddress('--url', values.url),
    types,
    replay: values.replay,
    after: values.after === undefined ? undefined : Number(values.after),
    service: readAddress('--service', values.service).replace(/\/+$/, ''),
    key,
    secret: readSecret(values['secret-file'], environment[SECRET_VARIABLE]) ?? secretOf(key),
    isPrintingSecret: values['print-secret'],
    isJson: values.json,
  }
}

function readAddress(option: string, text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageError(`${option}: not an http or https address: ${text}`)
  if (url.username !== '' || url.password !== '') throw usageError(`${option}: no password in an address.`)
  return text
}

function readSecret(file: string | undefined, fallback: string | undefined): string | undefined {
  if (file !== undefined && statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw usageError(`--secret-file: ${file} is not a file.`)
  }
  const secret = (file === undefined ? fallback : readFileSync(file, 'utf8'))?.trim()
  if (secret === undefined || secret === '') return undefined
  if (!/^whsec_[A-Za-z0-9+/_=-]{32,80}$/.test(secret)) throw usageError('The secret does not have the form whsec_...')
  return secret
}

// The same for every run with one key, so that a program is configured once. 33 bytes, as of an endpoint.
function secretOf(key: string): string {
  return `whsec_${Buffer.from(hkdfSync('sha256', key, '', 'countersign listen v1', 33)).toString('base64')}`
}
