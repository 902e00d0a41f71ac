// Signs photos as a capture device does, and submits one when an address is given.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { readDeploymentSettings } from '#src/config.ts'
import { type Attestation, type Client, createClient, isApiError } from '../capture-kit/client.ts'
import { type AttestBody, type Device, type Gps, inlineMedia, type Media } from '../capture-kit/device.ts'
import { type Keyring, openKeyring } from '../capture-kit/keyring.ts'
import { type CameraFacts, readCameraFacts, sniffContentType } from '../capture-kit/photo.ts'
import { KEY_VARIABLE, readKey } from './key.ts'
import { exitCodeOf, usageError } from './sentence.ts'

const HELP = `Signs a photo as a capture device does: hash, time, place and owner in one signed bundle.

  npm run capture -- photo.jpg [options]
  npm run capture -- photos/*.jpg --out photos [options]

Without --url the attest body is written, with the photo in it. With --url the photo is uploaded, the device enrolled
where needed, the capture submitted, and the result shown. Several photos are signed only: where --out is their folder,
npm run submit -- DIR submits them.

  --url URL                address of the service, for example http://127.0.0.1:8080
  --key-file FILE          a file with an API key that has the scope attest; enrolling needs admin too
  --key KEY                the key itself, which other users of the machine can see while this runs
                           without either, the environment's COUNTERSIGN_KEY
  --admin-key-file FILE    a file with a key for enrolling, if the other one has no scope admin
  --admin-key KEY          that key itself
  --claim REF              the insurer's claim number
  --lat N --lng N          place of the capture in degrees; by default the photo's own GPS position
  --captured-at T          time of the capture (ISO 8601, or "now"); by default the photo's own, else now
  --out FILE               write the body to FILE instead of standard output
  --out DIR                write a body for each photo into this folder, as photo.jpg.json, without the photo in it
  --json                   show the result as one JSON object
  --keys DIR               where the device keeps its keys; by default .data/capture
  --help                   this text

The photo is a JPEG, PNG, WebP, HEIC, AVIF, TIFF or DNG file.
`

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  'admin-key': { type: 'string' },
  'admin-key-file': { type: 'string' },
  claim: { type: 'string' },
  lat: { type: 'string' },
  lng: { type: 'string' },
  'captured-at': { type: 'string' },
  out: { type: 'string' },
  json: { type: 'boolean', default: false },
  keys: { type: 'string', default: join(readDeploymentSettings().dataDirectory, 'capture') },
  help: { type: 'boolean', default: false },
} as const

// The service accepts 20 MiB of JSON; base64 is a third larger than the photo, the rest of the body a few kilobytes.
const MAX_INLINE_BYTES = 15_000_000
// A nonce is valid from 5 minutes before its issue. One minute is left for the upload.
const NONCE_REACH_MS = 4 * 60_000
const WAIT_SECONDS = 10
const MAX_POLLS = 6
// The GPS accuracy that phones report outdoors. Cameras record it in EXIF in different forms.
const ACCURACY_METRES = 5

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => {})
process.exitCode = await exitCodeOf('capture', async () => {
  const request = readRequest(process.argv.slice(2), process.env)
  if (request === undefined) process.stdout.write(HELP)
  else await capture(request)
  return 0
})

interface CaptureRequest {
  path: string
  /** Photos after the first. */
  others: string[]
  service: { url: string; key: string; adminKey: string } | undefined
  claim: string | undefined
  place: { lat: number; lng: number } | undefined
  capturedAt: Date | undefined
  out: string | undefined
  isJson: boolean
  keys: string
}

interface Photo {
  bytes: Buffer
  contentType: string
  capturedAt: Date
  gps: CameraFacts['gps']
}

async function capture(request: CaptureRequest): Promise<void> {
  const folder = await folderOf(request.out)
  if (request.others.length > 0 && folder === undefined)
    throw usageError('Several photos need a folder: name an existing one with --out.')
  const photo = await readPhoto(request)
  const { authority, device } = await openKeyring(request.keys, { now: () => new Date() })
  if (request.service === undefined) {
    if (folder !== undefined) return signAll(request, device, folder)
    await writeBody(compose(request, photo, device, { media: inline(photo) }), request.out)
    return
  }
  const { url, key, adminKey } = request.service
  const clients = { own: createClient({ url, key }), admin: createClient({ url, key: adminKey }) }
  try {
    const deviceId = await enroll(clients.admin, { authority, device })
    const { media_id } = await clients.own.upload(photo.bytes, photo.contentType)
    const sessionNonce = await openSession(clients.own, photo.capturedAt)
    const body = compose(request, photo, device, { media: { media_id }, deviceId, sessionNonce })
    if (request.out !== undefined) await writeBody(body, folder === undefined ? request.out : bodyFile(folder, request))
    show(await submit(clients.own, body), request.isJson)
  } finally {
    await Promise.all([clients.own.close(), clients.admin.close()])
  }
}

/** `undefined`: help was requested. */
function readRequest(args: string[], environment: NodeJS.ProcessEnv): CaptureRequest | undefined {
  const { values, positionals } = parseArgs({ args: joinNegatives(args), options: OPTIONS, allowPositionals: true })
  if (values.help) return undefined
  const [path, ...others] = positionals
  if (path === undefined) throw usageError('Which photo? Name one file.')
  const service = readService(values, environment)
  if (others.length > 0 && service !== undefined)
    throw usageError('With --url one photo at a time. Sign several without it, and send them with npm run submit.')
  if ((values.lat === undefined) !== (values.lng === undefined)) throw usageError('--lat and --lng go together.')
  return {
    path,
    others,
    service,
    claim: values.claim,
    place:
      values.lat === undefined || values.lng === undefined
        ? undefined
        : { lat: readDegrees('--lat', values.lat, 90), lng: readDegrees('--lng', values.lng, 180) },
    capturedAt: readTime(values['captured-at']),
    out: values.out,
    isJson: values.json,
    keys: values.keys,
  }
}

// West and south are negative, and parseArgs reads `--lng -0.12` as two options.
function joinNegatives(args: string[]): string[] {
  const isOption = (arg: string | undefined): boolean => arg === '--lat' || arg === '--lng'
  const isNegative = (arg: string | undefined): boolean => arg !== undefined && /^-[\d.]/.test(arg)
  return args.flatMap((arg, at) => {
    if (isOption(arg) && isNegative(args[at + 1])) return [`${arg}=${args[at + 1]}`]
    return isNegative(arg) && isOption(args[at - 1]) ? [] : [arg]
  })
}

type KeyOption = 'key' | 'key-file' | 'admin-key' | 'admin-key-file'

function readService(
  { url, ...keys }: { url?: string } & { [O in KeyOption]?: string },
  environment: NodeJS.ProcessEnv,
): CaptureRequest['service'] {
  const { key: value, 'key-file': file, 'admin-key': adminValue, 'admin-key-file': adminFile } = keys
  if (url === undefined) {
    if ([value, file, adminValue, adminFile].every((given) => given === undefined)) return undefined
    throw usageError('A key goes with --url.')
  }
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw usageError(`--url: not an http or https address: ${url}`)
  const key = readKey({ option: 'key', value, file, fallback: environment[KEY_VARIABLE] })
  if (key === undefined) throw usageError(`--url needs a key: name a file with --key-file, or set ${KEY_VARIABLE}.`)
  return { url, key, adminKey: readKey({ option: 'admin-key', value: adminValue, file: adminFile }) ?? key }
}

function readDegrees(option: string, text: string, most: number): number {
  const degrees = text.trim() === '' ? Number.NaN : Number(text)
  if (!(Math.abs(degrees) <= most))
    throw usageError(`${option}: a number of degrees from -${most} to ${most}, not ${text}`)
  return degrees
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = text === 'now' ? new Date() : new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN)
  if (Number.isNaN(time.getTime()))
    throw usageError(`--captured-at: ISO 8601, such as 2026-11-20T15:11:00Z, not ${text}`)
  return time
}

async function folderOf(out: string | undefined): Promise<string | undefined> {
  if (out === undefined) return undefined
  const facts = await stat(out).catch(() => undefined)
  return facts?.isDirectory() === true ? out : undefined
}

// Whole photo names: a.jpg and a.png get a file each.
function bodyFile(folder: string, { path }: Pick<CaptureRequest, 'path'>): string {
  return join(folder, `${basename(path)}.json`)
}

// Photos are signed one after the other: those of a folder would not fit into the memory together.
async function signAll(request: CaptureRequest, device: Device, folder: string): Promise<void> {
  const paths = [request.path, ...request.others]
  const names = paths.map((path) => basename(path))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw usageError(`Two photos have the name ${twice}: sign each folder by itself.`)
  for (const path of paths) {
    const one = { ...request, path }
    const photo = await readPhoto(one)
    const { media: _, ...body } = compose(one, photo, device, { media: { media_id: '' } })
    await writeBody(body, bodyFile(folder, one))
  }
  note(`Signed ${paths.length} ${paths.length === 1 ? 'photo' : 'photos'} in ${folder}.`)
}

async function readPhoto({ path, capturedAt }: Pick<CaptureRequest, 'path' | 'capturedAt'>): Promise<Photo> {
  const bytes = await readFile(path)
  const contentType = sniffContentType(bytes)
  if (contentType === undefined) throw new Error(`${path} is not a JPEG, PNG, WebP, HEIC, AVIF or TIFF file.`)
  const facts = await readCameraFacts(bytes)
  if (capturedAt === undefined && facts.zone === 'machine') {
    note(`${path} does not say its time zone: taken as local time of this machine.`)
  }
  return { bytes, contentType, capturedAt: capturedAt ?? facts.capturedAt ?? new Date(), gps: facts.gps }
}

function inline({ bytes, contentType }: Photo): Media {
  if (bytes.length <= MAX_INLINE_BYTES) return inlineMedia(bytes, contentType)
  const megabytes = Math.ceil(bytes.length / 1e6)
  throw new Error(
    `The photo has ${megabytes} MB, too much for a JSON body. Give --url and --key, and it is uploaded by itself.`,
  )
}

type Rest = { media: Media; deviceId?: string | undefined; sessionNonce?: string | undefined }

function compose(request: CaptureRequest, photo: Photo, device: Device, rest: Rest): AttestBody {
  const place = request.place ?? photo.gps
  const gps: Gps | undefined = place === undefined ? undefined : { ...place, accuracy_m: ACCURACY_METRES, mock: false }
  if (gps === undefined) note(`${request.path} carries no position, and none was given: expect gps_absent.`)
  return device.capture({
    photo: photo.bytes,
    capturedAt: photo.capturedAt,
    gps,
    biometric: { gated: true, method: 'fingerprint' },
    ...(request.claim === undefined ? {} : { claim: { reference: request.claim } }),
    ...rest,
  })
}

// Both calls return what exists already, so they can be repeated. Without the scope for them the capture still runs: a
// device that was enrolled by other means is found by its key.
async function enroll(client: Client, { authority, device }: Keyring): Promise<string | undefined> {
  try {
    await client.registerRoot(authority.name, authority.rootDer)
    return (await client.enroll(device.name, device.chain)).device_id
  } catch (error) {
    if (!isApiError(error) || error.code !== 'insufficient_scope') throw error
    note('The key has no admin scope, so nothing was enrolled. Give --admin-key, or expect device_not_enrolled.')
    return undefined
  }
}

// A nonce proves that the capture came after it. An older photo can't contain it, and would only cause a mismatch.
async function openSession(client: Client, capturedAt: Date): Promise<string | undefined> {
  if (Math.abs(Date.now() - capturedAt.getTime()) > NONCE_REACH_MS) {
    note(
      `Captured ${capturedAt.toISOString()}, before any session that can be opened now: sent without a session nonce.`,
    )
    return undefined
  }
  const [session] = await client.openSessions(1)
  return session?.session_nonce
}

async function submit(client: Client, body: AttestBody): Promise<Attestation> {
  let answer = await client.attest(body, WAIT_SECONDS)
  for (let poll = 0; answer.status === 'queued' && poll < MAX_POLLS; poll += 1) {
    note(`${answer.attestation_id} is queued, waiting.`)
    answer = await client.getAttestation(answer.attestation_id, WAIT_SECONDS)
  }
  return answer
}

async function writeBody(body: Omit<AttestBody, 'media'>, out: string | undefined): Promise<void> {
  const text = `${JSON.stringify(body, null, 2)}\n`
  if (out === undefined) process.stdout.write(text)
  else await writeFile(out, text)
}

function show(result: Attestation, isJson: boolean): void {
  if (isJson) {
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return
  }
  const factors = (result.factors ?? []).map(({ code, points }) => `${code} +${points}`)
  const advisory = (result.advisory_factors ?? []).map(({ code }) => code)
  const rows: [string, string | undefined][] = [
    ['Attestation', result.attestation_id],
    ['Claim', result.claim_id],
    ['Status', result.status],
    ['Failure', result.failure?.detail],
    ['Risk', result.risk_status && `${result.risk_status}, score ${result.risk_score}`],
    ['Factors', result.factors && (factors.join(', ') || 'none')],
    ['Advisory', result.advisory_factors && (advisory.join(', ') || 'none')],
    ['Provenance', result.provenance_status],
    ['Hardware tier', result.hardware_tier],
    ['Evaluated', result.evaluated_at],
  ]
  for (const [name, value] of rows) {
    if (value !== undefined) process.stdout.write(`${styleText('bold', name.padEnd(15))}${value}\n`)
  }
}

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}
