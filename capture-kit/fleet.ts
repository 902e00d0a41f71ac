// The plan of a rehearsal: which device takes which photo, what is wrong with it, and the exact findings that a
// verifier must report. Pure: the same seed, count and time give the same plan, so that a run can be checked against
// it.
import type { Biometric, Gps } from './device.ts'
import type { ExifFacts } from './exif.ts'
import { type CaptureKind, type Expectation, expectationOf, TAMPERINGS } from './findings.ts'
import { createDice, type Dice } from './scene.ts'
import { CAMERAS, EDITORS, GATED, LINES, PLACES, type Place, UNGATED } from './stock.ts'

/** The device's standing with the account. `stranger`: certified by an authority that the account doesn't know. */
export type DeviceStanding = 'enrolled' | 'revoked' | 'not_enrolled' | 'stranger'

/** The evidence that a device sends at its enrollment. */
export type DeviceHardware = 'tee' | 'strongbox' | 'secure_enclave' | 'none'

export interface PlannedDevice {
  name: string
  standing: DeviceStanding
  hardware: DeviceHardware
}

export interface PlannedCapture {
  index: number
  kind: CaptureKind
  externalId: string
  /** Index into `devices`. */
  device: number
  /** Seed of the picture; taken modulo the number of scenes where a pool is used. */
  scene: number
  exif: ExifFacts | null
  capturedAt: Date
  gps: Gps | undefined
  biometric: Biometric | undefined
  claim: { reference: string; loss_location: { lat: number; lng: number }; loss_at: string; line: string }
  /** Index of the capture session of its nonce: 0 to `sessions` - 1. */
  session: number | undefined
  expected: Expectation
}

export interface FleetPlan {
  seed: number
  now: Date
  devices: PlannedDevice[]
  /** How many capture sessions to open. Open them first: captures with a nonce are dated at the plan's `now`. */
  sessions: number
  /** In the order of submission: of two captures with one nonce, the first accepted is the honest one. */
  captures: PlannedCapture[]
}

const HONEST_SHARE = 0.7
// Two honest captures besides the tampered ones: the replay's first use of the nonce, and one example of an honest
// capture.
const ALL_KINDS_FROM = TAMPERINGS.length + 2
const CAPTURES_PER_DEVICE = 25
const MAX_DEVICES = 40
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export interface FleetOptions {
  seed: number
  claims: number
  now: Date
  /** Whether the devices send hardware evidence, all but one in four; the deployment must trust their maker. */
  hasHardware?: boolean
}

/** `claims`: how many captures, each with its own claim. From 16 on every kind occurs; about 70 % are honest. */
export function planFleet({ seed, claims, now, hasHardware = false }: FleetOptions): FleetPlan {
  if (!Number.isSafeInteger(claims) || claims < 1) throw new RangeError('a fleet plans at least one claim')
  const dice = createDice(seed)
  const kinds = dealKinds(dice, claims)
  const replays = pairReplays(kinds)
  const devices = planDevices(claims, hasHardware)
  const run = `fleet-${seed}-${now.getTime().toString(36)}`

  const captures = kinds.map((kind, index) => {
    const session = replays.get(index)
    const device = chooseDevice(devices, dice, kind, session)
    const isProven = devices[device]?.hardware !== 'none'
    return planCapture({ dice, kind, index, run, now, session, device, isProven })
  })
  return { seed, now, devices, sessions: new Set(replays.values()).size, captures }
}

function dealKinds(dice: Dice, claims: number): CaptureKind[] {
  const share = Math.round(claims * (1 - HONEST_SHARE))
  const tampered = claims >= ALL_KINDS_FROM ? Math.max(TAMPERINGS.length, share) : share
  const order = shuffle(dice, [...TAMPERINGS])
  const kinds = Array.from(
    { length: claims },
    (_, index): CaptureKind => (index < tampered ? (order[index % order.length] ?? 'honest') : 'honest'),
  )
  return shuffle(dice, kinds)
}

// Gives each replay an earlier honest capture of its own, swapping positions if none comes before it. Returns capture
// index -> session index. A replay without a free honest capture becomes honest.
function pairReplays(kinds: CaptureKind[]): Map<number, number> {
  const sessionOf = new Map<number, number>()
  const free = kinds.flatMap((kind, index) => (kind === 'honest' ? [index] : []))
  const replays = kinds.flatMap((kind, index) => (kind === 'replayed_nonce' ? [index] : []))
  for (const [session, replay] of replays.entries()) {
    const honest = free.shift()
    if (honest === undefined) {
      kinds[replay] = 'honest'
      continue
    }
    kinds[Math.min(honest, replay)] = 'honest'
    kinds[Math.max(honest, replay)] = 'replayed_nonce'
    sessionOf.set(honest, session)
    sessionOf.set(replay, session)
  }
  return sessionOf
}

function planDevices(claims: number, hasHardware: boolean): PlannedDevice[] {
  const enrolled = Math.min(MAX_DEVICES, Math.max(2, Math.ceil(claims / CAPTURES_PER_DEVICE)))
  const standings: DeviceStanding[] = [
    ...Array.from({ length: enrolled }, () => 'enrolled' as const),
    'revoked',
    'not_enrolled',
    'stranger',
  ]
  return standings.map((standing, index) => ({
    name: `Phone ${String(index + 1).padStart(2, '0')}`,
    standing,
    hardware: hasHardware ? hardwareOf(standing, index) : 'none',
  }))
}

// The choice follows the index and not a random number, so that the pictures and places of a seed are the same as
// without hardware.
function hardwareOf(standing: DeviceStanding, index: number): DeviceHardware {
  if (standing === 'revoked') return 'tee'
  if (standing !== 'enrolled') return 'none'
  return HARDWARE[index % HARDWARE.length] ?? 'none'
}

const HARDWARE: readonly DeviceHardware[] = ['tee', 'secure_enclave', 'none', 'strongbox']

// Both captures of one nonce come from one device: a replay by another device could raise a finding about the device
// too.
function chooseDevice(devices: PlannedDevice[], dice: Dice, kind: CaptureKind, session: number | undefined): number {
  const standing: DeviceStanding =
    kind === 'revoked' || kind === 'not_enrolled' ? kind : kind === 'unknown_ca' ? 'stranger' : 'enrolled'
  const candidates = devices.flatMap((device, index) => (device.standing === standing ? [index] : []))
  // Tampered captures come from a device with known hardware where possible, so that only one thing is wrong at a time.
  const proven = candidates.filter((index) => devices[index]?.hardware !== 'none')
  const fitting = kind === 'honest' || proven.length === 0 ? candidates : proven
  return fitting[(session ?? Math.floor(dice() * fitting.length)) % fitting.length] ?? 0
}

interface CaptureRequest {
  dice: Dice
  kind: CaptureKind
  index: number
  run: string
  now: Date
  session: number | undefined
  device: number
  /** Whether the device's hardware is known. */
  isProven: boolean
}

function planCapture({ dice, kind, index, run, now, session, device, isProven }: CaptureRequest): PlannedCapture {
  const place = pick(dice, PLACES)
  const ageMs = session !== undefined ? 0 : kind === 'stale' ? HOUR_MS * (73 + 120 * dice()) : HOUR_MS * 47 * dice()
  const capturedAt = new Date(now.getTime() - Math.floor(ageMs))
  const spot = { lat: round(place.lat + (dice() - 0.5) / 20), lng: round(place.lng + (dice() - 0.5) / 20) }
  // A few hundred metres at most, well inside the kilometre of the fence; or half a degree, 55 km.
  const away = kind === 'far_from_loss' ? 0.5 : 0.002 * dice()
  const gps: Gps = { ...spot, accuracy_m: round(3 + 9 * dice()), mock: false }
  const hasGps = kind !== 'no_gps'
  return {
    index,
    kind,
    externalId: `${run}-${index}`,
    device,
    scene: Math.floor(dice() * 1_000_000),
    exif:
      kind === 'missing_exif'
        ? null
        : planExif({ dice, kind, capturedAt, place, device, spot: hasGps ? spot : undefined }),
    capturedAt,
    gps: hasGps ? gps : undefined,
    biometric: pick(dice, kind === 'no_biometric' ? UNGATED : GATED),
    claim: {
      reference: `${run}-claim-${index}`,
      loss_location: { lat: round(spot.lat + away), lng: spot.lng },
      loss_at: new Date(capturedAt.getTime() - Math.floor(HOUR_MS * 20 * dice())).toISOString(),
      line: pick(dice, LINES),
    },
    session,
    expected: expectationOf(kind, isProven),
  }
}

interface ExifRequest {
  dice: Dice
  kind: CaptureKind
  capturedAt: Date
  place: Place
  device: number
  spot: { lat: number; lng: number } | undefined
}

function planExif({ dice, kind, capturedAt, place, device, spot }: ExifRequest): ExifFacts {
  // A wrong clock is detected only with a written offset; without one, a difference of whole hours may be the time
  // zone.
  const hasOffset = kind === 'exif_time' || dice() > 0.2
  const offMs = kind === 'exif_time' ? HOUR_MS * (2 + Math.floor(6 * dice())) + 20 * MINUTE_MS : 0
  return {
    camera: CAMERAS[device % CAMERAS.length] ?? CAMERAS[0],
    takenAt: new Date(capturedAt.getTime() - offMs),
    utcOffsetMinutes: place.utcOffsetMinutes,
    hasOffset,
    gps: spot === undefined ? undefined : { ...spot, altitudeMetres: round(place.altitudeMetres + 20 * dice()) },
    exposureSeconds: 1 / (30 + Math.floor(2000 * dice())),
    iso: pick(dice, [32, 50, 64, 100, 125, 200, 400]),
    ...(kind === 'edited_exif' ? { software: pick(dice, EDITORS) } : {}),
    // 128 random bits from the plan: two captures of one scene are still different photos.
    imageId: Array.from({ length: 8 }, () =>
      Math.floor(dice() * 65_536)
        .toString(16)
        .padStart(4, '0'),
    ).join(''),
  }
}

function pick<Value>(dice: Dice, values: readonly [Value, ...Value[]]): Value {
  return values[Math.floor(dice() * values.length)] ?? values[0]
}

function shuffle<Value>(dice: Dice, values: Value[]): Value[] {
  return values
    .map((value) => ({ value, rank: dice() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ value }) => value)
}

// Six decimals of a degree are 11 cm; the EXIF of the photo holds as much.
function round(number: number): number {
  return Math.round(number * 1e6) / 1e6
}
