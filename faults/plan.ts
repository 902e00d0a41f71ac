// The faults and their order. Pure: the same seed, minutes and engine give the same plan, so that a run that found
// something can be repeated. Concurrent events elsewhere depend on the machine, and no seed repeats them.

import { PROCESS_NAMES, type ProcessName, QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { createDice, type Dice } from '../capture-kit/scene.ts'
import type { Elsewhere } from './moved-receivers.ts'

export type Kind = ProcessName
export type Link = 'postgres' | 'redis' | 'receivers'
export type EngineKind = 'redis' | 'postgres'
/** The attack of another account: see test/support/attacks.ts. */
export type Assault = 'certificates' | 'tls' | 'locks' | 'pictures' | 'bodies' | 'hanging'
export type Hostility = 'hang' | 'error' | 'drip' | 'redirect' | 'huge' | 'close' | 'abort'

export type Fault =
  /** SIGKILL of one process of a kind. */
  | { name: 'kill'; process: Kind }
  /** The same, while its connections to Postgres let nothing through for `ms`: its successor boots meanwhile. */
  | { name: 'slow-start'; process: Kind; ms: number }
  /** SIGSTOP of one, SIGCONT after `ms`. */
  | { name: 'freeze'; process: Kind; ms: number }
  /** A process is started again so that it dies (or hangs) at a named step. */
  | { name: 'failpoint'; process: Kind; point: string; ms: number }
  /** SIGTERM of all, of each kind one after the other. */
  | { name: 'rolling' }
  /** The clock of one process is off. */
  | { name: 'skew'; process: Kind; minutes: number; ms: number }
  | { name: 'redis-kill'; ms: number }
  | { name: 'redis-freeze'; ms: number }
  | { name: 'redis-full'; ms: number }
  | { name: 'redis-flush' }
  /** Immediate: nothing is written before it ends. */
  | { name: 'postgres-restart' }
  /** Every connection of the service is ended, and new ones are refused. */
  | { name: 'postgres-exhausted'; ms: number }
  | { name: 'link'; link: Link; how: 'slow' | 'reset' | 'cut' | 'stall'; ms: number }
  | { name: 'receiver'; how: Hostility; ms: number }
  | { name: 'detector'; how: Hostility; ms: number }
  /** The addresses of all receivers lead elsewhere. */
  | { name: 'elsewhere'; to: Elsewhere; ms: number }
  /** Another account attacks. */
  | { name: 'attack'; how: Assault; ms: number }

interface Point {
  process: Kind
  point: string
  /** Passed every few seconds: it dies at the first pass, and is waited for longer. */
  isRare?: true
}

/** Steps at which a process can be made to die, by the process that passes them. */
export const POINTS: readonly Point[] = [
  { process: 'attest', point: 'attest:claimed' },
  { process: 'attest', point: 'attest:settling' },
  { process: 'attest', point: 'attest:ran' },
  { process: 'attest', point: 'attest:delivered@hang' },
  { process: 'screen', point: 'screen:claimed' },
  { process: 'screen', point: 'screen:ran' },
  { process: 'compare', point: 'compare:hashed' },
  { process: 'compare', point: 'compare:stored' },
  { process: 'compare', point: 'compare:settling' },
  // These have few jobs.
  { process: 'reevaluate', point: 'reevaluate:marked', isRare: true },
  { process: 'mail', point: 'mail:sent', isRare: true },
  { process: 'export', point: 'export:ran', isRare: true },
  { process: 'exclusions', point: 'exclusions:settling', isRare: true },
  { process: 'exclusions', point: 'exclusions:ran', isRare: true },
  { process: 'deliver', point: 'deliver:claimed' },
  { process: 'deliver', point: 'deliver:calling' },
  { process: 'deliver', point: 'deliver:settling' },
  { process: 'deliver', point: 'deliver:ran' },
  // A process that has just started also loads the model.
  { process: 'trace', point: 'trace:started', isRare: true },
  { process: 'trace', point: 'trace:computed', isRare: true },
  { process: 'trace', point: 'trace:made', isRare: true },
  { process: 'trace', point: 'trace:settling', isRare: true },
  { process: 'trace', point: 'trace:ended', isRare: true },
  { process: 'diff', point: 'diff:started', isRare: true },
  { process: 'diff', point: 'diff:checkpoint', isRare: true },
  { process: 'diff', point: 'diff:measured', isRare: true },
  { process: 'diff', point: 'diff:settling', isRare: true },
  { process: 'diff', point: 'diff:settled', isRare: true },
  { process: 'dispatch', point: 'dispatch:committed' },
  { process: 'sequence', point: 'sequence:read' },
  { process: 'sequence', point: 'sequence:appending' },
  { process: 'sequence', point: 'sequence:positioning' },
  { process: 'web', point: 'web:answering' },
  { process: 'web', point: 'inference:generated' },
  { process: 'web', point: 'inference:settling' },
]
const KINDS: readonly Kind[] = [...QUEUE_NAMES, 'dispatch', 'web', 'sequence', 'clock']
const HOSTILITIES: readonly Hostility[] = ['hang', 'error', 'drip', 'redirect', 'huge', 'close', 'abort']
const ASSAULTS: readonly Assault[] = ['certificates', 'tls', 'locks', 'pictures', 'bodies', 'hanging']
const ELSEWHERE: readonly Elsewhere[] = ['private', 'expired']
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Returns this many processes of each kind. */
export function ofEachKind(count: number): Record<Kind, number> {
  return Object.fromEntries(PROCESS_NAMES.map((kind) => [kind, count])) as Record<Kind, number>
}

export interface PlanOptions {
  seed: number
  minutes: number
  engine: EngineKind
  /** Faults alone whose description contains one of these. */
  only?: readonly string[]
}

/** The faults of a run, in order. Each fault with a bar comes early, whatever the seed. */
export function planFaults({ seed, minutes, engine, only = [''] }: PlanOptions): Fault[] {
  const dice = createDice(seed)
  const faults: Fault[] = []
  for (let total = 0; total < minutes * MINUTE; ) {
    const deck = [...shuffle(dice, measured(dice, engine)), ...shuffle(dice, others(dice, engine))]
    const wanted = deck.filter((fault) => only.some((word) => describeFault(fault).includes(word)))
    if (wanted.length === 0) return []
    for (const fault of wanted) {
      faults.push(fault)
      total += expectedMs(fault)
      if (total >= minutes * MINUTE) break
    }
  }
  return faults
}

/** An attack, receivers that break off, a kill of each kind, Redis and Postgres restarted: the faults that fit into `npm test`. */
export function planSmall(seed: number, engine: EngineKind): Fault[] {
  const dice = createDice(seed)
  const kills = shuffle(
    dice,
    KINDS.map((process): Fault => ({ name: 'kill', process })),
  )
  const redis: Fault[] = engine === 'redis' ? [{ name: 'redis-kill', ms: 2 * SECOND }] : []
  return [
    { name: 'attack', how: 'certificates', ms: 2 * SECOND },
    { name: 'receiver', how: 'abort', ms: 2 * SECOND },
    ...kills,
    ...redis,
    { name: 'postgres-restart' },
  ]
}

export function describeFault(fault: Fault): string {
  const { name, ...rest } = fault
  const words = Object.entries(rest).map(([key, value]) => {
    if (key === 'ms') return `for ${Number(value) / SECOND} s`
    return key === 'minutes' ? `${Number(value) > 0 ? '+' : ''}${value} minutes` : String(value)
  })
  return [name, ...words].join(' ')
}

/** The faults that have a bar, once each, and those without a similar one. */
function measured(dice: Dice, engine: EngineKind): Fault[] {
  const ofRedis: Fault[] = [
    { name: 'redis-kill', ms: seconds(dice, 4, 10) },
    { name: 'redis-flush' },
    { name: 'redis-freeze', ms: seconds(dice, 3, 12) },
    { name: 'redis-full', ms: seconds(dice, 4, 8) },
  ]
  return [
    { name: 'kill', process: 'attest' },
    { name: 'kill', process: 'deliver' },
    { name: 'kill', process: 'web' },
    { name: 'postgres-restart' },
    { name: 'postgres-exhausted', ms: seconds(dice, 3, 6) },
    { name: 'rolling' },
    { name: 'attack', how: 'certificates', ms: seconds(dice, 6, 10) },
    { name: 'attack', how: 'locks', ms: seconds(dice, 6, 10) },
    { name: 'attack', how: 'pictures', ms: seconds(dice, 6, 10) },
    ...(engine === 'redis' ? ofRedis : []),
  ]
}

function others(dice: Dice, engine: EngineKind): Fault[] {
  const links: Link[] = engine === 'redis' ? ['postgres', 'redis', 'receivers'] : ['postgres', 'receivers']
  const ofRedis: Fault[] = [
    { name: 'redis-freeze', ms: seconds(dice, 3, 12) },
    { name: 'redis-full', ms: seconds(dice, 4, 8) },
  ]
  return [
    ...KINDS.map((process): Fault => ({ name: 'kill', process })),
    { name: 'freeze', process: 'attest', ms: seconds(dice, 22, 28) },
    { name: 'freeze', process: 'screen', ms: seconds(dice, 5, 28) },
    { name: 'freeze', process: 'deliver', ms: seconds(dice, 5, 15) },
    { name: 'freeze', process: 'dispatch', ms: seconds(dice, 5, 15) },
    { name: 'freeze', process: 'web', ms: seconds(dice, 3, 8) },
    ...POINTS.map(
      ({ process, point, isRare = false }): Fault => ({
        name: 'failpoint',
        process,
        // Somewhere in the middle of the work, not at its first job.
        point: isRare || point.includes('@') ? point : `${point}@${1 + Math.floor(dice() * 40)}`,
        ms: isRare ? seconds(dice, 40, 60) : seconds(dice, 8, 12),
      }),
    ),
    { name: 'slow-start', process: 'web', ms: seconds(dice, 15, 30) },
    { name: 'slow-start', process: 'attest', ms: seconds(dice, 15, 30) },
    { name: 'skew', process: 'attest', minutes: dice() < 0.5 ? 10 : -10, ms: seconds(dice, 8, 12) },
    { name: 'skew', process: 'deliver', minutes: dice() < 0.5 ? 10 : -10, ms: seconds(dice, 8, 12) },
    { name: 'skew', process: 'web', minutes: dice() < 0.5 ? 10 : -10, ms: seconds(dice, 8, 12) },
    { name: 'skew', process: 'dispatch', minutes: dice() < 0.5 ? 10 : -10, ms: seconds(dice, 8, 12) },
    ...(engine === 'redis' ? ofRedis : []),
    { name: 'postgres-exhausted', ms: seconds(dice, 3, 6) },
    { name: 'postgres-restart' },
    ...links.flatMap((link): Fault[] => [
      { name: 'link', link, how: 'slow', ms: seconds(dice, 4, 8) },
      { name: 'link', link, how: 'reset', ms: 0 },
      { name: 'link', link, how: 'cut', ms: seconds(dice, 2, 5) },
      { name: 'link', link, how: 'stall', ms: seconds(dice, 3, 9) },
    ]),
    ...HOSTILITIES.map((how): Fault => ({ name: 'receiver', how, ms: seconds(dice, 3, 8) })),
    ...HOSTILITIES.map((how): Fault => ({ name: 'detector', how, ms: seconds(dice, 3, 8) })),
    ...ASSAULTS.map((how): Fault => ({ name: 'attack', how, ms: seconds(dice, 6, 10) })),
    ...ELSEWHERE.map((to): Fault => ({ name: 'elsewhere', to, ms: seconds(dice, 3, 6) })),
    { name: 'rolling' },
  ]
}

// The duration of a fault until the next: only the plan's length depends on it. A fail point ends when it is reached.
function expectedMs(fault: Fault): number {
  const lasting = 'ms' in fault ? Math.min(fault.ms, 12 * SECOND) : 0
  const recovering =
    fault.name === 'kill' || fault.name === 'failpoint' || fault.name === 'rolling' || fault.name === 'slow-start'
      ? 12
      : 6
  return lasting + recovering * SECOND
}

function seconds(dice: Dice, from: number, to: number): number {
  return (from + Math.floor(dice() * (to - from + 1))) * SECOND
}

function shuffle<Value>(dice: Dice, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, rank: dice() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ value }) => value)
}
