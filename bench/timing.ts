// Whether the time of an answer tells something about a secret that was guessed: the same request with keys that the
// service knows and with keys that it does not, in turns on one connection.

import { createKeys } from '#src/account/keys/keys.ts'
import { describe, judgeLimit, median, type Options, type Verdict } from './harness.ts'
import { type Connection, openConnection, requestOf } from './load.ts'
import { startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const SAMPLES = 10_000
const KEYS = 50
const MAX_DIFFERENCE_PERCENT = 5

export async function runTiming(options: Options): Promise<Verdict[]> {
  const stage = await openStage()
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const connection = await openConnection(web.port)
  try {
    const guesses = await makeGuesses(stage)
    const samples = options.isQuick ? 500 : SAMPLES
    await measure(connection, guesses, Math.min(samples, 1_000))
    const own: number[] = []
    const floors: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      const { known, unknown } = await measure(connection, guesses, samples)
      own.push(known)
      floors.push(unknown)
    }
    return [
      judgeLimit({
        name: 'timing',
        label: `difference of the medians of 2 x ${samples} answers, known (revoked) and unknown keys`,
        unit: '%',
        values: own.map((known, round) => Math.abs(known / (floors[round] ?? Number.NaN) - 1) * 100),
        max: MAX_DIFFERENCE_PERCENT,
        beside: `medians ${describe(own, 'ms')} and ${describe(floors, 'ms')}`,
      }),
    ]
  } finally {
    connection.close()
    await web.stop()
    await stage.close()
  }
}

interface Guess {
  known: Buffer[]
  unknown: Buffer[]
}

/** Revoked keys, and for each a key that differs from it in one character: the nearest guess. Both are 401. */
async function makeGuesses({ db, scope }: Stage): Promise<Guess[]> {
  const keys = createKeys({ db })
  const guesses: Guess[] = []
  for (let index = 0; index < KEYS; index += 1) {
    const { id, key } = await keys.create(scope, { name: 'known', scopes: ['verify'] })
    await keys.revoke(scope, id)
    const near = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
    guesses.push({ known: [claimsWith(key)], unknown: [claimsWith(near)] })
  }
  await keys.settle()
  return guesses
}

const claimsWith = (key: string) => requestOf({ method: 'GET', path: '/v1/claims', key })

async function measure(
  connection: Connection,
  guesses: readonly Guess[],
  samples: number,
): Promise<{ known: number; unknown: number }> {
  const times = { known: [] as number[], unknown: [] as number[] }
  for (let index = 0; index < samples; index += 1) {
    const guess = guesses[index % guesses.length]
    if (guess === undefined) throw new Error('there are no guesses')
    // Which goes first alternates: the second of two finds warmer caches.
    const order = index % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
    for (const kind of order) {
      const startedAt = performance.now()
      const { status } = await connection.send(guess[kind])
      times[kind].push(performance.now() - startedAt)
      if (status !== 401) throw new Error(`a ${kind} key was answered ${status}`)
    }
  }
  return { known: median(times.known), unknown: median(times.unknown) }
}
